//! Mechanisms as a few passes over the data: a public question, an integer table that answers it, the next question.
//!
//! What such a mechanism needs of the records is small: tables of integers that records add up to. So the records may be anywhere: in
//! memory, in the parts of a file, on the machines of a query engine. Whoever has them counts, in any order and in any number of parts;
//! [`Passes`] checks the table, draws the noise, and asks the next question.
//!
//! - [`Question`]: what is counted, as public bytes, and how one record counts;
//! - [`Table`]: what some of the records count, and how many they are; merged tables are those of all records;
//! - [`ByPasses`]: a mechanism that asks and answers. Its [`run`](crate::Algorithm::run) is a loop over the same two functions, so that
//!   a release from records in memory, an audit and a release by passes are one code path;
//! - [`Passes`]: a release by passes that can be kept in a file between any two of them.
//!
//! # What is not protected
//! **Tables are exact**: they, their bytes and [`Passes`] are as confidential as the records. Only questions and the release are not.

mod machine;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub use machine::{ByPasses, Next, Passes, ReleaseOf};
pub use state::StateError;
pub use table::{Counted, MAX_ROWS, Table, TableError, Tally};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What one pass asks of all records: public, and small.
///
/// What a record adds to a table is a function of this one record and of the question, and an integer of at most `2^24` in absolute
/// value, so that no table of [`MAX_ROWS`] records overflows.
pub trait Question: Clone + Serialize + DeserializeOwned {
    /// Some of the records.
    type Chunk<'a>: Copy;
    /// What counting needs and a question does not carry, made once for many chunks.
    type Counter;

    /// None where no table answers this question, or where the bytes that it came from were no whole question.
    fn counter(&self) -> Option<Self::Counter>;

    /// How many integers the answer has.
    fn entries(&self) -> usize;

    /// How many records a chunk has; none if it has not the shape of records.
    fn rows(&self, chunk: Self::Chunk<'_>) -> Option<u64>;

    /// Adds what these records count to the entries.
    fn count(counter: &mut Self::Counter, chunk: Self::Chunk<'_>, entries: &mut [i64]);

    /// Whether so many records can have these entries. It must hold for all records there can be, whatever their values: it is there for
    /// tables that are not what they say.
    fn is_possible(&self, rows: u64, entries: &[i64]) -> bool;
}

/// A question with the plan that asks it and the number of its pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked<Q> {
    plan: u64,
    pass: u32,
    question: Q,
}

/// The first bytes of a question: what it is, and in which version.
const MAGIC: &[u8; 8] = b"dpquest1";

impl<Q: Question> Asked<Q> {
    /// The number of the pass, from 0.
    pub fn pass(&self) -> u32 {
        self.pass
    }

    /// What is asked.
    pub fn question(&self) -> &Q {
        &self.question
    }

    /// An empty table with what it takes to count.
    ///
    /// # Errors
    /// [`TableError::NoTable`], [`TableError::Memory`].
    pub fn tally(&self) -> Result<Tally<Q>, TableError> {
        Tally::new(self)
    }

    /// A version, the question, and a checksum. All of it is public.
    pub fn to_bytes(&self) -> Vec<u8> {
        framed(MAGIC, &plain(self))
    }

    /// A question from its bytes.
    ///
    /// # Errors
    /// [`TableError::Damaged`] if these are no question, or of another version, or not whole.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TableError> {
        read(unframed(MAGIC, bytes)?)
    }

    /// The version of tables, the hash of the plan, the number of the pass and the hash of the question, as a word: what a table says that
    /// answers this, where somebody else has counted it.
    pub fn signature(&self) -> String {
        self.about().signature()
    }

    /// A table that somebody else has counted, who says that it answers the question of this [`signature`](Self::signature): so many
    /// records, and what they add up to at each entry where that is not 0.
    ///
    /// # Errors
    /// [`TableError::Damaged`] if there is no such signature or entry, or one twice; that it answers something else.
    pub fn table(
        &self,
        signature: &str,
        rows: u64,
        entries: impl IntoIterator<Item = (usize, i64)>,
    ) -> Result<Table, TableError> {
        let about = table::About::parse(signature).ok_or(TableError::Damaged)?;
        about.is_of(self.about())?;
        let mut all = vec![None; self.question.entries()];
        for (entry, sum) in entries {
            match all.get_mut(entry) {
                Some(empty @ None) => *empty = Some(sum),
                _ => return Err(TableError::Damaged),
            }
        }
        let entries = all.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Table { about, rows, entries })
    }

    /// The statement that counts a table in SQL, from one that defines, as parts of a `WITH`, `records`, all that are counted, and `cells`, with
    /// whole numbers `entry` and `value`.
    ///
    /// Of a line of the result, `signature` is [`signature`](Self::signature), `entry` the number of an entry of the table, and `value` what
    /// the records add up to there; entries that are 0 may be missing. Two more lines have, as `entry`, the words `rows`, for the number of
    /// records, and `cells`, for that of the other lines, so that one which is lost is missed. All of it is public, but for what it counts.
    pub fn sql(&self, parts: &str) -> String {
        let signature = self.signature();
        format!(
            "WITH {parts}\n\
             SELECT '{signature}' AS signature, CAST(entry AS STRING) AS entry, CAST(value AS BIGINT) AS value FROM cells\n\
             UNION ALL SELECT '{signature}', 'rows', CAST(COUNT(*) AS BIGINT) FROM records\n\
             UNION ALL SELECT '{signature}', 'cells', CAST(COUNT(*) AS BIGINT) FROM cells\n"
        )
    }

    fn about(&self) -> table::About {
        table::About { plan: self.plan, pass: self.pass, question: hash(&plain(&self.question)) }
    }
}

/// 64-bit FNV-1a: finds damage and mistakes, and does not stop a forger.
fn hash(bytes: &[u8]) -> u64 {
    let next = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, next)
}

fn plain(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("lists of known length and numbers always serialise")
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, TableError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(TableError::Damaged),
    }
}

fn framed(magic: &[u8], content: &[u8]) -> Vec<u8> {
    let mut bytes = [magic, content].concat();
    bytes.extend_from_slice(&hash(&bytes).to_le_bytes());
    bytes
}

fn unframed<'a>(magic: &[u8], bytes: &'a [u8]) -> Result<&'a [u8], TableError> {
    let (whole, sum) = bytes.split_last_chunk::<8>().ok_or(TableError::Damaged)?;
    if hash(whole) != u64::from_le_bytes(*sum) {
        return Err(TableError::Damaged);
    }
    whole.strip_prefix(magic).ok_or(TableError::Damaged)
}
