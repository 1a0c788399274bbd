//! The one error type of the crate.

use dp_accounting::ParamError;
use dp_mechanism::MechanismError;

/// Why a plan could not be built, a step not be taken, or a state not be resumed.
///
/// Fields are public settings and public times; no event is in them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A public number is out of range.
    #[error("{name} must be {want}, got {got}")]
    OutOfRange {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: i128,
        /// What would be accepted.
        want: &'static str,
    },
    /// An alphabet has a byte twice, so that a name would have two numbers.
    #[error("every byte of an alphabet must be there once, got {byte:#04x} twice")]
    RepeatedByte {
        /// The byte.
        byte: u8,
    },
    /// More names than there are numbers.
    #[error("there are more than 2^64 names of up to {max_bytes} bytes over {symbols} symbols")]
    TooManyNames {
        /// Bytes that names are made of.
        symbols: u128,
        /// Length of the longest.
        max_bytes: u32,
    },
    /// Items that nobody shows would be reported in masses.
    #[error(
        "at threshold {threshold} a step would report {expected:.0} items that nobody shows; the least threshold with these settings is {least}"
    )]
    TooManyEmpty {
        /// The lowest threshold.
        threshold: i64,
        /// How many reports of unseen items a step would have, on average.
        expected: f64,
        /// The lowest threshold that is accepted with the other settings.
        least: i64,
    },
    /// The step has been taken already, or skipped.
    #[error("time {got} has passed, the next step is {next}")]
    TimeBackwards {
        /// The time asked for.
        got: u64,
        /// The next time that can be asked for.
        next: u64,
    },
    /// The stream is planned to be shorter.
    #[error("time {got} is beyond the plan, which has the steps 0 to {}", .steps - 1)]
    TimeBeyondEnd {
        /// The time asked for.
        got: u64,
        /// The number of steps of the plan; times are below it.
        steps: u64,
    },
    /// The data do not have one entry per step of the plan.
    #[error("the plan has {expected} steps, the data have {got}")]
    Steps {
        /// Of the plan.
        expected: u64,
        /// Of the data.
        got: u64,
    },
    /// Skipping this far would make up reports of items that nobody shows in masses.
    #[error(
        "{steps} steps cannot be skipped at once: they would report {expected:.0} items that nobody shows; take them in portions"
    )]
    TooManySkipped {
        /// Steps that would be skipped.
        steps: u64,
        /// How many reports of unseen items they would have, on average.
        expected: f64,
    },
    /// A state or a message was written by another version.
    #[error("the state has version {got}, this program reads version {expected}")]
    StateVersion {
        /// Its version.
        got: u32,
        /// The version of this program.
        expected: u32,
    },
    /// A state or a message of another kind was expected.
    #[error("this is not a {expected}")]
    StateKind {
        /// What was expected.
        expected: &'static str,
    },
    /// A state or a message does not match its checksum, or holds what no run leaves behind.
    #[error("the {what} does not match its checksum or its settings: it was damaged or edited")]
    Damaged {
        /// What it should be.
        what: &'static str,
    },
    /// A state belongs to another plan.
    #[error("the state belongs to a plan with other settings")]
    StateOfAnotherPlan,
    /// A state is older than what has been published since: going on from it would spend twice.
    #[error(
        "the state goes on at step {next}, but {published} steps have been published: resuming it would spend the privacy budget twice"
    )]
    StateTooOld {
        /// The next step according to the state.
        next: u64,
        /// How many steps have been published.
        published: u64,
    },
    /// A session, or a state of it, has gone on since: two that go on from one moment would answer twice about the same users.
    #[error(
        "another copy of this session has gone on from here: going on as well would spend the privacy budget twice; take the newest state"
    )]
    TakenOver,
    /// Shards do not cover the users of the plan, each once.
    #[error("the plan has {expected} users, the shards have {got}")]
    Shards {
        /// Users of the plan.
        expected: u32,
        /// Users of the shards.
        got: u64,
    },
    /// A session that has grown, of whose users a split could say how many there are.
    #[error("a session that has grown beyond the users of its plan cannot be split")]
    Grown,
    /// A message or a state of another session: of another plan, split, or number.
    #[error("this belongs to session {got:016x}, not to session {expected:016x}")]
    ForeignSession {
        /// What its session is bound to.
        got: u64,
        /// What this session is bound to.
        expected: u64,
    },
    /// The counts or the state of a shard are missing.
    #[error("shard {shard} is missing")]
    MissingShard {
        /// Its number.
        shard: u32,
    },
    /// The counts or the state of a shard came twice.
    #[error("shard {shard} is there twice")]
    RepeatedShard {
        /// Its number.
        shard: u32,
    },
    /// The counts of a shard are of another step than those of the first: one of them has counted under a wrong
    /// time, and can move its counts.
    #[error("shard {shard} has counted step {got}, the first one has step {expected}")]
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
    #[error(
        "shard {shard} was settled for {settled} steps, but {decided} were decided: going on without the charges in between would let users be reported too often; settle it with the last decision, or resume it from a newer state"
    )]
    ShardBehind {
        /// Its number.
        shard: u32,
        /// How many steps it was settled for.
        settled: u64,
        /// How many steps were decided.
        decided: u64,
    },
    /// A shard has been settled for steps that the decider has forgotten.
    #[error(
        "shard {shard} was settled for {settled} steps, but the decider knows of {decided}: going on would spend the privacy budget twice; resume the decider from a newer state"
    )]
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
    #[error(
        "shard {shard} was settled for {settled} steps by other decisions: two deciders went on from one state, or the session was begun twice; going on would spend the privacy budget twice; go on with the decider whose decisions the shards have settled"
    )]
    OtherDecisions {
        /// The number of the shard.
        shard: u32,
        /// How many steps it was settled for.
        settled: u64,
    },
    /// A step has been counted by a shard and must be settled before anything else.
    #[error("step {time} has been counted and must be settled first")]
    StepCounted {
        /// The step.
        time: u64,
    },
    /// A shard has counted no step since the last one that it settled.
    #[error("no step has been counted since step {next} began, so none can be moved")]
    NothingCounted {
        /// The first step that it has not been settled for.
        next: u64,
    },
    /// A shard has no counts of a step that was decided: it has lost them, since its state is older than the
    /// decision, and cannot settle.
    #[error(
        "the shard has lost its counts of step {time}, which was decided: its state is older than the decision and cannot settle it; resume it from a newer state"
    )]
    NotCounted {
        /// The step.
        time: u64,
    },
    /// A shard has settled the decision on a step before.
    #[error("step {time} has been settled before")]
    AlreadySettled {
        /// The step.
        time: u64,
    },
    /// The operating system gives no random numbers.
    #[error("the operating system gives no random numbers")]
    NoEntropy,
    /// A real number is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A step cannot be calibrated.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

impl StreamError {
    /// A real number that is out of range.
    pub(crate) fn real(name: &'static str, got: f64, want: &'static str) -> Self {
        ParamError::OutOfRange { name, got, want }.into()
    }
}
