//! Centres of a released map, and how far they may be off; see [`centres`](crate::centres).

use super::plan::{Hides, MapPlan};
use crate::centres::{CentreError, Run, gaps, one_run, summary};
use dp_cluster::map::ReleasedMap;
use dp_cluster::{Clustering, Points, nearest};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Centres for each number of them that was asked for. Where the search starts is public and fixed.
pub(super) fn solve<R: Hides>(plan: &MapPlan<R>, map: &ReleasedMap) -> Vec<Clustering> {
    let weighted = map.coreset();
    let solve = |&k: &usize| {
        let mut rng = ChaCha20Rng::seed_from_u64(k as u64);
        let centres = if plan.settings().median {
            map.kmedian(k, &mut rng).expect("k was checked").centres
        } else {
            map.kmeans(k, &mut rng).expect("k was checked").centres
        };
        let mut counts = vec![0.0; centres.len()];
        let labels = nearest(weighted.points(), centres.view()).labels;
        for (label, weight) in labels.iter().zip(weighted.weights()) {
            counts[*label as usize] += weight;
        }
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let counts = counts.into_iter().map(|count| count.round() as i64).collect();
        Clustering::new(centres, counts)
    };
    plan.settings().k.iter().map(solve).collect()
}

/// Most places that are made up where their number is not public; noise on a centre is in proportion to one over the places near it.
const MOST_PLACES: f64 = 20_000.0;

/// Errors of the centres in metres, for each number of them, from so many runs on places that follow the released map.
pub(super) fn errors<R: Hides>(
    plan: &MapPlan<R>,
    map: &ReleasedMap,
    solved: &[Clustering],
    runs: u32,
) -> Vec<Vec<CentreError>> {
    let settings = plan.settings();
    let side = |axis: &crate::cluster::Axis| (axis.high - axis.low) * settings.unit.metres();
    let widest = settings.axes.iter().map(side).fold(0.0, f64::max);
    let gaps: Vec<Vec<f64>> = solved.iter().map(|of| gaps(of.centres.view(), widest)).collect();
    let thinned = if R::PUBLIC_SIZE { 1.0 } else { (MOST_PLACES / map.total()).min(1.0) };
    let one = |seed: u64| -> Vec<Run> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let places = made_up(plan, map, thinned, &mut rng);
        let release = plan.simulate(places.view(), &mut rng).expect("places of this plan");
        let found = solve(plan, &release.output);
        let of = |((found, solved), gaps): ((&Clustering, &Clustering), &Vec<f64>)| {
            let there = (found.centres.view(), &*found.counts);
            one_run(places.view(), there, solved.centres.view(), gaps)
        };
        found.iter().zip(solved).zip(&gaps).map(of).collect()
    };
    let runs: Vec<Vec<Run>> = (0..u64::from(runs)).into_par_iter().map(one).collect();
    let dim = settings.axes.len();
    let of = |(which, solved): (usize, &Clustering)| {
        let runs: Vec<Run> = runs.iter().map(|run| run[which].clone()).collect();
        summary(&runs, &solved.counts, dim, thinned)
    };
    solved.iter().enumerate().map(of).collect()
}

/// Places at the vertices of the map, as often as their weights say: as many as there are where their number is public.
fn made_up<R: Hides>(
    plan: &MapPlan<R>,
    map: &ReleasedMap,
    thinned: f64,
    rng: &mut ChaCha20Rng,
) -> Points {
    let weighted = map.coreset();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of records, at least 0"
    )]
    let wanted = match plan.settings().records {
        Some(records) if R::PUBLIC_SIZE => records,
        _ => (map.total() * thinned).round() as u64,
    };
    let mut coords = Vec::new();
    let (all, mut above) = (weighted.total_weight(), 0.0);
    let mut next = 0_u64;
    // Systematic sampling: evenly spaced steps through the weights, from a random start.
    let start: f64 = rng.random();
    for (place, weight) in weighted.points().rows().zip(weighted.weights()) {
        above += weight;
        while next < wanted && (next as f64 + start) * all <= above * wanted as f64 {
            coords.extend_from_slice(place);
            next += 1;
        }
    }
    // Rounding may have kept the last ones.
    let last = weighted.len().saturating_sub(1);
    while next < wanted {
        coords.extend_from_slice(weighted.points().row(last));
        next += 1;
    }
    Points::new(coords, plan.settings().axes.len()).expect("whole places")
}
