//! Choosing cells that cover many records which are in no chosen cell yet.

use dp_mechanism::{CreditedRun, CreditedSelection, Draws, Private, SparseScores};

use super::grids::{Grids, Scale};

/// Middles of all chosen cells, row-major, in the order of the choices.
///
/// A record counts for the cells that hold it, at one scale after the other, until one of them is
/// chosen; from then on it counts for nothing, at coarser scales either. That is what lets all
/// choices cost as much as one. Their number does not depend on the records: it goes on when nothing
/// is left to cover.
pub(super) fn cover(
    (run, choice): (&CreditedRun, &CreditedSelection),
    grids: &Grids,
    picks_per_scale: usize,
    projected: &[f64],
    draws: &mut Draws<'_>,
) -> Vec<f64> {
    let records = projected.len() / grids.dim();
    let kept = run.sample(records, draws).exact();
    let mut uncovered: Vec<usize> = (0..records).filter(|&record| kept[record]).collect();
    let mut middles = Vec::new();
    for scale in &grids.scales {
        let mut cells = Cells::new(grids, scale, projected, &uncovered);
        for _ in 0..picks_per_scale {
            let chosen = choice.release_sparse(Private::new(&cells.scores), draws);
            middles.extend(grids.middle(scale, chosen));
            cells.cover(chosen);
        }
        let still = uncovered.iter().zip(&cells.covered).filter(|(_, covered)| !**covered);
        uncovered = still.map(|(&record, _)| record).collect();
    }
    middles
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
    fn new(grids: &Grids, scale: &Scale, projected: &[f64], uncovered: &[usize]) -> Self {
        let (dim, shifts) = (grids.dim(), grids.shifts());
        let mut held = vec![0; shifts];
        let mut entries: Vec<(u64, usize)> = Vec::with_capacity(uncovered.len() * shifts);
        for (record, &row) in (0..).zip(uncovered) {
            grids.cells(scale, &projected[row * dim..][..dim], &mut held);
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
            scores: SparseScores::new(grids.candidates(scale), listed),
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
