//! Distances from one of the points to all of them.

use dp_geometry::PointsView;

use crate::nearest::CentreTable;

/// Squared distances between points, measured when they are asked for.
///
/// Of [few](Self::are_few) points they are kept: a seeding and its swaps ask for the same ones many times.
pub(crate) struct Pairs<'a> {
    points: PointsView<'a>,
    most_kept: usize,
    table: Option<CentreTable>,
    /// Of each point whose distances are known, these; of many points, those of the last one.
    rows: Vec<Vec<f64>>,
}

impl<'a> Pairs<'a> {
    /// The distances of so many points take 8 MiB.
    const MOST_KEPT: usize = 1024;

    pub(crate) fn new(points: PointsView<'a>) -> Self {
        Self::with_sizes(points, Self::MOST_KEPT)
    }

    /// The same with distances kept of so many points at most: a test sets this to nothing.
    pub(crate) fn with_sizes(points: PointsView<'a>, most_kept: usize) -> Self {
        Self { points, most_kept, table: None, rows: Vec::new() }
    }

    /// Whether distances are kept.
    pub(crate) fn are_few(&self) -> bool {
        self.points.len() <= self.most_kept
    }

    /// The squared distances from a point to all.
    pub(crate) fn of(&mut self, point: usize) -> &[f64] {
        let (n, are_few) = (self.points.len(), self.are_few());
        self.rows.resize_with(if are_few { n } else { 1 }, Vec::new);
        let row = &mut self.rows[if are_few { point } else { 0 }];
        if row.is_empty() || !are_few {
            let table = self.table.get_or_insert_with(|| CentreTable::new(self.points));
            row.resize(table.padded_len(), 0.0);
            table.distances([&self.points[point]], row);
        }
        &row[..n]
    }
}
