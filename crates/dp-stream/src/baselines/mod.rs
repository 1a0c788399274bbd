//! Methods that go through the universe item by item, for comparison.
//!
//! Their noise has no tail that could be jumped over exactly, so every item of every step takes a
//! draw: the universe is limited to [`CellMonitor::MAX_CELLS`] items. Admission and charges of users
//! are those of the [`Monitor`](crate::Monitor).

mod monitor;
mod noise;

use serde::{Deserialize, Serialize};

pub use monitor::CellMonitor;
pub(crate) use noise::scales;

use crate::{Event, Report};

/// What noise goes through the cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CellMethod {
    /// In the style of Kaplan, Mansour and Stemmer (2021): the count has Laplace noise of loss `e` and
    /// a second, wider noise, and the threshold has a noise of its own.
    ///
    /// Certified like [`TargetCharging`](crate::Method::TargetCharging) with `k` hits per user: the wider
    /// noises do not depend on the data, so they are part of a public threshold. This is not the
    /// algorithm of that paper with its constants, which were not at hand.
    KaplanStyle {
        /// How many times wider the other two noises are; 0 leaves them out.
        spread: u8,
    },
    /// A histogram with Gaussian noise in every step, all of them one Gaussian `mu`: variance `T m / mu^2`.
    GaussianHistograms,
    /// The sparse vector technique: one secret noisy threshold, and silence for the rest of the stream
    /// after this many reports in all. Pure. Counts of one user move in one direction, so
    /// `epsilon_1 + epsilon_2` pays for a threshold of loss `epsilon_1` and tests of `epsilon_2 / c`
    /// each (Lyu, Su, Li 2017, Theorem 5).
    SparseVector {
        /// `c`, at least 1.
        reports: u32,
    },
}

impl CellMethod {
    /// The stable id.
    pub fn id(self) -> &'static str {
        match self {
            Self::KaplanStyle { .. } => "kaplan-style",
            Self::GaussianHistograms => "gaussian-histograms",
            Self::SparseVector { .. } => "sparse-vector",
        }
    }
}

/// The items that a threshold without noise would report in each step: not private, for evaluation.
///
/// Counts distinct users. In the order of times and items.
pub fn exact_heavy_hitters(data: &[Vec<Event>], threshold: u32) -> Vec<Report> {
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        let mut shown: Vec<(u64, u32)> = events.iter().map(|e| (e.item, e.user)).collect();
        shown.sort_unstable();
        shown.dedup();
        for users in shown.chunk_by(|a, b| a.0 == b.0) {
            if users.len() >= threshold as usize {
                let noisy_count = i64::try_from(users.len()).unwrap_or(i64::MAX);
                reports.push(Report { time, item: users[0].0, noisy_count });
            }
        }
    }
    reports
}
