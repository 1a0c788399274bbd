//! Counts, histograms and means of a column by public groups, because every office begins there.
//!
//! A record counts in at most one cell; every cell gets two-sided geometric noise, those where nobody is too. A record of no known group,
//! and where a number is asked for one without, is left out; numbers outside of the bounds count as the closest bound.

mod accuracy;
mod plan;
mod read;
mod report;

pub use accuracy::{Estimate, Interval};
pub use plan::{GroupPlan, GroupSettings, Measure, Noisy, Tally};
pub use read::{Met, Source, read};
pub use report::{accurate_plan, files, plan_text, report};
