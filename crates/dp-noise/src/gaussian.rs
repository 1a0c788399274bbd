//! Discrete Gaussian noise.

use num_bigint::BigUint;

use crate::lazy::exp_coin;
use crate::scaled::Scaled;
use crate::{Bits, DiscreteLaplace, NoiseError, Ratio, reference};

/// `Pr[Z = z]` proportional to `exp(-z^2 / (2 v))` over the integers, with rational `v`.
///
/// # Utility
/// `E[Z] = 0`, `Var[Z] <= v`, and equal to it within `1e-7` relative from `v = 1` on.
///
/// # Complexity
/// About 8 words on average (11 at `v = 1`). Construction costs two divisions. Not timing-safe.
/// For many draws at one variance up to a million, [`TableGaussian`](crate::TableGaussian) reads
/// one word.
///
/// # Precision
/// Exact. The variance is used as given, nothing is rounded.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), Algorithm 3. A proposal is accepted by one comparison with a
/// lazily drawn uniform real; [`reference::DiscreteGaussian`] is the plain form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteGaussian {
    proposal: DiscreteLaplace,
    thinning: Thinning,
}

impl DiscreteGaussian {
    /// Discrete Gaussian noise with exactly the variance parameter `v`.
    ///
    /// # Errors
    /// If `v` is zero.
    pub fn new(variance: Ratio) -> Result<Self, NoiseError> {
        let thinning = Thinning::new(variance)?;
        let proposal = DiscreteLaplace::new(Ratio::new(thinning.scale(), 1)?)?;
        Ok(Self { proposal, thinning })
    }

    /// The variance parameter `v`.
    pub fn variance(self) -> Ratio {
        self.thinning.variance()
    }

    /// One draw.
    #[inline]
    pub fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> i128 {
        bits.retry(|bits| {
            let candidate = self.proposal.sample(bits);
            self.thinning.accept(bits, candidate.unsigned_abs()).then_some(candidate)
        })
    }
}

/// What turns magnitudes `y` with weights `exp(-y / t)` into such with weights `exp(-y^2 / 2v)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thinning {
    variance: Ratio,
    /// `floor(sqrt(variance)) + 1`, the scale of the proposal.
    t: u128,
    /// `1 / (2 a b t^2)` for the variance `a/b`.
    step: Scaled,
}

impl Thinning {
    /// Refuses a `variance` of zero.
    pub(crate) fn new(variance: Ratio) -> Result<Self, NoiseError> {
        let (a, b) = (variance.numerator(), variance.denominator().get());
        let t = (a / b).isqrt() + 1;
        let positive = |x| Scaled::new(x).ok_or(NoiseError::Zero { what: "variance" });
        let root = positive(t)?;
        let twice = positive(2 * a)?.times(positive(b)?);
        let step = twice.times(root).times(root).recip();
        Ok(Self { variance, t, step })
    }

    pub(crate) fn variance(self) -> Ratio {
        self.variance
    }

    /// The scale `t` of the proposal.
    pub(crate) fn scale(self) -> u128 {
        self.t
    }

    /// True with probability `exp(-(y - v/t)^2 / (2 v))`, which for `v = a/b` is
    /// `exp(-(y t b - a)^2 / (2 a b t^2))`.
    #[inline]
    pub(crate) fn accept<B: Bits + ?Sized>(self, bits: &mut B, y: u128) -> bool {
        let (a, b) = (self.variance.numerator(), self.variance.denominator().get());
        let scaled = y.checked_mul(self.t).and_then(|yt| yt.checked_mul(b));
        let Some(distance) = scaled.map(|ytb| ytb.abs_diff(a)) else {
            // Beyond 128 bits: a very large variance or a very long draw.
            return reference::accept_gaussian(bits, self.variance, self.t, y);
        };
        let Some(near) = Scaled::new(distance) else {
            return true;
        };
        exp_coin(bits, near.times(near).times(self.step), || {
            let root = BigUint::from(self.t);
            let distance = BigUint::from(distance);
            (&distance * &distance, BigUint::from(2 * a) * b * &root * &root)
        })
    }
}
