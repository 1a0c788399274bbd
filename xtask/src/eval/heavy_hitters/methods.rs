//! The algorithms of the suite with their settings.

use crate::error::Error;
use crate::eval::family::Label;
use dp_accounting::Budget;
use dp_mechanism::{ChaCha20Rng, Mechanism};
use dp_stream::baselines::{CellMethod, CellMonitor, exact_heavy_hitters};
use dp_stream::{
    Histograms, MonitorPlan, Report, SecureSource, StreamShape, TargetCharging, ThreshMonitor,
    Threshold, Universe,
};
use quietus_datasets::sets::heavy_hitters::{Source, Stream};

/// Of every method that has one.
pub(super) const DELTA: f64 = 1e-6;
/// Expected number of reports of items that nobody shows, over a whole stream.
const BETA: f64 = 0.1;

/// One algorithm at one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Setting {
    pub(super) algorithm: &'static str,
    /// Reports per user.
    pub(super) k: u8,
    /// log2 of the universe if it is not that of the source.
    pub(super) universe_bits: Option<u32>,
}

/// What a run has shown.
pub(super) struct Outcome {
    pub(super) reports: Vec<Report>,
    /// Share of the sampled users who have no report left.
    pub(super) dropped: Option<f64>,
    /// From this many users on, an item is found but once in 10^3, by the formula.
    pub(super) promised: Option<u64>,
}

impl Setting {
    pub(super) fn label(&self) -> Label {
        let is_private = self.is_private();
        Label {
            algorithm: self.algorithm,
            variant: match self.universe_bits {
                _ if !is_private => "default".to_owned(),
                Some(bits) => format!("k={}, 2^{bits} items", self.k),
                None => format!("k={}", self.k),
            },
            relation: is_private.then_some("add-remove"),
            has_epsilon: is_private,
            delta: self.delta(),
            once: false,
            params: vec![("k", self.k.into())],
        }
    }

    pub(super) fn is_private(&self) -> bool {
        self.algorithm != "exact"
    }

    fn delta(&self) -> Option<f64> {
        let pure = ["thresh-monitor", "basic-histograms", "sparse-vector"];
        self.is_private().then(|| if pure.contains(&self.algorithm) { 0.0 } else { DELTA })
    }

    /// Whether every item of the universe takes a draw.
    fn cell_method(&self, source: &Source) -> Option<CellMethod> {
        match self.algorithm {
            "gaussian-histograms" => Some(CellMethod::GaussianHistograms),
            "kaplan-style" => Some(CellMethod::KaplanStyle { spread: 10 }),
            "sparse-vector" => {
                let reports = u32::try_from(4 * source.steps).unwrap_or(u32::MAX);
                Some(CellMethod::SparseVector { reports })
            }
            _ => None,
        }
    }

    pub(super) fn run(
        &self,
        stream: &Stream,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let source = stream.source;
        let failed = |error: dp_stream::StreamError| Error::library(self.algorithm, &error);
        if self.algorithm == "exact" {
            let reports = exact_heavy_hitters(&stream.steps, source.heavy);
            return Ok(Outcome { reports, dropped: None, promised: None });
        }
        let universe = self.universe_bits.map(|bits| match bits {
            64.. => Universe::Bits64,
            bits => Universe::Range { size: 1 << bits },
        });
        let shape = source.shape(universe);
        let budget = Budget::new(epsilon, self.delta().unwrap_or(0.0))
            .map_err(|error| Error::library(self.algorithm, &error))?;
        let threshold = Threshold::Rule { beta: BETA };
        if let Some(method) = self.cell_method(source) {
            let k = if method == CellMethod::GaussianHistograms {
                source.items_per_step
            } else {
                self.k.max(source.items_per_step)
            };
            let plan = CellMonitor::new(shape, budget, method, k, threshold).map_err(failed)?;
            let release = plan.simulate(&stream.steps, rng).map_err(failed)?;
            return Ok(Outcome { reports: release.output, dropped: None, promised: None });
        }
        let plan = self.plan(shape, budget, source).map_err(failed)?;
        let mut monitor = plan.start_with(&mut SecureSource::new(rng));
        let sampled = monitor.exact_active_users();
        let mut reports = Vec::new();
        for (time, events) in (0..).zip(&stream.steps) {
            reports.extend(
                monitor.step_with(time, events, &mut SecureSource::new(rng)).map_err(failed)?,
            );
        }
        let left = monitor.exact_active_users();
        let dropped = (sampled - left) as f64 / sampled.max(1) as f64;
        Ok(Outcome { reports, dropped: Some(dropped), promised: Some(plan.smallest_count(1e-3)) })
    }

    fn plan(
        &self,
        shape: StreamShape,
        budget: Budget,
        source: &Source,
    ) -> Result<MonitorPlan, dp_stream::StreamError> {
        let items = source.items_per_step.min(self.k);
        let builder = match self.algorithm {
            "thresh-monitor-seen" => ThreshMonitor::builder_seen(shape, budget, self.k),
            "target-charging" => TargetCharging::builder(shape, budget, self.k),
            "basic-histograms" => {
                Histograms::builder(shape, budget.epsilon().get(), source.items_per_step)?
            }
            _ => ThreshMonitor::builder(shape, budget.epsilon().get(), self.k)?,
        };
        let builder = if self.algorithm == "basic-histograms" {
            builder
        } else {
            builder.items_per_step(items)
        };
        builder.threshold(Threshold::Rule { beta: BETA }).build()
    }
}
