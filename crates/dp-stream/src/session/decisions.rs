//! Which steps have been decided, and the decision on the next one.

use std::sync::Arc;

use dp_mechanism::{Draws, Private, Reported, Touched};
use serde::{Deserialize, Serialize};

use crate::files::Checksum;
use crate::plan::params::{Asked, check_count};
use crate::users::{KnownItems, Precedence};
use crate::{MonitorPlan, Report, StreamError};

/// The part of a session that knows no user: it is free of secrets.
#[derive(Debug)]
pub(crate) struct Decisions {
    plan: Arc<MonitorPlan>,
    progress: Progress,
}

/// What of it must survive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Progress {
    pub(crate) asked: Asked,
    /// The first step of the last decision: it also decided steps that were skipped.
    pub(crate) from: u64,
    pub(crate) next: u64,
    pub(crate) threshold: i64,
    pub(crate) last_reports: Vec<Report>,
    pub(crate) known: KnownItems,
}

/// How many reports of unseen items are made up for skipped steps in one call, on average.
const MOST_SKIPPED: f64 = 1e7;

impl Decisions {
    pub(crate) fn new(plan: MonitorPlan) -> Self {
        let progress = Progress {
            asked: plan.asked.clone(),
            from: 0,
            next: 0,
            threshold: plan.threshold,
            last_reports: Vec::new(),
            known: KnownItems::none(),
        };
        Self { plan: Arc::new(plan), progress }
    }

    pub(crate) fn plan(&self) -> &MonitorPlan {
        &self.plan
    }

    pub(crate) fn shared_plan(&self) -> Arc<MonitorPlan> {
        Arc::clone(&self.plan)
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Of items in the step under way.
    pub(crate) fn precedence(&self) -> Precedence<'_> {
        self.progress.known.precedence(self.progress.next, self.plan.item_order())
    }

    pub(crate) fn set_threshold(&mut self, threshold: i64) -> Result<(), StreamError> {
        check_count("threshold", threshold)?;
        if threshold < self.plan.least_threshold {
            let want = "at least the least threshold of the plan";
            return Err(StreamError::OutOfRange { name: "threshold", got: threshold.into(), want });
        }
        self.progress.threshold = threshold;
        Ok(())
    }

    /// Refuses times that have passed or are not planned, and skips that would report without end.
    pub(crate) fn check_time(&self, time: u64) -> Result<(), StreamError> {
        let (next, threshold) = (self.progress.next, self.progress.threshold);
        self.plan.check_time(time, next)?;
        let steps = time - next;
        let expected = steps as f64 * self.plan.reports_of_unseen(threshold);
        if expected > MOST_SKIPPED {
            return Err(StreamError::TooManySkipped { steps, expected });
        }
        Ok(())
    }

    /// The reports of the step at `time`, which has these counts (each item once), and of the steps
    /// that were skipped before it.
    pub(crate) fn decide(
        &mut self,
        time: u64,
        counts: Private<Touched<'_>>,
        draws: &mut Draws<'_>,
    ) -> Result<&[Report], StreamError> {
        self.check_time(time)?;
        let Progress { next: first, threshold, .. } = self.progress;
        let found = self.plan.reports.release(counts, time - first + 1, threshold, draws);
        let report = |found: Reported| Report {
            time: first + found.step,
            item: found.cell,
            noisy_count: found.noisy_count,
        };
        self.progress.last_reports = found.into_iter().map(report).collect();
        self.progress.known.note(&self.progress.last_reports);
        (self.progress.from, self.progress.next) = (first, time + 1);
        Ok(&self.progress.last_reports)
    }
}

impl Progress {
    /// `published` as at [`MonitorState::resume`](crate::MonitorState::resume).
    pub(crate) fn resume(
        self,
        plan: &MonitorPlan,
        published: u64,
    ) -> Result<Decisions, StreamError> {
        if self.asked != plan.asked {
            return Err(StreamError::StateOfAnotherPlan);
        }
        if self.next < published {
            return Err(StreamError::StateTooOld { next: self.next, published });
        }
        Ok(Decisions { plan: Arc::new(plan.clone()), progress: self })
    }

    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        self.asked.add_to(sum);
        sum.number(self.from);
        sum.number(self.next);
        sum.number(self.threshold.cast_unsigned());
        add_reports(&self.last_reports, sum);
        self.known.add_to(sum);
    }

    /// Whether a run of the plan could have left this behind.
    pub(crate) fn is_possible(&self, plan: &MonitorPlan) -> bool {
        let steps = self.from..self.next;
        let report = |report: &Report| {
            report.item <= plan.universe().last() && report.noisy_count >= plan.least_threshold
        };
        check_count("threshold", self.threshold).is_ok()
            && self.threshold >= plan.least_threshold
            && self.next <= plan.steps()
            && (self.from < self.next || self.next == 0 && self.from == 0)
            && are_of_steps(&self.last_reports, &steps)
            && self.last_reports.iter().all(report)
            && self.known.is_possible(self.next, plan.universe().last())
    }
}

/// Whether reports are in order, each once, and of these steps.
pub(crate) fn are_of_steps(reports: &[Report], steps: &std::ops::Range<u64>) -> bool {
    reports.iter().all(|report| steps.contains(&report.time))
        && reports.is_sorted_by(|a, b| (a.time, a.item) < (b.time, b.item))
}

pub(crate) fn add_reports(reports: &[Report], sum: &mut Checksum) {
    sum.number(reports.len() as u64);
    for report in reports {
        sum.number(report.time);
        sum.number(report.item);
        sum.number(report.noisy_count.cast_unsigned());
    }
}

/// The items reported at `time`, in order.
pub(crate) fn items_of(reports: &[Report], time: u64) -> Vec<u64> {
    reports.iter().filter(|report| report.time == time).map(|report| report.item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MonitorSettings, StreamShape, Threshold, Universe};

    /// With a checksum that matches: what no run leaves behind is found all the same.
    #[test]
    fn impossible_progress_is_refused() {
        let shape = StreamShape { universe: Universe::Range { size: 20 }, users: 5, steps: 9 };
        let settings = MonitorSettings {
            threshold: Threshold::Count { count: 8 },
            least_threshold: Some(6),
            ..Default::default()
        };
        let plan = crate::testing::pure(shape, 1.0, 2, settings).expect("valid");
        let report = |time, item, noisy_count| Report { time, item, noisy_count };
        let known = |reports: &[Report]| {
            let mut known = KnownItems::none();
            known.note(reports);
            known
        };
        let progress = |from, next, last_reports: &[Report]| Progress {
            asked: plan.asked.clone(),
            from,
            next,
            threshold: 7,
            last_reports: last_reports.to_vec(),
            known: known(&[]),
        };
        let good = progress(2, 4, &[report(2, 19, 6), report(3, 0, 9), report(3, 7, 9)]);
        assert!(good.is_possible(&plan));
        assert!(progress(0, 0, &[]).is_possible(&plan) && progress(8, 9, &[]).is_possible(&plan));
        for bad in [
            progress(4, 4, &[]),
            progress(9, 10, &[]),
            progress(2, 4, &[report(1, 3, 9)]),
            progress(2, 4, &[report(4, 3, 9)]),
            progress(2, 4, &[report(3, 20, 9)]),
            progress(2, 4, &[report(3, 3, 5)]),
            progress(2, 4, &[report(3, 3, 9), report(3, 3, 9)]),
            progress(2, 4, &[report(3, 3, 9), report(2, 3, 9)]),
            Progress { known: known(&[report(4, 3, 9)]), ..good.clone() },
            Progress { known: known(&[report(1, 20, 9)]), ..good.clone() },
            Progress { threshold: 5, ..good.clone() },
            Progress { threshold: (1 << 41) + 1, ..good.clone() },
        ] {
            assert!(!bad.is_possible(&plan), "{bad:?}");
        }
    }
}
