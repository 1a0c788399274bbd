//! Where re-centring starts after a map: released values only.
//!
//! Three things can be made of a map: the clusters of the mixture that explains it best, k-means on what a mixture says, and k-means on the map itself. The
//! first is best where clusters are apart, the second where noise outweighs them, and the last where most of what k-means pays for is in no round cluster:
//! tails, and records that are anywhere. The next one is taken where the map says by more than its noise that it is better.

use dp_geometry::{NestedGrid, Points, PublicBox};
use dp_mechanism::ChaCha20Rng;

use super::PrivateKMeansSettings;
use super::mixture::{Cluster, Explained, Resolution, Weighted};
use super::sparse::Sparse;
use crate::clustering::{inside, nearest_weights, records};
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::map::{MapLevel, ReleasedMap, local_search_steps};
use crate::nearest::squared_distance;
use crate::public_coins::{Purpose, public_generator};
use crate::recentring::Start;

/// Of so many clusters, a mixture is found in about the time that the map takes, and says better than the map where they are; of a hundred it is
/// worse, and takes five times as long.
const MOST_IN_A_MODEL: usize = 48;
/// Nor is a mixture of so many vertices times the square of clusters worth its time, which grows with that: about a second.
const MOST_WORK: usize = 40_000_000;
/// It begins with twice as many parts as clusters are wanted, or with as many as there may be, and so many more.
const MORE_PARTS: usize = 3;
/// Runs of k-means.
const RUNS: usize = 5;
/// On so many cells for each centre, and at most `2^d` times as many, k-means finds what it finds on all.
const CELLS_PER_CENTRE: usize = 12;
/// So many deviations of noise outside of the part are surely some records: what is mistaken for some there is far away from all others, and costs most.
const OUTSIDE: f64 = 4.7;
/// Other centres are taken where they are better by so many deviations of what noise moves: measured.
const BETTER: f64 = 1.8;

/// A map, and how good each of its levels is.
pub(super) struct OnMap<'a> {
    map: &'a ReleasedMap,
    grid: NestedGrid,
    /// The part of the box that holds nearly all records, or all of it.
    part: PublicBox,
    released: Vec<MapLevel>,
    levels: Vec<Resolution>,
    /// The vertices in the part that have a weight.
    inside: PrivateCoreset,
    /// What surely is outside of it.
    outside: Vec<Cluster>,
}

impl<'a> OnMap<'a> {
    pub(super) fn new(map: &'a ReleasedMap, released: Vec<MapLevel>) -> Self {
        let grid = map.grid();
        let part = grid.finer().unwrap_or(grid.public_box()).clone();
        let dim = grid.dim();
        let levels = released.iter().map(|level| {
            let number = level.number();
            let sides = (0..dim).map(|i| grid.cells_per_unit(i, number).recip());
            Resolution {
                level: number,
                side: sides.clone().fold(0.0, f64::max),
                volume: sides.product(),
                noise: level.standard_deviation.powi(2),
            }
        });
        let levels: Vec<Resolution> = levels.collect();
        let all = map.coreset();
        let (mut coords, mut weights) = (Vec::new(), Vec::new());
        let mut beyond = Vec::with_capacity(all.len());
        for (place, &weight) in all.points().coords().chunks_exact(dim).zip(all.weights()) {
            let is_inside = part.contains(place);
            beyond.push(if is_inside { 0.0 } else { weight });
            if is_inside {
                coords.extend_from_slice(place);
                weights.push(weight);
            }
        }
        let places = all.points().coords();
        let outside =
            Sparse { grid: &grid, levels: &levels, places, records: beyond }.lots(OUTSIDE);
        let inside = Points::new(coords, dim).expect("whole rows");
        let inside = PrivateCoreset::released(inside, weights);
        Self { map, grid, part, released, levels, inside, outside }
    }

    /// The box in which the last rounds are: the part, unless there surely are records outside of it, which count only where centres are given.
    pub(super) fn last_box(&self, finds_k: bool) -> PublicBox {
        let all = self.grid.public_box();
        if self.outside.is_empty() || finds_k { &self.part } else { all }.clone()
    }

    /// As many centres as wanted, or, where the number is to be found, as there are clusters, at most so many.
    pub(super) fn start(&self, k: usize, settings: PrivateKMeansSettings) -> Start {
        let mut rng = public_generator(settings.public_seed, Purpose::MapSolver);
        let takes_long = k > MOST_IN_A_MODEL || self.inside.len() * k * k > MOST_WORK;
        if takes_long && !settings.finds_k {
            return self.of_map(k, &mut rng);
        }
        let parts = if takes_long {
            k
        } else if settings.finds_k {
            k + MORE_PARTS
        } else {
            2 * k + MORE_PARTS
        };
        let parts = self.kmeans(&self.inside, parts, &mut rng);
        let map = self.weighted();
        match Explained::new(&map, parts.view().coords(), k) {
            Ok(explained) if settings.finds_k => self.at(&explained.clusters()),
            Ok(explained) => self.best(&explained, k, &mut rng),
            Err(one) if settings.finds_k => self.at(&one),
            Err(_) => self.of_map(k, &mut rng),
        }
    }

    /// By k-means on the vertices that have more than the noise of one, and what surely is outside: nothing if these are fewer than centres are wanted.
    pub(super) fn standing_out(&self, k: usize, settings: PrivateKMeansSettings) -> Option<Start> {
        let mut rng = public_generator(settings.public_seed, Purpose::MapSolver);
        let noise = self.levels.last()?.noise.sqrt();
        let all = self.all();
        let rows = all.points().coords().chunks_exact(self.part.dim()).zip(all.weights());
        let (rows, weights): (Vec<&[f64]>, Vec<f64>) =
            rows.filter(|(_, weight)| **weight > noise).unzip();
        (weights.len() >= k).then(|| {
            let points = Points::new(rows.concat(), self.part.dim()).expect("whole rows");
            self.of(&PrivateCoreset::released(points, weights), k, &mut rng)
        })
    }

    /// The first of the three, or another one that surely is better.
    fn best(&self, explained: &Explained<'_>, k: usize, rng: &mut ChaCha20Rng) -> Start {
        let model = self.points(&[explained.model(), &self.outside].concat());
        let apart = explained.exactly(k).filter(|_| self.outside.is_empty());
        let apart = apart.map(|clusters| self.at(clusters));
        let of_model = (model.len() >= k).then(|| self.of(&model, k, rng));
        let mut starts = apart.into_iter().chain(of_model).chain([self.of_map(k, rng)]);
        let first = starts.next().expect("that of the map at least");
        starts.fold(first, |best, other| {
            if self.is_surely_better(&other.centres, &best.centres) { other } else { best }
        })
    }

    fn at(&self, clusters: &[Cluster]) -> Start {
        let counts = clusters.iter().map(|one| records(one.count)).collect();
        let centres = clusters.iter().flat_map(|one| one.at.iter().copied()).collect();
        Start::at(Points::new(centres, self.part.dim()).expect("whole rows"), counts)
    }

    /// By k-means on all that is on the map.
    fn of_map(&self, k: usize, rng: &mut ChaCha20Rng) -> Start {
        self.of(&self.all(), k, rng)
    }

    fn of(&self, points: &PrivateCoreset, k: usize, rng: &mut ChaCha20Rng) -> Start {
        let centres = self.kmeans(points, k, rng);
        let counts = nearest_weights(points, centres.view());
        Start::at(centres, counts)
    }

    fn kmeans(&self, points: &PrivateCoreset, k: usize, rng: &mut ChaCha20Rng) -> Points {
        let local_search_steps = local_search_steps(k);
        let settings = KMeansSettings { restarts: RUNS, local_search_steps, ..Default::default() };
        let solver = KMeans::new(k, settings).expect("k was checked");
        let joined = self.joined(points, k);
        let fit = solver.post_fit(joined.as_ref().unwrap_or(points), rng);
        let mut fit = fit.expect("released points are finite");
        if joined.is_some() {
            fit = solver.post_improve(points, fit.centres).expect("released points are finite");
        }
        inside(fit.centres, self.grid.public_box())
    }

    /// The vertices of larger cells together, as large as leaves enough of them for so many centres: clusters are found on these in a part of the time.
    fn joined(&self, points: &PrivateCoreset, k: usize) -> Option<PrivateCoreset> {
        let mut found = None;
        for level in (0..self.levels.last()?.level).rev() {
            let joined = self.in_cells(found.as_ref().unwrap_or(points), level);
            if joined.len() < CELLS_PER_CENTRE * k {
                break;
            }
            found = Some(joined);
        }
        found
    }

    /// The mean and the weight of the points in each cell of this level.
    fn in_cells(&self, points: &PrivateCoreset, level: u32) -> PrivateCoreset {
        let (places, records) = (points.points().coords(), points.weights().to_vec());
        let all = Sparse { grid: &self.grid, levels: &self.levels, places, records };
        let (at, counts): (Vec<_>, _) =
            all.in_cells(level).into_iter().map(|cell| (cell.at, cell.count)).unzip();
        let means = Points::new(at.concat(), self.part.dim()).expect("whole rows");
        PrivateCoreset::released(means, counts)
    }

    /// The vertices inside, and what surely is outside.
    fn all(&self) -> PrivateCoreset {
        let outside = self.points(&self.outside);
        let coords = [self.inside.points().coords(), outside.points().coords()].concat();
        let weights = [self.inside.weights(), outside.weights()].concat();
        PrivateCoreset::released(Points::new(coords, self.part.dim()).expect("whole rows"), weights)
    }

    /// Points around the middle of each cluster, on every axis, with its mean, its variance and its records.
    fn points(&self, clusters: &[Cluster]) -> PrivateCoreset {
        let (dim, all) = (self.part.dim(), self.grid.public_box());
        let (mut coords, mut weights) = (Vec::new(), Vec::new());
        for Cluster { at, count, variance } in clusters {
            if *variance <= 0.0 {
                coords.extend_from_slice(at);
                weights.push(*count);
                continue;
            }
            let step = (dim as f64 * variance).sqrt();
            for (axis, step) in (0..dim).flat_map(|axis| [(axis, -step), (axis, step)]) {
                let moved = |(i, x): (usize, &f64)| if i == axis { x + step } else { *x };
                let moved = at.iter().enumerate().map(moved).enumerate();
                coords.extend(moved.map(|(i, x)| all.clip_coordinate(i, x)));
                weights.push(count / (2 * dim) as f64);
            }
        }
        PrivateCoreset::released(Points::new(coords, dim).expect("whole rows"), weights)
    }

    /// Whether the map says that these centres are better than those, by more than its noise.
    fn is_surely_better(&self, these: &Points, those: &Points) -> bool {
        let squared = |centres: &Points, place: &[f64]| {
            let all = centres.view().rows().map(|centre| squared_distance(centre, place));
            all.fold(f64::INFINITY, f64::min)
        };
        let saved = |place: &[f64]| squared(those, place) - squared(these, place);
        let all = self.all();
        let rows = all.points().coords().chunks_exact(self.part.dim()).zip(all.weights());
        let gain: f64 = rows.map(|(place, weight)| weight * saved(place)).sum();
        gain > BETTER * self.noise(saved)
    }

    /// The deviation of the noise in a sum of a function over the records in the part. What is outside counts only where there surely is something.
    fn noise(&self, function: impl Fn(&[f64]) -> f64) -> f64 {
        let inside = |place: &[f64]| if self.part.contains(place) { function(place) } else { 0.0 };
        self.map.deviation(&self.released, inside)
    }

    fn weighted(&self) -> Weighted<'_> {
        Weighted {
            places: self.inside.points().coords(),
            weights: self.inside.weights(),
            dim: self.part.dim(),
            levels: self.levels.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_accounting::Budget;
    use dp_mechanism::Mechanism;

    use super::*;
    use crate::map::{PrivateMap, PrivateMapSettings};
    use crate::testing::rng;

    /// What is far outside of the part has no say in what the map knows about it.
    #[test]
    fn noise_is_that_of_the_part_however_wide_the_box_is() {
        for dim in [1, 2] {
            let part = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
            let coords = (0..1_000 * dim).map(|i| (i * i % 199) as f64 / 10.0 - 10.0).collect();
            let points = Points::new(coords, dim).expect("whole rows");
            // The mean of five maps.
            let of = |half: f64| {
                let wide = PublicBox::cube(dim, -half, half).expect("valid");
                let budget = Budget::new(1.0, 1e-6).expect("valid");
                let plan = PrivateMap::add_remove(wide, budget, PrivateMapSettings::default());
                let plan = plan.expect("valid").finer_in(&part);
                let [these, those] = [0.0, 4.0].map(|x| vec![x; dim]);
                let function = |place: &[f64]| {
                    squared_distance(place, &these) - squared_distance(place, &those)
                };
                let noises = (1..=5).map(|seed| {
                    let map = plan.simulate(points.view(), &mut rng(seed)).expect("released");
                    OnMap::new(&map.output, plan.levels()).noise(function)
                });
                noises.sum::<f64>() / 5.0
            };
            let fitting = of(10.0);
            let wide = [20.0, 100.0, 1e3, 1e6].map(of);
            assert!(wide.iter().all(|noise| (noise / wide[0] - 1.0).abs() < 0.01), "{wide:?}");
            assert!(
                (wide[0] / fitting - 1.0).abs() < 0.5,
                "{} in a box that fits {fitting}",
                wide[0]
            );
        }
    }

    /// Vertices of larger cells keep their records and their mean, and enough of them are left.
    #[test]
    fn vertices_are_joined_as_far_as_leaves_enough_for_the_centres() {
        let part = PublicBox::cube(2, -1.0, 1.0).expect("valid");
        let budget = Budget::new(1.0, 1e-6).expect("valid");
        let plan = PrivateMap::add_remove(part, budget, PrivateMapSettings::default());
        let plan = plan.expect("valid");
        let coords = (0..20_000).map(|i| f64::from(i * i % 199) / 100.0 - 0.99).collect();
        let points = Points::new(coords, 2).expect("whole rows");
        let map = plan.simulate(points.view(), &mut rng(1)).expect("released").output;
        let on_map = OnMap::new(&map, plan.levels());
        let vertices = &on_map.inside;
        let moments = |points: &PrivateCoreset| {
            let rows = points.points().coords().chunks_exact(2).zip(points.weights());
            rows.fold([0.0; 3], |[sum, x, y], (place, w)| {
                [sum + w, x + w * place[0], y + w * place[1]]
            })
        };
        for k in [1, 2, 5, vertices.len() / 100] {
            let joined = on_map.joined(vertices, k).expect("there are vertices to join");
            let enough = CELLS_PER_CENTRE * k..=4 * CELLS_PER_CENTRE * k;
            assert!(enough.contains(&joined.len()), "{} for {k}", joined.len());
            for (got, expected) in moments(&joined).iter().zip(moments(vertices)) {
                assert!((got - expected).abs() < 1e-6, "{got} {expected}");
            }
        }
        assert!(on_map.joined(vertices, vertices.len() / CELLS_PER_CENTRE).is_none());
        // Each cell of two by two is where its vertices are: three by three where the box ends.
        let finest = on_map.levels.last().expect("one at least");
        let (twos, side) = (on_map.in_cells(vertices, finest.level - 1), finest.side);
        assert!(twos.len() < vertices.len());
        for place in vertices.points().coords().chunks_exact(2) {
            let near = |mean: &[f64]| squared_distance(mean, place).sqrt() <= 3.0 * side;
            assert!(twos.points().coords().chunks_exact(2).any(near), "{place:?}");
        }
    }

    /// In many dimensions a map has too few vertices for a part and more.
    #[test]
    fn in_four_dimensions_all_vertices_are_in_the_part() {
        let [wide, part] = [1e3, 10.0].map(|half| PublicBox::cube(4, -half, half).expect("valid"));
        let budget = Budget::new(1.0, 1e-6).expect("valid");
        let plan = PrivateMap::add_remove(wide, budget, PrivateMapSettings::default());
        let plan = plan.expect("valid").finer_in(&part);
        let points = Points::new(vec![9.0; 4_000], 4).expect("whole rows");
        let map = plan.simulate(points.view(), &mut rng(1)).expect("released").output;
        let on_map = OnMap::new(&map, plan.levels());
        assert!(on_map.outside.is_empty());
        assert_eq!(on_map.last_box(false), part);
    }
}
