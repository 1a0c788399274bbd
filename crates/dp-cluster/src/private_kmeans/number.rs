//! How many clusters there are after rings: which centres are parts of one, and which are lumps of noise. Released values only.
//!
//! Groups of the last ring round have noisy counts and means, and each lies in a ring, which says how far its records are spread. So centres of which
//! one normal cluster explains the records as well as two are joined, and what could be noise and is much smaller than the rest is left out.

use dp_geometry::Points;

use crate::Clustering;
use crate::clustering::records;
use crate::nearest::{assign, squared_distance};
use crate::recentring::Hint;
use crate::rings::{Found, Seen};

/// What is left of the noise in a squared distance after what is expected is taken off, in standard deviations.
const DEVIATIONS: f64 = 2.0;
/// How much better than one two clusters explain a record, at least: spreads are known roughly.
const LEAST_GAIN: f64 = 0.1;
/// Where most clusters lie apart, two are one also if they are it when records are spread so many times as far, in squares: k-means has chosen parts that are
/// further apart than noise puts them on average. Where most overlap, a cluster that is lost costs more than one that is two.
const SPREAD_APART: f64 = 2.0;
/// Clusters lie apart if there are so many times the deviations of both between them: neither can be a part of the other.
const APART: f64 = 3.0;
/// And none of them is several if its records are spread so many times as far, in squares, as those of its parts, at most.
const MOST_SPREAD: f64 = 2.5;
/// A cluster is small if it has less than this part of the records of a usual one,
const SMALL: f64 = 0.25;
/// and then could be noise if its count is below so many times the largest that noise alone is expected to make.
const CLEAR: f64 = 1.1;

/// What is near one centre, or near several that are one.
#[derive(Clone, Debug)]
struct Part {
    at: Vec<f64>,
    /// Noisy number of records.
    count: f64,
    /// Variance of the noise in that.
    count_variance: f64,
    /// Squared length of the noise in its place, at most.
    variance: f64,
    /// Mean squared distance of its records.
    spread: f64,
    /// The same around the places of its parts.
    within: f64,
    centres: Vec<usize>,
}

/// What rings have found, with a centre for each cluster.
pub(super) fn clusters(found: Found) -> Found {
    let Found { clustering, of_cells, reach, noise, seen } = found;
    if seen.groups.is_empty() {
        return Found { clustering, of_cells, reach, noise, seen };
    }
    let (before, dim) = (clustering.centres.view(), clustering.centres.view().dim());
    let largest_noise = seen.largest_noise;
    let parts = Parts::new(&clustering, &seen);
    let mut clusters = without_noise(parts.clone().joined(SPREAD_APART), largest_noise);
    if mostly_overlap(&clusters) {
        clusters = without_noise(parts.joined(1.0), largest_noise);
    }
    let coords = clusters.iter().flat_map(|part| part.at.iter().copied()).collect();
    let centres = Points::new(coords, dim).expect("whole rows");
    // Records of what is left out are still there, near the centres that are left.
    let mut now = assign(before, centres.view()).labels;
    for (number, part) in (0..).zip(&clusters) {
        part.centres.iter().for_each(|&centre| now[centre] = number);
    }
    // As far as a centre has moved, its records may be further away.
    let moved = |part: &Part| {
        let before = part.centres.iter().map(|&centre| squared_distance(&part.at, &before[centre]));
        before.fold(0.0, f64::max)
    };
    let reach = reach + clusters.iter().map(moved).fold(0.0, f64::max).sqrt();
    let mut counts = vec![0.0; clusters.len()];
    for (&count, &number) in clustering.counts.iter().zip(&now) {
        counts[number as usize] += count as f64;
    }
    let of_cells = of_cells.0.map(|cells| cells.iter().map(|&c| now[c as usize]).collect());
    let clustering = Clustering::of(centres, counts.into_iter().map(records).collect());
    let noise = clusters.iter().map(|part| part.variance).collect();
    Found { clustering, of_cells: Hint(of_cells), reach, noise, seen }
}

/// Leaves out small clusters that noise may have made, but never all.
fn without_noise(mut clusters: Vec<Part>, largest_noise: f64) -> Vec<Part> {
    let mut counts: Vec<f64> = clusters.iter().map(|part| part.count).collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    let half = 0.5 * counts.iter().sum::<f64>();
    let mut larger = 0.0;
    let usual = counts.iter().find(|&&count| {
        larger += count;
        larger >= half
    });
    let small = SMALL * usual.copied().unwrap_or(0.0);
    let could_be_noise =
        |part: &Part| part.count <= CLEAR * largest_noise * part.count_variance.sqrt();
    clusters.retain(|part| part.count >= small || !could_be_noise(part));
    clusters
}

#[derive(Clone)]
struct Parts {
    /// Nothing where a part was joined with another.
    all: Vec<Option<Part>>,
    half_dim: f64,
    /// What a cluster more has to gain: its place and its share, by the Bayesian information criterion.
    penalty: f64,
}

impl Parts {
    /// One for each centre that a group is near to.
    fn new(clustering: &Clustering, seen: &Seen) -> Self {
        let centres = clustering.centres.view();
        let dim = centres.dim() as f64;
        let none = |(centre, at): (usize, &[f64])| Part {
            at: at.to_vec(),
            count: 0.0,
            count_variance: 0.0,
            variance: 0.0,
            spread: 0.0,
            within: 0.0,
            centres: vec![centre],
        };
        let mut all: Vec<Part> = centres.rows().enumerate().map(none).collect();
        for group in &seen.groups {
            let part = &mut all[group.centre];
            part.count += group.count;
            part.count_variance += group.count_variance;
            part.variance += group.count.powi(2) * group.variance;
            part.spread += group.count * ((group.off - group.variance).max(0.0) + group.spread);
        }
        // Of a sum of so many squares.
        let at_most = 1.0 + DEVIATIONS * (2.0 / dim).sqrt();
        for part in &mut all {
            part.variance *= at_most / part.count.powi(2);
            part.spread /= part.count;
            part.within = part.spread;
        }
        let all: Vec<Option<Part>> =
            all.into_iter().map(|part| (part.count > 0.0).then_some(part)).collect();
        let records: f64 = all.iter().flatten().map(|part| part.count).sum();
        let penalty = (0.5 * dim + 1.0) * records.max(1.0).ln();
        Self { all, half_dim: 0.5 * dim, penalty }
    }

    /// What two parts together lose as one normal cluster, for each record, after what that saves.
    fn loss(&self, a: &Part, b: &Part, spread: f64) -> f64 {
        let count = a.count + b.count;
        let (p, q) = (a.count / count, b.count / count);
        // Rings that are too far out make single spreads too large.
        let within = spread * a.spread.powf(p) * b.spread.powf(q);
        let shares = p * p.ln() + q * q.ln();
        let gain = self.half_dim * (p * q * apart(a, b) / within).ln_1p() + shares;
        gain - LEAST_GAIN - self.penalty / count
    }

    /// The part that this one loses least with, if that is less than nothing.
    fn cheapest(&self, i: usize, spread: f64) -> Option<(f64, usize)> {
        let part = self.all[i].as_ref()?;
        let others = self.all.iter().enumerate().filter(|(j, _)| *j != i);
        let losses =
            others.filter_map(|(j, other)| Some((self.loss(part, other.as_ref()?, spread), j)));
        losses.filter(|(loss, _)| *loss < 0.0).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// What is left when no two parts are explained by one cluster.
    fn joined(mut self, spread: f64) -> Vec<Part> {
        let mut cheapest: Vec<_> = (0..self.all.len()).map(|i| self.cheapest(i, spread)).collect();
        loop {
            let pairs = cheapest.iter().enumerate().filter_map(|(i, pair)| Some((i, (*pair)?)));
            let Some((i, (_, j))) = pairs.min_by(|a, b| a.1.0.total_cmp(&b.1.0)) else { break };
            let (Some(a), Some(b)) = (self.all[i].take(), self.all[j].take()) else { break };
            self.all[i] = Some(join(a, b));
            for (other, pair) in cheapest.iter_mut().enumerate() {
                let with = pair.map(|(_, with)| with);
                if [i, j].contains(&other) || with.is_some_and(|with| [i, j].contains(&with)) {
                    *pair = self.cheapest(other, spread);
                } else if let (Some(one), Some(part)) = (&self.all[other], &self.all[i]) {
                    let loss = self.loss(one, part, spread);
                    if loss < pair.map_or(0.0, |(least, _)| least) {
                        *pair = Some((loss, i));
                    }
                }
            }
        }
        self.all.into_iter().flatten().collect()
    }
}

/// The squared distance between two parts, as far as noise does not explain it.
fn apart(a: &Part, b: &Part) -> f64 {
    (squared_distance(&a.at, &b.at) - a.variance - b.variance).max(0.0)
}

fn join(a: Part, b: Part) -> Part {
    let count = a.count + b.count;
    let (p, q) = (a.count / count, b.count / count);
    let within = a.spread.powf(p) * b.spread.powf(q);
    Part {
        within: a.within.powf(p) * b.within.powf(q),
        spread: within + p * q * apart(&a, &b),
        at: a.at.iter().zip(&b.at).map(|(x, y)| p * x + q * y).collect(),
        count,
        count_variance: a.count_variance + b.count_variance,
        variance: p * p * a.variance + q * q * b.variance,
        centres: [a.centres, b.centres].concat(),
    }
}

fn mostly_overlap(clusters: &[Part]) -> bool {
    let is_apart = |a: &Part, b: &Part| {
        let deviation = |part: &Part| (part.spread / part.at.len() as f64).sqrt();
        squared_distance(&a.at, &b.at).sqrt() > APART * (deviation(a) + deviation(b))
    };
    let is_alone = |(i, one): &(usize, &Part)| {
        one.spread <= MOST_SPREAD * one.within
            && clusters.iter().enumerate().all(|(j, other)| *i == j || is_apart(one, other))
    };
    let (number, records) = clusters
        .iter()
        .enumerate()
        .filter(is_alone)
        .fold((0, 0.0), |(number, records), (_, one)| (number + 1, records + one.count));
    // A few small ones that lie apart say nothing about the rest.
    let all: f64 = clusters.iter().map(|one| one.count).sum();
    2 * number < clusters.len() || 2.0 * records < all
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;
    use crate::rings::SeenGroup;

    /// One group at each of these places, of so many records that are spread so far around its mean, with noise of ten in its count.
    fn found(groups: &[(&[f64], f64, f64)]) -> Found {
        let dim = groups[0].0.len();
        let coords = groups.iter().flat_map(|(at, ..)| at.iter().copied()).collect();
        let counts = groups.iter().map(|&(_, count, _)| records(count)).collect();
        let one = |(centre, &(_, count, spread))| SeenGroup {
            centre,
            count,
            count_variance: 100.0,
            off: 0.0,
            variance: 0.0,
            spread,
        };
        let seen = groups.iter().enumerate().map(one).collect();
        Found {
            clustering: Clustering::of(Points::new(coords, dim).expect("whole rows"), counts),
            of_cells: Hint(Some((0..).take(groups.len()).collect())),
            reach: 1.0,
            noise: vec![0.0; groups.len()],
            seen: Seen { groups: seen, background: None, largest_noise: 4.0 },
        }
    }

    fn counts(groups: &[(&[f64], f64, f64)]) -> Vec<i64> {
        let mut counts = clusters(found(groups)).clustering.counts;
        counts.sort_unstable();
        counts
    }

    /// Halves of a normal cluster are 1.6 deviations apart, and in one dimension have .36 of its variance.
    #[test]
    fn halves_of_a_cluster_are_one_and_clusters_are_not() {
        let halves =
            |apart: f64| counts(&[(&[-apart, 0.0], 500.0, 1.36), (&[apart, 0.0], 500.0, 1.36)]);
        assert_eq!(halves(0.8), [1000]);
        assert_eq!(halves(3.0), [500, 500]);
        // Of ten clusters side by side, each is one.
        let row: Vec<[f64; 2]> = (0..10).map(|i| [3.5 * f64::from(i), 0.0]).collect();
        let row: Vec<_> = row.iter().map(|at| (&at[..], 500.0, 1.5)).collect();
        assert_eq!(counts(&row).len(), 10);
    }

    /// Ten that overlap, and two small ones that lie apart, which would not say that the ten do.
    #[test]
    fn a_few_small_clusters_that_lie_apart_do_not_make_one_of_the_rest() {
        let row: Vec<[f64; 2]> = (0..10).map(|i| [3.0 * f64::from(i), 0.0]).collect();
        let row = row.iter().map(|at| (&at[..], 500.0, 1.5));
        let far: [(&[f64], f64, f64); 2] =
            [(&[0.0, 900.0], 100.0, 1.5), (&[0.0, -900.0], 100.0, 1.5)];
        assert_eq!(counts(&row.chain(far).collect::<Vec<_>>()).len(), 12);
    }

    #[test]
    fn small_clusters_that_could_be_noise_are_near_the_others() {
        let with = |count: f64| counts(&[(&[0.0, 0.0], 1_000.0, 2.0), (&[30.0, 0.0], count, 2.0)]);
        assert_eq!(with(43.0), [1043], "noise of ten may make forty");
        assert_eq!(with(90.0), [90, 1000]);
        // Where all are as small, they are what there is.
        assert_eq!(counts(&[(&[0.0], 43.0, 2.0), (&[30.0], 41.0, 2.0)]), [41, 43]);
    }

    #[test]
    fn noise_in_places_does_not_make_two_of_one() {
        let mut two = found(&[(&[-4.0, 0.0], 500.0, 2.0), (&[4.0, 0.0], 500.0, 2.0)]);
        assert_eq!(clusters(two).clustering.counts, [500, 500]);
        two = found(&[(&[-4.0, 0.0], 500.0, 2.0), (&[4.0, 0.0], 500.0, 2.0)]);
        two.seen.groups.iter_mut().for_each(|group| group.variance = 12.0);
        let one = clusters(two);
        assert_eq!(one.clustering.counts, [1000]);
        assert_eq!(one.clustering.centres.view().coords(), [0.0, 0.0]);
        assert_eq!(one.of_cells.0, Some(vec![0, 0]));
        assert_relative_eq!(one.reach, 5.0);
    }

    /// Centres that no group says anything about belong to the nearest; of nothing that was seen, nothing is left out.
    #[test]
    fn centres_without_groups_belong_to_others() {
        let mut three = found(&[(&[0.0], 500.0, 1.0), (&[20.0], 500.0, 1.0), (&[17.0], 60.0, 1.0)]);
        three.seen.groups.pop();
        let two = clusters(three);
        assert_eq!(two.clustering.counts, [500, 560]);
        assert_eq!(two.of_cells.0, Some(vec![0, 1, 1]));
        let unseen = clusters(Found { seen: Seen::default(), ..two });
        assert_eq!(unseen.clustering.counts, [500, 560]);
    }

    #[test]
    fn odd_groups_have_a_number() {
        let same = [(&[1.0][..], 1.0, f64::MIN_POSITIVE); 9];
        assert_eq!(counts(&same), [9]);
        let wide = counts(&[(&[1e75], 1.0, 1e140), (&[-1e75], 1e18, 1e-140), (&[1e75], 1.0, 1.0)]);
        assert!(!wide.is_empty() && wide.len() <= 3, "{wide:?}");
    }

    /// All pairs, again and again: the plain way.
    #[test]
    fn joining_takes_the_cheapest_pair_each_time() {
        for seed in 0..20_u64 {
            let place = |i: u64| ((i * 7919 + seed * 104_729) % 97) as f64;
            let places: Vec<[f64; 2]> = (0..30).map(|i| [place(2 * i), place(2 * i + 1)]).collect();
            let groups: Vec<_> = places
                .iter()
                .enumerate()
                .map(|(i, at)| (&at[..], 50.0 + i as f64, 20.0 + place(i as u64)))
                .collect();
            let found = found(&groups);
            let parts = Parts::new(&found.clustering, &found.seen);
            let mut plain = parts.clone();
            loop {
                let pairs = (0..30).flat_map(|i| (0..30).map(move |j| (i, j)));
                let losses = pairs.filter(|(i, j)| i != j).filter_map(|(i, j)| {
                    let loss = plain.loss(plain.all[i].as_ref()?, plain.all[j].as_ref()?, 1.0);
                    (loss < 0.0).then_some((loss, i, j))
                });
                let Some((_, i, j)) = losses.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
                let two = (plain.all[i].take(), plain.all[j].take());
                plain.all[i] = two.0.zip(two.1).map(|(a, b)| join(a, b));
            }
            let members = |part: &Part| {
                let mut centres = part.centres.clone();
                centres.sort_unstable();
                centres
            };
            let mut plain: Vec<_> = plain.all.iter().flatten().map(members).collect();
            let mut joined: Vec<_> = parts.joined(1.0).iter().map(members).collect();
            plain.sort();
            joined.sort();
            assert!(joined.len() < 30);
            assert_eq!(joined, plain);
        }
    }
}
