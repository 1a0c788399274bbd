//! What a round asks of all records: how far they are from their centres, and the sums around these.

use dp_geometry::{PointsView, PublicBox};
use serde::{Deserialize, Serialize};

use super::recent::Recent;
use super::sums::{COUNT_UNITS, COUNTS, add_row};
use crate::buckets::Buckets;
use crate::dpm::{Path, Walk};
use crate::located::clip_into;
use crate::nearest::{HintedTable, squared_distance};
use crate::passes::within;
use crate::residual::UNITS;

/// Which centre each record belongs to: a function of this record and of released values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Labels {
    pub(crate) public_box: PublicBox,
    /// Row-major.
    pub(crate) centres: Vec<f64>,
    /// The centre of the leaf that a record is in; without a tree, the nearest.
    pub(crate) tree: Option<Path>,
    /// A hint: where each centre of the last round is now. The outcome is the same without it.
    pub(crate) moved: Option<Vec<u32>>,
    /// The centre that records of each cell of the ring round before are likely to be nearest to.
    #[serde(skip)]
    pub(crate) of_cells: Hint,
}

/// For records in memory: it changes the time only. Questions that differ in it are the same, and it is not in their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hint(pub(crate) Option<Vec<u32>>);

impl PartialEq for Hint {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Labels {
    /// The nearest of these centres, without a hint.
    pub(crate) fn nearest(public_box: PublicBox, centres: Vec<f64>) -> Self {
        Self { public_box, centres, tree: None, moved: None, of_cells: Hint(None) }
    }

    pub(crate) fn dim(&self) -> usize {
        self.public_box.dim()
    }

    pub(crate) fn centres(&self) -> PointsView<'_> {
        PointsView::new(&self.centres, self.dim()).expect("whole rows")
    }

    fn len(&self) -> usize {
        self.centres.len() / self.dim()
    }

    /// None if this is no question of a plan.
    pub(crate) fn labeller(&self) -> Option<Labeller> {
        let dim = self.dim();
        let centres = PointsView::new(&self.centres, dim).ok()?;
        let by = match &self.tree {
            Some(path) => {
                let walk = Walk::new(path)?;
                let leaves = walk.ends().leaves + walk.ends().nodes;
                let fits = leaves == centres.len() && path.public_box().dim() == dim;
                fits.then_some(By::Leaf(walk))?
            }
            None => By::Nearest(Recent::new(centres)),
        };
        let (public_box, table) = (self.public_box.clone(), HintedTable::new(centres));
        (!centres.is_empty()).then(|| Labeller { public_box, table, by, clipped: vec![0.0; dim] })
    }
}

/// Finds the centre of one record after the other.
pub(crate) struct Labeller {
    public_box: PublicBox,
    table: HintedTable,
    by: By,
    /// The point of the box that the last record counts as.
    clipped: Vec<f64>,
}

#[allow(missing_debug_implementations, reason = "written below")]
enum By {
    Leaf(Walk),
    Nearest(Recent),
}

impl std::fmt::Debug for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Self::Leaf(_)) { "Leaf" } else { "Nearest" })
    }
}

impl Labeller {
    /// The point of the box that the last record counts as.
    pub(crate) fn clipped(&self) -> &[f64] {
        &self.clipped
    }

    /// The centre of a record and the distance to it.
    #[inline]
    pub(crate) fn locate(&mut self, row: &[f64]) -> (usize, f64) {
        clip_into(&self.public_box, row, &mut self.clipped);
        let (label, squared) = match &mut self.by {
            By::Leaf(walk) => {
                let leaf = walk.leaf(row);
                (leaf, squared_distance(&self.clipped, self.table.centre(leaf)))
            }
            By::Nearest(recent) => {
                let hint = recent.near(&self.clipped);
                let (label, squared) = self.table.nearest_from(&self.clipped, *hint);
                *hint = label;
                (label as usize, squared)
            }
        };
        (label, squared.sqrt())
    }
}

/// How many records are how far from their centre: between each two of these radii, and beyond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Radii {
    pub(crate) labels: Labels,
    /// Ascending.
    pub(crate) radii: Vec<f64>,
}

impl Radii {
    pub(crate) fn entries(&self) -> usize {
        self.radii.len() + 1
    }

    pub(crate) fn counter(&self) -> Option<RadiusCounter> {
        let radii = Buckets::new(self.radii.clone());
        Some(RadiusCounter { labeller: self.labels.labeller()?, radii })
    }
}

pub(crate) struct RadiusCounter {
    labeller: Labeller,
    radii: Buckets,
}

impl RadiusCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let (_, distance) = self.labeller.locate(row);
        entries[self.radii.find(distance)] += 1;
    }
}

/// Per centre, the sum of clipped residuals and two counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) labels: Labels,
    /// What residuals are clipped to, per centre.
    pub(crate) clip: Vec<f64>,
    /// Beyond that a record is far from its centre.
    pub(crate) far: Vec<f64>,
}

impl Sums {
    pub(super) fn width(&self) -> usize {
        self.labels.dim() + COUNTS
    }

    pub(crate) fn entries(&self) -> usize {
        self.clip.len().saturating_mul(self.width())
    }

    pub(crate) fn counter(&self) -> Option<SumCounter> {
        let fits = [&self.clip, &self.far].iter().all(|of| of.len() == self.labels.len());
        let labeller = self.labels.labeller()?;
        fits.then(|| SumCounter { labeller, clip: self.clip.clone(), far: self.far.clone() })
    }

    /// A record is in one of the two counts of one centre, and adds at most a radius there.
    pub(crate) fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        let mut all = 0_u64;
        for vector in entries.chunks(self.width()) {
            let (residual, counts) = vector.split_at(self.labels.dim());
            let Some(here) = crate::passes::add_up(counts) else { return false };
            let records = here / COUNT_UNITS.unsigned_abs();
            if counts.iter().any(|count| count % COUNT_UNITS != 0)
                || residual.iter().any(|&sum| !within(sum, records, UNITS))
            {
                return false;
            }
            all = all.saturating_add(records);
        }
        all == rows
    }
}

pub(crate) struct SumCounter {
    labeller: Labeller,
    clip: Vec<f64>,
    far: Vec<f64>,
}

impl SumCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let (label, distance) = self.labeller.locate(row);
        let Self { labeller, clip, far } = self;
        let at = (labeller.table.centre(label), distance, [clip[label], far[label]]);
        let width = row.len() + COUNTS;
        add_row(&labeller.clipped, at, &mut entries[label * width..][..width]);
    }
}
