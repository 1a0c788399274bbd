use approx::assert_abs_diff_eq;
use dp_mechanism::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use super::*;

/// Four towns on a line at 0, 1, 3 and 7.
fn line() -> Vec<f64> {
    let at: [f64; 4] = [0.0, 1.0, 3.0, 7.0];
    at.iter().flat_map(|a| at.map(|b| (a - b).abs())).collect()
}

fn refused(nodes: usize, change: impl Fn(&mut Vec<f64>)) -> String {
    let mut distances = line();
    change(&mut distances);
    Metric::from_f64(nodes, &distances, None, Width::Bits16).unwrap_err().to_string()
}

#[test]
fn a_matrix_is_put_on_its_grid() {
    for (width, steps) in [(Width::Bits16, 65_535), (Width::Bits24, 16_777_215)] {
        let metric = Metric::from_f64(4, &line(), None, width).unwrap();
        assert_eq!((metric.between(0, 3), metric.diameter()), (steps, steps));
        // The town at 3 has the smallest radius, 4.
        assert_eq!(metric.centre(), (2, metric.between(2, 3)));
        for (a, b, want) in [(0, 1, 1.0), (1, 2, 2.0), (2, 3, 4.0), (1, 1, 0.0)] {
            let got = f64::from(metric.between(a, b)) * metric.unit();
            assert!((got - want).abs() <= metric.unit() / 2.0 * (1.0 + 1e-9), "{got} for {want}");
            assert_eq!(metric.between(a, b), metric.between(b, a));
        }
    }
}

#[test]
fn a_part_has_the_distances_of_the_whole() {
    let points = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6];
    for (width, keep) in [(Width::Bits16, true), (Width::Bits24, true), (Width::Bits24, false)] {
        let whole = Metric::from_points_as(&points, 1, width, keep).unwrap();
        let nodes = [1, 2, 5];
        let part = whole.part(&nodes);
        assert_eq!((part.nodes(), part.unit().to_bits()), (3, whole.unit().to_bits()));
        assert_eq!(part.diameter(), whole.between(1, 2));
        for (a, &at) in (0..).zip(&nodes) {
            for (b, &to) in (0..).zip(&nodes) {
                assert_eq!(part.between(a, b), whole.between(at, to));
            }
        }
    }
}

/// The radius bounds what a user is credited, whichever node is the farthest.
#[test]
fn no_node_is_beyond_the_radius_of_the_centre() {
    for far in 0..7 {
        let mut points = [1.0, 1.1, 1.3, 1.2, 1.4, 1.6, 1.5];
        points[far] = 9.0;
        points[(far + 3) % 7] = 0.0;
        let all = [(Width::Bits16, true), (Width::Bits24, true), (Width::Bits24, false)];
        for (width, keep) in all {
            let metric = Metric::from_points_as(&points, 1, width, keep).unwrap();
            let (centre, radius) = metric.centre();
            let farthest = (0..7).map(|node| metric.between(centre, node)).max().unwrap();
            assert_eq!(radius, farthest, "node {far} is far, {width:?}, all kept: {keep}");
        }
    }
}

/// Nor in a metric that keeps no distances, with one far node anywhere among many.
#[test]
fn no_node_of_a_large_metric_is_beyond_the_radius_of_the_centre() {
    let nodes = Metric::KD_TREE_FROM + 1;
    for far in [0, 1, 4_999, nodes / 2 + 1, nodes - 2, nodes - 1] {
        let mut points: Vec<f64> = (0..nodes).map(|i| (i % 1_009) as f64 / 1_009.0).collect();
        points[far] = 3.0;
        let metric = Metric::from_points(&points, 1).unwrap();
        let (centre, radius) = metric.centre();
        let all = u32::try_from(nodes).unwrap();
        let farthest = (0..all).map(|node| metric.between(centre, node)).max().unwrap();
        assert_eq!(radius, farthest, "node {far} is far");
    }
}

#[test]
fn a_declared_diameter_clips() {
    let metric = Metric::from_f64(4, &line(), Some(3.0), Width::Bits16).unwrap();
    assert_eq!([metric.between(0, 3), metric.between(0, 2)], [65_535, 65_535]);
    let wider = Metric::from_f64(4, &line(), Some(1e9), Width::Bits16).unwrap();
    assert_eq!(wider, Metric::from_f64(4, &line(), None, Width::Bits16).unwrap());
    for got in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Metric::from_f64(4, &line(), Some(got), Width::Bits16).unwrap_err();
        assert!(matches!(refused, MetricError::Diameter { .. }));
    }
}

#[test]
fn what_is_no_metric_is_refused_by_place() {
    assert_eq!(refused(0, |_| {}), "a metric has between 1 and 2147483648 nodes, got 0");
    assert_eq!(refused(5, |_| {}), "5 nodes need 25 distances, got 16");
    assert_eq!(
        refused(4, |d| d[1] = f64::NAN),
        "the distance from 0 to 1 must be a finite number, at least 0, got NaN"
    );
    assert_eq!(
        refused(4, |d| d[8] = -3.0),
        "the distance from 2 to 0 must be a finite number, at least 0, got -3.0"
    );
    assert!(refused(4, |d| d[14] = f64::INFINITY).starts_with("the distance from 3 to 2"));
    assert_eq!(refused(4, |d| d[5] = 0.5), "the distance from 1 to 1 must be 0, got 0.5");
    assert_eq!(refused(4, |d| d[1] = 1.5), "it is 1.5 from 0 to 1 but 1.0 back");
    let squared = refused(4, |d| d.iter_mut().for_each(|d| *d *= *d));
    assert!(squared.contains("shorter through"), "{squared}");
}

#[test]
fn a_single_node_and_nodes_in_one_place_are_metrics() {
    let one = Metric::from_f64(1, &[0.0], None, Width::Bits16).unwrap();
    assert_eq!((one.nodes(), one.diameter(), one.centre()), (1, 1, (0, 0)));
    let same = Metric::from_points(&[5.0; 12], 3).unwrap();
    assert_eq!((same.nodes(), same.between(0, 3), same.centre()), (4, 0, (0, 0)));
}

/// Shortest paths by another algorithm.
#[test]
fn paths_are_those_of_floyd_and_warshall() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for (nodes, longest) in [(2_u32, 9), (40, 1_000), (40, 1_000_000)] {
        let mut edges: Vec<Edge> =
            (1..nodes).map(|a| (a, rng.random_range(0..a), rng.random_range(0..longest))).collect();
        for _ in 0..2 * nodes {
            edges.push((rng.random_range(0..nodes), rng.random_range(0..nodes), longest / 3));
        }
        let n = nodes as usize;
        let mut plain = vec![u64::MAX / 4; n * n];
        (0..n).for_each(|a| plain[a * n + a] = 0);
        for &(a, b, length) in &edges {
            for (a, b) in [(a as usize, b as usize), (b as usize, a as usize)] {
                plain[a * n + b] = plain[a * n + b].min(length.into());
            }
        }
        for (through, a, b) in
            (0..n).flat_map(|t| (0..n).flat_map(move |a| (0..n).map(move |b| (t, a, b))))
        {
            plain[a * n + b] =
                plain[a * n + b].min(plain[a * n + through] + plain[through * n + b]);
        }
        let longest = *plain.iter().max().unwrap();
        for diameter in [None, Some(500), Some(70_000)] {
            let metric = Metric::from_graph(n, &edges, diameter).unwrap();
            let limit = diameter.map_or(longest, u64::from);
            for (at, &length) in plain.iter().enumerate() {
                let (a, b) = (u32::try_from(at / n).unwrap(), u32::try_from(at % n).unwrap());
                assert_eq!(u64::from(metric.between(a, b)), length.min(limit));
            }
            assert_abs_diff_eq!(metric.unit(), 1.0, epsilon = 1e-15);
        }
    }
}

#[test]
fn graphs_without_a_metric_are_refused() {
    let refused = |nodes, edges: &[Edge], diameter| {
        Metric::from_graph(nodes, edges, diameter).unwrap_err().to_string()
    };
    assert_eq!(refused(3, &[(0, 1, 5)], None), "no path leads from 0 to 2");
    assert_eq!(refused(2, &[(0, 2, 5)], None), "edge 0 ends at 2, which is no node");
    assert!(refused(0, &[], None).starts_with("a metric has between"));
    assert!(refused(2, &[(0, 1, 1 << 24)], None).starts_with("the path from 0 to 1 is longer"));
    assert!(refused(1, &[], Some(0)).starts_with("a declared diameter"));
    let clipped = Metric::from_graph(2, &[(0, 1, 1 << 24)], Some(100)).unwrap();
    assert_eq!(clipped.between(0, 1), 100);
}

#[test]
fn points_give_the_same_distances_from_a_tree_as_from_a_matrix() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    for dimension in [1, 2, 5] {
        let points: Vec<f64> = (0..200 * dimension).map(|_| rng.random_range(-9.0..9.0)).collect();
        let [kept, tree] = [true, false]
            .map(|keep| Metric::from_points_as(&points, dimension, Width::Bits24, keep).unwrap());
        for a in 0..200 {
            for b in 0..200 {
                assert_eq!(kept.between(a, b), tree.between(a, b));
            }
        }
        let (centre, radius) = tree.centre();
        assert_eq!(radius, (0..200).map(|a| tree.between(a, centre)).max().unwrap());
        assert!(kept.centre().1 <= radius && radius <= tree.diameter());
    }
}

#[test]
fn points_that_are_none_are_refused() {
    let refused = |coordinates: &[f64], dimension| {
        Metric::from_points(coordinates, dimension).unwrap_err().to_string()
    };
    assert!(refused(&[], 2).starts_with("a metric has between"));
    assert_eq!(refused(&[], 0), "the dimension must be at least 1, got 0");
    assert_eq!(refused(&[1.0, 2.0, 3.0], 2), "3 coordinates cannot be cut into points of 2");
    assert_eq!(refused(&[1.0], 0), "the dimension must be at least 1, got 0");
    for wild in [f64::NAN, f64::INFINITY, -1e200] {
        assert!(refused(&[0.0, 1.0, 2.0, wild], 2).ends_with(&format!("got {wild:?} in point 1")));
    }
}
