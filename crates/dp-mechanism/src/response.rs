//! One symbol in place of a record: randomised response with a set of favoured symbols.

use dp_accounting::{Epsilon, Loss};
use dp_noise::Ratio;

use crate::rational::{ratio_at_most, to_f64};
use crate::{CellsRef, Coin, Draws, MechanismError, Private, SparseScores};

/// Sends one of `symbols` symbols; a record favours `favoured` of them, each of which is [`weight`](Self::weight) times as likely as each
/// other one.
///
/// Binary and `k`-ary randomised response favour one symbol, subset selection and codebooks of vectors more than one.
///
/// # Guarantee
/// `epsilon`-DP for whoever sees the symbol, whatever the record is replaced by: all symbols have one of two probabilities, and their ratio
/// is [`weight`](Self::weight), at most `e^epsilon`. Which symbols are favoured is private, how many are is public.
///
/// # Precision
/// The law is rational and exact: a coin of probability [`favours`](Self::favours), then a uniform choice. `e^epsilon` is rounded down to 32
/// bits.
///
/// # What is not protected
/// The time that it takes, which depends on the symbol.
///
/// # Source
/// Warner (1965); Ye and Barg (2018) for subsets.
///
/// ```
/// use dp_accounting::Epsilon;
/// use dp_mechanism::{Draws, SecureSource, SubsetResponse, chacha_from_os};
///
/// let response = SubsetResponse::new(Epsilon::new(3_f64.ln())?, 2, 1)?;
/// let mut rng = chacha_from_os()?;
/// let truth = 1_u32;
/// let sent = response.release(truth, &mut Draws::unplanned(&mut SecureSource::new(&mut rng)));
/// println!("the answer {sent} is true with probability {:.2}", response.favours());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubsetResponse {
    symbols: u32,
    favoured: u32,
    weight: Ratio,
    coin: Ratio,
    epsilon: Epsilon,
}

impl SubsetResponse {
    /// The largest number of symbols: two bytes.
    pub const MAX_SYMBOLS: u32 = 1 << 16;

    /// A response that costs `epsilon`.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon` is zero or so small that `e^epsilon` is 1 in 32 bits, or so large that it is `2^62`; if there are
    /// fewer than 2 symbols or more than [`MAX_SYMBOLS`](Self::MAX_SYMBOLS); if none or all of them are favoured.
    pub fn new(epsilon: Epsilon, symbols: u32, favoured: u32) -> Result<Self, MechanismError> {
        let name = "epsilon of a response";
        if epsilon.get() <= 0.0 {
            return Err(MechanismError::NotPositive { name });
        }
        if symbols > Self::MAX_SYMBOLS || favoured == 0 || favoured >= symbols {
            return Err(MechanismError::Symbols { symbols, favoured });
        }
        let got = epsilon.get();
        let out_of_range = if got > 1.0 {
            MechanismError::TooLittleNoise { name, got }
        } else {
            MechanismError::TooMuchNoise { name, got }
        };
        // The exponential is good to one unit of its last digit; four are taken off.
        let below = epsilon.get().exp() * (1.0 - 4.0 * f64::EPSILON);
        let weight = ratio_at_most(below)
            .filter(|weight| weight.numerator() > weight.denominator().get())
            .ok_or(out_of_range)?;
        let (above, below) = (weight.numerator(), weight.denominator().get());
        let top = u128::from(favoured) * above;
        let coin = Ratio::new(top, top + u128::from(symbols - favoured) * below)
            .map_err(|_| out_of_range)?;
        Ok(Self { symbols, favoured, weight, coin, epsilon })
    }

    /// How many symbols there are.
    pub fn symbols(&self) -> u32 {
        self.symbols
    }

    /// How many of them a record favours.
    pub fn favoured(&self) -> u32 {
        self.favoured
    }

    /// How many times as likely a favoured symbol is as another: exactly this.
    pub fn weight(&self) -> Ratio {
        self.weight
    }

    /// The probability that a favoured symbol is sent, for decoding.
    pub fn favours(&self) -> f64 {
        to_f64(self.coin)
    }

    /// What a response costs.
    pub fn loss(&self) -> Loss {
        Loss::Pure { epsilon: self.epsilon }
    }

    /// A symbol, where the favoured ones are `first` and those that follow it, from the last on to symbol 0. A `first` that is no symbol
    /// stands for its remainder.
    pub fn release(&self, first: impl Into<Private<u32>>, draws: &mut Draws<'_>) -> u32 {
        let first = first.into().map(|first| u64::from(first % self.symbols));
        let step = self.draw(draws);
        let sent = first.map(|first| first + u64::from(step)).into_draw();
        u32::try_from(sent % u64::from(self.symbols)).expect("below the number of symbols")
    }

    /// A symbol, where the favoured ones are those of the largest scores; of equal ones the first.
    ///
    /// # Panics
    /// If there is not one score per symbol; their number is public.
    pub fn release_by_score<'a>(
        &self,
        scores: impl Into<CellsRef<'a, i64>>,
        draws: &mut Draws<'_>,
    ) -> u32 {
        let scores = scores.into();
        assert_eq!(scores.len(), self.symbols as usize, "one score per symbol");
        let place = self.draw(draws) as usize;
        let ranked = scores.into_private().map(|scores| {
            let mut symbols: Vec<(i64, u32)> =
                scores.iter().zip(0..).map(|(&score, symbol)| (score, symbol)).collect();
            // The favoured ones come first, in any order, and then the others: those within either part are equally likely.
            let order = |a: &(i64, u32), b: &(i64, u32)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
            symbols.select_nth_unstable_by(self.favoured as usize - 1, order);
            symbols[place].1
        });
        ranked.into_draw()
    }

    /// A place in a list that has the favoured symbols first.
    fn draw(&self, draws: &mut Draws<'_>) -> u32 {
        let source = draws.charge(self.loss());
        let favoured = source.keep(Coin::Rational(self.coin));
        let (first, among) = if favoured {
            (0, self.favoured)
        } else {
            (self.favoured, self.symbols - self.favoured)
        };
        let any = Ratio::new(1, 1).expect("one over one");
        let place = source.choose_sparse(&SparseScores::new(among.into(), []), any);
        first + u32::try_from(place).expect("below the number of symbols")
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use dp_noise::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;
    use crate::SecureSource;

    fn response(
        epsilon: f64,
        symbols: u32,
        favoured: u32,
    ) -> Result<SubsetResponse, MechanismError> {
        SubsetResponse::new(Epsilon::new(epsilon).expect("valid"), symbols, favoured)
    }

    #[test]
    fn what_is_no_response_is_refused() {
        for (symbols, favoured) in [(0, 0), (1, 1), (2, 0), (2, 2), (4, 5), (65_537, 3)] {
            let refused = MechanismError::Symbols { symbols, favoured };
            assert_eq!(response(1.0, symbols, favoured), Err(refused));
        }
        for epsilon in [0.0, 1e-12, 43.0, 800.0] {
            assert!(response(epsilon, 2, 1).is_err(), "{epsilon}");
        }
        assert!(response(40.0, 65_536, 65_535).is_ok());
    }

    /// Where `e^epsilon` is an integer up to rounding, the weight stays below that: the exponential may have gone up.
    #[test]
    fn weights_are_rounded_down() {
        for whole in 2..200_u32 {
            let weight = response(f64::from(whole).ln(), 4, 2).expect("valid").weight();
            assert!(weight.numerator() < u128::from(whole) * weight.denominator().get());
            assert!(to_f64(weight) > f64::from(whole) * (1.0 - 1e-9), "{whole}");
        }
    }

    /// Null: a favoured symbol with probability 3/4. Off by 5.2 standard deviations in 2 of 10^7 seeds; the control is the other bit.
    #[test]
    fn favoured_symbols_come_as_often_as_stated() {
        let half = response(3_f64.ln(), 4, 2).expect("valid");
        assert_eq!((half.symbols(), half.favoured()), (4, 2));
        assert_abs_diff_eq!(half.favours(), 0.75, epsilon = 1e-9);
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut source = SecureSource::new(&mut rng);
        let draws = &mut Draws::unplanned(&mut source);
        let n = 40_000;
        let around = (0..n).filter(|_| [3, 0].contains(&half.release(7, draws))).count();
        let top = (0..n).filter(|_| half.release_by_score(&[1, 5, 1, 0], draws) < 2).count();
        let sd = (n as f64 * 0.75 * 0.25).sqrt();
        for hits in [around, top] {
            let off = (hits as f64 - 0.75 * n as f64).abs();
            assert!(off < 5.2 * sd && (n - hits) as f64 * 1.1 < hits as f64, "{hits}");
        }
    }
}
