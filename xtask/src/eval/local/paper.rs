//! The protocol that the paper sketches, as a baseline: buckets at several radii, sums of those that are heavy, votes for candidates.

use crate::error::Error;
use dp_cluster::kmeans::{KMeans, KMeansSettings};
use dp_geometry::{Points, PublicBox};
use dp_local::{
    CellAnswer, CodebookVector, Epsilon, FrequencyOracle, Mechanism, Oracle, Part, PublicCoins,
};
use dp_mechanism::ChaCha20Rng;
use rand::RngExt;

/// Deviations of noise above which a bucket or a candidate is heavy.
const HEAVY: f64 = 3.0;
/// Cells along each axis, by radius: geometric, and as fine as can be decoded.
const CELLS: [u32; 4] = [2, 4, 8, 16];
/// No histogram has more cells.
const MOST_CELLS: u64 = 1 << 17;

/// Whether candidates are improved and voted for, in three more rounds, or all clients name their bucket and that is all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    FourRounds,
    OneRound,
}

impl Form {
    pub(super) fn rounds(self) -> usize {
        if self == Self::OneRound { 1 } else { 4 }
    }

    /// Of a hundred clients so many are in each round.
    fn shares(self) -> [u32; 4] {
        if self == Self::OneRound { [100, 0, 0, 0] } else { [40, 20, 20, 20] }
    }
}

/// A bucket that many clients named.
struct Bucket {
    radius: usize,
    cell: u32,
    middle: Vec<f64>,
    /// Of those who were asked about this radius.
    share: f64,
}

/// The clients of a session, and public coins.
struct Survey<'d> {
    records: &'d Points,
    domain: &'d PublicBox,
    epsilon: Epsilon,
    coins: PublicCoins,
    shares: [u32; 4],
}

/// Centres of this form of the protocol.
pub(super) fn centres(
    form: Form,
    (records, domain): (&Points, &PublicBox),
    k: usize,
    epsilon: f64,
    rng: &mut ChaCha20Rng,
) -> Result<Points, Error> {
    let epsilon = Epsilon::new(epsilon).map_err(|error| failed(&error))?;
    let coins = PublicCoins::new(rng.random());
    let survey = Survey { records, domain, epsilon, coins, shares: form.shares() };
    let buckets = survey.buckets(k, rng)?;
    let dim = records.dim();
    let (points, weights): (Vec<f64>, Vec<f64>) = if form == Form::OneRound {
        // The finest radius whose buckets hold half of all clients.
        let held = |radius: usize| -> f64 {
            buckets.iter().filter(|one| one.radius == radius).map(|one| one.share).sum()
        };
        let most = (0..CELLS.len()).map(held).fold(0.0, f64::max);
        let radius = (0..CELLS.len()).rev().find(|radius| held(*radius) >= 0.5 * most).unwrap_or(0);
        let of = || buckets.iter().filter(|one| one.radius == radius);
        (of().flat_map(|one| one.middle.clone()).collect(), of().map(|one| one.share).collect())
    } else {
        let candidates = survey.means(&buckets, rng)?;
        let votes = survey.votes(2, &candidates, rng)?;
        let mut order: Vec<usize> = (0..votes.len()).collect();
        order.sort_by(|a, b| votes[*b].total_cmp(&votes[*a]));
        let noise = survey.noise(2)? * HEAVY;
        let kept = order.iter().take(4 * k).filter(|at| votes[**at] > noise || **at == order[0]);
        let kept: Vec<f64> =
            kept.flat_map(|at| candidates[at * dim..(at + 1) * dim].to_vec()).collect();
        let weights = survey.votes(3, &kept, rng)?;
        let seen = || kept.chunks_exact(dim).zip(&weights).filter(|(_, weight)| **weight > 0.0);
        (seen().flat_map(|(at, _)| at.to_vec()).collect(), seen().map(|(_, w)| *w).collect())
    };
    if points.is_empty() {
        let middle: Vec<f64> = (0..dim).map(|axis| domain.middle(axis)).collect();
        return Points::new(middle.repeat(k), dim).map_err(|error| failed(&error));
    }
    let points = Points::new(points, dim).map_err(|error| failed(&error))?;
    let solver = KMeans::new(k.min(points.len()), KMeansSettings::default());
    let fit = solver.and_then(|solver| solver.exact_fit(points.view(), Some(&weights), rng));
    fit.map(|fit| fit.centres).map_err(|error| failed(&error))
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::library("local-private-centers", &error.to_string())
}

impl Survey<'_> {
    /// Clients of a round, each of whom is in one.
    fn clients(&self, round: usize) -> impl Iterator<Item = (u32, &[f64])> {
        let first: u32 = self.shares[..round].iter().sum();
        let here = first..first + self.shares[round];
        let groups = self.coins.of(0);
        (0..)
            .zip(self.records.view().rows())
            .filter(move |(client, _)| here.contains(&groups.below(u64::from(*client), 100)))
    }

    fn expected(&self, round: usize) -> u32 {
        let n = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        (n / 100 * self.shares[round]).max(1)
    }

    fn oracle(&self, cells: u32, clients: u32, purpose: u64) -> Result<Oracle, Error> {
        let coins = self.coins.of(10 + purpose);
        Oracle::best(self.epsilon, cells, clients, coins).map_err(|error| failed(&error))
    }

    /// The deviation of the count of an empty cell in a round.
    fn noise(&self, round: usize) -> Result<f64, Error> {
        let clients = self.expected(round);
        Ok((f64::from(clients) * self.oracle(64, clients, 9)?.variance(0.0, 0.0)).sqrt())
    }

    /// Heavy buckets of randomly shifted grids, at most `4 k` of each radius. A client is asked about one radius.
    fn buckets(&self, k: usize, rng: &mut ChaCha20Rng) -> Result<Vec<Bucket>, Error> {
        let dim = self.records.dim();
        let radii: Vec<u32> = CELLS
            .into_iter()
            .filter(|cells| {
                (u64::from(*cells) + 1).pow(u32::try_from(dim).unwrap_or(64)) <= MOST_CELLS
            })
            .collect();
        let mut buckets = Vec::new();
        for (radius, &along) in radii.iter().enumerate() {
            let cells = (along + 1).pow(u32::try_from(dim).unwrap_or(64));
            let clients = (self.expected(0) / u32::try_from(radii.len()).unwrap_or(1)).max(1);
            let oracle = self.oracle(cells, clients, radius as u64)?;
            let mut counts = oracle.no_answers();
            for (client, record) in self.clients(0) {
                if self.coins.of(1).below(client.into(), u32::try_from(radii.len()).unwrap_or(1))
                    as usize
                    != radius
                {
                    continue;
                }
                let cell = self.cell(radius, along, record);
                let class = self.coins.of(2).below(client.into(), oracle.classes());
                let answer = CellAnswer::new(&oracle, class).simulate(cell, rng);
                let symbol = answer.map_err(|error| failed(&error))?.output;
                counts.add(class, symbol).map_err(|error| failed(&error))?;
            }
            let estimates = oracle.estimate(&counts).map_err(|error| failed(&error))?;
            let sd = (counts.total() as f64 * oracle.variance(0.0, 0.0)).sqrt();
            let heavy = (0..cells).zip(estimates).filter(|(_, count)| *count > HEAVY * sd);
            let mut found: Vec<Bucket> = heavy
                .map(|(cell, count)| {
                    let middle = self.middle(radius, along, cell);
                    Bucket { radius, cell, middle, share: count / counts.total() as f64 }
                })
                .collect();
            found.sort_by(|a, b| b.share.total_cmp(&a.share));
            found.truncate(4 * k);
            buckets.extend(found);
        }
        Ok(buckets)
    }

    /// By what part of a cell a radius' grid is shifted along an axis.
    fn shift(&self, radius: usize, axis: usize) -> f64 {
        (self.coins.of(3).word((radius * 64 + axis) as u64) >> 11) as f64 / 2_f64.powi(53)
    }

    fn cell(&self, radius: usize, along: u32, record: &[f64]) -> u32 {
        record.iter().enumerate().rev().fold(0, |cell, (axis, &x)| {
            let width = self.domain.width(axis) / f64::from(along);
            let at = (x - self.domain.min(axis)) / width + self.shift(radius, axis);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let at = at.clamp(0.0, f64::from(along)) as u32;
            cell * (along + 1) + at
        })
    }

    fn middle(&self, radius: usize, along: u32, mut cell: u32) -> Vec<f64> {
        let axis = |axis: usize| {
            let at = cell % (along + 1);
            cell /= along + 1;
            let width = self.domain.width(axis) / f64::from(along);
            let x =
                self.domain.min(axis) + (f64::from(at) + 0.5 - self.shift(radius, axis)) * width;
            self.domain.clip_coordinate(axis, x)
        };
        (0..self.records.dim()).map(axis).collect()
    }

    /// The mean record of each bucket, and its middle. A client is asked about one radius, and has a vector in the slot of its bucket.
    fn means(&self, buckets: &[Bucket], rng: &mut ChaCha20Rng) -> Result<Vec<f64>, Error> {
        let dim = self.records.dim();
        let mut candidates: Vec<f64> = buckets.iter().flat_map(|one| one.middle.clone()).collect();
        for (radius, along) in CELLS.into_iter().enumerate() {
            let here: Vec<&Bucket> = buckets.iter().filter(|one| one.radius == radius).collect();
            if here.is_empty() {
                continue;
            }
            let reach = 0.5 * self.domain.diagonal() / f64::from(along);
            let clients = self.expected(1);
            let books = (clients / 64).clamp(1, 1 << 12);
            let coins = self.coins.of(30 + radius as u64);
            let question = CodebookVector::new(self.epsilon, here.len() * dim, 256, books, coins)
                .map_err(|error| failed(&error))?;
            let mut counts = question.no_answers();
            for (client, record) in self.clients(1) {
                if self.coins.of(4).below(client.into(), 4) as usize != radius {
                    continue;
                }
                let cell = self.cell(radius, along, record);
                let slot = here.iter().position(|one| one.cell == cell);
                let away: Vec<f64> = slot.map_or_else(Vec::new, |slot| {
                    let middle = &here[slot].middle;
                    record.iter().zip(middle).map(|(x, z)| (x - z) / reach).collect()
                });
                let part = Part { first: slot.unwrap_or(0) * dim, values: &away };
                let book = self.coins.of(5).below(client.into(), books);
                let answer = question.answer(book).simulate(part, rng);
                let symbol = answer.map_err(|error| failed(&error))?.output;
                counts.add(book, symbol).map_err(|error| failed(&error))?;
            }
            let asked = counts.total() as f64;
            let sums = question.estimate(&counts).map_err(|error| failed(&error))?.map(|sum| sum);
            for (bucket, sum) in here.iter().zip(sums.chunks_exact(dim)) {
                let clients = (bucket.share * asked).max(1.0);
                let mean = bucket.middle.iter().zip(sum).enumerate().map(|(axis, (z, sum))| {
                    self.domain.clip_coordinate(axis, z + reach * sum / clients)
                });
                candidates.extend(mean);
            }
        }
        Ok(candidates)
    }

    /// How many clients are nearest to each candidate.
    fn votes(
        &self,
        round: usize,
        candidates: &[f64],
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<f64>, Error> {
        let dim = self.records.dim();
        let cells = u32::try_from(candidates.len() / dim).unwrap_or(u32::MAX);
        if cells == 0 {
            return Ok(Vec::new());
        }
        let oracle = self.oracle(cells, self.expected(round), 20 + round as u64)?;
        let mut counts = oracle.no_answers();
        for (client, record) in self.clients(round) {
            let squared =
                |at: &[f64]| -> f64 { at.iter().zip(record).map(|(x, y)| (x - y) * (x - y)).sum() };
            let nearest = (0..cells).zip(candidates.chunks_exact(dim));
            let nearest = nearest.min_by(|a, b| squared(a.1).total_cmp(&squared(b.1)));
            let cell = nearest.map_or(0, |(cell, _)| cell);
            let class = self.coins.of(6).below(client.into(), oracle.classes());
            let answer = CellAnswer::new(&oracle, class).simulate(cell, rng);
            let symbol = answer.map_err(|error| failed(&error))?.output;
            counts.add(class, symbol).map_err(|error| failed(&error))?;
        }
        oracle.estimate(&counts).map_err(|error| failed(&error))
    }
}
