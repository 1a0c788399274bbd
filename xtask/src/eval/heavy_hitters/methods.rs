//! The algorithms of the suite with their settings.

use crate::error::Error;
use crate::eval::family::Label;
use dp_accounting::Budget;
use dp_mechanism::{ChaCha20Rng, Mechanism};
use dp_stream::baselines::{CellMethod, CellMonitor, exact_heavy_hitters};
use dp_stream::{
    Method, MonitorPlan, MonitorSettings, Report, SecureSource, StreamError, StreamShape,
    Threshold, Universe,
};
use quietus_datasets::sets::heavy_hitters::Stream;

/// Of every method that has one.
pub(super) const DELTA: f64 = 1e-6;
/// Expected number of reports of items that nobody shows, over a whole stream.
const THRESHOLD: Threshold = Threshold::Rule { beta: 0.1 };

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// Without privacy.
    Exact,
    ThreshMonitor,
    /// Which reports only what a sampled user shows.
    ThreshMonitorSeen,
    TargetCharging,
    BasicHistograms,
    GaussianHistograms,
    KaplanStyle,
    SparseVector,
}

impl How {
    fn id(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::ThreshMonitor => "thresh-monitor",
            Self::ThreshMonitorSeen => "thresh-monitor-seen",
            Self::TargetCharging => "target-charging",
            Self::BasicHistograms => "basic-histograms",
            Self::GaussianHistograms => "gaussian-histograms",
            Self::KaplanStyle => "kaplan-style",
            Self::SparseVector => "sparse-vector",
        }
    }
}

/// One algorithm at one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Setting {
    pub(super) how: How,
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
            algorithm: self.how.id(),
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
        self.how != How::Exact
    }

    fn delta(&self) -> Option<f64> {
        match self.how {
            How::Exact => None,
            How::ThreshMonitor | How::BasicHistograms | How::SparseVector => Some(0.0),
            How::ThreshMonitorSeen
            | How::TargetCharging
            | How::GaussianHistograms
            | How::KaplanStyle => Some(DELTA),
        }
    }

    pub(super) fn run(
        &self,
        stream: &Stream,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let source = stream.source;
        let universe = self.universe_bits.map(|bits| match bits {
            64.. => Universe::Bits64,
            bits => Universe::Range { size: 1 << bits },
        });
        let shape = source.shape(universe);
        let budget = Budget::new(epsilon, self.delta().unwrap_or(0.0))?;
        let items = source.items_per_step;
        let k = self.k.max(items);
        let monitor = |method, k: u8| {
            let items_per_step = Some(source.items_per_step.min(k));
            let threshold = THRESHOLD;
            let settings = MonitorSettings { items_per_step, threshold, ..Default::default() };
            MonitorPlan::new(method, shape.clone(), budget, k, settings)
        };
        let plan = match self.how {
            How::Exact => {
                let reports = exact_heavy_hitters(&stream.steps, source.heavy);
                return Ok(Outcome { reports, dropped: None, promised: None });
            }
            How::GaussianHistograms => {
                let method = CellMethod::GaussianHistograms;
                return Ok(by_cells(stream, (shape, budget), method, items, rng)?);
            }
            How::KaplanStyle => {
                let method = CellMethod::KaplanStyle { spread: 10 };
                return Ok(by_cells(stream, (shape, budget), method, k, rng)?);
            }
            How::SparseVector => {
                let reports = u32::try_from(4 * source.steps).unwrap_or(u32::MAX);
                let method = CellMethod::SparseVector { reports };
                return Ok(by_cells(stream, (shape, budget), method, k, rng)?);
            }
            How::ThreshMonitor => monitor(Method::ThreshMonitor, self.k),
            How::ThreshMonitorSeen => monitor(Method::ThreshMonitorSeen, self.k),
            How::TargetCharging => monitor(Method::TargetCharging, self.k),
            How::BasicHistograms => monitor(Method::BasicHistograms, items),
        };
        let plan = plan?;
        let mut monitor = plan.start_with(&mut SecureSource::new(rng));
        let sampled = monitor.exact_active_users();
        let mut reports = Vec::new();
        for (time, events) in (0..).zip(&stream.steps) {
            reports.extend(monitor.step_with(time, events, &mut SecureSource::new(rng))?);
        }
        let left = monitor.exact_active_users();
        let dropped = (sampled - left) as f64 / sampled.max(1) as f64;
        Ok(Outcome { reports, dropped: Some(dropped), promised: Some(plan.smallest_count(1e-3)) })
    }
}

/// By a method that draws for every item of the universe in every step.
fn by_cells(
    stream: &Stream,
    (shape, budget): (StreamShape, Budget),
    method: CellMethod,
    k: u8,
    rng: &mut ChaCha20Rng,
) -> Result<Outcome, StreamError> {
    let plan = CellMonitor::new(shape, budget, method, k, THRESHOLD)?;
    let release = plan.simulate(&stream.steps, rng)?;
    Ok(Outcome { reports: release.output, dropped: None, promised: None })
}
