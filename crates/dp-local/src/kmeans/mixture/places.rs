//! Where a histogram looks most like one more cluster.

use super::shape::Axis;
use super::squares::NARROWEST;
use super::{Cluster, Mixture, Noisy};

/// Widths that are tried, in cells.
const WIDTHS: [f64; 4] = [0.25, 0.5, 1.0, 2.0];
/// Places are tried at middles and edges of cells if there are no more cells than this, at their middles otherwise.
const MOST_WITH_EDGES: usize = 1 << 16;

impl Noisy<'_> {
    /// The cluster that explains most of what a mixture leaves, and by how many standard deviations of noise; none if nothing is above zero.
    pub(super) fn best_place(&self, mixture: &Mixture) -> Option<(Cluster, f64)> {
        let left: Vec<Vec<f64>> = self.views.iter().map(|view| view.residual(mixture)).collect();
        let widest = (0.25 * self.cells as f64).max(NARROWEST);
        let mut best: Option<(Cluster, f64)> = None;
        for width in WIDTHS.into_iter().filter(|width| *width <= widest) {
            if let Some((cluster, score)) = self.best_of_width(&left, width)
                && best.as_ref().is_none_or(|(_, most)| score > *most)
            {
                best = Some((cluster, score));
            }
        }
        best
    }

    fn best_of_width(&self, left: &[Vec<f64>], width: f64) -> Option<(Cluster, f64)> {
        let axes = self.axes;
        let cells = self.cells.pow(u32::try_from(axes).expect("few axes"));
        let places: Vec<f64> = if cells <= MOST_WITH_EDGES {
            (1..2 * self.cells).map(|half| 0.5 * half as f64).collect()
        } else {
            (0..self.cells).map(|cell| cell as f64 + 0.5).collect()
        };
        // Of each place: its inner product with what is left, and with itself.
        let mut products = vec![(0.0, 0.0); places.len().pow(u32::try_from(axes).expect("few"))];
        for (view, left) in self.views.iter().zip(left) {
            let kernels: Vec<Axis> =
                places.iter().map(|&at| Axis::new(view.cells, at + view.shift, width)).collect();
            let squares: Vec<f64> =
                kernels.iter().map(|axis| axis.rows[0].iter().map(|x| x * x).sum()).collect();
            // Along one axis after the other, each of which becomes the slowest in turn.
            let (mut values, mut own) = (left.clone(), vec![1.0]);
            for _ in 0..axes {
                let mut next = Vec::with_capacity(places.len() * (values.len() / view.cells));
                for kernel in &kernels {
                    let lines = values.chunks_exact(view.cells).map(|line| {
                        let line = &line[kernel.first..];
                        line.iter().zip(&kernel.rows[0]).map(|(x, share)| x * share).sum::<f64>()
                    });
                    next.extend(lines);
                }
                values = next;
                own = squares.iter().flat_map(|one| own.iter().map(move |x| x * one)).collect();
            }
            let precision = 1.0 / (view.sd * view.sd);
            for ((seen, square), (value, own)) in products.iter_mut().zip(values.iter().zip(&own)) {
                *seen += value * precision;
                *square += own * precision;
            }
        }
        let score = |(seen, square): (f64, f64)| seen / square.sqrt();
        let (mut rest, best) = products
            .into_iter()
            .enumerate()
            .max_by(|a, b| score(a.1).total_cmp(&score(b.1)))
            .filter(|(_, best)| best.0 > 0.0)?;
        let along = |_| {
            let at = rest % places.len();
            rest /= places.len();
            places[at]
        };
        let at: Vec<f64> = (0..axes).map(along).collect();
        Some((Cluster::new(at, width, best.0 / best.1), score(best)))
    }
}
