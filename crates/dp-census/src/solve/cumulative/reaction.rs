use super::pool::Piece;
use super::precondition::Outline;

/// How isotonic fits react to their targets: each piece moves by the average over it.
#[derive(Debug, Clone, Default)]
pub(super) struct Reaction {
    /// Number of pieces of length one at each bin.
    single: Vec<f64>,
    /// The other pieces.
    long: Vec<(u32, u32)>,
}

/// Buffers of [`Reaction::add_to`].
#[derive(Debug)]
pub(super) struct Scratch {
    prefix: Vec<f64>,
    steps: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(bins: usize) -> Self {
        Self { prefix: vec![0.0; bins + 1], steps: vec![0.0; bins + 1] }
    }
}

impl Reaction {
    /// Forgets all pieces and keeps the memory.
    pub(super) fn clear(&mut self, bins: usize) {
        self.single.clear();
        self.single.resize(bins, 0.0);
        self.long.clear();
    }

    pub(super) fn push(&mut self, piece: &Piece) {
        if piece.len == 1 {
            self.single[piece.start as usize] += 1.0;
        } else {
            self.long.push((piece.start, piece.end()));
        }
    }

    /// The first `bins` react each for itself.
    pub(super) fn free(&mut self, bins: usize) {
        self.single[..bins].fill(1.0);
    }

    /// Adds the averages of `row` over each piece, times `factor`.
    pub(super) fn add_to(&self, out: &mut [f64], row: &[f64], factor: f64, scratch: &mut Scratch) {
        let cells = out.iter_mut().zip(row).zip(&self.single);
        cells.for_each(|((out, value), single)| *out += factor * single * value);
        if self.long.is_empty() {
            return;
        }
        let mut sum = 0.0;
        for (after, value) in scratch.prefix[1..].iter_mut().zip(row) {
            sum += value;
            *after = sum;
        }
        scratch.steps.fill(0.0);
        for &(start, end) in &self.long {
            let sum = scratch.prefix[end as usize] - scratch.prefix[start as usize];
            let mean = sum / f64::from(end - start);
            scratch.steps[start as usize] += mean;
            scratch.steps[end as usize] -= mean;
        }
        let mut sum = 0.0;
        for (out, step) in out.iter_mut().zip(&scratch.steps) {
            sum += step;
            *out += factor * sum;
        }
    }

    /// Adds row sums and diagonal, times `factor`.
    pub(super) fn add_outline(&self, outline: &mut Outline, factor: f64) {
        let mut steps = vec![(0.0, 0.0); self.single.len() + 1];
        for &(start, end) in &self.long {
            let share = 1.0 / f64::from(end - start);
            for (bin, sign) in [(start, 1.0), (end, -1.0)] {
                let step = &mut steps[bin as usize];
                step.0 += sign;
                step.1 += sign * share;
            }
        }
        let (mut covers, mut shares): (f64, f64) = (0.0, 0.0);
        for (bin, (single, step)) in self.single.iter().zip(steps).enumerate() {
            covers += step.0;
            shares += step.1;
            outline.sums[bin] += factor * (single + covers);
            outline.diagonal[bin] += factor * (single + shares.max(0.0));
        }
    }
}
