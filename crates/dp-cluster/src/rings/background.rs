//! Records that are in no cluster, but anywhere: released values only.
//!
//! Rings that are far from the records of their centre hold them. If they are anywhere in the box around what was found, each ring has a share of them that is public: that of places
//! drawn evenly from this box. So the number of records that fits the noisy counts of these rings best, in least squares, is known with its deviation.

use dp_geometry::{Points, PointsView, PublicBox};
use rand::RngExt;

use super::cells::Layout;
use super::groups::Groups;
use super::seen::{has_several_sides, usual_rings};
use crate::coreset::PrivateCoreset;
use crate::nearest::{assign, squared_distance};
use crate::public_coins::{Purpose, public_generator};

/// A ring that begins at twice the radius at which the usual one of its centre ends is far from its records,
const FAR: usize = 2;
/// So many places stand for anywhere: of so many dimensions
const PLACES: usize = 300;
/// at most, as all places are as far from each other in more.
const MOST_DIMENSIONS: usize = 8;
/// Far rings have to hold this part of the places: a little says nothing about the rest.
const COVERED: f64 = 0.25;
/// The box around what was found is longer by this part on each side.
const LONGER: f64 = 0.1;
/// A number below so many deviations is noise, and this part of a larger one counts: centres are not taken from clusters for what may be nothing.
const SURE: f64 = 2.0;
const COUNTED: f64 = 0.25;
/// What an even number leaves unexplained is at most this many times what it explains, in squares of deviations: tails of clusters leave more. All measured.
const MISFIT: f64 = 2.0;

/// The means of groups, and after them places that stand for anywhere, all with their records.
#[derive(Debug)]
pub(crate) struct Background {
    pub(crate) all: PrivateCoreset,
    /// Squared length of the noise in each mean, as expected; infinite where that is not known.
    pub(crate) noise: Vec<f64>,
    /// By how many deviations their number is above 0.
    pub(crate) sure: f64,
}

impl Background {
    /// Around groups with these means, if there surely is one.
    pub(super) fn new(
        (groups, layout): (&Groups, &Layout),
        (means, variances): (&PrivateCoreset, &[f64]),
        count_noise: f64,
        (public_box, public_seed): (&PublicBox, u64),
    ) -> Option<Self> {
        if public_box.dim() > MOST_DIMENSIONS {
            return None;
        }
        let places = places_around(means.points(), public_box, public_seed);
        let far = far_rings((groups, layout), means.points(), &shares(&places, layout));
        let (records, sure) = evenly(&far, count_noise)?;
        let each = records / places.len() as f64;
        let coords = [means.points().coords(), places.view().coords()].concat();
        let weights = [means.weights(), &vec![each; places.len()]].concat();
        let all = Points::new(coords, public_box.dim()).expect("whole rows");
        let mut noise = variances.to_vec();
        noise.resize(means.len(), f64::INFINITY);
        Some(Self { all: PrivateCoreset::released(all, weights), noise, sure })
    }
}

/// A ring that is far from the records of its centre.
struct FarRing {
    /// Noisy number of its records.
    count: f64,
    /// Of which noise makes this many, in squares, in units of that of one cell.
    cells: f64,
    /// Its part of the places.
    share: f64,
}

/// How many records lie evenly in all that these rings have a part of, and by how many deviations that is above 0, if there surely are any and they fit the
/// counts.
fn evenly(rings: &[FarRing], count_noise: f64) -> Option<(f64, f64)> {
    let sum = |of: &dyn Fn(&FarRing) -> f64| rings.iter().map(of).sum::<f64>();
    let precision = sum(&|ring| ring.share * ring.share / ring.cells) / count_noise.powi(2);
    let found = sum(&|ring| ring.share * ring.count / ring.cells) / count_noise.powi(2);
    let (records, deviation) = (found / precision, precision.sqrt().recip());
    let is_covered = sum(&|ring| ring.share) >= COVERED;
    if !is_covered || records <= SURE * deviation {
        return None;
    }
    // Squares of what is left, over those that are expected: noise, chance, and how far so few places are from even.
    let left = sum(&|FarRing { count, cells, share }| {
        let expected = records * share;
        let chance = expected * (1.0 + records / PLACES as f64);
        (count - expected).powi(2) / (count_noise.powi(2) * cells + chance) - 1.0
    });
    (left <= MISFIT * found * records).then_some((COUNTED * records, records / deviation))
}

/// Drawn evenly from the box around these points.
fn places_around(points: PointsView<'_>, public_box: &PublicBox, public_seed: u64) -> Points {
    let dim = points.dim();
    let side = |axis: usize| {
        let all = points.coords().iter().skip(axis).step_by(dim);
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = all.fold(none, |(low, high), x| (x.min(low), x.max(high)));
        let longer = LONGER * (high - low);
        [low - longer, high + longer].map(|end| public_box.clip_coordinate(axis, end))
    };
    let sides: Vec<[f64; 2]> = (0..dim).map(side).collect();
    let mut rng = public_generator(public_seed, Purpose::Background);
    let place =
        |_| sides.iter().map(|[low, high]| low + (high - low) * rng.random::<f64>()).collect();
    let coords: Vec<Vec<f64>> = (0..PLACES).map(place).collect();
    Points::new(coords.concat(), dim).expect("whole rows")
}

/// Which part of these places is in each ring of each centre.
fn shares(places: &Points, layout: &Layout) -> Vec<f64> {
    let nearest = assign(places.view(), layout.centres());
    let mut shares = vec![0.0; layout.planes.len() * layout.rings()];
    for (&centre, squared) in nearest.labels.iter().zip(&nearest.squared_distances) {
        shares[centre as usize * layout.rings() + layout.ring_at(squared.sqrt())] +=
            1.0 / PLACES as f64;
    }
    shares
}

/// The rings with some of the places that are far from the records of their centre, but for those with records of a cluster: these are on one side of the centre.
fn far_rings(
    (groups, layout): (&Groups, &Layout),
    means: PointsView<'_>,
    shares: &[f64],
) -> Vec<FarRing> {
    let (usual, rings) = (usual_rings(groups, layout), layout.rings());
    let mut is_far = vec![false; shares.len()];
    for group in &groups.all {
        // Where records of a centre without groups are is not known.
        let far = group.centre * rings + (usual[group.centre] + FAR).min(rings);
        is_far[far..(group.centre + 1) * rings].fill(true);
    }
    for (group, mean) in groups.all.iter().zip(means.rows()) {
        let off = squared_distance(mean, layout.centre(group.centre));
        if !has_several_sides(off, layout.radii()[group.ring]) {
            is_far[group.centre * rings + group.ring] = false;
        }
    }
    let far = groups.of_all_rings(layout).into_iter().zip(shares).enumerate();
    let far = far.filter(|(ring, (_, share))| is_far[*ring] && **share > 0.0);
    far.map(|(ring, (count, &share))| {
        let cells = (1_u64 << layout.planes[ring / rings]) as f64;
        FarRing { count, cells, share }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recentring::Labels;
    use crate::rings::RingCells;
    use crate::testing::rng;

    /// Forty rings of four cells, whose parts of the places differ.
    fn rings(count: impl Fn(usize, f64) -> f64) -> Vec<FarRing> {
        let ring = |i: usize| {
            let share = (i + 1) as f64 / 1_000.0;
            FarRing { count: count(i, share), cells: 4.0, share }
        };
        (0..40).map(ring).collect()
    }

    #[test]
    fn a_number_that_fits_all_rings_is_found_and_no_other() {
        // Noise of one deviation, up and down.
        let noise = |i: usize| if i.is_multiple_of(2) { 20.0 } else { -20.0 };
        let of = |records: f64| {
            evenly(&rings(|i, share| records * share + noise(i)), 10.0).map(|(found, _)| found)
        };
        let found = of(2_000.0).expect("more than noise explains");
        assert!((found / COUNTED - 2_000.0).abs() < 50.0, "{found}");
        // The deviation is 134.
        assert!(of(200.0).is_none() && of(0.0).is_none() && of(-2_000.0).is_none());
        // All in one place.
        let lump = |i: usize, _| if i == 39 { 2_000.0 } else { noise(i) };
        assert!(evenly(&rings(lump), 10.0).is_none());
        // Too few of the places are in far rings.
        let few = rings(|_, share| 2_000.0 * share);
        assert!(evenly(&few[..20], 10.0).is_none() && evenly(&[], 10.0).is_none());
    }

    /// What is found among ten clusters of 4,000 records each that centres are at, with so many more that are anywhere.
    fn background(dim: usize, anywhere: usize) -> Option<f64> {
        let mut rng = rng(3);
        let public_box = PublicBox::cube(dim, -100.0, 100.0).expect("valid");
        let mut places = |n: usize| -> Vec<f64> {
            (0..n * dim).map(|_| rng.random_range(-90.0..90.0)).collect()
        };
        let (centres, mut records) = (places(10), places(anywhere));
        for number in 0..40_000 {
            let centre = &centres[number % 10 * dim..][..dim];
            records.extend(centre.iter().map(|x| x + rng.random_range(-3.0..3.0)));
        }
        let cells = RingCells {
            nearly_all: public_box.diagonal(),
            labels: Labels::nearest(public_box.clone(), centres),
            normals: [1.0, 0.0].into_iter().cycle().take(dim).collect(),
            planes: vec![1; 10],
        };
        let layout = cells.layout().expect("cells of a plan");
        let count_noise = 60.0;
        let mut counter = cells.counter().expect("cells of a plan");
        let mut counts = vec![0; layout.len()];
        records.chunks_exact(dim).for_each(|row| counter.add(row, &mut counts));
        for count in &mut counts {
            *count += rng.random_range(-104..=104);
        }
        let counts: Vec<f64> = counts.into_iter().map(|count| count as f64).collect();
        let groups = Groups::new(&layout, &counts, count_noise, false, f64::INFINITY);
        // Groups of these clusters are around their centres.
        let means = groups.all.iter().flat_map(|group| layout.centre(group.centre)).copied();
        let means = Points::new(means.collect(), dim).expect("whole rows");
        let weights: Vec<f64> = groups.all.iter().map(|group| group.count).collect();
        let variances = vec![1.0; weights.len()];
        let means = PrivateCoreset::released(means, weights);
        let (of, at) = ((&groups, &layout), (&means, &*variances));
        let found = Background::new(of, at, count_noise, (&public_box, 0))?;
        let seen = found.noise.len();
        assert_eq!(found.all.len(), seen + PLACES);
        assert!(found.all.points().rows().all(|place| public_box.contains(place)));
        Some(found.all.weights()[seen..].iter().sum::<f64>() / COUNTED)
    }

    #[test]
    fn records_that_are_anywhere_are_counted_where_there_are_some() {
        for dim in [2, 3, 5] {
            let found = background(dim, 6_000).expect("a seventh of all records");
            assert!((3_000.0..9_000.0).contains(&found), "{found} in {dim} dimensions");
            assert!(background(dim, 0).is_none(), "{dim} dimensions");
        }
        assert!(background(9, 6_000).is_none(), "not looked for");
    }
}
