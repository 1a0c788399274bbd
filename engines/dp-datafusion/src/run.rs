//! From records in an engine to a release.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_plan::{ExecutionPlan, collect};
use dp_cluster::ReleaseRng;
use dp_cluster::passes::{Asked, ByPasses, Passes, Question, TableError};
use dp_mechanism::CryptoRng;
use dp_mechanism::passes::ReleaseOf;

use crate::{Answer, CountPass, Error, Keep, Records};

/// One release, pass by pass: [`Passes`] with the records that it is of.
///
/// [`release`](Self::release) does all of it. Whoever has executors elsewhere sends them the [`plan`](Self::plan) of each pass with
/// [`PassCodec`](crate::PassCodec), checks that the [`Records`] are as they were, and gives the [`Answer`] to [`answer`](Self::answer).
///
/// **As confidential as the records**, as its bytes are.
pub struct Run<P: ByPasses<Question = Question>> {
    passes: Passes<P>,
    records: Records,
    /// Of the records of the first pass.
    checksum: Option<u64>,
    finished: bool,
    attempts: u32,
}

/// Neighbours print the same.
impl<P: ByPasses<Question = Question>> fmt::Debug for Run<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("passes", &self.passes)
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}

/// After a failure. Workers that are gone are known to be by then.
const PAUSE: Duration = Duration::from_secs(5);

/// The first bytes of a state: what it is, and in which version.
const MAGIC: &[u8; 8] = b"dpengin1";

impl<P: ByPasses<Question = Question>> Run<P> {
    /// A release that nothing has been drawn for.
    ///
    /// # Errors
    /// [`Error::Dimension`], [`Error::Table`].
    pub fn new(plan: P, records: Records) -> Result<Self, Error> {
        let passes = Passes::new(plan)?;
        Self { passes, records, checksum: None, finished: false, attempts: 1 }.fits()
    }

    /// A release that goes on. Only one copy of a state may do so, and only the newest.
    ///
    /// # Errors
    /// [`Error::OtherRecords`], [`Error::Damaged`], [`Error::Table`]; [`TableError::Finished`] where all passes are answered.
    pub fn resume(plan: P, records: Records, state: &[u8]) -> Result<Self, Error> {
        let rest = state.strip_prefix(MAGIC).ok_or(Error::Damaged)?;
        let (hash, rest) = rest.split_first_chunk::<32>().ok_or(Error::Damaged)?;
        let (checksum, rest) = rest.split_first_chunk::<8>().ok_or(Error::Damaged)?;
        let ([begun, finished], passes) = rest.split_first_chunk::<2>().ok_or(Error::Damaged)?;
        let flag = |byte: &u8| if *byte < 2 { Ok(*byte == 1) } else { Err(Error::Damaged) };
        let checksum = flag(begun)?.then_some(u64::from_le_bytes(*checksum));
        let passes = Passes::from_bytes(plan, passes)?;
        if hash != records.hash() {
            return Err(Error::OtherRecords);
        }
        if flag(finished)? {
            return Err(TableError::Finished.into());
        }
        Self { passes, records, checksum, finished: false, attempts: 1 }.fits()
    }

    fn fits(self) -> Result<Self, Error> {
        let (want, got) = (self.asked().question().dim(), self.records.dim());
        if want == got { Ok(self) } else { Err(Error::Dimension { want, got }) }
    }

    /// What [`resume`](Self::resume) goes on from: what [`Passes::to_bytes`] says, the hash of the files and the checksum of the records, of
    /// a length that does not depend on any record.
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = [u8::from(self.checksum.is_some()), u8::from(self.finished)];
        let checksum = self.checksum.unwrap_or(0).to_le_bytes();
        [&MAGIC[..], self.records.hash(), &checksum, &flags, &self.passes.to_bytes()].concat()
    }

    /// How often a pass is put to the engine, five seconds after it has failed, before its failure ends a [`release`](Self::release): once,
    /// unless told, and at least once. Nothing is drawn on what a failed pass has counted.
    #[must_use]
    pub fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// The question of this pass: public.
    pub fn asked(&self) -> &Asked<Question> {
        self.passes.asked()
    }

    /// What the engine runs for this pass: one row of one column, [`CountPass`] over the coordinates.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub async fn plan(&self) -> Result<Arc<dyn ExecutionPlan>, Error> {
        let (frame, columns) = self.records.coordinates();
        let pass = AggregateUDF::from(CountPass::new(self.asked().clone())).call(columns);
        Ok(frame.aggregate(vec![], vec![pass.alias("answer")])?.create_physical_plan().await?)
    }

    /// Lets the session of the records count this pass. It may be called again, and draws nothing.
    ///
    /// # Errors
    /// [`Error::Engine`], [`Error::FileChanged`]; that what was counted is no answer.
    pub async fn count(&self) -> Result<Answer, Error> {
        self.records.check().await?;
        let (frame, _) = self.records.coordinates();
        let batches = collect(self.plan().await?, Arc::new(frame.task_ctx())).await?;
        self.records.check().await?;
        Answer::of_batches(&batches)
    }

    /// [`count`](Self::count), and again if the engine fails.
    async fn count_again(&self) -> Result<Answer, Error> {
        for _ in 1..self.attempts {
            match self.count().await {
                Err(Error::Engine(_)) => tokio::time::sleep(PAUSE).await,
                counted => return counted,
            }
        }
        self.count().await
    }

    /// Refuses what is not the answer of this pass for all records, each once: what [`answer`](Self::answer) does first.
    ///
    /// # Errors
    /// [`Error::Table`], [`Error::NotEachOnce`].
    pub fn check(&self, answer: &Answer) -> Result<(), Error> {
        self.passes.check(&answer.table)?;
        let all = self.records.rows().is_none_or(|rows| rows == answer.table.rows());
        let same = self.checksum.is_none_or(|before| before == answer.checksum);
        if all && same { Ok(()) } else { Err(Error::NotEachOnce) }
    }

    /// Draws on what was counted. The release, if this was the last pass; else [`asked`](Self::asked) is the next question, which nobody may
    /// see before [`to_bytes`](Self::to_bytes) is kept.
    ///
    /// # Errors
    /// Those of [`check`](Self::check); nothing has been drawn then.
    pub fn answer(
        &mut self,
        answer: &Answer,
        rng: &mut ReleaseRng,
    ) -> Result<Option<ReleaseOf<P>>, Error> {
        self.simulate_pass(answer, rng)
    }

    fn simulate_pass<R: CryptoRng + ?Sized>(
        &mut self,
        answer: &Answer,
        rng: &mut R,
    ) -> Result<Option<ReleaseOf<P>>, Error> {
        self.check(answer)?;
        let released = self.passes.simulate(&answer.table, rng)?;
        self.checksum = Some(answer.checksum);
        self.finished = released.is_some();
        Ok(released)
    }

    /// All passes that are left. The state after each is kept before the next one is asked, and before the release is shown: a run that dies
    /// goes on from what was kept, and one that dies between the last pass and its caller's file has spent its budget and shown nothing.
    ///
    /// # Errors
    /// The first that a pass has.
    pub async fn release(
        self,
        rng: &mut ReleaseRng,
        keep: &mut (dyn Keep + Send),
    ) -> Result<ReleaseOf<P>, Error> {
        self.simulate(rng, keep).await
    }

    /// The same code with a generator of the caller's choice, for tests and evaluations on data that may be published.
    ///
    /// Who knows the seed knows the noise: what comes out is not private.
    ///
    /// # Errors
    /// Those of [`release`](Self::release).
    pub async fn simulate<R: CryptoRng + ?Sized>(
        mut self,
        rng: &mut R,
        keep: &mut (dyn Keep + Send),
    ) -> Result<ReleaseOf<P>, Error> {
        loop {
            let answer = self.count_again().await?;
            let released = self.simulate_pass(&answer, rng)?;
            keep.keep(&self.to_bytes()).map_err(Error::Keep)?;
            if let Some(release) = released {
                return Ok(release);
            }
        }
    }
}

impl Answer {
    /// What the plan of a pass has returned.
    ///
    /// # Errors
    /// [`Error::Damaged`] if it is not one row of one column of bytes; those of [`from_bytes`](Self::from_bytes).
    pub fn of_batches(batches: &[RecordBatch]) -> Result<Self, Error> {
        let mut rows = batches.iter().filter(|batch| batch.num_rows() > 0);
        let (Some(batch), None) = (rows.next(), rows.next()) else { return Err(Error::Damaged) };
        let [column] = batch.columns() else { return Err(Error::Damaged) };
        let column = column.as_binary_opt::<i32>().ok_or(Error::Damaged)?;
        let mut values = column.iter();
        let (Some(Some(bytes)), None) = (values.next(), values.next()) else {
            return Err(Error::Damaged);
        };
        Self::from_bytes(bytes)
    }
}
