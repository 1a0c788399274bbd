//! Any function of a record and a set, held to the contract.

use rayon::prelude::*;

use super::{Gains, Objective};
use crate::{CombinatorialError, Sizes};

/// A sum over records of a function that the caller provides.
///
/// # Guarantee
/// The [contract](Objective) holds whatever the function returns, as long as it is a function of its
/// two arguments: its values are cut at the public `most_credit`, a decrease counts as no gain, and
/// once a record has been credited `most_credit` in a run it contributes no more. For a function that
/// is monotone, starts from 0 and stays below `most_credit`, none of that changes anything. Whether it
/// is submodular matters for utility only.
///
/// # Example
/// ```
/// use dp_combinatorial::submodular::{Oracle, exact_value};
///
/// // A user gets the length of the longest of the chosen routes, up to what it can walk.
/// let routes: [u64; 3] = [4, 9, 6];
/// let walks: [u64; 2] = [5, 8];
/// let value = |walk: &u64, chosen: &[usize]| {
///     chosen.iter().map(|&route| routes[route]).filter(|length| length <= walk).max().unwrap_or(0)
/// };
/// let oracle = Oracle::new(&walks, 3, 9, value)?;
/// assert_eq!(exact_value(&oracle, &[0, 2]), 4 + 6);
/// # Ok::<(), dp_combinatorial::CombinatorialError>(())
/// ```
///
/// # Complexity
/// `records * elements` calls per pick, spread over threads; results do not depend on their number.
pub struct Oracle<'a, R, F> {
    records: &'a [R],
    elements: usize,
    most_credit: u64,
    value: F,
    sizes: Sizes,
}

impl<'a, R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> Oracle<'a, R, F> {
    /// The most that can be credited to a record.
    pub const MOST_CREDIT: u64 = 1 << 24;

    /// `value(record, set)` is what a record gets out of a set of distinct elements, in the order in
    /// which they were picked. It must not fail.
    ///
    /// # Errors
    /// [`CombinatorialError`] if there is no element or more than `2^24`, or if `most_credit` is zero or above
    /// [`MOST_CREDIT`](Self::MOST_CREDIT).
    pub fn new(
        records: &'a [R],
        elements: usize,
        most_credit: u64,
        value: F,
    ) -> Result<Self, CombinatorialError> {
        for (name, zero) in [("elements", elements == 0), ("most credit", most_credit == 0)] {
            if zero {
                return Err(CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" });
            }
        }
        super::matroid::check_size("elements", elements)?;
        if most_credit > Self::MOST_CREDIT {
            let (name, got) = ("most credit", most_credit.into());
            return Err(CombinatorialError::OutOfRange { name, got, want: "at most 2^24" });
        }
        Ok(Self { records, elements, most_credit, value, sizes: Sizes::default() })
    }

    /// The same sum, computed in other parts, for audits.
    #[doc(hidden)]
    #[must_use]
    pub fn with_sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// Records that one thread takes at a time.
    pub(super) fn chunk(&self) -> usize {
        self.sizes.records
    }

    /// What `record` gets out of `set`.
    pub(super) fn value(&self, record: usize, set: &[usize]) -> u64 {
        (self.value)(&self.records[record], set).min(self.most_credit)
    }
}

impl<R, F> std::fmt::Debug for Oracle<'_, R, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Oracle");
        shown.field("elements", &self.elements).field("most_credit", &self.most_credit);
        shown.finish_non_exhaustive()
    }
}

impl<R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> Objective for Oracle<'_, R, F> {
    fn elements(&self) -> usize {
        self.elements
    }

    fn most_credit(&self) -> u64 {
        self.most_credit
    }

    fn records(&self) -> usize {
        self.records.len()
    }

    fn start(&self, kept: &[bool]) -> Box<dyn Gains + '_> {
        assert_eq!(kept.len(), self.records(), "one entry per record");
        let accounts = (0..self.records.len())
            .filter(|&record| kept[record])
            .map(|record| Account { record, value: self.value(record, &[]) })
            .collect();
        let mut run = Run { oracle: self, accounts, picked: Vec::new(), gains: Vec::new() };
        run.measure();
        Box::new(run)
    }
}

/// What a record has got so far. Values are cut at the most credit and this one never falls, so over a run its rises, which are what
/// the record is credited, add up to the most credit at most.
#[derive(Clone, Copy)]
pub(super) struct Account {
    pub(super) record: usize,
    /// The largest value so far.
    pub(super) value: u64,
}

impl Account {
    /// What a value `after` would add: nothing if it is lower.
    pub(super) fn gain(&self, after: u64) -> u64 {
        after.saturating_sub(self.value)
    }

    pub(super) fn credit(&mut self, after: u64) {
        self.value = self.value.max(after);
    }
}

struct Run<'a, R, F> {
    oracle: &'a Oracle<'a, R, F>,
    accounts: Vec<Account>,
    picked: Vec<usize>,
    gains: Vec<i64>,
}

impl<R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> Run<'_, R, F> {
    /// The gains of all elements.
    fn measure(&mut self) {
        let (oracle, picked) = (self.oracle, &self.picked);
        let of_chunk = |chunk: &[Account]| {
            let mut gains = vec![0; oracle.elements];
            let mut with = picked.clone();
            for (element, gain) in gains.iter_mut().enumerate() {
                if !picked.contains(&element) {
                    with.push(element);
                    let of_one =
                        |account: &Account| account.gain(oracle.value(account.record, &with));
                    *gain = chunk.iter().map(of_one).sum::<u64>().cast_signed();
                    with.pop();
                }
            }
            gains
        };
        self.gains = sum_of_chunks(&self.accounts, (oracle.chunk(), oracle.elements), of_chunk);
    }
}

/// Adds up what `of_chunk` finds in each chunk of so many `items`.
pub(super) fn sum_of_chunks<T: Sync>(
    items: &[T],
    (chunk, elements): (usize, usize),
    of_chunk: impl Fn(&[T]) -> Vec<i64> + Send + Sync,
) -> Vec<i64> {
    let add = |mut sum: Vec<i64>, more: Vec<i64>| {
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        sum
    };
    items.par_chunks(chunk).map(of_chunk).reduce(|| vec![0; elements], add)
}

impl<R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> Gains for Run<'_, R, F> {
    fn gains(&self) -> &[i64] {
        &self.gains
    }

    fn pick(&mut self, element: usize) {
        if !self.picked.contains(&element) {
            self.picked.push(element);
            let (oracle, picked) = (self.oracle, &self.picked);
            self.accounts.par_iter_mut().with_min_len(oracle.chunk()).for_each(|account| {
                account.credit(oracle.value(account.record, picked));
            });
            self.measure();
        }
    }
}
