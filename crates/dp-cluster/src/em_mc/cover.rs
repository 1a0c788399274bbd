//! Choosing cells that cover many records which are in no chosen cell yet.

use dp_geometry::PointsView;
use dp_geometry::lsh::ShiftedGrids;
use dp_mechanism::{CreditedRun, CreditedSelection, Draws, Private, SparseScores};

/// Middles of all chosen cells, row-major, in the order of the choices.
///
/// A record counts for the cells that hold it, at one scale after the other, until one of them is
/// chosen; from then on it counts for nothing, at coarser scales either. That is what lets all
/// choices cost as much as one. Their number does not depend on the records: it goes on when nothing
/// is left to cover.
pub(super) fn cover(
    (run, choice): (&CreditedRun, &CreditedSelection),
    scales: &[ShiftedGrids],
    picks_per_scale: usize,
    projected: Private<PointsView<'_>>,
    draws: &mut Draws<'_>,
) -> Vec<f64> {
    let kept = run.sample(projected.map(|projected| projected.len()), draws);
    let mut records = projected.zip(kept).map(|(projected, kept)| {
        let uncovered = (0..projected.len()).filter(|&record| kept[record]).collect();
        Records { projected, uncovered, cells: None }
    });
    let mut middles = Vec::new();
    for grids in scales {
        records.update(|records| records.enter(grids));
        for _ in 0..picks_per_scale {
            let chosen = choice.release_sparse(records.as_ref().map(Records::scores), draws);
            middles.extend(grids.middle(chosen));
            records.update(|records| records.cover(chosen));
        }
    }
    middles
}

/// The projected records, which of them are in the sample and in no chosen cell, and where those are.
struct Records<'a> {
    projected: PointsView<'a>,
    /// When the present scale was entered.
    uncovered: Vec<usize>,
    /// Of the present scale.
    cells: Option<Cells>,
}

impl Records<'_> {
    /// From one scale to the next.
    fn enter(&mut self, grids: &ShiftedGrids) {
        if let Some(cells) = self.cells.take() {
            let mut covered = cells.covered.iter();
            self.uncovered.retain(|_| covered.next() == Some(&false));
        }
        self.cells = Some(Cells::new(grids, self.projected, &self.uncovered));
    }

    fn cover(&mut self, cell: u64) {
        if let Some(cells) = &mut self.cells {
            cells.cover(cell);
        }
    }

    fn scores(&self) -> &SparseScores {
        &self.cells.as_ref().expect("a scale has been entered").scores
    }
}

/// The cells of one scale that hold records, and which.
struct Cells {
    scores: SparseScores,
    /// `members[starts[p]..starts[p + 1]]` are the records, by their place among the uncovered, in
    /// the cell at position `p` of the scores.
    members: Vec<usize>,
    starts: Vec<usize>,
    /// The positions of each record's cells, one per grid.
    positions: Vec<usize>,
    grids: usize,
    covered: Vec<bool>,
}

impl Cells {
    fn new(grids: &ShiftedGrids, projected: PointsView<'_>, uncovered: &[usize]) -> Self {
        let shifts = grids.shifts();
        let mut held = vec![0; shifts];
        let mut entries: Vec<(u64, usize)> = Vec::with_capacity(uncovered.len() * shifts);
        for (record, &row) in (0..).zip(uncovered) {
            grids.cells(&projected[row], &mut held);
            entries.extend(held.iter().map(|&cell| (cell, record)));
        }
        entries.sort_unstable();
        let mut listed: Vec<(u64, u64)> = Vec::new();
        let (mut starts, mut positions) = (Vec::new(), vec![0; entries.len()]);
        // Cells are numbered grid by grid, so a record's cells come up in the order of the grids.
        let mut seen = vec![0_usize; uncovered.len()];
        for (at, &(cell, record)) in (0..).zip(&entries) {
            match listed.last_mut() {
                Some((last, count)) if *last == cell => *count += 1,
                _ => {
                    listed.push((cell, 1));
                    starts.push(at);
                }
            }
            positions[record * shifts + seen[record]] = listed.len() - 1;
            seen[record] += 1;
        }
        starts.push(entries.len());
        Self {
            scores: SparseScores::new(grids.len(), listed),
            members: entries.into_iter().map(|entry| entry.1).collect(),
            starts,
            positions,
            grids: shifts,
            covered: vec![false; uncovered.len()],
        }
    }

    /// Takes the records of a cell out of all their cells.
    fn cover(&mut self, cell: u64) {
        let Some(position) = self.scores.position(cell) else { return };
        for at in self.starts[position]..self.starts[position + 1] {
            let record = self.members[at];
            if !std::mem::replace(&mut self.covered[record], true) {
                for &position in &self.positions[record * self.grids..][..self.grids] {
                    self.scores.lower(position);
                }
            }
        }
    }
}
