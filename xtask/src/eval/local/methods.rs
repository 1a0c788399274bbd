//! The algorithms of the suite.

use crate::error::Error;
use crate::eval::family::{Label, Named, method};
use dp_accounting::Budget;
use dp_cluster::kmeans::{KMeans, KMeansSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_geometry::{Points, PublicBox};
use dp_local::{CentresForm, Epsilon, LocalKMeans, LocalKMeansSettings, LocalPrivateCentres};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use quietus_datasets::sets::clients::{Clients, K};
use rand::RngExt;
use rand_distr::{Distribution as _, Exp1};

/// One algorithm at one setting.
pub(crate) type Method = Named<How>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// With the records in hand.
    Records,
    /// By a collector whom all trust.
    Central,
    /// The centres of uniform records: nobody is asked.
    Nobody,
    /// So many rounds of re-centring.
    Rounds(u8),
    /// What the paper sketches.
    Paper(CentresForm),
    /// Each client adds Laplace noise to its coordinates and sends them.
    NoisyRecords,
}

/// Of the collector whom all trust.
const DELTA: f64 = 1e-6;

pub(super) const METHODS: [Method; 8] = [
    method("kmeans++", "default", How::Records),
    method("private-kmeans", "default", How::Central),
    method("public-uniform", "default", How::Nobody),
    method("local-k-means", "default", How::Rounds(3)),
    method("local-k-means", "one histogram", How::Rounds(0)),
    method("local-private-centers", "default", How::Paper(CentresForm::FourRounds)),
    method("local-private-centers", "one round", How::Paper(CentresForm::OneRound)),
    method("laplace-records", "default", How::NoisyRecords),
];

impl Method {
    pub(super) fn label(self) -> Label {
        let (is_private, is_central) = (self.how != How::Records, self.how == How::Central);
        Label {
            algorithm: self.algorithm,
            variant: self.variant.to_owned(),
            relation: is_private.then_some(if is_central { "add-remove" } else { "replace-one" }),
            has_epsilon: !matches!(self.how, How::Records | How::Nobody),
            delta: is_private.then_some(if is_central { DELTA } else { 0.0 }),
            once: false,
            params: Vec::new(),
        }
    }

    /// Bytes that a client sends about its record, and rounds of questions.
    pub(super) fn sends(self, domain: &PublicBox, epsilon: f64) -> Option<(usize, usize)> {
        match self.how {
            How::Records | How::Central | How::Nobody => None,
            How::Rounds(rounds) => {
                let settings = LocalKMeansSettings { rounds, ..Default::default() };
                let plan = LocalKMeans::new(domain.clone(), K, epsilon, 1 << 20, settings).ok()?;
                let most = (0..=rounds).map(|round| plan.answer_bytes(round)).max()?;
                Some((most, usize::from(rounds) + 1))
            }
            // The name of a direction, or of a cell's hash, of which there are about e^epsilon + 1.
            How::Paper(form) => Some((if epsilon > 5.5 { 2 } else { 1 }, form.rounds())),
            How::NoisyRecords => Some((8 * domain.dim(), 1)),
        }
    }

    /// Its centres.
    pub(super) fn run(
        self,
        Clients { records, public_box, .. }: &Clients,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Points, Error> {
        let (dim, n) = (records.dim(), records.len());
        match self.how {
            How::Records => solved(records, None, rng),
            How::Central => {
                let budget = Budget::new(epsilon, DELTA)?;
                let expected_records = Some(n as u64);
                let settings = PrivateKMeansSettings { expected_records, ..Default::default() };
                let plan = PrivateKMeans::new(public_box.clone(), K, budget, settings)?;
                let release = plan.simulate(records.view(), rng);
                Ok(release?.output.centres)
            }
            How::Nobody => {
                let uniform = (0..20_000 * dim).map(|_| rng.random_range(-1.0..1.0)).collect();
                solved(&Points::new(uniform, dim)?, None, rng)
            }
            How::Rounds(rounds) => {
                let clients = u32::try_from(n)?;
                let settings = LocalKMeansSettings { rounds, ..Default::default() };
                let plan = LocalKMeans::new(public_box.clone(), K, epsilon, clients, settings)?;
                let server = plan.simulate(rng.random(), records.view(), rng);
                let found = server?.centres();
                Ok(found.expect("all rounds are over").centres)
            }
            How::Paper(form) => {
                let epsilon = Epsilon::new(epsilon)?;
                let plan = LocalPrivateCentres::new(public_box.clone(), K, epsilon, form)?;
                let found = plan.simulate(rng.random(), records.view(), rng);
                let found = found?;
                solved(&found.points, Some(&found.weights), rng)
            }
            How::NoisyRecords => {
                // A record can change all coordinates, each by 2.
                let scale = 2.0 * dim as f64 / epsilon;
                let noisy = records.view().coords().iter().map(|x| {
                    let size: f64 = Exp1.sample(rng);
                    let noise = if rng.random() { scale * size } else { -scale * size };
                    (x + noise).clamp(-1.0, 1.0)
                });
                let noisy = Points::new(noisy.collect(), dim)?;
                solved(&noisy, None, rng)
            }
        }
    }
}

/// k-means with these points in hand.
pub(super) fn solved(
    points: &Points,
    weights: Option<&[f64]>,
    rng: &mut ChaCha20Rng,
) -> Result<Points, Error> {
    let solver = KMeans::new(K.min(points.len()), KMeansSettings::default());
    let fit = solver.and_then(|solver| solver.exact_fit(points.view(), weights, rng));
    Ok(fit?.centres)
}
