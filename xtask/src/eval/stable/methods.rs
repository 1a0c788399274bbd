//! The algorithms of the suite.

use crate::error::Error;
use crate::eval::family::{Label, Named, method};
use dp_accounting::Budget;
use dp_cluster::kmeans::{KMeans, KMeansSettings};
use dp_cluster::private_centres::{Payment, PrivateCentres, PrivateCentresSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings, Recentred, Rounds, part_of};
use dp_cluster::stemmer_kaplan::{StemmerKaplan, StemmerKaplanSettings};
use dp_cluster::{ClusterError, Clustering};
use dp_geometry::Points;
use dp_local::{LocalKMeans, LocalKMeansSettings};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use quietus_datasets::sets::planted::Planted;
use rand::RngExt;

const DELTA: f64 = 1e-6;

/// What a start gets, if it is re-centred.
const START: f64 = 0.5;

/// One algorithm at one setting.
pub(crate) type Method = Named<How>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// k-means on uniform points.
    Nobody,
    Centres(Payment),
    Paper,
    PaperRecentred,
    DpmRecentred,
    Recommended,
    /// Without a collector: one message for each record.
    Local,
}

pub(super) const METHODS: [Method; 8] = [
    method("public-uniform", "default", How::Nobody),
    method("private-centres", "default", How::Centres(Payment::AllRecords)),
    method("private-centres", "subsamples", How::Centres(Payment::Subsamples)),
    method("stemmer-kaplan", "default", How::Paper),
    method("stemmer-kaplan-recentred", "default", How::PaperRecentred),
    method("dpm-recentred", "default", How::DpmRecentred),
    method("private-kmeans", "default", How::Recommended),
    method("local-k-means", "default", How::Local),
];

impl Method {
    pub(super) fn label(self) -> Label {
        let (relation, delta) = match self.how {
            How::Nobody => (None, None),
            How::Local => (Some("replace-one"), Some(0.0)),
            _ => (Some("add-remove"), Some(DELTA)),
        };
        Label {
            algorithm: self.algorithm,
            variant: self.variant.to_owned(),
            relation,
            has_epsilon: relation.is_some(),
            delta,
            once: false,
            params: Vec::new(),
        }
    }

    /// Its centres; the middle of the box if there is none.
    pub(super) fn run(
        self,
        data: &Planted,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Points, Error> {
        let (k, dim) = (data.means.len(), data.means.dim());
        let centres = match self.how {
            How::Nobody => {
                let uniform = (0..2_000 * dim).map(|_| rng.random_range(-1.0..1.0)).collect();
                let uniform = Points::new(uniform, dim)?;
                let solver = KMeans::new(k, KMeansSettings::default());
                let fit = solver.and_then(|solver| solver.exact_fit(uniform.view(), None, rng));
                fit?.centres
            }
            How::Local => {
                let clients = u32::try_from(data.records.len())?;
                let (domain, settings) = (data.public_box.clone(), LocalKMeansSettings::default());
                let plan = LocalKMeans::new(domain, k, epsilon, clients, settings)?;
                let server = plan.simulate(rng.random(), data.records.view(), rng);
                let found = server?.centres();
                found.expect("all rounds are over").centres
            }
            _ => self.central(data, k, epsilon, rng)?.centres,
        };
        if centres.is_empty() {
            return Ok(Points::new(vec![0.0; dim], dim)?);
        }
        Ok(centres)
    }

    fn central(
        self,
        data: &Planted,
        k: usize,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Clustering, ClusterError> {
        let (records, public_box) = (data.records.view(), data.public_box.clone());
        let budget = Budget::new(epsilon, DELTA)?;
        Ok(match self.how {
            How::Centres(payment) => {
                let settings = PrivateCentresSettings { payment, ..Default::default() };
                let plan = PrivateCentres::new(public_box, k, budget, settings)?;
                plan.simulate(records, rng)?.output.into()
            }
            How::PaperRecentred => {
                let settings = StemmerKaplanSettings::default();
                let start =
                    StemmerKaplan::new(public_box.clone(), k, part_of(budget, START)?, settings)?;
                let plan = Recentred::new(start, public_box, budget, Rounds::default(), Some(k))?;
                plan.simulate(records, rng)?.output
            }
            How::DpmRecentred => {
                let settings = DpmRecentredSettings { clusters: Some(k), ..Default::default() };
                let plan = DpmRecentred::new(public_box, budget, settings)?;
                plan.simulate(records, rng)?.output
            }
            How::Recommended => {
                let expected_records = Some(records.len() as u64);
                let settings = PrivateKMeansSettings { expected_records, ..Default::default() };
                let plan = PrivateKMeans::new(public_box, k, budget, settings)?;
                plan.simulate(records, rng)?.output
            }
            _ => {
                let plan =
                    StemmerKaplan::new(public_box, k, budget, StemmerKaplanSettings::default())?;
                plan.simulate(records, rng)?.output
            }
        })
    }
}
