//! Two rounds whose generators start from the same seed.

use dp_accounting::{AnyRelation, Epsilon};
use dp_audit::{Window, exact_law, statistical};
use dp_mechanism::{
    ChaCha20Rng, DiscreteGaussian, Draws, Geometric, Law, NoisyCount, SecureSource, Source,
};
use rand::{Rng, SeedableRng};

use dp_audit::harness::toys::{Side, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found};

/// Of each round.
const EPSILON: f64 = 0.5;

fn round() -> NoisyCount {
    NoisyCount::geometric(Epsilon::new(EPSILON).expect("valid")).expect("positive")
}

/// The first round counts all records, the second those of kind 1.
fn counts(records: &[usize]) -> [u64; 2] {
    [records.len() as u64, records.iter().filter(|kind| **kind == 1).count() as u64]
}

/// The noise of the first draw, again and again.
struct Repeating<'a> {
    draws: &'a mut dyn Source,
    first: Option<i64>,
}

impl Source for Repeating<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let Law::Noisy { value, .. } = law else { return self.draws.draw(law) };
        if let Some(noise) = self.first {
            return value + noise;
        }
        let released = self.draws.draw(law);
        self.first = Some(released - value);
        released
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }
}

/// The exact law of both rounds.
pub(super) fn exact(effort: Effort, repeating: bool) -> Found {
    let both = |records: &[usize], draws: &mut dyn Source| {
        counts(records).map(|n| round().release(n, &mut Draws::unplanned(draws)))
    };
    pure_loss_of_one_more(Side::Both, 2.0 * EPSILON, (2, effort.of(1, 3)), |records| {
        exact_law(Window::new(-15, 18), |draws| {
            if repeating {
                both(records, &mut Repeating { draws, first: None })
            } else {
                both(records, draws)
            }
        })
        .without_receipt()
    })
}

/// Both rounds with real generators, and what 20,000 runs show of one record of kind 0.
pub(super) fn sampled(effort: Effort, same_seed: bool) -> Found {
    let mut found = Found::claim(2.0 * EPSILON);
    let runs = effort.of(20_000, 1_000_000);
    let bound = statistical::epsilon_lower_bound(runs, effort.seed, |first, rng| {
        let seed = rng.next_u64();
        let [all, some] = counts(if first { &[0] } else { &[] });
        let released = |count, seed| {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            round().release(count, &mut Draws::unplanned(&mut SecureSource::new(&mut rng)))
        };
        let second = if same_seed { seed } else { rng.next_u64() };
        released(all, seed) - released(some, second)
    });
    found.see(bound.epsilon, || format!("no record and one of kind 0, {} hits", bound.hits));
    found
}
