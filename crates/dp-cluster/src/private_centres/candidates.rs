//! The calibrated draws: counts of the cells of many grids, then a sum for every cell that is kept.

use std::num::NonZeroU32;

use dp_accounting::{Delta, Mu, Step};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Draws, GaussianSum, Kept, Private, StableHistogram};
use serde::{Deserialize, Serialize};

use super::PrivateCentresSettings;
use super::buckets::{Key, ShiftedGrid};
use super::subsamples::subsamples;
use crate::ClusterError;
use crate::nearest::squared_distance;
use crate::public_coins::{Purpose, public_generator};
use crate::residual::{UNITS, clip_residual};
use crate::table::sum_rows;

/// How the histograms are paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payment {
    /// Every record is in every histogram, and the noise is that of a vector of all: `sqrt(M)` as much for `M` of them.
    AllRecords,
    /// Every record is in one histogram, as in the paper: the noise is that of one, and a cluster has `M` times fewer records.
    Subsamples,
}

/// What neighbours of the whole are to the records at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// One record comes or goes.
    One,
    /// One comes and another goes, as among the farthest so many.
    Swap,
}

/// A candidate: the noisy mean of the records of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Origin {
    /// Which grid it is from.
    pub(crate) repetition: usize,
    pub(crate) level: u32,
    /// The noisy number of records in its cell.
    pub(crate) count: i64,
}

/// A checked and calibrated plan.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CandidatePlan {
    public_box: PublicBox,
    settings: PrivateCentresSettings,
    /// One per repetition.
    grids: Vec<ShiftedGrid>,
    change: Change,
    counts: StableHistogram,
    sums: GaussianSum,
}

/// The steps of the receipt.
const STEP: &str = "candidates";
const COUNTS: &str = "counts of the cells of a grid";
const SUM: &str = "sum of one cell";

/// Of what a histogram may spend, as squares of `mu`: counts decide what is found at all.
const SHARES: [f64; 2] = [1.0, 1.0];

impl CandidatePlan {
    pub(crate) const MAX_REPETITIONS: usize = 1_000;

    /// A plan that costs `mu` outside of a mass `outside`.
    pub(crate) fn new(
        public_box: PublicBox,
        settings: PrivateCentresSettings,
        change: Change,
        mu: Mu,
        outside: Delta,
    ) -> Result<Self, ClusterError> {
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        let (first, last) = (*settings.levels.start(), *settings.levels.end());
        if first > last || last > ShiftedGrid::MAX_LEVEL {
            return refuse("levels", f64::from(last), "at most 20, and at least the first");
        }
        if !(1..=Self::MAX_REPETITIONS).contains(&settings.repetitions) {
            return refuse("repetitions", settings.repetitions as f64, "between 1 and 1000");
        }
        let diagonal = public_box.diagonal();
        if !(1e-75..=1e75).contains(&diagonal) {
            let want = "between 1e-75 and 1e75";
            return refuse("diagonal of the public box", diagonal, want);
        }
        let mut rng = public_generator(settings.public_seed, Purpose::Buckets);
        let grids = (0..settings.repetitions)
            .map(|_| ShiftedGrid::new(public_box.clone(), &mut rng))
            .collect::<Result<Vec<_>, _>>()?;
        let histograms = grids.len() * (last - first + 1) as usize;
        let (mu, outside) = match settings.payment {
            Payment::Subsamples => (mu, outside),
            Payment::AllRecords => {
                let each = outside.get() / histograms as f64 * (1.0 - 4.0 * f64::EPSILON);
                // The last digits are for the rounding of the sum.
                let each = Delta::new(each * (1.0 - 1e-12))?;
                (mu.split(&vec![1.0; histograms])?[0], each)
            }
        };
        let parts = mu.split(&SHARES)?;
        // A swap changes two counts by 1 each; in one cell, one residual becomes another.
        let keys = if change == Change::Swap { NonZeroU32::new(2) } else { NonZeroU32::new(1) };
        let counts = StableHistogram::new(parts[0], outside, keys.expect("not 0"))?;
        let sums = GaussianSum::rounded(parts[1])?;
        Ok(Self { public_box, settings, grids, change, counts, sums })
    }

    /// The least noisy count of a cell that is kept.
    pub(crate) fn threshold(&self) -> i64 {
        self.counts.threshold()
    }

    /// Repetition and level of every histogram, in the order of the receipt.
    fn histograms(&self) -> impl Iterator<Item = (usize, u32)> {
        let levels = |grid| self.settings.levels.clone().map(move |level| (grid, level));
        (0..self.grids.len()).flat_map(levels)
    }

    /// The itemised cost.
    pub(crate) fn spent(&self) -> Step {
        let steps = self.histograms().map(|(grid, level)| {
            let sum = Step::spend(SUM, self.sums.loss());
            // A swap may change two cells: the noise is for that, and one line says what all cells cost.
            let sums = Step::parallel("cells", vec![sum]);
            let counts = self.counts.step("cells that reach the threshold", COUNTS);
            let name = format!("grid {} at level {level}", grid + 1);
            Step::sequential(name, vec![counts, sums])
        });
        let steps = steps.collect();
        match self.settings.payment {
            Payment::AllRecords => Step::sequential(STEP, steps),
            Payment::Subsamples => Step::parallel(STEP, steps),
        }
    }

    /// The squared length by which a neighbour's sums may differ.
    fn length_squared(&self) -> u64 {
        let one = (UNITS * UNITS).unsigned_abs();
        match self.change {
            Change::One => one,
            Change::Swap => 4 * one,
        }
    }

    /// The candidates, histogram by histogram, and where each comes from: released values.
    pub(crate) fn run(
        &self,
        points: Private<PointsView<'_>>,
        draws: &mut Draws<'_>,
    ) -> (Points, Vec<Origin>) {
        let draws = &mut draws.within(STEP);
        let (seed, dim) = (self.settings.public_seed, self.public_box.dim());
        let histograms = self.histograms().count();
        let of = match self.settings.payment {
            Payment::AllRecords => points.map(|_| Vec::new()),
            Payment::Subsamples => points.map(|points| subsamples(points, histograms, seed)),
        };
        let (mut coords, mut origins) = (Vec::new(), Vec::new());
        for (number, (repetition, level)) in self.histograms().enumerate() {
            let grid = &self.grids[repetition];
            let keys = points.map(|points| grid.keys(points, level));
            let group = u32::try_from(number).expect("at most 21,000");
            let is_counted =
                move |of: &[u32], record: usize| of.get(record).is_none_or(|mine| *mine == group);
            let counts = keys
                .as_ref()
                .zip(of.as_ref())
                .map(|(keys, of)| keys.counts(|record| is_counted(of, record)));
            let kept = self.counts.release(counts.as_ref(), &mut draws.leaf(COUNTS, number));
            let cells: Vec<(Vec<f64>, f64)> = kept
                .iter()
                .map(|(key, _)| (grid.middle(key, level), grid.half_diagonal(level)))
                .collect();
            let sums = points.zip(keys.as_ref()).zip(of.as_ref()).map(|((points, keys), of)| {
                let cell_of = |record: usize| {
                    let found =
                        kept.binary_search_by(|(key, _)| key.as_slice().cmp(keys.row(record)));
                    found.ok().filter(|_| is_counted(of, record))
                };
                self.sums_of_cells(points, &cells, cell_of)
            });
            let sums = sums.cells(cells.len() * dim);
            for (cell, ((key_count, (middle, radius)), sum)) in
                kept.iter().zip(&cells).zip(sums.view().chunks(dim)).enumerate()
            {
                let (_, count): &Kept<Key> = key_count;
                let draws = &mut draws.part(SUM, number, cell as u64);
                let sum = self.sums.release(sum, self.length_squared(), draws);
                let per_unit = radius / UNITS as f64 / (*count).max(1) as f64;
                coords.extend(middle.iter().zip(sum).enumerate().map(|(i, (x, units))| {
                    self.public_box.clip_coordinate(i, x + units as f64 * per_unit)
                }));
                origins.push(Origin { repetition, level, count: *count });
            }
        }
        (Points::new(coords, dim).expect("whole rows"), origins)
    }

    /// Residuals from the middles of their cells, added up cell by cell.
    fn sums_of_cells(
        &self,
        points: PointsView<'_>,
        cells: &[(Vec<f64>, f64)],
        cell_of: impl Fn(usize) -> Option<usize> + Sync,
    ) -> Vec<i64> {
        let dim = points.dim();
        let scratch = || (vec![0.0; dim], vec![0_i32; dim]);
        sum_rows(points, cells.len() * dim, scratch, |(row, units), record, raw, sums| {
            let Some(cell) = cell_of(record) else { return };
            crate::located::clip_into(&self.public_box, raw, row);
            let (middle, radius) = &cells[cell];
            let distance = squared_distance(row, middle).sqrt();
            clip_residual(row, middle, distance, *radius, units);
            for (sum, unit) in sums[cell * dim..].iter_mut().zip(&*units) {
                *sum += i64::from(*unit);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In one cell a record can join, or take the place of the one at the opposite end.
    #[test]
    fn a_change_of_one_cell_is_bounded_and_the_bound_is_reached() {
        let public_box = PublicBox::cube(1, 0.0, 1.0).expect("valid");
        let cells = [(vec![0.5], 0.5)];
        for (change, before) in [(Change::One, vec![0.5]), (Change::Swap, vec![0.5, 0.0])] {
            let mu = Mu::new(1.0).expect("valid");
            let outside = Delta::new(1e-6).expect("valid");
            let settings = PrivateCentresSettings::default();
            let plan = CandidatePlan::new(public_box.clone(), settings, change, mu, outside);
            let plan = plan.expect("valid settings");
            let sum = |records: &[f64]| {
                let points = PointsView::new(records, 1).expect("one column");
                plan.sums_of_cells(points, &cells, |_| Some(0))[0]
            };
            let moved = (sum(&[0.5, 1.0]) - sum(&before)).pow(2).unsigned_abs();
            let most = plan.length_squared();
            assert!(moved <= most && moved as f64 > 0.99 * most as f64, "{change:?}: {moved}");
        }
    }
}
