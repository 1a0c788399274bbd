//! The point with the least weighted sum of distances.

use dp_geometry::PointsView;

use crate::ClusterError;
use crate::kmeans::data::WeightedPoints;
use crate::nearest::squared_distance;

/// A geometric median with the proof of how good it is.
#[derive(Clone, Debug, PartialEq)]
pub struct GeometricMedian {
    /// The point.
    pub centre: Vec<f64>,
    /// `sum w |x - centre|`.
    pub cost: f64,
    /// The smallest norm of a subgradient at the centre, as a share of the total weight: the cost is
    /// above its minimum by at most this times the total weight times the distance to a minimiser.
    pub certificate: f64,
    /// Weiszfeld steps that were made.
    pub iterations: usize,
}

/// Steps are over when they are below this share of the spread, or the certificate is.
const PRECISION: f64 = 1e-9;

/// The point with the least weighted sum of distances. **Not private.**
///
/// In one dimension it is exact: the smallest point up to which there is at least half of the
/// weight. Otherwise by Weiszfeld's iteration, with Vardi and Zhang's step at points of the data,
/// which makes it converge from everywhere; it stops at a certificate of `1e-9` or after
/// `max_iterations`, and which it was can be read off the result. Without points it is the origin.
///
/// # Errors
/// [`ClusterError::WeightsLength`], [`ClusterError::Weight`] or [`ClusterError::Coordinate`].
///
/// # Source
/// Weiszfeld (1937); Vardi and Zhang (2000).
pub fn exact_geometric_median(
    points: PointsView<'_>,
    weights: Option<&[f64]>,
    max_iterations: usize,
) -> Result<GeometricMedian, ClusterError> {
    let data = WeightedPoints::new(points, weights)?;
    let members: Vec<usize> = (0..data.points().len()).collect();
    Ok(median_of(&data, &members, max_iterations))
}

/// The median of some of the points.
pub(super) fn median_of(
    data: &WeightedPoints<'_>,
    members: &[usize],
    max_iterations: usize,
) -> GeometricMedian {
    let dim = data.points().dim();
    if members.is_empty() {
        return GeometricMedian {
            centre: vec![0.0; dim],
            cost: 0.0,
            certificate: 0.0,
            iterations: 0,
        };
    }
    if dim == 1 {
        return on_a_line(data, members);
    }
    let mut at = best_start(data, members);
    let mut step = Step::at(data, members, &at);
    let mut iterations = 0;
    while iterations < max_iterations && step.certificate > PRECISION {
        // The step never raises the cost but for rounding, which ends the search.
        let next = Step::at(data, members, &step.next);
        if next.cost >= step.cost {
            break;
        }
        at.copy_from_slice(&step.next);
        step = next;
        iterations += 1;
    }
    GeometricMedian { centre: at, cost: step.cost, certificate: step.certificate, iterations }
}

/// The weighted mean or the data point nearest to it, whichever costs less: at a heavy point the
/// iteration would only crawl towards it.
fn best_start(data: &WeightedPoints<'_>, members: &[usize]) -> Vec<f64> {
    let points = data.points();
    let total: f64 = members.iter().map(|&i| data.weight(i)).sum();
    let first = &points[members[0]];
    let mut mean = first.to_vec();
    for &i in members {
        for ((m, x), f) in mean.iter_mut().zip(&points[i]).zip(first) {
            *m += data.weight(i) / total * (x - f);
        }
    }
    let heaviest =
        members.iter().copied().max_by(|&a, &b| data.weight(a).total_cmp(&data.weight(b)));
    let nearest = members.iter().copied().min_by(|&a, &b| {
        let far = |i| squared_distance(&points[i], &mean);
        far(a).total_cmp(&far(b))
    });
    let mut best = (cost(data, members, &mean), mean.clone());
    for i in heaviest.into_iter().chain(nearest) {
        let there = cost(data, members, &points[i]);
        if there < best.0 {
            best = (there, points[i].to_vec());
        }
    }
    best.1
}

fn cost(data: &WeightedPoints<'_>, members: &[usize], at: &[f64]) -> f64 {
    let far = |&i: &usize| data.weight(i) * squared_distance(&data.points()[i], at).sqrt();
    members.iter().map(far).sum()
}

/// What one look at all members says about a place.
struct Step {
    cost: f64,
    certificate: f64,
    next: Vec<f64>,
}

impl Step {
    fn at(data: &WeightedPoints<'_>, members: &[usize], at: &[f64]) -> Self {
        let dim = at.len();
        let (mut cost, mut total, mut here, mut pull) = (0.0, 0.0, 0.0, 0.0);
        // `sum w (x - at) / |x - at|`, the direction of descent: small near the median.
        let mut force = vec![0.0; dim];
        for &i in members {
            let (row, weight) = (&data.points()[i], data.weight(i));
            let distance = squared_distance(row, at).sqrt();
            total += weight;
            cost += weight * distance;
            if distance == 0.0 {
                here += weight;
            } else {
                pull += weight / distance;
                for (f, (x, a)) in force.iter_mut().zip(row.iter().zip(at)) {
                    *f += weight / distance * (x - a);
                }
            }
        }
        let norm = force.iter().map(|f| f * f).sum::<f64>().sqrt();
        let excess = (norm - here).max(0.0);
        // Weiszfeld's step is force / pull; the weight here holds it back by its share.
        let factor = if norm > 0.0 && pull > 0.0 { excess / norm / pull } else { 0.0 };
        let next = at.iter().zip(&force).map(|(a, f)| a + factor * f).collect();
        Self { cost, certificate: excess / total, next }
    }
}

fn on_a_line(data: &WeightedPoints<'_>, members: &[usize]) -> GeometricMedian {
    let mut sorted: Vec<(f64, f64)> =
        members.iter().map(|&i| (data.points()[i][0], data.weight(i))).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * sorted.iter().map(|point| point.1).sum::<f64>();
    let mut seen = 0.0;
    let at = sorted.iter().find(|point| {
        seen += point.1;
        seen >= half
    });
    // Rounding can leave `seen` a little short of the whole.
    let centre = vec![at.or(sorted.last()).expect("there are members").0];
    let cost = cost(data, members, &centre);
    GeometricMedian { centre, cost, certificate: 0.0, iterations: 0 }
}
