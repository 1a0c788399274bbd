//! Integer tables that records add up to.

use std::fmt;

use super::{Asked, Question, StateError, framed, unframed};
use crate::{Cells, Private};

/// Most records of a table: with at most `2^24` per record and entry no sum overflows.
///
/// Any smaller bound would tell something about the number of records where that is private.
pub const MAX_ROWS: u64 = (1 << 39) - 1;

/// Why a table was refused, or could not be made. None holds a number of a table: those are private.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Bytes are not what they should be, of another version, or not whole.
    #[error("the bytes are not a whole table, question or state of version 1")]
    Damaged,
    /// It was made for another plan.
    #[error("the table or state belongs to another plan")]
    OtherPlan,
    /// It was made for another pass of this plan.
    #[error("the table answers pass {got}, wanted {want}")]
    OtherPass {
        /// The pass that is asked now.
        want: u32,
        /// That of the table.
        got: u32,
    },
    /// It answers another question of a pass of this number.
    #[error("the table answers another question")]
    OtherQuestion,
    /// It has not as many entries as the question asks for.
    #[error("the table has {got} entries, the question asks for {want}")]
    Entries {
        /// By the question.
        want: usize,
        /// In the table.
        got: usize,
    },
    /// There are more or fewer records than in the first pass, or than the plan is made for.
    #[error(
        "the table is not one of all records, each once: their number is not that of the first pass, or of the plan"
    )]
    OtherRows,
    /// There is no memory for so many entries.
    #[error("a table of {entries} entries does not fit into memory")]
    Memory {
        /// As many as the question asks for.
        entries: usize,
    },
    /// More records than integers can hold.
    #[error("a table holds at most {MAX_ROWS} records")]
    TooManyRows,
    /// No records have such entries.
    #[error("no records can make this table")]
    Impossible,
    /// Records are not of the shape that the question asks about, or that the plan is for.
    #[error(
        "the records do not have the shape that the question asks about, or that the plan is for"
    )]
    Shape,
    /// What the plan asks has no table that could be added up: it needs all records at once.
    #[error("a question of this plan needs all records at once; it has no table")]
    NoTable,
    /// The release is made.
    #[error("all passes have been answered")]
    Finished,
    /// Bytes are whole and of this plan, and say what no run of it leaves behind.
    #[error(transparent)]
    State(#[from] StateError),
    /// More has been drawn than the receipt pays for.
    #[error("more has been drawn for this state than the receipt of its plan has")]
    Overdrawn,
}

/// What a table answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct About {
    pub(super) plan: u64,
    pub(super) pass: u32,
    pub(super) question: u64,
}

/// What a signature begins with: the version of tables.
const VERSION: &str = "dptable1";

impl About {
    pub(super) fn signature(self) -> String {
        let Self { plan, pass, question } = self;
        format!("{VERSION}-{plan:016x}-{pass}-{question:016x}")
    }

    /// None if it is no signature of this version.
    pub(super) fn parse(signature: &str) -> Option<Self> {
        let mut words = signature.split('-');
        let [version, plan, pass, question] = [(); 4].map(|()| words.next());
        let hash = |word: Option<&str>| u64::from_str_radix(word?, 16).ok();
        let (plan, pass, question) = (hash(plan)?, pass?.parse().ok()?, hash(question)?);
        let about = Self { plan, pass, question };
        (version == Some(VERSION) && words.next().is_none() && about.signature() == signature)
            .then_some(about)
    }

    pub(super) fn is_of(self, asked: Self) -> Result<(), TableError> {
        if self.plan != asked.plan {
            Err(TableError::OtherPlan)
        } else if self.pass != asked.pass {
            Err(TableError::OtherPass { want: asked.pass, got: self.pass })
        } else if self.question != asked.question {
            Err(TableError::OtherQuestion)
        } else {
            Ok(())
        }
    }
}

/// What some of the records add up to, for one question. Made by a [`Tally`], or from bytes.
///
/// Merging is associative and commutative, and the table of no records changes nothing.
///
/// **Nothing here is private yet.** A table and its bytes are as confidential as the records.
#[derive(Clone, PartialEq, Eq)]
pub struct Table {
    pub(super) about: About,
    pub(super) rows: u64,
    pub(super) entries: Vec<i64>,
}

/// Neighbours print the same.
impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = &self.entries.len();
        f.debug_struct("Table")
            .field("pass", &self.about.pass)
            .field("entries", entries)
            .finish_non_exhaustive()
    }
}

/// The first bytes: what they are, and in which version.
const MAGIC: &[u8; 8] = b"dptable1";

impl Table {
    /// Adds the table of other records.
    ///
    /// # Errors
    /// That it answers something else, or that there are more than [`MAX_ROWS`] records. Nothing has changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), TableError> {
        other.about.is_of(self.about)?;
        let (want, got) = (self.entries.len(), other.entries.len());
        if want != got {
            return Err(TableError::Entries { want, got });
        }
        let rows = self.rows.saturating_add(other.rows);
        if rows > MAX_ROWS {
            return Err(TableError::TooManyRows);
        }
        self.rows = rows;
        // Tables of records cannot reach the ends of the range; one that is not may not wrap around.
        for (entry, other) in self.entries.iter_mut().zip(&other.entries) {
            *entry = entry.saturating_add(*other);
        }
        Ok(())
    }

    /// How many records it is of: as confidential as the entries.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes in memory: public.
    pub fn size(&self) -> usize {
        size_of::<Self>() + 8 * self.entries.len()
    }

    /// A version, the hash of the plan, the number of the pass, the hash of the question, the number of records, all entries, and a
    /// checksum: little endian, 8 bytes each, so that their length is public.
    pub fn to_bytes(&self) -> Vec<u8> {
        let About { plan, pass, question } = self.about;
        let mut bytes = Vec::with_capacity(8 * (4 + self.entries.len()));
        for number in [plan, pass.into(), question, self.rows] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        self.entries.iter().for_each(|entry| bytes.extend_from_slice(&entry.to_le_bytes()));
        framed(MAGIC, &bytes)
    }

    /// A table from its bytes.
    ///
    /// # Errors
    /// [`TableError::Damaged`] if these are no table, or of another version, or not whole.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TableError> {
        let (numbers, rest) = unframed(MAGIC, bytes)?.as_chunks::<8>();
        let ([plan, pass, question, rows, entries @ ..], []) = (numbers, rest) else {
            return Err(TableError::Damaged);
        };
        let [plan, pass, question, rows] =
            [plan, pass, question, rows].map(|n| u64::from_le_bytes(*n));
        let pass = u32::try_from(pass).map_err(|_| TableError::Damaged)?;
        let entries = entries.iter().map(|entry| i64::from_le_bytes(*entry)).collect();
        Ok(Self { about: About { plan, pass, question }, rows, entries })
    }

    /// Refuses what does not answer this question, and what no records can have made.
    pub(super) fn check<Q: Question>(&self, asked: &Asked<Q>) -> Result<(), TableError> {
        self.about.is_of(asked.about())?;
        let (want, got) = (asked.question.entries(), self.entries.len());
        if want != got {
            return Err(TableError::Entries { want, got });
        }
        if self.rows > MAX_ROWS {
            return Err(TableError::TooManyRows);
        }
        if asked.question.is_possible(self.rows, &self.entries) {
            Ok(())
        } else {
            Err(TableError::Impossible)
        }
    }

    pub(super) fn counted(&self) -> Counted {
        let entries = Private::owned(self.entries.clone()).cells(self.entries.len());
        Counted { rows: Private::new(self.rows), entries }
    }
}

/// A table as a mechanism sees it.
#[derive(Debug)]
pub struct Counted {
    /// How many records there are.
    pub rows: Private<u64>,
    /// As many as the question asks for.
    pub entries: Cells<i64>,
}

/// A table that records are counted into.
pub struct Tally<Q: Question> {
    asked: Asked<Q>,
    counter: Q::Counter,
    table: Table,
}

/// Neighbours print the same.
impl<Q: Question> fmt::Debug for Tally<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tally").field("table", &self.table).finish_non_exhaustive()
    }
}

impl<Q: Question> Tally<Q> {
    pub(super) fn new(asked: &Asked<Q>) -> Result<Self, TableError> {
        let counter = asked.question.counter().ok_or(TableError::NoTable)?;
        // Asked for first, so that a question which is too large is refused and does not end the program; not a page of it is touched.
        let entries = asked.question.entries();
        let room = Vec::<i64>::new().try_reserve_exact(entries);
        room.map_err(|_| TableError::Memory { entries })?;
        let entries = vec![0; entries];
        let table = Table { about: asked.about(), rows: 0, entries };
        Ok(Self { asked: asked.clone(), counter, table })
    }

    /// Counts these records.
    ///
    /// # Errors
    /// [`TableError::Shape`], [`TableError::TooManyRows`]. Nothing has been counted then.
    pub fn add(&mut self, chunk: Q::Chunk<'_>) -> Result<(), TableError> {
        let rows = self.asked.question.rows(chunk).ok_or(TableError::Shape)?;
        let rows = self.table.rows.saturating_add(rows);
        if rows > MAX_ROWS {
            return Err(TableError::TooManyRows);
        }
        self.table.rows = rows;
        Q::count(&mut self.counter, chunk, &mut self.table.entries);
        Ok(())
    }

    /// Adds what others have counted, which is a table of records as well.
    ///
    /// # Errors
    /// Those of [`Table::merge`], and [`TableError::Impossible`]. Nothing has changed then.
    pub fn merge(&mut self, other: &Table) -> Result<(), TableError> {
        other.check(&self.asked)?;
        self.table.merge(other)
    }

    /// What has been counted.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// What has been counted.
    pub fn into_table(self) -> Table {
        self.table
    }
}
