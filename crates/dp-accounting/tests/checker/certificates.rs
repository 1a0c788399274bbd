//! What is offered as proof of an answer, verified piece by piece, for compositions that are far too large to be done again.
//!
//! Verified in full: largest losses, moments with Markov's inequality, closed forms, and that the answer follows from its pieces and leaks. A line
//! or a lattice is verified where the composition is small enough to be done again (about a thousand atoms, or a few uses of what is
//! continuous). Elsewhere its lower side is held against the moments, and its upper side against the same mix with fewer uses, as many as can be
//! done again: that is necessary and not sufficient, so **the upper sides of lines and lattices of many uses are not verified here**. What
//! stands for them is the proof beside the code, and that lines and lattices, which share nothing but the pair, enclose the same values.

use dp_accounting::{
    Accuracy, Answer, Bound, Delta, Direction, Epsilon, Event, Method, Piece, Question,
};
use dp_check::{Interval, Law, Side, delta_by_moment, epsilon_by_moment, log_moment};

use crate::queries::{Cases, Truth, Verdict, composition, effort, sides};

/// How many pieces were verified in full, and how many in part.
#[derive(Debug, Default)]
struct Tally {
    full: u32,
    part: u32,
}

fn side(direction: Direction) -> Side {
    match direction {
        Direction::Remove => Side::Remove,
        Direction::Add => Side::Add,
    }
}

/// The parts with their leaks taken out.
fn finite(parts: &[(Law, u64)]) -> Vec<(Law, u64)> {
    let without = |law: &Law| match *law {
        Law::Approximate { epsilon, .. } => Law::RandomisedResponse { epsilon },
        ref other => other.clone(),
    };
    parts.iter().map(|(law, count)| (without(law), *count)).collect()
}

/// The mass without a finite loss.
fn leaked(parts: &[(Law, u64)]) -> Interval {
    let one = Interval::of(1.0);
    let kept = parts.iter().fold(one.clone(), |kept, (law, count)| match law {
        Law::Approximate { delta, .. } => &kept * &(&one - &Interval::of(*delta)).power(*count),
        _ => kept,
    });
    &one - &kept
}

/// The sum of the largest losses.
fn largest(parts: &[(Law, u64)]) -> Option<Interval> {
    let one = |law: &Law| match law {
        Law::RandomisedResponse { epsilon } | Law::Approximate { epsilon, .. } => {
            Some(Interval::of(*epsilon))
        }
        Law::Laplace { scale } => Some(&Interval::of(1.0) / &Interval::of(*scale)),
        Law::BoundedRange { eta } => Some(Interval::of(*eta)),
        Law::DiscreteLaplace { rate, sensitivity } => {
            Some(&Interval::of(*rate) * &Interval::whole((*sensitivity).into()))
        }
        _ => None,
    };
    parts.iter().try_fold(Interval::of(0.0), |sum, (law, count)| {
        Some(&sum + &(&one(law)? * &Interval::whole(*count)))
    })
}

fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn verify_piece(
    piece: &Piece,
    parts: &[(Law, u64)],
    direction: Direction,
    tally: &mut Tally,
) -> Result<(), String> {
    let [_, upper] = sides(piece.bound);
    let told = |what: &str| format!("{what}: {piece:?}");
    match &piece.by {
        Method::LargestLoss { sum } => {
            tally.full += 1;
            if let Some(truth) = largest(parts) {
                require(!truth.is_above(*sum), || told("the losses are larger"))?;
            } else {
                require(sum.is_infinite() || sampled(parts), || told("a loss without a limit"))?;
            }
            match piece.question {
                Question::Epsilon(_) => require(upper >= *sum, || told("below the sum")),
                Question::Delta(epsilon) => {
                    require(upper > 0.0 || epsilon.get() >= *sum, || told("not yet 0"))
                }
            }
        }
        Method::Moment { order, log_moment: claimed } => {
            let Some(truth) = log_moment(parts, side(direction), *order) else {
                return Ok(());
            };
            tally.full += 1;
            require(!truth.is_above(*claimed), || told(&format!("the moment is {truth}")))?;
            if claimed.is_infinite() {
                return require(upper >= 1.0, || told("nothing follows"));
            }
            let least = match piece.question {
                Question::Epsilon(delta) => epsilon_by_moment(*claimed, *order, delta.get()),
                Question::Delta(epsilon) => delta_by_moment(*claimed, *order, epsilon.get()),
            };
            let any = upper >= 1.0 && matches!(piece.question, Question::Delta(_));
            require(any || !least.is_above(upper.min(1e300)), || {
                told(&format!("only {least} follows"))
            })
        }
        Method::GaussianPart => {
            let gaussians: Vec<(Law, u64)> = parts
                .iter()
                .filter(|(law, _)| matches!(law, Law::Gaussian { .. }))
                .cloned()
                .collect();
            recompute(piece, &gaussians, direction, tally)
        }
        _ => recompute(piece, parts, direction, tally),
    }
}

fn sampled(parts: &[(Law, u64)]) -> bool {
    parts.iter().any(|(law, _)| matches!(law, Law::Sampled { .. }))
}

/// Does a piece again, if that is little work.
fn recompute(
    piece: &Piece,
    parts: &[(Law, u64)],
    direction: Direction,
    tally: &mut Tally,
) -> Result<(), String> {
    let smallest = match piece.question {
        Question::Epsilon(delta) => delta.get(),
        Question::Delta(_) => piece.bound.upper(),
    };
    let Some(truth) = Truth::new(parts, &[side(direction)], effort(smallest)) else {
        tally.part += 1;
        return hold_against_fewer_uses(piece, parts, direction, smallest);
    };
    let verdict = match piece.question {
        Question::Epsilon(delta) => truth.check_epsilon(delta.get(), sides(piece.bound)),
        Question::Delta(epsilon) => truth.check_delta(epsilon.get(), sides(piece.bound)),
    };
    match verdict {
        Verdict::Holds => tally.full += 1,
        Verdict::Open(_) => tally.part += 1,
        Verdict::Broken(why) => return Err(format!("{why}: {piece:?}")),
    }
    Ok(())
}

/// More uses never cost less: the upper side must not be below what so few uses cost that they can be done again.
fn hold_against_fewer_uses(
    piece: &Piece,
    parts: &[(Law, u64)],
    direction: Direction,
    smallest: f64,
) -> Result<(), String> {
    let (mut fewer, upper) = (parts.to_vec(), piece.bound.upper());
    while fewer.iter().any(|(_, count)| *count > 1) {
        for (_, count) in &mut fewer {
            *count = (*count / 2).max(1);
        }
        let Some(truth) = Truth::new(&fewer, &[side(direction)], effort(smallest)) else {
            continue;
        };
        let verdict = match piece.question {
            Question::Epsilon(delta) => truth.check_epsilon(delta.get(), [0.0, upper]),
            Question::Delta(epsilon) => truth.check_delta(epsilon.get(), [0.0, upper]),
        };
        if let Verdict::Broken(why) = verdict {
            return Err(format!("{why} with fewer uses: {piece:?}"));
        }
        return Ok(());
    }
    Ok(())
}

/// Verifies an answer about these parts.
fn verify(answer: &Answer, parts: &[(Law, u64)]) -> Result<Tally, String> {
    let (mut tally, plain, leak) = (Tally::default(), finite(parts), leaked(parts));
    let (one, mut best) = (Interval::of(1.0), [0.0_f64; 2]);
    let needed = if sampled(parts) { 2 } else { 1 };
    require(answer.composition == composition(parts).expect("in range"), || "another mix".into())?;
    require(answer.proofs.len() >= needed, || "a direction is missing".into())?;
    require(needed == 1 || answer.proofs[0].direction != answer.proofs[1].direction, || {
        "one direction twice".into()
    })?;
    for proof in &answer.proofs {
        let [low, high] = sides(proof.leaked);
        require(!leak.is_above(high) && !leak.is_below(low), || {
            format!("leaks {leak}, told {low} to {high}")
        })?;
        let whole = |leaked: f64, inner: f64| {
            let leaked = Interval::of(leaked);
            &leaked + &(&(&one - &leaked) * &Interval::of(inner))
        };
        // The pieces that speak about this question, each side with the mass that its leaks leave.
        let (mut most, mut least) = (f64::INFINITY, 0.0_f64);
        let mut by_moment = f64::INFINITY;
        for piece in &proof.pieces {
            verify_piece(piece, &plain, proof.direction, &mut tally)?;
            let [lower, upper] = sides(piece.bound);
            let (for_upper, for_lower) = match (answer.question, piece.question) {
                (Question::Epsilon(asked), Question::Epsilon(own)) => (
                    !whole(high, own.get()).is_above(asked.get()),
                    !whole(low, own.get()).is_below(asked.get()),
                ),
                (Question::Delta(asked), Question::Delta(own)) => (asked == own, asked == own),
                _ => return Err("an answer to something else".into()),
            };
            if for_upper {
                most = most.min(upper);
            }
            if for_lower {
                least = least.max(lower);
            }
            if for_upper && matches!(piece.by, Method::Moment { .. }) {
                by_moment = by_moment.min(upper);
            }
        }
        require(least <= by_moment, || format!("{least:e} is above the moments' {by_moment:e}"))?;
        best = [best[0].max(least), best[1].max(most)];
        if let (Question::Delta(_), true) = (answer.question, most.is_finite()) {
            // The whole curve: what leaks, and of the rest what the pieces say.
            let told = answer.bound.upper();
            require(told >= 1.0 || !whole(low, most).is_above(told), || {
                format!("{told:e} does not follow")
            })?;
        }
    }
    if let Question::Epsilon(_) = answer.question {
        let [lower, upper] = sides(answer.bound);
        let none = answer.proofs.iter().all(|proof| proof.pieces.is_empty());
        require(upper >= best[1] || none && upper.is_infinite(), || {
            format!("{upper:e} does not follow")
        })?;
        require(lower <= best[0] || none || lower.is_infinite() && leak.is_positive(), || {
            format!("{lower:e} does not follow")
        })?;
    }
    Ok(tally)
}

fn ask(parts: &[(Law, u64)], question: Question) -> Answer {
    let all = composition(parts).expect("in range");
    all.profile(Accuracy::default()).ask(question).expect("no contradiction")
}

fn delta(x: f64) -> Question {
    Question::Epsilon(Delta::new(x).expect("a delta"))
}

fn sampled_law(rate: f64, of: Law) -> Law {
    Law::Sampled { rate, of: Box::new(of) }
}

/// Laws from tiny to huge, used so many times.
fn used(count: u64) -> Vec<Vec<(Law, u64)>> {
    let gaussian = |multiplier| Law::Gaussian { multiplier };
    let small = (count as f64).sqrt().recip();
    let alone = [
        Law::RandomisedResponse { epsilon: small },
        Law::Laplace { scale: 1.0 / small },
        Law::BoundedRange { eta: small },
        Law::DiscreteLaplace { rate: small, sensitivity: 2 },
        Law::DiscreteGaussian { variance: count as f64, sensitivity: 1 },
        Law::DiscreteGaussian { variance: 0.01, sensitivity: 1 },
        sampled_law(small, gaussian(1.0)),
        sampled_law(1e-9, gaussian(2.0)),
        sampled_law(small, Law::Laplace { scale: 1.0 }),
    ];
    let approximate = Law::Approximate { epsilon: small, delta: 1e-12 };
    let beside = vec![(approximate, count), (gaussian(2.0 / small), count)];
    alone.into_iter().map(|law| vec![(law, count)]).chain([beside]).collect()
}

fn verified(cases: &[Vec<(Law, u64)>], questions: &[Question]) -> Tally {
    let mut tally = Tally::default();
    for parts in cases {
        for &question in questions {
            let answer = ask(parts, question);
            let one = verify(&answer, parts)
                .unwrap_or_else(|why| panic!("{parts:?} {question:?} {}: {why}", answer.bound));
            tally = Tally { full: tally.full + one.full, part: tally.part + one.part };
        }
    }
    tally
}

#[test]
fn answers_for_a_thousand_uses() {
    let tally = verified(&used(1_000), &[delta(1e-6), delta(1e-200)]);
    assert!(tally.full > 20, "{tally:?}");
}

/// The answers next to the last atom take seconds, so only one question.
#[test]
fn answers_for_a_thousand_million_uses() {
    let tally = verified(&used(1_000_000_000), &[delta(1e-6)]);
    assert!(tally.full > 10, "{tally:?}");
}

#[test]
fn random_answers() {
    let mut cases = Cases::new(77);
    let mut tally = Tally::default();
    for family in [1, 1, 1, 4, 4, 5, 6].into_iter().cycle().take(210) {
        let query = crate::queries::Query::random(&mut cases, family);
        let question = match query.ask {
            crate::queries::Ask::Epsilon { delta: d } => delta(d),
            crate::queries::Ask::Delta { epsilon } => {
                Question::Delta(Epsilon::new(epsilon).expect("valid"))
            }
        };
        let answer = ask(&query.parts, question);
        let one = verify(&answer, &query.parts)
            .unwrap_or_else(|why| panic!("{query:?} {}: {why}", answer.bound));
        tally = Tally { full: tally.full + one.full, part: tally.part + one.part };
    }
    assert!(tally.full > 300, "{tally:?}");
}

fn bound(lower: f64, upper: f64) -> Bound {
    serde_json::from_str(&format!("{{\"lower\":{lower:?},\"upper\":{upper:?}}}"))
        .expect("two sides in order")
}

/// Every way to be wrong that is tried here is caught.
#[test]
fn wrong_certificates_are_caught() {
    let parts = [(sampled_law(0.01, Law::Gaussian { multiplier: 1.0 }), 100_000)];
    let right = ask(&parts, delta(1e-6));
    assert!(verify(&right, &parts).is_ok());
    let caught = |what: &str, change: &dyn Fn(&mut Answer)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        assert!(verify(&wrong, &parts).is_err(), "{what}");
    };
    let moment = |answer: &Answer| {
        answer.proofs[0]
            .pieces
            .iter()
            .position(|p| matches!(p.by, Method::Moment { .. }))
            .expect("a moment")
    };
    caught("a moment that is too small", &|wrong| {
        let at = moment(wrong);
        let Method::Moment { log_moment, .. } = &mut wrong.proofs[0].pieces[at].by else {
            unreachable!()
        };
        *log_moment *= 1.0 - 1e-9;
    });
    caught("an upper side below its moment", &|wrong| {
        let at = moment(wrong);
        let piece = &mut wrong.proofs[0].pieces[at];
        piece.bound = bound(0.0, piece.bound.upper() * (1.0 - 1e-9));
    });
    caught("an answer below its pieces", &|wrong| {
        let least = wrong.proofs.iter().flat_map(|p| &p.pieces).map(|p| p.bound.upper());
        let least = least.fold(f64::INFINITY, f64::min);
        wrong.bound = bound(0.0, least.min(wrong.bound.lower()) * (1.0 - 1e-9));
    });
    caught("directions swapped", &|wrong| {
        for proof in &mut wrong.proofs {
            proof.direction = match proof.direction {
                Direction::Remove => Direction::Add,
                Direction::Add => Direction::Remove,
            };
        }
    });
    caught("a direction left out", &|wrong| wrong.proofs.truncate(1));
    caught("another mix", &|wrong| {
        let event =
            Event::gaussian(1.0).and_then(|event| event.poisson_sampled(0.01)).expect("in range");
        wrong.composition = wrong.composition.clone().with(event, 1).expect("one use more");
    });

    // Of too many uses to be done again: what is less than a few of them cost.
    let many = [(Law::RandomisedResponse { epsilon: 0.1 }, 1_000_000)];
    let right = ask(&many, delta(1e-6));
    assert!(verify(&right, &many).is_ok());
    let mut wrong = right;
    let mut changed = 0;
    for piece in &mut wrong.proofs[0].pieces {
        if matches!(piece.by, Method::Line(_) | Method::Lattices { .. }) {
            piece.bound = bound(0.0, 1.0);
            changed += 1;
        }
    }
    assert!(changed > 0 && verify(&wrong, &many).is_err(), "less than a thousand uses");

    let leaky = [(Law::Approximate { epsilon: 0.1, delta: 1e-9 }, 100)];
    let right = ask(&leaky, delta(1e-6));
    assert!(verify(&right, &leaky).is_ok());
    let mut wrong = right.clone();
    wrong.proofs[0].leaked = bound(0.0, 1e-12);
    assert!(verify(&wrong, &leaky).is_err(), "mass left out");
    let mut wrong = right;
    for piece in &mut wrong.proofs[0].pieces {
        piece.question = delta(1e-6 * (1.0 + 1e-9));
    }
    assert!(verify(&wrong, &leaky).is_err(), "pieces for more than the leaks leave");
}
