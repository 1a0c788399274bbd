//! A continuous pair cut into cells: merged within each for a lower bound, spread to its ends for an upper one.
//!
//! Merging outputs is processing, which never raises a curve. Within a cell the likelihood ratio lies between its values at the ends;
//! among all laws of the ratio with the same masses under `P` and `Q`, the one on the two ends has the highest curve.

use crate::interval::Interval;
use crate::lattice::Atom;
use crate::law::{Law, Side};
use crate::normal::upper_tail;

/// Masses under `P` and `Q`, and the ratio `P / Q` at both ends.
struct Cell {
    p: Interval,
    q: Interval,
    /// `None` is 0 or infinity.
    ends: [Option<Interval>; 2],
}

/// Atoms whose curve is nowhere above that of the pair, atoms for one that is nowhere below, and mass that the latter adds.
pub(crate) struct Cells {
    pub(crate) below: Vec<Atom>,
    pub(crate) above: Vec<Atom>,
    pub(crate) extra: Interval,
}

impl Cells {
    /// Of one use of Laplace noise, of bounded range, or of sampled noise.
    pub(crate) fn of_law(law: &Law, side: Side, number: u32, reach: f64) -> Option<Self> {
        let (rate, of) = match law {
            Law::Sampled { rate, of } => (Some(*rate), &**of),
            other => (None, other),
        };
        let mut cells = match of {
            Law::Gaussian { multiplier } => {
                let mu = &Interval::one() / &Interval::of(*multiplier);
                gaussian(&mu, number, reach)
            }
            Law::Laplace { .. } | Law::BoundedRange { .. } => interval(of, number),
            _ => return None,
        };
        if let Some(rate) = rate {
            cells = cells.into_iter().map(|cell| sampled(cell, rate, side)).collect();
        }
        Some(Self::of(&cells))
    }

    /// Of two normal laws that are `mu` standard deviations apart.
    pub(crate) fn of_gaussian(mu: &Interval, number: u32, reach: f64) -> Self {
        Self::of(&gaussian(mu, number, reach))
    }

    fn of(cells: &[Cell]) -> Self {
        let (mut below, mut above, mut extra) = (Vec::new(), Vec::new(), Interval::zero());
        for Cell { p, q, ends } in cells {
            if !p.is_positive() || !q.is_positive() {
                extra = &extra + &p.positive_part();
                continue;
            }
            let ratio = p / q;
            below.push(atom(p.clone(), &ratio));
            match ends {
                [_, None] => extra = &extra + p,
                [None, Some(high)] => above.push(atom(p.clone(), high)),
                [Some(low), Some(high)] => {
                    let width = high - low;
                    if !width.is_positive() {
                        above.push(atom(p.clone(), &high.hull(low)));
                        continue;
                    }
                    // q_high high + q_low low = p and q_high + q_low = q.
                    let q_high = (&(p - &(low * q)) / &width).positive_part();
                    let q_low = (&(&(high * q) - p) / &width).positive_part();
                    above.push(atom(high * &q_high, high));
                    above.push(atom(low * &q_low, low));
                }
            }
        }
        let extra = Interval::zero().hull(&extra);
        Self { below, above, extra }
    }
}

fn atom(mass: Interval, ratio: &Interval) -> Atom {
    Atom { mass, loss: ratio.ln(), decay: &Interval::one() / ratio }
}

/// `rate P + (1 - rate) Q` against `Q`, or the other way round.
fn sampled(cell: Cell, rate: f64, side: Side) -> Cell {
    let rate = Interval::of(rate);
    let rest = &Interval::one() - &rate;
    let mixed = &(&rate * &cell.p) + &(&rest * &cell.q);
    let [low, high] = cell.ends;
    // The ratio 0 becomes 1 - rate.
    let low = &(&rate * &low.unwrap_or_else(Interval::zero)) + &rest;
    let high = high.map(|high| &(&rate * &high) + &rest);
    if side == Side::Remove {
        let low = low.is_positive().then_some(low);
        return Cell { p: mixed, q: cell.q, ends: [low, high] };
    }
    let inverse = |ratio: Interval| &Interval::one() / &ratio;
    let top = low.is_positive().then(|| inverse(low));
    Cell { p: cell.q, q: mixed, ends: [high.map(inverse), top] }
}

/// `P = N(mu, 1)` and `Q = N(0, 1)`, whose ratio at `x` is `e^(mu x - mu^2 / 2)`.
fn gaussian(mu: &Interval, number: u32, reach: f64) -> Vec<Cell> {
    let (from, to) = (-reach, reach + mu.approximate());
    let ends: Vec<f64> =
        (0..=number).map(|i| from + (to - from) * f64::from(i) / f64::from(number)).collect();
    let tails: Vec<[Interval; 2]> = ends
        .iter()
        .map(|x| [upper_tail(&(&Interval::of(*x) - mu)), upper_tail(&Interval::of(*x))])
        .collect();
    let ratio = |x: f64| {
        let half = (mu * mu).scaled(-1);
        (&(mu * &Interval::of(x)) - &half).exp()
    };
    let ratios: Vec<Interval> = ends.iter().map(|x| ratio(*x)).collect();
    let one = Interval::one();
    let mut cells = Vec::new();
    let [p, q] = &tails[0];
    cells.push(Cell { p: &one - p, q: &one - q, ends: [None, Some(ratios[0].clone())] });
    for (pair, ends) in tails.windows(2).zip(ratios.windows(2)) {
        let [[p, q], [p_next, q_next]] = [&pair[0], &pair[1]];
        cells.push(Cell {
            p: p - p_next,
            q: q - q_next,
            ends: [Some(ends[0].clone()), Some(ends[1].clone())],
        });
    }
    let last = tails.len() - 1;
    let [p, q] = tails[last].clone();
    cells.push(Cell { p, q, ends: [Some(ratios[last].clone()), None] });
    cells
}

/// Losses on `(-w, w)` with density `c e^(l / 2)` under `P` and `c e^(-l / 2)` under `Q`, and the atoms of Laplace noise.
fn interval(law: &Law, number: u32) -> Vec<Cell> {
    let width = law.width().expect("one of the two");
    let one = Interval::one();
    let at = |i: u32| {
        let shares =
            &Interval::of(f64::from(2 * i) - f64::from(number)) / &Interval::whole(number.into());
        &width * &shares
    };
    let end = (-&width).exp();
    let half = (-&width.scaled(-1)).exp();
    let laplace = matches!(law, Law::Laplace { .. });
    let factor = if laplace { half.scaled(-2) } else { &half.scaled(-1) / &(&one - &end) };
    let mut cells = Vec::new();
    if laplace {
        let (top, bottom) = (&one / &end, end.clone());
        let (more, less) = (Interval::of(0.5), end.scaled(-1));
        cells.push(Cell { p: more.clone(), q: less.clone(), ends: [Some(top.clone()), Some(top)] });
        cells.push(Cell { p: less, q: more, ends: [Some(bottom.clone()), Some(bottom)] });
    }
    let doubled = factor.scaled(1);
    let roots: Vec<Interval> = (0..=number).map(|i| at(i).scaled(-1).exp()).collect();
    for pair in roots.windows(2) {
        let (low, high) = (&pair[0], &pair[1]);
        let q = &(&one / low) - &(&one / high);
        cells.push(Cell {
            p: &doubled * &(high - low),
            q: &doubled * &q,
            ends: [Some(low * low), Some(high * high)],
        });
    }
    cells
}
