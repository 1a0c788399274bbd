//! Checks of the methods that go through the universe item by item.

use dp_accounting::AddRemove;
use dp_audit::{DrawKind, Law, StepLoss, Window, compare, exact_law};
use dp_mechanism::{ChaCha20Rng, Mechanism, SecureSource, Source};
use dp_stream::baselines::{CellMethod, CellMonitor};
use dp_stream::{Budget, Event, Report, Threshold};
use rand::RngExt;

use crate::setup::{claimed_delta, one_user_more, shape, stream};
use dp_audit::harness::toys::{Side, for_each_one_more, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found};

fn monitor(
    shape: dp_stream::StreamShape,
    (epsilon, delta): (f64, f64),
    method: CellMethod,
    k: u8,
    threshold: i64,
) -> CellMonitor {
    let budget = Budget::new(epsilon, delta).expect("valid");
    let threshold = Threshold::Count { count: threshold };
    CellMonitor::new(shape, budget, method, k, threshold).expect("valid")
}

fn law(plan: &CellMonitor, data: &[Vec<Event>], reach: i64) -> Law<Vec<Report>> {
    exact_law(Window::new(-reach, reach), |draws| plan.replay(data, draws).0)
}

/// Random streams with one user more and the same reports: what each test gives away, against the loss
/// that the certificate of target charging is asked about; and that the wider noises give nothing away.
pub(crate) fn kaplan_style(effort: Effort) -> Found {
    let method = CellMethod::KaplanStyle { spread: 2 };
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(74);
    for case in 0..effort.of(20, 500) {
        let plan = monitor(shape(4, 6, 6), (1.0, 1e-3), method, 2, 3);
        let claimed = plan.loss_per_test().expect("Laplace tests");
        let (without, with) = one_more(&mut rng);
        let run = |data: &Vec<Vec<Event>>, draws: &mut dyn Source| plan.replay(data, draws).0;
        let comparison =
            compare(&one_user_more(), run, &with, &without, &mut SecureSource::new(&mut rng));
        let failed = comparison.diverged.is_some() || !comparison.outputs_equal;
        let worst = |step: &StepLoss| match step.kind {
            DrawKind::Exceeds => step.forward.max(step.backward),
            _ if step.forward == 0.0 && step.backward == 0.0 => 0.0,
            _ => f64::INFINITY,
        };
        let loss = comparison.steps.iter().map(worst).fold(0.0, f64::max);
        let loss = if failed { f64::INFINITY } else { loss };
        found.see(loss / claimed, || format!("stream {case}"));
    }
    found
}

/// All draws of a whole stream: at the epsilon of the receipt, the delta; and in so few steps, what hits and tests cost by the proof. The wider noises are followed to 4 on either side: they belong to a
/// threshold that is public as far as the guarantee goes, so cutting them costs no exactness.
pub(crate) fn kaplan_style_delta(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for (spread, items, steps, users) in
        [(0, 2, 2, 1), (0, 1, 4, effort.of(1, 2)), (1, 1, 2, effort.of(0, 1))]
    {
        for k in [1, 2] {
            let method = CellMethod::KaplanStyle { spread };
            let shape = shape(items, users + 1, steps);
            let plan = monitor(shape, (1.0, 0.02), method, k, 1);
            let receipt = plan.receipt();
            let each = plan.loss_per_test().expect("Laplace tests");
            let (epsilon, claimed) = (receipt.budget().epsilon().get(), claimed_delta(&receipt));
            for_each_one_more(
                (1 << (items * steps), users),
                |records| law(&plan, &stream(records, items, steps), 4),
                |without, with, witness| {
                    let delta = with.delta(without, epsilon).max(without.delta(with, epsilon));
                    let (added, removed) = (with.pure_loss(without), without.pure_loss(with));
                    let tests = each * f64::from(k) * steps as f64;
                    let by_proof = (added / (each * f64::from(k))).max(removed / tests);
                    let case = || format!("spread {spread}, k = {k}, {witness}");
                    found.see(by_proof.max(delta / claimed), case);
                },
            );
        }
    }
    found
}

/// Six steps of four items and five users, and the same with one user more who shows three of them.
fn one_more(rng: &mut ChaCha20Rng) -> (Vec<Vec<Event>>, Vec<Vec<Event>>) {
    let mut event = |user: u32| Event { user, item: rng.random_range(0..4) };
    let without: Vec<Vec<Event>> = (0..6).map(|_| (0..9).map(|i| event(i % 5)).collect()).collect();
    let mut with = without.clone();
    for events in &mut with {
        events.extend((0..3).map(|_| event(5)));
    }
    (without, with)
}

pub(crate) fn gaussian_histograms(effort: Effort) -> Found {
    let method = CellMethod::GaussianHistograms;
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(73);
    for case in 0..effort.of(20, 500) {
        let plan = monitor(shape(4, 6, 6), (1.0, 1e-6), method, 2, 10);
        let claimed = plan.receipt().zcdp().expect("Gaussian is zCDP").get();
        let (without, with) = one_more(&mut rng);
        let run = |data: &Vec<Vec<Event>>, draws: &mut dyn Source| plan.replay(data, draws).0;
        let comparison =
            compare(&one_user_more(), run, &with, &without, &mut SecureSource::new(&mut rng));
        found.see(comparison.rho() / claimed, || format!("stream {case}"));
    }
    found
}

/// One and two reports in all, over two items and two steps; and long streams that ask for all that the receipt has. The noise of the
/// threshold is followed to 18; the little that is beyond stands further out, and the claim is not that tight.
pub(crate) fn sparse_vector(effort: Effort) -> Found {
    let epsilon = 2.0;
    let mut found = Found::claim(epsilon);
    for (reports, threshold) in [(1, 1), (2, 2)] {
        let method = CellMethod::SparseVector { reports };
        let plan = monitor(shape(2, 2, 2), (epsilon, 0.0), method, 2, threshold);
        let case = pure_loss_of_one_more(Side::Both, 1.0, (1 << 4, effort.of(0, 1)), |records| {
            law(&plan, &stream(records, 2, 2), 18)
        });
        found.cases += case.cases - 1;
        found.see(case.worst, || format!("{reports} reports, {}", case.witness));
        for steps in [1, 2] {
            let loss = dearest_answers(epsilon, reports, steps);
            found.see(loss, || format!("{reports} reports, dearest answers in {steps} steps"));
        }
    }
    found
}

/// A stream whose answers cost all that a sparse vector may: first cells that many users show, the one who comes or goes too, and no report, which
/// only a high threshold explains; then reports of cells that nobody shows, one more of them than there may be. As a multiple of what the receipt says, times
/// `epsilon`.
fn dearest_answers(epsilon: f64, reports: u32, steps: u64) -> f64 {
    let (shown, empty) = (5, u64::from(reports) + 1);
    let items = shown + empty.div_ceil(steps);
    let method = CellMethod::SparseVector { reports };
    let plan = monitor(shape(items, 6, steps), (epsilon, 0.0), method, 5, 1);
    let all = (1 << shown) - 1;
    let law_of = |users: usize| {
        let data = stream(&vec![all; users], items, steps);
        // Low thresholds, below which everything is reported, explain nothing of this.
        let window = Window::new(-6, 18);
        exact_law(window, |draws| plan.replay(&data, draws).0).under(AddRemove)
    };
    let (without, with) = (law_of(5), law_of(6));
    let told = plan.receipt().pure().expect("pure").get();
    with.pure_loss(&without).max(without.pure_loss(&with)) * epsilon / told
}
