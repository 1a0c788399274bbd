//! Centres of a released map, and how far they may be off; see [`centres`](crate::centres).

use super::plan::{Hides, MapPlan};
use crate::centres::{CentreError, Run, gaps, one_run, summary};
use dp_cluster::map::{MapCounts, ReleasedMap};
use dp_cluster::{Clustering, PointsView, nearest};
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
        let nearest = nearest(weighted.points(), centres.view());
        let labels = nearest.expect("centres of these points").labels;
        for (label, weight) in labels.iter().zip(weighted.weights()) {
            counts[*label as usize] += weight;
        }
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let counts = counts.into_iter().map(|count| count.round() as i64).collect();
        Clustering::new(centres, counts).expect("one count per centre")
    };
    plan.settings().k.iter().map(solve).collect()
}

/// Most places that are made up; of more, each stands for as many as it takes.
const MOST_PLACES: u64 = 20_000;

/// Errors of the centres in metres, for each number of them, from so many runs on places that follow the released map.
pub(super) fn errors<R: Hides>(
    plan: &MapPlan<R>,
    map: &ReleasedMap,
    solved: &[Clustering],
    runs: u32,
) -> Vec<Vec<CentreError>> {
    let (settings, dim) = (plan.settings(), plan.settings().axes.len());
    let side = |axis: &crate::cluster::Axis| (axis.high - axis.low) * settings.unit.metres();
    let widest = settings.axes.iter().map(side).fold(0.0, f64::max);
    let gaps: Vec<Vec<f64>> = solved.iter().map(|of| gaps(of.centres.view(), widest)).collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of records, at least 0"
    )]
    let all = match settings.records {
        Some(records) if R::PUBLIC_SIZE => records,
        _ => map.total().round() as u64,
    };
    let copies = all.div_ceil(MOST_PLACES).max(1);
    let counted = plan.map().clone().counted();
    let one = |seed: u64| -> Vec<Run> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        // Places that stand for many, and the few that are left over.
        let many = made_up(map, all / copies, &mut rng);
        let places = [many.clone(), made_up(map, all % copies, &mut rng)].concat();
        let stands_for = |place: usize| if place * dim < many.len() { copies as f64 } else { 1.0 };
        let view = |coords| PointsView::new(coords, dim).expect("whole places");
        let count = |coords| plan.map().count(view(coords)).expect("places of this plan");
        let mut counts = repeated(count(&many), copies);
        counts.merge(&count(&places[many.len()..])).expect("of one plan");
        let release = counted.simulate(&counts, &mut rng).expect("counts of this plan");
        let found = solve(plan, &release.output);
        let of = |((found, solved), gaps): ((&Clustering, &Clustering), &Vec<f64>)| {
            let there = (found.centres.view(), &*found.counts);
            one_run(view(&places), stands_for, there, solved.centres.view(), gaps)
        };
        found.iter().zip(solved).zip(&gaps).map(of).collect()
    };
    let runs: Vec<Vec<Run>> = (0..u64::from(runs)).into_par_iter().map(one).collect();
    let of = |(which, solved): (usize, &Clustering)| {
        let runs: Vec<Run> = runs.iter().map(|run| run[which].clone()).collect();
        summary(&runs, &solved.counts, dim, 1.0)
    };
    solved.iter().enumerate().map(of).collect()
}

/// The counts of so many times the same places, one at least.
fn repeated(counts: MapCounts, times: u64) -> MapCounts {
    if times < 2 {
        return counts;
    }
    let half = repeated(counts.clone(), times / 2);
    let mut all = half.clone();
    all.merge(&half).expect("of one plan");
    if times % 2 == 1 {
        all.merge(&counts).expect("of one plan");
    }
    all
}

/// So many places at the vertices of the map, as often as their weights say; row-major.
fn made_up(map: &ReleasedMap, wanted: u64, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let weighted = map.coreset();
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
        coords.extend_from_slice(&weighted.points()[last]);
        next += 1;
    }
    coords
}
