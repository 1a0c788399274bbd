//! Metric clustering with counts outside of the sample, a start that looks at the users, the credit of
//! another start, and cells that nobody pays for or that follow the users.

use dp_accounting::Epsilon;
use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{Certificate, CreditedRun, Draws, NoisyCount, Part, SelectionRule, Source};

use dp_audit::harness::MutantCode;
use dp_audit::harness::toys::{Side, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found};

pub(super) fn code() -> [MutantCode; 5] {
    [
        ("M57", |effort| counts(effort, true), |effort| counts(effort, false)),
        ("M58", |_| first_pick(Start::MiddleOfTheUsers), |_| first_pick(Start::PublicCentre)),
        ("M59", |_| first_pick(Start::Diameter), |_| first_pick(Start::PublicCentre)),
        ("M295", |effort| cells(effort, Of::WholeEpsilon), |effort| cells(effort, Of::Shares)),
        ("M296", |effort| cells(effort, Of::TheBusier), |effort| cells(effort, Of::Shares)),
    ]
}

const EPSILON: f64 = 1.0;

fn run(parts: &[Part]) -> CreditedRun {
    let epsilon = Epsilon::new(EPSILON).expect("valid");
    CreditedRun::new(Certificate::Subsampled, epsilon, parts).expect("in range")
}

fn worst<O: Ord>(most: usize, law: impl Fn(&[usize]) -> Law<O>) -> Found {
    pure_loss_of_one_more(Side::Both, EPSILON, (2, most), law)
}

/// Counts of two nodes with one-sided noise, of all users or of the sample.
fn counts(effort: Effort, of_all: bool) -> Found {
    let run = run(&[Part { name: "counts", share: 1.0, rounds: 1 }]);
    let reports = run.reports(0, 1).expect("in range");
    worst(effort.of(2, 3), |users| {
        exact_law(Window::new(-1, 4), |draws: &mut dyn Source| {
            let draws = &mut Draws::unplanned(draws);
            let mut counts = [0, 0];
            for (&user, keep) in users.iter().zip(run.sample(users.len(), draws).exact()) {
                counts[user] += u64::from(keep || of_all);
            }
            counts.map(|count| reports.count(count, draws))
        })
        .without_receipt()
    })
}

/// What a user costs before the first pick.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    PublicCentre,
    MiddleOfTheUsers,
    /// With the credit of the radius.
    Diameter,
}

/// One node at 0, the centre at 2, and many nodes at 4; users at the first and at the centre or beyond. Who
/// starts from the middle of all users moves it for everybody when one is added.
fn first_pick(start: Start) -> Found {
    let places: Vec<i64> = [vec![0, 2], vec![4; 12]].concat();
    let run = run(&[Part { name: "picks", share: 1.0, rounds: 1 }]);
    let selection = run.selection(0, SelectionRule::PermuteAndFlip, 2).expect("in range");
    worst(5, |users| {
        exact_law(Window::none(), |draws: &mut dyn Source| {
            let draws = &mut Draws::unplanned(draws);
            let keep = run.sample(users.len(), draws).exact();
            let kept: Vec<i64> = users
                .iter()
                .zip(keep)
                .filter(|kept| kept.1)
                .map(|(&user, _)| [0, 4][user])
                .collect();
            let base = |at: i64| match start {
                Start::PublicCentre => (at - 2).abs(),
                Start::MiddleOfTheUsers => {
                    kept.iter().map(|other| (at - other).abs()).max().unwrap_or(0)
                }
                Start::Diameter => 4,
            };
            let saved = |place: &i64| -> i64 {
                kept.iter().map(|&at| (base(at) - (at - place).abs()).max(0)).sum()
            };
            let scores: Vec<i64> = places.iter().map(saved).collect();
            selection.release(&scores, draws).expect("there are candidates").index
        })
        .without_receipt()
    })
}

/// What is counted with which noise.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Shares,
    /// Nodes and cells with noise of all of epsilon each.
    WholeEpsilon,
    /// The node in the middle is in one cell with that of the others which has more users.
    TheBusier,
}

/// Three nodes in a row and two cells of them, counted with half of epsilon each.
fn cells(effort: Effort, of: Of) -> Found {
    let share = if of == Of::WholeEpsilon { EPSILON } else { EPSILON / 2.0 };
    let count = NoisyCount::geometric(Epsilon::new(share).expect("valid")).expect("little noise");
    pure_loss_of_one_more(Side::Both, EPSILON, (3, effort.of(2, 3)), |users| {
        exact_law(Window::new(-1, 3), |draws: &mut dyn Source| {
            let draws = &mut Draws::unplanned(draws);
            let mut nodes = [0_u64; 3];
            for &user in users {
                nodes[user] += 1;
            }
            let with_the_left = of != Of::TheBusier || nodes[0] >= nodes[2];
            let inside = nodes[0] + if with_the_left { nodes[1] } else { 0 };
            let outside = nodes.iter().sum::<u64>() - inside;
            [nodes[0], nodes[1], nodes[2], inside, outside].map(|users| count.release(users, draws))
        })
        .without_receipt()
    })
}
