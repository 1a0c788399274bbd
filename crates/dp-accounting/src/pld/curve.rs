//! Which way a question is answered, and what is kept for the next one.

use super::bound::Bound;
use super::closed::closed;
use super::event::{Direction, Event};
use super::grid::{self, Query, Sides};
use super::line::Line;
use super::mix::Mix;
use super::moments::{order_for_delta, order_for_epsilon};
use super::pair::Pair;
use crate::rounding::UNIT;

/// The width that is aimed at, relative to an epsilon above 1.
const GAP: f64 = 1e-6;
/// Orders above this are not searched when all else fails.
pub(crate) const MOST_ORDER: f64 = 400.0;

/// The curve of a finite mix in one direction, as far as it was looked at.
pub(crate) struct Curve {
    parts: Vec<(Event, f64)>,
    direction: Direction,
    /// Composed laws: each is good around the point that it was made for, and a bound everywhere.
    kept: Vec<Composed>,
}

/// A composed law: transformed, or on lattices above and below.
enum Composed {
    Line(Line),
    Lattice(Sides),
}

impl Composed {
    fn read(&self, query: Query) -> Bound {
        match self {
            Self::Line(line) => line.read(query),
            Self::Lattice(sides) => sides.read(query),
        }
    }
}

fn good(query: Query, bound: Bound) -> bool {
    match query {
        Query::Epsilon(_) => bound.gap() <= GAP * bound.upper().max(1.0),
        Query::Delta(_) => bound.gap() <= GAP * bound.upper(),
    }
}

impl Curve {
    pub(crate) fn new(parts: Vec<(Event, f64)>, direction: Direction) -> Self {
        Self { parts, direction, kept: Vec::new() }
    }

    /// Both bounds; what had to be composed for them is kept.
    ///
    /// A mix costs at least what its Gaussian part does: an answer below that would come from numbers that overflowed, and is not given.
    pub(crate) fn answer(&mut self, query: Query) -> Bound {
        if let Some(bound) = closed(&self.parts, self.direction, query) {
            return bound;
        }
        let bound = self.compute(query);
        let least = self.gaussian_part(query);
        if bound.upper() >= least {
            return Bound::new(bound.lower().max(least), bound.upper());
        }
        let upper = by_moments(&Mix::new(&self.parts, self.direction, self.log_cut(query)), query);
        Bound::new(least, if upper >= least { upper } else { f64::INFINITY })
    }

    /// What the noise that is Gaussian and not sampled costs alone, from below.
    fn gaussian_part(&self, query: Query) -> f64 {
        let parts: Vec<(Event, f64)> =
            self.parts.iter().filter(|(event, _)| event.is_plain_gaussian()).copied().collect();
        closed(&parts, self.direction, query).map_or(0.0, Bound::lower)
    }

    fn compute(&mut self, query: Query) -> Bound {
        if let Some(bound) = self.recall(query) {
            return bound;
        }
        let log_cut = self.log_cut(query);
        let pairs: Vec<(Pair, f64)> = grid::pairs(&self.parts, self.direction, log_cut);
        if let Some(sides) = grid::lattice_exact(&pairs, query) {
            let bound = sides.read(query);
            self.kept.push(Composed::Lattice(sides));
            return bound;
        }
        let mix = Mix::new(&self.parts, self.direction, log_cut);
        let by_line = mix.invert(query, GAP).or_else(|| mix.split(query)).map(|line| {
            let bound = line.read(query);
            self.kept.push(Composed::Line(line));
            bound
        });
        if let Some(bound) = by_line.filter(|bound| good(query, *bound)) {
            return bound;
        }
        if let Some(bound) = by_line.filter(|bound| good(query, *bound)) {
            return bound;
        }
        let by_lattice = grid::connect_the_dots(&pairs, query, GAP).map(|(bound, sides)| {
            self.kept.push(Composed::Lattice(sides));
            bound
        });
        let best = by_line.into_iter().chain(by_lattice).reduce(Bound::and);
        // By moments: far from tight, always there.
        best.unwrap_or_else(|| Bound::new(0.0, by_moments(&mix, query)))
    }

    /// An answer from what is kept, if it is as good as a new one would be.
    fn recall(&self, query: Query) -> Option<Bound> {
        let bound = self.kept.iter().map(|law| law.read(query)).reduce(Bound::and)?;
        good(query, bound).then_some(bound)
    }

    /// Where to cut: the mass left out is added to delta and must not matter.
    fn log_cut(&self, query: Query) -> f64 {
        let uses: f64 = self.parts.iter().map(|part| part.1).sum();
        let log_delta = match query {
            Query::Epsilon(delta) => libm::log(delta),
            Query::Delta(epsilon) => {
                // A first look says how small the answer is.
                let mix = Mix::new(&self.parts, self.direction, 200.0);
                order_for_epsilon(&mix, epsilon, MOST_ORDER).1.max(-700.0)
            }
        };
        30.0 - log_delta + libm::log(uses)
    }
}

/// The upper side from the moments alone.
fn by_moments(mix: &Mix, query: Query) -> f64 {
    let error = |order: f64| {
        let (log, error) = mix.log_moment_and_error(order);
        error + 8.0 * UNIT * (1.0 + log.abs())
    };
    let bound = match query {
        Query::Epsilon(delta) => {
            let (order, epsilon) = order_for_delta(mix, libm::log(delta), MOST_ORDER);
            (epsilon + (error(order) + 8.0 * UNIT * libm::log(delta).abs()) / order).max(0.0)
        }
        Query::Delta(epsilon) => {
            let (order, log) = order_for_epsilon(mix, epsilon, MOST_ORDER);
            libm::exp(log + error(order) + 8.0 * UNIT * order * epsilon).min(1.0)
        }
    };
    bound * (1.0 + 8.0 * UNIT) + 1e-300
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(event: Event, rate: f64) -> Event {
        event.poisson_sampled(rate).unwrap()
    }

    /// The inversion against lattices above and below, which share nothing with it but the pair.
    #[test]
    fn line_and_lattices_enclose_the_same_value() {
        let gaussian = |s: f64| Event::gaussian(s).unwrap();
        let laplace = |s: f64| Event::laplace(s).unwrap();
        let mixes = [
            vec![(sampled(gaussian(1.0), 0.02), 300.0)],
            vec![(sampled(gaussian(20.0), 1.0_f64.next_down()), 1000.0)],
            vec![(sampled(laplace(1.0), 0.1), 400.0)],
            vec![(sampled(laplace(0.5), 0.3), 60.0), (gaussian(4.0), 1.0)],
            vec![(laplace(2.0), 200.0)],
        ];
        for parts in mixes {
            for direction in [Direction::Remove, Direction::Add] {
                let query = Query::Epsilon(1e-7);
                let pairs = grid::pairs(&parts, direction, 60.0);
                let (lattice, _) = grid::connect_the_dots(&pairs, query, GAP).unwrap();
                let mix = Mix::new(&parts, direction, 60.0);
                let line = mix.invert(query, GAP).unwrap().read(query);
                assert!(line.gap() <= 1e-8 * line.upper().max(1.0), "{parts:?} {line}");
                assert!(lattice.gap() <= 1e-5 * lattice.upper().max(1.0), "{parts:?} {lattice}");
                assert!(
                    lattice.lower() <= line.upper() && line.lower() <= lattice.upper(),
                    "{parts:?} {direction:?}: {line} and {lattice}"
                );
                // A control: half a percent more uses is another value.
                let more: Vec<_> = parts.iter().map(|(e, k)| (*e, (k * 1.005).ceil())).collect();
                let other = Mix::new(&more, direction, 60.0).invert(query, GAP).unwrap();
                assert!(other.read(query).lower() > lattice.upper());
            }
        }
    }

    /// The split of a few Laplace uses against fine lattices.
    #[test]
    fn split_and_lattices_enclose_the_same_value() {
        let bounds = |scale: f64, count: f64, query: Query| {
            let parts = [(Event::laplace(scale).unwrap(), count)];
            let pairs = grid::pairs(&parts, Direction::Remove, 70.0);
            let (lattice, _) = grid::connect_the_dots(&pairs, query, 1e-8).unwrap();
            (Mix::new(&parts, Direction::Remove, 70.0).split(query).unwrap().read(query), lattice)
        };
        for (scale, count, query) in [
            (100.0, 1000.0, Query::Epsilon(1e-10)),
            (100.0, 10.0, Query::Epsilon(1e-6)),
            (10.0, 100.0, Query::Epsilon(1e-6)),
            (10.0, 100.0, Query::Delta(0.0)),
            (10.0, 30.0, Query::Delta(1.0)),
            (1.0, 2.0, Query::Epsilon(1e-3)),
            (1.0, 2.0, Query::Epsilon(0.2)),
            (1.0, 3.0, Query::Delta(1.5)),
            (0.2, 4.0, Query::Epsilon(1e-4)),
            (1.0, 2.0, Query::Epsilon(3e-8)),
        ] {
            let (split, lattice) = bounds(scale, count, query);
            let of = match query {
                Query::Epsilon(_) => split.upper().max(0.1),
                Query::Delta(_) => 100.0 * split.upper(),
            };
            assert!(split.gap() <= 4e-9 * of, "{scale} {count} {query:?}: {split}");
            assert!(
                lattice.lower() <= split.upper() && split.lower() <= lattice.upper(),
                "{scale} {count} {query:?}: {split} and {lattice}"
            );
            // A control: a little less noise is another value.
            let (other, _) = bounds(scale * (1.0 - 1e-5), count, query);
            assert!(other.lower() > lattice.upper(), "{scale} {count} {query:?}: {other}");
        }
    }

    #[test]
    fn single_uses_agree_with_lattices() {
        for event in [
            sampled(Event::gaussian(1.0).unwrap(), 0.1),
            sampled(Event::laplace(0.7).unwrap(), 0.2),
            Event::laplace(0.7).unwrap(),
        ] {
            for direction in [Direction::Remove, Direction::Add] {
                for query in [Query::Epsilon(0.01), Query::Delta(0.1)] {
                    let parts = [(event, 1.0)];
                    let closed = closed(&parts, direction, query).unwrap();
                    let pairs = grid::pairs(&parts, direction, 50.0);
                    let (lattice, _) = grid::connect_the_dots(&pairs, query, 1e-4).unwrap();
                    assert!(closed.gap() <= 1e-12, "{event:?} {closed}");
                    assert!(
                        lattice.lower() <= closed.upper() && closed.lower() <= lattice.upper(),
                        "{event:?} {direction:?} {query:?}: {closed} and {lattice}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_kept_answers_like_new() {
        let parts = vec![(sampled(Event::gaussian(1.0).unwrap(), 0.02), 300.0)];
        let mut curve = Curve::new(parts.clone(), Direction::Remove);
        for i in 1..30_u32 {
            let query = Query::Delta(f64::from(i) * 0.1);
            let kept = curve.answer(query);
            let new = Curve::new(parts.clone(), Direction::Remove).answer(query);
            assert!(kept.lower() <= new.upper() && new.lower() <= kept.upper(), "{kept} {new}");
            assert!(good(query, kept), "{kept}");
        }
        assert!(curve.kept.len() < 10, "{} laws for 29 questions", curve.kept.len());
    }
}
