//! Answers with what proves them, as accurate as was asked for.

use approx::assert_abs_diff_eq;
use dp_accounting::{
    Accuracy, Answer, Composition, Direction, Epsilon, Event, Method, Question, renyi_divergence,
};

use crate::{delta, epsilon};

fn many(event: Event, count: u64) -> Composition {
    Composition::new().with(event, count).unwrap()
}

fn sampled(event: Event, rate: f64) -> Event {
    event.poisson_sampled(rate).unwrap()
}

/// One composition for every kind of method, and the method that must be among its pieces.
fn cases() -> Vec<(Composition, &'static str)> {
    let gaussian = |multiplier| Event::gaussian(multiplier).unwrap();
    let laplace = |scale| Event::laplace(scale).unwrap();
    let leak = Event::approximate(epsilon(0.5), delta(1e-8)).unwrap();
    vec![
        (many(gaussian(2.0), 3), "ClosedForm"),
        (many(sampled(gaussian(1.0), 0.01), 1000), "Line"),
        (many(laplace(10.0), 100), "Line"),
        (many(Event::discrete_gaussian(4.0, 1).unwrap(), 20), "Lattices"),
        (many(sampled(laplace(1.0), 0.1), 3), "Lattices"),
        (many(leak, 10).with(gaussian(5.0), 1).unwrap(), "GaussianPart"),
        (many(Event::randomised_response(epsilon(0.3)).unwrap(), 4), "LargestLoss"),
    ]
}

#[test]
fn an_answer_follows_from_its_pieces_and_survives_a_file() {
    for (all, wanted) in cases() {
        for question in [Question::Epsilon(delta(1e-5)), Question::Delta(epsilon(0.3))] {
            let mut profile = all.profile(Accuracy::default());
            let answer = profile.ask(question).unwrap();
            assert_eq!((answer.question, &answer.composition), (question, &all));
            let methods: Vec<String> = answer
                .proofs
                .iter()
                .flat_map(|proof| &proof.pieces)
                .map(|piece| format!("{:?}", piece.by))
                .collect();
            let found = methods.iter().any(|method| method.starts_with(wanted));
            assert!(found || wanted == "LargestLoss", "{wanted}: {methods:?}");
            assert!(methods.iter().all(|method| !method.contains("NaN")), "{methods:?}");
            for piece in answer.proofs.iter().flat_map(|proof| &proof.pieces) {
                if let Method::Lattices { lower, upper } = &piece.by {
                    // The moment of a law that is above is the larger one.
                    assert!(lower.log_scale <= upper.log_scale, "{lower:?} {upper:?}");
                }
            }
            // Without leaks, the best upper side of the worst direction is the answer.
            if answer.proofs.iter().all(|proof| proof.leaked.upper() == 0.0) {
                let mut worst = 0.0_f64;
                for proof in &answer.proofs {
                    let uppers = proof.pieces.iter().map(|piece| piece.bound.upper());
                    worst = worst.max(uppers.fold(f64::INFINITY, f64::min));
                }
                assert_eq!(answer.bound.upper(), worst.min(answer.bound.upper()), "{all:?}");
                assert!(worst >= answer.bound.lower(), "{all:?}");
            }
            let text = serde_json::to_string(&answer).unwrap();
            assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer, "{text}");
        }
    }
}

/// The moments that are offered as proof are the Renyi divergences.
#[test]
fn moments_are_divergences() {
    let all = many(sampled(Event::gaussian(1.0).unwrap(), 0.01), 1000);
    let answer = all.profile(Accuracy::default()).ask(Question::Epsilon(delta(1e-6))).unwrap();
    let mut seen = 0;
    for proof in &answer.proofs {
        for piece in &proof.pieces {
            if let Method::Moment { order, log_moment } = piece.by {
                let divergence = renyi_divergence(&all, proof.direction, order + 1.0).unwrap();
                assert_abs_diff_eq!(divergence * order / log_moment, 1.0, epsilon = 1e-9);
                assert!(
                    piece.bound.upper() >= answer.bound.lower()
                        || proof.direction == Direction::Add
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
}

/// What is reached is what was asked for, and all answers enclose one value.
#[test]
fn the_gap_is_an_argument() {
    let laplace = |scale| Event::laplace(scale).unwrap();
    let gaussian = |multiplier| Event::gaussian(multiplier).unwrap();
    for (all, at) in [
        (many(sampled(laplace(1.0), 0.1), 3), 1e-6),
        (many(sampled(laplace(0.25), 0.5), 2), 1e-3),
        (many(sampled(laplace(0.1), 0.01), 5), 1e-10),
        (many(sampled(gaussian(0.4), 0.01), 100), 1e-6),
    ] {
        let mut bounds = Vec::new();
        for gap in [1e-2, 1e-4, 1e-6] {
            let mut profile = all.profile(Accuracy::within(gap).unwrap());
            let bound = profile.ask(Question::Epsilon(delta(at))).unwrap().bound;
            assert!(bound.gap() <= gap * bound.upper().max(1.0), "{all:?} {gap:e}: {bound}");
            bounds.push(bound);
        }
        let lower = bounds.iter().map(|bound| bound.lower()).fold(0.0, f64::max);
        let upper = bounds.iter().map(|bound| bound.upper()).fold(f64::INFINITY, f64::min);
        assert!(lower <= upper, "{all:?}: {bounds:?}");
    }
}

/// Too little effort costs tightness and nothing else.
#[test]
fn little_effort_is_sound() {
    let all = many(sampled(Event::laplace(0.1).unwrap(), 0.01), 5);
    let ask = |effort| {
        let accuracy = Accuracy::default().with_effort(effort).unwrap();
        all.profile(accuracy).ask(Question::Epsilon(delta(1e-3))).unwrap().bound
    };
    let (little, plenty) = (ask(100_000), ask(100_000_000));
    assert!(little.lower() <= plenty.upper() && plenty.lower() <= little.upper());
    assert!(little.gap() > plenty.gap(), "{little} {plenty}");
}

/// Whatever the mix, no lattice is longer than the effort pays for: points times laws, some steps each. Counted, so on any machine.
#[test]
fn lattices_are_paid_for_by_the_effort() {
    let with = |all: Composition, event: Event, uses| all.with(event, uses).unwrap();
    let new = Composition::new;
    let on_one_lattice = (1..=60).fold(new(), |all, s| {
        with(all, Event::discrete_laplace(1.0 / 1024.0, s).unwrap(), 100_000)
    });
    let few_on_one = (1..=8)
        .fold(new(), |all, s| with(all, Event::discrete_laplace(1.0 / 16.0, s).unwrap(), 10));
    let responses = (1..=40_u32).fold(new(), |all, i| {
        let e = epsilon(0.05 * f64::from(i).sqrt());
        with(all, Event::randomised_response(e).unwrap(), 1000)
    });
    let sampled_once = (1..=200_u32).fold(new(), |all, i| {
        let event = Event::laplace(0.5 + f64::from(i).sqrt()).unwrap();
        with(all, sampled(event, 0.5 / f64::from(i)), 1)
    });
    let mut seen = 0;
    for all in [on_one_lattice, few_on_one, responses, sampled_once] {
        let laws = all.parts().len() as f64;
        let mut least: Option<dp_accounting::Bound> = None;
        for effort in [100_000, 1_000_000, 10_000_000] {
            let accuracy = Accuracy::default().with_effort(effort).unwrap();
            let answer = all.profile(accuracy).ask(Question::Epsilon(delta(1e-6))).unwrap();
            for piece in answer.proofs.iter().flat_map(|proof| &proof.pieces) {
                if let Method::Lattices { lower, upper } = &piece.by {
                    let points = lower.points.max(upper.points) as f64;
                    let work = points * (2.0 + 7.0 * laws);
                    assert!(work <= 3.0 * effort as f64, "{laws} laws, {points} points");
                    seen += 1;
                }
            }
            let bound = answer.bound;
            assert!(bound.upper().is_finite(), "{bound}");
            if let Some(before) = least {
                let agree = bound.lower() <= before.upper() && before.lower() <= bound.upper();
                assert!(agree, "{before} {bound}");
            }
            least = Some(bound);
        }
    }
    assert!(seen >= 2, "{seen} lattices");
}

/// A second question close by is answered from what was composed for the first.
#[test]
fn questions_share_what_was_composed() {
    let all = many(sampled(Event::gaussian(1.0).unwrap(), 0.01), 1000);
    let mut profile = all.profile(Accuracy::default());
    let ask = |profile: &mut dp_accounting::Profile, e: f64| {
        profile.ask_in(Direction::Remove, Question::Delta(Epsilon::new(e).unwrap())).unwrap()
    };
    let first = ask(&mut profile, 1.0);
    let again = ask(&mut profile, 1.0001);
    // No moment was looked at: the kept law was good enough.
    assert_eq!((first.proofs[0].pieces.len(), again.proofs[0].pieces.len()), (2, 1));
    assert!(again.bound.upper() < first.bound.lower());
}

#[test]
fn accuracies_out_of_range_are_refused() {
    for gap in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-10, 2.0] {
        assert!(Accuracy::within(gap).is_err());
        assert!(
            serde_json::from_str::<Accuracy>(&format!("{{\"gap\":{gap},\"effort\":1000000}}"))
                .is_err()
        );
    }
    assert!(Accuracy::default().with_effort(99).is_err());
    assert!(Accuracy::default().with_effort(u64::MAX).is_err());
}
