//! A session: one step after the other.

use std::fmt;

use dp_accounting::{AddRemove, Receipt};
use dp_mechanism::{CryptoRng, Draws, Mechanism, SecureDraws, Touched};

use crate::params::check_count;
use crate::shard::Shard;
use crate::{Event, MonitorPlan, MonitorState, Report, StreamError};

/// A stream under way.
///
/// # A service around it
/// For each step: [`step`](Self::step), then make [`state`](Self::state) durable, and only then publish
/// the reports. So a crash at any moment leaves the reader with what was published and the service with
/// a state that has paid for it:
/// - before the state was durable: nothing of the step is out. [`resume`](MonitorState::resume) goes on
///   before the step, which may be fed again, or is lost if its events are gone;
/// - after: the reports of the step are in the state ([`last_reports`](Self::last_reports)) and can be
///   published (again); their time tells a reader that it has them already.
///
/// Publishing first would be wrong: a crash in between would forget who has been charged.
///
/// The generator is not part of a state, and need not be: every draw is independent of all before.
/// The secret sample is part of it, so a state is as confidential as the data.
///
/// A clone is a second session on the same users: publish the reports of one of them only.
#[derive(Clone, Debug)]
pub struct Monitor {
    decider: Decider,
    shard: Shard,
}

/// The part of a session that decides, for counts from one shard or from many.
///
/// Counts come in from [`Shard::counts`], summed by [`merge`](crate::merge); reports go out to
/// [`Shard::settle`] of every shard.
#[derive(Clone, Debug)]
pub struct Decider {
    plan: MonitorPlan,
    next: u64,
    threshold: i64,
    last_reports: Vec<Report>,
    /// How often a step was decided since the shards were made.
    decided: u64,
}

impl Decider {
    pub(crate) fn new(plan: MonitorPlan) -> Self {
        let threshold = plan.threshold;
        Self { plan, next: 0, threshold, last_reports: Vec::new(), decided: 0 }
    }

    /// For shards that are made now.
    pub(crate) fn afresh(self) -> Self {
        Self { decided: 0, ..self }
    }

    pub(crate) fn decided(&self) -> u64 {
        self.decided
    }

    pub(crate) fn resumed(
        plan: MonitorPlan,
        next: u64,
        threshold: i64,
        last_reports: Vec<Report>,
    ) -> Self {
        Self { plan, next, threshold, last_reports, decided: 0 }
    }

    /// The plan.
    pub fn plan(&self) -> &MonitorPlan {
        &self.plan
    }

    /// The next time that can be asked for; at the end of the stream, the number of steps.
    pub fn next_time(&self) -> u64 {
        self.next
    }

    /// From which noisy count on items are reported, in sampled users.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// Changes the threshold from the next step on. It may depend on earlier reports and on nothing
    /// else that is private.
    ///
    /// # Errors
    /// [`StreamError::Setting`] below the least threshold of the plan or above `2^41`.
    pub fn set_threshold(&mut self, threshold: i64) -> Result<(), StreamError> {
        check_count("threshold", threshold)?;
        if threshold < self.plan.least_threshold {
            let want = "at least the least threshold of the plan";
            return Err(StreamError::Setting { name: "threshold", got: threshold as f64, want });
        }
        self.threshold = threshold;
        Ok(())
    }

    /// The reports of the last call that decided.
    pub fn last_reports(&self) -> &[Report] {
        &self.last_reports
    }

    /// Refuses times that have passed or are not planned.
    pub(crate) fn check_time(&self, time: u64) -> Result<(), StreamError> {
        let steps = self.plan.steps();
        if time >= steps {
            return Err(StreamError::TimeBeyondEnd { got: time, steps });
        }
        if time < self.next {
            return Err(StreamError::TimeBackwards { got: time, next: self.next });
        }
        Ok(())
    }

    /// The reports of the step at `time`, and of the steps that were skipped before it, which had no
    /// events. Every one of `counts` belongs to `time`.
    ///
    /// Counts of items outside of the universe and counts of 0 are dropped and repeated items are added
    /// up: otherwise what was reported could show which counts came in.
    ///
    /// # Errors
    /// [`StreamError`] for a time that has passed or is not planned.
    pub fn decide<R: CryptoRng + ?Sized>(
        &mut self,
        time: u64,
        counts: Touched<'_>,
        rng: &mut R,
    ) -> Result<Vec<Report>, StreamError> {
        self.decide_with(time, counts, &mut SecureDraws::new(rng))
    }

    /// The one code path of releases and audits: [`decide`](Self::decide) with draws from anywhere.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    pub fn decide_with(
        &mut self,
        time: u64,
        counts: Touched<'_>,
        draws: &mut dyn Draws,
    ) -> Result<Vec<Report>, StreamError> {
        let last = self.plan.universe().last();
        let counts = crate::merge([counts]).within(last);
        self.decide_on(time, counts.touched(), draws)
    }

    /// For counts that come from shards of this plan, each item once.
    pub(crate) fn decide_on(
        &mut self,
        time: u64,
        counts: Touched<'_>,
        draws: &mut dyn Draws,
    ) -> Result<Vec<Report>, StreamError> {
        self.check_time(time)?;
        let steps = time - self.next + 1;
        let found = self.plan.reports.release(counts, steps, self.threshold, draws);
        let first = self.next;
        let report = |found: dp_mechanism::Reported| Report {
            time: first + found.step,
            item: found.cell,
            noisy_count: found.noisy_count,
        };
        self.last_reports = found.into_iter().map(report).collect();
        self.next = time + 1;
        self.decided += 1;
        Ok(self.last_reports.clone())
    }
}

impl Monitor {
    pub(crate) fn begin(plan: &MonitorPlan, draws: &mut dyn Draws) -> Self {
        let shard = Shard::sampled(plan.admission(), 0, plan.users(), plan.sample.as_ref(), draws);
        Self { decider: Decider::new(plan.clone()), shard }
    }

    pub(crate) fn into_decider(self) -> Decider {
        self.decider
    }

    pub(crate) fn from_parts(decider: Decider, shard: Shard) -> Self {
        Self { decider, shard }
    }

    /// Takes the step at `time` with all of its events, and steps without events for the times that
    /// were skipped. Reports are in the order of times and items.
    ///
    /// Bad events are dropped, see [`Shard`]. Whether a step is taken must be public: a step without
    /// events is a step too, and must be taken, or skipped over, or come at the [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`StreamError`] for a time that has passed or is not planned; nothing has changed then.
    pub fn step<R: CryptoRng + ?Sized>(
        &mut self,
        time: u64,
        events: &[Event],
        rng: &mut R,
    ) -> Result<Vec<Report>, StreamError> {
        self.step_with(time, events, &mut SecureDraws::new(rng))
    }

    /// The one code path of releases and audits: [`step`](Self::step) with draws from anywhere.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn step_with(
        &mut self,
        time: u64,
        events: &[Event],
        draws: &mut dyn Draws,
    ) -> Result<Vec<Report>, StreamError> {
        self.decider.check_time(time)?;
        self.shard.add(events);
        let reports = self.decider.decide_on(time, self.shard.counts(), draws)?;
        self.shard.settle(&items_of(&reports, time));
        Ok(reports)
    }

    /// Takes up a portion of the events of the next step that is [`step`](Self::step)ped to, for steps
    /// whose events do not come, or fit, at once.
    pub fn add(&mut self, events: &[Event]) {
        self.shard.add(events);
    }

    /// Takes the remaining steps of the plan, without further events.
    ///
    /// # Errors
    /// None in practice; the signature is that of a step.
    pub fn finish<R: CryptoRng + ?Sized>(
        &mut self,
        rng: &mut R,
    ) -> Result<Vec<Report>, StreamError> {
        let steps = self.decider.plan().steps();
        if self.next_time() == steps {
            return Ok(Vec::new());
        }
        self.step(steps - 1, &[], rng)
    }

    /// Steps taken from an iterator of `(time, events)`, as an iterator of their reports.
    ///
    /// It ends after the first error.
    pub fn steps<'a, I, B, R>(
        &'a mut self,
        batches: I,
        rng: &'a mut R,
    ) -> impl Iterator<Item = Result<Report, StreamError>> + 'a
    where
        I: IntoIterator<Item = (u64, B)>,
        I::IntoIter: 'a,
        B: AsRef<[Event]> + 'a,
        R: CryptoRng + ?Sized,
    {
        let mut failed = false;
        batches
            .into_iter()
            .map_while(move |(time, events)| {
                if failed {
                    return None;
                }
                let reports = self.step(time, events.as_ref(), rng);
                failed = reports.is_err();
                Some(match reports {
                    Ok(reports) => reports.into_iter().map(Ok).collect(),
                    Err(error) => vec![Err(error)],
                })
            })
            .flatten()
    }

    /// What is wrong with the events of a step, for whoever may see the events: the answer depends on
    /// private values and is not for publishing. [`step`](Self::step) drops what this complains about.
    ///
    /// # Errors
    /// The first bad event.
    pub fn check_batch(&self, events: &[Event]) -> Result<(), BadEvent> {
        let plan = self.plan();
        let bad = |position, why| Err(BadEvent { position, why });
        for (position, event) in events.iter().enumerate() {
            if event.user >= plan.users() {
                return bad(position, BadEventKind::UnknownUser);
            }
            if event.item > plan.universe().last() {
                return bad(position, BadEventKind::UnknownItem);
            }
        }
        let mut order: Vec<usize> = (0..events.len()).collect();
        order.sort_by_key(|&i| (events[i].user, events[i].item, i));
        order.dedup_by_key(|i| events[*i]);
        let most = usize::from(plan.items_per_step());
        let crowded = order.chunk_by(|&a, &b| events[a].user == events[b].user);
        match crowded.filter(|items| items.len() > most).flatten().min() {
            Some(&position) => bad(position, BadEventKind::TooManyItems),
            None => Ok(()),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &MonitorPlan {
        self.decider.plan()
    }

    /// The whole cost; the same however often the session has been resumed.
    pub fn receipt(&self) -> Receipt<AddRemove> {
        self.plan().receipt()
    }

    /// The next time that can be stepped to; at the end of the stream, the number of steps.
    pub fn next_time(&self) -> u64 {
        self.decider.next_time()
    }

    /// From which noisy count on items are reported, in sampled users.
    pub fn threshold(&self) -> i64 {
        self.decider.threshold()
    }

    /// As [`Decider::set_threshold`].
    ///
    /// # Errors
    /// [`StreamError::Setting`] below the least threshold of the plan or above `2^41`.
    pub fn set_threshold(&mut self, threshold: i64) -> Result<(), StreamError> {
        self.decider.set_threshold(threshold)
    }

    /// The reports of the last step, to be published after a crash.
    pub fn last_reports(&self) -> &[Report] {
        self.decider.last_reports()
    }

    /// All that is needed to go on elsewhere, as of the last step taken: events taken up by
    /// [`add`](Self::add) since are not in it. As confidential as the data.
    pub fn state(&self) -> MonitorState {
        MonitorState::of(&self.decider, self.shard.charges())
    }

    /// Bytes held by users, tables and buffers. Depends on the events of past steps: not for publishing.
    pub fn memory_bytes(&self) -> usize {
        self.shard.memory_bytes()
    }

    /// The number of users who are in the sample and have reports left. Not private: for evaluation.
    pub fn exact_active_users(&self) -> usize {
        self.shard.charges().iter().filter(|&&charge| charge != crate::shard::GONE).count()
    }
}

/// The items reported at `time`, in order.
pub(crate) fn items_of(reports: &[Report], time: u64) -> Vec<u64> {
    reports.iter().filter(|report| report.time == time).map(|report| report.item).collect()
}

/// An event that a step would drop. Private: its position and reason depend on the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEvent {
    /// In the batch.
    pub position: usize,
    /// What is wrong.
    pub why: BadEventKind,
}

/// What is wrong with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEventKind {
    /// The user is not below the bound on users.
    UnknownUser,
    /// The item is not in the universe.
    UnknownItem,
    /// Its user shows more items in this step than count.
    TooManyItems,
}

impl fmt::Display for BadEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            BadEventKind::UnknownUser => "its user is not below the public bound on users",
            BadEventKind::UnknownItem => "its item is not in the universe",
            BadEventKind::TooManyItems => "its user shows more items in this step than may count",
        };
        write!(f, "event {} of the batch would be dropped: {why}", self.position)
    }
}

impl std::error::Error for BadEvent {}
