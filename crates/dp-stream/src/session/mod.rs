//! A session: one step after the other.

pub(crate) mod decisions;
pub(crate) mod state;

use std::fmt;

use dp_accounting::{AddRemove, Receipt};
use dp_mechanism::{Draws, Mechanism, Private, ReleaseRng, SecureSource, Source};

pub use state::MonitorState;

use crate::files::{Confidential, Turn};
use crate::users::bad_event::first_dropped;
use crate::users::{Participants, Standing};
use crate::{BadEvent, Event, MonitorPlan, Report, StreamError};
use decisions::{Decisions, items_of};

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
/// A session cannot be cloned: a second one on the same users would spend the budget a second time. For the same reason, of all copies in
/// memory (the session, and states that were taken of it) the first that goes on is the only one that can:
/// the others are [refused](StreamError::TakenOver). Of states that went through bytes, `published` tells.
/// ```compile_fail
/// fn twice(monitor: &dp_stream::Monitor) -> dp_stream::Monitor {
///     monitor.clone()
/// }
/// ```
pub struct Monitor {
    decisions: Decisions,
    users: Private<Participants>,
    turn: Turn,
}

/// What is public of it; charges and events stay out of logs.
impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("decisions", &self.decisions).finish_non_exhaustive()
    }
}

impl Monitor {
    pub(crate) fn begin(plan: &MonitorPlan, draws: &mut Draws<'_>) -> Self {
        let (admission, all) = (plan.admission(), plan.users() as usize);
        let users = plan.coins().toss(all.into(), draws);
        let users = users.map(|users| Participants::new(admission, 0, users));
        Self { decisions: Decisions::new(plan.clone()), users, turn: Turn::default() }
    }

    /// With all users. Nobody else goes on from here.
    pub(crate) fn into_parts(mut self) -> Result<(Decisions, Private<Standing>), StreamError> {
        self.turn.take()?;
        let users = self.users.as_ref().map(Participants::standing);
        Ok((self.decisions, users))
    }

    pub(crate) fn from_parts(
        decisions: Decisions,
        users: Private<Participants>,
        turn: Turn,
    ) -> Self {
        Self { decisions, users, turn }
    }

    /// Takes the step at `time` with all of its events, and steps without events for the times that
    /// were skipped. Reports are in the order of times and items.
    ///
    /// Bad events are dropped, see [`MonitorPlan`]. Whether a step is taken must be public: a step without
    /// events is a step too, and must be taken, or skipped over, or come at the [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`StreamError`] for a time that has passed or is not planned, or for skipping so many steps that the
    /// reports of unseen items would not end; nothing has changed then.
    pub fn step(
        &mut self,
        time: u64,
        events: &[Event],
        rng: &mut ReleaseRng,
    ) -> Result<Vec<Report>, StreamError> {
        self.step_with(time, events, &mut SecureSource::new(rng))
    }

    /// The one code path of releases and audits: [`step`](Self::step) with draws from anywhere, for audits and tests.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn step_with(
        &mut self,
        time: u64,
        events: &[Event],
        source: &mut dyn Source,
    ) -> Result<Vec<Report>, StreamError> {
        let plan = self.decisions.shared_plan();
        plan.planned(source, |draws| self.step_drawing(time, Private::new(events), draws))
    }

    pub(crate) fn step_drawing(
        &mut self,
        time: u64,
        events: Private<&[Event]>,
        draws: &mut Draws<'_>,
    ) -> Result<Vec<Report>, StreamError> {
        self.decisions.check_time(time)?;
        self.turn.take()?;
        self.add_private(events);
        let order = self.decisions.precedence();
        let counts = self.users.as_mut().map(|users| users.counts(order));
        let reports = self.decisions.decide(time, counts, draws)?.to_vec();
        let items = items_of(&reports, time);
        self.users.update(|users| users.settle(&items));
        Ok(reports)
    }

    fn add_private(&mut self, events: Private<&[Event]>) {
        let order = self.decisions.precedence();
        let _ = self.users.as_mut().zip(events).map(|(users, events)| users.add(events, order));
    }

    /// From here on everybody with a number below `users` has a place, and the secret coins of those who are new are tossed. For users who come by
    /// name: however many come, none pushes another one out. Events of users who have no place when they are [`add`](Self::add)ed are dropped.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use dp_stream::{Budget, Event, Method, MonitorPlan, MonitorSettings, StreamShape, Universe, chacha_from_os};
    ///
    /// let (shape, budget) = (StreamShape { universe: Universe::Bits64, users: 0, steps: 24 }, Budget::new(1.0, 0.0)?);
    /// let plan = MonitorPlan::new(Method::ThreshMonitor, shape, budget, 4, MonitorSettings::default())?;
    /// let mut rng = chacha_from_os()?;
    /// let (mut monitor, mut of_name) = (plan.start(&mut rng), HashMap::new());
    /// for (time, log) in [(0, vec![("ada", 7), ("bo", 7), ("ada", 9)]), (1, vec![("cy", 7), ("bo", 9)])] {
    ///     let mut events = Vec::new();
    ///     for (name, item) in log {
    ///         let next = u32::try_from(of_name.len())?;
    ///         events.push(Event { user: *of_name.entry(name).or_insert(next), item });
    ///     }
    ///     monitor.grow_to(u32::try_from(of_name.len())?, &mut rng);
    ///     for report in monitor.step(time, &events, &mut rng)? {
    ///         println!("item {} in step {time}: about {} users", report.item, plan.estimate(report.noisy_count));
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grow_to(&mut self, users: u32, rng: &mut ReleaseRng) {
        self.grow_to_with(users, &mut SecureSource::new(rng));
    }

    /// The one code path of releases and audits: [`grow_to`](Self::grow_to) with coins from anywhere, for audits and tests.
    pub fn grow_to_with(&mut self, users: u32, source: &mut dyn Source) {
        let plan = self.decisions.shared_plan();
        plan.planned(source, |draws| self.grow(Private::new(users), draws));
    }

    /// How many users there are is private.
    pub(crate) fn grow(&mut self, users: Private<u32>, draws: &mut Draws<'_>) {
        let here = self.users.as_ref().map(Participants::users);
        let new = users.zip(here).map(|(users, here)| (users as usize).saturating_sub(here));
        let new = self.decisions.plan().coins().toss(new, draws);
        let _ = self.users.as_mut().zip(new).map(|(users, new)| users.join(new));
    }

    #[expect(clippy::disallowed_methods, reason = "whoever grew it knows, and nothing is released")]
    pub(crate) fn has_grown(&self) -> bool {
        let here = self.users.as_ref().map(Participants::users);
        here.exact() > self.plan().users() as usize
    }

    /// Takes up a portion of the events of the next step that is [`step`](Self::step)ped to, for steps
    /// whose events do not come, or fit, at once.
    pub fn add(&mut self, events: &[Event]) {
        self.add_private(Private::new(events));
    }

    /// Takes the remaining steps of the plan, without further events.
    ///
    /// # Errors
    /// [`StreamError::TooManySkipped`] for so many steps that the reports of unseen items would not end.
    pub fn finish(&mut self, rng: &mut ReleaseRng) -> Result<Vec<Report>, StreamError> {
        self.finish_with(&mut SecureSource::new(rng))
    }

    /// The same with draws from anywhere, for audits and tests.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_with(&mut self, source: &mut dyn Source) -> Result<Vec<Report>, StreamError> {
        let steps = self.decisions.plan().steps();
        if self.next_time() == steps {
            return Ok(Vec::new());
        }
        self.step_with(steps - 1, &[], source)
    }

    /// Steps taken from an iterator of `(time, events)`, as an iterator of their reports.
    ///
    /// It ends after the first error.
    pub fn steps<'a, I, B>(
        &'a mut self,
        batches: I,
        rng: &'a mut ReleaseRng,
    ) -> impl Iterator<Item = Result<Report, StreamError>> + 'a
    where
        I: IntoIterator<Item = (u64, B)>,
        I::IntoIter: 'a,
        B: AsRef<[Event]> + 'a,
    {
        until_refused(batches, move |time, events| self.step(time, events, rng))
    }

    /// The same with draws from anywhere, for audits and tests.
    pub fn steps_with<'a, I, B>(
        &'a mut self,
        batches: I,
        source: &'a mut dyn Source,
    ) -> impl Iterator<Item = Result<Report, StreamError>> + 'a
    where
        I: IntoIterator<Item = (u64, B)>,
        I::IntoIter: 'a,
        B: AsRef<[Event]> + 'a,
    {
        until_refused(batches, move |time, events| self.step_with(time, events, source))
    }

    /// What is wrong with the events of a step, for whoever may see the events: the answer depends on
    /// private values and is not for publishing. [`step`](Self::step) drops what this complains about. It
    /// also drops events of users who have no reports left or were not sampled; who they are is secret,
    /// and this does not tell.
    ///
    /// # Errors
    /// The first event that is bad in itself, if these are all of its step: an unknown user or item, or
    /// more items in the step than a user may count.
    #[expect(clippy::disallowed_methods, reason = "named and documented as not for publishing")]
    pub fn check_batch(&self, events: &[Event]) -> Result<(), BadEvent> {
        let order = self.decisions.precedence();
        let users = self.users.as_ref().zip(Private::new(events));
        let dropped = |(users, events)| first_dropped(self.plan(), events, (users, order));
        users.map(dropped).exact().map_or(Ok(()), Err)
    }

    /// The plan.
    pub fn plan(&self) -> &MonitorPlan {
        self.decisions.plan()
    }

    /// The whole cost; the same however often the session has been resumed.
    pub fn receipt(&self) -> Receipt<AddRemove> {
        self.plan().receipt()
    }

    /// The next time that can be stepped to; at the end of the stream, the number of steps.
    pub fn next_time(&self) -> u64 {
        self.decisions.progress().next
    }

    /// From which noisy count on items are reported, in sampled users.
    pub fn threshold(&self) -> i64 {
        self.decisions.progress().threshold
    }

    /// As [`Decider::set_threshold`](crate::Decider::set_threshold).
    ///
    /// # Errors
    /// [`StreamError::OutOfRange`] below the least threshold of the plan or above `2^41`.
    pub fn set_threshold(&mut self, threshold: i64) -> Result<(), StreamError> {
        self.decisions.set_threshold(threshold)
    }

    /// The reports of the last step, to be published after a crash.
    pub fn last_reports(&self) -> &[Report] {
        &self.decisions.progress().last_reports
    }

    /// All that is needed to go on elsewhere, as of the last step taken: events taken up by
    /// [`add`](Self::add) since are not in it. As confidential as the data.
    pub fn state(&self) -> MonitorState {
        let users = self.users.as_ref().map(Participants::standing);
        let progress = self.decisions.progress().clone();
        MonitorState::new(progress, Confidential::new(users), self.turn.clone())
    }

    /// Bytes held by users, tables and buffers. Depends on the events of past steps: not for publishing.
    #[expect(clippy::disallowed_methods, reason = "named and documented as not for publishing")]
    pub fn memory_bytes(&self) -> usize {
        self.users.as_ref().map(Participants::memory_bytes).exact()
    }

    /// The number of users who are in the sample and have reports left. Not private: for evaluation.
    #[expect(clippy::disallowed_methods, reason = "named and documented as not private")]
    pub fn exact_active_users(&self) -> usize {
        self.users.as_ref().map(Participants::active).exact()
    }
}

/// Reports of one step after the other, up to the first error.
fn until_refused<'a, I, B>(
    batches: I,
    mut step: impl FnMut(u64, &[Event]) -> Result<Vec<Report>, StreamError> + 'a,
) -> impl Iterator<Item = Result<Report, StreamError>> + 'a
where
    I: IntoIterator<Item = (u64, B)>,
    I::IntoIter: 'a,
    B: AsRef<[Event]> + 'a,
{
    let mut failed = false;
    batches
        .into_iter()
        .map_while(move |(time, events)| {
            if failed {
                return None;
            }
            let reports = step(time, events.as_ref());
            failed = reports.is_err();
            Some(match reports {
                Ok(reports) => reports.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
        })
        .flatten()
}
