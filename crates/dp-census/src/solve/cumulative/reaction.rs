use super::precondition::Outline;

/// How isotonic fits react to their targets: each piece moves by the average over it.
#[derive(Debug, Clone, Default)]
pub(super) struct Reaction {
    /// Number of pieces of length one at each bin.
    single: Vec<f64>,
    /// The other pieces.
    long: Vec<Long>,
}

/// Pieces with the same bins.
#[derive(Debug, Clone, Copy)]
struct Long {
    start: u32,
    end: u32,
    /// Their number over their length.
    share: f64,
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

    /// Adds `count` pieces with the same bins.
    pub(super) fn push(&mut self, start: u32, end: u32, count: f64) {
        if end == start + 1 {
            self.single[start as usize] += count;
        } else {
            self.long.push(Long { start, end, share: count / f64::from(end - start) });
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
        for &Long { start, end, share } in &self.long {
            let sum = scratch.prefix[end as usize] - scratch.prefix[start as usize];
            scratch.steps[start as usize] += sum * share;
            scratch.steps[end as usize] -= sum * share;
        }
        let mut sum = 0.0;
        for (out, step) in out.iter_mut().zip(&scratch.steps) {
            sum += step;
            *out += factor * sum;
        }
    }

    /// Adds row sums and diagonal, times `factor`.
    pub(super) fn add_outline(&self, outline: &mut [Outline], factor: f64, scratch: &mut Scratch) {
        let Scratch { prefix: covers, steps: shares } = scratch;
        covers.fill(0.0);
        shares.fill(0.0);
        for &Long { start, end, share } in &self.long {
            let count = share * f64::from(end - start);
            covers[start as usize] += count;
            covers[end as usize] -= count;
            shares[start as usize] += share;
            shares[end as usize] -= share;
        }
        let (mut cover, mut own): (f64, f64) = (0.0, 0.0);
        let steps = covers.iter().zip(shares);
        for ((outline, single), (more, share)) in outline.iter_mut().zip(&self.single).zip(steps) {
            cover += more;
            own += *share;
            outline.sum += factor * (single + cover.max(0.0));
            outline.diagonal += factor * (single + own.max(0.0));
        }
    }
}
