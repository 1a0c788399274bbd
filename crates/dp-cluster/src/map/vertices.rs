//! What a map asks of all records: their shares among the vertices of its levels.

use dp_geometry::{Cloud, GeometryError, NestedGrid, PointsView, PublicBox};
use serde::{Deserialize, Serialize};

use crate::passes::add_up;
use crate::table::sum_rows;

/// Per level, one after the other, the shares of the records at every vertex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Vertices {
    public_box: PublicBox,
    /// The part of the box where cells are finer, if any is.
    finer: Option<PublicBox>,
    levels: Vec<u32>,
}

impl Vertices {
    pub(super) fn new(grid: &NestedGrid, levels: Vec<u32>) -> Self {
        let (public_box, finer) = (grid.public_box().clone(), grid.finer().cloned());
        Self { public_box, finer, levels }
    }

    pub(crate) fn dim(&self) -> usize {
        self.public_box.dim()
    }

    pub(crate) fn public_box(&self) -> &PublicBox {
        &self.public_box
    }

    /// Whether some cells of a level are finer than others.
    pub(crate) fn is_finer_in_a_part(&self) -> bool {
        self.finer.is_some()
    }

    /// Each level with how many vertices it has.
    pub(crate) fn levels(&self) -> impl Iterator<Item = (u32, usize)> {
        self.levels.iter().copied().zip(self.sizes())
    }

    fn sizes(&self) -> impl Iterator<Item = usize> {
        let dim = self.dim();
        self.levels.iter().map(move |&level| Cloud::vertices_of(dim, level).unwrap_or(0))
    }

    pub(crate) fn entries(&self) -> usize {
        self.sizes().fold(0, usize::saturating_add)
    }

    pub(crate) fn counter(&self) -> Option<VertexCounter> {
        let grid = grid_of(&self.public_box, self.finer.as_ref()).ok()?;
        let clouds = self.levels.iter().map(|&level| Cloud::new(&grid, level).ok());
        let positions = vec![0; self.dim()];
        Some(VertexCounter { clouds: clouds.collect::<Option<_>>()?, grid, positions })
    }

    pub(crate) fn sums(&self, points: PointsView<'_>) -> Vec<i64> {
        let add = |counter: &mut Option<VertexCounter>, _, row: &[f64], sums: &mut [i64]| {
            if let Some(counter) = counter {
                counter.add(row, sums);
            }
        };
        sum_rows(points, self.entries(), || self.counter(), add)
    }

    /// Every record is shared out whole on every level.
    pub(crate) fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        let mut below = entries;
        self.sizes().all(|size| {
            let (here, rest) = below.split_at(size.min(below.len()));
            below = rest;
            add_up(here) == rows.checked_mul(Cloud::UNITS)
        })
    }
}

/// The grids over a box, or those that are finer in a part of it.
pub(super) fn grid_of(
    public_box: &PublicBox,
    finer: Option<&PublicBox>,
) -> Result<NestedGrid, GeometryError> {
    match finer {
        None => NestedGrid::new(public_box.clone()),
        Some(finer) => NestedGrid::finer_in(public_box.clone(), finer.clone()),
    }
}

pub(crate) struct VertexCounter {
    grid: NestedGrid,
    clouds: Vec<Cloud>,
    positions: Vec<u64>,
}

impl VertexCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], mut entries: &mut [i64]) {
        self.grid.positions(row, &mut self.positions);
        for cloud in &self.clouds {
            let (here, below) = entries.split_at_mut(cloud.vertices());
            cloud.add(&self.positions, here);
            entries = below;
        }
    }
}
