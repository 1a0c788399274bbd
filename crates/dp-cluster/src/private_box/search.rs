//! Rounds of nested boxes: the calibrated draws, and what follows from them.

use dp_accounting::{Mu, Step};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::{Draws, GaussianSum, Private};

use super::FoundBox;
use crate::ClusterError;
use crate::kmeans::MAX_MAGNITUDE;
use crate::located::clip_into;
use crate::table::sum_rows;

/// The step of the receipt that pays for all of it, and its leaves.
const STEP: &str = "private box";
const COUNTS: &str = "counts of nested boxes";
const MEAN: &str = "mean of a box";

/// Looks at the records, each around the mean of the one before.
const ROUNDS: usize = 3;
/// Nested boxes, each narrower than the one before by root 2: down to a `10^14`th of the public box.
const BOXES: usize = 96;
/// Units of a sum per half a width.
const UNITS: i64 = 1 << 20;
/// Of so many coordinates the squared length of a sum is still a number: a bound that saturates would be too small.
const MOST_DIMENSIONS: usize = 1 << 20;
/// A ring between two boxes has records if it seems to have so many standard deviations of its noise: noise alone makes one look so, of 96 rings
/// and as many sums in each round, in two runs of a thousand.
const SURELY: f64 = 4.5;
/// Noise may hide this part of all records.
const HIDDEN: f64 = 0.05;
/// And for each factor of two that the public box is too wide beyond [`FITS`], so many times more, up to [`MOST_HIDDEN`].
const HIDDEN_PER_OCTAVE: f64 = 0.5;
const FITS: f64 = 0.25;
const MOST_HIDDEN: f64 = 0.5;

/// A checked and calibrated search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoxSearch {
    counts: GaussianSum,
    mean: GaussianSum,
}

impl BoxSearch {
    /// A search that costs `mu`.
    pub(crate) fn new(public_box: &PublicBox, mu: Mu) -> Result<Self, ClusterError> {
        let diagonal = public_box.diagonal();
        if !(1.0 / MAX_MAGNITUDE..=MAX_MAGNITUDE).contains(&diagonal) {
            let (name, want) = ("diagonal of the public box", "between 1e-75 and 1e75");
            return Err(ClusterError::Setting { name, got: diagonal, want });
        }
        let dim = public_box.dim();
        if dim > MOST_DIMENSIONS {
            let (name, want) = ("dimension of the public box", "at most 2^20");
            return Err(ClusterError::Setting { name, got: dim as f64, want });
        }
        let parts = mu.split(&[1.0; 2 * ROUNDS - 1])?;
        Ok(Self { counts: GaussianSum::rounded(parts[0])?, mean: GaussianSum::rounded(parts[1])? })
    }

    /// Which share of the square of `mu` a search should get to be sure of a box, wherever so many records are in it, with a quarter more than
    /// needed on average.
    pub(crate) fn share_to_be_sure(records: f64, mu: Mu) -> f64 {
        let noise = HIDDEN * records / (1.25 * SURELY);
        (2 * ROUNDS - 1) as f64 / (noise * mu.get()).powi(2)
    }

    /// The itemised cost.
    pub(crate) fn spent(&self) -> Step {
        let counts = vec![Step::spend(COUNTS, self.counts.loss()); ROUNDS];
        let means = vec![Step::spend(MEAN, self.mean.loss()); ROUNDS - 1];
        Step::sequential(STEP, [counts, means].concat())
    }

    /// The box found, if it has at most `widest` times the width of the public one, and that if not.
    pub(crate) fn run(
        &self,
        points: Private<PointsView<'_>>,
        public_box: &PublicBox,
        widest: f64,
        draws: &mut Draws<'_>,
    ) -> FoundBox {
        let draws = &mut draws.within(STEP);
        let dim = public_box.dim();
        let mut nest =
            Nest { public_box, middle: (0..dim).map(|i| public_box.middle(i)).collect() };
        let noise = self.counts.noise_multiplier();
        let mut found = None;
        for round in 0..ROUNDS {
            let exact = points.map(|points| nest.counts(points)).cells(BOXES);
            let counts = self.counts.release(&exact, 1, &mut draws.leaf(COUNTS, round));
            let total = counts.iter().map(|&count| count as f64).sum::<f64>();
            let ring = outermost(&counts, noise);
            let half = half_width(ring);
            let octaves_too_wide = (FITS / (2.0 * half)).log2().max(0.0);
            let hidden = (HIDDEN * (1.0 + HIDDEN_PER_OCTAVE * octaves_too_wide)).min(MOST_HIDDEN);
            let is_sure = SURELY * noise <= hidden * total;
            found = None;
            if is_sure && 2.0 * half <= widest {
                let beyond = counts[..ring].iter().map(|&count| count as f64).sum::<f64>();
                let share_outside = (beyond / total).clamp(0.0, 1.0);
                found = nest.cut(half).map(|public_box| FoundBox { public_box, share_outside });
            }
            if round + 1 < ROUNDS {
                let sums = points.map(|points| nest.sums(points, half)).cells(dim);
                let draw = &mut draws.leaf(MEAN, round);
                let sums = self.mean.release(&sums, length_squared(dim), draw);
                if is_sure {
                    nest.move_by(half, |i| sums[i] as f64 / UNITS as f64 / total);
                }
            }
        }
        found.unwrap_or_else(|| FoundBox { public_box: public_box.clone(), share_outside: 0.0 })
    }
}

/// Squared length of what a record adds to a sum, at most.
fn length_squared(dim: usize) -> u64 {
    (UNITS * UNITS).unsigned_abs() * dim as u64
}

/// Of the box that ends ring `ring`, in widths of the public box. The first holds all of it, wherever the middle is.
fn half_width(ring: usize) -> f64 {
    2_f64.powf(-0.5 * ring as f64)
}

/// The widest ring that surely has records, alone or with all beyond it.
fn outermost(counts: &[i64], noise: f64) -> usize {
    let mut beyond = 0.0;
    let surely = counts.iter().zip(1..).position(|(&count, rings)| {
        beyond += count as f64;
        let noise_beyond = noise * f64::from(rings).sqrt();
        count as f64 > SURELY * noise || beyond > SURELY * noise_beyond
    });
    surely.unwrap_or(0)
}

/// Boxes around one middle: released values only.
struct Nest<'a> {
    public_box: &'a PublicBox,
    middle: Vec<f64>,
}

impl Nest<'_> {
    /// How many records each ring has; the last one is a box.
    fn counts(&self, points: PointsView<'_>) -> Vec<i64> {
        let ends: Vec<f64> = (1..BOXES).map(half_width).collect();
        let scratch = || vec![0.0; points.dim()];
        sum_rows(points, BOXES, scratch, |clipped, _, row, counts| {
            clip_into(self.public_box, row, clipped);
            let far = clipped.iter().zip(&self.middle).enumerate();
            let far = far.map(|(i, (x, m))| (x - m).abs() / self.public_box.width(i));
            let far = far.fold(0.0, f64::max);
            counts[ends.partition_point(|&end| far <= end)] += 1;
        })
    }

    /// The sum of how far records are from the middle, moved into a box, in its half widths.
    fn sums(&self, points: PointsView<'_>, half: f64) -> Vec<i64> {
        let scratch = || vec![0.0; points.dim()];
        sum_rows(points, points.dim(), scratch, |clipped, _, row, sums| {
            clip_into(self.public_box, row, clipped);
            let places = clipped.iter().zip(&self.middle).enumerate();
            for (sum, (i, (x, m))) in sums.iter_mut().zip(places) {
                let halves = ((x - m) / (half * self.public_box.width(i))).clamp(-1.0, 1.0);
                #[allow(clippy::cast_possible_truncation, reason = "towards zero, at most UNITS")]
                {
                    *sum += (halves * UNITS as f64) as i64;
                }
            }
        })
    }

    fn move_by(&mut self, half: f64, halves: impl Fn(usize) -> f64) {
        for (i, x) in self.middle.iter_mut().enumerate() {
            let step = halves(i) * half * self.public_box.width(i);
            *x = self.public_box.clip_coordinate(i, *x + step);
        }
    }

    /// One of the boxes, as far as it is in the public one; none if that has no width in floating point.
    fn cut(&self, half: f64) -> Option<PublicBox> {
        let side = |i: usize, sign: f64| {
            let end = self.middle[i] + sign * half * self.public_box.width(i);
            self.public_box.clip_coordinate(i, end)
        };
        let [min, max] =
            [-1.0, 1.0].map(|sign| (0..self.middle.len()).map(|i| side(i, sign)).collect());
        PublicBox::new(min, max).ok()
    }
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;

    use super::*;
    use crate::testing::adversarial;

    /// A record is in one ring and adds at most a unit box to a mean, whatever it holds and wherever the middle is.
    #[test]
    fn what_a_record_adds_is_bounded_and_the_bound_is_reached() {
        let mut longest = [0_u64; 2];
        for (which, dim) in [1, 3].into_iter().enumerate() {
            for (min, max) in [(-10.0, 10.0), (1e16, 1e16 + 2.0)] {
                let public_box = PublicBox::cube(dim, min, max).expect("valid");
                for middle in [min, 0.5 * (min + max), max] {
                    let nest = Nest { public_box: &public_box, middle: vec![middle; dim] };
                    for (_, points) in adversarial(dim, 60) {
                        for row in points.view().rows() {
                            let one = Points::new(row.to_vec(), dim).expect("a row");
                            let counts = nest.counts(one.view());
                            assert_eq!((counts.len(), counts.iter().sum()), (BOXES, 1));
                            for ring in [0, 7, BOXES - 1] {
                                let sums = nest.sums(one.view(), half_width(ring));
                                let squared: i64 = sums.iter().map(|s| s * s).sum();
                                assert!(squared.unsigned_abs() <= length_squared(dim), "{row:?}");
                                longest[which] = longest[which].max(squared.unsigned_abs());
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(longest, [length_squared(1), length_squared(3)]);
    }

    #[test]
    fn the_box_ends_where_records_surely_are() {
        let with = |places: &[(usize, i64)]| {
            let mut counts = vec![0; BOXES];
            for &(ring, count) in places {
                counts[ring] = count;
            }
            outermost(&counts, 10.0)
        };
        assert_eq!(with(&[]), 0);
        assert_eq!(with(&[(20, 46), (40, 900)]), 20);
        // Not enough by itself, nor with all rings beyond it.
        assert_eq!(with(&[(20, 44), (40, 900)]), 40);
        // Many rings that have a few each.
        assert_eq!(with(&[(0, 40), (1, 40), (2, 40)]), 1);
    }
}
