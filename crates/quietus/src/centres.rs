//! How far released centres and their counts may be off: as a mechanism says, or by running a plan again on points like those that were released.
//!
//! Most plans do not know: the error of a centre depends on how many points are near it and how wide they are spread. So points are made up that
//! follow what was released, and the plan is run on them. All of it is computed from what is released, and free.

use dp_cluster::{PointsView, nearest};

/// How far a released centre and its count may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct CentreError {
    /// Along each axis: from the mean of the points that are nearest to the centre.
    pub at: Vec<f64>,
    /// From the number of those.
    pub count: f64,
    /// How many of these errors a 95 % interval reaches.
    pub reach: f64,
    /// Whether there is more than noise explains; of a plan that was run again, also whether it finds this centre again.
    pub signal: bool,
}

impl CentreError {
    /// Ends of an interval, cut to where the number can be.
    pub(crate) fn interval(&self, value: f64, error: f64, [low, high]: [f64; 2]) -> [f64; 2] {
        let reach = self.reach * error;
        [value - reach, value + reach].map(|end| end.clamp(low, high))
    }
}

/// The 95 % point of Student's law for 20 runs.
const OF_RUNS: f64 = 2.1;
/// And of the normal law, for errors that are known.
pub(crate) const OF_NOISE: f64 = 1.96;

/// So many standard errors a count is above 0 where noise does not explain it. More than an interval reaches: a plan puts its centres
/// where the noise of many places is highest.
const CLEAR: f64 = 4.5;

/// How often a centre must be found again to be one.
const FOUND: f64 = 0.9;

/// What a run is off at one centre: along the axes, and in the count.
#[derive(Clone, Debug)]
pub(crate) struct Off {
    at: Vec<f64>,
    count: f64,
}

/// What one run is off at each released centre; `None` where it did not find the centre.
pub(crate) type Run = Vec<Option<Off>>;

/// From each centre to the next, or this much if there is none so close.
pub(crate) fn gaps(centres: PointsView<'_>, widest: f64) -> Vec<f64> {
    let gap = |(i, a): (usize, &[f64])| {
        let others = centres.rows().enumerate().filter(|(j, _)| i != *j);
        let squared =
            others.map(|(_, b)| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>());
        squared.fold(f64::INFINITY, f64::min).sqrt().min(widest)
    };
    centres.rows().enumerate().map(gap).collect()
}

const ALIKE: &str = "made-up points have the dimension of the centres";

/// What a run on made-up points is off: for each released centre, how far the nearest one of the run is from the points nearest to that. Each
/// point stands for so many.
pub(crate) fn one_run(
    points: PointsView<'_>,
    stands_for: impl Fn(usize) -> f64,
    (there, said): (PointsView<'_>, &[i64]),
    centres: PointsView<'_>,
    gaps: &[f64],
) -> Run {
    let dim = centres.dim();
    let (mut sums, mut counts) = (vec![0.0; there.len() * dim], vec![0.0; there.len()]);
    let own = nearest(points, there).expect(ALIKE).labels;
    for (number, (point, label)) in points.rows().zip(own).enumerate() {
        let (label, weight) = (label as usize, stands_for(number));
        counts[label] += weight;
        sums[label * dim..][..dim].iter_mut().zip(point).for_each(|(sum, x)| *sum += weight * x);
    }
    let back = nearest(centres, there).expect(ALIKE);
    let close = back.labels.iter().zip(&back.squared_distances).zip(gaps);
    close
        .map(|((label, squared), gap)| {
            let label = *label as usize;
            let found = squared.sqrt() <= gap / 2.0 && counts.get(label).is_some_and(|n| *n > 0.0);
            found.then(|| {
                let points = counts[label];
                let off = |(x, sum): (&f64, &f64)| x - sum / points;
                let at = there[label].iter().zip(&sums[label * dim..]).map(off).collect();
                Off { at, count: said[label] as f64 - points }
            })
        })
        .collect()
}

/// Root mean squares over all runs, times `scale` along the axes. Infinite where a centre was seldom found again.
pub(crate) fn summary(runs: &[Run], released: &[i64], dim: usize, scale: f64) -> Vec<CentreError> {
    let centre = |(centre, count): (usize, &i64)| {
        let found: Vec<_> = runs.iter().filter_map(|run| run[centre].as_ref()).collect();
        let root = |of: &dyn Fn(&Off) -> f64| {
            let sum: f64 = found.iter().map(|off| of(off).powi(2)).sum();
            (sum / found.len() as f64).sqrt()
        };
        if found.is_empty() || (found.len() as f64) < FOUND * runs.len() as f64 {
            return CentreError {
                at: vec![f64::INFINITY; dim],
                count: f64::INFINITY,
                reach: OF_RUNS,
                signal: false,
            };
        }
        let error = root(&|off| off.count);
        CentreError {
            at: (0..dim).map(|axis| scale * root(&|off| off.at[axis])).collect(),
            count: error,
            reach: OF_RUNS,
            signal: *count as f64 > CLEAR * error,
        }
    };
    released.iter().enumerate().map(centre).collect()
}

#[cfg(test)]
mod tests {
    use super::{gaps, one_run, summary};
    use dp_cluster::Points;

    fn points(coords: &[f64]) -> Points {
        Points::new(coords.to_vec(), 1).unwrap()
    }

    #[test]
    fn errors_are_from_the_points_nearest_and_a_centre_that_is_lost_has_no_signal() {
        let (data, centres) = (points(&[0.0, 0.2, 4.0, 4.2]), points(&[0.0, 4.0, 9.0]));
        let gaps = gaps(centres.view(), 10.0);
        assert_eq!(gaps, [4.0, 4.0, 5.0]);
        let found = points(&[0.3, 4.1]);
        let run = one_run(data.view(), |_| 1.0, (found.view(), &[5, 2]), centres.view(), &gaps);
        let runs = [run];
        let errors = summary(&runs, &[14, 5, 5], 1, 1.0);
        assert!((errors[0].at[0] - 0.2).abs() < 1e-9 && (errors[0].count - 3.0).abs() < 1e-9);
        assert!(errors[0].signal && errors[1].at[0] < 1e-9 && errors[1].signal);
        assert!(!errors[2].signal && errors[2].count.is_infinite());
        let three_errors = &summary(&runs, &[9, 5, 5], 1, 1.0)[0];
        assert!(!three_errors.signal, "the highest of many noises is that high");
        assert!(summary(&[], &[5], 1, 1.0)[0].count.is_infinite(), "no run says nothing");
    }
}
