//! The centre that the last record of about here was nearest to: a hint for the next one.

use dp_geometry::PointsView;

/// Cells are told apart by so many bits, of so many coordinates at most.
const BITS: u32 = 15;
const AXES: usize = 5;

/// A coarse grid over the coordinates in which centres differ most. What it remembers changes the time of a search, and not its outcome.
pub(crate) struct Recent {
    /// Coordinate, where its cells begin, and cells per unit.
    axes: Vec<(usize, f64, f64)>,
    /// Cells along one coordinate, as a power of two.
    bits: u32,
    nearest: Vec<u32>,
}

impl Recent {
    pub(crate) fn new(centres: PointsView<'_>) -> Self {
        let mut spans: Vec<(usize, f64, f64)> = (0..centres.dim())
            .map(|axis| {
                let range = |(low, high): (f64, f64), row: &[f64]| {
                    (low.min(row[axis]), high.max(row[axis]))
                };
                let (low, high) = centres.rows().fold((f64::INFINITY, f64::NEG_INFINITY), range);
                (axis, low, high - low)
            })
            .collect();
        spans.sort_by(|a, b| b.2.total_cmp(&a.2));
        spans.truncate(AXES);
        let bits = BITS / u32::try_from(spans.len().max(1)).unwrap_or(BITS);
        let cells = f64::from(1_u32 << bits);
        let axes = spans.into_iter().map(|(axis, low, span)| (axis, low, cells / span)).collect();
        Self { axes, bits, nearest: vec![0; 1 << BITS] }
    }

    /// What the last record of this cell was nearest to.
    #[inline]
    pub(crate) fn near(&mut self, point: &[f64]) -> &mut u32 {
        let last = (1 << self.bits) - 1;
        let cell = self.axes.iter().fold(0, |cell, &(axis, low, scale)| {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates: cells at the ends have no end"
            )]
            let here = (((point[axis] - low) * scale) as u32).min(last);
            cell << self.bits | here as usize
        });
        &mut self.nearest[cell]
    }
}
