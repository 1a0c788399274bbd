//! The closest nondecreasing row to one in real numbers.

/// Columns from `start` up to the next block, which are level: the weighted sum of their cells, and their weight, that of a cell being one over its variance.
#[derive(Clone, Copy)]
pub(super) struct Block {
    sum: f64,
    pub(super) weight: f64,
    pub(super) start: usize,
}

impl Block {
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.weight
    }
}

/// Pool adjacent violators (Ayer, Brunk, Ewing, Reid, Silverman, 1955): the level blocks of the closest row, in place of those of before. Variances are above 0.
pub(super) fn pool(row: &[f64], variances: &[f64], blocks: &mut Vec<Block>) {
    blocks.clear();
    for (start, (&value, &variance)) in row.iter().zip(variances).enumerate() {
        let mut last = Block { sum: value / variance, weight: 1.0 / variance, start };
        let violates =
            |before: &&Block, last: &Block| before.sum * last.weight >= last.sum * before.weight;
        while let Some(&before) = blocks.last().filter(|before| violates(before, &last)) {
            last = Block {
                sum: last.sum + before.sum,
                weight: last.weight + before.weight,
                start: before.start,
            };
            blocks.pop();
        }
        blocks.push(last);
    }
}
