//! The one error type of the crate.

use std::fmt;

use dp_accounting::ParamError;
use dp_mechanism::MechanismError;

/// Why a plan could not be built, a step not be taken, or a state not be resumed.
///
/// Fields are public settings and public times; no event is in them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamError {
    /// A public setting is out of range.
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: f64,
        /// What would be accepted.
        want: &'static str,
    },
    /// Items that nobody shows would be reported in masses.
    TooManyEmpty {
        /// The lowest threshold.
        threshold: i64,
        /// How many reports of unseen items a step would have, on average.
        expected: f64,
        /// The lowest threshold that is accepted with the other settings.
        least: i64,
    },
    /// The step has been taken already, or skipped.
    TimeBackwards {
        /// The time asked for.
        got: u64,
        /// The next time that can be asked for.
        next: u64,
    },
    /// The stream is planned to be shorter.
    TimeBeyondEnd {
        /// The time asked for.
        got: u64,
        /// The number of steps of the plan; times are below it.
        steps: u64,
    },
    /// The data do not have one entry per step of the plan.
    Steps {
        /// Of the plan.
        expected: u64,
        /// Of the data.
        got: u64,
    },
    /// Skipping this far would make up reports of items that nobody shows in masses.
    TooManySkipped {
        /// Steps that would be skipped.
        steps: u64,
        /// How many reports of unseen items they would have, on average.
        expected: f64,
    },
    /// A state or a message was written by another version.
    StateVersion {
        /// Its version.
        got: u32,
        /// The version of this program.
        expected: u32,
    },
    /// A state or a message of another kind was expected.
    StateKind {
        /// What was expected.
        expected: &'static str,
    },
    /// A state or a message does not match its checksum, or holds what no run leaves behind.
    Damaged {
        /// What it should be.
        what: &'static str,
    },
    /// A state belongs to another plan.
    StateOfAnotherPlan,
    /// A state is older than what has been published since: going on from it would spend twice.
    StateTooOld {
        /// The next step according to the state.
        next: u64,
        /// How many steps have been published.
        published: u64,
    },
    /// A session, or a state of it, has gone on since: two that go on from one moment would answer twice about the same users.
    TakenOver,
    /// Shards do not cover the users of the plan, each once.
    Shards {
        /// Users of the plan.
        expected: u32,
        /// Users of the shards.
        got: u64,
    },
    /// A message or a state of another session: of another plan, split, or number.
    ForeignSession {
        /// What its session is bound to.
        got: u64,
        /// What this session is bound to.
        expected: u64,
    },
    /// The counts or the state of a shard are missing.
    MissingShard {
        /// Its number.
        shard: u32,
    },
    /// The counts or the state of a shard came twice.
    RepeatedShard {
        /// Its number.
        shard: u32,
    },
    /// The counts of a shard are of another step than those of the first: one of them has counted under a wrong
    /// time, and can move its counts.
    OtherTime {
        /// Its number.
        shard: u32,
        /// Its step.
        got: u64,
        /// The step of the first.
        expected: u64,
    },
    /// A shard has not been settled for steps that were decided, or has other counts than were decided: it
    /// does not know whom they charged.
    ShardBehind {
        /// Its number.
        shard: u32,
        /// How many steps it was settled for.
        settled: u64,
        /// How many steps were decided.
        decided: u64,
    },
    /// A shard has been settled for steps that the decider has forgotten.
    DeciderBehind {
        /// The number of the shard.
        shard: u32,
        /// How many steps it was settled for.
        settled: u64,
        /// How many steps were decided.
        decided: u64,
    },
    /// A shard was settled with other decisions than those of this decider, or than those that this decision
    /// follows: two deciders went on from one state, or one went on from a state that was older than a
    /// decision it had sent, or the session was begun twice.
    OtherDecisions {
        /// The number of the shard.
        shard: u32,
        /// How many steps it was settled for.
        settled: u64,
    },
    /// A step has been counted by a shard and must be settled before anything else.
    StepCounted {
        /// The step.
        time: u64,
    },
    /// A shard has counted no step since the last one that it settled.
    NothingCounted {
        /// The first step that it has not been settled for.
        next: u64,
    },
    /// A shard has no counts of a step that was decided: it has lost them, since its state is older than the
    /// decision, and cannot settle.
    NotCounted {
        /// The step.
        time: u64,
    },
    /// A shard has settled the decision on a step before.
    AlreadySettled {
        /// The step.
        time: u64,
    },
    /// The operating system gives no random numbers.
    NoEntropy,
    /// A privacy parameter is out of range.
    Param(ParamError),
    /// A step cannot be calibrated.
    Mechanism(MechanismError),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Setting { name, got, want } => write!(f, "{name} must be {want}, got {got}"),
            Self::TooManyEmpty { threshold, expected, least } => write!(
                f,
                "at threshold {threshold} a step would report {expected:.0} items that nobody shows; \
                 the least threshold with these settings is {least}"
            ),
            Self::TimeBackwards { got, next } => {
                write!(f, "time {got} has passed, the next step is {next}")
            }
            Self::TimeBeyondEnd { got, steps } => {
                write!(f, "time {got} is beyond the plan, which has the steps 0 to {}", steps - 1)
            }
            Self::Steps { expected, got } => {
                write!(f, "the plan has {expected} steps, the data have {got}")
            }
            Self::TooManySkipped { steps, expected } => write!(
                f,
                "{steps} steps cannot be skipped at once: they would report {expected:.0} items that \
                 nobody shows; take them in portions"
            ),
            Self::StateVersion { got, expected } => {
                write!(f, "the state has version {got}, this program reads version {expected}")
            }
            Self::StateKind { expected } => write!(f, "this is not a {expected}"),
            Self::Damaged { what } => write!(
                f,
                "the {what} does not match its checksum or its settings: it was damaged or edited"
            ),
            Self::StateOfAnotherPlan => {
                write!(f, "the state belongs to a plan with other settings")
            }
            Self::StateTooOld { next, published } => write!(
                f,
                "the state goes on at step {next}, but {published} steps have been published: \
                 resuming it would spend the privacy budget twice"
            ),
            Self::TakenOver => f.write_str(
                "another copy of this session has gone on from here: going on as well would spend the privacy \
                 budget twice; take the newest state",
            ),
            Self::Shards { expected, got } => {
                write!(f, "the plan has {expected} users, the shards have {got}")
            }
            Self::ForeignSession { got, expected } => {
                write!(f, "this belongs to session {got:016x}, not to session {expected:016x}")
            }
            Self::MissingShard { shard } => write!(f, "shard {shard} is missing"),
            Self::RepeatedShard { shard } => write!(f, "shard {shard} is there twice"),
            Self::OtherTime { shard, got, expected } => {
                write!(f, "shard {shard} has counted step {got}, the first one has step {expected}")
            }
            Self::ShardBehind { shard, settled, decided } => write!(
                f,
                "shard {shard} was settled for {settled} steps, but {decided} were decided: going on \
                 without the charges in between would let users be reported too often; settle it with \
                 the last decision, or resume it from a newer state"
            ),
            Self::DeciderBehind { shard, settled, decided } => write!(
                f,
                "shard {shard} was settled for {settled} steps, but the decider knows of {decided}: going \
                 on would spend the privacy budget twice; resume the decider from a newer state"
            ),
            Self::OtherDecisions { shard, settled } => write!(
                f,
                "shard {shard} was settled for {settled} steps by other decisions: two deciders went on from one \
                 state, or the session was begun twice; going on would spend the privacy budget twice; go \
                 on with the decider whose decisions the shards have settled"
            ),
            Self::StepCounted { time } => {
                write!(f, "step {time} has been counted and must be settled first")
            }
            Self::NothingCounted { next } => {
                write!(f, "no step has been counted since step {next} began, so none can be moved")
            }
            Self::NotCounted { time } => write!(
                f,
                "the shard has lost its counts of step {time}, which was decided: its state is older than \
                 the decision and cannot settle it; resume it from a newer state"
            ),
            Self::AlreadySettled { time } => write!(f, "step {time} has been settled before"),
            Self::NoEntropy => f.write_str("the operating system gives no random numbers"),
            Self::Param(ref error) => error.fmt(f),
            Self::Mechanism(ref error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StreamError {}

impl From<ParamError> for StreamError {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}

impl From<MechanismError> for StreamError {
    fn from(error: MechanismError) -> Self {
        Self::Mechanism(error)
    }
}
