//! Whether a noisy count reaches a threshold, and nothing more.

use dp_accounting::Loss;

use crate::source::value_of;
use crate::{Draws, Noise, Private};

/// Tests whether a count with noise reaches a threshold; only the answer comes out.
///
/// # Guarantee
/// With Laplace noise of loss `e` per unit of count, a record that changes the count by 1 changes the probability of either answer by a
/// factor of at most `e^e`. What many answers cost together is the proof of whoever asks; the leaf of the receipt pays for all of them.
///
/// # Source
/// Lyu, Su, Li (2017), for tests against a threshold that is noisy and secret itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountTest {
    noise: Noise,
    /// The leaf of the receipt that pays, and its loss.
    leaf: &'static str,
    paid_by: Loss,
}

impl CountTest {
    /// Tests with this noise, which the leaf of this name pays for.
    pub fn new(noise: Noise, leaf: &'static str, paid_by: Loss) -> Self {
        Self { noise, leaf, paid_by }
    }

    /// The noise of a count.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Whether the count with noise is at least the threshold, which may be secret.
    pub fn reaches(
        &self,
        count: impl Into<Private<u64>>,
        threshold: impl Into<Private<i64>>,
        draws: &mut Draws<'_>,
    ) -> bool {
        let count = value_of(count.into().into_draw());
        let threshold = threshold.into().into_draw().saturating_sub(1);
        draws.next(self.leaf).charge(self.paid_by).exceeds(count, threshold, self.noise)
    }

    /// A public number with this noise, to be kept secret: the threshold of many tests.
    pub fn secret(&self, public: i64, draws: &mut Draws<'_>) -> Private<i64> {
        Private::new(draws.next(self.leaf).charge(self.paid_by).noisy(public, self.noise))
    }
}
