//! How far centres may be off: what the mechanism says, or where it says nothing, the plan run again on points made up around the released
//! centres. See [`centres`](crate::centres).

use super::plan::{ClusterPlan, ClusterSettings, Clustered, Clusters, Records};
use crate::centres::{CentreError, OF_NOISE, Run, gaps, one_run, summary};
use dp_cluster::{Clustering, Points, PointsView};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Most points that are made up. Noise on a centre is in proportion to one over the points near it, so that more need no run of their own.
const MOST_POINTS: f64 = 20_000.0;

/// Spread of the made-up points along each axis: this part of the distance to the next centre, so that neighbours just touch.
const SPREAD: f64 = 0.25;

/// The same where points are shared among centres, or a map is smoother than they are: what that does to centres is not in proportion to
/// one over the points.
const MOST_SHARED: f64 = 100_000.0;

/// Errors of every centre in the units of the columns, as the mechanism says or from so many runs; the same for the same release. What knows
/// the errors of its noise alone has the larger ones of both.
pub fn centre_errors<R: Clustered>(
    plan: &ClusterPlan<R>,
    clustering: &Clustering,
    runs: u32,
) -> Vec<CentreError> {
    let length = |(axis, at): (usize, &f64)| plan.settings().length(axis, *at);
    let known = clustering.errors.iter().flatten().map(|error| CentreError {
        at: error.at.iter().enumerate().map(length).collect(),
        count: error.count,
        reach: OF_NOISE,
        signal: error.signal,
    });
    if clustering.errors.is_some() && plan.knows_errors() {
        return known.collect();
    }
    let mut errors = simulated(plan, clustering, runs);
    for (error, known) in errors.iter_mut().zip(known) {
        error.at.iter_mut().zip(&known.at).for_each(|(at, known)| *at = at.max(*known));
        error.count = error.count.max(known.count);
        error.signal &= known.signal;
    }
    errors
}

fn simulated<R: Clustered>(
    plan: &ClusterPlan<R>,
    clustering: &Clustering,
    runs: u32,
) -> Vec<CentreError> {
    let (centres, settings) = (clustering.centres.view(), plan.settings());
    let all: f64 = clustering.counts.iter().map(|count| *count as f64).sum();
    let most = if R::PUBLIC_SIZE { MOST_SHARED } else { MOST_POINTS };
    let thinned = (most / all).min(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are at least 0, and all together as many as are made up at most"
    )]
    let points = |count: &i64| (*count as f64 * thinned).round() as u64;
    let points: Vec<u64> = clustering.counts.iter().map(points).collect();
    // Of fewer points it is the same kind of plan: what is not from a map knows its errors.
    let plan = &plan.of_records(points.iter().sum()).expect("a plan for more points");
    let sides = (0..centres.dim()).map(|axis| settings.ends(axis)).map(|[low, high]| high - low);
    let gaps = gaps(centres, sides.fold(0.0, f64::max));
    let seeds: Vec<u64> = (0..runs.into()).collect();
    let one = |seed: &u64| {
        let mut rng = ChaCha20Rng::seed_from_u64(*seed);
        let points = made_up(settings, centres, &points, &gaps, &mut rng);
        let records = Records::new(points, vec![0; centres.dim()]);
        let release = plan.simulate(&records, &mut rng).expect("points of this plan");
        let Clusters { clustering: found, .. } = release.output;
        one_run(records.points(), |_| 1.0, (found.centres.view(), &found.counts), centres, &gaps)
    };
    let runs: Vec<Run> = seeds.par_iter().map(one).collect();
    let mut errors = summary(&runs, &clustering.counts, centres.dim(), thinned);
    // Where their number is public, there is never nobody.
    let noise = if R::PUBLIC_SIZE { 0 } else { 2 * most_of_nobody(plan, &seeds) };
    for (error, &count) in errors.iter_mut().zip(&clustering.counts) {
        error.signal &= count > noise;
        error.at.iter_mut().enumerate().for_each(|(axis, at)| *at = settings.length(axis, *at));
    }
    errors
}

/// The largest count that the plan gives a centre where nobody is: what noise makes, and where it looks.
fn most_of_nobody<R: Clustered>(plan: &ClusterPlan<R>, seeds: &[u64]) -> i64 {
    let dim = plan.settings().axes.len();
    let one = |seed: &u64| {
        let nobody = Points::new(Vec::new(), dim).expect("no rows");
        let records = Records::new(nobody, vec![0; dim]);
        let mut rng = ChaCha20Rng::seed_from_u64(!*seed);
        let release = plan.simulate(&records, &mut rng).expect("points of this plan");
        release.output.clustering.counts.into_iter().max().unwrap_or(0)
    };
    seeds.par_iter().map(one).max().unwrap_or(0)
}

/// So many normal points around each centre, within the box.
fn made_up(
    settings: &ClusterSettings,
    centres: PointsView<'_>,
    points: &[u64],
    gaps: &[f64],
    rng: &mut ChaCha20Rng,
) -> Points {
    let ends: Vec<[f64; 2]> = (0..centres.dim()).map(|axis| settings.ends(axis)).collect();
    let mut coords = Vec::new();
    for ((centre, points), gap) in centres.rows().zip(points).zip(gaps) {
        for _ in 0..*points {
            for (x, [low, high]) in centre.iter().zip(&ends) {
                coords.push((x + SPREAD * gap * normal(rng)).clamp(*low, *high));
            }
        }
    }
    Points::new(coords, centres.dim()).expect("whole points")
}

/// A normal number, near enough for points that are made up: twelve uniform ones less their mean.
fn normal(rng: &mut ChaCha20Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}
