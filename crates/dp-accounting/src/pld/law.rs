//! Laws on a lattice that bound a pair from both sides.
//!
//! A pair is its curve `delta(e)` over `y = e^e`: convex and falling. A law with losses on a lattice has a curve that is straight
//! between lattice points. Curves that lie above each other stay so under composition, because the composed curve is
//! an average of shifted curves. So the upper law connects the dots of the true curve; the lower law has one tangent per
//! cell and lies below both tangents that meet a point. Both are off by `O(step^2)` only. Where an atom falls between two points, its
//! tangents are far apart; the lower law then merges it with a share of another atom, see `Knots::merge_atoms`.
//!
//! # Rounding
//! Masses and losses are plain floats, and what they may be off by is counted beside them: a mass by `slack`, relative to itself, a loss by `snap`,
//! and `cut` is the mass that no list holds. Where a cell splits its mass by a difference of numbers, the upper law moves as much more up as that may
//! be off by, and the lower law as much less (`Knots::up`). What reads a curve turns all of it into bounds, see `Composed::finish`.
//!
//! # Source
//! Upper law: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (Privacy Enhancing Technologies, 2022). Lower law: ours; see `Knots::lower`.

use super::convex::convex;
use super::pair::Pair;
use super::smooth::Smooth;
use crate::outward::{larger, largest, smaller, within};
use crate::rounding::{LongSum, UNIT};

/// Masses at `origin + index * step`, by rising index.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    pub(crate) origin: f64,
    pub(crate) step: f64,
    pub(crate) index: Vec<i64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) lower: Vec<f64>,
    /// Mass that the lists leave out: the upper side counts it as lost without bound.
    pub(crate) cut: f64,
    /// Each mass may be off by this, relative to itself.
    pub(crate) slack: f64,
    /// Each loss may be off by this: how far an atom was moved onto the lattice, and rounding.
    pub(crate) snap: f64,
}

impl Law {
    /// Whether nothing overflowed.
    pub(crate) fn is_finite(&self) -> bool {
        self.cut.is_finite() && self.upper.iter().chain(&self.lower).all(|mass| mass.is_finite())
    }

    /// A pair without continuous part whose atoms lie on the lattice: exact.
    pub(crate) fn exact(pair: &Pair, origin: f64, step: f64) -> Self {
        let index: Vec<i64> =
            pair.atoms.iter().map(|atom| nearest((atom.0 - origin) / step)).collect();
        let mass: Vec<f64> = pair.atoms.iter().map(|atom| atom.1).collect();
        let pairs = pair.atoms.iter().zip(&index);
        let snap = largest(pairs.map(|(atom, i)| moved(atom.0, origin, step, *i)));
        let (upper, lower, cut, slack) = (mass.clone(), mass, pair.cut, pair.slack);
        Self { origin, step, index, upper, lower, cut, slack, snap }
    }

    /// Both bounds of any pair, on the lattice through `origin`. `widths` says how many steps a cell that starts at a loss may span; the lower
    /// law is the better one of two for a question at `tilt`.
    pub(crate) fn bounds(
        pair: &Pair,
        origin: f64,
        step: f64,
        tilt: f64,
        widths: impl Fn(f64) -> i64,
    ) -> Self {
        let mut knots = Knots::new(pair, origin, step, widths);
        if let Some(smooth) = &pair.smooth {
            knots.add_smooth(smooth);
        }
        let mut merged = knots.clone();
        for &(loss, mass) in &pair.atoms {
            knots.add_atom(loss, mass);
        }
        let upper = knots.upper();
        let lower = if merged.merge_atoms(&pair.atoms, tilt) {
            merged.lower()
        } else {
            knots.nothing().unwrap_or_else(|| knots.lower())
        };
        let snap =
            larger(knots.snap, merged.snap) + pair.smooth.map_or(0.0, |smooth| smooth.blur());
        let (index, slack) = (knots.index, pair.slack);
        // What the cells do not find of the law, beyond rounding, is lost: it counts like what was cut.
        let mut found = LongSum::default();
        for mass in &upper {
            found.add(*mass);
        }
        let lost = 1.0 - found.get() - pair.cut;
        let rounding = 2.0 * slack + 256.0 * UNIT;
        let cut = if lost <= rounding { pair.cut } else { pair.cut + lost };
        Self { origin, step, index, upper, lower, cut, slack, snap }
    }
}

/// How far a loss is from a lattice point, with the rounding of both.
fn moved(loss: f64, origin: f64, step: f64, index: i64) -> f64 {
    let point = origin + index as f64 * step;
    (loss - point).abs() + 8.0 * UNIT * (loss.abs() + origin.abs() + point.abs())
}

#[allow(clippy::cast_possible_truncation, reason = "lattices have far fewer than 2^53 points")]
pub(crate) fn nearest(x: f64) -> i64 {
    x.round() as i64
}

#[allow(clippy::cast_possible_truncation, reason = "lattices have far fewer than 2^53 points")]
fn floor(x: f64) -> i64 {
    // A point that should be on the lattice must not fall below it by rounding.
    (x + 1e-9).floor() as i64
}

/// No cell is wider, unless the step is.
const WIDEST: f64 = 16.0;

/// The cells of a law under construction.
#[derive(Clone)]
struct Knots {
    origin: f64,
    step: f64,
    index: Vec<i64>,
    /// Mass exactly on a knot.
    fixed: Vec<f64>,
    /// Per cell: its mass and its rise, see [`super::smooth::Cell`].
    mass: Vec<f64>,
    rise: Vec<f64>,
    /// Per cell: how far the tangent lies below the curve at its left and right end.
    left: Vec<f64>,
    right: Vec<f64>,
    /// The furthest that an atom was moved onto a knot.
    snap: f64,
}

impl Knots {
    fn new(pair: &Pair, origin: f64, step: f64, widths: impl Fn(f64) -> i64) -> Self {
        let (low, high) = pair.range();
        let (first, last) = (floor((low - origin) / step), floor((origin - high) / step));
        let last = (-last).max(first + 1);
        let mut index = vec![first];
        let mut at = first;
        // Neighbouring cells differ by a factor of 2 at most: the tangents of a wide cell would cut off a narrow one.
        let mut most = 1;
        // The tangents grow like e^width.
        let widest = floor(WIDEST / step).max(1);
        // An atom moves within its cell: that is one step wide.
        let atoms: Vec<i64> =
            pair.atoms.iter().map(|atom| floor((atom.0 - origin) / step)).collect();
        let mut ahead = atoms.iter().copied().peekable();
        while at < last {
            while ahead.next_if(|atom| *atom < at).is_some() {}
            let free = ahead.peek().map_or(last, |atom| (*atom).max(at + 1)) - at;
            let width = widths(origin + at as f64 * step).clamp(1, most).min(free).min(last - at);
            at += width;
            most = (2 * width).min(widest);
            index.push(at);
        }
        let index = even_out(&index);
        let cells = index.len() - 1;
        let zeros = || vec![0.0; cells];
        let fixed = vec![0.0; cells + 1];
        Self {
            origin,
            step,
            index,
            fixed,
            mass: zeros(),
            rise: zeros(),
            left: zeros(),
            right: zeros(),
            snap: 0.0,
        }
    }

    fn at(&self, index: i64) -> f64 {
        self.origin + index as f64 * self.step
    }

    fn width(&self, cell: usize) -> f64 {
        (self.index[cell + 1] - self.index[cell]) as f64 * self.step
    }

    fn add_smooth(&mut self, smooth: &Smooth) {
        let last = self.mass.len() - 1;
        for cell in 0..=last {
            let (a, b) = (self.at(self.index[cell]), self.at(self.index[cell + 1]));
            let width = self.width(cell);
            let half = width / 2.0;
            let middle = a + half;
            let (one, two) = (smooth.cell(a, middle), smooth.cell(middle, b));
            let keep = libm::exp(-half);
            let rise = one.rise + two.mass * -libm::expm1(-half) + keep * two.rise;
            self.mass[cell] += one.mass + two.mass;
            self.rise[cell] += rise;
            if cell == last {
                // The curve is 0 from here on: the tangent touches at the end.
                self.left[cell] += rise;
            } else {
                self.left[cell] += one.rise;
                // The integral of e^(b - loss) - 1 over the right half.
                let fall = libm::expm1(half) * two.mass - libm::exp(half) * two.rise;
                self.right[cell] += larger(fall, 0.0) + 4.0 * UNIT * width * two.mass;
            }
        }
    }

    fn add_atom(&mut self, loss: f64, mass: f64) {
        let place = (loss - self.origin) / self.step;
        let near = nearest(place);
        if (place - near as f64).abs() <= 1e-9 * (1.0 + place.abs() * 1e-3)
            && let Ok(knot) = self.index.binary_search(&near)
        {
            self.fixed[knot] += mass;
            self.snap = larger(self.snap, moved(loss, self.origin, self.step, near));
            return;
        }
        let cell = match self.index.binary_search(&floor(place)) {
            Ok(cell) => cell,
            Err(after) => after - 1,
        }
        .min(self.mass.len() - 1);
        let x = within(loss - self.at(self.index[cell]), 0.0, self.width(cell));
        let rise = mass * -libm::expm1(-x);
        self.mass[cell] += mass;
        self.rise[cell] += rise;
        // A tangent through the left of the atom.
        self.left[cell] += rise;
    }

    /// The lower law of a pair that fits between the neighbours of the knot at 0: no loss at all. No pair has a lower curve.
    fn nothing(&self) -> Option<Vec<f64>> {
        let (first, last) = (self.index.first()?, self.index.last()?);
        let zero = self.index.binary_search(&0).ok()?;
        let fits = self.origin == 0.0 && *first >= -1 && *last <= 1;
        fits.then(|| (0..self.index.len()).map(|i| if i == zero { 1.0 } else { 0.0 }).collect())
    }

    /// For the lower law: puts the two atoms of a pair on knots, one of them with a part of the mass of the other; false if moving atoms
    /// down, as [`Knots::add_atom`] has it, costs less.
    ///
    /// Two parts of a law that are merged at the mean of their `e^-loss` lower its curve: it is what an observer sees who
    /// cannot tell them apart. So an atom moves to a knot towards the other at the price of a share of the other's mass, which counts for
    /// little where the two are close to each other; moving it down by a part of a step alone counts in full for every use.
    fn merge_atoms(&mut self, atoms: &[(f64, f64)], tilt: f64) -> bool {
        let &[low, high] = atoms else { return false };
        let knot = |place: f64| self.index.binary_search(&nearest(place)).ok();
        let place = |loss: f64| (loss - self.origin) / self.step;
        let (below, above) = (place(low.0), place(high.0));
        let (Some(to), Some(from)) = (knot((below - 1e-9).ceil()), knot((above + 1e-9).floor()))
        else {
            return false;
        };
        let (up, down) = (self.at(self.index[to]), self.at(self.index[from]));
        if to >= from {
            return false;
        }
        let lift = larger(up - low.0, 0.0);
        // What the upper atom gives for the lower one to rise, from above; and what the lower one gives for the rest of the upper one to fall no
        // further than to its knot, from below.
        let gives = low.1 * libm::expm1(lift) / -libm::expm1(up - down) * (1.0 + 64.0 * UNIT);
        let fall = libm::exp(low.0 - high.0) * libm::expm1(larger(high.0 - down, 0.0));
        let rest = high.1 - gives;
        let takes = rest * fall / -libm::expm1(low.0 - down) * (1.0 - 64.0 * UNIT);
        // A difference of masses keeps its digits.
        if !(gives < 0.5 * high.1 && takes < 0.5 * low.1) {
            return false;
        }
        let (bottom, top) = (low.1 - takes + gives, rest + takes);
        // In units of the tilted top.
        let weigh = |loss: f64| libm::exp(tilt * (loss - high.0));
        let moved = low.1 * weigh(self.at(floor(below))) + high.1 * weigh(down);
        if bottom * weigh(up) + top * weigh(down) < moved {
            return false;
        }
        let off = |loss: f64, point: f64| {
            8.0 * UNIT * (loss.abs() + self.origin.abs() + point.abs()) + larger(point - loss, 0.0)
        };
        let snap = larger(off(low.0, smaller(up, low.0)), off(high.0, down));
        self.snap = larger(self.snap, snap);
        self.fixed[to] += bottom;
        self.fixed[from] += top;
        true
    }

    /// The mass of a cell that belongs to its upper end, and how far that may be off: the rise may be a difference of numbers of the
    /// size of the mass.
    fn up(&self, cell: usize) -> (f64, f64) {
        let lift = -libm::expm1(-self.width(cell));
        let up = smaller(self.rise[cell] / lift, self.mass[cell]);
        (up, UNIT * (64.0 * up + 8.0 * self.mass[cell] / lift))
    }

    /// The dots connected: each cell splits its mass between its ends.
    fn upper(&self) -> Vec<f64> {
        let mut upper = self.fixed.clone();
        for cell in 0..self.mass.len() {
            let (up, off) = self.up(cell);
            // Moving mass up is the safe side of the rounding of `up`.
            let safe = smaller(up + off, self.mass[cell]);
            upper[cell + 1] += safe;
            upper[cell] += self.mass[cell] - safe;
        }
        upper
    }

    /// The curve at each knot lowered to the lower of the two tangents there; straight in between.
    ///
    /// A straight piece below a tangent at both of its ends is below the curve. What is left to do is to keep the
    /// whole convex: a knot with negative mass is taken out, which joins its neighbours by a chord below it.
    fn lower(&self) -> Vec<f64> {
        let cells = self.mass.len();
        let mut lower = self.fixed.clone();
        for cell in 0..cells {
            let (up, off) = self.up(cell);
            let safe = larger(up - off, 0.0);
            lower[cell + 1] += safe;
            lower[cell] += self.mass[cell] - safe;
        }
        let depth: Vec<f64> = (0..=cells)
            .map(|knot| {
                let before = if knot > 0 { self.right[knot - 1] } else { 0.0 };
                let after = if knot < cells { self.left[knot] } else { 0.0 };
                larger(before, after) * (1.0 + 64.0 * UNIT)
            })
            .collect();
        for cell in 0..cells {
            let width = self.width(cell);
            let change = depth[cell + 1] - depth[cell];
            lower[cell] -= change / libm::expm1(width);
            lower[cell + 1] += change / -libm::expm1(-width);
            // The rounding of the two lines above.
            let deep = depth[cell].abs() + depth[cell + 1].abs();
            let noise = 8.0 * UNIT * (self.mass[cell] + deep / width);
            lower[cell] -= noise;
            lower[cell + 1] -= noise;
        }
        convex(&self.index, self.step, &mut lower);
        lower
    }
}

/// Splits cells that are more than twice as wide as the next one.
fn even_out(index: &[i64]) -> Vec<i64> {
    let mut knots = vec![index[index.len() - 1]];
    let mut next = 1;
    for cell in index.windows(2).rev() {
        let (from, mut to) = (cell[0], cell[1]);
        while to - from > 2 * next {
            next *= 2;
            to -= next;
            knots.push(to);
        }
        next = to - from;
        knots.push(from);
    }
    knots.reverse();
    knots
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use dp_check::Interval;

    use super::super::closed::closed;
    use super::super::event::{Direction, Event};
    use super::super::grid::Query;
    use super::*;

    /// The curve of masses on a lattice.
    fn curve(law: &Law, masses: &[f64], epsilon: f64) -> f64 {
        let losses = law.index.iter().map(|i| law.origin + *i as f64 * law.step);
        let terms = losses.zip(masses).filter(|(loss, _)| *loss > epsilon);
        crate::outward::sum(terms.map(|(loss, mass)| -mass * libm::expm1(epsilon - loss)))
    }

    /// Whatever falls between the points of the lattice: two atoms, one of them, or the whole law.
    #[test]
    fn laws_lie_on_both_sides_of_the_curve() {
        let mut merged_is_closer = 0;
        for (scale, rate) in [(1.0, 0.1), (0.3, 0.7), (8.0, 0.4), (30.0, 0.001), (2.0, 1.0)] {
            let event = Event::laplace(scale).unwrap().poisson_sampled(rate).unwrap();
            for direction in [Direction::Remove, Direction::Add] {
                let pair = Pair::new(event, direction, 60.0);
                let (low, high) = pair.range();
                for (parts, place) in
                    [(0.3, 0.0), (5.3, 0.0), (40.7, 0.0), (40.7, 1.0), (300.1, 0.37)]
                {
                    let step = (high - low) / parts;
                    let origin = if parts < 1.0 { 0.0 } else { low + place * (high - low) };
                    let at = |tilt: f64| Law::bounds(&pair, origin, step, tilt, |_| 2);
                    let (flat, steep) = (at(0.0), at(1e4));
                    merged_is_closer += i32::from(flat.lower != steep.lower);
                    for law in [&flat, &steep] {
                        for i in -20..20_i32 {
                            let epsilon = low + f64::from(i + 20) / 40.1 * (high - low);
                            let query = Query::Delta(larger(epsilon, 0.0));
                            let epsilon = larger(epsilon, 0.0);
                            let true_curve = closed(&[(event, 1.0)], direction, query).unwrap();
                            let (lower, upper) =
                                (curve(law, &law.lower, epsilon), curve(law, &law.upper, epsilon));
                            let room = 1e-13;
                            assert!(
                                lower <= true_curve.upper.get() + room,
                                "{event:?} {parts} {epsilon}"
                            );
                            assert!(
                                upper >= true_curve.lower.get() - room,
                                "{event:?} {parts} {epsilon}"
                            );
                            // And none is further off than by a few steps.
                            let error = upper - lower;
                            assert!(
                                error <= 3.0 * step + 1e-12,
                                "{event:?} {parts} {epsilon}: {error}"
                            );
                        }
                    }
                }
            }
        }
        assert!(
            merged_is_closer > 10,
            "atoms merge in some laws and move in others: {merged_is_closer}"
        );
    }

    /// Three atoms do not merge: what the upper law moved them by counts for both.
    #[test]
    fn a_law_says_how_far_its_atoms_were_moved() {
        let pair = Pair::new(Event::discrete_laplace(0.5, 2).unwrap(), Direction::Remove, 60.0);
        let law = Law::bounds(&pair, 1e-10, 0.25, 0.0, |_| 1);
        assert!((1e-10..2e-10).contains(&law.snap), "{}", law.snap);
    }

    /// Atoms that merge keep the mass and the mean of `e^-loss`, so that many uses of a narrow law lose little.
    #[test]
    fn atoms_merge_at_their_mean() {
        let event = Event::laplace(20.0).unwrap().poisson_sampled(0.2).unwrap();
        let pair = Pair::new(event, Direction::Remove, 60.0);
        let (low, high) = pair.range();
        let step = (high - low) / 50.4;
        let law = Law::bounds(&pair, high, step, 1.0, |_| 1);
        let losses = || law.index.iter().map(|i| law.origin + *i as f64 * step);
        let q_mass = |masses: &[f64]| {
            crate::outward::sum(losses().zip(masses).map(|(loss, mass)| mass * libm::exp(-loss)))
        };
        assert_abs_diff_eq!(q_mass(&law.upper), 1.0, epsilon = 1e-12);
        let off = q_mass(&law.lower) - 1.0;
        // Moving the lower atom alone down by a part of the step would add that to the mean.
        assert!(off.abs() < 0.02 * step, "{off:e} of {step:e}");
    }

    /// Tangents that are as deep everywhere move no mass, but what they are divided by makes their rounding large: each end of a cell gives it up.
    #[test]
    fn a_lower_law_gives_up_the_rounding_of_its_tangents() {
        let (cells, step, mass, fixed) = (8_i32, 1e-3, 0.1, 0.02);
        let each = vec![1.0; 8];
        let knots = Knots {
            origin: 0.0,
            step,
            index: (0..=i64::from(cells)).collect(),
            fixed: vec![fixed; 9],
            mass: vec![mass; 8],
            rise: vec![0.0; 8],
            left: each.clone(),
            right: each,
            snap: 0.0,
        };
        let lower = knots.lower();
        let rounding = 2.0 * UNIT / step;
        for (knot, lower) in (0..).zip(&lower) {
            let (at_start, at_end) = (f64::from(knot < cells), f64::from(knot > 0));
            let given_up = fixed + at_start * mass - lower;
            let share = given_up / (rounding * (at_start + at_end));
            assert!((1.0..20.0).contains(&share), "{knot}: {share}");
        }
        assert_eq!(lower.len(), 9);
    }

    /// What a cell moves up, in intervals of big integers: of an atom anywhere in it, and of the density of Laplace noise.
    #[test]
    fn what_a_cell_moves_up_is_off_by_less_than_is_said() {
        let of = Interval::of;
        let one = of(1.0);
        let mut worst = 0.0;
        // Points that are floats: the place of a cell is counted elsewhere.
        for step in [1.0 / 256.0, 0.125, 1.0, 4.0] {
            let loss = 4.0 * step;
            let pair = Pair::new(Event::laplace(1.0 / loss).unwrap(), Direction::Remove, 60.0);
            let lift = &one - &(-&of(step)).exp();
            for i in 0..200_u32 {
                let mut knots = Knots::new(&pair, 0.0, step, |_| 1);
                let place = f64::from(i) / 256.0 * 0.997 * step;
                knots.add_atom(place, 0.3);
                let cell = knots.index.binary_search(&0).unwrap();
                if i == 0 {
                    continue;
                }
                let truth = &(&of(0.3) * &(&one - &(-&of(place)).exp())) / &lift;
                let (up, off) = knots.up(cell);
                let rest = (&of(up) - &truth).approximate().abs();
                assert!(rest <= off, "{step} {i}: {rest:e} of {off:e}");
                worst = larger(worst, rest / off);
                // The upper law moves no less than that, and the lower one no more.
                knots.left.fill(0.0);
                knots.fixed.fill(1.0);
                let (lower, upper) = (knots.lower()[cell + 1] - 1.0, knots.upper()[cell + 1] - 1.0);
                assert!(!truth.reaches_above(upper + 2.0 * UNIT), "{step} {i}: {upper} {truth}");
                assert!(!truth.reaches_below(lower - 2.0 * UNIT), "{step} {i}: {lower} {truth}");
            }
            let mut knots = Knots::new(&pair, 0.0, step, |_| 1);
            knots.add_smooth(pair.smooth.as_ref().unwrap());
            for cell in 0..knots.mass.len() {
                // Of `e^((x - loss) / 2) / 4`, and of `e^(a - x)` times that.
                let (a, b) = (of(knots.at(knots.index[cell])), of(knots.at(knots.index[cell + 1])));
                let root = |x: &Interval| (&(x - &of(loss)) * &of(0.5)).exp();
                let mass = &(&root(&b) - &root(&a)) * &of(0.5);
                let lost = &(&root(&a) * &of(0.5)) * &(&one - &(&(&a - &b) * &of(0.5)).exp());
                let truth = &(&mass - &lost) / &lift;
                let (up, off) = knots.up(cell);
                let rest = (&of(up) - &truth).approximate().abs();
                // The masses have their own slack.
                assert!(rest <= off + pair.slack * up, "{step} {cell}: {rest:e} of {off:e}");
            }
        }
        assert!(worst > 0.005, "{worst}");
    }
}
