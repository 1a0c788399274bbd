//! What a search for the number of clusters asks of all records: how far they are spread around each centre.

use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use crate::located::Located;
use crate::passes::add_up;
use crate::recentring::{Centres, Labeller, Labels};
use crate::table::sum_rows;

/// What a record adds to the spread around its centre, at most.
pub(super) const UNITS: i64 = 1 << 20;

/// The sum of squared distances to each centre, as shares of its squared reach: released values only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spreads {
    pub(crate) labels: Labels,
    /// Of each centre; a record counts as no further away.
    reach: Vec<f64>,
}

impl Spreads {
    /// Where a record counts as no further from its centre than so many of its radii.
    pub(super) fn within(radii: f64, centres: &Centres, public_box: &PublicBox) -> Self {
        let labels = Labels::nearest(public_box.clone(), centres.view().coords().to_vec());
        let reach = centres.standings().iter().map(|one| radii * one.radius).collect();
        Self { labels, reach }
    }

    pub(crate) fn entries(&self) -> usize {
        self.reach.len()
    }

    pub(crate) fn counter(&self) -> Option<SpreadCounter> {
        // First, as it finds out whether centres are whole rows.
        let labeller = self.labels.labeller()?;
        let is_reach = |reach: &f64| *reach >= 0.0;
        let fits =
            self.reach.len() == self.labels.centres().len() && self.reach.iter().all(is_reach);
        fits.then(|| SpreadCounter { labeller, reach: self.reach.clone() })
    }

    /// Shares are not negative and at most 1.
    pub(crate) fn is_possible(rows: u64, entries: &[i64]) -> bool {
        let most = u128::from(rows) * u128::from(UNITS.unsigned_abs());
        add_up(entries).is_some_and(|sum| u128::from(sum) <= most)
    }

    /// The answer of records that have been located.
    pub(crate) fn sums(&self, located: &Located<'_>) -> Vec<i64> {
        let Located { points, labels, distances } = located;
        sum_rows(
            *points,
            self.entries(),
            || (),
            |(), number, _, sums| {
                add(labels[number] as usize, distances[number], &self.reach, sums);
            },
        )
    }
}

pub(crate) struct SpreadCounter {
    labeller: Labeller,
    reach: Vec<f64>,
}

impl SpreadCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let (label, distance) = self.labeller.locate(row);
        add(label, distance, &self.reach, entries);
    }
}

/// Adds a record at this distance from its centre.
#[inline]
fn add(label: usize, distance: f64, reach: &[f64], sums: &mut [i64]) {
    let share = (distance / reach[label]).min(1.0).powi(2);
    #[allow(clippy::cast_possible_truncation, reason = "towards zero, at most UNITS")]
    {
        sums[label] += (share * UNITS as f64) as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reach_below_zero_is_no_question() {
        let public_box = PublicBox::cube(1, -1.0, 1.0).expect("valid");
        for (reach, is_question) in [(1.0, true), (0.0, true), (-1.0, false), (f64::NAN, false)] {
            let labels = Labels::nearest(public_box.clone(), vec![0.0]);
            let counter = Spreads { labels, reach: vec![reach] }.counter();
            assert_eq!(counter.is_some(), is_question, "{reach}");
        }
    }
}
