//! A composition as transforms: its moments, and the line along which it is inverted.

use super::event::{Direction, Event, Kind};
use super::factor::{Factor, Lattice, Ready};
use super::grid::Query;
use super::line::{Course, LOG_MISSED, Line};
use super::moments::{LogPoints, Moments, log_peak, order_for_delta, order_for_epsilon, sum_units};
use super::pair::Pair;
use super::split::{Known, MOST_USES, split};
use super::walk::{MOST_WORK, QUIET};
use crate::bisection::bisect;
use crate::outward::{Lower, Upper, larger, smaller, sum, total, within};
use crate::rounding::UNIT;

const MOST_TILT: f64 = 1e6;
/// Where sampled noise is cut that is asked for its moments: they integrate all of it that counts.
const WHOLE_CUT: f64 = 700.0;
/// Times the standard deviation of the loss, no tilt is below this: the period is its inverse.
const LEAST_TILT: f64 = 0.3;
/// Mixes of more parts are inverted at the first tilt.
const MOST_CHOICE: usize = 8;
/// `ln` of what a tilt that is not the best may cost in precision, of what the roundings of all uses leave.
const MOST_DIGITS: f64 = 12.0;
/// About the rounding error of one use, and the error that is aimed at.
const ONE_USE: f64 = 3e-14;
const AIM: f64 = 5e-7;

/// Orders are searched on at most so many factors.
const MOST_SKETCHED: usize = 16;

/// Gaussian variance of the loss, and the rest.
#[derive(Clone)]
pub(crate) struct Mix {
    variance: f64,
    factors: Vec<(Factor, f64)>,
    cut: Upper,
}

impl Moments for Mix {
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        let gaussian = self.gaussian_moment(s);
        let units = sum_units(self.factors.len());
        // The Gaussian part is in every partial sum.
        let (mut log, mut error) = (gaussian, UNIT * (12.75 + units) * gaussian.abs());
        for (factor, count) in &self.factors {
            let (one, off) = factor.log_moment_and_error(s);
            log += count * one;
            error += count * (off + UNIT * units * one.abs());
        }
        (log, error)
    }
}

/// A mix with the mass that its laws were cut by: what a claim by moments alone is made of.
pub(crate) struct Whole<'a>(pub(crate) &'a Mix);

impl Moments for Whole<'_> {
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        (self.upper(s).get(), 0.0)
    }

    fn upper(&self, s: f64) -> Upper {
        let gaussian = self.0.gaussian_moment(s);
        let factors = self.0.factors.iter();
        let others = total(factors.map(|(factor, k)| factor.whole_moment(s).of_uses(*k)));
        Upper::near(gaussian, 16.0 * UNIT * gaussian.abs()) + others
    }
}

/// A mix with one more Gaussian.
struct Smoothed<'a>(&'a Mix, f64);

impl Moments for Smoothed<'_> {
    fn log_moment_and_error(&self, s: f64) -> (f64, f64) {
        let (log, error) = self.0.log_moment_and_error(s);
        let more = 0.5 * self.1 * (s * s + s);
        (log + more, error + UNIT * (2.0 * log.abs() + 16.0 * more))
    }
}

impl Mix {
    /// Takes the parts of a mix apart; discrete Gaussians are cut where the mass left out is about `e^(-log_cut)`.
    pub(crate) fn new(parts: &[(Event, f64)], direction: Direction, log_cut: f64) -> Self {
        Self::taken_apart(parts, direction, Some(log_cut))
    }

    /// The same for moments only: no law is written out.
    pub(crate) fn of_moments(parts: &[(Event, f64)], direction: Direction) -> Self {
        Self::taken_apart(parts, direction, None)
    }

    fn taken_apart(parts: &[(Event, f64)], direction: Direction, log_cut: Option<f64>) -> Self {
        let mut mix = Self { variance: 0.0, factors: Vec::new(), cut: Upper::ZERO };
        for &(event, count) in parts {
            let factor = match event.kind {
                Kind::DiscreteGaussian { variance, sensitivity } if log_cut.is_none() => {
                    Factor::Whole(Lattice { variance, shift: f64::from(sensitivity) })
                }
                Kind::Gaussian { noise_multiplier } if event.rate >= 1.0 => {
                    // At most one part is a Gaussian: they were added up before.
                    mix.variance += count / (noise_multiplier * noise_multiplier);
                    continue;
                }
                Kind::Laplace { epsilon } if event.rate >= 1.0 => Factor::Laplace(epsilon),
                Kind::BoundedRange { eta } => Factor::Range(eta),
                _ => {
                    let pair = Pair::new(event, direction, log_cut.unwrap_or(WHOLE_CUT));
                    if let Some(smooth) = pair.smooth {
                        Factor::Sampled(smooth, pair.atoms)
                    } else {
                        mix.cut = mix.cut + Upper::new(pair.cut).of_uses(count);
                        let whole = match event.kind {
                            Kind::DiscreteGaussian { variance, sensitivity } => {
                                Some(Lattice { variance, shift: f64::from(sensitivity) })
                            }
                            _ => None,
                        };
                        Factor::Atoms(LogPoints::new(pair.atoms), whole)
                    }
                }
            };
            mix.factors.push((factor, count));
        }
        // Wide ones first: their product vanishes soonest.
        mix.factors.sort_by_cached_key(|(factor, _)| {
            std::cmp::Reverse(larger(factor.log_moment(1.0), 0.0).to_bits())
        });
        mix
    }

    /// A mix of few factors that is much the same, for searches: an evaluation of sampled noise takes many points. Factors are in the order of
    /// their moments, and one stands for its neighbours.
    pub(crate) fn sketch(&self) -> Self {
        let size = self.factors.len().div_ceil(MOST_SKETCHED).max(1);
        let one = |chunk: &[(Factor, f64)]| {
            (chunk[chunk.len() / 2].0.clone(), sum(chunk.iter().map(|(_, count)| *count)))
        };
        Self { factors: self.factors.chunks(size).map(one).collect(), ..*self }
    }

    /// Orders above this are not searched, and no moment is computed: sampled noise takes too many points there.
    pub(crate) fn most_order(&self) -> f64 {
        let mut most = MOST_TILT;
        for (factor, _) in &self.factors {
            most = smaller(most, factor.most_order());
        }
        most
    }

    fn gaussian_moment(&self, s: f64) -> f64 {
        if self.variance > 0.0 { 0.5 * self.variance * (s * s + s) } else { 0.0 }
    }

    /// Whether this is one kind of sampled Laplace noise whose atoms keep the transform alive for ever: lattices are cheaper then.
    fn stays_alive(&self, query: Query) -> bool {
        let [(Factor::Sampled(_, atoms), count)] = &self.factors[..] else { return false };
        let (tilt, _) = self.first_course(query);
        let log_moment = self.factors[0].0.log_moment(tilt);
        let single = sum(atoms.iter().map(|(loss, m)| m * libm::exp(tilt * loss - log_moment)));
        self.variance <= 0.0 && count * libm::log(single) > -QUIET
    }

    /// The tilt and the epsilon around which a line is good.
    pub(crate) fn course(&self, query: Query) -> (f64, f64) {
        let (tilt, epsilon) = self.first_course(query);
        (self.shorten(tilt, epsilon), epsilon)
    }

    /// The best tilt, however long the period.
    fn first_course(&self, query: Query) -> (f64, f64) {
        let (sketch, most) = (self.sketch(), self.most_order());
        let (tilt, epsilon) = match query {
            Query::Epsilon(delta) => {
                let log_delta = libm::log(delta);
                let (tilt, _) = order_for_delta(&sketch, log_delta, most);
                let epsilon = (self.log_moment(tilt) - log_delta + log_peak(tilt)) / tilt;
                if epsilon > 0.0 {
                    (tilt, epsilon)
                } else {
                    (order_for_epsilon(&sketch, 0.0, most).0, 0.0)
                }
            }
            Query::Delta(epsilon) => (order_for_epsilon(&sketch, epsilon, most).0, epsilon),
        };
        let normal = self.normal();
        let least = LEAST_TILT / normal.1;
        // Nor where the losses are so small that no moment is computed there.
        if tilt >= least || least.is_nan() || least > most {
            return (tilt, epsilon);
        }
        // A delta next to 1: moments say nothing there, and the tilt need not be small. The losses are about normal.
        match query {
            Query::Epsilon(delta) => (least, normal_epsilon(normal, delta)),
            Query::Delta(epsilon) => (least, epsilon),
        }
    }

    /// Mean and standard deviation of the loss, roughly.
    fn normal(&self) -> (f64, f64) {
        let (above, below) = (self.log_moment(1e-3), self.log_moment(-1e-3));
        ((above - below) / 2e-3, larger((above + below) / 1e-6, 1e-12).sqrt())
    }

    /// A line for a few uses of Laplace noise, whose atoms keep the transform alive.
    pub(crate) fn split(&self, query: Query) -> Option<Line> {
        let [(factor, count)] = &self.factors[..] else { return None };
        let &Factor::Laplace(end) = factor else { return None };
        if self.variance > 0.0 || !(2.0..=MOST_USES).contains(count) {
            return None;
        }
        let (tilt, center) = self.course(query);
        let known = Known { end, count: *count };
        // Where the tilt is as large as it gets, the bound by moments may be past the largest loss.
        let center = match query {
            Query::Epsilon(delta) if center >= end * count => known.epsilon(delta),
            _ => center,
        };
        let (log_scale, log_error) = self.log_moment_and_error(tilt);
        let course = Course {
            tilt,
            period: period(self, None, tilt, center)?,
            variance: 0.0,
            extra: 0.0,
            log_scale,
            log_error,
            cut: self.cut,
            center,
        };
        // What may be left out, relative to the curve, which falls at about the rate of the tilt.
        let aim = match query {
            Query::Epsilon(_) => within(1e-9 * center * tilt, 1e-9, 1e-7),
            Query::Delta(_) => 1e-7,
        };
        split(known, factor.log_moment(tilt), course, aim)
    }

    /// A line that is good around the answer to `query`, or nothing if it would take too much work. What it took is taken off `effort`.
    pub(crate) fn invert(&self, query: Query, gap: f64, effort: &mut f64) -> Option<Line> {
        if self.stays_alive(query) {
            return None;
        }
        let (tilt, epsilon) = self.course(query);
        // The added Gaussian moves epsilon by about its variance times 1 + tilt.
        let added = 0.5 * gap * larger(epsilon, 1.0) / (1.0 + tilt);
        let mut factors = self
            .factors
            .iter()
            .map(|(factor, count)| Ready::new(factor, *count, tilt))
            .collect::<Option<Vec<_>>>()?;
        // Without one, the transform of atoms never dies out, and a single continuous law has lattices of its own.
        let continuous =
            matches!(&self.factors[..], [(factor, _)] if !matches!(factor, Factor::Atoms(..)));
        let extras = if continuous { 1 } else { 4 };
        // Half at most, so that there is as much for lattices where no line is found.
        let most = smaller(0.5 * *effort, MOST_WORK);
        let mut left = most;
        let line = [0.0, added, 4.0 * added, 64.0 * added]
            .into_iter()
            .take(extras)
            .find_map(|extra| self.line(&mut factors, (tilt, epsilon), extra, &mut left));
        *effort -= most - left;
        line
    }

    /// A tilt at most `tilt` for which the period is short. Where rare large losses begin to dominate, a little less tilt makes it
    /// much shorter, and costs some digits of the many that there are.
    fn shorten(&self, tilt: f64, epsilon: f64) -> f64 {
        if self.factors.len() > MOST_CHOICE {
            return tilt;
        }
        let height = |s: f64| self.log_moment(s) - s * epsilon + log_peak(s);
        let lowest = height(tilt);
        let uses = sum(self.factors.iter().map(|(_, count)| *count));
        let most_digits = within(libm::log(AIM / (uses * ONE_USE)), 0.0, MOST_DIGITS);
        let cost = |s: f64| {
            let digits = height(s) - lowest;
            let length =
                period(self, None, s, epsilon).map_or(f64::INFINITY, |period| period.length);
            if digits > most_digits { f64::INFINITY } else { libm::log(length) + digits / 16.0 }
        };
        let mut best = (tilt, cost(tilt));
        for _ in 0..6 {
            let next = best.0 * std::f64::consts::FRAC_1_SQRT_2;
            let value = cost(next);
            if value >= best.1 {
                break;
            }
            best = (next, value);
        }
        best.0
    }

    fn line(
        &self,
        factors: &mut [Ready<'_>],
        (tilt, epsilon): (f64, f64),
        extra: f64,
        left: &mut f64,
    ) -> Option<Line> {
        let smoothed = Smoothed(self, extra);
        let sketch = (self.factors.len() > MOST_SKETCHED).then(|| self.sketch());
        let sketch = sketch.as_ref().map(|sketch| Smoothed(sketch, extra));
        let sketch = sketch.as_ref().map(|sketch| sketch as &dyn Moments);
        let (_, log_error) = self.log_moment_and_error(tilt);
        let course = Course {
            tilt,
            period: period(&smoothed, sketch, tilt, epsilon)?,
            variance: self.variance + extra,
            extra,
            log_scale: smoothed.log_moment(tilt),
            log_error,
            cut: self.cut,
            center: epsilon,
        };
        Line::new(course, factors, left)
    }
}

/// About where the curve of a normal loss reaches `delta`.
fn normal_epsilon((mean, deviation): (f64, f64), delta: f64) -> f64 {
    let above = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    let curve = |epsilon: f64| {
        let place = (mean - epsilon) / deviation;
        let log = epsilon - mean + 0.5 * deviation * deviation;
        above(place) - libm::exp(smaller(log, 700.0)) * above(place - deviation)
    };
    bisect(0.0, larger(mean, 0.0) + 40.0 * deviation, |epsilon| curve(epsilon) >= delta).0
}

/// How far apart the copies of a curve are that the trapezoid rule adds up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub(crate) length: f64,
    /// Away from the centre, and past [`Period::margin`], what a copy adds relative to the integrand grows at most at this rate.
    pub(crate) rate: f64,
}

/// Queries a little off the centre must be covered, too: the period is longer by this factor.
const ROOM: f64 = 1.1;

impl Period {
    /// How far from the centre the copies are as negligible as there.
    pub(crate) fn margin(self) -> f64 {
        (1.0 - 1.0 / ROOM) * self.length * (1.0 - 1e-9)
    }
}

/// A length, and the order relative to the tilt that proves it.
type Proved = (Upper, f64);

/// The shortest periods that larger and that smaller orders prove, each by the best of a few; an order that overflows proves none.
fn shortest(
    mix: &dyn Moments,
    (tilt, epsilon): (f64, f64),
    [larger_by, smaller_by]: [&[f64]; 2],
) -> [Proved; 2] {
    let here = mix.lower(tilt) - Upper::near(tilt * epsilon, UNIT * tilt * epsilon);
    let length = |order: f64, x: f64, peak: f64| {
        let off = UNIT * order * epsilon + 8.0 * UNIT * peak.abs();
        let copy = mix.upper(order) + Upper::near(peak - order * epsilon, off);
        (copy - here + Upper::new(LOG_MISSED)).max(Upper::ONE).over(Lower::new(x))
    };
    let mut best = [(Upper::UNKNOWN, 0.0); 2];
    let better = |best: &mut Proved, length: Upper, x: f64| {
        if length < best.0 {
            *best = (length, x);
        }
    };
    // A copy at `epsilon + period`: Chernoff at a larger order. Further copies fall by `e^(-x period)`.
    for &x in larger_by {
        better(&mut best[0], length(tilt + x, x, log_peak(tilt + x)), x);
    }
    for &x in smaller_by.iter().filter(|x| **x < tilt) {
        better(&mut best[1], length(tilt - x, x, 0.0), x);
    }
    // No curve is above 1.
    let whole = (Upper::new(LOG_MISSED) - here).max(Upper::ONE).over(Lower::new(tilt));
    better(&mut best[1], whole, tilt);
    best
}

/// A period after which the copies are negligible. The orders that prove it are chosen on `sketch`.
fn period(
    mix: &dyn Moments,
    sketch: Option<&dyn Moments>,
    tilt: f64,
    epsilon: f64,
) -> Option<Period> {
    let around: [f64; 14] =
        std::array::from_fn(|i| libm::exp2(i as f64 - 6.0) * smaller(0.3 + tilt, 8.0));
    let at = (tilt, epsilon);
    let [up, down] = match sketch {
        None => shortest(mix, at, [&around; 2]),
        Some(sketch) => {
            let [up, down] = shortest(sketch, at, [&around; 2]);
            shortest(mix, at, [&[up.1], &[down.1]])
        }
    };
    let length = up.0.max(down.0).max(Upper::new(1e-6));
    length.is_known().then(|| Period { length: ROOM * length.get(), rate: larger(up.1, down.1) })
}

#[cfg(test)]
mod tests {
    use dp_check::{Interval, hockey_stick};

    use super::*;

    /// Every use lacks what its law was cut by.
    #[test]
    fn a_mix_lacks_what_all_its_uses_lack() {
        let discrete = |variance: f64| Event::discrete_gaussian(variance, 1).unwrap();
        for (first, second) in [(1.0, 1.0), (3.0, 1000.0)] {
            let parts = [(discrete(25.0), first), (discrete(4.0), second)];
            let cut = Mix::new(&parts, Direction::Remove, 5.0).cut.get();
            let each =
                |(event, count): (Event, f64)| count * Pair::new(event, Direction::Remove, 5.0).cut;
            let want = sum(parts.map(each));
            assert!(want > 1e-3 && cut >= want && cut <= want * (1.0 + 1e-12), "{cut} {want}");
        }
    }

    /// What a sum of many small parts next to a large Gaussian one rounds off is counted.
    #[test]
    fn small_parts_beside_a_large_one_are_not_lost() {
        let small = Factor::Laplace(3e-7);
        let one = small.log_moment(1.0);
        let large = 1024.0;
        assert!(one > 0.7 * large * UNIT && one < large * UNIT, "{one:e}");
        let many = 1_000;
        let mix = Mix { variance: large, factors: vec![(small, 1.0); many], cut: Upper::ZERO };
        assert_eq!(mix.log_moment(1.0).to_bits(), large.to_bits());
        let lost = one * many as f64;
        let room = mix.upper(1.0).get() - large;
        assert!(lost <= room && room <= 4.0 * lost, "{lost:e} {room:e}");
    }

    /// The sums know of one law only: a Gaussian beside it, however wide, is for others.
    #[test]
    fn few_laplace_uses_beside_anything_else_are_not_split() {
        let laplace = (Event::laplace(1.0).unwrap(), 10.0);
        let wide = (Event::gaussian(1e4).unwrap(), 1.0);
        let split = |parts: &[(Event, f64)]| {
            Mix::new(parts, Direction::Remove, 60.0).split(Query::Delta(1.0)).is_some()
        };
        assert!(split(&[laplace]));
        assert!(
            !split(&[laplace, wide]) && !split(&[laplace, (Event::laplace(2.0).unwrap(), 1.0)])
        );
        assert!(!split(&[(laplace.0, 1.0)]) && !split(&[(laplace.0, MOST_USES + 1.0)]));
    }

    /// A line says nothing below 0: where even that is too much, nothing is lost. Of a part that is summed by formula it says how many uses there are.
    #[test]
    fn a_line_ends_at_nothing() {
        let part = Event::gaussian(1.0).unwrap().poisson_sampled(0.02).unwrap();
        let mix = Mix::new(&[(part, 300.0)], Direction::Remove, 60.0);
        let line = mix.invert(Query::Epsilon(1e-5), 1e-6, &mut 1e9).unwrap();
        let none = line.read(Query::Epsilon(0.9));
        assert!(none.lower.get() <= 0.0 && none.upper.get() >= 0.0, "{none:?}");
        assert_eq!(line.evidence().by_formula, None);
        let laplace = (Event::laplace(1.0).unwrap(), 10.0);
        let split = Mix::new(&[laplace], Direction::Remove, 60.0).split(Query::Delta(1.0)).unwrap();
        assert_eq!(split.evidence().by_formula, Some(10.0));
    }

    /// Along a line, however far out, a Gaussian has the curve that intervals of big integers give it.
    #[test]
    fn a_line_encloses_the_curve_of_a_gaussian() {
        for (multiplier, places) in
            [(0.5, [0.1, 6.0, 18.0]), (3.0, [0.01, 1.0, 7.0]), (40.0, [0.003, 0.1, 0.6])]
        {
            let mix = Mix {
                variance: 1.0 / (multiplier * multiplier),
                factors: Vec::new(),
                cut: Upper::ZERO,
            };
            let mu = Interval::of(mix.variance).sqrt();
            for epsilon in places {
                let query = Query::Delta(epsilon);
                let line = mix.invert(query, 1e-6, &mut 1e9).unwrap();
                for at in [0.97, 1.0, 1.02].map(|x| x * epsilon) {
                    let truth = hockey_stick(&mu, &Interval::of(at));
                    let found = line.read(Query::Delta(at));
                    let (lower, upper) = (found.lower.get(), found.upper.get());
                    assert!(
                        !truth.reaches_below(lower) && !truth.reaches_above(upper),
                        "{multiplier} {at}: {found:?} {truth}"
                    );
                    assert!(upper - lower <= 1e-6 * upper, "{multiplier} {at}: {found:?}");
                }
            }
        }
    }
}
