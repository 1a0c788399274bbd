//! A kd-tree whose leaves hold a few points each.

use super::Width;
use super::dense::steps_of;
use super::points::squared;

/// Points in the order of the tree: each subtree has a contiguous range of places.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KdTree {
    dimension: usize,
    unit: f64,
    width: Width,
    /// By place.
    coordinates: Vec<f64>,
    /// The node at a place.
    nodes: Vec<u32>,
    /// The place of a node.
    places: Vec<u32>,
    /// Low and high corner of each box; the children of `i` are `2i + 1` and `2i + 2`.
    boxes: Vec<f64>,
}

impl KdTree {
    /// Ranges of up to `leaf` points, at least 1, are leaves.
    pub(super) fn new(
        coordinates: &[f64],
        dimension: usize,
        (unit, width): (f64, Width),
        leaf: usize,
    ) -> Self {
        let count = coordinates.len() / dimension;
        let mut nodes: Vec<u32> = (0..u32::try_from(count).expect("ids are u32")).collect();
        let mut levels = 0;
        while count >> levels > leaf {
            levels += 1;
        }
        let mut boxes = vec![0.0; ((2 << levels) - 1) * 2 * dimension];
        build(coordinates, dimension, &mut nodes, 0, levels, &mut boxes);
        let mut places = vec![0; count];
        for (place, &node) in (0..).zip(&nodes) {
            places[node as usize] = place;
        }
        let of = |&node: &u32| {
            let start = node as usize * dimension;
            coordinates[start..start + dimension].iter().copied()
        };
        let coordinates = nodes.iter().flat_map(of).collect();
        Self { dimension, unit, width, coordinates, nodes, places, boxes }
    }

    /// The same points in leaves of another size.
    pub(super) fn with_leaves(&self, leaf: usize) -> Self {
        let by_node: Vec<f64> =
            self.places.iter().flat_map(|&place| self.at(place as usize)).copied().collect();
        Self::new(&by_node, self.dimension, (self.unit, self.width), leaf)
    }

    fn at(&self, place: usize) -> &[f64] {
        &self.coordinates[place * self.dimension..(place + 1) * self.dimension]
    }

    fn between(&self, a: &[f64], b: &[f64]) -> u32 {
        steps_of(squared(a, b).sqrt(), self.unit, self.width)
    }

    /// In steps.
    pub(super) fn distance(&self, a: usize, b: usize) -> u32 {
        self.between(self.at(self.places[a] as usize), self.at(self.places[b] as usize))
    }

    /// The node next to any point, the first of equal ones.
    pub(super) fn nearest_to(&self, point: &[f64]) -> usize {
        let order = |a: &usize, b: &usize| {
            let distance = |node: usize| squared(self.at(self.places[node] as usize), point);
            distance(*a).total_cmp(&distance(*b)).then(a.cmp(b))
        };
        (0..self.nodes.len()).min_by(order).expect("there is a point")
    }

    /// The nodes in the order of places.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Numbers of at most so many subtrees that together hold all points, with their ranges of places.
    pub(crate) fn subtrees(&self, most: usize) -> Vec<(usize, std::ops::Range<usize>)> {
        let mut all = vec![(0, 0..self.nodes.len())];
        while 2 * all.len() <= most && !self.is_leaf(all[0].0) {
            let halves = |(number, range): (usize, std::ops::Range<usize>)| {
                let middle = usize::midpoint(range.start, range.end);
                [(2 * number + 1, range.start..middle), (2 * number + 2, middle..range.end)]
            };
            all = all.into_iter().flat_map(halves).collect();
        }
        all
    }

    fn is_leaf(&self, number: usize) -> bool {
        2 * number + 1 >= self.boxes.len() / (2 * self.dimension)
    }

    /// Hands over the places in a subtree within a number of steps of a node, with their distances;
    /// perhaps some that are farther.
    pub(crate) fn within(
        &self,
        node: u32,
        steps: u32,
        (number, range): (usize, std::ops::Range<usize>),
        visit: &mut impl FnMut(usize, u32),
    ) {
        let point = self.at(self.places[node as usize] as usize);
        // Distances are rounded to the nearest step; the factor outweighs the rounding of this line.
        let radius = (f64::from(steps) + 0.5) * self.unit * (1.0 + 1e-12);
        self.search(point, radius * radius, number, range, visit);
    }

    fn search(
        &self,
        point: &[f64],
        radius_squared: f64,
        number: usize,
        range: std::ops::Range<usize>,
        visit: &mut impl FnMut(usize, u32),
    ) {
        let (low, high) = self.boxes[number * 2 * self.dimension..][..2 * self.dimension]
            .split_at(self.dimension);
        let outside = point.iter().zip(low.iter().zip(high)).map(|(x, (low, high))| {
            let gap = (low - x).max(x - high).max(0.0);
            gap * gap
        });
        if outside.sum::<f64>() > radius_squared * (1.0 + 1e-12) {
            return;
        }
        if self.is_leaf(number) {
            for place in range {
                visit(place, self.between(point, self.at(place)));
            }
            return;
        }
        let middle = usize::midpoint(range.start, range.end);
        self.search(point, radius_squared, 2 * number + 1, range.start..middle, visit);
        self.search(point, radius_squared, 2 * number + 2, middle..range.end, visit);
    }
}

/// Sorts the nodes of a subtree into place and fills in its boxes.
fn build(
    coordinates: &[f64],
    dimension: usize,
    nodes: &mut [u32],
    number: usize,
    levels: usize,
    boxes: &mut [f64],
) {
    let at = |node: u32, axis: usize| coordinates[node as usize * dimension + axis];
    let mut widest = (0, -1.0);
    for axis in 0..dimension {
        let column = nodes.iter().map(|&node| at(node, axis));
        let (low, high) =
            column.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        boxes[number * 2 * dimension + axis] = low;
        boxes[number * 2 * dimension + dimension + axis] = high;
        if high - low > widest.1 {
            widest = (axis, high - low);
        }
    }
    if levels == 0 {
        return;
    }
    let middle = nodes.len() / 2;
    let order = |a: &u32, b: &u32| at(*a, widest.0).total_cmp(&at(*b, widest.0)).then(a.cmp(b));
    nodes.select_nth_unstable_by(middle, order);
    let (left, right) = nodes.split_at_mut(middle);
    build(coordinates, dimension, left, 2 * number + 1, levels - 1, boxes);
    build(coordinates, dimension, right, 2 * number + 2, levels - 1, boxes);
}
