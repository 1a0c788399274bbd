//! Mixes without a closed form, on lattices: which lattice, how fine, and both bounds.

use super::composed::{Composed, Side};
use super::event::{Direction, Event};
use super::evidence::Method;
use super::law::Law;
use super::moments::{LOG_MISSED, Moments, order_for_delta, order_for_epsilon, reach};
use super::pair::Pair;
use super::spectrum::{Plan, most_tilt};
use crate::outward::{Between, Lower, Upper, larger, largest, least, smaller, sum, within};
use crate::rounding::UNIT;

/// What is asked of a composition.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Query {
    /// The epsilon at this delta.
    Epsilon(f64),
    /// The delta at this epsilon.
    Delta(f64),
}

/// A composed law from both sides.
#[derive(Debug)]
pub(crate) struct Sides {
    lower: Composed,
    upper: Composed,
}

impl Sides {
    pub(crate) fn evidence(&self) -> Method {
        let [lower, upper] = [&self.lower, &self.upper].map(|law| Box::new(law.evidence()));
        Method::Lattices { lower, upper }
    }

    /// The better law on each side, by what they were read to say.
    fn or(self, here: Between, other: Self, there: Between) -> Self {
        Self {
            lower: if there.lower > here.lower { other.lower } else { self.lower },
            upper: if there.upper < here.upper { other.upper } else { self.upper },
        }
    }

    pub(crate) fn read(&self, query: Query) -> Between {
        let side = |composed: &Composed| match query {
            Query::Epsilon(delta) => composed.epsilon(delta),
            Query::Delta(epsilon) => composed.delta(epsilon),
        };
        Between { lower: Lower::new(side(&self.lower)), upper: Upper::new(side(&self.upper)) }
    }
}

/// The tilt for `query` at most `most`, and the epsilon around which it is best.
fn tilt_for(moments: &dyn Moments, query: Query, most: f64) -> (f64, f64) {
    match query {
        Query::Epsilon(delta) => {
            let (tilt, epsilon) = order_for_delta(moments, libm::log(delta), most);
            if epsilon > 0.0 {
                (tilt, epsilon)
            } else {
                (order_for_epsilon(moments, 0.0, most).0, epsilon)
            }
        }
        Query::Delta(epsilon) => (order_for_epsilon(moments, epsilon, most).0, epsilon),
    }
}

/// Composes given laws for `query`, tilted where the moments of `plan` say; nothing where the transforms take more than `effort`.
fn compose(plan: &Plan<'_>, query: Query, log_missed: f64, effort: f64) -> Option<Sides> {
    if !plan.laws.iter().all(|(law, _)| law.is_finite()) {
        return None;
    }
    let moments = plan.moments(Side::Upper);
    let (tilt, _) = tilt_for(&moments, query, most_tilt(plan.step()));
    let window = plan.window(tilt, log_missed)?;
    if window.points() * per_point(plan.laws.iter().map(|(_, count)| *count)) > effort {
        return None;
    }
    Some(Sides {
        lower: plan.compose(window, Side::Lower),
        upper: plan.compose(window, Side::Upper),
    })
}

/// `step` and, per part, the origin of a lattice that holds all atoms, if nothing is continuous.
fn common_lattice(pairs: &[(Pair, f64)]) -> Option<(f64, Vec<f64>)> {
    let steps: Vec<(f64, f64)> = pairs
        .iter()
        .map(|(pair, _)| if pair.smooth.is_none() { pair.lattice } else { None })
        .collect::<Option<_>>()?;
    let least = least(steps.iter().map(|(_, step)| *step));
    let fits = steps.iter().all(|(_, step)| {
        let ratio = step / least;
        (ratio - ratio.round()).abs() <= 8.0 * UNIT * ratio
    });
    fits.then(|| (least, steps.iter().map(|(origin, _)| *origin).collect()))
}

/// The losses of a lattice that fits within rounding are exact; no discretisation error.
pub(crate) fn lattice_exact(pairs: &[(Pair, f64)], query: Query, effort: f64) -> Option<Sides> {
    let (step, origins) = common_lattice(pairs)?;
    let laws: Vec<Law> = pairs
        .iter()
        .zip(origins)
        .map(|((pair, _), origin)| Law::exact(pair, origin, step))
        .collect();
    let plan = Plan::new(laws.iter().zip(pairs).map(|(law, (_, count))| (law, *count)).collect());
    compose(&plan, query, LOG_MISSED, effort)
}

/// How fine a first look is, at most and at least; in between, all laws together get a share of the effort.
const FIRST_LOOK: f64 = 65536.0;
const LEAST_LOOK: f64 = 256.0;

/// Elementary steps for a point of a transform: of a law that is used once, or raised to a power, and of the composed law; and for a cell of a law.
const POINT_OF_LAW: f64 = 2.0;
const POINT_OF_POWER: f64 = 7.0;
const POINT: f64 = 2.0;
const CELL: f64 = 40.0;
/// And for a node of the density that a law is made of.
const NODE: f64 = 10.0;

/// Elementary steps for one point of the window, over the laws that are used so often.
fn per_point(counts: impl Iterator<Item = f64>) -> f64 {
    let of_law = |count: f64| if count > 1.0 { POINT_OF_POWER } else { POINT_OF_LAW };
    POINT + sum(counts.map(of_law))
}

/// A window may come out so many times longer than was planned: it is rounded up to what transforms well.
const ROUNDED_UP: f64 = 2.5;

/// Cells take some hundred bytes each.
const MOST_CELLS: f64 = 4e6;

/// Both bounds on one lattice, refined until they are within `gap` (relative to an epsilon above 1, and to a delta) or the effort is spent.
pub(crate) fn connect_the_dots(
    pairs: &[(Pair, f64)],
    query: Query,
    gap: f64,
    effort: f64,
) -> Option<(Between, Sides)> {
    let number = pairs.len() as f64;
    let nodes = sum(pairs.iter().filter_map(|(pair, _)| Some(pair.smooth?.nodes_at_most())));
    // The first look alone is too much.
    if LEAST_LOOK * CELL * number > 0.5 * effort || NODE * nodes > 0.5 * effort {
        return None;
    }
    // A single part may use a lattice through its own atoms.
    let own = if pairs.len() == 1 { pairs[0].0.lattice } else { None };
    let widths = || pairs.iter().map(|(pair, _)| pair.range()).map(|(low, high)| high - low);
    let widest = largest(widths());
    let fitted = |step: f64| own.map_or(step, |(_, length)| length / (length / step).ceil());
    let origin = |pair: &Pair, step: f64, tilt: f64| match own {
        Some((origin, _)) => origin,
        None => through(pair, step, tilt),
    };
    let look = within(0.1 * effort / (CELL * number), LEAST_LOOK, FIRST_LOOK);
    let coarse_step = fitted(widest / look);
    let places = places_of(pairs.len());
    let coarse: Vec<Law> = pairs
        .iter()
        .map(|(pair, _)| {
            let widths = spread_widths(pair, coarse_step, places);
            Law::bounds(pair, origin(pair, coarse_step, 0.0), coarse_step, 0.0, widths)
        })
        .collect();
    let counts = || pairs.iter().map(|(_, count)| *count);
    let look = Plan::new(coarse.iter().zip(counts()).collect());
    let moments = look.moments(Side::Upper);
    let (tilt, epsilon) = tilt_for(&moments, query, most_tilt(coarse_step));
    // Each use adds about step^2 / 8 per unit of (tilted) continuous mass, and epsilon follows by a factor 1 + tilt.
    let loose = sum(pairs.iter().map(|(pair, count)| count * loose_mass(pair, tilt)));
    let wanted = 0.35 * gap * larger(epsilon, 1.0);
    let mut step = (8.0 * wanted / (loose * (1.0 + tilt))).sqrt();
    // The window decides the length of the transforms.
    let per_point = per_point(counts());
    // Less is covered only where all would be too much: next to the largest losses a small part of the tilted mass decides.
    let least_missed = 9.0 - libm::log(gap);
    let all = reach(&moments, tilt, LOG_MISSED);
    let costs = all.length() / step * per_point;
    let log_missed =
        if costs <= 0.1 * effort { LOG_MISSED } else { smaller(LOG_MISSED, least_missed) };
    let span = reach(&moments, tilt, log_missed).length();
    if !(step > 0.0 && step.is_finite() && span.is_finite()) {
        // Next to the last atom, numbers overflow: the moments remain.
        return None;
    }
    let least = span / (super::spectrum::MOST_POINTS as f64 * 0.98);
    // Cells may be as narrow as the lattice over the whole of every law: they must fit the effort, and memory.
    let least = larger(least, sum(widths()) / smaller(effort / CELL, MOST_CELLS));
    let mut left = effort;
    let mut best: Option<(Between, Sides)> = None;
    let mut stuck = 0;
    for round in 0..MOST_ROUNDS {
        // The finest that may be paid for.
        let shortest = larger(least, 1.6 * span * per_point / left);
        let finest = step <= shortest;
        let before = step;
        step = smaller(larger(step, shortest), widest / 64.0);
        if round > 0 && step > 1.5 * before {
            break;
        }
        let fine = fitted(step);
        let transforms = span * per_point / fine;
        // A coarser lattice would say nothing, and this one takes too long: the moments remain.
        if 1.3 * transforms > left {
            break;
        }
        let cells = smaller(0.3 * transforms / CELL, MOST_CELLS) / number;
        let laws: Vec<Law> = pairs
            .iter()
            .map(|(pair, _)| fine_law(pair, origin(pair, fine, tilt), fine, tilt, cells, places))
            .collect();
        let plan = Plan::new(laws.iter().zip(counts()).collect());
        let made = sum(laws.iter().map(|law| law.index.len() as f64));
        left = larger(left - 1.3 * transforms - CELL * made, 1.0);
        let most = larger(ROUNDED_UP * transforms, 0.1 * effort);
        let Some(sides) = compose(&plan, query, log_missed, most) else { break };
        let read = sides.read(query);
        let gap_before = best.as_ref().map_or(f64::INFINITY, |(best, _)| best.gap());
        let (bound, sides) = match best {
            None => (read, sides),
            Some((before, kept)) => (before.and(read), kept.or(before, sides, read)),
        };
        best = Some((bound, sides));
        let upper = bound.upper.get();
        // A little more than was asked for.
        let size = if let Query::Epsilon(_) = query { larger(upper, 0.3) } else { upper };
        let ratio = gap * size / bound.gap();
        // Where finer was not better twice, finer still will not be; once can be the place of an atom between two points.
        stuck = if round > 1 && bound.gap() > 0.97 * gap_before { stuck + 1 } else { 0 };
        if ratio >= 1.0 || finest || stuck > 1 || left < 0.1 * effort {
            break;
        }
        // Near the last atom the lower law is off by its step; elsewhere by the square.
        let ratio = if round == 0 { ratio.sqrt() } else { ratio };
        step *= within(0.8 * ratio, LEAST_STRIDE, 0.7);
    }
    best
}

/// Where the lattice of a mix runs through: the atom that weighs most under the tilt, since one between two points moves by a part of a step; through 0
/// where the whole is about a step wide; and without atoms the middle of a cell is where most of the mass is.
fn through(pair: &Pair, step: f64, tilt: f64) -> f64 {
    let weight = |atom: &(f64, f64)| libm::log(atom.1) + tilt * atom.0;
    let (low, high) = pair.range();
    if low >= -step && high <= step {
        return 0.0;
    }
    match &pair.atoms[..] {
        [] => pair.crowd().map_or(0.0, |crowd| crowd - 0.5 * step),
        [first, rest @ ..] => {
            let mut heaviest = first;
            for atom in rest {
                if weight(atom) > weight(heaviest) {
                    heaviest = atom;
                }
            }
            heaviest.0
        }
    }
}

/// At how many places each of so many densities is looked at to choose widths of cells.
fn places_of(laws: usize) -> usize {
    (16_384 / laws).clamp(32, 512)
}

/// Rounds are paid for by the effort; this many are enough for any.
const MOST_ROUNDS: u32 = 16;

/// A round is at most so many times finer than the one before.
const LEAST_STRIDE: f64 = 0.1;

/// The law on a fine lattice. Cells are wide where the density is low; as they cost little next to the transforms, there are about `most` of
/// them if that is more, and the error is that of the lattice.
fn fine_law(pair: &Pair, origin: f64, step: f64, tilt: f64, most: f64, places: usize) -> Law {
    let law = |scale: f64| {
        Law::bounds(pair, origin, step, tilt, density_widths(pair, tilt, scale, places))
    };
    let first = law(0.5);
    let share = first.index.len() as f64 / most;
    if pair.smooth.is_some() && share < 0.5 { law(0.5 * share) } else { first }
}

/// The tilted share of the continuous part.
fn loose_mass(pair: &Pair, tilt: f64) -> f64 {
    let Some(smooth) = &pair.smooth else { return 1.0 };
    let (low, high) = pair.range();
    let weigh = |&(loss, mass): &(f64, f64)| mass * libm::exp(tilt * larger(loss - high, -700.0));
    let nodes = sum(smooth.nodes().iter().map(weigh));
    let atoms = sum(pair.atoms.iter().map(weigh));
    if low >= high || nodes <= 0.0 { 1.0 } else { nodes / (nodes + atoms) }
}

/// Widths for a first look: cells that are even in the coordinate of the noise.
fn spread_widths(pair: &Pair, step: f64, places: usize) -> impl Fn(f64) -> i64 {
    let places = pair.smooth.map_or_else(Vec::new, |smooth| smooth.spread(places));
    move |loss: f64| {
        let next = places.partition_point(|place| *place <= loss);
        match (next.checked_sub(1).and_then(|i| places.get(i)), places.get(next)) {
            (Some(a), Some(b)) => power_of_two((b - a) / step),
            _ => 1,
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "capped")]
fn power_of_two(x: f64) -> i64 {
    1 << libm::log2(within(x, 1.0, 65536.0)).floor() as i64
}

/// Widths for the final law, times `scale`: wider where the tilted density is low, as its cube root, which spends the error evenly.
fn density_widths(pair: &Pair, tilt: f64, scale: f64, places: usize) -> impl Fn(f64) -> i64 {
    let number = places;
    let mut places = Vec::new();
    if let Some(smooth) = &pair.smooth {
        let ends = smooth.spread(number);
        let top = ends.last().copied().unwrap_or(0.0);
        for pair in ends.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if b > a {
                let density = smooth.cell(a, b).mass / (b - a);
                places.push((a, density * libm::exp(larger(tilt * (b - top), -700.0))));
            }
        }
    }
    let peak = largest(places.iter().map(|place| place.1));
    for place in &mut places {
        place.1 = scale * libm::cbrt(peak / larger(place.1, peak * 1e-30));
    }
    move |loss: f64| {
        let next = places.partition_point(|place| place.0 <= loss);
        let here = next.checked_sub(1).map_or(1.0, |i| places[i].1);
        let ahead = places.get(next).map_or(here, |place| place.1);
        power_of_two(smaller(here, ahead))
    }
}

/// The pairs of a mix, cut so that the missing mass does not matter at `query`.
pub(crate) fn pairs(
    parts: &[(Event, f64)],
    direction: Direction,
    log_cut: f64,
) -> Vec<(Pair, f64)> {
    parts.iter().map(|&(event, count)| (Pair::new(event, direction, log_cut), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_the_two_sides_are_close() {
        let event = Event::gaussian(1.0).unwrap().poisson_sampled(0.01).unwrap();
        let pair = Pair::new(event, Direction::Remove, 60.0);
        let law = Law::bounds(&pair, 0.0, 1e-3, 0.0, |_| 1);
        let up: f64 = law.upper.iter().sum();
        let low: f64 = law.lower.iter().sum();
        assert!((up - 1.0).abs() < 1e-9 && (low - 1.0).abs() < 1e-3, "{up} {low}");
        let thin = super::super::moments::Thin::new(&law, &law.upper, 1);
        assert!((thin.log_moment(0.0)).abs() < 1e-9);
    }
}
