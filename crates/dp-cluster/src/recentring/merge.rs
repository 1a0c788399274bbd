//! Merging centres that are one cluster: Ward's method on private values.

use super::centres::{Centres, Standing};

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// At most this many are left.
    Clusters(usize),
    /// The next two are further apart than this.
    Apart(f64),
}

/// What joining two centres costs: first by distance beyond what noise explains, then as it is.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Price(f64, f64);

const DEAR: Price = Price(f64::INFINITY, f64::INFINITY);

impl Centres {
    /// Joins pairs, the cheapest first, and returns where each centre went.
    pub(super) fn merge(&mut self, until: Until) -> Vec<u32> {
        let mut parent: Vec<usize> = (0..self.len()).collect();
        let mut alive: Vec<bool> = vec![true; self.len()];
        let mut left = self.len();
        // Of each centre the cheapest partner among those after it.
        let mut partner: Vec<(Price, usize)> =
            (0..self.len()).map(|i| self.cheapest_after(i, &alive)).collect();
        while left > 1 {
            let Some(i) = (0..self.len())
                .filter(|&i| alive[i])
                .reduce(|best, i| if partner[i].0 < partner[best].0 { i } else { best })
            else {
                break;
            };
            let j = partner[i].1;
            let go_on = match until {
                Until::Clusters(k) => left > k,
                Until::Apart(distance) => self.apart(i, j).0 <= distance * distance,
            };
            if !go_on || i == j {
                break;
            }
            self.join(i, j);
            alive[j] = false;
            parent[j] = i;
            left -= 1;
            for other in (0..self.len()).filter(|&other| alive[other]) {
                if other == i || partner[other].1 == i || partner[other].1 == j {
                    partner[other] = self.cheapest_after(other, &alive);
                } else if other < i {
                    let price = self.price(other, i);
                    if price < partner[other].0 {
                        partner[other] = (price, i);
                    }
                }
            }
        }
        self.keep(&alive, &parent)
    }

    /// Drops centres whose noisy count could be all noise, the smallest first, down to `k`.
    pub(super) fn drop_below(&mut self, least: f64, k: usize) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.standings[a].count.total_cmp(&self.standings[b].count));
        let mut alive = vec![true; self.len()];
        let spare = self.len().saturating_sub(k);
        for &i in order.iter().take(spare).filter(|&&i| self.standings[i].count < least) {
            alive[i] = false;
        }
        let parent: Vec<usize> = (0..self.len()).collect();
        self.keep(&alive, &parent)
    }

    /// Keeps those alive. Of the standings the answer is where they were joined to, or 0.
    fn keep(&mut self, alive: &[bool], parent: &[usize]) -> Vec<u32> {
        let mut number = vec![0_u32; alive.len()];
        let mut next = 0;
        for i in 0..alive.len() {
            if alive[i] {
                number[i] = next;
                next += 1;
            }
        }
        let moved = (0..alive.len()).map(|mut i| {
            while parent[i] != i {
                i = parent[i];
            }
            if alive[i] { number[i] } else { 0 }
        });
        let moved = moved.collect();
        let dim = self.dim;
        let rows = self.coords.chunks_exact(dim).zip(alive).filter(|(_, alive)| **alive);
        self.coords = rows.flat_map(|(row, _)| row).copied().collect();
        let mut alive = alive.iter();
        self.standings.retain(|_| *alive.next().expect("one flag per centre"));
        moved
    }

    fn cheapest_after(&self, i: usize, alive: &[bool]) -> (Price, usize) {
        (i + 1..self.len()).filter(|&j| alive[j]).fold((DEAR, i), |best, j| {
            let price = self.price(i, j);
            if price < best.0 { (price, j) } else { best }
        })
    }

    /// Squared distance of two centres beyond that of their noise, and as it is.
    fn apart(&self, i: usize, j: usize) -> (f64, f64) {
        let squared = crate::nearest::squared_distance(self.row(i), self.row(j));
        let noise = (self.standings[i].variance + self.standings[j].variance) * self.dim as f64;
        ((squared - noise).max(0.0), squared)
    }

    fn price(&self, i: usize, j: usize) -> Price {
        let (a, b) = (self.standings[i].count, self.standings[j].count);
        let weight = a * b / (a + b);
        let (beyond, squared) = self.apart(i, j);
        Price(weight * beyond, weight * squared)
    }

    fn join(&mut self, i: usize, j: usize) {
        let (a, b) = (self.standings[i], self.standings[j]);
        let count = a.count + b.count;
        let (p, q) = (a.count / count, b.count / count);
        for x in 0..self.dim {
            self.coords[i * self.dim + x] =
                p * self.coords[i * self.dim + x] + q * self.coords[j * self.dim + x];
        }
        let variance = p * p * a.variance + q * q * b.variance;
        self.standings[i] = Standing {
            count,
            count_variance: a.count_variance + b.count_variance,
            counted: a.counted + b.counted,
            counted_variance: a.counted_variance + b.counted_variance,
            beyond: a.beyond + b.beyond,
            variance,
            of_start: None,
            radius: a.radius.max(b.radius),
            clip: a.clip.max(b.clip),
            is_lost: a.is_lost && b.is_lost,
        };
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use dp_geometry::{Points, PublicBox};
    use rand::RngExt;

    use super::super::plan::Start;
    use super::*;
    use crate::testing::rng;

    fn centres(coords: Vec<f64>, dim: usize, counts: Vec<i64>, variance: f64) -> Centres {
        let centres = Points::new(coords, dim).expect("whole rows");
        let public_box = PublicBox::cube(dim, -100.0, 100.0).expect("valid");
        let mut centres = Centres::new(&Start::at(centres, counts), &public_box);
        centres.standings.iter_mut().for_each(|one| one.variance = variance);
        centres
    }

    /// All pairs looked at before every step.
    fn plain(centres: &mut Centres, k: usize) {
        while centres.len() > k {
            let n = centres.len();
            let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
            let best = pairs.reduce(|best, pair| {
                let price = |(i, j)| centres.price(i, j);
                if price(pair) < price(best) { pair } else { best }
            });
            let (i, j) = best.expect("two centres are a pair");
            centres.join(i, j);
            let alive: Vec<bool> = (0..n).map(|other| other != j).collect();
            let parent: Vec<usize> = (0..n).collect();
            centres.keep(&alive, &parent);
        }
    }

    /// Whichever of two has the longer radius: residuals of what they become are not clipped beyond its radius.
    #[test]
    fn what_is_joined_has_a_radius_beyond_its_clip() {
        for radii in [[1.0, 3.0], [3.0, 1.0]] {
            let mut two = centres(vec![0.0, 1.0], 1, vec![5, 5], 0.0);
            for (one, radius) in two.standings.iter_mut().zip(radii) {
                (one.radius, one.clip) = (radius, 0.6 * radius);
            }
            two.merge(Until::Clusters(1));
            let [radius, clip] = [two.standings[0].radius, two.standings[0].clip];
            assert_abs_diff_eq!(radius, 3.0);
            assert_abs_diff_eq!(clip, 0.6 * 3.0);
        }
    }

    #[test]
    fn remembered_partners_change_nothing() {
        let mut rng = rng(11);
        for (dim, variance) in [(1, 0.0), (2, 0.0), (2, 30.0), (7, 50.0)] {
            let coords = (0..40 * dim).map(|_| rng.random_range(-90.0..90.0)).collect();
            let counts = (0..40).map(|_| rng.random_range(1..500)).collect();
            let start = centres(coords, dim, counts, variance);
            for k in [1, 2, 7, 39, 40, 50] {
                let (mut fast, mut slow) = (start.clone(), start.clone());
                let moved = fast.merge(Until::Clusters(k));
                plain(&mut slow, k);
                assert_eq!(fast.coords, slow.coords, "{dim} dimensions, {k} clusters");
                assert_eq!(fast.len(), k.min(40));
                assert!(moved.len() == 40 && moved.iter().all(|&to| (to as usize) < fast.len()));
            }
        }
    }

    #[test]
    fn a_joined_centre_is_the_mean_of_its_points_and_they_follow_it() {
        let mut three = centres(vec![0.0, 50.0, 4.0], 1, vec![300, 200, 100], 0.0);
        for (one, count_variance) in three.standings.iter_mut().zip([7.0, 1.0, 3.0]) {
            one.count_variance = count_variance;
        }
        assert_eq!(three.merge(Until::Apart(10.0)), [0, 1, 0]);
        assert!((three.coords[0] - 1.0).abs() < 1e-12 && three.coords[1] > 49.0);
        assert_abs_diff_eq!(three.standings[0].count, 400.0, epsilon = 1e-9);
        let of_counts: Vec<f64> = three.standings.iter().map(|one| one.count_variance).collect();
        assert_eq!(of_counts, [10.0, 1.0]);
    }

    #[test]
    fn noise_explains_distance() {
        // Further apart than 3, but no further than noise of variance 5 in two dimensions puts them.
        let coords = vec![0.0, 0.0, 4.0, 0.0];
        let merged = |variance| {
            let mut two = centres(coords.clone(), 2, vec![9, 9], variance);
            two.merge(Until::Apart(3.0));
            two.len()
        };
        assert_eq!((merged(0.0), merged(5.0)), (2, 1));
    }

    #[test]
    fn the_smallest_are_dropped_first_and_never_too_many() {
        let start = || centres(vec![1.0, 2.0, 3.0, 4.0], 1, vec![5, 1_000, 3, 4], 0.0);
        let dropped = |least, k| {
            let mut centres = start();
            let moved = centres.drop_below(least, k);
            (centres.coords, moved)
        };
        assert_eq!(dropped(10.0, 3), (vec![1.0, 2.0, 4.0], vec![0, 1, 0, 2]));
        assert_eq!(dropped(10.0, 1), (vec![2.0], vec![0; 4]));
        assert_eq!(dropped(4.5, 1), (vec![1.0, 2.0], vec![0, 1, 0, 0]));
        assert_eq!(dropped(1e9, 4).0.len(), 4);
    }
}
