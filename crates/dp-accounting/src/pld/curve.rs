//! Which way a question is answered, and what is kept for the next one.

use super::closed::closed;
use super::event::{Direction, Event};
use super::grid::{self, Query, Sides};
use super::line::Line;
use super::mix::{Mix, Whole};
use super::moments::{delta_by_moment, epsilon_by_moment, order_for_delta, order_for_epsilon};
use super::pair::Pair;
use crate::outward::{Between, Lower, Upper, larger, sum};

/// The width that is aimed at, relative to an epsilon above 1.
const GAP: f64 = 1e-6;
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
    fn read(&self, query: Query) -> Between {
        match self {
            Self::Line(line) => line.read(query),
            Self::Lattice(sides) => sides.read(query),
        }
    }
}

fn good(query: Query, bound: Between) -> bool {
    match query {
        Query::Epsilon(_) => bound.gap() <= GAP * larger(bound.upper.get(), 1.0),
        Query::Delta(_) => bound.gap() <= GAP * bound.upper.get(),
    }
}

impl Curve {
    pub(crate) fn new(parts: Vec<(Event, f64)>, direction: Direction) -> Self {
        Self { parts, direction, kept: Vec::new() }
    }

    /// Both bounds; what had to be composed for them is kept.
    ///
    /// A mix costs at least what its Gaussian part does: an answer below that would come from numbers that overflowed, and is not given.
    pub(crate) fn answer(&mut self, query: Query) -> Between {
        if let Some(bound) = closed(&self.parts, self.direction, query) {
            return bound;
        }
        self.compute(query).and(self.gaussian_part(query))
    }

    /// What the noise that is Gaussian and not sampled costs alone, from below.
    fn gaussian_part(&self, query: Query) -> Between {
        let parts: Vec<(Event, f64)> =
            self.parts.iter().filter(|(event, _)| event.is_plain_gaussian()).copied().collect();
        let alone = closed(&parts, self.direction, query).unwrap_or(Between::ANY);
        Between { upper: Upper::UNKNOWN, ..alone }
    }

    fn compute(&mut self, query: Query) -> Between {
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
        let by_lattice = grid::connect_the_dots(&pairs, query, GAP).map(|(bound, sides)| {
            self.kept.push(Composed::Lattice(sides));
            bound
        });
        // By moments: far from tight, always there.
        let moments = Between { lower: Lower::ZERO, upper: by_moments(&mix, query) };
        by_line.into_iter().chain(by_lattice).fold(moments, Between::and)
    }

    /// An answer from what is kept, if it is as good as a new one would be.
    fn recall(&self, query: Query) -> Option<Between> {
        let bound = self.kept.iter().map(|law| law.read(query)).reduce(Between::and)?;
        good(query, bound).then_some(bound)
    }

    /// Where to cut: the mass left out is added to delta and must not matter.
    fn log_cut(&self, query: Query) -> f64 {
        let uses = sum(self.parts.iter().map(|part| part.1));
        let log_delta = match query {
            Query::Epsilon(delta) => libm::log(delta),
            Query::Delta(epsilon) => {
                // A first look says how small the answer is.
                let mix = Mix::new(&self.parts, self.direction, 200.0);
                larger(order_for_epsilon(&Whole(&mix), epsilon, mix.most_order()).1, -700.0)
            }
        };
        30.0 - log_delta + libm::log(uses)
    }
}

/// The order that serves `query` best, as far as orders are searched.
fn best_order(mix: &Mix, query: Query) -> f64 {
    let (whole, most) = (Whole(mix), mix.most_order());
    match query {
        Query::Epsilon(delta) => order_for_delta(&whole, libm::log(delta), most).0,
        Query::Delta(epsilon) => order_for_epsilon(&whole, epsilon, most).0,
    }
}

/// The upper side from the moments alone.
pub(crate) fn by_moments(mix: &Mix, query: Query) -> Upper {
    let order = best_order(mix, query);
    match query {
        Query::Epsilon(delta) => epsilon_by_moment(&Whole(mix), order, delta),
        Query::Delta(epsilon) => delta_by_moment(&Whole(mix), order, epsilon),
    }
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
                assert!(line.gap() <= 1e-8 * line.upper.get().max(1.0), "{parts:?} {line:?}");
                assert!(
                    lattice.gap() <= 1e-5 * lattice.upper.get().max(1.0),
                    "{parts:?} {lattice:?}"
                );
                assert!(
                    lattice.lower.get() <= line.upper.get()
                        && line.lower.get() <= lattice.upper.get(),
                    "{parts:?} {direction:?}: {line:?} and {lattice:?}"
                );
                // A control: half a percent more uses is another value.
                let more: Vec<_> = parts.iter().map(|(e, k)| (*e, (k * 1.005).ceil())).collect();
                let other = Mix::new(&more, direction, 60.0).invert(query, GAP).unwrap();
                assert!(other.read(query).lower.get() > lattice.upper.get());
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
                Query::Epsilon(_) => split.upper.get().max(0.1),
                Query::Delta(_) => 100.0 * split.upper.get(),
            };
            assert!(split.gap() <= 4e-9 * of, "{scale} {count} {query:?}: {split:?}");
            assert!(
                lattice.lower.get() <= split.upper.get()
                    && split.lower.get() <= lattice.upper.get(),
                "{scale} {count} {query:?}: {split:?} and {lattice:?}"
            );
            // A control: a little less noise is another value.
            let (other, _) = bounds(scale * (1.0 - 1e-5), count, query);
            assert!(
                other.lower.get() > lattice.upper.get(),
                "{scale} {count} {query:?}: {other:?}"
            );
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
                    assert!(closed.gap() <= 1e-12, "{event:?} {closed:?}");
                    assert!(
                        lattice.lower.get() <= closed.upper.get()
                            && closed.lower.get() <= lattice.upper.get(),
                        "{event:?} {direction:?} {query:?}: {closed:?} and {lattice:?}"
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
            assert!(
                kept.lower.get() <= new.upper.get() && new.lower.get() <= kept.upper.get(),
                "{kept:?} {new:?}"
            );
            assert!(good(query, kept), "{kept:?}");
        }
        assert!(curve.kept.len() < 10, "{} laws for 29 questions", curve.kept.len());
    }
}
