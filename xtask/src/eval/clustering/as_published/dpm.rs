//! DPM as its authors published it, as far as it could be reconstructed: beside the authors' own tables and a
//! re-run of their code it finds the same number of clusters or a little fewer.

use super::{choose, laplace, whole};
use crate::error::Error;
use crate::eval::clustering::algorithms::{Algorithm, Outcome};
use dp_accounting::{Budget, gaussian_noise_multiplier};
use dp_geometry::{Points, PointsView};
use quietus_datasets::catalogue::Recipe;
use quietus_datasets::prepare::Dataset;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand_distr::StandardNormal;
use serde_json::Value;
use std::collections::BTreeMap;

const DEPTH: usize = 7;
const T: f64 = 0.3;
const Q: f64 = 1.0 / 12.0;
const ALPHA: f64 = 5.0;
/// Shares of epsilon: interval size, counts, cuts, averages.
const SHARES: [f64; 4] = [0.04, 0.18, 0.18, 0.6];
/// Cuts per dimension. The public code estimates the interval size, with the share above and from
/// gaps whose ranks move without bound; ours needs no estimate, and the same number is kind here.
const SPLITS: usize = 32;

/// Density-based partitioning with the flaws that the errata page lists: an offset in the sensitivity
/// of the cuts, exact zeros for empty leaves, points that are not clipped.
pub(crate) struct Dpm;

impl Algorithm for Dpm {
    fn id(&self) -> &'static str {
        "dpm-as-published"
    }

    fn relation(&self) -> Option<&'static str> {
        None
    }

    fn claims_only(&self) -> bool {
        true
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        let (low, high) = recipe.range;
        BTreeMap::from([("range".to_owned(), vec![low, high].into())])
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let view = dataset.points.view();
        let mut tree = Tree {
            view,
            low: dataset.recipe.range.0,
            width: (dataset.recipe.range.1 - dataset.recipe.range.0) / SPLITS as f64,
            epsilon,
            delta: dataset.recipe.delta(),
            least: 0.0,
            leaves: Vec::new(),
        };
        let noisy_count = tree.noisy_count(view.len(), 0, rng);
        tree.least = noisy_count / 128.0;
        tree.grow((0..view.len()).collect(), noisy_count, 0, rng);
        let centres = tree.averages(rng)?;
        let centres = Points::new(centres, view.dim())?;
        Ok(Outcome { centres, receipt: None })
    }
}

struct Tree<'a> {
    view: PointsView<'a>,
    low: f64,
    width: f64,
    epsilon: f64,
    delta: f64,
    least: f64,
    leaves: Vec<(Vec<usize>, f64)>,
}

impl Tree<'_> {
    /// Epsilon of one level out of a total for `levels`, proportional to `2^(level/2)`.
    fn of_level(total: f64, level: usize, levels: usize) -> f64 {
        let weight = |i: usize| (i as f64 / 2.0).exp2();
        total * weight(level) / (0..levels).map(weight).sum::<f64>()
    }

    fn noisy_count(&self, count: usize, level: usize, rng: &mut ChaCha20Rng) -> f64 {
        let epsilon = Self::of_level(SHARES[1] * self.epsilon, level, DEPTH + 1);
        count as f64 + laplace(1.0 / epsilon, rng)
    }

    fn grow(&mut self, members: Vec<usize>, count: f64, level: usize, rng: &mut ChaCha20Rng) {
        if level == DEPTH || members.is_empty() {
            self.leaves.push((members, count));
            return;
        }
        let (dim, place) = self.cut(&members, count, level, rng);
        let (left, right): (Vec<usize>, Vec<usize>) =
            members.iter().partition(|&&i| self.view[i][dim] <= place);
        let counts = [&left, &right].map(|side| self.noisy_count(side.len(), level + 1, rng));
        if counts.iter().all(|&count| count >= self.least) {
            self.grow(left, counts[0], level + 1, rng);
            self.grow(right, counts[1], level + 1, rng);
        } else {
            self.leaves.push((members, count));
        }
    }

    /// Dimension and place of a cut by the exponential mechanism with the offset in its sensitivity.
    fn cut(
        &self,
        members: &[usize],
        count: f64,
        level: usize,
        rng: &mut ChaCha20Rng,
    ) -> (usize, f64) {
        let level_count = Self::of_level(SHARES[1] * self.epsilon, level, DEPTH + 1);
        let offset = (1.0 / (2.0 * self.delta)).ln() / level_count;
        let sensitivity = (T / Q + ALPHA) / (count - offset).max(1.0);
        let epsilon = Self::of_level(SHARES[2] * self.epsilon, level, DEPTH);
        let mut scores = Vec::with_capacity(self.view.dim() * SPLITS);
        let mut halves = vec![0_u32; 2 * SPLITS];
        for dim in 0..self.view.dim() {
            halves.fill(0);
            for &i in members {
                let half = (self.view[i][dim] - self.low) / (self.width / 2.0);
                halves[whole(half).min(2 * SPLITS - 1)] += 1;
            }
            let mut rank = 0.0;
            for pair in halves.chunks_exact(2) {
                let (before, after) = (f64::from(pair[0]), f64::from(pair[1]));
                let emptiness = 1.0 - (before + after) / count;
                scores.push(centreness(rank + before, count) + ALPHA * emptiness);
                rank += before + after;
            }
        }
        for score in &mut scores {
            *score *= epsilon / (2.0 * sensitivity);
        }
        let chosen = choose(&scores, rng);
        let place = self.low + ((chosen % SPLITS) as f64 + 0.5) * self.width;
        (chosen / SPLITS, place)
    }

    /// Noisy averages; a leaf without points gives exactly zero.
    fn averages(&self, rng: &mut ChaCha20Rng) -> Result<Vec<f64>, Error> {
        let dim = self.view.dim();
        let radius = self.width * SPLITS as f64 / 2.0 * (dim as f64).sqrt();
        let share = Budget::new(SHARES[3] * self.epsilon, SHARES[3] * self.delta)?;
        let multiplier = gaussian_noise_multiplier(share);
        let mut centres = Vec::with_capacity(self.leaves.len() * dim);
        for (members, count) in &self.leaves {
            for i in 0..dim {
                let sum: f64 = members.iter().map(|&m| self.view[m][i]).sum();
                let noise = multiplier * radius * rng.sample::<f64, _>(StandardNormal);
                centres.push(if members.is_empty() { 0.0 } else { (sum + noise) / count.max(1.0) });
            }
        }
        Ok(centres)
    }
}

/// From 0 at the ends to `T` at the outer quantiles to 1 in the middle.
fn centreness(rank: f64, count: f64) -> f64 {
    let side = rank.min(count - rank) / count;
    if side < Q { (side * T / Q).max(0.0) } else { T + (side - Q) * (1.0 - T) / (0.5 - Q) }
}
