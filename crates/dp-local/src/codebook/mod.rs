//! Bounded vectors in one byte: the name of a public random direction that lies near.

mod directions;
mod order;

use std::fmt;

use dp_accounting::{Epsilon, Receipt, ReplaceOne};
use dp_mechanism::{Algorithm, Draws, Private, SubsetResponse};
use rayon::prelude::*;

use crate::oracle::{ANSWER, receipt};
use crate::{LocalError, PublicCoins, SymbolCounts};
pub(crate) use directions::normal;
use directions::{Book, LARGEST, ONE};

/// A vector of length at most 1, sent as one of `symbols` public Gaussian directions and decoded without bias.
///
/// Clients and server share books of directions, drawn from [`PublicCoins`]. A client ranks the directions of its book by their inner
/// product with its vector; the first `K` are favoured by a [`SubsetResponse`]. The server adds up the directions that were named.
/// A vector shorter than 1 gets one more coordinate that makes it as long, so length leaks no more than direction does.
///
/// # Guarantee
/// `epsilon`-DP under [`ReplaceOne`]: `K` symbols have `e^epsilon` times the weight of the others, whatever the vector. The law is rational.
///
/// # Utility
/// Unbiased. By client and coordinate the variance is [`variance`](Self::variance), `1 / m^2` with `m` the mean inner product of a
/// unit vector with the direction that is sent: 6.38, 1.63 and .44 at epsilon 1, 2 and 4 with 256 symbols; the limit
/// of all laws of this form on the sphere (`PrivUnit`) is 6.33, 1.62 and .435. Clients of one book share their directions; that adds
/// [`shared_variance`](Self::shared_variance).
///
/// # Complexity
/// A client: `symbols` times the number of coordinates that it has. Decoding: one direction for each pair of book and symbol that was sent.
///
/// # Shapes and units
/// Vectors `dim`; coordinates that are not finite numbers count as 0, longer vectors are scaled back to length 1.
///
/// # Precision
/// Directions and vectors are rounded to integers before they are ranked, and sums are integers, so every machine ranks alike.
///
/// # Source
/// Isik, Chen, Ozgur, Weissman, No (2023), with a codebook of independent normal directions; Bhowmick et al. (2018) for the limit.
///
/// # Example
/// ```
/// use dp_local::{CodebookVector, Epsilon, Mechanism, Part, PublicCoins, chacha_from_os};
///
/// let question = CodebookVector::new(Epsilon::new(2.0)?, 3, 256, 64, PublicCoins::new(5))?;
/// let mut rng = chacha_from_os()?;
/// let mut answers = question.no_answers();
/// for client in 0..2_000 {
///     let (vector, book) = ([0.6, 0.0, -0.8], client % question.books());
///     let answer = question.answer(book);
///     answers.add(book, answer.release(Part::whole(&vector), &mut rng)?.output)?;
/// }
/// let sum = question.estimate(&answers)?;
/// println!("mean {:.2?}, each within .06 or so", sum.map(|sum| sum / 2_000.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CodebookVector {
    dim: usize,
    books: u32,
    response: SubsetResponse,
    /// The mean inner product of a unit vector with the direction that is sent.
    gain: f64,
    coins: PublicCoins,
}

/// Coordinates of a vector from `first` on; all others are 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part<'a> {
    /// Where the values start.
    pub first: usize,
    /// The values; those that would be beyond the dimension are ignored.
    pub values: &'a [f64],
}

impl<'a> Part<'a> {
    /// A vector with all of its coordinates.
    pub fn whole(values: &'a [f64]) -> Self {
        Self { first: 0, values }
    }
}

/// A sum of vectors, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorSum {
    /// Sums of directions, in units of their fixed point.
    sums: Vec<i64>,
    unit: f64,
}

impl VectorSum {
    /// Each coordinate of the sum through a function.
    pub fn map<T>(&self, f: impl Fn(f64) -> T) -> Vec<T> {
        self.sums.iter().map(|&sum| f(sum as f64 * self.unit)).collect()
    }
}

impl CodebookVector {
    /// The largest number of symbols: one byte.
    pub const MAX_SYMBOLS: u32 = 256;

    /// The largest dimension.
    pub const MAX_DIM: usize = 1 << 16;

    /// The most books.
    pub const MAX_BOOKS: u32 = 1 << 16;

    /// A question about vectors of this dimension, with the number of favoured symbols that has the smallest variance.
    ///
    /// # Errors
    /// A dimension, a number of symbols (2 to 256) or of books (1 to 65536) out of range; an epsilon that a response cannot have.
    pub fn new(
        epsilon: Epsilon,
        dim: usize,
        symbols: u32,
        books: u32,
        coins: PublicCoins,
    ) -> Result<Self, LocalError> {
        let sizes = [
            ("dim", dim as i128, 1, Self::MAX_DIM as i128, "at least 1 and at most 65536"),
            ("symbols", symbols.into(), 2, Self::MAX_SYMBOLS.into(), "at least 2 and at most 256"),
            ("books", books.into(), 1, Self::MAX_BOOKS.into(), "at least 1 and at most 65536"),
        ];
        for (name, got, least, most, want) in sizes {
            if !(least..=most).contains(&got) {
                return Err(LocalError::OutOfRange { name, got, want });
            }
        }
        let mut best: Option<(f64, SubsetResponse)> = None;
        for (favoured, top_sum) in (1..symbols).zip(order::sums_of_largest(symbols)) {
            let response = SubsetResponse::new(epsilon, symbols, favoured)?;
            let gain = gain(&response, top_sum);
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, response));
            }
        }
        let (gain, response) = best.expect("two symbols or more");
        Ok(Self { dim, books, response, gain, coins })
    }

    /// The same question with other books.
    #[must_use]
    pub fn with_coins(&self, coins: PublicCoins) -> Self {
        Self { coins, ..self.clone() }
    }

    /// The number of coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How many books of directions there are: classes of clients.
    pub fn books(&self) -> u32 {
        self.books
    }

    /// What makes the symbol private.
    pub fn response(&self) -> &SubsetResponse {
        &self.response
    }

    /// A table for the answers of all clients.
    pub fn no_answers(&self) -> SymbolCounts {
        SymbolCounts::new(self.books, self.response.symbols())
    }

    /// What a client with this book does; with the remainder if there is no such book.
    pub fn answer(&self, book: u32) -> VectorAnswer<'_> {
        VectorAnswer { question: self, book: book % self.books }
    }

    /// Variance of a coordinate of the sum, by client, over books and answers.
    pub fn variance(&self) -> f64 {
        1.0 / (self.gain * self.gain)
    }

    /// What the clients of one book add to the variance of a coordinate, by client, if `alike` clients of each book have the same vector.
    ///
    /// It is the variance of the mean direction of a book around the vector: `(p^2 / K + (1 - p)^2 / (M - K)) / m^2`, `alike - 1` times.
    pub fn shared_variance(&self, alike: f64) -> f64 {
        let (p, favoured) = (self.response.favours(), f64::from(self.response.favoured()));
        let others = f64::from(self.response.symbols()) - favoured;
        let mean = p * p / favoured + (1.0 - p) * (1.0 - p) / others;
        (alike - 1.0).max(0.0) * mean * self.variance()
    }

    /// The most that one answer, forged or not, adds to a coordinate of the sum.
    pub fn largest_share(&self) -> f64 {
        f64::from(LARGEST) * self.unit()
    }

    /// The sum of the vectors of all clients, unbiased.
    ///
    /// # Errors
    /// [`LocalError::Counts`] for counts of another question.
    pub fn estimate(&self, counts: &SymbolCounts) -> Result<VectorSum, LocalError> {
        let symbols = self.response.symbols();
        counts.expect(self.books, symbols)?;
        let sums = counts
            .flat()
            .par_chunks(symbols as usize * 64)
            .zip((0..self.books).into_par_iter().step_by(64))
            .map(|(rows, first)| {
                let mut sums = vec![0_i64; self.dim];
                for (row, number) in rows.chunks_exact(symbols as usize).zip(first..) {
                    let book = Book::new(self.coins, number, self.dim + 1);
                    for (&count, symbol) in row.iter().zip(0..).filter(|(count, _)| **count > 0) {
                        book.add(symbol, i64::from(count), &mut sums);
                    }
                }
                sums
            })
            .reduce(
                || vec![0; self.dim],
                |mut sum, more| {
                    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                    sum
                },
            );
        Ok(VectorSum { sums, unit: self.unit() })
    }

    /// What a direction of length 1 in fixed point stands for.
    fn unit(&self) -> f64 {
        1.0 / (f64::from(ONE) * self.gain)
    }

    /// The inner products of a vector with all directions of a book, in fixed point.
    fn scores(&self, book: u32, part: Part<'_>) -> Vec<i64> {
        let (values, slack) = fixed(part, self.dim);
        let book = Book::new(self.coins, book, self.dim + 1);
        let first = part.first.min(self.dim);
        (0..self.response.symbols())
            .map(|symbol| {
                let last = i64::from(slack) * i64::from(book.at(symbol, self.dim));
                last + book.product(symbol, first, &values)
            })
            .collect()
    }
}

/// The mean inner product of a unit vector with the direction that is sent, where the largest have this sum.
fn gain(response: &SubsetResponse, top_sum: f64) -> f64 {
    let (p, favoured) = (response.favours(), f64::from(response.favoured()));
    let others = f64::from(response.symbols()) - favoured;
    top_sum * (p / favoured - (1.0 - p) / others)
}

/// A coordinate of 1, in the fixed point of vectors.
const UNIT: f64 = 32_768.0;

/// A vector in fixed point, and the coordinate that makes it as long as 1.
fn fixed(part: Part<'_>, dim: usize) -> (Vec<i32>, i32) {
    let kept = part.values.len().min(dim.saturating_sub(part.first));
    let finite = |x: &f64| if x.is_finite() { *x } else { 0.0 };
    let values: Vec<f64> = part.values[..kept].iter().map(finite).collect();
    // Relative to the largest, so that squares neither overflow nor vanish.
    let largest = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let relative = |x: f64| if largest > 0.0 { x / largest } else { 0.0 };
    let root = values.iter().map(|&x| relative(x).powi(2)).sum::<f64>().sqrt();
    let length = largest * root;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "at most 2^15 in size, and a cast saturates"
    )]
    let round = |x: f64| (x * UNIT).round() as i32;
    let scaled = |x: f64| if length > 1.0 { relative(x) / root } else { x };
    let slack = (1.0 - length * length).max(0.0).sqrt();
    (values.into_iter().map(|x| round(scaled(x))).collect(), round(slack))
}

/// A client with a book, about to send its vector. Using it for a second answer would cost twice.
#[derive(Clone, Copy)]
pub struct VectorAnswer<'q> {
    question: &'q CodebookVector,
    book: u32,
}

impl fmt::Debug for VectorAnswer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorAnswer").field("book", &self.book).finish_non_exhaustive()
    }
}

impl VectorAnswer<'_> {
    /// What the client sends, drawn from what pays for an answer.
    pub(crate) fn symbol(&self, vector: Private<Part<'_>>, draws: &mut Draws<'_>) -> u32 {
        let response = &self.question.response;
        let scores = vector.map(|part| self.question.scores(self.book, part));
        response.release_by_score(&scores.cells(response.symbols() as usize), draws)
    }
}

impl Algorithm for VectorAnswer<'_> {
    type Relation = ReplaceOne;
    type Data<'a> = Part<'a>;
    type Shape = ();
    /// A symbol.
    type Output = u32;
    type Error = LocalError;

    fn cost(&self) -> Receipt<ReplaceOne> {
        receipt("codebook-vector", &self.question.response)
    }

    fn shape(_: &Part<'_>) {}

    /// # Errors
    /// None: any coordinates are made into a vector of the question's dimension.
    fn check(&self, (): &()) -> Result<(), LocalError> {
        Ok(())
    }

    fn run(&self, vector: Private<Part<'_>>, draws: &mut Draws<'_>) -> u32 {
        self.symbol(vector, &mut draws.leaf(ANSWER, 0))
    }
}

#[cfg(test)]
mod tests;
