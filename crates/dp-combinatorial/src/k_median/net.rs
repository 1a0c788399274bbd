//! Points spread over a metric, and the cells around them. Public.

use super::metric::Metric;

/// A farthest-point net: each of its points is as far as possible from those before, the first being the
/// centre of the metric.
pub(super) struct Net {
    /// For every node the nearest point of the net, the first of equal ones.
    pub(super) nearest: Vec<u32>,
}

impl Net {
    /// Nets of so many points each, ascending; fewer if the metric has fewer places. Each contains those
    /// before it.
    pub(super) fn nested(metric: &Metric, sizes: &[usize]) -> Vec<Self> {
        let all: Vec<u32> = (0..u32::try_from(metric.nodes()).expect("ids are u32")).collect();
        let mut point = metric.centre().0;
        let (mut nearest, mut row) = (vec![point; all.len()], Vec::new());
        let mut distances = vec![u32::MAX; all.len()];
        let mut nets = Vec::with_capacity(sizes.len());
        for points in 1..=sizes.last().copied().unwrap_or(0) {
            metric.fill(point, &all, &mut row);
            for ((distance, nearest), &new) in distances.iter_mut().zip(&mut nearest).zip(&row) {
                if new < *distance {
                    (*distance, *nearest) = (new, point);
                }
            }
            let farthest = distances.iter().copied().max().expect("there is a node");
            while sizes.get(nets.len()).is_some_and(|&size| size <= points || farthest == 0) {
                nets.push(Self { nearest: nearest.clone() });
            }
            if farthest == 0 {
                break;
            }
            let at = distances.iter().position(|&d| d == farthest).expect("it was found");
            point = all[at];
        }
        nets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_taken_by_distance_and_cells_are_nearest() {
        // The middle is at 40; then come 100, 0 and 70 (30 away; 11 is 11 away).
        let metric = Metric::from_points(&[0.0, 11.0, 40.0, 70.0, 100.0], 1).unwrap();
        assert_eq!(metric.centre().0, 2);
        let nets = Net::nested(&metric, &[1, 3, 9, 12]);
        let nearest: Vec<&[u32]> = nets.iter().map(|net| net.nearest.as_slice()).collect();
        assert_eq!(nearest, [[2; 5], [0, 0, 2, 2, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]);
        let same = Metric::from_points(&[3.0; 4], 1).unwrap();
        assert_eq!(Net::nested(&same, &[4])[0].nearest, [0; 4]);
        assert!(Net::nested(&same, &[]).is_empty());
    }
}
