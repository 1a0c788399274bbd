//! The centres between rounds: released values and public noise levels only.

use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::passes::{StateError, TableError};
use serde::{Deserialize, Serialize};

use super::clipping::{Lengths, clipped_to};
use super::plan::Start;
use super::round::Round;
use super::sums::{COUNT_UNITS, COUNTS};
use crate::passes::{LARGEST, are_in};
use crate::residual::UNITS;
use crate::{CentreError, Clustering};

/// By how much the radius of a centre grows that most of its points lie beyond.
const GROWTH: f64 = 4.0;
/// A point counts as far beyond the radius from this many radii on.
const FAR: f64 = 2.0;
/// A round changes which records are at a centre: its count is expected to change by this part.
const COUNT_DRIFT: f64 = 0.15;
/// The squared radius of a centre grows by so many times the squared length by which it may be off more than usual,
const OF_EXCESS: f64 = 2.0;
/// or by this part of it where the noise of the usual centre is longer than that, in radii: noise is as long as the radius, so that a centre which has fewer records
/// than its count says would never settle.
const OF_EXCESS_IN_NOISE: f64 = 0.5;
const LONG_NOISE: f64 = 0.5;
/// Of so many centres and more, counts say how much they differ.
const SOME_COUNTS: usize = 4;
/// A residual says that a centre is off by more than was known, if it is longer by so many deviations of what noise makes of its square.
const SURELY_OFF: f64 = 2.0;
/// No more than this part of a step is taken to be hidden: a lost centre may be four times as far off as it moved, as its radius grows.
const MOST_HIDDEN: f64 = 0.8;

/// Private centres; nothing here touches a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Centres {
    pub(super) coords: Vec<f64>,
    pub(super) dim: usize,
    pub(super) standings: Vec<Standing>,
}

/// What is known about one centre besides where it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// Noisy number of points, by all rounds so far.
    pub(super) count: f64,
    /// Variance of the noise in that.
    pub(super) count_variance: f64,
    /// The same by the last round alone.
    pub(super) counted: f64,
    pub(super) counted_variance: f64,
    /// Noisy number of them beyond the radius of the last round.
    pub(super) beyond: f64,
    /// Variance per coordinate that the noise has left in its position; infinite before any round.
    pub(super) variance: f64,
    /// That of the noise of a start, if it says so: a centre may be off by that at least.
    pub(super) of_start: Option<f64>,
    /// Its radius in the last round.
    pub(super) radius: f64,
    /// What residuals were clipped to there.
    pub(super) clip: f64,
    /// Whether most of its points were far beyond that.
    pub(super) is_lost: bool,
}

impl Standing {
    /// Variance per coordinate that is sure to be there.
    fn known(&self) -> f64 {
        self.of_start.filter(|_| self.variance.is_infinite()).unwrap_or(self.variance)
    }

    /// Takes in the noisy numbers of records near and far, in units, whose noise has this standard deviation each, in records: a filter over the rounds.
    fn count_again(&mut self, counts: &[i64], deviation: f64) {
        let records = |units: i64| units as f64 / COUNT_UNITS as f64;
        self.beyond = records(counts[1]);
        let (counted, noise) = (records(counts[0]) + self.beyond, 2.0 * deviation * deviation);
        let prior = self.count_variance + (COUNT_DRIFT * self.count).powi(2);
        let trust = 1.0 / (1.0 + noise / prior);
        self.count = (self.count + trust * (counted - self.count)).max(deviation);
        self.count_variance = trust * noise;
        (self.counted, self.counted_variance) = (counted.max(deviation), noise);
    }

    /// Before any round, with the count that a centre has at least.
    fn of_nobody() -> Self {
        Self {
            count: 1.0,
            count_variance: 0.0,
            counted: 1.0,
            counted_variance: 0.0,
            beyond: 0.0,
            variance: f64::INFINITY,
            of_start: None,
            radius: 0.0,
            clip: 0.0,
            is_lost: false,
        }
    }
}

impl Centres {
    pub(super) fn new(start: &Start, public_box: &PublicBox) -> Self {
        let dim = public_box.dim();
        let mut coords = start.centres.view().coords().to_vec();
        for (i, x) in coords.iter_mut().enumerate() {
            *x = public_box.clip_coordinate(i % dim, *x);
        }
        let standings = start
            .counts
            .iter()
            .map(|&count| Standing { count: count.max(1) as f64, ..Standing::of_nobody() });
        let mut standings: Vec<Standing> = standings.collect();
        for (standing, noise) in standings.iter_mut().zip(start.noise.iter().flatten()) {
            standing.of_start = noise.is_finite().then_some(noise / dim as f64);
        }
        if standings.is_empty() {
            // Nothing to go by: one centre in the middle.
            coords = (0..dim).map(|i| public_box.middle(i)).collect();
            standings = vec![Standing::of_nobody()];
        }
        Self { coords, dim, standings }
    }

    /// That a run in this box can have left them.
    pub(crate) fn fits(&self, public_box: &PublicBox) -> Result<(), TableError> {
        StateError::unless_equal("dimension of the centres", self.dim, public_box.dim())?;
        let number = self.standings.len();
        StateError::unless_within("number of centres", number as f64, [1.0, LARGEST])?;
        let wanted = number.saturating_mul(self.dim);
        StateError::unless_equal("number of coordinates", self.coords.len(), wanted)?;
        are_in(&self.coords, public_box)?;
        self.standings.iter().try_for_each(|one| {
            let within = StateError::unless_within;
            within("count of a centre", one.count, [f64::MIN_POSITIVE, LARGEST])?;
            within("variance of a count", one.count_variance, [0.0, f64::MAX])?;
            within("count of the last round", one.counted, [f64::MIN_POSITIVE, LARGEST])?;
            within("variance of the last count", one.counted_variance, [0.0, f64::MAX])?;
            within("count beyond a radius", one.beyond, [-LARGEST, LARGEST])?;
            within("variance of a centre", one.variance, [0.0, f64::INFINITY])?;
            StateError::unless_all_within("variance of a start", one.of_start, [0.0, f64::MAX])?;
            within("radius of a centre", one.radius, [0.0, public_box.diagonal()])?;
            // None is shorter than where noise is longest.
            within(
                "clip of a centre",
                one.clip,
                [clipped_to(f64::INFINITY) * one.radius, one.radius],
            )
        })
    }

    /// That sums around them can be asked for.
    pub(super) fn have_radii(&self) -> Result<(), TableError> {
        let radii = self.standings.iter().map(|one| one.radius);
        let some = [f64::MIN_POSITIVE, f64::MAX];
        StateError::unless_all_within("radius of a centre that is asked about", radii, some)
    }

    /// Says that centres are no further off than that: noise of that length and more moves them less.
    pub(super) fn are_within(&mut self, reach: f64) {
        let variance = reach * reach / self.dim as f64;
        self.standings.iter_mut().for_each(|one| one.variance = variance);
    }

    /// What comes out.
    pub(crate) fn release(&self) -> Clustering {
        #[allow(clippy::cast_possible_truncation, reason = "a noisy count of records")]
        let counts = self.standings.iter().map(|one| (one.counted.round() as i64).max(1));
        let errors = self.standings.iter().map(|one| self.error(one)).collect();
        let clustering = Clustering::of(self.view().to_points(), counts.collect());
        Clustering { errors: Some(errors), ..clustering }
    }

    fn error(&self, one: &Standing) -> CentreError {
        // Not by a filter, which begins with what a start saw: it took the largest of many noisy counts.
        let number = (one.counted, one.counted_variance);
        let place = (one.variance, one.radius);
        CentreError::of_noise(self.dim, place, number)
    }

    pub(super) fn len(&self) -> usize {
        self.standings.len()
    }

    pub(crate) fn view(&self) -> PointsView<'_> {
        PointsView::new(&self.coords, self.dim).expect("whole rows")
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.coords[i * self.dim..][..self.dim]
    }

    /// Gives every centre its radius for this round: the one chosen for all, or more where the last
    /// round, or the start, left more noise than usual, or found most points far beyond its radius.
    pub(super) fn set_radii(&mut self, round: &Round, chosen: f64, longest: f64) {
        let mut variances: Vec<f64> = self.standings.iter().map(Standing::known).collect();
        variances.retain(|variance| variance.is_finite());
        variances.sort_by(f64::total_cmp);
        let usual = variances.get(variances.len().saturating_sub(1) / 2).copied().unwrap_or(0.0);
        let mut counts: Vec<f64> = self.standings.iter().map(|one| one.count).collect();
        counts.sort_by(f64::total_cmp);
        let dim = self.dim as f64;
        let noise_of = |count: f64| round.noise() * dim.sqrt() / (count * UNITS as f64);
        let is_long = noise_of(counts[counts.len() / 2]) > LONG_NOISE;
        let of_excess = if is_long { OF_EXCESS_IN_NOISE } else { OF_EXCESS };
        for standing in &mut self.standings {
            let excess = dim * (standing.known() - usual);
            let mut radius = chosen;
            if excess.is_finite() && excess > 0.0 {
                radius = (chosen * chosen + of_excess * excess).sqrt();
            }
            if standing.is_lost {
                // Not so far that the noise of one round would be as long as the radius itself.
                let growth = (0.5 / noise_of(standing.count)).clamp(1.0, GROWTH);
                radius = radius.max(growth * standing.radius);
            }
            standing.radius = radius.min(longest);
            standing.clip = clipped_to(noise_of(standing.count)) * standing.radius;
        }
    }

    /// What residuals of each centre are clipped to, and from where on a record counts as far.
    pub(super) fn asked(&self) -> (Vec<f64>, Vec<f64>) {
        self.standings.iter().map(|one| (one.clip, FAR * one.radius)).unzip()
    }

    /// Counts by which sums are divided: each its own where they differ by more than noise explains, and their mean where they do not.
    ///
    /// A count that is off by a third makes a step that is off by a third. Where the squares by which counts differ are twice those of their noise and more, a mean
    /// would put some further off; in between, counts are drawn to it.
    fn told_apart(&self) -> Vec<f64> {
        let counts = self.standings.iter().map(|one| one.count);
        if self.len() < SOME_COUNTS {
            return counts.collect();
        }
        let all = self.len() as f64;
        let mean = counts.clone().sum::<f64>() / all;
        let noise = self.standings.iter().map(|one| one.count_variance).sum::<f64>() / all;
        let spread = counts.clone().map(|count| (count - mean).powi(2)).sum::<f64>() / (all - 1.0);
        let own = if noise > 0.0 { (spread / noise - 1.0).clamp(0.0, 1.0) } else { 1.0 };
        counts.map(|count| mean + own * (count - mean)).collect()
    }

    /// Moves every centre by its noisy mean residual, as far as that is more than noise.
    ///
    /// Each round measures where a cluster lies, with a known variance. What earlier rounds found
    /// keeps its weight: the step is the gain of a Kalman filter, whose prior variance grows if the
    /// residual is longer than noise explains. Of the first round, before which nothing is known, it is that of James and Stein: whatever
    /// the start, on more than two axes the expected error is less than with a whole step. Counts are filtered alike.
    /// Of a centre that is off, clipping hides a part of the way: what the step is expected to leave of it is added to what is not known.
    /// `quantile` is the share of points within the radius.
    pub(super) fn update(
        &mut self,
        round: &Round,
        quantile: f64,
        vectors: &[i64],
        public_box: &PublicBox,
    ) {
        let (dim, least) = (self.dim, round.count_noise());
        let lengths = Lengths::new(dim, quantile);
        let vectors = vectors.chunks_exact(dim + COUNTS);
        for (standing, vector) in self.standings.iter_mut().zip(vectors.clone()) {
            standing.count_again(&vector[dim..], least);
        }
        let counts = self.told_apart();
        for (((row, standing), vector), count) in
            self.coords.chunks_exact_mut(dim).zip(&mut self.standings).zip(vectors).zip(counts)
        {
            let residual = &vector[..dim];
            standing.is_lost = standing.beyond > 3.0 * least && 2.0 * standing.beyond > count;
            // Few are far beyond the radius of a centre that is where it belongs, and what noise may be of them says nothing.
            let far = if standing.is_lost { standing.beyond / count } else { 0.0 };
            let hidden = far.min(MOST_HIDDEN);
            let step = lengths.stretch(standing.clip / standing.radius) * standing.clip
                / UNITS as f64
                / count;
            let variance = (round.noise() * step).powi(2);
            let squares = residual.iter().map(|&v| (v as f64 * step).powi(2));
            let excess = squares.sum::<f64>() / dim as f64 - variance;
            // A mean of `dim` squares of normal variables of this variance each.
            let deviation = (standing.variance + variance) * (2.0 / dim as f64).sqrt();
            let is_longer = excess > standing.variance + SURELY_OFF * deviation;
            let prior = if is_longer { excess } else { standing.variance };
            // Of a start nobody knows how far off it is: on more than two axes, the residual says that better than nothing.
            let gain = if prior.is_finite() {
                prior / (prior + variance)
            } else {
                1.0 - (1.0 - 2.0 / dim as f64).max(0.0) * (variance / (excess + variance)).min(1.0)
            };
            let left = gain * hidden / (1.0 - hidden);
            standing.variance = gain * variance + left * left * excess.max(0.0);
            for (i, (x, &v)) in row.iter_mut().zip(residual).enumerate() {
                *x = public_box.clip_coordinate(i, *x + gain * step * v as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_accounting::Mu;
    use dp_geometry::Points;

    use super::*;
    use crate::testing::{normal, rng};

    /// A thousand records, all as far from the centre: what is stated of where it went, as a length, and whether it is more than noise.
    fn stated(distance: f64) -> (f64, bool) {
        let public_box = PublicBox::cube(2, -100.0, 100.0).expect("valid");
        let at = Points::new(vec![0.0, 0.0], 2).expect("a row");
        let start = Start::at(at, vec![1_000]);
        let mut centres = Centres::new(&start, &public_box);
        let mu = Mu::new(1.0).expect("valid");
        let round = Round::new(mu, mu).expect("valid");
        centres.set_radii(&round, 1.0, 100.0);
        let far = distance > 2.0;
        let counts = [1_000 * i64::from(!far), 1_000 * i64::from(far)].map(|n| n * COUNT_UNITS);
        #[allow(clippy::cast_possible_truncation, reason = "at most 1")]
        let moved = (1e3 * distance.min(1.0)) as i64 * UNITS;
        centres.update(&round, 0.8, &[moved, 0, counts[0], counts[1]], &public_box);
        let error = centres.error(&centres.standings[0]);
        (error.at[0].hypot(error.at[1]), error.signal)
    }

    /// Where noise is long and clips are short, too: it is the noise of the sum, times how far a unit of that moves the centre.
    #[test]
    fn what_is_stated_of_a_place_is_how_far_noise_moves_it() {
        let public_box = PublicBox::cube(2, -100.0, 100.0).expect("valid");
        for (count, part) in [(1_000_000, 1.0), (37, 0.8), (10, 0.6)] {
            let at = Points::new(vec![0.0, 0.0], 2).expect("a row");
            let mut centres = Centres::new(&Start::at(at, vec![count]), &public_box);
            let mu = Mu::new(0.2).expect("valid");
            let round = Round::new(mu, mu).expect("valid");
            centres.set_radii(&round, 1.0, 100.0);
            let clip = centres.standings[0].clip;
            assert!((clip - part).abs() < 0.1, "{count}: {clip}");
            #[allow(clippy::cast_possible_truncation, reason = "a few records")]
            let noise = round.noise() as i64;
            centres.update(&round, 0.8, &[noise, 0, count * COUNT_UNITS, 0], &public_box);
            let (moved, stated) = (centres.row(0)[0], centres.standings[0].variance.sqrt());
            assert!((moved / stated - 1.0).abs() < 1e-6, "{count}: {moved}, {stated} stated");
            // A count is the sum of two numbers with noise each.
            let of_count = 2.0 * (round.noise() / COUNT_UNITS as f64).powi(2);
            let stated = centres.standings[0].counted_variance;
            assert!((stated / of_count - 1.0).abs() < 1e-9, "{count}: {stated} for {of_count}");
        }
    }

    /// Four times as far, unless noise of a round would then be more than half as long as the radius; and never further than the longest.
    #[test]
    fn a_lost_centre_looks_further_if_noise_is_short() {
        let public_box = PublicBox::cube(2, -100.0, 100.0).expect("valid");
        let at = Points::new(vec![0.0, 0.0], 2).expect("a row");
        let mut centres = Centres::new(&Start::at(at, vec![1]), &public_box);
        let mu = Mu::new(1.0).expect("valid");
        let round = Round::new(mu, mu).expect("valid");
        let mut radius = |noise: f64, longest: f64| {
            let one = &mut centres.standings[0];
            one.count = round.noise() * 2_f64.sqrt() / (noise * UNITS as f64);
            (one.radius, one.is_lost) = (2.0, true);
            centres.set_radii(&round, 1.0, longest);
            centres.standings[0].radius
        };
        for (noise, grown) in [(0.01, 4.0), (0.25, 2.0), (0.4, 1.25), (0.9, 1.0)] {
            let radius = radius(noise, 100.0);
            assert!((radius / (2.0 * grown) - 1.0).abs() < 1e-9, "{noise}: {radius}");
        }
        assert!((radius(0.01, 3.0) - 3.0).abs() < 1e-9);
    }

    /// Counts whose differences noise explains are one; those that differ by more are each its own, and so are those of few centres.
    #[test]
    fn counts_are_told_apart_as_far_as_noise_lets_them() {
        let told_apart = |counts: &[i64], variance: f64| {
            let public_box = PublicBox::cube(1, -1.0, 1.0).expect("valid");
            let at = Points::new(vec![0.0; counts.len()], 1).expect("rows");
            let mut centres = Centres::new(&Start::at(at, counts.to_vec()), &public_box);
            centres.standings.iter_mut().for_each(|one| one.count_variance = variance);
            centres.told_apart()
        };
        // The mean square of how far these are from 100 is 400.
        let counts = [80, 80, 120, 120, 100];
        assert_eq!(told_apart(&counts, 400.0), [100.0; 5]);
        assert_eq!(told_apart(&counts, 200.0), [80.0, 80.0, 120.0, 120.0, 100.0]);
        assert_eq!(told_apart(&counts, 400.0 / 1.5), [90.0, 90.0, 110.0, 110.0, 100.0]);
        assert_eq!(told_apart(&counts, 0.0), [80.0, 80.0, 120.0, 120.0, 100.0]);
        assert_eq!(told_apart(&[80, 120, 100], 1e9), [80.0, 120.0, 100.0]);
    }

    /// Where noise is as long as a radius, a centre that was thought to have few records comes as near to them as others do: its radius does not grow with its own noise.
    #[test]
    fn a_centre_of_which_little_is_known_settles() {
        let (dim, records, far) = (50, 1_500.0, 300.0);
        let public_box = PublicBox::cube(dim, -1e3, 1e3).expect("valid");
        let mu = Mu::new(0.0056).expect("valid");
        let round = Round::new(mu, mu).expect("valid");
        let mut rng = rng(5);
        let [mut usual, mut few] = [0.0, 0.0];
        for _ in 0..10 {
            // Three of them, all of whose records are at 0.
            let mut at = vec![0.0; 3 * dim];
            for i in [0, dim + 1, 2 * dim + 2] {
                at[i] = far;
            }
            let at = Points::new(at, dim).expect("rows");
            let mut centres = Centres::new(&Start::at(at, vec![1_500, 1_500, 600]), &public_box);
            for _ in 0..10 {
                let [chosen, ..] = distances(&centres);
                centres.set_radii(&round, 1.2 * chosen, 1e3);
                let mut vectors = Vec::new();
                for i in 0..3 {
                    let distance = distances(&centres)[i].max(centres.standings[i].clip);
                    let sums =
                        centres.row(i).iter().map(|x| -records * UNITS as f64 * x / distance);
                    let counts = [records * COUNT_UNITS as f64, 0.0];
                    #[allow(clippy::cast_possible_truncation, reason = "far below 2^63")]
                    let noisy = |units: f64| (units + round.noise() * normal(&mut rng)) as i64;
                    vectors.extend(sums.chain(counts).map(noisy));
                }
                centres.update(&round, 0.8, &vectors, &public_box);
            }
            let [first, _, last] = distances(&centres);
            (usual, few) = (usual + first / 10.0, few + last / 10.0);
        }
        assert!(usual < 0.1 * far && few < 0.2 * far, "{usual}, {few}");
    }

    /// How far each of three centres is from 0.
    fn distances(centres: &Centres) -> [f64; 3] {
        [0, 1, 2].map(|i| centres.row(i).iter().map(|x| x * x).sum::<f64>().sqrt())
    }

    /// A centre all of whose records are fifteen radii away moves by one radius, and may be as far off as it is; one that is nearly where it
    /// belongs is known well.
    #[test]
    fn a_lost_centre_says_that_it_is_lost() {
        let (error, signal) = stated(15.0);
        assert!(error > 14.0 / 4.0 && !signal, "{error}");
        let (error, signal) = stated(0.1);
        assert!(error < 0.02 && signal, "{error}");
    }
}
