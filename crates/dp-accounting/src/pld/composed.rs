//! Reading the curve off a composed law on a lattice, on the safe side of all that may be wrong about it.

use super::evidence::LatticeEvidence;
use crate::outward::{LEAST, Lower, Upper, larger, smaller, sum};
use crate::rounding::UNIT;

/// Which of the two laws to compose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    Upper,
}

/// The law of a sum, tilted, with everything that may be wrong about it.
#[derive(Debug)]
pub(crate) struct Composed {
    pub(crate) side: Side,
    pub(crate) tilt: f64,
    pub(crate) step: f64,
    /// Loss of the first entry.
    pub(crate) start: f64,
    pub(crate) mass: Vec<f64>,
    pub(crate) log_scale: f64,
    /// Every entry of `mass` may be off by this.
    pub(crate) entry_error: f64,
    /// Tilted mass outside of the window, which also wraps into it.
    pub(crate) missed: Upper,
    /// Relative error of every mass.
    pub(crate) relative: f64,
    /// Error of the losses themselves.
    pub(crate) shift: f64,
    /// Mass that was cut off each law.
    pub(crate) cut: Upper,
}

/// An entry is far from where a sum is read if its tilt has made `e^-40` of it: what a walk rounds there is counted by itself.
const FAR: f64 = 40.0;
/// Of each step.
const ROUNDINGS: f64 = 8.0;

/// What sums over entries are off by, besides a part of themselves.
struct Off {
    /// Of entries that are all off by 1.
    flat: (f64, f64),
    /// What the walk rounds of entries that are far.
    far: f64,
}

impl Composed {
    pub(crate) fn evidence(&self) -> LatticeEvidence {
        LatticeEvidence {
            step: self.step,
            start: self.start,
            points: self.mass.len(),
            tilt: self.tilt,
            log_scale: self.log_scale,
            missed: self.missed.get(),
            cut: self.cut.get(),
            entry_error: self.entry_error,
            relative_error: self.relative,
            loss_error: self.shift,
        }
    }

    /// Walks down from the top of the window and calls `visit(i, g, b)` at each lattice point, with the sums over
    /// the entries from `i` on, of `m e^(-c x) (1 - e^-x)` and `m e^(-(c+1) x)`, `x` the distance; stops where `visit` says so.
    fn walk(&self, mut visit: impl FnMut(usize, f64, f64) -> bool) {
        let keep_g = libm::exp(-self.tilt * self.step);
        let keep_b = libm::exp(-(self.tilt + 1.0) * self.step);
        let lift = -libm::expm1(-self.step);
        let (mut g, mut b) = (0.0_f64, 0.0_f64);
        for (i, mass) in self.mass.iter().enumerate().rev() {
            g = keep_g * (g + lift * b);
            b = mass + keep_b * b;
            if visit(i, g, b) {
                return;
            }
        }
    }

    /// What all that may be off can come to.
    fn off(&self) -> Off {
        let all = sum(self.mass.iter().map(|mass| mass.abs()));
        let roundings = ROUNDINGS * UNIT * (self.mass.len() as f64 + 8.0);
        Off { flat: self.flat(), far: libm::exp(-FAR) * roundings * all }
    }

    /// The sums of [`Self::walk`] for entries that are all 1: what the noise of the entries can come to.
    fn flat(&self) -> (f64, f64) {
        let n = self.mass.len() as f64;
        let sum = |rate: f64| smaller(1.0 / -libm::expm1(-rate * self.step), n);
        let (all, b) = (sum(self.tilt), sum(self.tilt + 1.0));
        // sum e^(-c x) - sum e^(-(c+1) x), without the cancellation.
        let lift = libm::exp(-self.tilt * self.step) * -libm::expm1(-self.step);
        let g = smaller(lift * all * b * (1.0 + 1e-9), all);
        (g, b)
    }

    /// What the noise can come to, seen from `x` below a lattice point.
    fn noise(&self, Off { flat, far }: &Off, x: f64) -> f64 {
        self.entry_error * libm::exp(-self.tilt * x) * (flat.0 + flat.1 * -libm::expm1(-x)) + far
    }

    fn loss(&self, i: usize) -> f64 {
        self.start + i as f64 * self.step
    }

    /// Rounding of the walk, of the entries that are not [`FAR`]: these count for about `1 / (tilt step)` steps.
    fn walk_error(&self) -> f64 {
        let steps = smaller(FAR / (self.tilt * self.step), self.mass.len() as f64);
        ROUNDINGS * UNIT * (steps + 8.0)
    }

    /// The logarithm of what a tilted mass is to be multiplied by, seen from `epsilon`, and how far it may be off.
    fn log_factor(&self, epsilon: f64) -> (f64, f64) {
        let turn = self.tilt * epsilon;
        (self.log_scale - turn, 4.0 * UNIT * (self.log_scale.abs() + turn.abs()))
    }

    /// A delta on the safe side, from its tilted sum and the noise of that. `sup over x of e^(-c x) (1 - e^-x)` is at most 1.
    fn finish(&self, tilted: f64, noise: f64, epsilon: f64) -> f64 {
        let relative = self.relative + self.walk_error();
        let (log, off) = self.log_factor(epsilon);
        match self.side {
            Side::Upper => {
                let top = self.log_factor(larger(self.loss(self.mass.len()), epsilon));
                let beyond = Upper::near(top.0, top.1).exp().times(self.missed);
                let inside = Upper::new(tilted) + Upper::new(noise);
                let all = Upper::near(log, off).exp().times(inside) + beyond;
                (all.times(Upper::near(1.0, relative)) + self.cut).get()
            }
            Side::Lower => {
                let inside = Lower::new(tilted) - Upper::new(noise) - self.missed;
                let all = Lower::near(log, off).exp().times(inside);
                all.times(Lower::near(1.0, relative)).get()
            }
        }
    }

    /// The delta at `epsilon`, which is below the largest loss, rounded towards the side of this law.
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        // The losses may be off by a hair: read the curve at the safe side.
        let epsilon = match self.side {
            Side::Upper => epsilon - self.shift,
            Side::Lower => epsilon + self.shift,
        };
        let off = self.off();
        // A query off the lattice sees the entries from the next point on.
        let mut noise = self.noise(&off, 0.0);
        let mut tilted = 0.0;
        self.walk(|i, g, b| {
            let x = self.loss(i) - epsilon;
            if x < 0.0 {
                return true;
            }
            if x > self.step && i > 0 {
                return false;
            }
            // Entries from i on, seen from epsilon: e^(-c x) (g + b (1 - e^-x)).
            tilted = libm::exp(-self.tilt * x) * (g + b * -libm::expm1(-x));
            noise = self.noise(&off, x);
            true
        });
        // Below the window the mass that it misses counts as well.
        let more = if epsilon < self.start { self.missed.get() } else { 0.0 };
        let delta = self.finish(tilted, noise + more, epsilon);
        if self.side == Side::Upper { larger(delta, LEAST) } else { delta }
    }

    /// The epsilon at `delta`, rounded towards the side of this law; 0 if the curve starts below.
    pub(crate) fn epsilon(&self, delta: f64) -> f64 {
        let off = self.off();
        let noise = self.noise(&off, 0.0);
        let mut found = None;
        let mut above = (0.0, 0.0, self.loss(self.mass.len()));
        // The scale by recurrence, renewed now and then, tells when the real comparison is due.
        let grow = libm::exp(self.tilt * self.step);
        let mut scale = 0.0;
        let slack = match self.side {
            Side::Upper => noise + self.missed.get(),
            Side::Lower => 0.0,
        };
        let due = (delta - self.cut.get()) * 0.999;
        let last = self.mass.len() - 1;
        self.walk(|i, g, b| {
            let here = self.loss(i);
            scale *= grow;
            if (last - i).is_multiple_of(64) || !scale.is_normal() {
                scale = libm::exp(self.log_scale - self.tilt * here);
            }
            // Not a number is not quiet.
            let quiet = scale * (g + slack) < due;
            if !quiet && self.finish(g, noise, here) > delta {
                found = Some(above);
                return true;
            }
            above = (g, b, here);
            false
        });
        let Some((g, b, top)) = found else {
            // Below the window the curve is not known: its lowest loss is a bound from above only.
            return match self.side {
                Side::Upper => larger(self.loss(0) + self.shift, 0.0),
                Side::Lower => 0.0,
            };
        };
        // Between two lattice points: bisection on the distance x below `top`.
        if self.side == Side::Upper && self.finish(g, noise, top) > delta {
            return f64::INFINITY;
        }
        let (mut fits, mut fails) = (0.0, self.step);
        for _ in 0..60 {
            let x = f64::midpoint(fits, fails);
            // Seen from epsilon = top - x.
            let tilted = libm::exp(-self.tilt * x) * (g + b * -libm::expm1(-x));
            if self.finish(tilted, self.noise(&off, x), top - x) <= delta {
                fits = x;
            } else {
                fails = x;
            }
        }
        match self.side {
            Side::Upper => larger(top - fits + self.shift, 0.0),
            Side::Lower => larger(top - fails - self.shift, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_check::Interval;

    use super::*;

    /// What losses may be off by moves the curve to the safe side, whichever way it is read.
    #[test]
    fn losses_that_may_be_off_are_read_on_the_safe_side() {
        let law = |side, shift| Composed {
            side,
            tilt: 0.5,
            step: 0.5,
            start: -1.0,
            mass: vec![0.1, 0.2, 0.1, 0.2, 0.3, 0.1],
            log_scale: 0.0,
            entry_error: 0.0,
            missed: Upper::ZERO,
            relative: 0.0,
            shift,
            cut: Upper::ZERO,
        };
        for (side, way) in [(Side::Upper, 1.0), (Side::Lower, -1.0)] {
            let (plain, off) = (law(side, 0.0), law(side, 0.125));
            for epsilon in [0.25, 0.5, 0.75] {
                let moved = plain.delta(epsilon - way * 0.125);
                assert_eq!(off.delta(epsilon).to_bits(), moved.to_bits(), "{side:?} {epsilon}");
                assert!(way * (moved - plain.delta(epsilon)) > 0.01);
            }
            for delta in [0.05, 0.1, 0.15] {
                let moved = way * (off.epsilon(delta) - plain.epsilon(delta));
                assert!((moved - 0.125).abs() < 1e-12, "{side:?} {delta}: {moved}");
            }
        }
    }

    /// A law of some entries, with nothing that may be wrong about it.
    fn plain(side: Side, mass: Vec<f64>) -> Composed {
        Composed {
            side,
            tilt: 8.0,
            step: 0.5,
            start: -1.0,
            mass,
            log_scale: 0.0,
            entry_error: 0.0,
            missed: Upper::ZERO,
            relative: 0.0,
            shift: 0.0,
            cut: Upper::ZERO,
        }
    }

    /// The worst that entries can be is all of them too small, or too large: at lattice points, and between them, where a steep tilt gives the
    /// point above far more weight than it has from the one below.
    #[test]
    fn an_error_of_every_entry_counts_wherever_the_curve_is_read() {
        let (mass, error) = (vec![0.1, 0.2, 0.1, 0.2, 0.3, 0.1], 0.01);
        for (side, way) in [(Side::Upper, 1.0), (Side::Lower, -1.0)] {
            let worst = plain(side, mass.iter().map(|m| m + way * error).collect());
            let law = Composed { entry_error: error, ..plain(side, mass.clone()) };
            for i in 1..40_u32 {
                let epsilon = f64::from(i) / 20.0 - 1.0;
                let (bound, least) = (law.delta(epsilon), worst.delta(epsilon));
                assert!(
                    way * (bound - least) >= -1e-12 * least,
                    "{side:?} {epsilon}: {bound} {least}"
                );
                assert!((bound / least - 1.0).abs() < 1e-3, "{side:?} {epsilon}: {bound} {least}");
            }
        }
    }

    /// A turn and what it is taken from are rounded, each by half a unit in the last place: by products that keep what they lose.
    #[test]
    fn the_factor_of_a_tilted_mass_is_off_by_less_than_is_said() {
        let mut worst = 0.0;
        for i in 0..20_000_u32 {
            let (tilt, epsilon) = (1.0 + f64::from(i) * 1.7e-5, 2.0 + f64::from(i % 97) / 51.0);
            let law = Composed {
                tilt,
                log_scale: -f64::from(i % 89) / 23.0,
                ..plain(Side::Upper, vec![1.0])
            };
            let (log, off) = law.log_factor(epsilon);
            let (turn, lost) = (tilt * epsilon, tilt.mul_add(epsilon, -(tilt * epsilon)));
            // The rounding of a difference is a float.
            let part = log - law.log_scale;
            let rest = (law.log_scale - (log - part)) + (-turn - part) - lost;
            assert!(rest.abs() <= off / 2.0, "{tilt} {epsilon}: {rest:e} {off:e}");
            worst = larger(worst, rest.abs() / off);
        }
        // A quarter of the margin would not do.
        assert!(worst > 0.25, "{worst}");
    }

    #[test]
    fn evidence_names_every_error() {
        let law = Composed {
            log_scale: 0.25,
            entry_error: 1e-9,
            missed: Upper::new(2e-9),
            relative: 3e-9,
            shift: 4e-9,
            cut: Upper::new(5e-9),
            ..plain(Side::Upper, vec![0.5; 3])
        };
        let want = LatticeEvidence {
            step: 0.5,
            start: -1.0,
            points: 3,
            tilt: 8.0,
            log_scale: 0.25,
            missed: 2e-9,
            cut: 5e-9,
            entry_error: 1e-9,
            relative_error: 3e-9,
            loss_error: 4e-9,
        };
        assert_eq!(law.evidence(), want);
    }

    /// The same masses in intervals of big integers: rounding is all that may be off.
    #[test]
    fn reading_a_law_is_off_by_less_than_is_said() {
        let of = Interval::of;
        for (tilt, step, entries) in
            [(0.3, 0.001, 120_u32), (7.3, 0.013, 100), (3.1, 0.9, 12), (300.7, 0.05, 30)]
        {
            let mass: Vec<f64> = (0..entries).map(|i| 0.1 / f64::from(1 + i % 17)).collect();
            let (start, log_scale) = (0.1, 0.37 * tilt);
            for side in [Side::Upper, Side::Lower] {
                let law = Composed { tilt, step, start, log_scale, ..plain(side, mass.clone()) };
                for i in 0..8 {
                    let epsilon = start + step * f64::from(entries) * f64::from(i) / 8.7;
                    let mut truth = of(0.0);
                    for (i, m) in (0_u32..).zip(&mass) {
                        let x = &(&of(start) + &(&of(f64::from(i)) * &of(step))) - &of(epsilon);
                        if !x.reaches_below(0.0) {
                            let left = &of(1.0) - &(-&x).exp();
                            let weight =
                                (&of(log_scale) - &(&of(tilt) * &(&x + &of(epsilon)))).exp();
                            truth = &truth + &(&(&of(*m) * &weight) * &left);
                        }
                    }
                    let bound = law.delta(epsilon);
                    let wrong = match side {
                        Side::Upper => truth.reaches_above(bound),
                        Side::Lower => truth.reaches_below(bound),
                    };
                    assert!(!wrong, "{side:?} {tilt} {epsilon}: {bound} {truth}");
                    let off = (&of(bound) - &truth).approximate().abs();
                    assert!(
                        off <= 1e-9 * truth.approximate(),
                        "{side:?} {tilt} {epsilon}: {off:e} {truth}"
                    );
                }
            }
        }
    }

    /// Of a mass that is above, every step loses, or gains, what a power of `e` is rounded by. Below `e^-40` of it there is little to be told, and nothing said that is wrong.
    #[test]
    fn a_long_walk_is_off_by_less_than_is_said() {
        let of = Interval::of;
        for (entries, step, least) in
            [(1_500, 1.0 / 64.0, 0.05), (20_000, 1.0 / 64.0, -1e99), (272_000, 1.0 / 512.0, -1e99)]
        {
            let off = |tilt: f64| {
                let keep = libm::exp(-tilt * step);
                (&of(keep) - &(-&(&of(tilt) * &of(step))).exp()).approximate() / keep
            };
            let tilts = (0..200).map(|i| 1.28 + 1e-4 * f64::from(i));
            let tilts: Vec<(f64, f64)> = tilts.map(|tilt| (off(tilt), tilt)).collect();
            let far = step * f64::from(entries - 1);
            let mass: Vec<f64> =
                (1..=entries).map(|i| if i == entries { 0.1 } else { 0.0 }).collect();
            let mut worst = -1e99;
            for way in [1.0, -1.0] {
                let most = tilts.iter().max_by(|a, b| (way * a.0).total_cmp(&(way * b.0)));
                let (_, tilt) = *most.unwrap();
                let left = &of(1.0) - &(-&of(far)).exp();
                let truth = &(&of(0.1) * &(-&(&of(tilt) * &of(far))).exp()) * &left;
                for side in [Side::Upper, Side::Lower] {
                    let law = Composed { tilt, step, start: 0.0, ..plain(side, mass.clone()) };
                    let (bound, said) = (law.delta(0.0), law.walk_error());
                    let more = (&(&of(bound) - &truth) / &truth).approximate();
                    let room = if side == Side::Upper { more } else { -more };
                    assert!(room >= 0.0, "{side:?} {tilt}: {room:e} of {said:e}");
                    worst = larger(worst, 1.0 - room / said);
                }
            }
            assert!((least..1.0).contains(&worst), "{entries}: {worst}");
        }
    }
}
