//! From noisy histograms to the first centres.

use dp_geometry::FixedPointGrid;

use super::mixture::{Cluster, Mixture, Noisy, View};
use super::session::{Session, nearest};
use super::solve;
use crate::{FrequencyOracle, LocalError, PublicCoins, SymbolCounts};

/// What the cells say. Lengths are those of the grid's box.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// The picture of the records that this is about: the number of a projection, if there are any.
    pub(super) picture: u8,
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
/// Clusters are apart if k-means has no centres that cost less than this part of what their middles do.
const APART: f64 = 0.98;

/// The first centres: those of the clusters that explain the histograms. Nothing if nobody answered.
pub(super) fn start(session: &Session, counts: &SymbolCounts) -> Result<Option<Start>, LocalError> {
    let plan = session.plan();
    let (oracle, grid) = (session.start(), plan.grid());
    let clients = counts.total() as f64;
    let (pictures, each) = plan.pictures();
    // Shares of those who were asked about the same grid.
    let mut views: Vec<Vec<(u32, Vec<f64>, f64)>> = vec![Vec::new(); pictures as usize];
    let mut without_record = 0.0;
    for (view, part) in (0..).zip(counts.parts(plan.views())) {
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
        views[plan.view(view).0].push((view % each, estimates, sd));
    }
    // A client adds this to the variance of its cell: its answer's, and that of being asked about this grid.
    let crowding = (oracle.variance(1.0, 0.0) - oracle.variance(0.0, 0.0) + 1.0).max(0.0);
    let cells = grid.cells() as usize;
    let mixture = |views: &[(u32, Vec<f64>, f64)]| {
        let views = views
            .iter()
            .map(|(at, estimates, sd)| View::new(cells + 1, shift(*at, each), estimates, *sd));
        let crowding = crowding / clients * f64::from(pictures);
        Noisy::new(cells, grid.dim(), views.collect(), crowding).explained(plan.k())
    };
    let seen = (0..).zip(&views).filter(|(_, views)| !views.is_empty());
    let mixtures = seen.map(|(picture, views)| (picture, mixture(views)));
    // Where clusters are furthest apart, hardly two of them are taken for one.
    let best = mixtures
        .max_by(|a, b| a.1.cheapest_merger(plan.k()).total_cmp(&b.1.cheapest_merger(plan.k())));
    let present = (1.0 - without_record).clamp(0.0, 1.0);
    Ok(best.map(|(picture, mixture)| {
        let coins = session.solver_coins();
        Start { picture, ..Start::of_mixture(grid, &mixture, plan.k(), present, coins) }
    }))
}

/// By what part of a cell a grid begins below the box, one of so many.
pub(super) fn shift(view: u32, views: u32) -> f64 {
    (f64::from(view) + 0.5) / f64::from(views)
}

/// Points with weights that have the moments of a standard normal cluster, to the ninth along few axes and to the fifth along more (Gauss,
/// Hermite): a wide cluster may have to be divided.
fn normal_points(axes: usize) -> Vec<(Vec<f64>, f64)> {
    let along: &[(f64, f64)] = if axes <= 2 {
        &[
            (0.0, 0.533_333),
            (1.355_626, 0.222_076),
            (-1.355_626, 0.222_076),
            (2.856_970, 0.011_257),
            (-2.856_970, 0.011_257),
        ]
    } else {
        &[(0.0, 0.666_667), (1.732_051, 0.166_667), (-1.732_051, 0.166_667)]
    };
    (0..axes).fold(vec![(Vec::new(), 1.0)], |points, _| {
        let with = |(at, weight): &(Vec<f64>, f64)| -> Vec<(Vec<f64>, f64)> {
            let next =
                along.iter().map(|(z, share)| ([at.as_slice(), &[*z]].concat(), weight * share));
            next.collect()
        };
        points.iter().flat_map(with).collect()
    })
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
        // k-means on points that stand for all clients. Those of a cluster have its mean and its variance.
        // Of a coordinate of a centre that may be anywhere, in cells.
        let half = (0.5 * cells).powi(2);
        let mut points = Vec::new();
        let mut weights = Vec::new();
        let mut variances = Vec::new();
        let mut cluster_of = Vec::new();
        for one in &mixture.clusters {
            for (away, share) in normal_points(axes) {
                let shifted = one.at.iter().zip(&away);
                let at: Vec<f64> =
                    shifted.map(|(x, z)| (x + z * one.width()).clamp(0.0, cells)).collect();
                points.extend(place(&at));
                weights.push(one.size * share);
                variances.push((one.place_variance + one.width().powi(2) / 12.0).min(half));
                cluster_of.push(one);
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
        let guess: Vec<f64> = mixture.clusters.iter().flat_map(|one| place(&one.at)).collect();
        let is_whole = mixture.clusters.len() == k && anywhere == 0.0;
        let guess = is_whole.then_some(guess);
        let centres = solve::centres(&points, &weights, (axes, k), guess.as_deref(), coins);
        let cost = |centres: &[f64]| solve::cost(&points, &weights, axes, centres);
        // As many clusters as centres, and no two of them share clients: their places are known better than by these points.
        if let Some(guess) = guess.filter(|guess| cost(&centres) > APART * cost(guess)) {
            let of = |f: &dyn Fn(&Cluster) -> f64| -> Vec<f64> {
                mixture.clusters.iter().map(f).collect()
            };
            let squares = of(&|one| one.size * one.width() * one.width());
            return Self {
                picture: 0,
                centres: guess,
                variances: of(&|one| {
                    (one.place_variance + MISFIT * one.width().powi(2)) * squared_cell
                }),
                shares: of(&|one| one.size),
                share_variances: of(&|one| one.size_variance),
                squared_width: squares.iter().sum::<f64>() / explained * squared_cell,
            };
        }
        let mut start = Self {
            picture: 0,
            variances: vec![0.0; k],
            shares: vec![0.0; k],
            share_variances: vec![0.0; k],
            squared_width: 0.0,
            centres,
        };
        // What is said of a cluster is wrong for all of its points at once.
        let unknown = |number: usize| {
            let one: Option<&&Cluster> = cluster_of.get(number);
            one.map_or(1.0, |one| one.size_variance.sqrt() / one.size.max(1e-12))
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

#[cfg(test)]
mod tests {
    use dp_geometry::PublicBox;

    use super::*;

    #[test]
    fn points_of_a_cluster_have_its_moments() {
        for axes in [1, 2, 4] {
            let points = normal_points(axes);
            let moment = |power: i32| -> f64 {
                points.iter().map(|(at, share)| share * at[axes - 1].powi(power)).sum()
            };
            for (power, expected) in [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
                assert!((moment(power) - expected).abs() < 1e-4, "{axes} axes, {power}");
            }
        }
    }

    /// Where no cluster is seen, a coordinate of a centre may be off by half of a side, and no less where there are more axes.
    #[test]
    fn a_centre_of_which_nothing_is_known_may_be_anywhere() {
        for axes in [1, 2, 4] {
            let domain = PublicBox::cube(axes, -1.0, 1.0).expect("a box");
            let grid = FixedPointGrid::new(domain, 5).expect("a grid");
            let nothing = Mixture::default();
            let start = Start::of_mixture(&grid, &nothing, 3, 1.0, PublicCoins::new(1));
            let off = start.variances.iter().map(|variance| (variance - 1.0).abs());
            assert!(off.fold(0.0, f64::max) < 1e-9, "{axes} axes: {:?}", start.variances);
        }
    }
}
