//! Local hashing: the cell's value under a public hash function, through randomised response.

use dp_accounting::Epsilon;
use dp_mechanism::SubsetResponse;
use rayon::prelude::*;

use super::{FrequencyOracle, check_cells};
use crate::{LocalError, PublicCoins, SymbolCounts};

/// A client hashes its cell to one of `g` symbols, about `e^epsilon + 1`, by the function of its class, and sends it or another one.
///
/// # Guarantee
/// `epsilon`-DP under [`ReplaceOne`](dp_accounting::ReplaceOne): the true symbol has `e^epsilon` times the weight of every other one.
///
/// # Utility
/// Unbiased over the choice of hash functions. By client, [`variance`](FrequencyOracle::variance) is
/// `(share p (1 - p) + (1 - share) q (1 - q)) / (p - q)^2 + crowding / (classes (g - 1))` with `q = 1 / g` and `p` the probability of the
/// true symbol: 3.68, .724 and .076 at epsilon 1, 2 and 4 for rare cells. The last term is what the clients of one class share, and is made
/// small by many classes.
///
/// # Complexity
/// A client: one multiplication. Decoding: `classes x cells` hash values, at most `2^30`, on all threads.
///
/// # Source
/// Wang, Blocki, Li, Jha (2017), "optimized local hashing"; hash functions of Dietzfelbinger (1996).
#[derive(Clone, Debug, PartialEq)]
pub struct LocalHashing {
    cells: u32,
    classes: u32,
    response: SubsetResponse,
    coins: PublicCoins,
}

/// What coins are for.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Codes,
    Functions,
}

/// One decoding evaluates no more hash values than this.
const MOST_HASHES: u64 = 1 << 30;
/// And a table of answers has no more entries.
const MOST_ENTRIES: u32 = 1 << 22;

impl LocalHashing {
    /// The most cells.
    pub const MAX_CELLS: u32 = 1 << 22;

    /// The most classes.
    pub const MAX_CLASSES: u32 = 1 << 16;

    /// The question for so many cells, with as many hash functions as so many clients need.
    ///
    /// # Errors
    /// No cells, more than [`MAX_CELLS`](Self::MAX_CELLS), no clients, an epsilon that a response cannot have.
    pub fn new(
        epsilon: Epsilon,
        cells: u32,
        clients: u32,
        coins: PublicCoins,
    ) -> Result<Self, LocalError> {
        let symbols = best_symbols(epsilon)?;
        // A crowding of the size of the planned one then adds to the variance of an empty cell a hundredth or so.
        let wanted = u64::from(clients) * 8 / u64::from(symbols - 1);
        let most = (MOST_HASHES / u64::from(cells.max(1))).min((MOST_ENTRIES / symbols).into());
        let most = most.clamp(1, Self::MAX_CLASSES.into());
        let classes = u32::try_from(wanted.clamp(1, most)).expect("at most 2^16");
        // A power of two below the limits.
        let classes = 1 << classes.ilog2();
        if clients == 0 {
            return Err(LocalError::OutOfRange { name: "clients", got: 0, want: "at least 1" });
        }
        Self::with_sizes(epsilon, cells, symbols, classes, coins)
    }

    /// The same with these numbers of symbols and classes, for tests and audits.
    ///
    /// # Errors
    /// As [`new`](Self::new); no classes or too many of them; symbols that a response cannot have.
    pub fn with_sizes(
        epsilon: Epsilon,
        cells: u32,
        symbols: u32,
        classes: u32,
        coins: PublicCoins,
    ) -> Result<Self, LocalError> {
        check_cells(cells, Self::MAX_CELLS)?;
        if !(1..=Self::MAX_CLASSES).contains(&classes) {
            let (name, want) = ("classes", "at least 1 and at most 65536");
            return Err(LocalError::OutOfRange { name, got: classes.into(), want });
        }
        let entries = u64::from(classes) * u64::from(symbols);
        if entries > MOST_ENTRIES.into() {
            let (name, want) = ("classes x symbols", "at most 2^22");
            return Err(LocalError::OutOfRange { name, got: entries.into(), want });
        }
        let response = SubsetResponse::new(epsilon, symbols, 1)?;
        Ok(Self { cells, classes, response, coins })
    }

    /// What stands for a cell in hash functions. Were it the cell's number, a class with a small multiplier would give the same symbol to
    /// all cells nearby, and its few clients would count as a crowd in each of them: one in ten sessions of `10^4` cells had such a class.
    #[inline]
    fn code(&self, cell: u32) -> u64 {
        self.coins.of(Purpose::Codes as u64).word(cell.into())
    }

    /// The hash function of a class: `x -> (a x + b) / 2^32` of a cell's code, then scaled to the symbols.
    #[inline]
    fn function(&self, class: u32) -> (u64, u64) {
        let (coins, place) = (self.coins.of(Purpose::Functions as u64), 2 * u64::from(class));
        (coins.word(place) | 1, coins.word(place + 1))
    }

    /// The probabilities that a client's answer supports its own cell, and another one.
    fn probabilities(&self) -> (f64, f64) {
        (self.response.favours(), 1.0 / f64::from(self.response.symbols()))
    }
}

#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the upper halves of products")]
fn to_symbol(value: u64, symbols: u32) -> u32 {
    (((value >> 32) * u64::from(symbols)) >> 32) as u32
}

/// The number of symbols with the smallest variance for a rare cell.
fn best_symbols(epsilon: Epsilon) -> Result<u32, LocalError> {
    let best = epsilon.get().exp() + 1.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let below = best.clamp(2.0, f64::from(SubsetResponse::MAX_SYMBOLS - 1)) as u32;
    let variance = |symbols: u32| -> Result<f64, LocalError> {
        let p = SubsetResponse::new(epsilon, symbols, 1)?.favours();
        let q = 1.0 / f64::from(symbols);
        Ok(q * (1.0 - q) / ((p - q) * (p - q)))
    };
    Ok(if variance(below)? <= variance(below + 1)? { below } else { below + 1 })
}

impl FrequencyOracle for LocalHashing {
    fn cells(&self) -> u32 {
        self.cells
    }

    fn classes(&self) -> u32 {
        self.classes
    }

    fn response(&self) -> &SubsetResponse {
        &self.response
    }

    fn symbol(&self, class: u32, cell: u32) -> u32 {
        let (a, b) = self.function(class);
        let code = self.code(cell.min(self.cells - 1));
        to_symbol(a.wrapping_mul(code).wrapping_add(b), self.response.symbols())
    }

    fn estimate(&self, counts: &SymbolCounts) -> Result<Vec<f64>, LocalError> {
        let symbols = self.response.symbols();
        counts.expect(self.classes, symbols)?;
        let cells = self.cells as usize;
        let codes: Vec<u64> = (0..self.cells).map(|cell| self.code(cell)).collect();
        let supported = (0_u32..)
            .zip(counts.rows())
            .collect::<Vec<_>>()
            .par_chunks(1 << 10)
            .map(|classes| {
                let mut support = vec![0_u64; cells];
                for &(class, row) in classes {
                    let (a, b) = self.function(class);
                    for (supported, code) in support.iter_mut().zip(&codes) {
                        let value = a.wrapping_mul(*code).wrapping_add(b);
                        *supported += u64::from(row[to_symbol(value, symbols) as usize]);
                    }
                }
                support
            })
            .reduce(
                || vec![0; cells],
                |mut sum, more| {
                    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                    sum
                },
            );
        let (p, q) = self.probabilities();
        let expected = counts.total() as f64 * q;
        Ok(supported.iter().map(|&support| (support as f64 - expected) / (p - q)).collect())
    }

    fn variance(&self, share: f64, crowding: f64) -> f64 {
        let (p, q) = self.probabilities();
        let answers = (share * p * (1.0 - p) + (1.0 - share) * q * (1.0 - q)) / ((p - q) * (p - q));
        let shared = f64::from(self.classes) * f64::from(self.response.symbols() - 1);
        answers + crowding / shared
    }
}
