//! How far centres may be off: what the mechanism says, or where it says nothing, the plan run again on points made up around the released
//! centres. See [`centres`](crate::centres).

use super::plan::{ClusterPlan, Clustered, Clusters, Records};
use super::settings::ClusterSettings;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::settings::{Axis, Method};
    use dp_accounting::AddRemove;
    use dp_cluster::Budget;

    /// Two columns from 0 to 10, and a mechanism that says nothing of its errors.
    fn settings() -> ClusterSettings {
        let axis = |column: &str| Axis { column: column.to_owned(), low: 0.0, high: 10.0 };
        ClusterSettings {
            axes: ["x", "y"].map(axis).into(),
            person: None,
            k: Some(2),
            at_most: None,
            method: Method::Lloyd,
            scaled: false,
            within: None,
            charged: None,
            records: None,
            outside: None,
            budget: Budget::new(100.0, 1e-6).unwrap(),
        }
    }

    /// What is known of the noise and what runs show: the larger errors, and a signal where both have one.
    #[test]
    fn of_known_errors_and_runs_the_worse_count() {
        let plan = ClusterPlan::<AddRemove>::new(settings()).unwrap();
        let known =
            |at: f64, count, signal| dp_cluster::CentreError { at: vec![at; 2], count, signal };
        let released = |errors| {
            let nobody = Records::new(Points::new(Vec::new(), 2).unwrap(), vec![0; 2]);
            let release = plan.simulate(&nobody, &mut ChaCha20Rng::seed_from_u64(3)).unwrap();
            let mut clustering = release.output.clustering;
            clustering.centres = Points::new(vec![2.0, 2.0, 8.0, 8.0], 2).unwrap();
            (clustering.counts, clustering.errors) = (vec![2000, 2000], errors);
            clustering
        };
        let plain = centre_errors(&plan, &released(None), 3);
        assert!(plain.iter().all(|error| error.signal && error.count < 1000.0), "{plain:?}");
        let errors = vec![known(7.0, 1e5, false), known(0.0, 0.0, true)];
        let both = centre_errors(&plan, &released(Some(errors)), 3);
        assert!(both[0].at.iter().all(|at| *at >= 7.0) && both[0].count >= 1e5 && !both[0].signal);
        assert_eq!(both[1], plain[1]);
        // Of twice as many points as are made up, centres are half as far off.
        let mut many = released(None);
        let off = |errors: Vec<CentreError>| errors.into_iter().flat_map(|error| error.at);
        many.counts = vec![10_000; 2];
        let fewer: Vec<f64> = off(centre_errors(&plan, &many, 3)).collect();
        many.counts = vec![20_000; 2];
        let halves = off(centre_errors(&plan, &many, 3)).zip(fewer);
        assert!(halves.into_iter().all(|(at, twice)| (2.0 * at / twice - 1.0).abs() < 1e-9));
    }

    /// The points are normal ones around their centre, a quarter of the gap wide.
    #[test]
    fn made_up_points_are_a_quarter_of_the_gap_wide() {
        let settings = settings();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let centres = Points::new(vec![5.0, 5.0, 5.0, 5.0], 2).unwrap();
        for gap in [0.4, 4.0] {
            let points = made_up(&settings, centres.view(), &[1500, 500], &[gap; 2], &mut rng);
            assert_eq!(points.view().len(), 2000);
            let square = |row: &[f64]| row.iter().map(|x| (x - 5.0).powi(2)).sum::<f64>();
            let variance = points.view().rows().map(square).sum::<f64>() / 4000.0;
            // Of 4,000 numbers a standard error is 1.1 %.
            assert!((variance.sqrt() / (0.25 * gap) - 1.0).abs() < 0.06, "{gap}: {variance}");
        }
    }
}
