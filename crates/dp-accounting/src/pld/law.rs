//! Laws on a lattice that bound a pair from both sides.
//!
//! A pair is its curve `delta(e)` over `y = e^e`: convex and falling. A law with losses on a lattice has a curve that is straight
//! between lattice points. Curves that lie above each other stay so under composition, because the composed curve is
//! an average of shifted curves. So the upper law connects the dots of the true curve; the lower law has one tangent per
//! cell and lies below both tangents that meet a point. Both are off by `O(step^2)` only.
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

    /// Both bounds of any pair, on the lattice through `origin`. `widths` says how many steps a cell that starts at a loss may span.
    pub(crate) fn bounds(pair: &Pair, origin: f64, step: f64, widths: impl Fn(f64) -> i64) -> Self {
        let mut knots = Knots::new(pair, origin, step, widths);
        if let Some(smooth) = &pair.smooth {
            knots.add_smooth(smooth);
        }
        for &(loss, mass) in &pair.atoms {
            knots.add_atom(loss, mass);
        }
        let (upper, lower) = (knots.upper(), knots.lower());
        let snap = knots.snap + pair.smooth.map_or(0.0, |smooth| smooth.blur());
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
        while at < last {
            let width = widths(origin + at as f64 * step).clamp(1, most).min(last - at);
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
