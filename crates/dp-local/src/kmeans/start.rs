//! From noisy histograms to the first centres.

use dp_geometry::FixedPointGrid;

use super::mixture::{Mixture, Noisy, View};
use super::plan::VIEWS;
use super::session::{Session, nearest};
use super::solve;
use crate::{FrequencyOracle, LocalError, PublicCoins, SymbolCounts};

/// What the cells say. Lengths are those of the grid's box.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// `(k, axes)`, row-major.
    pub(super) centres: Vec<f64>,
    /// Of a coordinate of each centre.
    pub(super) variances: Vec<f64>,
    /// The share of the clients that each has.
    pub(super) shares: Vec<f64>,
    pub(super) share_variances: Vec<f64>,
    /// Mean squared distance of a client from its centre along an axis.
    pub(super) squared_width: f64,
}

/// Places that stand for clients of whom only their number is known.
const ANYWHERE: u64 = 1 << 10;
/// Clusters are not Gaussian: their centres are no better known than to this part of their width, squared.
const MISFIT: f64 = 1.0 / 400.0;

/// The first centres: those of the clusters that explain the histograms. Nothing if nobody answered.
pub(super) fn start(session: &Session, counts: &SymbolCounts) -> Result<Option<Start>, LocalError> {
    let plan = session.plan();
    let (oracle, grid) = (session.start(), plan.grid());
    let clients = counts.total() as f64;
    // Shares of those who were asked about the same grid.
    let mut views = Vec::new();
    let mut without_record = 0.0;
    for (at, part) in counts.parts(VIEWS).into_iter().enumerate() {
        let answered = part.total() as f64;
        if answered == 0.0 {
            continue;
        }
        let mut estimates = oracle.estimate(&part)?;
        without_record += estimates.pop().unwrap_or(0.0) / clients;
        let squares: f64 = estimates.iter().map(|x| x.max(0.0).powi(2)).sum();
        let crowding = (squares / answered).min(answered);
        let sd = (oracle.variance(0.0, crowding) / answered).sqrt();
        for x in &mut estimates {
            *x /= answered;
        }
        views.push((at, estimates, sd));
    }
    if views.is_empty() {
        return Ok(None);
    }
    let cells = grid.cells() as usize;
    let views =
        views.iter().map(|(at, estimates, sd)| View::new(cells + 1, shift(*at), estimates, *sd));
    // A client adds this to the variance of its cell: its answer's, and that of being asked about this grid.
    let crowding = (oracle.variance(1.0, 0.0) - oracle.variance(0.0, 0.0) + 1.0).max(0.0);
    let noisy = Noisy::new(cells, grid.dim(), views.collect(), crowding / clients);
    let mixture = noisy.explained(plan.k());
    let present = (1.0 - without_record).clamp(0.0, 1.0);
    Ok(Some(Start::of_mixture(grid, &mixture, plan.k(), present, session.solver_coins())))
}

/// By what part of a cell a grid begins below the box.
pub(super) fn shift(view: usize) -> f64 {
    (view as f64 + 0.5) / f64::from(VIEWS)
}

impl Start {
    fn of_mixture(
        grid: &FixedPointGrid,
        mixture: &Mixture,
        k: usize,
        present: f64,
        coins: PublicCoins,
    ) -> Self {
        let (axes, cells) = (grid.dim(), f64::from(grid.cells()));
        let squared_cell = (grid.public_box().diagonal() / cells).powi(2) / axes as f64;
        let explained: f64 = mixture.clusters.iter().map(|cluster| cluster.size).sum();
        let all = cells.powi(i32::try_from(axes).expect("few axes"));
        // Clients of no cluster: those of a level, or, if fewer clusters are seen than there may be, all that are missing.
        let missing = if mixture.clusters.len() < k { present - explained } else { 0.0 };
        let anywhere = missing.max(mixture.level * all).max(0.0);
        let place = |at: &[f64]| -> Vec<f64> {
            at.iter().enumerate().map(|(axis, x)| grid.coordinate(axis, *x)).collect()
        };
        if mixture.clusters.len() == k && anywhere == 0.0 {
            let of = |f: &dyn Fn(&super::mixture::Cluster) -> f64| -> Vec<f64> {
                mixture.clusters.iter().map(f).collect()
            };
            let squares = of(&|one| one.size * one.width() * one.width());
            return Self {
                centres: mixture.clusters.iter().flat_map(|one| place(&one.at)).collect(),
                variances: of(&|one| {
                    (one.place_variance + MISFIT * one.width().powi(2)) * squared_cell
                }),
                shares: of(&|one| one.size),
                share_variances: of(&|one| one.size_variance),
                squared_width: squares.iter().sum::<f64>() / explained * squared_cell,
            };
        }
        // More clusters than centres, fewer, or clients between them: k-means on points that stand for all clients. Those of a cluster
        // have its mean and its variance.
        let half = (0.5 * cells).powi(2) / axes as f64;
        let mut points = Vec::new();
        let mut weights = Vec::new();
        let mut variances = Vec::new();
        for one in &mixture.clusters {
            let away = one.width() * (axes as f64).sqrt();
            for (axis, side) in
                (0..2 * axes).map(|i| (i / 2, if i % 2 == 0 { away } else { -away }))
            {
                let mut at = one.at.clone();
                at[axis] = (at[axis] + side).clamp(0.0, cells);
                points.extend(place(&at));
                weights.push(one.size / (2.0 * axes as f64));
                variances.push((one.place_variance + one.width().powi(2) / 12.0).min(half));
            }
        }
        if anywhere > 0.0 || mixture.clusters.is_empty() {
            for number in 0..ANYWHERE {
                let coins = coins.of(number);
                let uniform = |axis: u64| (coins.word(axis) >> 11) as f64 / 2_f64.powi(53) * cells;
                points.extend(place(&(0..axes as u64).map(uniform).collect::<Vec<_>>()));
                weights.push(anywhere.max(1e-9) / ANYWHERE as f64);
                variances.push(half);
            }
        }
        let centres = solve::centres(&points, &weights, axes, k, coins);
        let mut start = Self {
            variances: vec![0.0; k],
            shares: vec![0.0; k],
            share_variances: vec![0.0; k],
            squared_width: 0.0,
            centres,
        };
        // What is said of a cluster is wrong for all of its points at once.
        let unknown = |number: usize| {
            mixture
                .clusters
                .get(number / (2 * axes))
                .map_or(1.0, |one| one.size_variance.sqrt() / one.size.max(1e-12))
        };
        for (number, (point, weight)) in points.chunks_exact(axes).zip(&weights).enumerate() {
            let at = nearest(point, &start.centres);
            let centre = &start.centres[at * axes..(at + 1) * axes];
            let squared: f64 = point.iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum();
            start.squared_width += weight * squared;
            start.shares[at] += weight;
            start.share_variances[at] += weight * unknown(number);
            start.variances[at] += weight * variances[number] * squared_cell;
        }
        start.squared_width /= weights.iter().sum::<f64>() * axes as f64;
        for at in 0..k {
            let share = start.shares[at];
            start.variances[at] =
                if share > 0.0 { start.variances[at] / share } else { half * squared_cell };
            // A centre without clients may have some of those who are missing.
            start.share_variances[at] = start.share_variances[at].powi(2).max(1e-6);
        }
        start
    }
}
