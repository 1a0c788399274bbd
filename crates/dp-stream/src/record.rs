//! What goes in and what comes out.

use serde::{Deserialize, Serialize};

/// One user has shown one item. Private.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Event {
    /// Dense number of the user, below the bound on users or the number to which the session has grown.
    ///
    /// An interner is the caller's, and part of the guarantee: a number must not be given to somebody else later. Which number
    /// a user has does not matter, so numbers by first appearance are fine. Users for whom the bound leaves no place should not be left out in the order in which
    /// they come, since one user more would push another one out: a session can [grow](crate::Monitor::grow_to).
    pub user: u32,
    /// Number of the item in its [`Universe`](crate::Universe).
    pub item: u64,
}

/// An item was heavy at a time. Private by the guarantee of the plan: free to publish and to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Number of the step.
    pub time: u64,
    /// Number of the item.
    pub item: u64,
    /// The noisy number of *sampled* users who showed it, at least the threshold;
    /// [`MonitorPlan::estimate`](crate::MonitorPlan::estimate) makes an estimate of all users of it.
    pub noisy_count: i64,
}
