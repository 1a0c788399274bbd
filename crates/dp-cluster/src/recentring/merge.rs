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
            beyond: a.beyond + b.beyond,
            variance,
            radius: a.radius.max(b.radius),
            is_lost: a.is_lost && b.is_lost,
        };
    }
}
