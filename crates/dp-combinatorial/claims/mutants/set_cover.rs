//! Set covers that are chosen wrongly: without the sample, until everybody is served, without leaving.

use dp_accounting::{AnyRelation, Epsilon};
use dp_audit::{Window, exact_law};
use dp_combinatorial::Incidence;
use dp_mechanism::{
    Certificate, CreditedRun, DiscreteGaussian, Draws, Geometric, Law, Mechanism, Part,
    SelectionRule, Source,
};

use crate::set_cover::{by, claimed, family, select, tiny_thresholds};
use dp_audit::harness::MutantCode;
use dp_audit::harness::toys::{Side, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found};

pub(super) fn code() -> [MutantCode; 4] {
    [
        ("M54", |effort| everybody(effort, true), |effort| everybody(effort, false)),
        ("M54-tests", |effort| every_test(effort, true), |effort| every_test(effort, false)),
        ("M55", |effort| stops(effort, true), |effort| stops(effort, false)),
        ("M56", |effort| stays(effort, true), |effort| stays(effort, false)),
    ]
}

/// Answers secret coins itself: nobody is left out of the sample.
struct NoSample<'a>(&'a mut dyn Source);

impl Source for NoSample<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        if let Law::Keep { .. } = law { 1 } else { self.0.draw(law) }
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.0.noisy_max(scores, noise)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.0.noisy_vector(values, noise);
    }
}

/// The library's choices among three sets, on all users or on the sample.
fn everybody(effort: Effort, unsampled: bool) -> Found {
    let plan = select(by(SelectionRule::Exponential));
    pure_loss_of_one_more(Side::Both, claimed(&plan.receipt()), (8, effort.of(1, 2)), |users| {
        let family = family(3, users);
        exact_law(Window::none(), |draws| {
            if unsampled {
                plan.replay(&family, &mut NoSample(draws)).0.order
            } else {
                plan.replay(&family, draws).0.order
            }
        })
    })
}

/// The library's thresholds, on all users or on the sample.
fn every_test(effort: Effort, unsampled: bool) -> Found {
    let plan = tiny_thresholds();
    pure_loss_of_one_more(Side::Both, claimed(&plan.receipt()), (8, effort.of(1, 2)), |users| {
        let family = family(3, users);
        exact_law(Window::new(0, 2), |draws| {
            if unsampled {
                plan.replay(&family, &mut NoSample(draws)).0.order
            } else {
                plan.replay(&family, draws).0.order
            }
        })
    })
}

/// A run that choices or tests of one credit are drawn from.
fn run() -> (CreditedRun, f64) {
    let part = Part { name: "choices", share: 1.0, rounds: 3 };
    let run = CreditedRun::new(Certificate::Subsampled, Epsilon::new(1.0).expect("valid"), &[part]);
    let run = run.expect("in range");
    let claimed = run.step().pure().expect("pure").get();
    (run, claimed)
}

fn waiting(family: &Incidence, waits: &[bool], set: usize) -> i64 {
    let waiting = family.users_of(set).iter().filter(|&&user| waits[user as usize]).count();
    i64::try_from(waiting).expect("few")
}

/// Chooses sets until none has anybody waiting, or until all have been chosen.
fn stops(effort: Effort, when_served: bool) -> Found {
    let (run, claimed) = run();
    let selection = run.selection(0, SelectionRule::PermuteAndFlip, 1).expect("in range");
    pure_loss_of_one_more(Side::Both, claimed, (8, effort.of(1, 2)), |users| {
        let family = family(3, users);
        exact_law(Window::none(), |draws| {
            let draws = &mut Draws::unplanned(draws);
            let mut waits = run.sample(users.len(), draws).exact();
            let mut rest = vec![0, 1, 2];
            let mut order = Vec::new();
            while !rest.is_empty() {
                let scores: Vec<i64> =
                    rest.iter().map(|&set| waiting(&family, &waits, set)).collect();
                if when_served && scores.iter().all(|&score| score == 0) {
                    break;
                }
                let set = rest
                    .remove(selection.release(&scores, draws).expect("there are candidates").index);
                family.users_of(set).iter().for_each(|&user| waits[user as usize] = false);
                order.push(set);
            }
            order
        })
        .without_receipt()
    })
}

/// Tests sets against a threshold of 3; users of a chosen set leave, or stay for others.
fn stays(effort: Effort, after_being_served: bool) -> Found {
    let (run, claimed) = run();
    let reports = run.reports(0, 1).expect("in range");
    pure_loss_of_one_more(Side::Both, claimed, (8, effort.of(1, 2)), |users| {
        let family = family(3, users);
        exact_law(Window::new(0, 3), |draws| {
            let draws = &mut Draws::unplanned(draws);
            let mut waits = run.sample(users.len(), draws).exact();
            let mut chosen = Vec::new();
            for set in 0..3 {
                if reports.release(waiting(&family, &waits, set), 3, draws).is_some() {
                    chosen.push(set);
                    if !after_being_served {
                        family.users_of(set).iter().for_each(|&user| waits[user as usize] = false);
                    }
                }
            }
            chosen
        })
        .without_receipt()
    })
}
