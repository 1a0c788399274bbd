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
use crate::rings::{Background, Found, Seen, solver};

/// Places say little of more clusters.
const MOST: usize = 256;
/// A centre that only cuts a cluster is given up for what may be nothing. Where clusters would cost so many times as much,
const LITTLE: f64 = 1.5;
/// there have to be records by so many deviations: beside tight clusters near each other, a background of noise costs tens of times k-means.
const SURE: f64 = 3.0;

/// What rings have found for `k` clusters, with centres for the background, or if there is none, spare ones where these are worth more.
pub(super) fn with_others(
    mut found: Found,
    k: usize,
    count_noise: f64,
    (public_box, public_seed): (&PublicBox, u64),
) -> Found {
    let background = found.seen.background.take().filter(|_| k <= MOST);
    let with =
        background.and_then(|all| with_background(&found, &all, k, (public_box, public_seed)));
    with.unwrap_or_else(|| with_spare(found, k, count_noise, public_seed))
}

/// Nothing if it takes centres from clusters and may be noise.
fn with_background(
    found: &Found,
    background: &Background,
    k: usize,
    (public_box, public_seed): (&PublicBox, u64),
) -> Option<Found> {
    let Background { all, noise: of_means, sure } = background;
    let mut rng = public_generator(public_seed, Purpose::BackgroundSolver);
    let solver = solver(k, k).expect("k was checked");
    let fit = solver.post_fit(all, &mut rng).expect("released points are finite");
    let centres = inside(fit.centres, public_box);

    let near = assign(all.points(), centres.view());
    // What is paid for clusters, before and after.
    let before = assign(all.points(), found.clustering.centres.view());
    let paid = |squared: &[f64]| -> f64 {
        let of_means = all.weights().iter().zip(squared).take(of_means.len());
        of_means.map(|(weight, squared)| weight * squared).sum()
    };
    let takes = paid(&near.squared_distances) > LITTLE * paid(&before.squared_distances);
    if takes && *sure < SURE {
        return None;
    }
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
    let (clustering, seen) = (Clustering::of(centres, counts), Seen::default());
    Some(Found { clustering, of_cells: Hint(None), noise, reach: found.reach, seen })
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;

    use super::*;
    use crate::coreset::PrivateCoreset;

    /// Five clusters on a line, one of which two centres cut, and records at -1 .. 1 in ten places beside it.
    fn release(records: f64, k: usize) -> (Found, Found) {
        released((records, 3.0), k, &[10.0, 20.0, 30.0, 40.0, 49.9, 50.1], 0.0)
    }

    /// A thousand records for each centre, in two groups that are so far from it on either side. So many records are anywhere, by so many deviations.
    fn released(
        (records, sure): (f64, f64),
        k: usize,
        centres: &[f64],
        off: f64,
    ) -> (Found, Found) {
        let clustering = Clustering::of(
            Points::new(centres.to_vec(), 1).expect("numbers"),
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
        let groups = centres.iter().flat_map(|x| [x - off, x + off]);
        let coords = groups.chain(places).collect();
        let weights = [vec![500.0; 12], vec![records / 10.0; 10]].concat();
        let all = PrivateCoreset::released(Points::new(coords, 1).expect("numbers"), weights);
        let background = Background { all, noise: vec![0.02; 12], sure };
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

    /// A centre that only cuts a cluster, as the last two do here, is given up for less than one of a cluster's own.
    #[test]
    fn a_cluster_is_given_up_for_what_surely_is_there() {
        let cut = [10.0, 20.0, 30.0, 40.0, 49.9, 50.1];
        let whole = [10.0, 20.0, 30.0, 40.0, 50.0, 56.0];
        for (centres, sure, goes) in
            [(cut, 2.5, true), (cut, 3.0, true), (whole, 2.99, false), (whole, 3.0, true)]
        {
            let (_, after) = released((60_000.0, sure), 6, &centres, 1.0);
            let nearest = after.clustering.centres.view().coords().iter().copied();
            let nearest = nearest.fold(f64::INFINITY, |least, x| least.min(x.abs()));
            assert_eq!(nearest < 2.0, goes, "{centres:?} {sure}: {nearest}");
        }
    }
}
