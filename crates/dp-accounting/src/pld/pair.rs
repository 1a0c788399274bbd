//! An event in one direction, taken apart: masses at single losses, a continuous part, and the lattice that fits it.

use super::event::{Direction, Event, Kind};
use super::smooth::{Smooth, sampled_loss};
use crate::outward::{Lower, Upper, larger, smaller};
use crate::rounding::{LongSum, UNIT};

/// The finite part of a pair; what an event loses without bound is kept apart, see [`leak`].
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// Losses and masses under the first law, by rising loss.
    pub(crate) atoms: Vec<(f64, f64)>,
    pub(crate) smooth: Option<Smooth>,
    /// Mass that the lists leave out, rounded up.
    pub(crate) cut: f64,
    /// Each mass may be off by this, relative to itself.
    pub(crate) slack: f64,
    /// A lattice `origin + i * step` that holds every atom.
    pub(crate) lattice: Option<(f64, f64)>,
}

/// The mass that has no finite loss.
pub(crate) fn leak(event: Event) -> f64 {
    if let Kind::Approximate { delta, .. } = event.kind { delta } else { 0.0 }
}

/// About how many atoms the pair of `event` has.
pub(crate) fn atoms_of(event: Event, log_cut: f64) -> f64 {
    match event.kind {
        Kind::DiscreteGaussian { variance, .. } => {
            2.0 * (2.0 * variance * smaller(log_cut, MOST_CUT)).sqrt()
        }
        Kind::DiscreteLaplace { sensitivity, .. } => f64::from(sensitivity),
        _ => 2.0,
    }
}

impl Pair {
    /// The pair of `event`, cut where the mass left out is about `e^(-log_cut)`.
    pub(crate) fn new(event: Event, direction: Direction, log_cut: f64) -> Self {
        let direction = if event.rate < 1.0 { direction } else { Direction::Remove };
        match event.kind {
            Kind::Gaussian { noise_multiplier } => {
                let smooth = Smooth::gaussian(noise_multiplier, event.rate, direction, log_cut);
                Self {
                    atoms: Vec::new(),
                    cut: smooth.cut,
                    slack: smooth.slack(),
                    smooth: Some(smooth),
                    lattice: None,
                }
            }
            Kind::Laplace { epsilon } => laplace(epsilon, event.rate, direction),
            Kind::RandomisedResponse { epsilon } | Kind::Approximate { epsilon, .. } => {
                discrete_laplace(epsilon, 1)
            }
            Kind::DiscreteLaplace { rate, sensitivity } => discrete_laplace(rate, sensitivity),
            Kind::DiscreteGaussian { variance, sensitivity } => {
                discrete_gaussian(variance, sensitivity, log_cut)
            }
            Kind::BoundedRange { eta } => {
                let smooth = Smooth::bounded_range(eta);
                Self {
                    atoms: Vec::new(),
                    smooth: Some(smooth),
                    cut: 0.0,
                    slack: smooth.slack(),
                    lattice: Some((-eta, 2.0 * eta)),
                }
            }
        }
    }

    /// Where most of the mass of rarely sampled noise lies, next to one end: the bounds on it touch the curve in the middle of a cell.
    pub(crate) fn crowd(&self) -> Option<f64> {
        self.smooth.filter(|smooth| smooth.rate < 0.5).map(|smooth| smooth.loss(0.0))
    }

    /// The smallest and the largest loss.
    pub(crate) fn range(&self) -> (f64, f64) {
        let (low, high) =
            self.smooth.map_or((f64::INFINITY, f64::NEG_INFINITY), |smooth| smooth.range());
        let first = self.atoms.first().map_or(low, |atom| smaller(atom.0, low));
        let last = self.atoms.last().map_or(high, |atom| larger(atom.0, high));
        (first, last)
    }
}

/// An atom at each end, `1/2` at the top, and a density in between.
fn laplace(epsilon: f64, q: f64, direction: Direction) -> Pair {
    let weak = libm::exp(-epsilon) / 2.0;
    let mixed = |without: f64, with: f64| (1.0 - q) * without + q * with;
    let (low, high) = (sampled_loss(q, -epsilon), sampled_loss(q, epsilon));
    let atoms = match direction {
        Direction::Remove => vec![(low, mixed(0.5, weak)), (high, mixed(weak, 0.5))],
        Direction::Add => vec![(-high, weak), (-low, 0.5)],
    };
    let lattice = Some((atoms[0].0, high - low));
    let smooth = Smooth::laplace(epsilon, q, direction);
    Pair { atoms, smooth: Some(smooth), cut: 0.0, slack: smooth.slack(), lattice }
}

/// Losses `rate * (2 i - sensitivity)`; the two ends collect the tails.
fn discrete_laplace(rate: f64, sensitivity: u32) -> Pair {
    let s = f64::from(sensitivity);
    let decay = libm::exp(-rate);
    let tail = 1.0 / (1.0 + decay);
    let one = -libm::expm1(-rate) * tail;
    let atoms = (0..=sensitivity)
        .map(|i| {
            let left = f64::from(sensitivity - i);
            let mass = if i == sensitivity {
                tail
            } else if i == 0 {
                tail * libm::exp(-rate * s)
            } else {
                one * libm::exp(-rate * left)
            };
            (rate * (2.0 * f64::from(i) - s), mass)
        })
        .collect();
    let slack = UNIT * (32.0 + 2.0 * rate * s);
    Pair { atoms, smooth: None, cut: 0.0, slack, lattice: Some((-rate * s, 2.0 * rate)) }
}

/// `-ln` of the least weight that is listed, at most.
const MOST_CUT: f64 = 680.0;

/// Losses `s (2 x - s) / (2 variance)` at the integers `x`, with `s` the sensitivity; the first law is centred at `s`.
fn discrete_gaussian(variance: f64, sensitivity: u32, log_cut: f64) -> Pair {
    let s = f64::from(sensitivity);
    let weight = |y: f64| libm::exp(-y * y / (2.0 * variance));
    // Beyond the reach the weights fall faster than geometrically. No weight comes near the smallest floats, which have few digits.
    let reach = (2.0 * variance * smaller(log_cut, MOST_CUT)).sqrt().floor();
    let beyond =
        Upper::near(-0.5 * (reach + 1.0) * (reach + 1.0) / variance, 8.0 * UNIT * MOST_CUT).exp();
    let beyond =
        beyond.over(Lower::near(-libm::expm1(-(reach + 1.5) / variance), 4.0 * UNIT)).get();
    let mut total = LongSum::default();
    let mut y = reach;
    while y >= 1.0 {
        total.add(2.0 * weight(y));
        y -= 1.0;
    }
    total.add(1.0 + 2.0 * beyond);
    let total = total.get();
    let (step, mut atoms) = (s / variance, Vec::new());
    let mut y = -reach;
    while y <= reach {
        atoms.push((step * (y + s / 2.0), weight(y) / total));
        y += 1.0;
    }
    // The first law is centred: its total is at least 1.
    let cut = Upper::new(2.0).times(Upper::new(beyond)).get();
    let lattice = Some((atoms[0].0, step));
    // The exponent of the least weight is at most `log_cut`, and off by a unit of it. The total holds more than what is beyond.
    let slack = UNIT * (32.0 + 2.0 * MOST_CUT) + 2.0 * beyond;
    Pair { atoms, smooth: None, cut, slack, lattice }
}
