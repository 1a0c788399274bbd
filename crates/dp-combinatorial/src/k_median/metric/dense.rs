//! All distances, checked and put on the grid.

use rayon::prelude::*;

use super::{Metric, MetricError, Storage, Width};
use crate::Sizes;

/// Relative difference that counts as rounding.
const ROUNDING: f64 = 1e-9;

impl Metric {
    /// The metric of a row-major `nodes x nodes` matrix of distances.
    ///
    /// Distances above the declared `diameter` count as the diameter, which leaves a metric a metric;
    /// without one it is the largest distance. Each is rounded to the nearest step.
    ///
    /// # Errors
    /// [`MetricError`] if the matrix has another shape, if a distance is not a number, infinite or
    /// negative, if one of a node to itself is not 0, if two differ by the direction (by more than one
    /// part in `10^9`), or if a detour is shorter: this is tried on some thousand triples, not on all, so
    /// it finds what is squared or scrambled, not a single wrong entry. No guarantee of privacy needs
    /// it; those of utility do.
    pub fn from_f64(
        nodes: usize,
        distances: &[f64],
        diameter: Option<f64>,
        width: Width,
    ) -> Result<Self, MetricError> {
        checked_nodes(nodes)?;
        let want = nodes.saturating_mul(nodes);
        if distances.len() != want {
            return Err(MetricError::Length { nodes, got: distances.len(), want });
        }
        (0..nodes).into_par_iter().try_for_each(|row| check_row(nodes, distances, row))?;
        check_triangles(nodes, distances)?;
        let largest = distances.iter().copied().fold(0.0, f64::max);
        let diameter = match diameter {
            Some(got) if !(got.is_finite() && got > 0.0) => {
                return Err(MetricError::Diameter { got });
            }
            Some(declared) => declared.min(largest),
            None => largest,
        };
        let unit = unit_of(diameter, width);
        // Both directions take the distance from the smaller id.
        let step = |row: usize, column: usize| {
            let (low, high) = (row.min(column), row.max(column));
            steps_of(distances[low * nodes + high], unit, width)
        };
        Ok(Self::dense(nodes, unit, width, step))
    }

    /// Fills the matrix by rows, in parallel. The steps must be symmetric and fit the width.
    pub(super) fn dense(
        nodes: usize,
        unit: f64,
        width: Width,
        step: impl Fn(usize, usize) -> u32 + Sync,
    ) -> Self {
        let cell = |at: usize| step(at / nodes, at % nodes);
        let all = (0..nodes * nodes).into_par_iter().with_min_len(1 << 14);
        let storage = match width {
            Width::Bits16 => Storage::Short(
                all.map(|at| u16::try_from(cell(at)).expect("at most 65,535 steps")).collect(),
            ),
            Width::Bits24 => Storage::Long(all.map(cell).collect()),
        };
        Self::with_middle(nodes, unit, storage)
    }

    /// Some of the nodes, with all distances kept; at least one.
    pub(in crate::k_median) fn part(&self, nodes: &[u32]) -> Self {
        let row = |&node: &u32| {
            let mut row = Vec::new();
            self.fill(node, nodes, &mut row);
            row
        };
        let rows = nodes.par_iter().flat_map_iter(row);
        let storage = if matches!(self.storage, Storage::Short(_)) {
            let short = |steps| u16::try_from(steps).expect("it was one");
            Storage::Short(rows.map(short).collect())
        } else {
            Storage::Long(rows.collect())
        };
        Self { sizes: self.sizes, ..Self::with_middle(nodes.len(), self.unit, storage) }
    }

    /// Finds the node with the smallest radius.
    pub(super) fn with_middle(nodes: usize, unit: f64, storage: Storage) -> Self {
        let largest = |row: usize| -> u32 {
            let row = row * nodes..(row + 1) * nodes;
            match &storage {
                Storage::Short(all) => all[row].iter().max().copied().unwrap_or(0).into(),
                Storage::Long(all) => all[row].iter().max().copied().unwrap_or(0),
                Storage::Points(_) => unreachable!("points have a constructor of their own"),
            }
        };
        let radii: Vec<u32> = (0..nodes).into_par_iter().map(largest).collect();
        let (radius, centre) = radii.iter().zip(0..).min().expect("there is a node");
        let (radius, diameter) = (*radius, radii.iter().max().map_or(1, |&longest| longest.max(1)));
        Self { nodes, unit, diameter, centre, radius, storage, sizes: Sizes::default() }
    }
}

pub(super) fn checked_nodes(nodes: usize) -> Result<(), MetricError> {
    if (1..=Metric::MAX_NODES).contains(&nodes) {
        Ok(())
    } else {
        Err(MetricError::Nodes { got: nodes })
    }
}

/// The length of a step; 1 where all nodes are in one place.
pub(super) fn unit_of(diameter: f64, width: Width) -> f64 {
    let unit = diameter / f64::from(width.steps());
    if unit > 0.0 { unit } else { 1.0 }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clipped to the width")]
pub(super) fn steps_of(distance: f64, unit: f64, width: Width) -> u32 {
    (distance / unit).round().min(f64::from(width.steps())) as u32
}

fn check_row(nodes: usize, distances: &[f64], from: usize) -> Result<(), MetricError> {
    for to in from..nodes {
        let (there, back) = (distances[from * nodes + to], distances[to * nodes + from]);
        for (from, to, got) in [(from, to, there), (to, from, back)] {
            if !(got.is_finite() && got >= 0.0) {
                let want = "a finite number, at least 0";
                return Err(MetricError::Distance { from, to, got, want });
            }
        }
        if from == to && there > 0.0 {
            return Err(MetricError::Distance { from, to, got: there, want: "0" });
        }
        if (there - back).abs() > ROUNDING * there.max(back) {
            return Err(MetricError::Asymmetric { from, to, there, back });
        }
    }
    Ok(())
}

/// Tries triples that are spread over the matrix by multiplication with odd constants.
fn check_triangles(nodes: usize, distances: &[f64]) -> Result<(), MetricError> {
    const TRIPLES: u64 = 10_000;
    let node = |number: u64, odd: u64| {
        let spread = number.wrapping_mul(odd) >> 11;
        usize::try_from(spread % nodes as u64).expect("below a usize")
    };
    for number in 1..=TRIPLES {
        let from = node(number, 0x9e37_79b9_7f4a_7c15);
        let to = node(number, 0xc2b2_ae3d_27d4_eb4f);
        let through = node(number, 0x1656_67b1_9e37_79f9);
        let direct = distances[from * nodes + to];
        let detour = distances[from * nodes + through] + distances[through * nodes + to];
        if direct > detour * (1.0 + 1e-6) {
            return Err(MetricError::Triangle { from, to, through });
        }
    }
    Ok(())
}
