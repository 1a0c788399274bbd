//! The radius within which most points lie, chosen privately.

use dp_geometry::PublicBox;

/// Radii per factor of two, and factors of two below the diagonal of the box.
const PER_OCTAVE: i32 = 8;
const OCTAVES: i32 = 20;

/// What a radius one step longer has to gain, as one over a share of the target: where few points
/// lie between two radii the shorter one wins, since noise grows with the radius.
const STEP_PRICE: i64 = 500;

/// A start may report any count. Up to here scores stay far inside of `i64`; no address space holds as many points.
const MOST_POINTS: i64 = 1 << 52;

/// The number of points that the radius aims at: a share of released counts.
pub(super) fn target(quantile: f64, counts: impl Iterator<Item = f64>) -> i64 {
    #[allow(clippy::cast_possible_truncation, reason = "saturates")]
    let target = (quantile * counts.sum::<f64>()).round() as i64;
    target.min(MOST_POINTS)
}

/// The public radii to choose from, ascending up to the diagonal.
pub(super) fn radii(public_box: &PublicBox) -> Vec<f64> {
    let diagonal = public_box.diagonal();
    let steps = (0..=PER_OCTAVE * OCTAVES).rev();
    steps.map(|i| diagonal * 2_f64.powf(-f64::from(i) / f64::from(PER_OCTAVE))).collect()
}

/// Range of the change of the scores when a point is added or removed: it raises the number within
/// `r` by one from some `r` on, which moves the distance to the target by -1 or 1 there, and by 0
/// for smaller radii.
pub(super) const SCORE_RANGE: u64 = 2;

/// Steps that a search takes among all radii: each halves those left.
pub(super) const SEARCH_STEPS: usize = (PER_OCTAVE * OCTAVES + 1).ilog2() as usize + 1;

/// Per radius, how many points lie within it: a record changes each by at most 1.
pub(super) fn within(radii: &[f64], distances: &[f64]) -> Vec<u64> {
    let mut within = vec![0_u64; radii.len() + 1];
    for &distance in distances {
        within[radii.partition_point(|&r| r < distance || distance.is_nan())] += 1;
    }
    within.truncate(radii.len());
    let mut count = 0;
    for here in &mut within {
        count += *here;
        *here = count;
    }
    within
}

/// Per radius, how far the number of points within it is from `target`, negated, less a public
/// price per step.
pub(super) fn scores(radii: &[f64], distances: &[f64], target: i64) -> Vec<i64> {
    let mut within = vec![0_i64; radii.len() + 1];
    for &distance in distances {
        // A distance that is not a number, or beyond all radii, is within none.
        within[radii.partition_point(|&r| r < distance || distance.is_nan())] += 1;
    }
    let mut count = 0;
    let price = target / STEP_PRICE;
    let scores = within[..radii.len()].iter().zip(0..).map(|(here, step)| {
        count += here;
        -(count - target).abs() - price * step
    });
    scores.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_point_moves_the_scores_within_their_range() {
        let radii = radii(&PublicBox::cube(3, 0.0, 1.0).expect("valid"));
        let distances: Vec<f64> = (0..40).map(|i| f64::from(i).powi(3) * 3e-5).collect();
        let mut worst = 0;
        for target in [0, 1, 7, 20, 39, 40, 41, 1_000_000, MOST_POINTS] {
            let here = scores(&radii, &distances, target);
            for added in [0.0, 1e-9, 0.01, 0.1, 0.5, 1.7, 1.8, f64::INFINITY, f64::NAN] {
                let there = scores(&radii, &[distances.as_slice(), &[added]].concat(), target);
                let changes = here.iter().zip(&there).map(|(a, b)| b - a);
                let (low, high) = changes.fold((i64::MAX, i64::MIN), |(low, high), change| {
                    (low.min(change), high.max(change))
                });
                worst = worst.max((high - low).unsigned_abs());
            }
        }
        assert_eq!(worst, SCORE_RANGE, "the range is attained and not exceeded");
    }

    /// Counts near the largest integer once made scores wrap, and with them the order of the radii.
    #[test]
    fn a_start_may_report_any_counts() {
        assert_eq!(target(0.8, [3.0, 7.0].into_iter()), 8);
        let most = target(0.8, [i64::MAX as f64; 3].into_iter());
        let radii = radii(&PublicBox::cube(1, 0.0, 1.0).expect("valid"));
        let scores = scores(&radii, &[0.5; 9], most);
        assert!(scores.iter().all(|&score| score < 0 && score > i64::MIN / 4), "{scores:?}");
    }

    #[test]
    fn the_best_radius_is_the_shortest_that_holds_the_target() {
        let radii = radii(&PublicBox::cube(1, 0.0, 1.0).expect("valid"));
        assert_eq!(radii.last(), Some(&1.0));
        // A thousand points at .1 and a few far away: nothing in between.
        let distances = [vec![0.1; 1_000], vec![0.9; 10]].concat();
        let scores = scores(&radii, &distances, 800);
        let best = (0..radii.len()).fold(0, |a, b| if scores[b] > scores[a] { b } else { a });
        assert!(radii[best] >= 0.1 && radii[best] < 0.11, "{}", radii[best]);
    }
}
