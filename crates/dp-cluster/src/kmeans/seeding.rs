//! Greedy k-means++ seeding.

use dp_geometry::PointsView;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::data::WeightedPoints;
use super::pairs::Pairs;
use crate::nearest::{CentreTable, NearestCentre, rounding_slack};

/// Points that are compared with the candidates together.
const ROWS: usize = 4;

/// Chosen centres, and how each point relates to them.
pub(super) struct Seeding {
    /// `(k, dim)`, row-major.
    pub(super) centres: Vec<f64>,
    /// Nearest centre of each point, the earliest one in a tie.
    pub(super) labels: Vec<u32>,
    /// Squared distance of each point to it.
    squared: Vec<f64>,
    /// `w d^2` summed per chunk of points.
    mass: Vec<f64>,
}

/// Draws `k` centres: the first with probability proportional to the weight, each later one as the
/// best of `trials` draws with probability proportional to `w d^2`.
///
/// If all that is left has distance zero (possible only when squares underflow), the heaviest point
/// fills up.
pub(super) fn seed<R: Rng + ?Sized>(
    data: &WeightedPoints<'_>,
    pairs: &mut Pairs<'_>,
    k: usize,
    trials: usize,
    rng: &mut R,
) -> Seeding {
    let points = data.points();
    let chunk = data.chunk_rows(k);
    let n = points.len();

    let weight_of_chunks: Vec<f64> = (0..n.div_ceil(chunk))
        .map(|c| (c * chunk..n.min((c + 1) * chunk)).map(|i| data.weight(i)).sum())
        .collect();
    let first = draw(&weight_of_chunks, chunk, n, |i| data.weight(i), rng)
        .expect("there are more than k points, and their weights are positive");

    let mut seeding = Seeding {
        centres: Vec::with_capacity(k * points.dim()),
        labels: vec![0; n],
        squared: vec![f64::INFINITY; n],
        mass: vec![0.0; n.div_ceil(chunk)],
    };
    let is_one_chunk = n <= chunk;
    let mut add_best_of = |seeding: &mut Seeding, candidates: &[usize]| {
        if pairs.are_few() && is_one_chunk {
            seeding.add_best_of_few(data, pairs, candidates);
        } else {
            seeding.add_best_of(data, chunk, candidates);
        }
    };
    add_best_of(&mut seeding, &[first]);
    for _ in 1..k {
        let candidates: Option<Vec<usize>> = (0..trials)
            .map(|_| {
                let mass_of = |i| data.weight(i) * seeding.squared[i];
                draw(&seeding.mass, chunk, n, mass_of, rng)
            })
            .collect();
        let candidates = candidates.unwrap_or_else(|| vec![heaviest(data)]);
        add_best_of(&mut seeding, &candidates);
    }
    seeding
}

/// A point that would be nearer to a candidate than to its centre.
struct Improvement {
    /// Position inside of the chunk.
    point: u32,
    candidate: u32,
    squared: f64,
}

/// What the candidates would do to one chunk of points.
struct Trial {
    /// Decrease of the cost per candidate.
    gains: Vec<f64>,
    /// Kept, so that the winner needs no second pass over the coordinates.
    improvements: Vec<Improvement>,
}

impl Seeding {
    /// Makes the candidate that lowers the cost most the next centre, the earliest one in a tie.
    fn add_best_of(&mut self, data: &WeightedPoints<'_>, chunk: usize, candidates: &[usize]) {
        let trials = self.try_all(data, chunk, candidates);
        let mut total = vec![0.0; candidates.len()];
        for trial in &trials {
            for (sum, gain) in total.iter_mut().zip(&trial.gains) {
                *sum += gain;
            }
        }
        let winner =
            (1..total.len()).fold(0, |best, t| if total[t] > total[best] { t } else { best });

        let label = as_u32(self.centres.len() / data.points().dim());
        self.squared
            .par_chunks_mut(chunk)
            .zip(self.labels.par_chunks_mut(chunk))
            .zip(&mut self.mass)
            .zip(&trials)
            .enumerate()
            .for_each(|(c, (((squared, labels), mass), trial))| {
                for better in &trial.improvements {
                    if better.candidate as usize == winner {
                        squared[better.point as usize] = better.squared;
                        labels[better.point as usize] = label;
                    }
                }
                let masses = (c * chunk..).zip(squared).map(|(i, d)| data.weight(i) * *d);
                *mass = masses.sum();
            });
        self.centres.extend_from_slice(&data.points()[candidates[winner]]);
    }

    /// The same where distances between points are kept and points are one chunk: the same sums in the same order.
    fn add_best_of_few(
        &mut self,
        data: &WeightedPoints<'_>,
        pairs: &mut Pairs<'_>,
        candidates: &[usize],
    ) {
        let mut gain = |&candidate: &usize| {
            let places = pairs.of(candidate).iter().zip(&self.squared).enumerate();
            let better = places.filter(|(_, (squared, now))| squared < now);
            better.fold(0.0, |sum, (i, (squared, now))| sum + data.weight(i) * (now - squared))
        };
        let gains: Vec<f64> = candidates.iter().map(&mut gain).collect();
        let winner =
            (1..gains.len()).fold(0, |best, t| if gains[t] > gains[best] { t } else { best });

        let label = as_u32(self.centres.len() / data.points().dim());
        let places = self.squared.iter_mut().zip(&mut self.labels);
        for ((now, own), &squared) in places.zip(pairs.of(candidates[winner])) {
            if squared < *now {
                (*now, *own) = (squared, label);
            }
        }
        let masses = self.squared.iter().enumerate().map(|(i, squared)| data.weight(i) * squared);
        self.mass[0] = masses.sum();
        self.centres.extend_from_slice(&data.points()[candidates[winner]]);
    }

    /// Compares every point with every candidate, chunk by chunk.
    fn try_all(&self, data: &WeightedPoints<'_>, chunk: usize, candidates: &[usize]) -> Vec<Trial> {
        let points = data.points();
        let rows: Vec<f64> = candidates.iter().flat_map(|&i| &points[i]).copied().collect();
        let table =
            CentreTable::new(PointsView::new(&rows, points.dim()).expect("whole rows were copied"));
        // By the triangle inequality a point nearer to its centre than half the way from there to
        // any candidate cannot improve. The margin covers rounding.
        let shrink = 0.25 * (1.0 - rounding_slack(points.dim()));
        let reach: Vec<f64> = self
            .centres
            .chunks_exact(points.dim())
            .map(|centre| shrink * table.two_nearest(centre).squared)
            .collect();

        self.squared
            .par_chunks(chunk)
            .zip(self.labels.par_chunks(chunk))
            .enumerate()
            .map(|(c, (squared, labels))| {
                let mut gains = vec![0.0; candidates.len()];
                let mut improvements = Vec::new();
                // Before the first centre there is no reach, and every distance is infinite.
                let may_improve = |&(j, &now): &(usize, &f64)| {
                    reach.get(labels[j] as usize).is_none_or(|&reach| now > reach)
                };
                let open: Vec<usize> =
                    squared.iter().enumerate().filter(may_improve).map(|(j, _)| j).collect();
                let mut distances = vec![0.0; ROWS * table.padded_len()];
                for group in open.chunks(ROWS) {
                    // The last group is filled up with its last point.
                    let place = |at: usize| c * chunk + group[at.min(group.len() - 1)];
                    let rows: [&[f64]; ROWS] = std::array::from_fn(|at| &points[place(at)]);
                    table.distances(rows, &mut distances);
                    let by_point = distances.chunks_exact(table.padded_len());
                    for (&j, distances) in group.iter().zip(by_point) {
                        let (now, weight) = (squared[j], data.weight(c * chunk + j));
                        for (t, (gain, &squared)) in gains.iter_mut().zip(distances).enumerate() {
                            if squared < now {
                                *gain += weight * (now - squared);
                                let (point, candidate) = (as_u32(j), as_u32(t));
                                improvements.push(Improvement { point, candidate, squared });
                            }
                        }
                    }
                }
                Trial { gains, improvements }
            })
            .collect()
    }
}

fn as_u32(index: usize) -> u32 {
    u32::try_from(index).expect("chunks, centres and candidates are counted in 32 bits")
}

/// An index with probability proportional to its mass, or `None` if all masses are zero.
///
/// `chunk_mass[c]` is the sum of the masses of `c * chunk .. (c + 1) * chunk`. Going chunk by chunk
/// keeps the sums short, hence accurate, and most of the masses untouched.
pub(crate) fn draw<R: Rng + ?Sized>(
    chunk_mass: &[f64],
    chunk: usize,
    n: usize,
    mass_of: impl Fn(usize) -> f64,
    rng: &mut R,
) -> Option<usize> {
    let total: f64 = chunk_mass.iter().sum();
    let mut left = rng.random::<f64>() * total;
    // Rounding can carry `left` past the end: then the last index with any mass is it.
    let mut chosen_chunk = chunk_mass.iter().rposition(|&mass| mass > 0.0)?;
    for (c, &mass) in chunk_mass[..chosen_chunk].iter().enumerate() {
        if left < mass {
            chosen_chunk = c;
            break;
        }
        left -= mass;
    }
    let mut chosen = None;
    for i in chosen_chunk * chunk..n.min((chosen_chunk + 1) * chunk) {
        let mass = mass_of(i);
        if mass > 0.0 {
            chosen = Some(i);
            if left < mass {
                break;
            }
            left -= mass;
        }
    }
    chosen
}

/// Index of the largest weight, the earliest of equals.
fn heaviest(data: &WeightedPoints<'_>) -> usize {
    (1..data.points().len())
        .fold(0, |best, i| if data.weight(i) > data.weight(best) { i } else { best })
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;
    use dp_mechanism::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;
    use crate::local_search::{Objective, improve_seeding};

    /// Few distinct coordinates make ties and copies common.
    #[test]
    fn kept_distances_change_nothing() {
        for round in 0..40_u32 {
            let rng = |seed: u32| ChaCha20Rng::seed_from_u64(seed.into());
            let mut of_data = rng(round);
            let (n, dim) = (of_data.random_range(30..200), of_data.random_range(1..12));
            let k = 1 + round as usize % 20;
            let coords = (0..n * dim).map(|_| match of_data.random_range(0..30) {
                0 => of_data.random_range(-1e3..1e3),
                x => f64::from(x % 6) / 3.0,
            });
            let points = Points::new(coords.collect(), dim).expect("whole rows");
            let weights: Vec<f64> = (0..n).map(|_| of_data.random_range(0.0..3.0)).collect();
            let weights = (round % 3 > 0).then_some(&*weights);
            let data = WeightedPoints::new(points.view(), weights).expect("valid");
            let found = |most_kept| {
                let mut rng = rng(round + 100);
                let mut pairs = Pairs::with_sizes(data.points(), most_kept);
                assert_eq!(pairs.are_few(), most_kept > 0);
                let seeding = seed(&data, &mut pairs, k, 5, &mut rng);
                let Seeding { mut centres, labels, squared, mass } = seeding;
                let seeded = centres.clone();
                let objective = [Objective::KMeans, Objective::KMedian][round as usize % 2];
                improve_seeding(&data, &mut pairs, &mut centres, objective, 30, &mut rng);
                (seeded, labels, squared, mass, centres)
            };
            assert_eq!(found(1024), found(0));
        }
    }
}
