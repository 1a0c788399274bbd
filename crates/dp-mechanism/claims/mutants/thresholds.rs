//! Repeated threshold tests: who leaves when, what a secret sample is for, and what it may spend.

use dp_accounting::Epsilon;
use dp_audit::{Window, exact_law};
use dp_mechanism::{Draws, Noise, PoissonSample, Source};

use dp_audit::harness::toys::{Side, count, laplace, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found};

/// When a record that has been in enough answers leaves.
#[derive(Clone, Copy)]
pub(super) enum Leaves {
    AtOnce,
    AfterTheStep,
    Never,
}

/// At every step and for every key: do more than `THRESHOLD` records match, with fresh noise?
/// Record bit `step * keys + key` says whether it does.
#[derive(Clone, Copy)]
struct Monitor {
    steps: usize,
    keys: usize,
    /// After how many answers a record leaves.
    most_answers: u32,
    noise: Noise,
}

/// Low enough to be passed by two records and high enough for exact tails with one.
const THRESHOLD: i64 = 1;

impl Monitor {
    fn run(self, records: &[usize], leaves: Leaves, draws: &mut dyn Source) -> Vec<bool> {
        let mut answers = vec![0; records.len()];
        let mut gone = vec![false; records.len()];
        let mut transcript = Vec::new();
        for step in 0..self.steps {
            for key in 0..self.keys {
                let matches = |i: usize| records[i] >> (step * self.keys + key) & 1 == 1;
                let present = count(0..records.len(), |&i| !gone[i] && matches(i));
                let above = draws.exceeds(present, THRESHOLD, self.noise);
                transcript.push(above);
                for i in (0..records.len()).filter(|&i| above && matches(i)) {
                    answers[i] += 1;
                    gone[i] |= matches!(leaves, Leaves::AtOnce) && answers[i] >= self.most_answers;
                }
            }
            if matches!(leaves, Leaves::AfterTheStep) {
                gone = answers.iter().map(|&n| n >= self.most_answers).collect();
            }
        }
        transcript
    }

    /// The loss for added records, as a multiple of `epsilon` per answer, over all data sets.
    fn loss_for_added(self, leaves: Leaves, epsilon: f64, most_records: usize) -> Found {
        let kinds = 1 << (self.steps * self.keys);
        let claimed = epsilon * f64::from(self.most_answers);
        pure_loss_of_one_more(Side::Added, claimed, (kinds, most_records), |records| {
            exact_law(Window::none(), |draws| self.run(records, leaves, draws)).without_receipt()
        })
    }
}

/// One step in which a record can match three keys, for one and for two answers: a record that
/// leaves only after the step is in all three.
pub(super) fn three_keys(effort: Effort, leaves: Leaves) -> Found {
    let epsilon = 0.7;
    let with = |most_answers| {
        let monitor = Monitor { steps: 1, keys: 3, most_answers, noise: laplace(epsilon) };
        monitor.loss_for_added(leaves, epsilon, effort.of(1, 2))
    };
    worse(with(1), with(2))
}

/// Two steps of three keys and one answer each.
pub(super) fn two_steps(_: Effort, leaves: Leaves) -> Found {
    let epsilon = 0.7;
    let monitor = Monitor { steps: 2, keys: 3, most_answers: 1, noise: laplace(epsilon) };
    monitor.loss_for_added(leaves, epsilon, 1)
}

/// Three steps of one key, claimed for added and removed records. What protects removed ones is a
/// secret sample; `inner` says what the tests on it may spend.
pub(super) fn both_ways(effort: Effort, inner: Option<fn(&PoissonSample) -> f64>) -> Found {
    let sample = PoissonSample::new(Epsilon::new(0.7).expect("valid")).expect("positive");
    let epsilon = sample.epsilon().get();
    let noise = laplace(inner.map_or(epsilon, |inner| inner(&sample)));
    let monitor = Monitor { steps: 3, keys: 1, most_answers: 1, noise };
    pure_loss_of_one_more(Side::Both, epsilon, (1 << 3, effort.of(1, 2)), |records| {
        exact_law(Window::none(), |draws| {
            let kept: Vec<usize> = match inner {
                Some(_) => {
                    let kept = sample.sample(records.len(), &mut Draws::unplanned(draws)).exact();
                    records.iter().zip(kept).filter(|(_, kept)| *kept).map(|(r, _)| *r).collect()
                }
                None => records.to_vec(),
            };
            monitor.run(&kept, Leaves::AtOnce, draws)
        })
        .without_receipt()
    })
}

/// `ln(1 + e^epsilon)`: exactly what the sample can carry.
pub(super) fn all_that_is_carried(sample: &PoissonSample) -> f64 {
    sample.inner().get()
}

/// A tenth more.
pub(super) fn a_tenth_too_much(sample: &PoissonSample) -> f64 {
    1.1 * sample.inner().get()
}

/// Two findings about the same claim as one.
fn worse(mut a: Found, b: Found) -> Found {
    let cases = a.cases + b.cases;
    a.see(b.worst, || b.witness);
    Found { cases, ..a }
}
