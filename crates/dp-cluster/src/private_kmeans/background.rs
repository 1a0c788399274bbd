//! Centres for records that are in no cluster, where there surely are some: released values only.
//!
//! What k-means pays for them grows with the square of how far they are from all centres, and can be more than for all clusters. So centres that cut one cluster are worth more among
//! them: k-means on all that rings have seen and on places that stand for anywhere says which and where.

use dp_geometry::PublicBox;

use super::spare::with_spare;
use crate::Clustering;
use crate::clustering::{inside, records};
use crate::nearest::assign;
use crate::public_coins::{Purpose, public_generator};
use crate::recentring::Hint;
use crate::rings::{Background, Found, solver};

/// Places say little of more clusters.
const MOST: usize = 256;

/// What rings have found for `k` clusters, with centres for the background, or if there is none, spare ones where these are worth more.
pub(super) fn with_others(
    mut found: Found,
    k: usize,
    count_noise: f64,
    (public_box, public_seed): (&PublicBox, u64),
) -> Found {
    match found.seen.background.take() {
        Some(all) if k <= MOST => with_background(found, &all, k, (public_box, public_seed)),
        _ => with_spare(found, k, count_noise, public_seed),
    }
}

fn with_background(
    found: Found,
    background: &Background,
    k: usize,
    (public_box, public_seed): (&PublicBox, u64),
) -> Found {
    let Background { all, noise: of_means } = background;
    let mut rng = public_generator(public_seed, Purpose::BackgroundSolver);
    let solver = solver(k, k).expect("k was checked");
    let fit = solver.post_fit(all, &mut rng).expect("released points are finite");
    let centres = inside(fit.centres, public_box);

    let near = assign(all.points(), centres.view());
    let mut sums = vec![0.0; k];
    for (&centre, weight) in near.labels.iter().zip(all.weights()) {
        sums[centre as usize] += weight;
    }
    let mut noise = vec![0.0; k];
    for (number, (&centre, weight)) in near.labels.iter().zip(all.weights()).enumerate() {
        let share = weight / sums[centre as usize];
        noise[centre as usize] += match of_means.get(number) {
            Some(noise) => share * share * noise,
            // Records that are anywhere may be nowhere near.
            None => share * near.squared_distances[number],
        };
    }
    // All others are near some centre too.
    let before: f64 = found.clustering.counts.iter().map(|&count| count as f64).sum();
    let scale = before / sums.iter().sum::<f64>();
    let counts = sums.into_iter().map(|sum| records(scale * sum)).collect();
    Found { clustering: Clustering::of(centres, counts), of_cells: Hint(None), noise, ..found }
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;

    use super::*;
    use crate::coreset::PrivateCoreset;
    use crate::rings::Seen;

    /// Five clusters on a line, one of which two centres cut, and records at -1 .. 1 in ten places beside it.
    fn release(records: f64, k: usize) -> (Found, Found) {
        let centres = vec![10.0, 20.0, 30.0, 40.0, 49.9, 50.1];
        let counts = vec![1_000.0; 6];
        let clustering = Clustering::of(
            Points::new(centres.clone(), 1).expect("numbers"),
            vec![1_000 + super::records(records / 6.0); 6],
        );
        let found = |noise| Found {
            clustering: clustering.clone(),
            of_cells: Hint(None),
            reach: 1.0,
            noise,
            seen: Seen::default(),
        };
        let places = (0..10).map(|place| f64::from(place) / 5.0 - 0.9);
        let coords = centres.iter().copied().chain(places).collect();
        let weights = counts.into_iter().chain(vec![records / 10.0; 10]).collect();
        let all = PrivateCoreset::released(Points::new(coords, 1).expect("numbers"), weights);
        let background = Background { all, noise: vec![0.01; 6] };
        let public_box = PublicBox::cube(1, -100.0, 100.0).expect("valid");
        let mut after = found(vec![0.01; 6]);
        after.seen.background = Some(background);
        (found(vec![0.01; 6]), with_others(after, k, 1e-9, (&public_box, 0)))
    }

    #[test]
    fn a_centre_that_cuts_a_cluster_goes_to_the_background() {
        let (before, after) = release(600.0, 6);
        let Clustering { centres, counts, .. } = &after.clustering;
        let mut all: Vec<(f64, i64, f64)> = centres
            .view()
            .coords()
            .iter()
            .zip(counts)
            .zip(&after.noise)
            .map(|((at, count), noise)| (*at, *count, *noise))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (at, count, noise) = all[0];
        assert!(at.abs() < 1e-9 && count == 600, "{all:?}");
        // It may be as far from where it belongs as places are,
        assert!((noise - 0.33).abs() < 1e-9, "{noise}");
        // the two that became one have half of the noise, and the others what they had.
        assert!((all[5].0 - 50.0).abs() < 1e-9 && (all[5].2 - 0.005).abs() < 1e-9, "{all:?}");
        assert!(all[1..5].iter().all(|one| (one.2 - 0.01).abs() < 1e-12), "{all:?}");
        assert_eq!(counts.iter().sum::<i64>(), before.clustering.counts.iter().sum::<i64>());
    }

    #[test]
    fn centres_stay_where_there_is_little_to_win() {
        let (before, after) = release(0.06, 6);
        let sorted = |found: &Found| {
            let mut all = found.clustering.centres.view().coords().to_vec();
            all.sort_by(f64::total_cmp);
            all
        };
        let moved = sorted(&before).into_iter().zip(sorted(&after)).map(|(a, b)| (a - b).abs());
        assert!(moved.fold(0.0, f64::max) < 0.01);
        let (before, after) = release(600.0, MOST + 1);
        let spare = with_spare(before, MOST + 1, 1e-9, 0);
        assert_eq!(spare.clustering, after.clustering, "too many clusters");
    }
}
