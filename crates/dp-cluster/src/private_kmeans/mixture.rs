//! A mixture of round normal clusters and of background that explains a map: how many clusters there are, with as many as pay, or what the map says
//! without most of its noise. Released values only.
//!
//! From as many parts as there may be, what is worth least is left out or joined, one after the other or, while there are many, several at once, and the rest is fitted again by expectation and
//! maximisation. Of all these mixtures the one is taken whose likelihood is the largest after what its clusters cost: their parameters, and
//! the more, the more of their records noise could have made; less of that where most clusters overlap. Between two clusters that overlap, the mixture
//! has a valley; the parts of a cluster that is not normal, of which many records show several, have none, and are joined at last.

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use rayon::prelude::*;

use crate::nearest::squared_distance;

/// What a map says.
pub(super) struct Weighted<'a> {
    /// Where its vertices are, row-major.
    pub(super) places: &'a [f64],
    /// Of each, in records.
    pub(super) weights: &'a [f64],
    pub(super) dim: usize,
    /// The coarsest first; there is one at least.
    pub(super) levels: Vec<Resolution>,
}

/// One level of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolution {
    /// There are two to the power of this cells per side.
    pub(super) level: u32,
    /// The longest side of a cell.
    pub(super) side: f64,
    /// The volume of a cell.
    pub(super) volume: f64,
    /// Variance of the noise of a vertex, in records.
    pub(super) noise: f64,
}

/// A normal cluster of the same variance on every axis.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) at: Vec<f64>,
    /// In records.
    pub(super) count: f64,
    pub(super) variance: f64,
}

/// Background has at most this share of all records.
const MOST_BACKGROUND: f64 = 0.25;
/// And this share at first.
const BACKGROUND: f64 = 0.05;
/// What is beyond these shares of all records at either end of an axis says nothing of how far background reaches.
const ENDS: f64 = 0.005;

/// Steps of expectation and maximisation at first, and after clusters were joined.
const FIRST_STEPS: usize = 30;
const STEPS: usize = 6;
/// Vertices that one thread looks at together.
const CHUNK: usize = 256;
/// Beyond so many squared deviations a cluster has no records: a normal one would have one in 270,000.
const FAR: f64 = 25.0;
/// A cluster may be joined with one of so many next to it.
const NEIGHBOURS: usize = 4;
/// Two are one where the density between them is nowhere less than this share of what it is at their middles. Of two alike, 2.3 deviations apart, it is.
const VALLEY: f64 = 0.95;
/// Steps on the way.
const WAYS: u32 = 16;
/// Of more clusters than this, several pairs are joined at once.
const ONE_BY_ONE: usize = 64;
/// And one more for each so many that there are above what is wanted.
const MORE_AT_ONCE: usize = 16;

/// What a parameter costs, in logarithms of the number of records, and for each record that noise could have made, as a share of the cluster's:
/// measured.
const PARAMETER: f64 = 1.0;
const NOISE: f64 = 1.5;
/// Where most clusters overlap, nobody can say how many there are, and one that is lost costs more than one that is two.
const NOISE_OVERLAPPING: f64 = 0.5;
/// For a mixture that stands for the map: more clusters than there are do no harm, but for those of noise.
const NOISE_IN_A_MODEL: f64 = 0.2;
/// What noise costs is this part of all that, for a cluster that is so many times the deviations of both from any other: it is no part of one, and to lose it costs much.
const NOISE_ALONE: f64 = 0.3;
const ALONE: f64 = 3.0;
/// A cluster of less than this part of an even share of the records may be a lump, for which two others were joined.
const LUMP: f64 = 0.4;
/// Noise counts so many times on a line, where a lump of it lies on all ways and looks like a part: measured.
const ON_A_LINE: f64 = 3.0;
/// Noise in a cluster is that of the coarsest level whose cells have at most so many of its deviations.
const RESOLVED: f64 = 1.5;

struct Mixture<'a> {
    map: &'a Weighted<'a>,
    /// The places of all vertices, axis by axis.
    columns: Vec<f64>,
    clusters: Vec<Cluster>,
    /// In records.
    background: f64,
    /// Density of background, as a share of its records.
    thin: f64,
    records: f64,
    least_variance: f64,
}

/// What some vertices are to all clusters.
struct Shares {
    likelihood: f64,
    /// In records.
    background: f64,
    /// Of each cluster over its shares: their weight, weighted squared distances, and weighted places.
    sums: Vec<f64>,
}

impl Shares {
    fn none(clusters: usize, dim: usize) -> Self {
        Self { likelihood: 0.0, background: 0.0, sums: vec![0.0; clusters * (dim + 2)] }
    }

    fn and(mut self, others: &Self) -> Self {
        self.likelihood += others.likelihood;
        self.background += others.background;
        self.sums.iter_mut().zip(&others.sums).for_each(|(sum, other)| *sum += other);
        self
    }
}

impl Mixture<'_> {
    fn peak(&self, one: &Cluster) -> f64 {
        one.count / self.records * (TAU * one.variance).powf(-0.5 * self.map.dim as f64)
    }

    /// Of background, or so little more that there is a logarithm.
    fn least_density(&self) -> f64 {
        self.thin * (self.background / self.records).max(1e-12)
    }

    /// How far these vertices are from a cluster, in its squared deviations.
    fn far(&self, vertices: Range<usize>, one: &Cluster, far: &mut Vec<f64>) {
        let scale = one.variance.recip();
        let columns = self.columns.chunks_exact(self.map.weights.len()).zip(&one.at);
        for (axis, (column, at)) in columns.enumerate() {
            let squares = column[vertices.clone()].iter().map(|x| (x - at) * (x - at) * scale);
            if axis == 0 {
                far.clear();
                far.extend(squares);
            } else {
                far.iter_mut().zip(squares).for_each(|(far, square)| *far += square);
            }
        }
    }

    /// One step of expectation and maximisation. The log-likelihood before it.
    fn step(&mut self) -> f64 {
        let (dim, vertices) = (self.map.dim, self.map.weights.len());
        let starts = (0..vertices).into_par_iter().step_by(CHUNK);
        let chunks = starts.map_init(Default::default, |room, start| {
            self.shares(start..vertices.min(start + CHUNK), room)
        });
        let chunks: Vec<Shares> = chunks.collect();
        let none = Shares::none(self.clusters.len(), dim);
        let Shares { likelihood, background, sums } = chunks.iter().fold(none, Shares::and);
        self.background = background.min(MOST_BACKGROUND * self.records);
        for (one, sums) in self.clusters.iter_mut().zip(sums.chunks_exact(dim + 2)) {
            let ([weight, squares], places) = sums.split_first_chunk().expect("two and places");
            one.count = weight.max(1e-9);
            if *weight > 1e-6 {
                let at: Vec<f64> = places.iter().map(|sum| sum / weight).collect();
                let moved = squared_distance(&at, &one.at);
                let variance = (squares / weight - moved) / dim as f64;
                one.variance = variance.max(self.least_variance);
                one.at = at;
            }
        }
        likelihood
    }

    /// What these vertices are to all clusters.
    fn shares(&self, vertices: Range<usize>, [densities, far]: &mut [Vec<f64>; 2]) -> Shares {
        let (dim, thin) = (self.map.dim, self.least_density());
        let weights = &self.map.weights[vertices.clone()];
        let mut found = Shares::none(self.clusters.len(), dim);
        // Of each cluster at each vertex, and of all together.
        densities.resize(self.clusters.len() * weights.len(), 0.0);
        let mut all = vec![0.0; weights.len()];
        for (one, densities) in self.clusters.iter().zip(densities.chunks_exact_mut(weights.len()))
        {
            self.far(vertices.clone(), one, far);
            let peak = self.peak(one);
            for ((density, all), far) in densities.iter_mut().zip(&mut all).zip(&*far) {
                *density = if *far < FAR { peak * (-0.5 * far).exp() } else { 0.0 };
                *all += *density;
            }
        }
        // Records for each unit of density.
        let mut records = all;
        for (records, weight) in records.iter_mut().zip(weights) {
            let all = thin + *records;
            found.likelihood += weight * all.ln();
            *records = weight / all;
            found.background += thin * *records;
        }
        let clusters = self.clusters.iter().zip(densities.chunks_exact(weights.len()));
        for ((one, densities), sums) in clusters.zip(found.sums.chunks_exact_mut(dim + 2)) {
            self.far(vertices.clone(), one, far);
            for (v, density) in densities.iter().enumerate() {
                if *density > 0.0 {
                    let share = density * records[v];
                    sums[0] += share;
                    sums[1] += share * far[v] * one.variance;
                    let place =
                        self.columns[vertices.start + v..].iter().step_by(self.map.weights.len());
                    for (sum, x) in sums[2..].iter_mut().zip(place) {
                        *sum += share * x;
                    }
                }
            }
        }
        found
    }

    /// What a cluster has to gain, if records that noise could have made cost so much; those at these places are no others.
    fn price(&self, one: &Cluster, places: [usize; 2], noise_cost: f64) -> f64 {
        let others = self.clusters.iter().enumerate().filter(|(i, _)| !places.contains(i));
        let is_alone = others.map(|(_, other)| other).all(|other| is_apart(one, other));
        let (dim, deviation) = (self.map.dim as f64, one.variance.sqrt());
        let levels = &self.map.levels;
        let level = levels.iter().find(|level| level.side <= RESOLVED * deviation);
        let level = level.unwrap_or(&levels[levels.len() - 1]);
        let cells = ((4.0 * PI * one.variance).powf(0.5 * dim) / level.volume).max(1.0);
        let noise = level.noise * cells / one.count.max(1.0);
        let noise = if is_alone { NOISE_ALONE * noise } else { noise };
        let noise = if self.map.dim == 1 { ON_A_LINE * noise } else { noise };
        0.5 * (dim + 2.0) * (PARAMETER * self.records.max(2.0).ln() + noise_cost * noise)
    }

    fn prices(&self, noise_cost: f64) -> Vec<f64> {
        let clusters = self.clusters.iter().enumerate();
        clusters.map(|(i, one)| self.price(one, [i, i], noise_cost)).collect()
    }

    /// One normal cluster in place of two.
    fn joined(&self, a: &Cluster, b: &Cluster) -> Cluster {
        let count = a.count + b.count;
        let (p, q) = (a.count / count, b.count / count);
        let apart = squared_distance(&a.at, &b.at) / self.map.dim as f64;
        let variance = p * a.variance + q * b.variance + p * q * apart;
        let at = a.at.iter().zip(&b.at).map(|(x, y)| p * x + q * y).collect();
        Cluster { at, count, variance }
    }

    /// The density of a cluster at each vertex where it has any.
    fn density(&self, one: &Cluster, far: &mut Vec<f64>) -> Vec<(usize, f64)> {
        self.far(0..self.map.weights.len(), one, far);
        let peak = self.peak(one);
        let near = far.iter().enumerate().filter(|(_, far)| **far < FAR);
        near.map(|(v, far)| (v, peak * (-0.5 * far).exp())).collect()
    }

    /// The density of all clusters at a place.
    fn at(&self, place: &[f64]) -> f64 {
        let densities = self.clusters.iter().map(|one| {
            let far = squared_distance(place, &one.at) / one.variance;
            self.peak(one) * (-0.5 * far).exp()
        });
        densities.sum()
    }

    /// The least density on the way from one cluster to another, as a share of the lesser one at their middles.
    fn valley(&self, a: &Cluster, b: &Cluster) -> f64 {
        let ways = (1..WAYS).map(|step| {
            let t = f64::from(step) / f64::from(WAYS);
            let place: Vec<f64> = a.at.iter().zip(&b.at).map(|(x, y)| x + t * (y - x)).collect();
            self.at(&place)
        });
        ways.fold(f64::INFINITY, f64::min) / self.at(&a.at).min(self.at(&b.at))
    }

    /// The clusters that a cluster may be joined with, the next one first.
    fn next_to(&self, i: usize) -> impl Iterator<Item = usize> {
        let a = &self.clusters[i];
        let others = self.clusters.iter().enumerate().filter(|(j, _)| *j != i);
        let far = |b: &Cluster| squared_distance(&a.at, &b.at) / a.variance.max(b.variance);
        let mut near: Vec<(f64, usize)> = others.map(|(j, b)| (far(b), j)).collect();
        near.sort_by(|x, y| x.0.total_cmp(&y.0));
        near.into_iter().take(NEIGHBOURS).map(|(_, j)| j)
    }

    /// Joins the two clusters with the least valley between them, if that is none: a cluster that is not round and normal, with many records, is
    /// several that are. Whether there were any.
    fn join_parts(&mut self) -> bool {
        let mut least: Option<(f64, usize, usize)> = None;
        for (i, a) in self.clusters.iter().enumerate() {
            for j in self.next_to(i) {
                let valley = self.valley(a, &self.clusters[j]);
                if valley > VALLEY && least.is_none_or(|(other, ..)| valley > other) {
                    least = Some((valley, i.min(j), i.max(j)));
                }
            }
        }
        let Some((_, i, j)) = least else { return false };
        self.clusters[i] = self.joined(&self.clusters[i], &self.clusters[j]);
        self.clusters.remove(j);
        true
    }

    /// One cluster in place of all.
    fn join_all(&mut self) {
        while let [first, .., last] = &self.clusters[..] {
            self.clusters[0] = self.joined(first, last);
            self.clusters.pop();
        }
        for _ in 0..STEPS {
            self.step();
        }
    }

    /// Leaves out the cluster, or joins the pair, that is worth the least; of many clusters, or of many more than `most`, several at once.
    fn simplify(&mut self, noise_cost: f64, most: usize) {
        let (k, vertices, thin) =
            (self.clusters.len(), self.map.weights.len(), self.least_density());
        let clusters = self.clusters.par_iter();
        let densities = clusters.map_init(Vec::new, |far, one| self.density(one, far));
        let densities: Vec<_> = densities.collect();
        let mut all = vec![thin; vertices];
        densities.iter().flatten().for_each(|&(v, density)| all[v] += density);
        let prices = self.prices(noise_cost);
        // What likelihood loses where these are replaced; the changes are left at 0.
        let loss = |change: &mut [f64], old: &[&[(usize, f64)]], new: &[(usize, f64)]| -> f64 {
            let old = || old.iter().copied().flatten();
            old().for_each(|&(v, density)| change[v] -= density);
            for &(v, density) in new {
                change[v] += density;
            }
            old().chain(new).fold(0.0, |sum, &(v, _)| {
                // Each vertex once.
                let change = std::mem::take(&mut change[v]);
                let to = (all[v] + change).max(thin);
                if change == 0.0 { sum } else { sum + self.map.weights[v] * (all[v] / to).ln() }
            })
        };
        // A cluster with itself: it is left out.
        let worth = |(change, far): &mut (Vec<f64>, Vec<f64>), (i, j): (usize, usize)| {
            if i == j {
                return (loss(change, &[&densities[i]], &[]) - prices[i], i, i);
            }
            let one = self.joined(&self.clusters[i], &self.clusters[j]);
            let saved = prices[i] + prices[j] - self.price(&one, [i, j], noise_cost);
            let lost = loss(change, &[&densities[i], &densities[j]], &self.density(&one, far));
            (lost - saved, i, j)
        };
        let mut pairs: Vec<(usize, usize)> = (0..k).map(|i| (i, i)).collect();
        pairs.extend((0..k).flat_map(|i| self.next_to(i).map(move |j| (i.min(j), i.max(j)))));
        pairs.sort_unstable();
        pairs.dedup();
        let room = || (vec![0.0; vertices], Vec::new());
        let choices = pairs.into_par_iter().map_init(room, worth);
        let mut choices: Vec<(f64, usize, usize)> = choices.collect();
        choices.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at_once = if k > ONE_BY_ONE { k / 16 } else { 1 };
        let mut left = at_once.max(1 + k.saturating_sub(most) / MORE_AT_ONCE);
        let (mut gone, mut used) = (vec![false; k], vec![false; k]);
        for (_, i, j) in choices {
            if left > 0 && !used[i] && !used[j] {
                if i != j {
                    self.clusters[i] = self.joined(&self.clusters[i], &self.clusters[j]);
                }
                (used[i], used[j], gone[j]) = (true, true, true);
                left -= 1;
            }
        }
        let mut gone = gone.into_iter();
        self.clusters.retain(|_| !gone.next().expect("one flag per cluster"));
    }
}

/// What explains a map: the best mixtures for what noise costs in a model, where clusters are apart, and where most overlap.
pub(super) struct Explained<'a> {
    /// Of one cluster.
    mixture: Mixture<'a>,
    model: Best,
    apart: Best,
    overlapping: Best,
}

impl<'a> Explained<'a> {
    /// From these centres of parts, for at most so many clusters; one of the centres if the map has no records.
    pub(super) fn new(
        map: &'a Weighted<'a>,
        centres: &[f64],
        most: usize,
    ) -> Result<Self, Vec<Cluster>> {
        // Noise costs what it does in the first of them where the next step is chosen.
        let costs = [(NOISE_IN_A_MODEL, usize::MAX), (NOISE, most), (NOISE_OVERLAPPING, most)];
        let (mixture, [model, apart, overlapping]) = simplified(map, centres, costs)?;
        Ok(Self { mixture, model, apart, overlapping })
    }

    /// As many clusters as there are.
    pub(super) fn clusters(self) -> Vec<Cluster> {
        let Self { mut mixture, model, apart, overlapping } = self;
        let best = if mostly_overlap(&apart.clusters) { overlapping } else { apart };
        // Records that are anywhere are one cluster. Noise in them makes a model too, and what noise costs here hides a hundred clusters side by side:
        // half way between, measured.
        let score = f64::midpoint(model.score, best.score);
        if mixture.records * mixture.thin.recip().ln() <= score {
            return mixture.clusters;
        }
        mixture.clusters = best.clusters;
        while mixture.join_parts() {}
        mixture.clusters
    }

    /// Clusters that lie apart, if as many as wanted are what explains the map, and none is small.
    pub(super) fn exactly(&self, k: usize) -> Option<&[Cluster]> {
        let is_large = |found: &[Cluster]| {
            let all: f64 = found.iter().map(|one| one.count).sum();
            found.iter().all(|one| one.count * k as f64 >= LUMP * all)
        };
        let is_it =
            |found: &&[Cluster]| found.len() == k && !mostly_overlap(found) && is_large(found);
        let best = [&self.apart.clusters, &self.overlapping.clusters].into_iter();
        best.map(Vec::as_slice).find(is_it)
    }

    /// The mixture that stands for the map.
    pub(super) fn model(&self) -> &[Cluster] {
        &self.model.clusters
    }
}

/// The best mixture of at most so many clusters for one cost of noise.
struct Best {
    cost: f64,
    most: usize,
    score: f64,
    clusters: Vec<Cluster>,
}

/// Mixtures of fewer and fewer clusters, from these centres of parts: the last, of one cluster, and for each cost the best; the first part if the map has
/// no records.
fn simplified<'a, const N: usize>(
    map: &'a Weighted<'a>,
    centres: &[f64],
    costs: [(f64, usize); N],
) -> Result<(Mixture<'a>, [Best; N]), Vec<Cluster>> {
    let (dim, finest) = (map.dim, map.levels[map.levels.len() - 1]);
    let records = map.weights.iter().sum::<f64>().max(1.0);
    let least_variance = (0.5 * finest.side).powi(2);
    let mut parts: Vec<Cluster> = centres
        .chunks_exact(dim)
        .map(|at| Cluster { at: at.to_vec(), count: 0.0, variance: 0.0 })
        .collect();
    for (place, &weight) in map.places.chunks_exact(dim).zip(map.weights) {
        let distances = parts.iter().map(|part| squared_distance(place, &part.at)).enumerate();
        let nearest = distances.min_by(|a, b| a.1.total_cmp(&b.1));
        let (nearest, squared) = nearest.expect("one centre at least");
        parts[nearest].count += weight;
        parts[nearest].variance += weight * squared;
    }
    for part in &mut parts {
        part.variance = (part.variance / (part.count.max(1.0) * dim as f64)).max(least_variance);
    }
    let mut some = parts.clone();
    some.retain(|part| part.count > 0.5);
    if some.is_empty() {
        parts.truncate(1);
        return Err(parts);
    }
    let volume: f64 = (0..dim).map(|axis| reach(map, axis, records).max(finest.side)).product();
    let (background, thin) = (BACKGROUND * records, volume.recip());
    let columns = (0..dim).flat_map(|axis| map.places.iter().skip(axis).step_by(dim).copied());
    let columns = columns.collect();
    let clusters = some;
    let mut mixture = Mixture { map, columns, clusters, background, thin, records, least_variance };
    for _ in 0..FIRST_STEPS {
        mixture.step();
    }
    let (on_the_way, _) = costs[0];
    let most = costs.iter().map(|(_, most)| *most).min().unwrap_or(usize::MAX);
    let all = &mixture.clusters;
    let nothing = |(cost, most)| Best { cost, most, score: f64::INFINITY, clusters: all.clone() };
    let mut best = costs.map(nothing);
    loop {
        let before = mixture.clusters.clone();
        let prices = best.each_ref().map(|best| mixture.prices(best.cost).iter().sum::<f64>());
        let likelihood = mixture.step();
        for (best, price) in best.iter_mut().zip(prices) {
            if before.len() <= best.most && price - likelihood < best.score {
                (best.score, best.clusters) = (price - likelihood, before.clone());
            }
        }
        // Fewer clusters explain less, so that none of those that follow would be better even if it cost nothing.
        if best.iter().all(|best| -likelihood > best.score) {
            mixture.join_all();
        }
        if mixture.clusters.len() == 1 {
            return Ok((mixture, best));
        }
        mixture.simplify(on_the_way, most);
        for _ in 0..STEPS {
            mixture.step();
        }
    }
}

/// Whether two are so far apart that neither can be a part of the other.
fn is_apart(one: &Cluster, other: &Cluster) -> bool {
    let deviations = one.variance.sqrt() + other.variance.sqrt();
    squared_distance(&one.at, &other.at).sqrt() > ALONE * deviations
}

fn mostly_overlap(clusters: &[Cluster]) -> bool {
    let is_alone = |(i, one): &(usize, &Cluster)| {
        clusters.iter().enumerate().all(|(j, other)| *i == j || is_apart(one, other))
    };
    2 * clusters.iter().enumerate().filter(is_alone).count() < clusters.len()
}

/// How far nearly all records reach along an axis.
fn reach(map: &Weighted<'_>, axis: usize, records: f64) -> f64 {
    let along = map.places.iter().skip(axis).step_by(map.dim).zip(map.weights);
    let mut along: Vec<(f64, f64)> = along.map(|(x, weight)| (*x, *weight)).collect();
    along.sort_by(|a, b| a.0.total_cmp(&b.0));
    let end = |along: Vec<&(f64, f64)>| {
        let mut sum = 0.0;
        let found = along.into_iter().find(|(_, weight)| {
            sum += weight;
            sum > ENDS * records
        });
        found.map_or(0.0, |(x, _)| *x)
    };
    end(along.iter().rev().collect()) - end(along.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 64;

    /// A map of a square of 32 by 32 with this density, up to a constant, and noise of this variance in ten thousand records, and centres of parts.
    fn with_map<T>(
        noise: f64,
        density: impl Fn(f64, f64) -> f64,
        then: impl Fn(&Weighted<'_>, &[f64]) -> T,
    ) -> T {
        let at = |i: usize| i as f64 / 2.0;
        let cells = || (0..=SIDE).flat_map(|i| (0..=SIDE).map(move |j| (at(i), at(j))));
        let weights: Vec<f64> = cells().map(|(x, y)| density(x, y)).collect();
        let all: f64 = weights.iter().sum();
        let weights: Vec<f64> = weights.iter().map(|weight| 1e4 * weight / all).collect();
        let places: Vec<f64> = cells().flat_map(|(x, y)| [x, y]).collect();
        let levels = vec![Resolution { level: 6, side: 0.5, volume: 0.25, noise }];
        let map = Weighted { places: &places, weights: &weights, dim: 2, levels };
        let parts: Vec<f64> = (0..25_u32)
            .flat_map(|i| [3.0 + 6.5 * f64::from(i % 5), 3.0 + 6.5 * f64::from(i / 5)])
            .collect();
        then(&map, &parts)
    }

    fn found(noise: f64, density: impl Fn(f64, f64) -> f64) -> Vec<Cluster> {
        with_map(noise, density, |map, parts| match Explained::new(map, parts, 25) {
            Ok(explained) => explained.clusters(),
            Err(one) => one,
        })
    }

    fn normal(x: f64, y: f64, at: [f64; 2]) -> f64 {
        (-0.5 * squared_distance(&[x, y], &at)).exp()
    }

    #[test]
    fn clusters_that_overlap_are_several_and_parts_of_one_are_not() {
        let row = |n: u32, apart: f64| {
            move |x: f64, y: f64| {
                (0..n).map(|i| normal(x, y, [10.0 + apart * f64::from(i), 16.0])).sum()
            }
        };
        assert_eq!(found(0.0, row(1, 0.0)).len(), 1);
        assert_eq!(found(0.0, row(5, 3.0)).len(), 5);
        let five = found(0.0, row(5, 3.0));
        for i in 0..5_u32 {
            let near = |one: &&Cluster| (one.at[0] - 10.0 - 3.0 * f64::from(i)).abs() < 0.5;
            let one = five.iter().find(near).expect("each is found");
            // Background has some of the records in between.
            assert!((one.count - 2e3).abs() < 700.0, "{one:?}");
        }
        // Half a deviation apart, there is no valley between two.
        assert_eq!(found(0.0, row(2, 0.5)).len(), 1);
        // What noise may have made is joined, but not too soon: these overlap.
        assert_eq!(found(1e4, row(5, 3.0)).len(), 5);
        assert!(found(1e5, row(5, 3.0)).len() < 5);
        // Apart, they take more evidence.
        assert_eq!(found(1e4, row(2, 12.0)).len(), 2);
    }

    #[test]
    fn parts_of_a_cluster_that_is_not_normal_are_joined() {
        let heavy = |x: f64, y: f64| {
            let far = squared_distance(&[x, y], &[16.0, 16.0]);
            (1.0 + far / 3.0).powf(-2.5)
        };
        assert_eq!(found(0.0, heavy).len(), 1);
    }

    #[test]
    fn records_that_are_anywhere_are_one_and_background_is_none() {
        let even = found(1.0, |_, _| 1.0);
        assert_eq!(even.len(), 1);
        let two = |x, y| normal(x, y, [8.0, 8.0]) + normal(x, y, [24.0, 20.0]);
        assert_eq!(found(1.0, |x, y| two(x, y) + 1e-3).len(), 2);
    }

    /// Two clusters side by side and one far away, with a lump of noise.
    #[test]
    fn a_model_has_the_records_and_the_spread_of_clusters_and_no_lumps() {
        let places = [[8.0, 8.0], [12.0, 8.0], [24.0, 20.0]];
        let lump = |x: f64, y: f64| if (x - 28.0).hypot(y - 4.0) < 0.1 { 0.3 } else { 0.0 };
        let density = |x, y| places.iter().map(|at| normal(x, y, *at)).sum::<f64>() + lump(x, y);
        let model = with_map(1e5, density, |map, parts| {
            let explained = Explained::new(map, parts, 25).ok()?;
            Some(explained.model().to_vec())
        });
        let model = model.expect("there are records");
        for at in places {
            let near = |one: &&Cluster| squared_distance(&one.at, &at) < 4.0;
            let [one] = model.iter().filter(near).collect::<Vec<_>>()[..] else {
                panic!("one cluster at {at:?}, not {model:?}");
            };
            assert!((one.count / 3_333.0 - 1.0).abs() < 0.1, "{at:?}: {}", one.count);
            assert!((one.variance - 1.0).abs() < 0.15, "{at:?}: {}", one.variance);
        }
        let of_lump = model.iter().filter(|one| squared_distance(&one.at, &[28.0, 4.0]) < 16.0);
        assert!(of_lump.map(|one| one.count).sum::<f64>() < 20.0);
    }

    #[test]
    fn a_map_of_nobody_has_a_centre() {
        let levels = vec![Resolution { level: 0, side: 1.0, volume: 1.0, noise: 1e9 }];
        let map = Weighted { places: &[0.0, 1.0], weights: &[1e-9, 1e-9], dim: 1, levels };
        let one = Explained::new(&map, &[0.0, 1.0], 2).err().expect("there are no records");
        assert!(one.len() == 1 && one[0].at[0].is_finite());
    }
}
