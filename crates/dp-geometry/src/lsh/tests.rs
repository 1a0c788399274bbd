use approx::assert_abs_diff_eq;
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::{GeometryError, PointsView};

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Over `n` fresh hashes, collisions are as frequent as the formula says, within five standard errors (false alarm 6e-7 each; the seeds
/// are pinned), and not as frequent as at a distance a fifth larger.
fn check(
    seed: u64,
    probability: f64,
    at_more: f64,
    mut collides: impl FnMut(&mut ChaCha20Rng) -> bool,
) {
    let n = 40_000;
    let mut rng = rng(seed);
    let seen = (0..n).filter(|_| collides(&mut rng)).count() as f64 / f64::from(n);
    let standard_error = |p: f64| (p * (1.0 - p) / f64::from(n)).sqrt();
    assert!(
        (seen - probability).abs() <= 5.0 * standard_error(probability),
        "{seen}, {probability}"
    );
    assert!(
        (seen - at_more).abs() > 5.0 * standard_error(at_more),
        "{seen} is that of {at_more}, too"
    );
}

#[test]
fn directions_have_the_moments_of_the_normal_law() {
    let coords = normal_directions(1_001, 99, &mut rng(5));
    let n = coords.len() as f64;
    assert_eq!(coords.len(), 1_001 * 99);
    let moment = |power| coords.iter().map(|x| x.powi(power)).sum::<f64>() / n;
    // Five standard errors: the variances of x, x^2 and x^4 are 1, 2 and 96. The seed is pinned.
    assert!(moment(1).abs() < 5.0 / n.sqrt());
    assert_abs_diff_eq!(moment(2), 1.0, epsilon = 5.0 * (2.0 / n).sqrt());
    assert_abs_diff_eq!(moment(4), 3.0, epsilon = 5.0 * (96.0 / n).sqrt());
}

#[test]
fn signs_collide_as_often_as_angles_say() {
    for (seed, planes, angle) in [(1, 1, 0.3_f64), (2, 4, 0.5), (3, 9, 0.2), (4, 3, 2.0)] {
        // Lengths do not matter.
        let (a, b) = ([7.0, 0.0, 0.0], [0.1 * angle.cos(), 0.1 * angle.sin(), 0.0]);
        let probability = |angle| SignProjections::collision_probability(angle, planes);
        check(seed, probability(angle), probability(1.2 * angle), |rng| {
            let normals = normal_directions(planes, 3, rng);
            let hash = SignProjections::new(PointsView::new(&normals, 3).unwrap()).unwrap();
            hash.key(&a, planes) == hash.key(&b, planes)
        });
    }
}

/// Against the plain sums, for every number of planes and a prefix of each; and odd points have a key.
#[test]
fn keys_of_signs_are_those_of_the_plain_products() {
    for planes in 0..=SignProjections::MAX_PLANES {
        let mut rng = rng(planes as u64);
        let normals = normal_directions(planes, 5, &mut rng);
        let hash = SignProjections::new(PointsView::new(&normals, 5).unwrap()).unwrap();
        assert_eq!(hash.planes(), planes);
        for prefix in [0, 1, planes / 2, planes, planes + 40] {
            let point: [f64; 5] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            let bit = |(bit, normal): (usize, &[f64])| {
                let product = normal.iter().zip(&point).fold(0.0, |sum, (a, x)| sum + x * a);
                u32::from(product > 0.0) << bit
            };
            let plain = normals.chunks_exact(5).take(prefix).enumerate().map(bit).sum::<u32>();
            assert_eq!(hash.key(&point, prefix), plain);
            let centre: [f64; 5] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            let offset: [f64; 5] = std::array::from_fn(|i| point[i] - centre[i]);
            assert_eq!(hash.key_around(&centre, &point, prefix), hash.key(&offset, prefix));
        }
        assert_eq!(hash.key(&[f64::NAN; 5], planes), 0);
        assert_eq!(hash.key(&[], planes), 0);
    }
    let many = vec![1.0; 33];
    let refused = SignProjections::new(PointsView::new(&many, 1).unwrap()).unwrap_err();
    assert_eq!(refused, GeometryError::Projections { got: 33, most: 32 });
}

#[test]
fn strips_collide_as_often_as_distances_say() {
    for (seed, count, width, distance) in
        [(1, 1, 4.0, 1.0), (2, 1, 1.0, 1.0), (3, 6, 8.0, 0.7), (4, 2, 0.01, 0.02), (5, 3, 5.0, 2.0)]
    {
        let share = distance / 2.0_f64.sqrt();
        // Far from the origin, where strips have large numbers.
        let (a, b) = ([50.0, -3.0], [50.0 + share, -3.0 - share]);
        let hash = |rng: &mut ChaCha20Rng| StableProjections::new(2, count, width, rng).unwrap();
        let any = hash(&mut rng(0));
        let probability = |distance| any.collision_probability(distance);
        check(seed, probability(distance), probability(1.2 * distance), |rng| {
            let (hash, mut keys) = (hash(rng), [vec![0; count], vec![0; count]]);
            hash.key(&a, &mut keys[0]);
            hash.key(&b, &mut keys[1]);
            keys[0] == keys[1]
        });
    }
}

#[test]
fn strips_are_there_for_every_point_and_refuse_odd_widths() {
    let hash = StableProjections::new(2, 3, 0.5, &mut rng(1)).unwrap();
    let key = |point: &[f64]| {
        let mut key = [7; 3];
        hash.key(point, &mut key);
        key
    };
    assert_eq!(key(&[f64::NAN, 1.0]), [0; 3]);
    assert!(key(&[f64::MAX, 0.0]).iter().all(|strip| [i64::MIN, i64::MAX].contains(strip)));
    assert_eq!(key(&[1.5]), key(&[1.5, 0.0]));
    assert_eq!((hash.len(), hash.is_empty()), (3, false));
    assert!(
        hash.collision_probability(0.0) >= 1.0 && hash.collision_probability(f64::INFINITY) <= 0.0
    );
    for got in [0.0, -1.0, f64::INFINITY, 1e-320] {
        let refused = StableProjections::new(2, 3, got, &mut rng(1)).unwrap_err();
        assert_eq!(refused, GeometryError::Width { got });
    }
    assert!(StableProjections::new(2, 3, f64::NAN, &mut rng(1)).is_err());
    assert!(StableProjections::new(0, 3, 1.0, &mut rng(1)).is_err());
}

#[test]
fn cells_collide_as_often_as_distances_say() {
    let half_widths = [8.0, 2.0];
    for (seed, halvings, distances) in [(1, 2, [1.0, 0.1]), (2, 1, [3.0, 0.0]), (3, 3, [0.5, 0.2])]
    {
        let grids = |rng: &mut ChaCha20Rng| {
            ShiftedGrids::new(half_widths.to_vec(), 1, halvings, rng).unwrap()
        };
        let any = grids(&mut rng(0));
        let more = distances.map(|t| 1.2 * t);
        let probabilities =
            [distances, more].map(|distances| any.collision_probability(&distances));
        let (a, b) = ([-3.3, 0.4], [-3.3 + distances[0], 0.4 - distances[1]]);
        check(seed, probabilities[0], probabilities[1], |rng| {
            let (grids, mut cells) = (grids(rng), [[0], [0]]);
            grids.cells(&a, &mut cells[0]);
            grids.cells(&b, &mut cells[1]);
            cells[0] == cells[1]
        });
    }
}

/// A record's cell is the one around it, in every grid, and numbers are in range.
#[test]
fn cells_hold_their_records() {
    let half_widths = [3.0, 0.5, 100.0];
    let mut rng = rng(9);
    for halvings in 1..=6 {
        let grids = ShiftedGrids::new(half_widths.to_vec(), 5, halvings, &mut rng).unwrap();
        assert_eq!(Some(grids.len()), ShiftedGrids::cells_of(3, 5, halvings));
        assert_eq!((grids.shifts(), grids.is_empty()), (5, false));
        let side = |half: f64| 2.0 * half / f64::from(1 << halvings);
        for case in 0..300 {
            let point: [f64; 3] = match case {
                0 => half_widths.map(|h| -h),
                1 => half_widths,
                _ => half_widths.map(|h| rng.random_range(-h..=h)),
            };
            let mut cells = [0; 5];
            grids.cells(&point, &mut cells);
            for (grid, &cell) in (0..).zip(&cells) {
                assert_eq!(cell / (grids.len() / 5), grid);
                let middle = grids.middle(cell);
                for ((x, m), h) in point.iter().zip(&middle).zip(half_widths) {
                    // Half a cell, and what moving the middle into the domain may add.
                    assert_abs_diff_eq!(x, m, epsilon = side(h) * 1.000_001);
                }
            }
        }
        let mut odd = [0; 5];
        grids.cells(&[f64::NAN, f64::INFINITY], &mut odd);
        assert!(odd.iter().all(|&cell| cell < grids.len()));
        assert_eq!(grids.middle(u64::MAX), grids.middle(grids.len() - 1));
    }
}

#[test]
fn grids_that_cannot_be_numbered_are_refused() {
    let new = |half_widths, shifts, halvings| {
        ShiftedGrids::new(half_widths, shifts, halvings, &mut rng(1)).err()
    };
    for (shifts, halvings) in [(0, 1), (4, 30), (4, 64), (4, 63)] {
        let refused = GeometryError::GridCells { dim: 10, shifts, halvings };
        assert_eq!(new(vec![1.0; 10], shifts, halvings), Some(refused));
    }
    assert_eq!(new(vec![], 1, 1), Some(GeometryError::ZeroDimension));
    assert!(new(vec![1.0, 0.0], 1, 1).is_some() && new(vec![f64::NAN], 1, 1).is_some());
    assert_eq!(new(vec![1.0; 32], 64, 1), None);
    assert_eq!(new(vec![1.0], 1, 62), None);
    let most = ShiftedGrids::MAX_SHIFTS;
    assert_eq!(new(vec![1.0], most, 1), None);
    let refused = GeometryError::GridCells { dim: 1, shifts: most + 1, halvings: 1 };
    assert_eq!(new(vec![1.0], most + 1, 1), Some(refused));
}
