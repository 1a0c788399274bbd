//! Far more private centres than asked for, a count of who is near each, and then computation.

use std::sync::Arc;

use dp_accounting::{AddRemove, Budget, Receipt, Step};
use dp_mechanism::{
    Algorithm, Certificate, CreditedReports, CreditedRun, CreditedSelection, Draws, NoisyCount,
    Part, Private, SelectionRule,
};
use serde::{Deserialize, Serialize};

use super::candidates::{in_units, or_alike};
use super::clustering::Clustering;
use super::cost::{Costs, Power};
use super::faster_pam::{FasterPam, checked_k};
use super::gains::Gains;
use super::metric::Metric;
use crate::CombinatorialError;
use crate::error::{check_delta, in_terms_of};

/// On the receipt.
const ONE_PLACE: &str = "users nearest to one place";

/// What a user costs before anything is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Base {
    /// The distance to the public centre of the metric: as if it had been chosen already. A user can then
    /// save the radius at most, which is about half of the diameter.
    Centre,
    /// The diameter of the metric.
    Diameter,
}

/// Settings of [`MetricBicriteria`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricBicriteriaSettings {
    /// Which proof pays. Default: [`Certificate::Subsampled`], which is pure.
    pub certificate: Certificate,
    /// How a choice favours high scores. Default: [`SelectionRule::PermuteAndFlip`].
    pub rule: SelectionRule,
    /// How many places are chosen. Default: `2 k ln users_hint`, the paper's, but not more than there are
    /// nodes.
    pub picks: Option<u32>,
    /// The share of the choices. With that of the counts at most 1. Default: half.
    pub picks_share: f64,
    /// The share of the counts. Default: half.
    pub counts_share: f64,
    /// What a user costs before anything is chosen. Default: [`Base::Centre`].
    pub base: Base,
    /// Whether the mean of one-sided noise is taken off the counts before the search. Default: yes.
    pub subtract_mean: bool,
}

impl Default for MetricBicriteriaSettings {
    fn default() -> Self {
        Self {
            certificate: Certificate::Subsampled,
            rule: SelectionRule::PermuteAndFlip,
            picks: None,
            picks_share: 0.5,
            counts_share: 0.5,
            base: Base::Centre,
            subtract_mean: true,
        }
    }
}

/// A user saves what it costs at the start at most. At least 1, so that noise can be fitted to it.
fn most_credit(base: Base, power: Power, metric: &Metric) -> u32 {
    let costs = Costs::new(metric, power, Costs::SCORE_BITS);
    let credit = match base {
        Base::Centre => costs.of(metric.centre().1),
        Base::Diameter => costs.most(),
    };
    credit.max(1)
}

/// How many places are chosen among so many nodes.
fn rounds(asked: Option<u32>, (k, users_hint): (usize, u64), nodes: usize) -> u32 {
    let most = u32::try_from(nodes).expect("ids are u32");
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let papers = (2.0 * k as f64 * (users_hint.max(2) as f64).ln()).ceil() as u32;
    asked.unwrap_or(papers).min(most)
}

/// How users near a place are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Counting {
    OfTheSample(CreditedReports),
    OfAll(NoisyCount),
}

/// Metric k-median or k-means from private choices of places.
///
/// A public number of places is chosen one after another, each by how much of the users' cost it would
/// save. Users are then counted at the nearest of them, and `k` nodes are searched for those counts.
///
/// # Guarantee
/// Under [`AddRemove`] of users. A user's cost only falls, from at most `radius^q` to at least 0, so the
/// savings that it is credited with for the places chosen sum to at most `radius^q`, however many there are;
/// and it is counted once. With [`Certificate::Subsampled`] both see the same secret sample and all is
/// `epsilon`-DP; with [`Certificate::Approximate`] the choices see all users and are approximate, the counts
/// pure; see [`CreditedRun`].
///
/// # Utility
/// A constant factor and `O(k ln(nodes users) / epsilon)` diameters for the paper's form. It is at its best
/// where users are few for so many nodes.
///
/// # Complexity
/// `2 k ln users_hint` choices among all nodes; savings are kept up to date at about five passes over the
/// matrix in all. The search then has as many clients as there are places.
///
/// # Precision
/// Savings are integers of 24 bits. A node's users beyond `2^38 / nodes` do not count.
///
/// # Bad records
/// A user at no node is dropped.
///
/// # Source
/// Ghazi, Kamath, Kumar, Manurangsi, Sealfon (2024), Theorem G.1, with a public number of picks, a public
/// centre to start from, permute-and-flip, the sharper sample, and unbiased counts.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricBicriteria {
    k: usize,
    power: Power,
    budget: Budget,
    settings: MetricBicriteriaSettings,
    metric: Arc<Metric>,
    rounds: u32,
    run: CreditedRun,
    selection: CreditedSelection,
    counting: Counting,
}

impl MetricBicriteria {
    /// For `k` centres among the nodes of a metric within this budget. `users_hint` is roughly the number of users, as
    /// publicly known; it decides on the number of picks and must not be counted.
    ///
    /// Checks every setting, and fits the noise.
    ///
    /// # Errors
    /// [`CombinatorialError`] if `k` is zero or above the number of nodes, if the hint or the number of
    /// picks is zero, if the shares are not positive or too large, if the certificate needs a larger delta
    /// than the budget has or has no proof for the rule, or if the noise does not fit in 64 bits.
    pub fn new(
        metric: &Arc<Metric>,
        k: usize,
        power: Power,
        budget: Budget,
        users_hint: u64,
        settings: MetricBicriteriaSettings,
    ) -> Result<Self, CombinatorialError> {
        checked_k(k, metric)?;
        for (name, got) in
            [("users_hint", users_hint), ("picks", settings.picks.map_or(1, u64::from))]
        {
            if got == 0 {
                return Err(CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" });
            }
        }
        check_delta(settings.certificate, budget)?;
        let (picks, counts) = (settings.picks_share, settings.counts_share);
        for (name, got) in [("share of the picks", picks), ("share of the counts", counts)] {
            if got.is_nan() || got <= 0.0 {
                return Err(CombinatorialError::real(name, got, "above 0"));
            }
        }
        let all = picks + counts;
        if all > 1.0 + 1e-9 {
            let (name, want) = ("shares", "at most 1 together");
            return Err(CombinatorialError::real(name, all, want));
        }
        let rounds = rounds(settings.picks, (k, users_hint), metric.nodes());
        let credit = most_credit(settings.base, power, metric);
        let part = |name, share, rounds| Part { name, share, rounds };
        let epsilon = budget.epsilon();
        let too_little = in_terms_of(budget);
        let (run, counting) = if settings.certificate == Certificate::Subsampled {
            let parts = [
                part("picks", picks, rounds.into()),
                part("counts", counts, u64::from(rounds) + 1),
            ];
            let run =
                CreditedRun::new(settings.certificate, epsilon, &parts).map_err(&too_little)?;
            let reports = run.reports(1, 1).map_err(&too_little)?;
            (run, Counting::OfTheSample(reports))
        } else {
            // One-sided noise needs the sample; without one the counts pay for themselves.
            let parts = epsilon.split(&[picks, counts, (1.0 - all).max(0.0)])?;
            let run = CreditedRun::new(
                settings.certificate,
                parts[0],
                &[part("picks", 1.0, rounds.into())],
            )
            .map_err(&too_little)?;
            (run, Counting::OfAll(NoisyCount::geometric(parts[1]).map_err(&too_little)?))
        };
        let selection = run.selection(0, settings.rule, credit.into()).map_err(too_little)?;
        let metric = Arc::clone(metric);
        Ok(Self { k, power, budget, settings, metric, rounds, run, selection, counting })
    }

    /// The settings it was built from.
    pub fn settings(&self) -> &MetricBicriteriaSettings {
        &self.settings
    }

    /// How many places are chosen.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// What a user may be credited with over all choices, in the units of the scores.
    pub fn most_credit(&self) -> u64 {
        most_credit(self.settings.base, self.power, &self.metric).into()
    }

    /// Nodes with users that take part, and how many.
    fn clients(
        &self,
        users: Private<&[u32]>,
        draws: &mut Draws<'_>,
    ) -> Private<(Vec<u32>, Vec<u64>)> {
        let nodes = self.metric.nodes();
        let on_nodes = users.map(|users| {
            let users: Vec<u32> =
                users.iter().copied().filter(|&user| (user as usize) < nodes).collect();
            (users.len(), (users, vec![0_u64; nodes]))
        });
        let put = |(users, counts): &mut (Vec<u32>, Vec<u64>), user: usize, keep: bool| {
            counts[users[user] as usize] += u64::from(keep);
        };
        // Sums of so many users' costs, at most 2^24 each, fit in 62 bits.
        let most = (1 << 38) / nodes as u64;
        self.run.sample_into(on_nodes, put, draws).map(|(_, counts)| {
            let present = (0..).zip(counts).filter(|&(_, count)| count > 0);
            present.map(|(node, count)| (node, count.min(most))).unzip()
        })
    }

    /// The places: the public centre if users start from it, and what is chosen.
    fn places(&self, clients: Private<&(Vec<u32>, Vec<u64>)>, draws: &mut Draws<'_>) -> Vec<u32> {
        let costs = Costs::new(&self.metric, self.power, Costs::SCORE_BITS);
        let mut gains = clients.map(|(clients, weights)| {
            let mut base = vec![costs.most(); clients.len()];
            if self.settings.base == Base::Centre {
                costs.fill(self.metric.centre().0, clients, &mut base);
            }
            Gains::new(costs, clients.clone(), weights.clone(), base)
        });
        let mut places = Vec::new();
        if self.settings.base == Base::Centre {
            places.push(self.metric.centre().0);
        }
        for _ in 0..self.rounds {
            let scores = gains.as_ref().map(|gains| gains.scores().to_vec());
            let chosen = self.selection.release(&scores.cells(self.metric.nodes()), draws);
            let chosen = chosen.expect("a metric has nodes");
            let place = u32::try_from(chosen.index).expect("ids are u32");
            gains.update(|gains| gains.open(place));
            places.push(place);
        }
        let mut seen = vec![false; self.metric.nodes()];
        places.retain(|&place| !std::mem::replace(&mut seen[place as usize], true));
        places
    }

    /// For every place an estimate of how many users are nearest to it, and the weight it is searched with.
    fn count(
        &self,
        clients: Private<&(Vec<u32>, Vec<u64>)>,
        places: &[u32],
        draws: &mut Draws<'_>,
    ) -> Vec<(f64, f64)> {
        let counts = clients.map(|(clients, weights)| self.nearest_to(places, clients, weights));
        let counts = counts.cells(places.len());
        let noisy = |place: usize| {
            let count = counts.at(place).map(|&count| count);
            match &self.counting {
                Counting::OfTheSample(reports) => {
                    let noisy = reports.count(count, draws) as f64;
                    let unbiased = noisy - reports.mean_noise();
                    (
                        unbiased / self.run.keep_rate(),
                        if self.settings.subtract_mean { unbiased } else { noisy },
                    )
                }
                Counting::OfAll(noise) => {
                    let draws = &mut draws.part(ONE_PLACE, 0, place as u64);
                    let noisy = noise.release(count, draws) as f64;
                    (noisy, noisy)
                }
            }
        };
        (0..places.len()).map(noisy).collect()
    }

    /// How many users are nearest to each place, the first of equally near ones.
    fn nearest_to(&self, places: &[u32], clients: &[u32], weights: &[u64]) -> Vec<u64> {
        let mut counts = vec![0_u64; places.len()];
        let (mut nearest, mut row) = (vec![(u32::MAX, 0); clients.len()], Vec::new());
        for (number, &place) in places.iter().enumerate() {
            self.metric.fill(place, clients, &mut row);
            for (nearest, &distance) in nearest.iter_mut().zip(&row) {
                *nearest = (distance, number).min(*nearest);
            }
        }
        for ((_, number), weight) in nearest.into_iter().zip(weights) {
            counts[number] += weight;
        }
        counts
    }

    /// The search for the centres, on what has been released.
    fn centres(&self, places: &[u32], estimates: &[(f64, f64)]) -> Vec<u32> {
        let means: Vec<f64> = estimates.iter().map(|&(_, weight)| weight).collect();
        let mut weights = vec![0; self.metric.nodes()];
        for (&place, weight) in places.iter().zip(in_units(&means)) {
            weights[place as usize] = weight;
        }
        let search = FasterPam::new(self.k, self.power);
        search.post_search(&self.metric, &or_alike(weights)).expect("checked when built").centres
    }
}

impl Algorithm for MetricBicriteria {
    type Relation = AddRemove;
    type Data<'a> = &'a [u32];
    type Shape = ();
    type Output = Clustering;
    type Error = CombinatorialError;

    fn cost(&self) -> Receipt<AddRemove> {
        let spent = match &self.counting {
            Counting::OfTheSample(_) => self.run.step(),
            Counting::OfAll(noise) => {
                let one = Step::spend(ONE_PLACE, noise.loss());
                let counts = Step::parallel("counts", vec![one]);
                Step::sequential("picks and counts", vec![self.run.step(), counts])
            }
        };
        Receipt::new("metric-bicriteria", AddRemove, self.budget, spent)
    }

    fn shape(_: &&[u32]) {}

    fn check(&self, (): &()) -> Result<(), CombinatorialError> {
        Ok(())
    }

    fn run(&self, users: Private<&[u32]>, draws: &mut Draws<'_>) -> Clustering {
        let clients = self.clients(users, draws);
        let places = self.places(clients.as_ref(), draws);
        let estimates = self.count(clients.as_ref(), &places, draws);
        let centres = self.centres(&places, &estimates);
        let users = estimates.into_iter().map(|(users, _)| users).collect();
        Clustering { centres, places, users }
    }
}
