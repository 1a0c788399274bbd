//! The algorithms of the suite with their settings.

use crate::error::Error;
use crate::eval::family::{Label, Named, method};
use dp_accounting::{Budget, Delta};
use dp_combinatorial::k_median::{
    Base, Denoise, FasterPam, MetricBicriteria, MetricBicriteriaSettings, MetricClustering,
    MetricHistogram, MetricHistogramSettings,
};
use dp_mechanism::{Certificate, ChaCha20Rng, Mechanism, SelectionRule};
use quietus_datasets::sets::k_median::{Instance, weights};

/// Of the one that has one.
const DELTA: f64 = 1e-6;

/// One algorithm at one setting.
pub(crate) type Method = Named<How>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    TrueWeights,
    EqualWeights,
    /// The one to use.
    Clustering,
    Histogram(&'static [Denoise]),
    Bicriteria,
    /// With the paper's pairing of sample and rate, exponential mechanism, start and counts.
    AsPublished,
    /// Without a sample, as Jones et al. pay.
    Approximate,
    /// As many picks as centres, each for its share of epsilon.
    Composition,
}

pub(super) const METHODS: [Method; 11] = [
    method("faster-pam", "default", How::TrueWeights),
    method("public-uniform", "default", How::EqualWeights),
    method("metric-clustering", "default", How::Clustering),
    method("metric-histogram", "default", How::Histogram(&[Denoise::Neighbourhoods])),
    method("metric-histogram", "one prior", How::Histogram(&[Denoise::Exchangeable])),
    method("metric-histogram", "clipped", How::Histogram(&[Denoise::Threshold(0.0)])),
    method(
        "metric-histogram",
        "best threshold",
        How::Histogram(&[
            Denoise::Threshold(0.0),
            Denoise::Threshold(0.25),
            Denoise::Threshold(0.5),
            Denoise::Threshold(1.0),
        ]),
    ),
    method("metric-bicriteria", "default", How::Bicriteria),
    method("metric-bicriteria-as-published", "default", How::AsPublished),
    method("approximate-greedy", "default", How::Approximate),
    method("composition-greedy", "default", How::Composition),
];

impl Method {
    pub(super) fn label(self) -> Label {
        let is_private = self.how != How::TrueWeights;
        let has_epsilon = !matches!(self.how, How::TrueWeights | How::EqualWeights);
        let delta = if self.how == How::Approximate { DELTA } else { 0.0 };
        Label {
            algorithm: self.algorithm,
            variant: self.variant.to_owned(),
            relation: is_private.then_some("add-remove"),
            has_epsilon,
            delta: is_private.then_some(delta),
            once: !has_epsilon,
            ..Default::default()
        }
    }

    /// Its centres.
    pub(super) fn run(
        self,
        instance: &Instance,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<u32>, Error> {
        let (source, metric) = (&instance.source, &instance.metric);
        let search = |weights: &[u64]| {
            let found = FasterPam::new(source.k, source.power).post_search(metric, weights);
            Ok(found?.centres)
        };
        let usual = MetricBicriteriaSettings::default();
        let (delta, settings) = match self.how {
            How::TrueWeights => return search(&weights(instance)),
            How::EqualWeights => return search(&vec![1; metric.nodes()]),
            How::Clustering => {
                let (budget, hint) = (Budget::new(epsilon, 0.0)?, source.users as u64);
                let plan = MetricClustering::new(metric, source.k, source.power, budget, hint)?;
                return Ok(plan.simulate(&instance.users, rng)?.output.centres);
            }
            How::Histogram(ways) => {
                let budget = Budget::new(epsilon, 0.0)?;
                let settings =
                    MetricHistogramSettings { denoise: ways.to_vec(), ..Default::default() };
                let plan = MetricHistogram::new(metric, source.k, source.power, budget, settings)?;
                return Ok(plan.simulate(&instance.users, rng)?.output.centres);
            }
            How::Bicriteria => (0.0, usual),
            How::AsPublished => {
                // The paper spends ln 2 where ln(1 + e^epsilon) is allowed.
                let share = 0.5 * std::f64::consts::LN_2 / epsilon.exp().ln_1p();
                let paper = MetricBicriteriaSettings {
                    rule: SelectionRule::Exponential,
                    base: Base::Diameter,
                    picks_share: share,
                    counts_share: share,
                    subtract_mean: false,
                    ..usual
                };
                (0.0, paper)
            }
            How::Approximate => {
                let certificate = Certificate::Approximate { delta: Delta::new(DELTA)? };
                let rule = SelectionRule::Exponential;
                (DELTA, MetricBicriteriaSettings { certificate, rule, ..usual })
            }
            How::Composition => {
                let picks = Some(u32::try_from(source.k).expect("few centres"));
                let certificate = Certificate::Composition;
                (0.0, MetricBicriteriaSettings { certificate, picks, ..usual })
            }
        };
        let (budget, hint) = (Budget::new(epsilon, delta)?, source.users as u64);
        let plan = MetricBicriteria::new(metric, source.k, source.power, budget, hint, settings)?;
        Ok(plan.simulate(&instance.users, rng)?.output.centres)
    }
}
