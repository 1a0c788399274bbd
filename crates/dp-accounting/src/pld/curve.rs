//! Which way a question is answered, and what is kept for the next one.

use super::accuracy::Accuracy;
use super::bound::{Bound, Contradiction};
use super::closed::closed;
use super::event::{Direction, Event};
use super::evidence::{Method, Piece, Question};
use super::grid::{self, Query, Sides};
use super::line::Line;
use super::mix::{Mix, Whole};
use super::moments::{
    Moments, delta_by_moment, epsilon_by_moment, log_peak, order_for_delta, order_for_epsilon,
};
use super::pair::{Pair, atoms_of};
use crate::outward::{Between, Upper, larger, smaller, sum};
use crate::params::{Delta, Epsilon};

/// The curve of a finite mix in one direction, as far as it was looked at.
#[derive(Debug)]
pub(crate) struct Curve {
    parts: Vec<(Event, f64)>,
    direction: Direction,
    accuracy: Accuracy,
    /// Composed laws: each is good around the point that it was made for, and a bound everywhere.
    kept: Vec<Composed>,
}

/// A composed law: transformed, or on lattices above and below.
#[derive(Debug)]
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

    fn evidence(&self) -> Method {
        match self {
            Self::Line(line) => Method::Line(Box::new(line.evidence())),
            Self::Lattice(sides) => sides.evidence(),
        }
    }
}

/// Elementary steps that an atom of a law takes, with the transforms of the law.
const ATOM: f64 = 20.0;

/// Those that a law takes, whatever it is: its pair, its moments, and the outline of its transform.
const LAW: f64 = 5_000.0;

/// Deltas below this are answered by a moment: no law is composed for what is next to the smallest float.
const TINY: f64 = 1e-280;

impl Curve {
    pub(crate) fn new(parts: Vec<(Event, f64)>, direction: Direction, accuracy: Accuracy) -> Self {
        Self { parts, direction, accuracy, kept: Vec::new() }
    }

    /// Both bounds; what had to be composed for them is kept, and what they follow from is added to `pieces`.
    pub(crate) fn answer(
        &mut self,
        query: Query,
        pieces: &mut Vec<Piece>,
    ) -> Result<Between, Contradiction> {
        if let Some(bound) = closed(&self.parts, self.direction, query) {
            pieces.push(piece(query, bound, Method::ClosedForm)?);
            return Ok(bound);
        }
        let mut answer = self.compute(query, pieces)?;
        // A mix costs at least what its Gaussian part does: an answer below that would come from numbers that overflowed.
        let gaussian: Vec<(Event, f64)> =
            self.parts.iter().filter(|(event, _)| event.is_plain_gaussian()).copied().collect();
        if let Some(alone) = closed(&gaussian, self.direction, query)
            && !gaussian.is_empty()
        {
            let alone = Between { upper: Upper::UNKNOWN, ..alone };
            pieces.push(piece(query, alone, Method::GaussianPart)?);
            answer = answer.and(alone);
        }
        Ok(answer)
    }

    fn good(&self, query: Query, bound: Between) -> bool {
        let upper = bound.upper.get();
        let size = if let Query::Epsilon(_) = query { larger(upper, 1.0) } else { upper };
        bound.gap() <= self.accuracy.gap() * size
    }

    fn compute(&mut self, query: Query, pieces: &mut Vec<Piece>) -> Result<Between, Contradiction> {
        // What is kept, if it is as good as a new one would be.
        for law in &self.kept {
            let bound = law.read(query);
            if self.good(query, bound) {
                pieces.push(piece(query, bound, law.evidence())?);
                return Ok(bound);
            }
        }
        let moment = self.by_moments(query);
        let mut answer = Between { upper: Upper::new(moment.bound.upper()), ..Between::ANY };
        pieces.push(moment);
        if matches!(query, Query::Delta(_)) && answer.upper.get() <= TINY {
            return Ok(answer);
        }
        let log_cut = self.log_cut(query);
        let atoms = sum(self.parts.iter().map(|(event, _)| atoms_of(*event, log_cut)));
        let laws = self.parts.len() as f64;
        if atoms * ATOM + laws * LAW > self.accuracy.effort() as f64 {
            return Ok(answer);
        }
        let pairs: Vec<(Pair, f64)> = grid::pairs(&self.parts, self.direction, log_cut);
        // Whatever is tried is paid for by the same effort.
        let (gap, mut left) = (self.accuracy.gap(), self.accuracy.effort() as f64);
        if let Some(sides) = grid::lattice_exact(&pairs, query, left) {
            return Ok(answer.and(self.keep(Composed::Lattice(sides), query, pieces)?));
        }
        let mix = Mix::new(&self.parts, self.direction, log_cut);
        if let Some(line) = mix.invert(query, gap, &mut left).or_else(|| mix.split(query)) {
            answer = answer.and(self.keep(Composed::Line(line), query, pieces)?);
            if self.good(query, answer) {
                return Ok(answer);
            }
        }
        // Far from tight, and always there, is the bound by moments.
        if let Some((_, sides)) = grid::connect_the_dots(&pairs, query, gap, left) {
            answer = answer.and(self.keep(Composed::Lattice(sides), query, pieces)?);
        }
        Ok(answer)
    }

    /// Keeps a law and reads it.
    fn keep(
        &mut self,
        law: Composed,
        query: Query,
        pieces: &mut Vec<Piece>,
    ) -> Result<Between, Contradiction> {
        let bound = law.read(query);
        pieces.push(piece(query, bound, law.evidence())?);
        self.kept.push(law);
        Ok(bound)
    }

    /// The upper side from the moments alone.
    pub(crate) fn by_moments(&self, query: Query) -> Piece {
        let mix = Mix::of_moments(&self.parts, self.direction);
        let (whole, order) = (Whole(&mix), best_order(&mix, query));
        let upper = match query {
            Query::Epsilon(delta) => epsilon_by_moment(&whole, order, delta),
            Query::Delta(epsilon) => delta_by_moment(&whole, order, epsilon),
        };
        let bound = Bound::proved(Between { upper, ..Between::ANY });
        let by = Method::Moment { order, log_moment: whole.upper(order).get() };
        Piece { question: question(query), bound, by }
    }

    /// Where to cut: the mass left out is added to delta and must not matter.
    fn log_cut(&self, query: Query) -> f64 {
        let uses = sum(self.parts.iter().map(|part| part.1));
        let log_delta = match query {
            Query::Epsilon(delta) => libm::log(delta),
            Query::Delta(epsilon) => {
                // A first look says how small the answer is.
                let mix = Mix::of_moments(&self.parts, self.direction);
                let order = best_order(&mix, query);
                let log = Whole(&mix).log_moment(order) - order * epsilon + log_peak(order);
                // Not a number where moments overflow.
                if log > -700.0 { smaller(log, 0.0) } else { -700.0 }
            }
        };
        30.0 - log_delta + libm::log(uses)
    }
}

fn question(query: Query) -> Question {
    match query {
        Query::Epsilon(delta) => Question::Epsilon(Delta::saturating(delta)),
        Query::Delta(epsilon) => {
            Question::Delta(Epsilon::of(epsilon).expect("an epsilon that was asked for is one"))
        }
    }
}

fn piece(query: Query, bound: Between, by: Method) -> Result<Piece, Contradiction> {
    Ok(Piece { question: question(query), bound: Bound::new(bound)?, by })
}

/// The order that serves `query` best, as far as orders are searched.
pub(crate) fn best_order(mix: &Mix, query: Query) -> f64 {
    let (sketch, most) = (mix.sketch(), mix.most_order());
    let whole = Whole(&sketch);
    match query {
        Query::Epsilon(delta) => order_for_delta(&whole, libm::log(delta), most).0,
        Query::Delta(epsilon) => order_for_epsilon(&whole, epsilon, most).0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f64 = 1e-6;
    const EFFORT: f64 = 1e9;

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
                let (lattice, _) = grid::connect_the_dots(&pairs, query, GAP, EFFORT).unwrap();
                let mix = Mix::new(&parts, direction, 60.0);
                let line = mix.invert(query, GAP, &mut EFFORT.clone()).unwrap().read(query);
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
                let other = Mix::new(&more, direction, 60.0)
                    .invert(query, GAP, &mut EFFORT.clone())
                    .unwrap();
                assert!(other.read(query).lower.get() > lattice.upper.get());
            }
        }
    }

    /// Laws that were cut too early lack mass in every use: the upper bound has all of it.
    #[test]
    fn what_is_cut_counts_for_every_use() {
        const COARSE: f64 = 1e-3;
        let part = (sampled(Event::gaussian(1.0).unwrap(), 0.01), 1000.0);
        for direction in [Direction::Remove, Direction::Add] {
            for query in [0.0, 1.0].map(Query::Delta) {
                let lattice = |log_cut: f64| {
                    let pairs = grid::pairs(&[part], direction, log_cut);
                    grid::connect_the_dots(&pairs, query, COARSE, EFFORT).unwrap().0
                };
                let (fine, early) = (lattice(30.0), lattice(5.0));
                let (upper, least) = (early.upper.get(), fine.lower.get());
                assert!(upper >= least, "{direction:?} {query:?}: {upper} {least}");
                assert!(early.lower.get() <= fine.upper.get(), "{query:?}");
                // All of it at most, twice.
                let cut = part.1 * grid::pairs(&[part], direction, 5.0)[0].0.cut;
                assert!(cut > 0.0 && (0.5 * cut..2.0 * cut).contains(&early.gap()));
            }
        }
    }

    /// The split of a few Laplace uses against fine lattices.
    #[test]
    fn split_and_lattices_enclose_the_same_value() {
        let bounds = |scale: f64, count: f64, query: Query| {
            let parts = [(Event::laplace(scale).unwrap(), count)];
            let pairs = grid::pairs(&parts, Direction::Remove, 70.0);
            let (lattice, _) = grid::connect_the_dots(&pairs, query, 1e-8, EFFORT).unwrap();
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
                    let (lattice, _) = grid::connect_the_dots(&pairs, query, 1e-4, EFFORT).unwrap();
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

    /// A rate next to 1 with little noise: the losses hang on what little is left of the 1.
    #[test]
    fn samples_of_almost_everybody_agree_with_lattices() {
        let parts = [(sampled(Event::gaussian(0.13).unwrap(), 1.0 - 1e-12), 1.0)];
        for query in [25.0, 27.0].map(Query::Delta) {
            let closed = closed(&parts, Direction::Add, query).unwrap();
            let pairs = grid::pairs(&parts, Direction::Add, 50.0);
            let (lattice, _) = grid::connect_the_dots(&pairs, query, 1e-6, EFFORT).unwrap();
            assert!(closed.gap() <= 1e-12 && lattice.gap() <= 1e-6, "{closed:?} {lattice:?}");
            assert!(
                lattice.lower.get() <= closed.lower.get()
                    && closed.upper.get() <= lattice.upper.get(),
                "{query:?}: {closed:?} and {lattice:?}"
            );
        }
    }

    /// Where no line is found, the search for one has left half of the effort, and lattices get no more than what is left.
    #[test]
    fn one_effort_pays_for_all_that_is_tried() {
        let parts: Vec<_> = (0..60_u32)
            .map(|i| {
                let scale = 1.0 + f64::from(i) / 30.0;
                (sampled(Event::laplace(scale).unwrap(), 0.1 + f64::from(i) / 600.0), 1.0)
            })
            .collect();
        let mix = Mix::new(&parts, Direction::Remove, 60.0);
        for effort in [3e6, 1e7] {
            let mut left = effort;
            assert!(mix.invert(Query::Epsilon(1e-6), GAP, &mut left).is_none());
            assert!(left >= 0.4 * effort && left <= effort, "{left:e} of {effort:e}");
        }
    }

    /// Where the losses are so small that no moment is computed at their order, no tilt is beyond the orders that are searched.
    #[test]
    fn tiny_losses_are_not_sampled_at_a_huge_tilt() {
        for (scale, rate, count) in [(20.0, 1e-4, 2.0), (100.0, 1e-4, 100.0), (1.0, 1e-6, 10.0)] {
            let parts = [(sampled(Event::laplace(scale).unwrap(), rate), count)];
            for query in [Query::Epsilon(1e-6), Query::Delta(1e-7)] {
                let mix = Mix::new(&parts, Direction::Remove, 60.0);
                let (tilt, most) = (mix.course(query).0, mix.most_order());
                assert!(tilt <= most, "{parts:?} {query:?}: {tilt:e} above {most:e}");
            }
        }
    }

    /// A finer lattice can be worse on one side: the better law of each side is kept, and one round that gains nothing is not the last.
    #[test]
    fn few_sampled_laplace_reach_the_gap() {
        for (scale, rate, count, delta) in [
            (0.3, 0.999, 3, 1e-3),
            (0.3, 0.1, 3, 1e-6),
            (0.3, 0.5, 7, 1e-6),
            (1.0, 0.9, 2, 1e-3),
            (5.0, 0.9, 10, 1e-6),
        ] {
            let few = super::super::Composition::new()
                .with(sampled(Event::laplace(scale).unwrap(), rate), count)
                .unwrap();
            let bound = few.epsilon(Delta::new(delta).unwrap());
            assert!(bound.gap() <= GAP * larger(bound.upper(), 1.0), "{scale} {rate}: {bound:?}");
        }
    }

    /// Where atoms lie between the points of a lattice, both sides still get close to each other.
    #[test]
    fn lattices_of_distinct_laws_are_close() {
        let parts: Vec<_> = (0..8_u32)
            .map(|i| {
                let scale = 0.3 * libm::exp(0.6 * f64::from(i));
                (sampled(Event::laplace(scale).unwrap(), 0.05 + 0.09 * f64::from(i)), 1.0)
            })
            .collect();
        for direction in [Direction::Remove, Direction::Add] {
            let pairs = grid::pairs(&parts, direction, 60.0);
            let query = Query::Epsilon(1e-6);
            let (rough, _) = grid::connect_the_dots(&pairs, query, GAP, 1e6).unwrap();
            let (fine, _) = grid::connect_the_dots(&pairs, query, GAP, 2e7).unwrap();
            assert!(rough.gap() <= 2e-3 * rough.upper.get(), "{rough:?}");
            assert!(fine.gap() <= 5e-5 * fine.upper.get(), "{fine:?}");
            assert!(
                rough.lower.get() <= fine.upper.get() && fine.lower.get() <= rough.upper.get(),
                "{rough:?} {fine:?}"
            );
        }
    }

    #[test]
    fn what_is_kept_answers_like_new() {
        let parts = vec![(sampled(Event::gaussian(1.0).unwrap(), 0.02), 300.0)];
        let fresh = || Curve::new(parts.clone(), Direction::Remove, Accuracy::default());
        let mut curve = fresh();
        for i in 1..30_u32 {
            let query = Query::Delta(f64::from(i) * 0.1);
            let kept = curve.answer(query, &mut Vec::new()).unwrap();
            let new = fresh().answer(query, &mut Vec::new()).unwrap();
            assert!(
                kept.lower.get() <= new.upper.get() && new.lower.get() <= kept.upper.get(),
                "{kept:?} {new:?}"
            );
            assert!(curve.good(query, kept), "{kept:?}");
        }
        assert!(curve.kept.len() < 10, "{} laws for 29 questions", curve.kept.len());
    }
}
