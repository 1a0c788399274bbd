//! Poisson subsampling: keep each record by a secret coin.

use dp_accounting::Epsilon;

use crate::rational::{ratio_at_most, to_f64};
use crate::{Coin, Draws, MechanismError, Private};

/// A secret Poisson sample that turns a one-sided guarantee into a two-sided one.
///
/// # Guarantee
/// Let `M` be `inner`-DP for added records only: `Pr[M(D + x) in S] <= e^inner Pr[M(D) in S]`, with
/// nothing asked of removals. On a sample that keeps each record with probability
/// `p = 1 - e^(-epsilon)`, and with `inner = ln(1 + e^epsilon)`, `M` is `epsilon`-DP for added and
/// removed records: adding costs `ln(1 + p (e^inner - 1))`, removing `ln(1 / (1 - p))`, and both
/// are `epsilon`. Larger `p` would break the second, larger `inner` the first.
///
/// # Precision
/// Exact coins; `epsilon` is rounded down to 32 bits when built and reported so.
///
/// # Source
/// Ghazi, Kamath, Kumar, Manurangsi, Sealfon (2024), Lemma 3.1, with the sharper pairing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonSample {
    coin: Coin,
    epsilon: Epsilon,
}

impl PoissonSample {
    /// The sample whose two-sided guarantee is `epsilon`.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon` is zero or below `2^-60`.
    pub fn new(epsilon: Epsilon) -> Result<Self, MechanismError> {
        let name = "epsilon of a sample";
        if epsilon.get() <= 0.0 {
            return Err(MechanismError::NotPositive { name });
        }
        let rounded = ratio_at_most(epsilon.get())
            .ok_or(MechanismError::TooMuchNoise { name, got: epsilon.get() })?;
        let epsilon = Epsilon::new(to_f64(rounded)).expect("rounded down from a valid one");
        Ok(Self { coin: Coin::OneMinusExp(rounded), epsilon })
    }

    /// The two-sided guarantee of an inner mechanism that spends [`inner`](Self::inner) one-sided.
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// What the inner mechanism may spend, for added records: `ln(1 + e^epsilon)`, rounded down.
    pub fn inner(&self) -> Epsilon {
        let epsilon = self.epsilon.get();
        Epsilon::new((epsilon + (-epsilon).exp().ln_1p()) * (1.0 - 1e-14)).expect("positive")
    }

    /// The rate `p` at which records are kept, for estimates.
    pub fn rate(&self) -> f64 {
        -(-self.epsilon.get()).exp_m1()
    }

    /// For each of `n` records, whether it is kept. Secret, as `n` may be. To be asked once about a record.
    ///
    /// Its price is in the loss of what is drawn from the sample.
    pub fn sample(
        &self,
        n: impl Into<Private<usize>>,
        draws: &mut Draws<'_>,
    ) -> Private<Vec<bool>> {
        let none = n.into().map_once(|n| (n, Vec::with_capacity(n)));
        self.sample_into(none, |kept, _, keep| kept.push(keep), draws)
    }

    /// The same into a state of the caller's: `put` gets it, the number of a record, and whether that is kept.
    pub fn sample_into<T>(
        &self,
        state: Private<(usize, T)>,
        put: impl Fn(&mut T, usize, bool) + Sync,
        draws: &mut Draws<'_>,
    ) -> Private<T> {
        let source = draws.free();
        state.map_once(|(n, mut state)| {
            (0..n).for_each(|record| put(&mut state, record, source.keep(self.coin)));
            state
        })
    }
}

#[cfg(test)]
mod tests {
    use dp_accounting::{Delta, poisson_sampling};

    use super::*;
    use crate::{Law, Source};

    /// The accountant, which rounds up, finds no more than what was asked for: inside, everything is rounded down by more than that.
    #[test]
    fn what_is_spent_inside_comes_to_no_more_than_epsilon() {
        for asked in [1e-6, 0.01, 0.1, 1.0 / 3.0, 1.0, 4.0, 10.0, 30.0] {
            let sample = PoissonSample::new(Epsilon::new(asked).expect("valid")).expect("in range");
            let rate = sample.rate().next_up().min(1.0);
            let added =
                poisson_sampling(sample.inner(), Delta::ZERO, rate).expect("a rate").0.get();
            let epsilon = sample.epsilon().get();
            assert!(added <= epsilon && epsilon <= asked, "{added} {epsilon} {asked}");
            assert!(added >= epsilon * (1.0 - 1e-12), "{added} is far below {epsilon}");
        }
    }

    /// Outcomes of coins, the first one last.
    struct Tossed(Vec<i64>);

    impl Source for Tossed {
        fn draw(&mut self, law: Law<'_>) -> i64 {
            assert!(matches!(law, Law::Keep { coin: Coin::OneMinusExp(_) }), "{law:?}");
            self.0.pop().expect("one for every record")
        }
        fn noisy_vector(&mut self, _: &mut [i64], _: dp_noise::DiscreteGaussian) {}
        fn noisy_max(&mut self, _: &[i64], _: dp_noise::Geometric) -> (usize, i64) {
            (0, 0)
        }
    }

    /// The loss is amplified for records that are kept independently of each other.
    #[test]
    fn every_record_has_a_coin_of_its_own() {
        let sample = PoissonSample::new(Epsilon::new(0.5).expect("valid")).expect("in range");
        for outcomes in 0..1_u32 << 6 {
            let want: Vec<bool> = (0..6).map(|record| outcomes >> record & 1 == 1).collect();
            let tossed = || Tossed(want.iter().rev().map(|&kept| kept.into()).collect());
            let (mut first, mut second) = (tossed(), tossed());
            let kept = sample.sample(want.len(), &mut Draws::unplanned(&mut first));
            assert_eq!((kept.into_draw(), first.0.len()), (want.clone(), 0));
            let none = Private::owned((want.len(), Vec::new()));
            let kept = sample.sample_into(
                none,
                |kept, record, keep| kept.push((record, keep)),
                &mut Draws::unplanned(&mut second),
            );
            let numbered: Vec<_> = want.iter().copied().enumerate().collect();
            assert_eq!((kept.into_draw(), second.0.len()), (numbered, 0));
        }
    }
}
