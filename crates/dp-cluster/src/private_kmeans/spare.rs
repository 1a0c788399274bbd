//! Centres that are worth more to clusters that noise hides than where rings have put them. Released values only.
//!
//! Where few of `k` clusters are seen, the other centres cut these in parts, which gains next to nothing. Records of clusters that noise hides go to the nearest centre of another
//! cluster, and in many dimensions that is further away than the middle of all centres: of places with the same law in each coordinate, any two are twice as far from
//! each other, in squares, as each is from their mean. So two centres of one cluster become one, and the spare one waits in the middle for re-centring to move it to
//! what is nearest to it.

use dp_geometry::Points;
use rand::RngExt;

use crate::Clustering;
use crate::clustering::records;
use crate::nearest::squared_distance;
use crate::public_coins::{Purpose, public_generator};
use crate::recentring::Hint;
use crate::rings::Found;

/// A spare centre is expected to be nearest to so many records that noise hides, in deviations of its counts. With more, centres of clusters that are seen are given up where
/// nothing is hidden: measured.
const HIDDEN: f64 = 0.5;
/// Fewer other centres do not say where clusters may be.
const FEWEST: usize = 6;
/// Spare centres are apart by this part of the deviation of all centres in each coordinate, in random directions: they part what is nearest to them.
const APART: f64 = 0.1;
/// Pairs of more are too many to look at.
const MOST: usize = 512;

/// What rings have found for `k` clusters, with spare centres in the middle where these are worth more.
pub(super) fn with_spare(found: Found, k: usize, count_noise: f64, public_seed: u64) -> Found {
    if k > MOST || found.clustering.centres.len() < FEWEST {
        return found;
    }
    let (mut seen, mut spare) = (Seen::new(&found), 0);
    loop {
        // The first spare centre comes closest to what is hidden.
        let worth = |nearer: f64| HIDDEN * count_noise * nearer / (spare + 1) as f64;
        let fewer = if seen.rows.len() + spare < k {
            (worth(seen.nearer()) > 0.0).then(|| seen.clone())
        } else {
            let (loss, fewer) = seen.joined();
            (fewer.rows.len() >= FEWEST && loss < worth(fewer.nearer())).then_some(fewer)
        };
        let Some(fewer) = fewer else { break };
        (seen, spare) = (fewer, spare + 1);
    }
    if spare == 0 {
        return found;
    }
    let (middle, spread) = (seen.middle(), seen.spread());
    let mut rng = public_generator(public_seed, Purpose::SpareCentres);
    let Seen { mut rows, mut counts, mut noise, .. } = seen;
    let step = APART * (spread / middle.len() as f64).sqrt();
    for _ in 0..spare {
        let row = middle.iter().map(|x| if rng.random() { x + step } else { x - step });
        rows.push(row.collect());
        counts.push(count_noise);
        // Where it belongs is as far away as others are.
        noise.push(spread);
    }
    let centres = Points::new(rows.concat(), middle.len()).expect("whole rows");
    let clustering = Clustering::of(centres, counts.into_iter().map(records).collect());
    Found { clustering, of_cells: Hint(None), noise, ..found }
}

/// Centres of clusters that are seen.
#[derive(Clone)]
struct Seen {
    rows: Vec<Vec<f64>>,
    /// Noisy numbers of records, at least 1.
    counts: Vec<f64>,
    /// Squared length of the noise in each place.
    noise: Vec<f64>,
    /// Squared distances between all.
    apart: Vec<Vec<f64>>,
}

impl Seen {
    fn new(found: &Found) -> Self {
        let Clustering { centres, counts, .. } = &found.clustering;
        let rows: Vec<Vec<f64>> = centres.view().rows().map(<[f64]>::to_vec).collect();
        let counts = counts.iter().map(|&count| count.max(1) as f64).collect();
        let to_all =
            |row: &Vec<f64>| rows.iter().map(|other| squared_distance(row, other)).collect();
        let apart = rows.iter().map(to_all).collect();
        Self { apart, rows, counts, noise: found.noise.clone() }
    }

    /// The two whose records lose least with one centre, joined, and how much that is, in squares.
    fn joined(&self) -> (f64, Self) {
        let pairs = (0..self.rows.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
        let loss = |(i, j): (usize, usize)| {
            let (a, b) = (self.counts[i], self.counts[j]);
            a * b / (a + b) * self.apart[i][j]
        };
        let (loss, (i, j)) = pairs
            .map(|pair| (loss(pair), pair))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .expect("two centres");
        let mut fewer = self.clone();
        let count = self.counts[i] + self.counts[j];
        let (p, q) = (self.counts[i] / count, self.counts[j] / count);
        let both = self.rows[i].iter().zip(&self.rows[j]);
        fewer.rows[i] = both.map(|(x, y)| p * x + q * y).collect();
        fewer.noise[i] = p * p * self.noise[i] + q * q * self.noise[j];
        fewer.counts[i] = count;
        for other in 0..self.rows.len() {
            let squared = squared_distance(&fewer.rows[i], &fewer.rows[other]);
            (fewer.apart[i][other], fewer.apart[other][i]) = (squared, squared);
        }
        fewer.rows.swap_remove(j);
        fewer.counts.swap_remove(j);
        fewer.noise.swap_remove(j);
        fewer.apart.swap_remove(j);
        fewer.apart.iter_mut().for_each(|row| {
            row.swap_remove(j);
        });
        (loss, fewer)
    }

    /// By how much a cluster that is not seen would be nearer to the middle than to any centre, in squares: as each would be if only the others were seen, on average.
    fn nearer(&self) -> f64 {
        let (middle, all) = (self.middle(), self.rows.len() as f64);
        let of = |i: usize| {
            let others = self.apart[i].iter().enumerate().filter(|(j, _)| *j != i);
            let nearest = others.fold(f64::INFINITY, |least, (_, &squared)| least.min(squared));
            // Without it, the middle is this much further away.
            let without = (all / (all - 1.0)).powi(2);
            (nearest - without * squared_distance(&self.rows[i], &middle)).max(0.0)
        };
        (0..self.rows.len()).map(of).sum::<f64>() / all
    }

    fn middle(&self) -> Vec<f64> {
        let all = self.rows.len() as f64;
        (0..self.rows[0].len())
            .map(|x| self.rows.iter().map(|row| row[x]).sum::<f64>() / all)
            .collect()
    }

    /// The mean square of how far a centre is from the middle.
    fn spread(&self) -> f64 {
        let middle = self.middle();
        let squared = self.rows.iter().map(|row| squared_distance(row, &middle));
        squared.sum::<f64>() / (self.rows.len() as f64 - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::rng;

    /// So many clusters anywhere in a box, with a centre each, but the first with more that are close to each other.
    fn found(dim: usize, clusters: usize, more: usize) -> Found {
        let mut rng = rng(7);
        let mut rows: Vec<Vec<f64>> = (0..clusters)
            .map(|_| (0..dim).map(|_| rng.random_range(-100.0..100.0)).collect())
            .collect();
        for number in 0..more {
            let close = rows[0].iter().map(|x| x + (number + 1) as f64 / 10.0);
            rows.push(close.collect());
        }
        let number = rows.len();
        let centres = Points::new(rows.concat(), dim).expect("whole rows");
        let clustering = Clustering::of(centres, vec![1_000; number]);
        let (noise, seen) = (vec![1.0; number], crate::rings::Seen::default());
        Found { clustering, of_cells: Hint(None), reach: 10.0, noise, seen }
    }

    /// How many of what comes out are in the middle of the clusters, and how many there are.
    fn spare(dim: usize, clusters: usize, more: usize, k: usize) -> (usize, usize) {
        let found = with_spare(found(dim, clusters, more), k, 50.0, 0);
        let [all, middle] =
            [&found.clustering.centres, &self::found(dim, clusters, 0).clustering.centres]
                .map(|centres| centres.view().rows().map(<[f64]>::to_vec).collect::<Vec<_>>());
        let middle: Vec<f64> = (0..dim)
            .map(|x| middle.iter().map(|row| row[x]).sum::<f64>() / clusters as f64)
            .collect();
        assert_eq!(all.len(), found.clustering.counts.len());
        assert_eq!(all.len(), found.noise.len());
        let squared = |row: &Vec<f64>| squared_distance(row, &middle) / dim as f64;
        (all.iter().filter(|row| squared(row) < 20_f64.powi(2)).count(), all.len())
    }

    #[test]
    fn centres_that_cut_one_cluster_wait_in_the_middle() {
        assert_eq!(spare(20, 8, 0, 8), (0, 8), "all are needed");
        assert_eq!(spare(20, 8, 4, 12), (4, 12));
        assert_eq!(spare(20, 8, 0, 10), (2, 10), "there were fewer than wanted");
        assert_eq!(spare(20, 5, 0, 9), (0, 5), "few clusters say nothing");
    }

    /// On a plane the nearest of several centres is nearer than the middle, and one that is worth next to nothing is better off with its cluster.
    #[test]
    fn a_plane_needs_no_spare_centres() {
        assert_eq!(spare(2, 30, 2, 32).1, 32);
        let before = found(2, 30, 2);
        let after = with_spare(found(2, 30, 2), 32, 1e-9, 0);
        assert_eq!(before.clustering.centres, after.clustering.centres);
    }

    /// Two centres of one cluster become one at their mean, whose noise is that of the mean.
    #[test]
    fn joined_centres_have_the_records_of_both() {
        let mut before = found(3, 7, 1);
        before.clustering.counts[0] = 3_000;
        let (loss, fewer) = Seen::new(&before).joined();
        assert_eq!(fewer.rows.len(), 7);
        assert!(
            (loss - 750.0 * 3.0 * 0.01).abs() < 1e-9 && (fewer.counts[0] - 4_000.0).abs() < 1e-9
        );
        assert!((fewer.noise[0] - (0.75_f64.powi(2) + 0.25_f64.powi(2))).abs() < 1e-12);
        for (i, row) in fewer.rows.iter().enumerate() {
            for (j, other) in fewer.rows.iter().enumerate() {
                assert!((fewer.apart[i][j] - squared_distance(row, other)).abs() < 1e-9);
            }
        }
    }
}
