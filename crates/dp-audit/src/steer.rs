//! Outcomes that chance would hardly ever bring.

use std::collections::BTreeMap;

use dp_mechanism::{
    ChaCha20Rng, DiscreteGaussian, Geometric, Law, ReportNoise, SecureSource, Source,
};
use rand::{RngExt, SeedableRng};

use crate::noise_law::{noise_scale, report_scale};
use crate::numbers::ratio_to_f64;

/// Outcomes for [`compare`](crate::compare) that go where no run was before: into tails, ties, silence, the
/// unlikely candidate, and the ends of the integers.
///
/// Every outcome is possible, so what is lost on the way is lost by the mechanism. Each draw has a handful of kinds of
/// outcomes; of these the one is taken that was taken least often after the same kinds before it. So ten runs see
/// every side of a first branch, and a few hundred most of what follows from it, where chance would need millions.
///
/// Keep one for all runs of a mechanism, and call [`restart`](Self::restart) before each.
#[derive(Debug)]
pub struct Steered {
    rng: ChaCha20Rng,
    /// The kinds of outcomes of this run so far.
    path: Vec<u8>,
    /// How often each kind followed on a path.
    taken: BTreeMap<Vec<u8>, Vec<u32>>,
}

/// Paths are told apart up to this many source.
const REMEMBERED: usize = 12;

/// How many scales from its value noise is steered.
const FAR: f64 = 64.0;

/// What a number with noise is steered to.
const NUMBERS: usize = 7;

impl Steered {
    /// A seed says what comes first.
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha20Rng::seed_from_u64(seed), path: Vec::new(), taken: BTreeMap::new() }
    }

    /// Forgets where the last run went, but not where it has been.
    pub fn restart(&mut self) {
        self.path.clear();
    }

    /// One of so many kinds of outcomes.
    fn kind(&mut self, kinds: usize) -> usize {
        let fresh = self.rng.random_range(0..kinds);
        if self.path.len() >= REMEMBERED {
            return fresh;
        }
        let taken = self.taken.entry(self.path.clone()).or_default();
        taken.resize(taken.len().max(kinds), 0);
        // Of those taken least often, the first from a random place on.
        let order = (fresh..kinds).chain(0..fresh);
        let kind = order.min_by_key(|kind| taken[*kind]).expect("there are kinds");
        taken[kind] += 1;
        self.path.push(u8::try_from(kind).expect("a handful"));
        kind
    }

    fn number(&mut self, value: i64, scale: f64, honest: impl Fn(&mut ChaCha20Rng) -> i64) -> i64 {
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        let far = (FAR * scale).ceil() as i64;
        match self.kind(NUMBERS) {
            0 => honest(&mut self.rng),
            1 => value,
            2 => value.saturating_add(far),
            3 => value.saturating_sub(far),
            4 => 0,
            5 => i64::MAX,
            _ => i64::MIN,
        }
    }

    /// The same where the loss is that of the very value, and so has to keep its digits: not to the ends.
    fn above(&mut self, least: i64, scale: f64, honest: impl Fn(&mut ChaCha20Rng) -> i64) -> i64 {
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        let far = (FAR * scale).ceil() as i64;
        match self.kind(3) {
            0 => honest(&mut self.rng).max(least),
            1 => least,
            _ => least.saturating_add(far),
        }
    }

    /// A candidate: by chance, any, the best or the worst.
    fn place(&mut self, scores: &[i64], honest: impl Fn(&mut ChaCha20Rng) -> usize) -> usize {
        let places = 0..scores.len();
        match self.kind(4) {
            0 => honest(&mut self.rng),
            1 => self.rng.random_range(places),
            2 => places.max_by_key(|i| scores[*i]).expect("a choice has candidates"),
            _ => places.min_by_key(|i| scores[*i]).expect("a choice has candidates"),
        }
    }
}

fn index(place: usize) -> i64 {
    i64::try_from(place).expect("an index")
}

impl Source for Steered {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        let honest = |rng: &mut ChaCha20Rng| SecureSource::new(rng).draw(law);
        match law {
            Law::Choice { scores, .. } | Law::Flip { scores, .. } => {
                index(self.place(scores, |rng| usize::try_from(honest(rng)).expect("an index")))
            }
            Law::SparseChoice { scores, .. } => {
                let candidates = scores.candidates();
                match self.kind(4) {
                    0 => honest(&mut self.rng),
                    1 => self.rng.random_range(0..candidates).cast_signed(),
                    2 => scores.listed().next().map_or(0, |listed| listed.0.cast_signed()),
                    _ => (candidates - 1).cast_signed(),
                }
            }
            Law::Noisy { value, noise } => self.number(value, noise_scale(noise), honest),
            Law::Exceeds { .. } => index(self.kind(2)),
            Law::Report { value, threshold, noise } => {
                let (least, scale) = (value.max(threshold), report_scale(noise));
                // One-sided noise cannot hide a value that is at the threshold, nor lower one.
                let certain = matches!(noise, ReportNoise::OneSided(_)) && value >= threshold;
                if !certain && self.kind(2) == 0 {
                    threshold.saturating_sub(1)
                } else {
                    self.above(least, scale, honest)
                }
            }
            // A coin may be certain, and it is not compared anyway.
            _ => honest(&mut self.rng),
        }
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        let honest = |rng: &mut ChaCha20Rng| SecureSource::new(rng).noisy_max(scores, noise);
        let best = scores.iter().copied().max().expect("a choice has candidates");
        let place = self.place(scores, |rng| honest(rng).0);
        // Above all scores, where every candidate can win.
        let least = best.saturating_add(1);
        let scale = ratio_to_f64(noise.scale());
        (place, self.above(least, scale, |rng| honest(rng).1))
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        // One kind for all of them: there may be many.
        let kind = self.kind(2);
        let scale = ratio_to_f64(noise.variance()).sqrt();
        if kind == 0 {
            SecureSource::new(&mut self.rng).noisy_vector(values, noise);
            return;
        }
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        let far = (FAR * scale).ceil() as i64;
        for value in values {
            *value = match self.rng.random_range(0..6) {
                0 => 0,
                1 => value.saturating_add(far),
                2 => value.saturating_sub(far),
                3 => i64::MAX,
                4 => i64::MIN,
                _ => *value,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dp_mechanism::{DiscreteLaplace, Noise, Ratio, SparseScores};

    use super::*;

    const SCALE: i64 = 1_000;

    fn scale() -> Ratio {
        Ratio::new(SCALE.unsigned_abs().into(), 1).expect("valid")
    }

    /// What comes out in a few runs of one draw.
    fn seen<O: Ord>(draw: impl Fn(&mut Steered) -> O) -> BTreeSet<O> {
        let mut steered = Steered::new(5);
        let runs = (0..60).map(|_| {
            steered.restart();
            draw(&mut steered)
        });
        runs.collect()
    }

    /// Sixty runs are more than enough for each side of a first draw.
    #[test]
    fn every_draw_is_steered_to_all_of_its_sides() {
        let laplace = DiscreteLaplace::new(scale()).expect("positive");
        let far = 64 * SCALE;
        let noise = Noise::Laplace(laplace);
        let numbers = seen(|source| source.draw(Law::Noisy { value: 7, noise }));
        for wanted in [7, 7 + far, 7 - far, 0, i64::MAX, i64::MIN] {
            assert!(numbers.contains(&wanted), "{wanted}");
        }
        let answers =
            seen(|source| source.draw(Law::Exceeds { value: 0, threshold: 1 << 40, noise }));
        assert_eq!(answers, BTreeSet::from([0, 1]));
        let noise = ReportNoise::TwoSided(laplace);
        let reports =
            seen(|source| source.draw(Law::Report { value: 1 << 30, threshold: 9, noise }));
        for wanted in [8, 1 << 30, (1 << 30) + far] {
            assert!(reports.contains(&wanted), "{wanted}");
        }
        // By chance all of these would go to the best.
        let mut scores = vec![0; 5_000];
        (scores[70], scores[4_000]) = (1_000, -1_000);
        let laws: [fn(&[i64]) -> Law<'_>; 2] = [
            |scores| Law::Choice { scores, rate: scale() },
            |scores| Law::Flip { scores, rate: scale() },
        ];
        for law in laws {
            let places = seen(|source| source.draw(law(&scores)));
            assert!(places.contains(&70) && places.contains(&4_000) && places.len() > 10);
        }
        let listed = SparseScores::new(1 << 40, [(3, 1_000)]);
        let found =
            seen(|source| source.draw(Law::SparseChoice { scores: &listed, rate: scale() }));
        assert!(found.contains(&3) && found.contains(&((1 << 40) - 1)) && found.len() > 10);
        let geometric = Geometric::new(scale()).expect("positive");
        let maxima = seen(|source| source.noisy_max(&[0, 1 << 40], geometric));
        assert!((0..2).all(|place| maxima.iter().any(|one| one.0 == place)));
        for wanted in [(1 << 40) + 1, (1 << 40) + 1 + far] {
            assert!(maxima.iter().any(|one| one.1 == wanted), "{wanted}");
        }
        let variance = Ratio::new(1, 1).expect("valid");
        let gaussian = DiscreteGaussian::new(variance).expect("positive");
        let vectors = seen(|source| {
            let mut vector = [7; 4];
            source.noisy_vector(&mut vector, gaussian);
            vector
        });
        for wanted in [7, 7 + 64, 7 - 64, 0, i64::MAX, i64::MIN] {
            assert!(vectors.iter().any(|vector| vector.contains(&wanted)), "{wanted}");
        }
    }

    /// As many runs as there are kinds see each of them, and so do as many as there are pairs see those.
    #[test]
    fn what_was_taken_least_often_comes_next() {
        let noise = Noise::Laplace(DiscreteLaplace::new(scale()).expect("positive"));
        for (draws, paths) in [(1, 7), (2, 49)] {
            let mut steered = Steered::new(3);
            for _ in 0..paths {
                steered.restart();
                (0..draws).for_each(|_| _ = steered.draw(Law::Noisy { value: 1, noise }));
            }
            let last = steered.taken.iter().filter(|(path, _)| path.len() + 1 == draws);
            let taken: Vec<u32> = last.flat_map(|(_, taken)| taken.clone()).collect();
            assert_eq!(taken, vec![1; paths], "{draws} draws");
        }
    }
}
