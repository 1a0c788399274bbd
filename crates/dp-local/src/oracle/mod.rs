//! How many clients have each of so many cells, from one symbol each.
//!
//! Two answers to the same question: [`LocalHashing`] has the least noise, [`HadamardResponse`] the fastest decoding and no collisions.
//! [`Oracle::best`] takes the one with the smaller variance for a number of clients.

mod hadamard;
mod hashing;

use dp_accounting::{Budget, Epsilon, Loss, Receipt, ReplaceOne, Step};
use dp_mechanism::{Algorithm, Draws, Private, SubsetResponse};

pub use hadamard::HadamardResponse;
pub use hashing::LocalHashing;

use crate::{LocalError, PublicCoins, SymbolCounts};

/// The step of a receipt that pays for an answer.
pub(crate) const ANSWER: &str = "answer of one client";

/// A question about cells that each client answers with one symbol.
///
/// Clients are divided into public classes, by their number and never by their record; a class says which symbol stands for which
/// cell. The answer is that symbol through a [`SubsetResponse`], so it is `epsilon`-DP for any class and any cell.
pub trait FrequencyOracle: Sync {
    /// How many cells there are.
    fn cells(&self) -> u32;

    /// How many classes of clients there are.
    fn classes(&self) -> u32;

    /// What makes the symbol private.
    fn response(&self) -> &SubsetResponse;

    /// The symbol that stands for a cell in a class. A cell that there is not stands for the last one.
    fn symbol(&self, class: u32, cell: u32) -> u32;

    /// An unbiased estimate of the number of clients in every cell.
    ///
    /// # Errors
    /// [`LocalError::Counts`] for counts of another question.
    fn estimate(&self, counts: &SymbolCounts) -> Result<Vec<f64>, LocalError>;

    /// The variance of the estimate for a cell with a `share` of the clients, by the number of clients.
    ///
    /// `crowding` is `n` times the sum of squared shares of all cells: what collisions depend on.
    fn variance(&self, share: f64, crowding: f64) -> f64;

    /// A table for the answers of all clients.
    fn no_answers(&self) -> SymbolCounts {
        SymbolCounts::new(self.classes(), self.response().symbols())
    }
}

/// A client of a class, about to say which cell it is in. Using it for a second answer would cost twice.
#[derive(Clone, Copy, Debug)]
pub struct CellAnswer<'o, O> {
    oracle: &'o O,
    class: u32,
}

impl<'o, O: FrequencyOracle> CellAnswer<'o, O> {
    /// A client of this class; of the remainder if there is no such class.
    pub fn new(oracle: &'o O, class: u32) -> Self {
        Self { oracle, class: class % oracle.classes() }
    }

    /// What the client sends, drawn from what pays for an answer.
    pub(crate) fn symbol(&self, cell: Private<u32>, draws: &mut Draws<'_>) -> u32 {
        let symbol = cell.map(|cell| self.oracle.symbol(self.class, cell));
        self.oracle.response().release(symbol, draws)
    }
}

impl<O: FrequencyOracle> Algorithm for CellAnswer<'_, O> {
    type Relation = ReplaceOne;
    /// The cell.
    type Data<'a> = u32;
    type Shape = ();
    /// A symbol.
    type Output = u32;
    type Error = LocalError;

    fn cost(&self) -> Receipt<ReplaceOne> {
        receipt("cell", self.oracle.response())
    }

    fn shape(_: &u32) {}

    /// # Errors
    /// None: a cell that there is not stands for the last one.
    fn check(&self, (): &()) -> Result<(), LocalError> {
        Ok(())
    }

    fn run(&self, cell: Private<u32>, draws: &mut Draws<'_>) -> u32 {
        self.symbol(cell, &mut draws.leaf(ANSWER, 0))
    }
}

/// Pure, and the whole of it.
pub(crate) fn receipt(mechanism: &str, response: &SubsetResponse) -> Receipt<ReplaceOne> {
    let loss = response.loss();
    let epsilon = loss.pure().map_or(0.0, Epsilon::get);
    let budget = Budget::new(epsilon, 0.0).expect("of a loss");
    let spent = Step::spend(ANSWER, Loss::Pure { epsilon: budget.epsilon() });
    Receipt::new(mechanism, ReplaceOne, budget, spent)
}

/// The oracle with less noise.
#[derive(Clone, Debug, PartialEq)]
pub enum Oracle {
    /// Less noise where epsilon is large.
    Hashing(LocalHashing),
    /// No collisions: as little noise where epsilon is small.
    Hadamard(HadamardResponse),
}

impl Oracle {
    /// Collisions are judged for data of which the squared shares of all cells add up to this: sixteen cells that are equally full.
    pub const PLANNED_CONCENTRATION: f64 = 1.0 / 16.0;

    /// The oracle whose estimate of an empty cell has the smaller variance, for so many clients.
    ///
    /// # Errors
    /// No cells or too many for both, no clients, an epsilon that a response cannot have.
    pub fn best(
        epsilon: Epsilon,
        cells: u32,
        clients: u32,
        coins: PublicCoins,
    ) -> Result<Self, LocalError> {
        let crowding = Self::PLANNED_CONCENTRATION * f64::from(clients);
        let hashing = LocalHashing::new(epsilon, cells, clients, coins)?;
        Ok(match HadamardResponse::new(epsilon, cells) {
            Ok(other) if other.variance(0.0, crowding) <= hashing.variance(0.0, crowding) => {
                Self::Hadamard(other)
            }
            _ => Self::Hashing(hashing),
        })
    }

    fn chosen(&self) -> &dyn FrequencyOracle {
        match self {
            Self::Hashing(hashing) => hashing,
            Self::Hadamard(hadamard) => hadamard,
        }
    }
}

impl FrequencyOracle for Oracle {
    fn cells(&self) -> u32 {
        self.chosen().cells()
    }

    fn classes(&self) -> u32 {
        self.chosen().classes()
    }

    fn response(&self) -> &SubsetResponse {
        self.chosen().response()
    }

    fn symbol(&self, class: u32, cell: u32) -> u32 {
        self.chosen().symbol(class, cell)
    }

    fn estimate(&self, counts: &SymbolCounts) -> Result<Vec<f64>, LocalError> {
        self.chosen().estimate(counts)
    }

    fn variance(&self, share: f64, crowding: f64) -> f64 {
        self.chosen().variance(share, crowding)
    }
}

/// Refuses a number of cells that is not between 1 and the most.
fn check_cells(cells: u32, most: u32) -> Result<(), LocalError> {
    if (1..=most).contains(&cells) { Ok(()) } else { Err(LocalError::Cells { got: cells, most }) }
}

#[cfg(test)]
mod tests;
