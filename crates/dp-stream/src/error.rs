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
    /// A state was written by another version.
    StateVersion {
        /// Its version.
        got: u32,
        /// The version of this program.
        expected: u32,
    },
    /// A state does not match its checksum, or holds what no run leaves behind.
    StateDamaged,
    /// A state belongs to another plan.
    StateOfAnotherPlan,
    /// A state is older than what has been published since: going on from it would spend twice.
    StateTooOld {
        /// The next step according to the state.
        next: u64,
        /// How many steps have been published.
        published: u64,
    },
    /// Shards do not cover the users of the plan, each once.
    Shards {
        /// Users of the plan.
        expected: u32,
        /// Users of the shards.
        got: u64,
    },
    /// Shards are not in the order in which they were made, or one of them is there twice.
    ShardOrder {
        /// The first user that the shard at this place should have.
        expected: u32,
        /// Its first user.
        got: u32,
    },
    /// A shard has not been settled for every step that was decided, or belongs to another session.
    ShardUnsettled {
        /// Steps that were decided.
        decided: u64,
        /// Steps that the shard was settled for.
        settled: u64,
    },
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
            Self::StateVersion { got, expected } => {
                write!(f, "the state has version {got}, this program reads version {expected}")
            }
            Self::StateDamaged => {
                write!(f, "the state does not match its checksum: it was damaged or edited")
            }
            Self::StateOfAnotherPlan => {
                write!(f, "the state belongs to a plan with other settings")
            }
            Self::StateTooOld { next, published } => write!(
                f,
                "the state goes on at step {next}, but {published} steps have been published: \
                 resuming it would spend the privacy budget twice"
            ),
            Self::Shards { expected, got } => {
                write!(f, "the plan has {expected} users, the shards have {got}")
            }
            Self::ShardOrder { expected, got } => {
                write!(f, "the shard at this place should begin with user {expected}, not {got}")
            }
            Self::ShardUnsettled { decided, settled } => write!(
                f,
                "{decided} steps were decided, a shard was settled for {settled}: a state without \
                 its charges would let users be reported too often"
            ),
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
