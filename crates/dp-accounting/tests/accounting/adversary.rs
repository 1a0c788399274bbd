//! What must be so for any argument, however odd: more never costs less, another effort does not contradict, nothing becomes free.

use std::num::NonZeroU32;

use dp_accounting::{
    Accuracy, AddOnly, AddRemove, Bound, Budget, Composition, Delta, Epsilon, Event, Ledger, Loss,
    ParamError, Question, Receipt, Relation, ReplaceOne, Rho, Step, renyi_divergence,
    renyi_epsilon,
};

use crate::{approximate, budget, delta, epsilon, gaussian, pure, range, zcdp};

const LEAST: f64 = 5e-324;

/// Events at the ends of what they take, and some in between.
fn events() -> Vec<Event> {
    let sampled = |event: Result<Event, ParamError>, rate| event?.poisson_sampled(rate);
    let all = [
        Event::gaussian(0.01),
        Event::gaussian(1e7),
        Event::laplace(0.005),
        Event::laplace(1e9),
        Event::randomised_response(epsilon(1e-9)),
        Event::randomised_response(epsilon(200.0)),
        Event::discrete_laplace(2e-3, 100_000),
        Event::discrete_laplace(1e-9, 1),
        Event::discrete_gaussian(0.01, 1),
        Event::discrete_gaussian(1e10, 1),
        Event::discrete_gaussian(4.0, 200),
        Event::approximate(epsilon(1e-9), delta(LEAST)),
        Event::approximate(epsilon(1.0), Delta::MAX),
        Event::bounded_range(epsilon(1e-9)),
        Event::bounded_range(epsilon(200.0)),
        sampled(Event::gaussian(0.125), 1e-9),
        sampled(Event::gaussian(1.0), 1.0_f64.next_down()),
        sampled(Event::laplace(0.02), 0.5),
        sampled(Event::laplace(1e9), 1e-9),
    ];
    all.into_iter().map(|event| event.expect("in range")).collect()
}

fn questions() -> Vec<Question> {
    let deltas = [LEAST, 1e-6, 1.0 - f64::EPSILON / 2.0];
    let epsilons = [0.0, 1e4, f64::MAX];
    let at_delta = deltas.into_iter().map(|x| Question::Epsilon(delta(x)));
    at_delta.chain(epsilons.into_iter().map(|x| Question::Delta(epsilon(x)))).collect()
}

/// One question about one composition, for little or for ten times as much.
fn ask(composition: &Composition, question: Question, times: u64) -> Bound {
    let accuracy = Accuracy::default().with_effort(100_000 * times).expect("in range");
    let answer = composition.profile(accuracy).ask(question);
    answer.unwrap_or_else(|fault| panic!("{composition:?} {question:?} {times}: {fault}")).bound
}

#[test]
fn more_uses_never_cost_less_and_another_effort_does_not_contradict() {
    for event in events() {
        for question in questions() {
            let mut before: Option<Bound> = None;
            for uses in [2, 1_000_000_000_000] {
                let all = Composition::new().with(event, uses).expect("in range");
                let here = ask(&all, question, 1);
                let told = format!("{event:?} {uses} {question:?}: {here}");
                if uses == 2 {
                    let other = ask(&all, question, 10);
                    let agree = other.lower() <= here.upper() && here.lower() <= other.upper();
                    assert!(agree, "{told} and {other}");
                }
                if let Some(before) = before {
                    assert!(here.upper() >= before.lower(), "{told}, {before} before");
                }
                match question {
                    Question::Delta(e) => {
                        assert!((0.0..=1.0).contains(&here.upper()), "{told}");
                        // No loss of one use is above 1e4, except those without a limit.
                        assert!(here.upper() > 0.0 || e.get() >= 1e-10, "{told}");
                    }
                    Question::Epsilon(d) => {
                        assert!(here.upper() > 0.0 || d.get() > 1e-12, "{told}");
                    }
                }
                before = Some(here);
            }
        }
    }
}

#[test]
fn one_more_mechanism_never_costs_less() {
    let events = events();
    for (i, event) in events.iter().enumerate() {
        let other = events[(i + 7) % events.len()];
        let one = Composition::new().with(*event, 2).expect("in range");
        let both = one.clone().with(other, 1).expect("in range");
        for question in [Question::Epsilon(delta(1e-6)), Question::Delta(epsilon(0.5))] {
            let (one, both) = (ask(&one, question, 1), ask(&both, question, 1));
            assert!(both.upper() >= one.lower(), "{event:?} {other:?} {question:?}: {one} {both}");
        }
        let by_moments = renyi_epsilon(&one, delta(1e-6));
        let tight = ask(&one, Question::Epsilon(delta(1e-6)), 1);
        assert!(by_moments >= tight.lower(), "{event:?}: {by_moments} {tight}");
        for direction in [dp_accounting::Direction::Remove, dp_accounting::Direction::Add] {
            let mut before = 0.0;
            for order in [1.0_f64.next_up(), 1.5, 64.0, 1e3, 1e8, 1e300] {
                let here = renyi_divergence(&one, direction, order).expect("in range");
                // Next to order 1 what is added for rounding is the larger part.
                let least = before * (1.0 - 1e-9) - 1e-11;
                assert!(here >= least, "{event:?} {order}: {here}, {before}");
                before = here;
            }
        }
    }
}

/// A plain generator of words.
struct Words(u64);

impl Words {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % most
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn loss(&mut self) -> Loss {
        let x =
            self.pick(&[0.0, LEAST, 1e-310, 1e-160, 1e-9, 0.01, 0.3, 2.0, 40.0, 1e10, f64::MAX]);
        let d = self.pick(&[0.0, LEAST, 1e-300, 1e-12, 1e-7, 0.5, 1.0 - f64::EPSILON / 2.0]);
        match self.below(6) {
            0 => pure(x),
            1 => range(x),
            2 => zcdp(x),
            3 => gaussian(x),
            4 => approximate(x, d),
            _ => Loss::Unbounded,
        }
    }

    fn step(&mut self, depth: usize) -> Step {
        let several = |words: &mut Self| {
            (0..=words.below(3)).map(|_| words.step(depth - 1)).collect::<Vec<_>>()
        };
        match self.below(if depth == 0 { 2 } else { 7 }) {
            2 => Step::sequential("s", several(self)),
            3 => Step::parallel("p", several(self)),
            4 => {
                let size = self.pick(&[1, 2, 3, 1000, 1 << 16, u32::MAX]);
                Step::group("g", NonZeroU32::new(size).expect("not 0"), self.step(depth - 1))
            }
            5 => {
                let outside = self.pick(&[0.0, LEAST, 1e-300, 1e-8, 1e-7, 0.9]);
                Step::outside("o", delta(outside), self.step(depth - 1))
            }
            6 => Step::one_of("e", several(self)),
            _ => Step::spend("l", self.loss()),
        }
    }
}

/// An epsilon, or without any limit.
fn cost(epsilon: Option<Epsilon>) -> f64 {
    epsilon.map_or(f64::INFINITY, Epsilon::get)
}

/// Not less, but for the rounding of another order of sums.
#[track_caller]
fn not_less(after: f64, before: f64, told: impl std::fmt::Debug) {
    assert!(after >= before * (1.0 - 1e-9), "{told:?}: {after:e} after {before:e}");
}

fn receipts_only_grow<R: Relation>(relation: R, seed: u64) {
    let mut words = Words(seed);
    let mut finite = 0;
    for _ in 0..1500 {
        let (one, more) = (words.step(3), words.step(2));
        let both = Step::sequential("both", vec![one.clone(), more.clone()]);
        let beside = Step::parallel("beside", vec![one.clone(), more.clone()]);
        let either = Step::one_of("either", vec![more.clone(), one.clone()]);
        let larger = Step::group("g", NonZeroU32::new(2).expect("not 0"), one.clone());
        let outside = Step::outside("o", delta(1e-8), one.clone());
        let receipt = |step: &Step| Receipt::new("m", relation, budget(1.0, 1e-6), step.clone());
        let whole = receipt(&one);
        for d in [0.0, LEAST, 1e-300, 1e-6, 0.3, 0.999] {
            let at = |step: &Step| cost(receipt(step).epsilon_at(delta(d)));
            let alone = cost(whole.epsilon_at(delta(d)));
            finite += usize::from(alone.is_finite() && alone > 0.0);
            for grown in [&both, &beside, &either, &larger, &outside] {
                not_less(at(grown), alone, (grown, d));
            }
            // One of two never costs more than both.
            not_less(at(&both), at(&either), (&either, d));
            // Less delta never costs less.
            not_less(cost(whole.epsilon_at(delta(d * 0.5))), alone, (&one, d));
        }
        for grown in [&both, &beside, &either, &larger, &outside] {
            let grown = receipt(grown);
            not_less(cost(grown.pure()), cost(whole.pure()), &grown);
            let rho = |receipt: &Receipt<R>| receipt.zcdp().map_or(f64::INFINITY, Rho::get);
            not_less(rho(&grown), rho(&whole), &grown);
        }
        // What is left keeps the budget.
        if let Some(mu) = whole.mu_left(budget(1.0, 1e-6)) {
            let all = Step::sequential("all", vec![one.clone(), Step::spend("more", mu.into())]);
            assert!(receipt(&all).within_budget(), "{one:?} {mu}");
        }
        // A ledger is no cheaper than the dearer of two receipts.
        let mut ledger = Ledger::new(relation, budget(100.0, 1e-3));
        if ledger.spend(&receipt(&one)).is_ok() && ledger.spend(&receipt(&more)).is_ok() {
            let spent = cost(ledger.spent());
            for step in [&one, &more] {
                let alone = cost(receipt(step).epsilon_at(delta(1e-3)));
                not_less(spent, alone, step);
            }
        }
    }
    assert!(finite > 1000, "{finite} costs to compare");
}

#[test]
fn receipts_only_grow_when_a_record_comes_or_goes() {
    receipts_only_grow(AddRemove, 1);
}

#[test]
fn receipts_only_grow_when_a_record_is_replaced() {
    receipts_only_grow(ReplaceOne, 2);
}

#[test]
fn receipts_only_grow_in_one_direction() {
    receipts_only_grow(AddOnly, 3);
}

/// Receipts that replace a record charge at least what the same release costs when one comes or goes.
#[test]
fn replacing_is_two_changes() {
    let mut words = Words(4);
    for _ in 0..500 {
        let step = words.step(3);
        let one = Receipt::new("m", AddRemove, Budget::new(1.0, 1e-6).expect("valid"), step);
        for d in [0.0, 1e-6, 0.3] {
            let before = cost(one.epsilon_at(delta(d)));
            not_less(cost(one.clone().into_replace_one().epsilon_at(delta(d))), before, &one);
        }
    }
}

/// Errors outside of `[0, 1]`, NaN and infinite: no panic, and bounds that hold for the nearest error.
#[test]
fn trade_offs_at_any_error() {
    let all = Composition::new().with(Event::gaussian(1.0).expect("valid"), 1).expect("valid");
    let odd = [-1.0, f64::NEG_INFINITY, 0.0, LEAST, 0.5, 1.0, 2.0, f64::INFINITY, f64::NAN];
    for (a, bound) in odd.into_iter().zip(all.trade_off(&[epsilon(1.0)], &odd)) {
        assert!(bound.lower() >= 0.0 && bound.upper() <= 1.0, "{a}: {bound}");
        let success = all.attack_success(a);
        assert!(success.lower() >= 0.5 && success.upper() <= 1.0, "{a}: {success}");
    }
}
