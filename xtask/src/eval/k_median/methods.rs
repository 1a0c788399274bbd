//! The algorithms of the suite with their settings.

use crate::error::Error;
use crate::eval::family::Label;
use dp_accounting::{Budget, Delta};
use dp_combinatorial::CombinatorialError;
use dp_combinatorial::k_median::{
    Base, Denoise, FasterPam, MetricBicriteria, MetricBicriteriaBuilder, MetricHistogram,
};
use dp_mechanism::{Certificate, ChaCha20Rng, Mechanism, SelectionRule};
use quietus_datasets::sets::k_median::{Instance, weights};

/// Of the one that has one.
const DELTA: f64 = 1e-6;

/// One algorithm at one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Method {
    algorithm: &'static str,
    variant: &'static str,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    TrueWeights,
    EqualWeights,
    Histogram(&'static [Denoise]),
    Bicriteria,
    /// With the paper's pairing of sample and rate, exponential mechanism, start and counts.
    AsPublished,
    /// Without a sample, as Jones et al. pay.
    Approximate,
    /// As many picks as centres, each for its share of epsilon.
    Composition,
}

const fn method(algorithm: &'static str, variant: &'static str, how: How) -> Method {
    Method { algorithm, variant, how }
}

pub(super) const METHODS: [Method; 10] = [
    method("faster-pam", "default", How::TrueWeights),
    method("public-uniform", "default", How::EqualWeights),
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
            params: Vec::new(),
        }
    }

    /// Its centres.
    pub(super) fn run(
        self,
        instance: &Instance,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<u32>, Error> {
        self.centres(instance, epsilon, rng).map_err(|error| Error::library(self.algorithm, &error))
    }

    fn centres(
        self,
        instance: &Instance,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<u32>, CombinatorialError> {
        let (source, metric) = (&instance.source, &instance.metric);
        let search = |weights: &[u64]| {
            let found = FasterPam::new(source.k, source.power).post_search(metric, weights);
            found.map(|solution| solution.centres)
        };
        let bicriteria = match self.how {
            How::TrueWeights => return search(&weights(instance)),
            How::EqualWeights => return search(&vec![1; metric.nodes()]),
            How::Histogram(ways) => {
                let budget = Budget::new(epsilon, 0.0)?;
                let plan = MetricHistogram::builder(source.k, source.power, budget);
                let plan = plan.denoise(ways.to_vec()).build(metric)?;
                return Ok(plan.simulate(&instance.users, rng)?.output.centres);
            }
            How::Bicriteria => plan(instance, epsilon, 0.0)?,
            How::AsPublished => {
                // The paper spends ln 2 where ln(1 + e^epsilon) is allowed.
                let share = 0.5 * std::f64::consts::LN_2 / epsilon.exp().ln_1p();
                let paper = plan(instance, epsilon, 0.0)?.rule(SelectionRule::Exponential);
                paper.base(Base::Diameter).shares(share, share).subtract_mean(false)
            }
            How::Approximate => {
                let delta = Delta::new(DELTA)?;
                plan(instance, epsilon, DELTA)?
                    .certificate(Certificate::Approximate { delta })
                    .rule(SelectionRule::Exponential)
            }
            How::Composition => {
                let picks = u32::try_from(source.k).expect("few centres");
                plan(instance, epsilon, 0.0)?.certificate(Certificate::Composition).picks(picks)
            }
        };
        Ok(bicriteria.build(metric)?.simulate(&instance.users, rng)?.output.centres)
    }
}

fn plan(
    instance: &Instance,
    epsilon: f64,
    delta: f64,
) -> Result<MetricBicriteriaBuilder, CombinatorialError> {
    let source = &instance.source;
    let budget = Budget::new(epsilon, delta)?;
    Ok(MetricBicriteria::builder(source.k, source.power, budget, source.users as u64))
}
