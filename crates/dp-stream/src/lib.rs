//! Shifting heavy hitters: which items are popular right now, step after step, with privacy for
//! everything that a user ever does.
//!
//! One pass, one byte per user or five, exact over universes of up to `2^64` items, and
//! [pure](Method::ThreshMonitor) differential privacy.
//!
//! ```
//! use dp_stream::{Budget, Event, Method, MonitorPlan, MonitorSettings, StreamShape, Threshold, Universe, chacha_from_os};
//!
//! // Public: which items there could be, how many users and steps at most.
//! let shape = StreamShape { universe: Universe::Bits64, users: 10_000, steps: 24 };
//! // Each user may be part of 4 reports; epsilon is for the whole history of a user.
//! let rarely = Threshold::Rule { beta: 1e-6 }; // expected reports of items that nobody shows
//! let settings = MonitorSettings { threshold: rarely, ..Default::default() };
//! let plan = MonitorPlan::new(Method::ThreshMonitor, shape, Budget::new(1.0, 0.0)?, 4, settings)?;
//! println!("items of {} users or more are found", plan.smallest_count(1e-6));
//!
//! let mut rng = chacha_from_os()?;
//! let mut monitor = plan.start(&mut rng);
//! for hour in 0..24 {
//!     // At noon half of the users show item 7; item 8 has one user in every hour.
//!     let crowd = if hour == 12 { 5_000 } else { 0 };
//!     let events: Vec<Event> = (0..=crowd)
//!         .map(|user| Event { user, item: if user == crowd { 8 } else { 7 } })
//!         .collect();
//!     for report in monitor.step(hour, &events, &mut rng)? {
//!         println!("{}: item {}, about {:.0} users", report.time, report.item,
//!             plan.estimate(report.noisy_count));
//!         assert_eq!((report.time, report.item), (12, 7));
//!     }
//! }
//! assert!(monitor.receipt().within_budget());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`Method`]: the methods and their guarantees. [`baselines`] has those that are
//!   only good for small universes.
//! - [`MonitorPlan`]: checked settings with their receipt. [`Monitor`]: a session, and how a service runs it.
//! - [`MonitorState`]: a session at rest. [`Shard`] and [`Decider`]: a session on many machines that
//!   exchange [`ShardCounts`] and [`Decision`]s.
//! - [`advise`]: which of the methods that can run finds the smallest counts. [`advise_settings`]: reports per user, items per step
//!   and threshold for an item of so many users that should be found in so many steps.
//! - [`Monitor::grow_to`]: users who come by name, as many as come.
//!
//! # What is not protected
//! The time that a step takes and the memory that it needs depend on its events. States and counts
//! of shards are as confidential as the data. Whether a step is taken, and when, must be public.
//!
//! # Windows and decay
//! A window of the last `w` steps costs nothing more: give each step the events of the last `w` steps. The theorems of
//! [`ThreshMonitor`](Method::ThreshMonitor) and [`TargetCharging`](Method::TargetCharging) charge a user for reports, not for cells counted in, so they hold as they are, and the count
//! of an item is that of the users who have shown it in the window. ([`BasicHistograms`](Method::BasicHistograms) are composed over steps, and cost the same too.)
//!
//! There is no decay, and no sum that counts a user once for each step of the window: a user would then weigh up to `w` in a
//! cell, a report would cost `w` times as much, and the threshold would be `w` times as high (the sensitivity of a count enters
//! [`ThreshMonitor`](Method::ThreshMonitor)'s proof as a factor of `ln(1/a)`). Weights that fall from 1 cost no more than a window and only shrink counts, so they
//! find less than the window that they fade out over.
//!
//! Out of scope: keeping names of users and items, reading streams.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod advice;
pub mod baselines;
mod error;
mod files;
mod plan;
mod record;
mod session;
mod shards;
#[cfg(test)]
mod testing;
mod universe;
mod users;

pub use advice::{
    Advice, AdviceRow, ExcludedRow, Question, SettingRow, Settings, Wanted, advise, advise_settings,
};
pub use error::StreamError;
#[doc(hidden)]
pub use files::resealed;
pub use plan::{ItemOrder, Method, MonitorPlan, MonitorSettings, StreamShape, Threshold};
pub use record::{Event, Report};
pub use session::{Monitor, MonitorState};
pub use shards::{Decider, DeciderState, Decision, Shard, ShardCounts, ShardState};
pub use universe::Universe;
#[doc(hidden)]
pub use users::CountingSizes;
pub use users::{BadEvent, BadEventKind};

pub use dp_accounting::{AddRemove, Budget, Ledger, Receipt};
pub use dp_mechanism::{
    ChaCha20Rng, Mechanism, Release, ReleaseRng, SecureSource, Source, chacha_from_os,
};
