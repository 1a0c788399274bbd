use approx::assert_abs_diff_eq;
use dp_geometry::{Cloud, GeometryError, NestedGrid, PublicBox};
use proptest::prelude::*;

use crate::BOUNDARY;

fn shares(grid: &NestedGrid, cloud: &Cloud, point: &[f64]) -> Vec<i64> {
    let mut positions = vec![0; point.len()];
    grid.positions(point, &mut positions);
    let mut sums = vec![0; cloud.vertices()];
    cloud.add(&positions, &mut sums);
    sums
}

fn squared_change(a: &[i64], b: &[i64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) as f64 * (a - b) as f64).sum()
}

fn nested(min: Vec<f64>, max: Vec<f64>) -> NestedGrid {
    NestedGrid::new(PublicBox::new(min, max).unwrap()).unwrap()
}

#[test]
fn shares_of_a_record_in_a_cell() {
    let grid = nested(vec![0.0, 0.0], vec![4.0, 8.0]);
    let cloud = Cloud::new(&grid, 2).unwrap();
    assert_eq!(cloud.vertices(), 25);
    // A quarter into cell 1 of the first axis, half into cell 3 of the second.
    let found = shares(&grid, &cloud, &[1.25, 7.0]);
    let eighth = Cloud::UNITS.cast_signed() / 8;
    let mut expected = vec![0; 25];
    for (vertex, share) in [(8, 3), (9, 3), (13, 1), (14, 1)] {
        expected[vertex] = share * eighth;
    }
    assert_eq!(found, expected);
    let places = cloud.places();
    assert_eq!(places.len(), 2 * cloud.vertices());
    assert_eq!((places[2 * 8], places[2 * 8 + 1]), (1.0, 6.0));
    // The centre of mass of the shares is the record.
    let mean = |axis: usize| -> f64 {
        let sum: f64 =
            found.iter().enumerate().map(|(v, s)| *s as f64 * places[2 * v + axis]).sum();
        sum / Cloud::UNITS as f64
    };
    assert_eq!([mean(0), mean(1)], [1.25, 7.0]);
}

#[test]
fn every_record_has_shares_that_add_up_to_one() {
    for dim in 1..=8 {
        let grid = nested(vec![-1.0; dim], vec![1.0; dim]);
        for &level in if dim > 4 { &[0, 1][..] } else { &[0, 1, 3] } {
            let cloud = Cloud::new(&grid, level).unwrap();
            for x in BOUNDARY {
                for y in [0.3, 1.0, -7.0, f64::NAN] {
                    let point: Vec<f64> =
                        (0..dim).map(|i| if i % 2 == 0 { x } else { y }).collect();
                    let found = shares(&grid, &cloud, &point);
                    assert!(found.iter().all(|s| *s >= 0), "{point:?}");
                    assert_eq!(found.iter().sum::<i64>(), Cloud::UNITS.cast_signed(), "{point:?}");
                }
            }
        }
    }
}

#[test]
fn too_many_vertices_are_refused() {
    let grid = |dim| nested(vec![0.0; dim], vec![1.0; dim]);
    for (dim, level) in [(9, 1), (50, 0), (1, 17), (2, 12), (3, 8), (8, 4)] {
        let refused = Cloud::new(&grid(dim), level);
        assert_eq!(refused, Err(GeometryError::Vertices { dim, level }));
    }
    assert_eq!(Cloud::new(&grid(3), 7).unwrap().vertices(), 129 * 129 * 129);
}

#[test]
fn the_slope_of_equal_spacing_is_the_root_of_one_more_than_the_dimension() {
    for dim in 1..=8_usize {
        let grid = nested(vec![3.0; dim], vec![5.0; dim]);
        let slope = Cloud::new(&grid, 2).unwrap().slope();
        let exact = 2.0 * ((dim + 1) as f64).sqrt();
        assert!(slope >= exact && slope < exact * (1.0 + 1e-9), "{dim}: {slope}");
    }
    // One axis a million times longer: the other one alone, whose shares change by root 2.
    let grid = nested(vec![0.0, 0.0], vec![1.0, 1e6]);
    let slope = Cloud::new(&grid, 0).unwrap().slope();
    assert_abs_diff_eq!(slope, 2.0_f64.sqrt(), epsilon = 1e-5);
}

/// Of two axes, the root of the larger eigenvalue of a matrix of two rows, however unlike the axes are; and never less.
#[test]
fn the_slope_of_two_axes_is_no_less_than_that_of_their_matrix() {
    for ratio in [1.0, 0.5, 1.0 / 30.0, 1.0 / 1_500.0, 1e-4] {
        let slope = Cloud::new(&nested(vec![0.0, 0.0], vec![1.0, 1.0 / ratio]), 0).unwrap().slope();
        // Of the rows (2, r) and (r, 2 r^2).
        let (trace, squared): (f64, f64) = (2.0 + 2.0 * ratio * ratio, ratio * ratio);
        let apart = 2.0 - 2.0 * squared;
        let exact = (0.5 * (trace + (apart * apart + 4.0 * squared).sqrt())).sqrt();
        assert!(slope >= exact * (1.0 - 1e-15), "{ratio}: {slope} {exact}");
        assert!(slope <= exact * (1.0 + 1e-9), "{ratio}: {slope} {exact}");
    }
}

/// In every number of dimensions the shares follow the record along each axis.
#[test]
fn the_centre_of_mass_is_the_record_in_all_dimensions() {
    for dim in 1..=Cloud::MAX_DIM {
        let cloud_grid = nested(vec![0.0; dim], vec![2.0; dim]);
        let cloud = Cloud::new(&cloud_grid, 1).unwrap();
        let point: Vec<f64> = (0..dim).map(|i| 0.2 + 0.21 * i as f64).collect();
        let (found, places) = (shares(&cloud_grid, &cloud, &point), cloud.places());
        for (axis, x) in point.iter().enumerate() {
            let along = places.iter().skip(axis).step_by(dim);
            let sum: f64 = found.iter().zip(along).map(|(share, at)| *share as f64 * at).sum();
            assert_abs_diff_eq!(sum / Cloud::UNITS as f64, x, epsilon = 1e-4);
        }
    }
}

/// The largest change that a move of length `rho` makes, as a share of the bound: from vertices along diagonals, across borders and anywhere.
fn worst_move(min: &[f64], max: &[f64], level: u32, rho_in_cells: f64, random: &[f64]) -> f64 {
    let dim = min.len();
    let grid = nested(min.to_vec(), max.to_vec());
    let cloud = Cloud::new(&grid, level).unwrap();
    let cells = 1 << level;
    let narrow = (0..dim).map(|i| (max[i] - min[i]) / f64::from(cells)).fold(f64::MAX, f64::min);
    let rho = rho_in_cells * narrow;
    let bound = |length: f64| {
        let moved = (Cloud::UNITS as f64 * cloud.slope() * length + cloud.slack()).powi(2);
        moved.min(2.0 * (Cloud::UNITS as f64).powi(2))
    };
    let mut worst: f64 = 0.0;
    for (i, direction) in random.windows(dim).enumerate() {
        let vertex: Vec<f64> = (0..dim)
            .map(|a| {
                min[a] + ((i * 7 + a) % (1 << level)) as f64 * (max[a] - min[a]) / f64::from(cells)
            })
            .collect();
        let (from, towards): (Vec<f64>, Vec<f64>) = match i % 4 {
            // The direction of the largest change: along the diagonal of the cell, steeper on narrow axes.
            0 => (vertex, (0..dim).map(|a| narrow / (max[a] - min[a])).collect()),
            1 => (vertex, direction.to_vec()),
            2 => (
                vertex.iter().zip(direction).map(|(v, d)| v - d * rho / 2.0).collect(),
                direction.to_vec(),
            ),
            _ => (
                (0..dim)
                    .map(|a| min[a] + (max[a] - min[a]) * random[(i + 5 * a) % random.len()].abs())
                    .collect(),
                direction.to_vec(),
            ),
        };
        let length = towards.iter().map(|t| t * t).sum::<f64>().sqrt();
        let to: Vec<f64> = from.iter().zip(&towards).map(|(x, t)| x + t / length * rho).collect();
        let (a, b) = (shares(&grid, &cloud, &from), shares(&grid, &cloud, &to));
        // Far from the origin, or without a direction, the way is not as long as it should be.
        let way = from.iter().zip(&to).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        if way.is_finite() {
            worst = worst.max((squared_change(&a, &b) / bound(way)).sqrt());
        }
    }
    worst
}

proptest! {
    /// Boxes of any shape near and far from the origin, and moves of any length.
    #[test]
    fn no_move_changes_the_shares_by_more_than_the_bound(
        dim in 1..=4_usize,
        level in 0..=3_u32,
        rho in -12.0..4.0_f64,
        shape in prop::collection::vec(-3.0..3.0_f64, 4),
        offset in prop_oneof![Just(0.0), Just(1e6), Just(-1e9)],
        random in prop::collection::vec(-1.0..1.0_f64, 40),
    ) {
        let min = vec![offset; dim];
        let max: Vec<f64> = shape[..dim].iter().map(|s| offset + s.exp2()).collect();
        let worst = worst_move(&min, &max, level, rho.exp2(), &random);
        prop_assert!(worst <= 1.0, "{worst}");
    }
}

/// At a vertex, along the diagonal, the bound is reached: 3 % at most are given away.
#[test]
fn the_bound_is_reached_at_a_vertex() {
    for dim in 1..=3 {
        for (level, rho) in [(2, 0.04), (2, 0.01), (3, 0.001)] {
            let random = vec![0.5; 12];
            let worst = worst_move(&vec![-1.0; dim], &vec![1.0; dim], level, rho, &random);
            assert!((0.97..=1.0).contains(&worst), "{dim}, {rho}: {worst}");
        }
    }
    // A long box: the direction is that of the narrow axis.
    let worst = worst_move(&[0.0, 0.0], &[1.0, 1000.0], 2, 0.01, &[0.5; 12]);
    assert!((0.97..=1.0).contains(&worst), "{worst}");
}

/// What must fail: hard cells change by a whole record at a border, however short the move.
#[test]
fn hard_cells_break_the_bound() {
    let grid = nested(vec![0.0], vec![1.0]);
    let cloud = Cloud::new(&grid, 2).unwrap();
    let mut positions = [0];
    let mut cell = |x: f64| {
        let mut key = [0];
        grid.positions(&[x], &mut positions);
        grid.key(&positions, 2, &mut key);
        key[0]
    };
    assert_ne!(cell(0.25 - 1e-6), cell(0.25));
    assert!(
        Cloud::UNITS as f64 * cloud.slope() * 1e-6 + cloud.slack() < 0.001 * Cloud::UNITS as f64
    );
}

/// Of `2^d` shares of two records each is rounded down, by less than `1 + d / 64` units; and positions of a move may be `2^-28` of a cell
/// farther apart than it is long, along every axis.
#[test]
fn slack_is_what_all_shares_of_two_records_may_lose() {
    for dim in 1..=8_u32 {
        let (d, level) = (dim as usize, 1);
        let cloud = Cloud::new(&nested(vec![0.0; d], vec![1.0; d]), level).unwrap();
        let lost = f64::from(2 * 2_u32.pow(dim)) * (1.0 + f64::from(dim) / 64.0);
        let farther = f64::from(dim).sqrt() * 2_f64.powi(-28) / f64::from(1 << level);
        let moved = Cloud::UNITS as f64 * cloud.slope() * farther * (1.0 - 1e-9);
        assert!(cloud.slack() >= lost + moved, "{dim}");
        assert!(cloud.slack() < lost + f64::from(dim), "{dim}");
    }
}

/// Where a grid is finer in a part, cells are narrowest there, which need not be where its first end is. One axis: the shares of
/// two vertices change, by as many cells as the move is long.
#[test]
fn the_slope_is_that_of_the_narrowest_cells_of_a_part() {
    // In the last, a score of pieces come before the part.
    for (from, to, end) in
        [(0.0, 1.0, 64.0), (40.0, 41.0, 64.0), (63.0, 64.0, 64.0), (1e6, 1e6 + 1.0, 2e6)]
    {
        let [whole, part] =
            [(0.0, end), (from, to)].map(|(min, max)| PublicBox::cube(1, min, max).unwrap());
        let grid = NestedGrid::finer_in(whole, part).unwrap();
        let cloud = Cloud::new(&grid, 4).unwrap();
        // So short that most steps stay between two vertices.
        let step = 1.0 / 256.0;
        let at = |i: i32| shares(&grid, &cloud, &[from + f64::from(i) * step]);
        let changes = (0..256).map(|i| squared_change(&at(i), &at(i + 1)).sqrt());
        let most = changes.fold(0.0, f64::max);
        let moved = Cloud::UNITS as f64 * cloud.slope() * step;
        assert!(most <= moved + cloud.slack(), "{from}: {most} of {moved}");
        assert!(most >= 0.99 * moved, "the bound is reached from {from} on: {most} of {moved}");
    }
}
