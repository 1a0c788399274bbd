//! What surely is in a part of a map of which noise may be most. Released values only.
//!
//! Records outside of the box that holds nearly all are few, so each vertex says little of them; but k-means may pay more for them than for all others. So they
//! are taken from cells that have more than noise would leave there, the smallest first.

use std::collections::BTreeMap;

use dp_geometry::NestedGrid;

use super::mixture::{Cluster, Resolution};
use crate::nearest::squared_distance;

/// On a line, what is left of a cell that surely has some counts from so many deviations on: few vertices are outside, so noise adds little up there, and what
/// is dropped of a tail is far from all else. On a plane noise is in many vertices, and was found to be taken for records: measured.
const LEFT_ON_A_LINE: f64 = 1.5;

/// Vertices of a map with so many records each.
pub(super) struct Sparse<'a> {
    pub(super) grid: &'a NestedGrid,
    /// The levels of the map, the coarsest first.
    pub(super) levels: &'a [Resolution],
    /// Where the vertices are, row-major.
    pub(super) places: &'a [f64],
    /// Of each.
    pub(super) records: Vec<f64>,
}

impl Sparse<'_> {
    /// One lot for each cell that has so many deviations of noise, without what parts of it have that have as many themselves. On a line, what is left then
    /// needs less.
    pub(super) fn lots(&self, deviations: f64) -> Vec<Cluster> {
        let mut lots = Vec::new();
        let Some(first) = self.levels.first() else { return lots };
        let cells = f64::from(1_u32 << first.level).powf(self.grid.dim() as f64);
        let noise = (first.noise * cells).sqrt();
        self.take(self.levels, self.vertices(), [deviations, noise], &mut lots);
        lots
    }

    /// One lot for each cell of this level that has any.
    pub(super) fn in_cells(&self, level: u32) -> Vec<Cluster> {
        self.by_cell(level, self.vertices()).map(|vertices| self.lot(&vertices)).collect()
    }

    fn vertices(&self) -> Vec<usize> {
        (0..self.records.len()).filter(|&vertex| self.records[vertex] > 0.0).collect()
    }

    /// From these vertices of one cell, whose noise has this deviation.
    fn take(
        &self,
        levels: &[Resolution],
        vertices: Vec<usize>,
        [deviations, noise]: [f64; 2],
        lots: &mut Vec<Cluster>,
    ) {
        let has_some = |vertices: &[usize], noise| self.count(vertices) >= deviations * noise;
        let (mut rest, before) = (Vec::new(), lots.len());
        match levels {
            [] => rest = vertices,
            [level, finer @ ..] => {
                let noise = level.noise.sqrt();
                for vertices in self.by_cell(level.level, vertices) {
                    if has_some(&vertices, noise) {
                        self.take(finer, vertices, [deviations, noise], lots);
                    } else {
                        rest.extend(vertices);
                    }
                }
            }
        }
        let is_left = lots.len() > before && self.grid.dim() == 1;
        let least = if is_left { LEFT_ON_A_LINE } else { deviations };
        if !rest.is_empty() && self.count(&rest) >= least * noise {
            lots.push(self.lot(&rest));
        }
    }

    fn by_cell(&self, level: u32, vertices: Vec<usize>) -> impl Iterator<Item = Vec<usize>> {
        let mut cells: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        let (mut positions, mut key) = (vec![0; self.grid.dim()], vec![0; self.grid.dim()]);
        // A vertex of the finest level is where a cell begins, or just before by rounding.
        let finest = self.levels.last().map_or(level, |finest| finest.level);
        let half = 1_u64 << (NestedGrid::POSITION_BITS - finest - 1);
        for vertex in vertices {
            self.grid.positions(self.place(vertex), &mut positions);
            for position in &mut positions {
                *position += half;
            }
            self.grid.key(&positions, level, &mut key);
            cells.entry(key.clone()).or_default().push(vertex);
        }
        cells.into_values()
    }

    fn count(&self, vertices: &[usize]) -> f64 {
        vertices.iter().map(|&vertex| self.records[vertex]).sum()
    }

    fn place(&self, vertex: usize) -> &[f64] {
        let dim = self.grid.dim();
        &self.places[vertex * dim..(vertex + 1) * dim]
    }

    /// All of these together.
    fn lot(&self, vertices: &[usize]) -> Cluster {
        let (dim, count) = (self.grid.dim(), self.count(vertices));
        let mut at = vec![0.0; dim];
        for &vertex in vertices {
            let share = self.records[vertex] / count;
            at.iter_mut().zip(self.place(vertex)).for_each(|(sum, x)| *sum += share * x);
        }
        let squares = vertices
            .iter()
            .map(|&vertex| self.records[vertex] * squared_distance(self.place(vertex), &at));
        let variance = squares.sum::<f64>() / (count * dim as f64);
        Cluster { at, count, variance }
    }
}

#[cfg(test)]
mod tests {
    use dp_geometry::{Cloud, PublicBox};

    use super::*;

    /// On a square of 32 cells a side with noise of one record in every vertex: these records at these vertices.
    fn lots(records: &[((usize, usize), f64)], deviations: f64) -> Vec<Cluster> {
        let grid = NestedGrid::new(PublicBox::cube(2, 0.0, 32.0).expect("valid")).expect("valid");
        let resolution = |level: u32| {
            let side = 32.0 / f64::from(1_u32 << level);
            Resolution { level, side, volume: side * side, noise: 1.0 }
        };
        let places = Cloud::new(&grid, 5).expect("small").places();
        let mut of_vertex = vec![0.0; places.len() / 2];
        for &((x, y), weight) in records {
            of_vertex[x * 33 + y] = weight;
        }
        let levels: Vec<_> = (2..=5).map(resolution).collect();
        Sparse { grid: &grid, levels: &levels, places: &places, records: of_vertex }
            .lots(deviations)
    }

    #[test]
    fn what_noise_would_leave_is_nothing() {
        assert!(lots(&[], 4.0).is_empty());
        // Less than four deviations in every cell, and in all sixteen of the coarsest level together.
        assert!(lots(&[((3, 3), 3.9), ((20, 20), 3.9), ((30, 2), 3.9)], 4.0).is_empty());
        assert_eq!(lots(&[((3, 3), 3.9), ((20, 20), 3.9), ((30, 2), 3.9)], 2.0).len(), 3);
    }

    #[test]
    fn lots_are_of_the_smallest_cells_that_surely_have_some() {
        // One vertex has enough by itself; four share a cell of the second level; the rest is too little anywhere.
        let spread =
            [((16, 0), 1.5), ((17, 1), 1.5), ((19, 2), 1.5), ((18, 3), 1.5), ((2, 30), 1.0)];
        let found = lots(&[&[((5, 7), 10.0)][..], &spread].concat(), 4.0);
        let mut seen: Vec<_> =
            found.iter().map(|lot| (lot.at.clone(), lot.count, lot.variance)).collect();
        seen.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert_eq!(seen[0], (vec![5.0, 7.0], 10.0, 0.0));
        assert_eq!(seen[1], (vec![17.5, 1.5], 6.0, 1.25));
        assert_eq!(seen.len(), 2);
    }

    /// A tail on a line: its beginning is clear, and what is further out by two deviations only. Alone, that is nothing, nor is it on a plane.
    #[test]
    fn what_is_left_of_a_cell_on_a_line_needs_less() {
        let on_a_line = |records: &[(usize, f64)]| {
            let grid = NestedGrid::new(PublicBox::cube(1, 0.0, 32.0).expect("valid"));
            let grid = grid.expect("valid");
            let resolution = |level: u32| {
                let side = 32.0 / f64::from(1_u32 << level);
                Resolution { level, side, volume: side, noise: 1.0 }
            };
            let places = Cloud::new(&grid, 5).expect("small").places();
            let mut of_vertex = vec![0.0; places.len()];
            for &(x, weight) in records {
                of_vertex[x] = weight;
            }
            let levels: Vec<_> = (2..=5).map(resolution).collect();
            let lots = Sparse { grid: &grid, levels: &levels, places: &places, records: of_vertex };
            lots.lots(4.0).into_iter().map(|lot| (lot.at[0], lot.count)).collect::<Vec<_>>()
        };
        assert_eq!(on_a_line(&[(16, 10.0), (22, 1.0), (23, 1.0)]), [(16.0, 10.0), (22.5, 2.0)]);
        assert_eq!(on_a_line(&[(16, 10.0), (22, 0.5), (23, 0.5)]), [(16.0, 10.0)]);
        assert_eq!(on_a_line(&[(22, 1.0), (23, 1.0)]), []);
        assert_eq!(lots(&[((16, 0), 10.0), ((22, 0), 1.0), ((23, 0), 1.0)], 4.0).len(), 1);
    }

    /// Many cells with a little each have much together.
    #[test]
    fn a_little_everywhere_is_one_lot() {
        let everywhere: Vec<_> = (0..16).map(|i| ((8 * (i / 4), 8 * (i % 4)), 1.5)).collect();
        let [one] = &lots(&everywhere, 4.0)[..] else { panic!("one lot") };
        assert_eq!((one.count, &one.at[..]), (24.0, &[12.0, 12.0][..]));
    }
}
