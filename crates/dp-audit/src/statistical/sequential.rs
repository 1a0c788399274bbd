//! A test that may be looked at after every run, and stops as soon as it is sure.

use super::ALPHA;

/// Refutes a pure claim by betting on it.
///
/// Given a hit of an event, an `epsilon`-DP mechanism names the first data set with probability at
/// most `pi = e^epsilon / (1 + e^epsilon)`. A gambler who starts with 1 and bets on the first data set
/// in the proportion `q : 1 - q` has, after each hit, an expected fortune of at most what it was. By
/// Ville's inequality the fortune ever reaches `1 / ALPHA` with probability at most [`ALPHA`]. So
/// there is no number of runs to fix in advance.
///
/// # Source
/// Ville (1939); as a test: Ramdas, Grünwald, Vovk, Shafer, "Game-theoretic statistics and safe
/// anytime-valid inference" (2023).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialTest {
    /// `ln` of what the fortune is multiplied by at a hit from the first and from the second set.
    gains: [f64; 2],
    fortune: f64,
    hits: u64,
}

/// What the gambler knows so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing against the claim yet.
    Open,
    /// The claim is false, except with probability [`ALPHA`].
    Refuted,
}

impl SequentialTest {
    /// Against a claim of `epsilon`, betting that the event comes from the first data set with
    /// probability `share` (for example as seen in a few training runs).
    ///
    /// # Panics
    /// Unless `share` is above `e^epsilon / (1 + e^epsilon)` and below 1: no other bet can win.
    pub fn new(epsilon: f64, share: f64) -> Self {
        let allowed = 1.0 / (1.0 + (-epsilon).exp());
        assert!(share > allowed && share < 1.0, "a bet of {share} cannot refute {allowed}");
        let gains = [(share / allowed).ln(), ((1.0 - share) / (1.0 - allowed)).ln()];
        Self { gains, fortune: 0.0, hits: 0 }
    }

    /// One more hit of the event, from the first data set or not.
    pub fn hit(&mut self, first: bool) -> Verdict {
        self.hits += 1;
        self.fortune += self.gains[usize::from(!first)];
        self.verdict()
    }

    /// Where it stands.
    pub fn verdict(&self) -> Verdict {
        if self.fortune >= -ALPHA.ln() { Verdict::Refuted } else { Verdict::Open }
    }

    /// Hits so far.
    pub fn hits(&self) -> u64 {
        self.hits
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha20Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Hits until the claim falls, at most 100,000, when the first set's true share is `share`.
    fn hits_needed(share: f64, seed: u64) -> Option<u64> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut test = SequentialTest::new(1.0, 0.8);
        (0..100_000)
            .any(|_| test.hit(rng.random_bool(share)) == Verdict::Refuted)
            .then(|| test.hits())
    }

    /// A claim of 1 allows a share of .731. At .8 a hit is worth .0129 nats, so about 1,070 hits
    /// reach ln 1e6; at .731 no number should.
    #[test]
    fn it_stops_early_on_a_false_claim_and_never_on_a_true_one() {
        for seed in 0..5 {
            let needed = hits_needed(0.8, seed).expect("refuted");
            assert!((300..3_000).contains(&needed), "{needed}");
            assert_eq!(hits_needed(0.731, seed), None);
        }
    }

    /// A claim of 1 and a bet of .8: each hit from the first set brings `ln(.8 / .731)`, and each from the second costs `ln(.269 / .2)`.
    #[test]
    fn it_stops_when_the_fortune_is_made_and_not_before() {
        let won = (0.8 * (1.0 + (-1.0_f64).exp())).ln();
        let lost = -(0.2 * (1.0 + 1.0_f64.exp())).ln();
        for seconds in [0, 1, 10] {
            let mut test = SequentialTest::new(1.0, 0.8);
            (0..seconds).for_each(|_| assert_eq!(test.hit(false), Verdict::Open));
            let firsts =
                (1..10_000_u32).find(|_| test.hit(true) == Verdict::Refuted).expect("refuted");
            let needed = (-ALPHA.ln() + f64::from(seconds) * lost) / won;
            assert_eq!(
                f64::from(firsts).total_cmp(&needed.ceil()),
                std::cmp::Ordering::Equal,
                "{seconds}"
            );
            assert_eq!(test.hits(), u64::from(seconds + firsts));
        }
    }
}
