//! The curve of a composition of few uses, between two sides that meet where everything is exact.

use crate::cells::Cells;
use crate::interval::Interval;
use crate::lattice::{Atom, Lattice};
use crate::law::{Law, Side};
use crate::normal;
use crate::spline::{self, Part};

/// How much work a check may be.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Atoms of the lattices together.
    pub atoms: u64,
    /// Atoms of cut laws together with those.
    pub cells: u64,
    /// Terms of sums over Laplace noise and bounded range.
    pub terms: u64,
    /// Binary digits after the point that masses keep: 64 more than the smallest delta of interest has.
    pub places: u64,
}

/// What is left once lattices and cells are taken out: a curve in closed form.
#[derive(Debug)]
enum Rest {
    Nothing,
    Gaussian(Interval),
    Splines(Vec<Part>),
    Sampled(Interval, Side, Box<Rest>),
}

impl Rest {
    /// `sup over S of P(S) - e^loss Q(S)`.
    fn hockey_stick(&self, loss: &Interval) -> Interval {
        match self {
            Self::Nothing => (&Interval::one() - &loss.exp()).positive_part(),
            Self::Gaussian(mu) => normal::hockey_stick(mu, loss),
            Self::Splines(parts) => spline::hockey_stick(parts, loss),
            Self::Sampled(rate, side, of) => {
                let (one, y) = (Interval::one(), loss.exp());
                let rest = &one - rate;
                // P' - y Q' of the mixture is a multiple of P - y' Q, or Q - y' P, whose curves are alike.
                let (factor, inner) = match side {
                    Side::Remove => (rate.clone(), &(&y - &rest) / rate),
                    Side::Add => {
                        let left = &one - &(&y * &rest);
                        if left.is_nowhere_positive() {
                            return Interval::zero();
                        }
                        if !left.is_positive() {
                            return Interval::zero().hull(&left);
                        }
                        let inner = &(&y * rate) / &left;
                        (left, inner)
                    }
                };
                if inner.is_nowhere_positive() {
                    return (&one - &y).positive_part();
                }
                if !inner.is_positive() {
                    return Interval::zero().hull(&one);
                }
                &factor * &of.hockey_stick(&inner.ln())
            }
        }
    }
}

/// A composition, ready for several questions.
#[derive(Debug)]
pub struct Composed {
    leaked: Interval,
    /// The same list twice where nothing had to be cut into cells.
    below: Vec<Atom>,
    above: Option<Vec<Atom>>,
    missing: Interval,
    rest: Rest,
}

impl Composed {
    /// Prepares a composition; `None` if it is too much work.
    pub fn new(parts: &[(Law, u64)], side: Side, effort: Effort) -> Option<Self> {
        let (mut leaked, mut missing) = (Interval::zero(), Interval::zero());
        let mut atoms = vec![Atom::sure()];
        let (mut variance, mut splines, mut sampled) = (Interval::zero(), Vec::new(), Vec::new());
        for (law, count) in parts {
            leaked = either(&leaked, &repeated(&law.leak(), *count));
            match law {
                Law::Gaussian { multiplier } => {
                    let one = Interval::of(*multiplier);
                    variance = &variance + &(&Interval::whole(*count) / &(&one * &one));
                }
                Law::Laplace { .. } | Law::BoundedRange { .. } => {
                    let atoms = matches!(law, Law::Laplace { .. });
                    splines.push(Part { width: law.width()?, count: *count, atoms });
                }
                Law::Sampled { .. } => {
                    if *count > 3 {
                        return None;
                    }
                    sampled.extend((0..*count).map(|_| law.clone()));
                }
                _ => {
                    let one = Lattice::of(law, effort.places)?;
                    if one.length(*count).saturating_mul(atoms.len() as u64) > effort.atoms {
                        return None;
                    }
                    let (own, left_out) = one.power(*count).atoms();
                    missing = &missing + &left_out;
                    atoms = product(&atoms, &own);
                }
            }
        }
        let (mut cut, mut gaussian) = (sampled, None);
        let rest = if !splines.is_empty() {
            let work = splines.iter().map(|part: &Part| {
                let n = part.count as f64 + 1.0;
                if part.atoms { n * n * n / 6.0 + 1.0 } else { n }
            });
            if work.product::<f64>() * (atoms.len() as f64) > effort.terms as f64 {
                return None;
            }
            gaussian = variance.is_positive().then(|| variance.sqrt());
            Rest::Splines(splines)
        } else if variance.is_positive() {
            Rest::Gaussian(variance.sqrt())
        } else if let Some(Law::Sampled { rate, of }) = cut.pop() {
            let inner = match &*of {
                Law::Gaussian { multiplier } => {
                    Rest::Gaussian(&Interval::one() / &Interval::of(*multiplier))
                }
                other => {
                    let atoms = matches!(other, Law::Laplace { .. });
                    Rest::Splines(vec![Part { width: other.width()?, count: 1, atoms }])
                }
            };
            Rest::Sampled(Interval::of(rate), side, Box::new(inner))
        } else {
            Rest::Nothing
        };
        Self { leaked, below: atoms, above: None, missing, rest }.cut(
            &cut,
            gaussian.as_ref(),
            side,
            effort,
        )
    }

    /// The same with more laws, each cut into cells.
    fn cut(
        mut self,
        laws: &[Law],
        gaussian: Option<&Interval>,
        side: Side,
        effort: Effort,
    ) -> Option<Self> {
        let number = laws.len() + usize::from(gaussian.is_some());
        if number == 0 {
            return Some(self);
        }
        let each = (effort.cells as f64 / self.below.len() as f64).powf(1.0 / number as f64);
        if each < 16.0 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 16")]
        let number = each.min(1e6) as u32;
        let reach = (2.0 * effort.places as f64 * std::f64::consts::LN_2).sqrt();
        let mut above = self.below.clone();
        let of_laws = laws.iter().map(|law| Cells::of_law(law, side, number, reach));
        for cells in of_laws.chain(gaussian.map(|mu| Some(Cells::of_gaussian(mu, number, reach)))) {
            let cells = cells?;
            self.below = product(&self.below, &cells.below);
            above = product(&above, &cells.above);
            self.missing = &self.missing + &cells.extra;
        }
        self.above = Some(above);
        Some(self)
    }

    /// The delta at `epsilon`.
    pub fn delta(&self, epsilon: f64) -> Interval {
        let epsilon = Interval::of(epsilon);
        let lower = self.sum(&self.below, &epsilon);
        let upper = match &self.above {
            Some(above) => self.sum(above, &epsilon),
            None => lower.clone(),
        };
        let found = Interval { lo: lower.lo, hi: (&upper + &self.missing).hi };
        // With the probability that leaks somebody shows himself.
        let (one, all) = (Interval::one(), either(&self.leaked, &found));
        // No curve is outside of 0 to 1.
        Interval { lo: all.lo, hi: all.hi.min(one.hi) }
    }

    fn sum(&self, atoms: &[Atom], epsilon: &Interval) -> Interval {
        let y = epsilon.exp();
        let mut sum = Interval::zero();
        for atom in atoms {
            let part = match &self.rest {
                Rest::Nothing => (&Interval::one() - &(&y * &atom.decay)).positive_part(),
                rest => rest.hockey_stick(&(epsilon - &atom.loss)),
            };
            sum = &sum + &(&atom.mass * &part);
        }
        sum
    }
}

/// The probability of one of two independent things.
fn either(a: &Interval, b: &Interval) -> Interval {
    a + &(&(&Interval::one() - a) * b)
}

/// The probability that something happens in one of `count` trials.
fn repeated(once: &Interval, mut count: u64) -> Interval {
    let (mut doubled, mut all) = (once.clone(), Interval::zero());
    while count > 0 {
        if count & 1 == 1 {
            all = either(&all, &doubled);
        }
        doubled = either(&doubled, &doubled);
        count >>= 1;
    }
    all
}

fn product(a: &[Atom], b: &[Atom]) -> Vec<Atom> {
    a.iter().flat_map(|x| b.iter().map(move |y| x.and(y))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Effort = Effort { atoms: 200_000, cells: 400, terms: 10_000, places: 160 };

    fn delta(parts: &[(Law, u64)], side: Side, effort: Effort, epsilon: f64) -> Interval {
        Composed::new(parts, side, effort).expect("little work").delta(epsilon)
    }

    /// With fewer places of masses, and fewer cells, less is known, and nothing else: what more of them find lies within.
    #[test]
    fn coarse_curves_hold_fine_ones() {
        let gaussian = Law::DiscreteGaussian { variance: 3.0, sensitivity: 1 };
        let wide = Law::DiscreteGaussian { variance: 0.4, sensitivity: 2 };
        let laplace = Law::DiscreteLaplace { rate: 0.4, sensitivity: 2 };
        let response = Law::RandomisedResponse { epsilon: 0.7 };
        let lists: [&[(Law, u64)]; 5] = [
            &[(gaussian.clone(), 1)],
            &[(gaussian.clone(), 5)],
            &[(wide.clone(), 1), (response.clone(), 3)],
            &[(gaussian.clone(), 3), (wide, 2)],
            &[(laplace, 4), (response, 2)],
        ];
        for (number, parts) in lists.iter().enumerate() {
            for places in [6, 12, 24] {
                for epsilon in [0.0, 0.5, 1.0, 2.0, 4.0, 8.0] {
                    let fine = delta(parts, Side::Remove, FINE, epsilon);
                    let coarse = delta(parts, Side::Remove, Effort { places, ..FINE }, epsilon);
                    assert!(
                        coarse.lo <= fine.hi && coarse.hi >= fine.lo,
                        "list {number}, {places} places, {epsilon}: {coarse} and {fine}"
                    );
                }
            }
        }
    }

    #[test]
    fn few_cells_hold_what_many_find() {
        let gaussian = Law::Gaussian { multiplier: 1.3 };
        let laplace = Law::Laplace { scale: 1.5 };
        let sampled = |rate, of: &Law| Law::Sampled { rate, of: Box::new(of.clone()) };
        let lists: [&[(Law, u64)]; 4] = [
            &[(gaussian.clone(), 1), (laplace.clone(), 1)],
            &[(Law::BoundedRange { eta: 0.8 }, 1), (gaussian.clone(), 1)],
            &[(sampled(0.3, &gaussian), 2)],
            &[(sampled(0.6, &laplace), 2)],
        ];
        let fine = Effort { cells: 48, ..FINE };
        for (number, parts) in lists.iter().enumerate() {
            let sides = if number < 2 { &[Side::Remove][..] } else { &[Side::Remove, Side::Add] };
            for (side, epsilon) in sides.iter().flat_map(|side| [0.3, 3.0].map(|x| (*side, x))) {
                let fine = delta(parts, side, fine, epsilon);
                for places in [6, 60] {
                    let coarse = Effort { cells: 20, places, ..FINE };
                    let coarse = delta(parts, side, coarse, epsilon);
                    assert!(
                        coarse.lo <= fine.hi && coarse.hi >= fine.lo,
                        "list {number}, {side:?}, {places} places, {epsilon}: {coarse} and {fine}"
                    );
                }
            }
        }
    }

    /// However large the epsilon, somebody shows himself with the probability that one of all uses leaks.
    #[test]
    fn every_use_may_leak() {
        let law = |delta| Law::Approximate { epsilon: 0.5, delta };
        for (first, second) in [(1, 0), (4, 0), (3, 2)] {
            let mut parts = vec![(law(0.01), first)];
            if second > 0 {
                parts.push((law(0.2), second));
            }
            let kept = &(&Interval::one() - &Interval::of(0.01)).power(first)
                * &(&Interval::one() - &Interval::of(0.2)).power(second);
            let found = delta(&parts, Side::Remove, FINE, 100.0);
            let off = &found - &(&Interval::one() - &kept);
            assert!(off.is_above(-1e-40) && off.is_below(1e-40), "{off}");
        }
    }
}
