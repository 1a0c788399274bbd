//! Mixes without a closed form, on lattices: which lattice, how fine, and both bounds.

use super::composed::{Composed, Side};
use super::event::{Direction, Event};
use super::law::Law;
use super::moments::{order_for_delta, order_for_epsilon, reach};
use super::pair::Pair;
use super::spectrum::Plan;
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

/// Tilts beyond this change nothing on a lattice of this step: one entry has all the weight.
fn most_tilt(step: f64) -> f64 {
    16.0 / step
}

/// A composed law from both sides.
pub(crate) struct Sides {
    lower: Composed,
    upper: Composed,
}

impl Sides {
    pub(crate) fn read(&self, query: Query) -> Between {
        let side = |composed: &Composed| match query {
            Query::Epsilon(delta) => composed.epsilon(delta),
            Query::Delta(epsilon) => composed.delta(epsilon),
        };
        Between { lower: Lower::new(side(&self.lower)), upper: Upper::new(side(&self.upper)) }
    }
}

/// Composes given laws for `query`, tilted where the moments of `plan` say.
fn compose(plan: &Plan<'_>, query: Query, most: f64) -> Option<Sides> {
    if !plan.laws.iter().all(|(law, _)| law.is_finite()) {
        return None;
    }
    let moments = plan.moments(Side::Upper);
    let tilt = match query {
        Query::Epsilon(delta) => {
            let (tilt, epsilon) = order_for_delta(&moments, libm::log(delta), most);
            if epsilon > 0.0 { tilt } else { order_for_epsilon(&moments, 0.0, most).0 }
        }
        Query::Delta(epsilon) => order_for_epsilon(&moments, epsilon, most).0,
    };
    let window = plan.window(tilt)?;
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
pub(crate) fn lattice_exact(pairs: &[(Pair, f64)], query: Query) -> Option<Sides> {
    let (step, origins) = common_lattice(pairs)?;
    let laws: Vec<Law> = pairs
        .iter()
        .zip(origins)
        .map(|((pair, _), origin)| Law::exact(pair, origin, step))
        .collect();
    let plan = Plan::new(laws.iter().zip(pairs).map(|(law, (_, count))| (law, *count)).collect());
    compose(&plan, query, most_tilt(step))
}

/// How fine a first look is.
const FIRST_LOOK: f64 = 65536.0;

/// An epsilon below this is not asked for more digits.
const SMALL: f64 = 0.1;

/// Both bounds on one lattice, refined until they are within `gap` (relative to an epsilon above [`SMALL`]) or the effort is spent.
pub(crate) fn connect_the_dots(
    pairs: &[(Pair, f64)],
    query: Query,
    gap: f64,
) -> Option<(Between, Sides)> {
    // A single part may use a lattice through its own atoms.
    let own = if pairs.len() == 1 { pairs[0].0.lattice } else { None };
    let width = pairs.iter().map(|(pair, _)| pair.range()).map(|(low, high)| high - low);
    let widest = largest(width);
    let fitted = |step: f64| match own {
        Some((origin, length)) => (origin, length / (length / step).ceil()),
        None => (0.0, step),
    };
    let (origin, coarse_step) = fitted(widest / FIRST_LOOK);
    let coarse: Vec<Law> = pairs
        .iter()
        .map(|(pair, _)| Law::bounds(pair, origin, coarse_step, spread_widths(pair, coarse_step)))
        .collect();
    let counts = || pairs.iter().map(|(_, count)| *count);
    let look = Plan::new(coarse.iter().zip(counts()).collect());
    let moments = look.moments(Side::Upper);
    let most = most_tilt(coarse_step);
    let (tilt, epsilon) = match query {
        Query::Epsilon(delta) => order_for_delta(&moments, libm::log(delta), most),
        Query::Delta(epsilon) => (order_for_epsilon(&moments, epsilon, most).0, epsilon),
    };
    // Each use adds about step^2 / 8 per unit of (tilted) continuous mass, and epsilon follows by a factor 1 + tilt.
    let loose = sum(pairs.iter().map(|(pair, count)| count * loose_mass(pair, tilt)));
    let wanted = 0.35 * gap * larger(epsilon, SMALL);
    let mut step = (8.0 * wanted / (loose * (1.0 + tilt))).sqrt();
    // The window decides the length of the transforms.
    let span = reach(&moments, tilt);
    let shortest = (span.high - span.low) / (super::spectrum::MOST_POINTS as f64 * 0.98);
    let mut best: Option<(Between, Sides)> = None;
    for round in 0..5 {
        step = smaller(larger(step, shortest), widest / 64.0);
        let (origin, fine) = fitted(step);
        let laws: Vec<Law> = pairs
            .iter()
            .map(|(pair, _)| Law::bounds(pair, origin, fine, density_widths(pair, tilt)))
            .collect();
        let plan = Plan::new(laws.iter().zip(counts()).collect());
        let Some(sides) = compose(&plan, query, most_tilt(fine)) else { break };
        let bound = sides.read(query);
        let bound = best.map_or(bound, |(best, _)| best.and(bound));
        best = Some((bound, sides));
        let upper = bound.upper.get();
        let target = gap * larger(upper, SMALL);
        let done = match query {
            Query::Epsilon(_) => bound.gap() <= target,
            Query::Delta(_) => bound.gap() <= gap * (1.0 + tilt) * upper,
        };
        if done || step <= shortest {
            break;
        }
        let ratio = match query {
            Query::Epsilon(_) => target / bound.gap(),
            Query::Delta(_) => 0.1,
        };
        // Near the last atom the lower law is off by its step; elsewhere by the square.
        let ratio = if round == 0 { ratio.sqrt() } else { ratio };
        step *= within(0.8 * ratio, 0.1, 0.7);
    }
    best
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
fn spread_widths(pair: &Pair, step: f64) -> impl Fn(f64) -> i64 {
    let places = pair.smooth.map_or_else(Vec::new, |smooth| smooth.spread(600));
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

/// Widths for the final law: wider where the tilted density is low, as its cube root, which spends the error evenly.
fn density_widths(pair: &Pair, tilt: f64) -> impl Fn(f64) -> i64 {
    let mut places = Vec::new();
    if let Some(smooth) = &pair.smooth {
        let ends = smooth.spread(500);
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
        // Half of it: cells are cheap next to the transforms that a finer lattice would need.
        place.1 = 0.5 * libm::cbrt(peak / larger(place.1, peak * 1e-30));
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
    use super::super::moments::Moments;
    use super::*;

    #[test]
    fn moments_of_the_two_sides_are_close() {
        let event = Event::gaussian(1.0).unwrap().poisson_sampled(0.01).unwrap();
        let pair = Pair::new(event, Direction::Remove, 60.0);
        let law = Law::bounds(&pair, 0.0, 1e-3, |_| 1);
        let up: f64 = law.upper.iter().sum();
        let low: f64 = law.lower.iter().sum();
        assert!((up - 1.0).abs() < 1e-9 && (low - 1.0).abs() < 1e-3, "{up} {low}");
        let thin = super::super::moments::Thin::new(&law, &law.upper);
        assert!((thin.log_moment(0.0)).abs() < 1e-9);
    }
}
