//! Points spread over a metric, and the cells around them. Public.

use std::cmp::Reverse;

use super::metric::Metric;

/// A farthest-point net: each of its points is as far as possible from those before, the first being the
/// centre of the metric.
pub(super) struct Net {
    /// For every node the nearest point of the net, the first of equal ones.
    pub(super) nearest: Vec<u32>,
}

/// A point of a net with the nodes that it is nearest to.
struct Cell {
    nodes: Vec<u32>,
    /// The largest distance of them, and the first node that is so far away.
    radius: u32,
    farthest: u32,
}

impl Net {
    /// Nets of so many points each, ascending; fewer if the metric has fewer places. Each contains those
    /// before it.
    ///
    /// # Complexity
    /// At most one distance for every pair of a point and a node. A new point only looks into cells
    /// that are nearer to it than twice their radius, which in the plane leaves a few.
    pub(super) fn nested(metric: &Metric, sizes: &[usize]) -> Vec<Self> {
        let first = metric.centre().0;
        let all: Vec<u32> = (0..u32::try_from(metric.nodes()).expect("ids are u32")).collect();
        let (mut nearest, mut row) = (vec![first; all.len()], Vec::new());
        let mut distances = Vec::new();
        metric.fill(first, &all, &mut distances);
        let mut points = vec![first];
        let mut cells = vec![Cell::around(all, &distances)];
        let mut nets = Vec::with_capacity(sizes.len());
        let mut to_points = Vec::new();
        loop {
            let widest = cells.iter().map(|cell| (cell.radius, Reverse(cell.farthest))).max();
            let (radius, Reverse(point)) = widest.expect("there is a cell");
            while sizes.get(nets.len()).is_some_and(|&size| size <= points.len() || radius == 0) {
                nets.push(Self { nearest: nearest.clone() });
            }
            if nets.len() == sizes.len() {
                return nets;
            }
            metric.fill(point, &points, &mut to_points);
            let mut taken = Vec::new();
            for (cell, &distance) in cells.iter_mut().zip(&to_points) {
                // Further away nobody is nearer to the new point; 2 for the rounding of the steps.
                if distance >= cell.radius.saturating_mul(2).saturating_add(2) {
                    continue;
                }
                metric.fill(point, &cell.nodes, &mut row);
                let before = taken.len();
                for (&node, &new) in cell.nodes.iter().zip(&row) {
                    if new < distances[node as usize] {
                        (distances[node as usize], nearest[node as usize]) = (new, point);
                        taken.push(node);
                    }
                }
                if taken.len() > before {
                    let mut kept = std::mem::take(&mut cell.nodes);
                    kept.retain(|&node| nearest[node as usize] != point);
                    *cell = Cell::around(kept, &distances);
                }
            }
            points.push(point);
            cells.push(Cell::around(taken, &distances));
        }
    }
}

impl Cell {
    fn around(nodes: Vec<u32>, distances: &[u32]) -> Self {
        let farthest = nodes.iter().map(|&node| (distances[node as usize], Reverse(node))).max();
        let (radius, Reverse(farthest)) = farthest.expect("a point is in its cell");
        Self { nodes, radius, farthest }
    }
}

#[cfg(test)]
mod tests {
    use dp_mechanism::ChaCha20Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::k_median::metric::{Edge, Width};

    #[test]
    fn points_are_taken_by_distance_and_cells_are_nearest() {
        // The middle is at 40; then come 100, 0 and 70 (30 away; 11 is 11 away).
        let metric = Metric::from_points(&[0.0, 11.0, 40.0, 70.0, 100.0], 1).unwrap();
        assert_eq!(metric.centre().0, 2);
        let nets = Net::nested(&metric, &[1, 3, 9, 12]);
        let nearest: Vec<&[u32]> = nets.iter().map(|net| net.nearest.as_slice()).collect();
        assert_eq!(nearest, [[2; 5], [0, 0, 2, 2, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]);
        let same = Metric::from_points(&[3.0; 4], 1).unwrap();
        assert_eq!(Net::nested(&same, &[4])[0].nearest, [0; 4]);
        assert!(Net::nested(&same, &[]).is_empty());
    }

    /// With all distances from every new point.
    fn plain(metric: &Metric, size: usize) -> Vec<u32> {
        let nodes = u32::try_from(metric.nodes()).unwrap();
        let mut points = vec![metric.centre().0];
        // The smallest distance of a node and the first point that is so far away.
        let nearest = |points: &[u32], node| {
            points.iter().map(|&point| metric.between(point, node)).zip(0..).min().unwrap()
        };
        while points.len() < size {
            let farthest = (0..nodes).map(|node| (nearest(&points, node).0, Reverse(node))).max();
            match farthest.unwrap() {
                (0, _) => break,
                (_, Reverse(node)) => points.push(node),
            }
        }
        (0..nodes).map(|node| points[nearest(&points, node).1]).collect()
    }

    /// Lines with many equal distances, a plane, many dimensions and a graph.
    #[test]
    fn cells_that_are_passed_over_would_not_have_changed() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut metrics = Vec::new();
        for (dimension, values) in [(1, 40), (2, 1_000), (9, 1_000)] {
            for (width, keep) in [(Width::Bits16, true), (Width::Bits24, false)] {
                let points: Vec<f64> =
                    (0..dimension * 240).map(|_| f64::from(rng.random_range(0..values))).collect();
                metrics.push(Metric::from_points_as(&points, dimension, width, keep).unwrap());
            }
        }
        let edges: Vec<Edge> = (1..240)
            .map(|node| (node, rng.random_range(0..node), rng.random_range(1..9)))
            .collect();
        metrics.push(Metric::from_graph(240, &edges, None).unwrap());
        for metric in metrics {
            let sizes = [2, 7, 30, 100, 239];
            for (net, size) in Net::nested(&metric, &sizes).iter().zip(sizes) {
                assert_eq!(net.nearest, plain(&metric, size));
            }
        }
    }
}
