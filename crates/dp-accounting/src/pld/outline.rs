//! How large the characteristic function of a tilted law can be, and how fast it can change, at frequencies where nobody looks.

use super::event::Direction;
use super::smooth::{Density, Smooth};
use crate::outward::{larger, sum};

/// What [`Smooth::outline`] finds.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    /// Pairs `(still, fall)`: the size is at most `still + fall / t`, at every frequency `t > 0`.
    ///
    /// With `r` the tilted density, the integral of `r e^(i t L)` over an interval is, by parts, at most `4 sup(r / L') / t`: `r / L'` has at
    /// most three critical points, the first a maximum, since the derivative of its logarithm is `-z` or a constant, plus a multiple of a sigmoid.
    /// What is outside of the interval counts in full.
    pub(crate) settled: Vec<(f64, f64)>,
    /// At least the mean of `|L - m|` for some `m`: the size changes no faster than this.
    pub(crate) deviation: f64,
}

/// At least what the tilted law has outside of its span: `e^(-10^2 / 2)` of its weight, at losses that grow no faster than linearly.
const OUTSIDE: f64 = 1e-15;

impl Smooth {
    /// Bounds on the characteristic function of the tilted law, from cells of the coordinate. Masses and suprema are bounded cell by
    /// cell, by the slope of the logarithms.
    pub(crate) fn outline(&self, atoms: &[(f64, f64)], order: f64, log_moment: f64) -> Outline {
        // As a bound is raised to the number of uses, a percent counts.
        const CELLS: u32 = 1536;
        let (low, high) = self.span(order);
        let power = (self.power(order).abs() + 1.0) * self.slope;
        let width = (high - low) / f64::from(CELLS);
        let (mut inside, mut peak) = (0.0, 0.0);
        let mut settled = Vec::new();
        let mut middle = None;
        // Losses and how far they change from the middle of the cell to its ends, at a rate whose logarithm changes by at most `slope`; masses
        // from above.
        let change = 0.5 * width * libm::exp(0.5 * self.slope * width) * (1.0 + 1e-9);
        let mut masses = Vec::new();
        for cell in (0..CELLS).rev() {
            let z = low + width * (f64::from(cell) + 0.5);
            let (log, rate, _) = self.log_ratio(z);
            let density = libm::exp(self.log_weight(z) + self.power(order) * log - log_moment);
            let pull = match self.density {
                Density::Normal => z.abs() + width,
                Density::Falling { .. } => 0.5,
            };
            let steepness = pull + power;
            let sway = libm::exp(steepness * width / 2.0) * (1.0 + 1e-9);
            inside += density * width / sway;
            masses.push((log, rate * change, density * width * sway));
            if inside > 0.4 && middle.is_none() {
                middle = Some(log);
            }
            if rate > 0.0 {
                peak = larger(peak, density / rate * sway);
                if cell.is_multiple_of(32) {
                    settled.push((larger(1.0 - inside, 0.0), 4.0 * peak));
                }
            }
        }
        let middle = middle.unwrap_or(0.0);
        let signed = |loss: f64| if self.direction == Direction::Remove { loss } else { -loss };
        let continuous =
            sum(masses.iter().map(|(log, change, mass)| mass * ((log - middle).abs() + change)));
        let single = |&(loss, mass): &(f64, f64)| {
            mass * libm::exp(order * loss - log_moment) * (loss - signed(middle)).abs()
        };
        let atomic = sum(atoms.iter().map(single));
        let deviation = (continuous + atomic) * (1.0 + 1e-6) + OUTSIDE;
        // No interval holds more than the whole: where one seems to, or what it holds is not a number, an exponential overflowed, and
        // nothing is known.
        let overflowed = inside.is_nan() || inside > 1.0 + 1e-6;
        if overflowed {
            return Outline { settled: Vec::new(), deviation: f64::INFINITY };
        }
        Outline { settled, deviation }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::Rule;
    use super::super::rule::tests::pairs;
    use super::*;
    use crate::outward::smaller;

    /// A moment that is not a number, or far from that of the law: no size is claimed, and no rate of change.
    #[test]
    fn what_overflows_says_nothing() {
        for pair in pairs() {
            let smooth = pair.smooth.as_ref().unwrap();
            for log_moment in [f64::NAN, f64::NEG_INFINITY, -1e4, -10.0] {
                let outline = smooth.outline(&pair.atoms, 4.0, log_moment);
                assert!(outline.settled.is_empty() && outline.deviation.is_infinite());
            }
        }
    }

    #[test]
    fn the_decay_holds() {
        for pair in pairs() {
            let smooth = pair.smooth.as_ref().unwrap();
            let order = 4.0;
            let rule = Rule::sampled(smooth, &pair.atoms, order, 3000.0).unwrap();
            let bounds = smooth.outline(&pair.atoms, order, rule.log_moment).settled;
            let least = |t: f64| bounds.iter().map(|b| b.0 + b.1 / t).fold(1.0, smaller);
            let mut seen: f64 = 1.0;
            for i in 1..60_u32 {
                let t = f64::from(i * i) * 0.8;
                let (re, im) = rule.at(t);
                assert!(re.hypot(im) <= least(t) + rule.error, "{t}");
                seen = smaller(seen, least(t));
            }
            assert!(seen < 0.999, "the bound says something: {seen}");
        }
    }

    /// What an interval leaves out counts in full: its mass by Simpson's rule on a fine grid.
    #[test]
    fn an_interval_holds_no_less_than_its_share() {
        for pair in pairs() {
            let smooth = pair.smooth.as_ref().unwrap();
            let order = 4.0;
            let log_moment = Rule::sampled(smooth, &pair.atoms, order, 0.0).unwrap().log_moment;
            let bounds = smooth.outline(&pair.atoms, order, log_moment).settled;
            let (low, high) = smooth.span(order);
            let density = |z: f64| {
                let exponent = smooth.log_weight(z) + smooth.power(order) * smooth.log_ratio(z).0;
                libm::exp(exponent - log_moment)
            };
            // An interval more for each 48th part, from the top; the first ends with the cell that is at its own bottom.
            let part = (high - low) / 48.0;
            let mut inside = 0.0;
            for (i, (still, _)) in (0..48_u32).zip(&bounds) {
                let to = high - f64::from(i) * part;
                let fine = part / 512.0;
                inside += sum((0..=512_u32).map(|j| {
                    let weight = if j == 0 || j == 512 { 1.0 } else { f64::from(2 + 2 * (j % 2)) };
                    weight * fine / 3.0 * density(to - f64::from(j) * fine)
                }));
                assert!(1.0 - still <= inside * (1.0 + 1e-9) + 1e-15, "{i}: {still} {inside}");
            }
            assert_eq!(bounds.len(), 48);
        }
    }
}
