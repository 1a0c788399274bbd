//! From a noisy histogram to centres.

use super::fit::{Cells, Fit};
use super::mixture::Noisy;
use super::session::Session;
use super::solve;
use crate::{FrequencyOracle, LocalError, SymbolCounts};

/// The first centres: weighted k-means on the cells that stand out, alone or with their neighbours.
pub(super) fn fit(session: &Session, counts: &SymbolCounts) -> Result<Fit, LocalError> {
    let plan = session.plan();
    let (oracle, grid) = (session.start(), plan.grid());
    let mut estimates = oracle.estimate(counts)?;
    estimates.pop(); // clients without a record
    let clients = counts.total() as f64;
    let squares: f64 = estimates.iter().map(|x| x.max(0.0).powi(2)).sum();
    let crowding = if clients > 0.0 { (squares / clients).min(clients) } else { 0.0 };
    let variance = clients * oracle.variance(0.0, crowding);
    let (cells, axes) = (grid.cells() as usize, grid.dim());
    let weights = stand_out(&estimates, cells, axes, variance.sqrt());
    let mut points = Vec::new();
    let mut kept = Vec::new();
    for (cell, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        let mut rest = cell;
        for axis in 0..axes {
            points.push(grid.coordinate(axis, (rest % cells) as f64 + 0.5));
            rest /= cells;
        }
        kept.push(weight);
    }
    let half_cell = 0.5 * grid.public_box().diagonal() / cells as f64;
    if kept.is_empty() {
        return Ok(Fit::nothing(session));
    }
    let centres = solve::centres(&points, &kept, axes, plan.k(), session.solver_coins());
    let noisy = Noisy { grid, estimates: &estimates, sd: variance.sqrt() };
    let mixture = noisy.fitted(&centres);
    let cells = Cells { points: &points, weights: &kept, half_cell, variance, clients };
    Ok(Fit::from_cells(session, centres, mixture, &cells))
}

/// A weight for each cell: above zero where the cell stands out from the noise, alone or in a window of 2, 4, 8 .. cells along each axis.
///
/// Windows are tried from small to large, and count only cells that no smaller one has kept. A window of `m` cells stands out if its
/// sum is above `z sqrt(m)` standard deviations, with `z` so large that noise alone makes none stand out in most runs. The cells of a window
/// are drawn towards their mean as far as noise explains how they differ (James and Stein).
fn stand_out(estimates: &[f64], cells: usize, axes: usize, sd: f64) -> Vec<f64> {
    let mut weights = vec![0.0; estimates.len()];
    let mut open = vec![true; estimates.len()];
    let mut size = 1;
    loop {
        let places = cells - size + 1;
        let windows = places.pow(u32::try_from(axes).expect("few axes"));
        let z = (2.0 * (windows as f64).ln()).sqrt().max(2.0);
        // Cells of a window, by the number of its first.
        let members = |window: usize| -> Vec<usize> {
            let (mut rest, mut stride, mut list) = (window, 1, vec![0]);
            for _ in 0..axes {
                let first = rest % places;
                rest /= places;
                let shifted = |cell: &usize| {
                    let cell = *cell;
                    (first..first + size).map(move |at| cell + at * stride).collect::<Vec<_>>()
                };
                list = list.iter().flat_map(shifted).collect();
                stride *= cells;
            }
            list
        };
        let score = |open: &[bool], list: &[usize]| {
            let still: Vec<usize> = list.iter().copied().filter(|&cell| open[cell]).collect();
            let sum: f64 = still.iter().map(|&cell| estimates[cell]).sum();
            let deviations = sum / (sd * (still.len().max(1) as f64).sqrt());
            (deviations, still)
        };
        let mut found: Vec<(f64, usize)> = (0..windows)
            .map(|window| (score(&open, &members(window)).0, window))
            .filter(|(deviations, _)| *deviations > z)
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, window) in found {
            let (deviations, still) = score(&open, &members(window));
            if deviations > z {
                shrunk(estimates, &still, sd, &mut weights);
                for cell in still {
                    open[cell] = false;
                }
            }
        }
        if size == cells {
            return weights;
        }
        size = (2 * size).min(cells);
    }
}

/// The cells of a window, drawn towards their mean; negative ones weigh nothing.
fn shrunk(estimates: &[f64], window: &[usize], sd: f64, weights: &mut [f64]) {
    let n = window.len() as f64;
    let mean = window.iter().map(|&cell| estimates[cell]).sum::<f64>() / n;
    let spread = window.iter().map(|&cell| (estimates[cell] - mean).powi(2)).sum::<f64>();
    let signal = if n > 1.0 { (spread / (n - 1.0) - sd * sd).max(0.0) } else { 0.0 };
    let trust = if n > 1.0 { signal / (signal + sd * sd) } else { 1.0 };
    for &cell in window {
        weights[cell] = (mean + trust * (estimates[cell] - mean)).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::stand_out;

    #[test]
    fn single_cells_windows_and_all_of_it_stand_out() {
        // One cell; four that are too faint alone; a level everywhere that only the whole shows.
        let mut estimates = vec![0.0; 64];
        estimates[9] = 9.0;
        for cell in [36, 37, 44, 45] {
            estimates[cell] = 2.5;
        }
        let weights = stand_out(&estimates, 8, 2, 1.0);
        assert_eq!(weights.iter().filter(|w| **w > 0.0).count(), 5, "{weights:?}");
        assert!((weights[9] - 9.0).abs() < 1e-9 && (weights[36] - 2.5).abs() < 1e-9);
        let level = stand_out(&[0.6; 64], 8, 2, 1.0);
        assert!(level.iter().all(|w| (w - 0.6).abs() < 1e-9), "{level:?}");
        assert!(stand_out(&[0.1; 64], 8, 2, 1.0).iter().all(|w| *w == 0.0));
    }
}
