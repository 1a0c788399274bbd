//! Mechanisms that ask and answer, and a release that goes from pass to pass.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{
    Asked, Counted, Question, StateError, Table, TableError, framed, hash, plain, read, unframed,
};
use crate::meter::Spent;
use crate::{Algorithm, CryptoRng, Draws, Release, ReleaseRng, SecureSource, Source};

/// What follows from an answer.
#[derive(Debug)]
pub enum Next<S, Q, O> {
    /// Another question, and what is remembered until it is answered: released and public values only.
    Ask(S, Q),
    /// The release.
    Done(O),
}

impl<S, Q, O> Next<S, Q, O> {
    /// The same for a mechanism of which this one is a part: what it remembers is a part of what that one does.
    pub fn map_state<T>(self, of_whole: impl FnOnce(S) -> T) -> Next<T, Q, O> {
        match self {
            Self::Ask(state, question) => Next::Ask(of_whole(state), question),
            Self::Done(output) => Next::Done(output),
        }
    }
}

/// A mechanism that needs of the records nothing but a few tables of integers.
pub trait ByPasses: Algorithm {
    /// What it asks.
    type Question: Question;
    /// What it remembers between two questions: released and public values only.
    type State: Serialize + DeserializeOwned;

    /// Every setting that decides what is asked and what noise the answers get: two plans that differ in one must not mix.
    fn identity(&self) -> impl Serialize;

    /// How many records there have to be, where that is public.
    fn public_rows(&self) -> Option<u64> {
        None
    }

    /// What is public of the records that this question counts, if they are so many: what [`check`](Algorithm::check) is asked of each table
    /// before anything is drawn on it, as of records in memory.
    fn shape_of(&self, question: &Self::Question, rows: u64) -> Self::Shape;

    /// Whether every question has a table: not where one needs all records at once. [`run`](Algorithm::run) may ask such a question.
    fn has_tables(&self) -> bool {
        true
    }

    /// Whether a run of this plan can have left this state behind with this question. Both may have come from anywhere: what passes here must not
    /// make [`answer`](Self::answer) panic. Most states say which question goes with them, and need little else.
    ///
    /// # Errors
    /// [`TableError::State`] with the value and the limit; [`TableError::OtherQuestion`].
    fn fits(&self, state: &Self::State, question: &Self::Question) -> Result<(), TableError>;

    /// The first question.
    fn first(&self) -> (Self::State, Self::Question);

    /// Draws on what was counted, and goes on. It is total, as [`run`](Algorithm::run) is, for whatever [`Question::is_possible`] lets pass.
    fn answer(
        &self,
        state: Self::State,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<Self::State, Self::Question, Self::Output>;
}

/// What a plan releases.
pub type ReleaseOf<P> = Release<<P as Algorithm>::Output, <P as Algorithm>::Relation>;

/// One release, pass by pass.
///
/// Tables are checked before anything is drawn. Between two passes it can be kept as bytes and taken up again from them, on the condition
/// that only one copy goes on: keep the table of a pass, then [`answer`](Self::answer) it, then keep these bytes, and only then show
/// somebody the next question, or the release. A process that dies before loses draws that nobody has seen; one that shows first could draw
/// the same pass again. Nothing here knows of other copies: who keeps states where several may be taken up needs a lease, as sessions of
/// streams have.
///
/// Draws of all passes are charged to one receipt, also across bytes; a state is bound to the receipt and the settings of its plan.
///
/// **As confidential as the records**: it knows how many there are.
pub struct Passes<P: ByPasses> {
    pub(super) plan: P,
    pub(super) kept: Kept<P::State, P::Question>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Kept<S, Q> {
    pub(super) asked: Asked<Q>,
    /// None once the release is made.
    pub(super) state: Option<S>,
    /// As of the first pass; of fixed length, as all that is private.
    pub(super) rows: Option<[u8; 8]>,
    pub(super) spent: Spent,
}

/// Neighbours print the same.
impl<P: ByPasses> fmt::Debug for Passes<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passes").field("pass", &self.kept.asked.pass).finish_non_exhaustive()
    }
}

/// The first bytes: what they are, and in which version.
const MAGIC: &[u8; 8] = b"dppasse1";

impl<P: ByPasses> Passes<P> {
    /// A release that nothing has been drawn for.
    ///
    /// # Errors
    /// [`TableError::NoTable`] if a question of this plan has no table.
    pub fn new(plan: P) -> Result<Self, TableError> {
        if !plan.has_tables() {
            return Err(TableError::NoTable);
        }
        let (state, question) = plan.first();
        let asked = Asked { plan: plan_hash(&plan), pass: 0, question };
        asked.tally()?;
        let kept = Kept { asked, state: Some(state), rows: None, spent: Spent::default() };
        Ok(Self { plan, kept })
    }

    /// A release that goes on.
    ///
    /// # Errors
    /// [`TableError::Damaged`], [`TableError::OtherPlan`]; [`TableError::State`], [`TableError::OtherQuestion`], [`TableError::NoTable`] and
    /// [`TableError::Overdrawn`] of bytes that are whole and that no run of this plan has left behind.
    pub fn from_bytes(plan: P, bytes: &[u8]) -> Result<Self, TableError> {
        let kept: Kept<P::State, P::Question> = read(unframed(MAGIC, bytes)?)?;
        if kept.asked.plan != plan_hash(&plan) {
            return Err(TableError::OtherPlan);
        }
        if !kept.spent.is_of(&plan.cost()) {
            return Err(TableError::Damaged);
        }
        let Kept { asked, state, rows, spent } = &kept;
        let begun = usize::from(asked.pass > 0 || state.is_none());
        if !spent.is_within(&plan.cost()) || (begun == 0 && !spent.is_nothing()) {
            return Err(TableError::Overdrawn);
        }
        let with_rows = usize::from(rows.is_some());
        StateError::unless_equal("whether it has a number of records", with_rows, begun)?;
        if !plan.has_tables() {
            return Err(TableError::NoTable);
        }
        // After the release, the last question is still there to be looked at.
        asked.tally()?;
        if let Some(state) = state {
            plan.fits(state, &asked.question)?;
        }
        Ok(Self { plan, kept })
    }

    /// What [`from_bytes`](Self::from_bytes) goes on from. It holds no randomness.
    pub fn to_bytes(&self) -> Vec<u8> {
        framed(MAGIC, &plain(&self.kept))
    }

    /// The question of this pass.
    pub fn asked(&self) -> &Asked<P::Question> {
        &self.kept.asked
    }

    /// The plan.
    pub fn plan(&self) -> &P {
        &self.plan
    }

    /// Refuses a table that is not that of all records, each once, for this question: what [`answer`](Self::answer) does first.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn check(&self, table: &Table) -> Result<(), TableError> {
        if self.kept.state.is_none() {
            return Err(TableError::Finished);
        }
        table.check(&self.kept.asked)?;
        let is_of_all = |rows: Option<u64>| rows.is_none_or(|rows| rows == table.rows());
        if !is_of_all(self.kept.rows.map(u64::from_le_bytes)) || !is_of_all(self.plan.public_rows())
        {
            return Err(TableError::OtherRows);
        }
        let shape = self.plan.shape_of(&self.kept.asked.question, table.rows());
        self.plan.check(&shape).map_err(|_| TableError::Shape)
    }

    /// Draws on the table of all records. The release, if this was the last pass.
    ///
    /// # Errors
    /// Those of [`check`](Self::check); nothing has been drawn then. And [`TableError::Overdrawn`] of a state that was made up, which has more draws
    /// left than its receipt: nothing comes out then, and it goes on no more.
    pub fn answer(
        &mut self,
        table: &Table,
        rng: &mut ReleaseRng,
    ) -> Result<Option<ReleaseOf<P>>, TableError> {
        self.simulate(table, rng)
    }

    /// The same code with a generator of the caller's choice, for tests and evaluations on data that may be published.
    ///
    /// Who knows the seed knows the noise: what comes out is not private.
    ///
    /// # Errors
    /// Those of [`answer`](Self::answer).
    pub fn simulate<R: CryptoRng + ?Sized>(
        &mut self,
        table: &Table,
        rng: &mut R,
    ) -> Result<Option<ReleaseOf<P>>, TableError> {
        let output = self.replay(table, &mut SecureSource::new(rng))?;
        Ok(output.map(|output| Release { output, receipt: self.plan.cost() }))
    }

    /// The same code with any source of draws, for audits.
    ///
    /// # Errors
    /// Those of [`answer`](Self::answer).
    pub fn replay(
        &mut self,
        table: &Table,
        source: &mut dyn Source,
    ) -> Result<Option<P::Output>, TableError> {
        self.check(table)?;
        let state = self.kept.state.take().ok_or(TableError::Finished)?;
        let (plan, receipt) = (&self.plan, self.plan.cost());
        let next = Draws::resumed(source, &receipt, &mut self.kept.spent, |draws| {
            plan.answer(state, &table.counted(), draws)
        });
        let next = next.ok_or(TableError::Overdrawn)?;
        self.kept.rows = Some(table.rows().to_le_bytes());
        match next {
            Next::Ask(state, question) => {
                let Asked { plan, pass, .. } = self.kept.asked;
                self.kept.asked = Asked { plan, pass: pass.saturating_add(1), question };
                self.kept.state = Some(state);
                Ok(None)
            }
            Next::Done(output) => Ok(Some(output)),
        }
    }
}

/// Of the whole receipt as well: what has been drawn at one loss may not be taken for drawn at another.
fn plan_hash<P: ByPasses>(plan: &P) -> u64 {
    let receipt = format!("{:?}", plan.cost());
    hash(&plain(&(receipt, plan.identity())))
}
