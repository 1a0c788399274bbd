use super::precondition::Outline;

/// Rows that hardly react resist by this much at most, in units of leaves.
const LEAST_REACTION: f64 = 1e-12;

/// A symmetric tridiagonal matrix: a chain of bins with resistances.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// From each bin to the ground.
    ground: Vec<f64>,
    /// From each bin to the next; 0 at the end.
    next: Vec<f64>,
}

/// Triangular factors of a chain.
#[derive(Debug)]
pub(super) struct Factors {
    cells: Vec<Factor>,
}

#[derive(Debug, Clone, Copy)]
struct Factor {
    /// Below the diagonal, to the bin before and from the bin after.
    before: f64,
    after: f64,
    inverse_pivot: f64,
}

impl Chain {
    /// The chain whose inverse has these row sums and this diagonal, if they are the same at all bins.
    pub(super) fn inverse_of(outline: &Outline) -> Self {
        let sums: Vec<f64> = outline.sums.iter().map(|sum| sum.max(LEAST_REACTION)).collect();
        let lengths: Vec<f64> = sums
            .iter()
            .zip(&outline.diagonal)
            .map(|(sum, own)| (sum / own.max(LEAST_REACTION)).max(1.0))
            .collect();
        let pairs = sums.windows(2).zip(lengths.windows(2));
        let next = pairs
            .map(|(sums, lengths)| (lengths[0] * lengths[1] - 1.0) / (4.0 * sums[0].max(sums[1])));
        let next = next.chain([0.0]).collect();
        Self { ground: sums.iter().map(|sum| 1.0 / sum).collect(), next }
    }

    /// In series.
    pub(super) fn add(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        add(&mut self.ground, &other.ground);
        add(&mut self.next, &other.next);
    }

    /// Adds row sums and diagonal of the inverse, as if the chain were the same at all bins.
    pub(super) fn add_inverse_to(&self, outline: &mut Outline) {
        let mut before = self.next[0];
        for (bin, (ground, &next)) in self.ground.iter().zip(&self.next).enumerate() {
            outline.sums[bin] += 1.0 / ground;
            let between = if bin + 1 < self.next.len() { (before * next).sqrt() } else { before };
            outline.diagonal[bin] += 1.0 / (ground * (ground + 4.0 * between)).sqrt();
            before = next;
        }
    }

    /// The product with a row.
    pub(super) fn times(&self, row: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.add_times(row, out);
    }

    pub(super) fn add_times(&self, row: &[f64], out: &mut [f64]) {
        let cells = out.iter_mut().zip(row).zip(&self.ground);
        cells.for_each(|((out, value), ground)| *out += ground * value);
        let mut before = 0.0;
        let pairs = row.windows(2).zip(&self.next);
        for (out, (pair, next)) in out.iter_mut().zip(pairs) {
            let flow = next * (pair[0] - pair[1]);
            *out += flow - before;
            before = flow;
        }
        if let Some(last) = out.last_mut() {
            *last -= before;
        }
    }

    pub(super) fn factors(&self) -> Factors {
        let (mut cells, mut before) = (Vec::<Factor>::with_capacity(self.next.len()), 0.0);
        for (&ground, &next) in self.ground.iter().zip(&self.next) {
            let factor = cells.last().map_or(0.0, |last| last.after);
            // Less what the bins before have taken away: nothing cancels.
            let pivot = ground + next + before;
            let inverse_pivot = 1.0 / pivot;
            let after = -next * inverse_pivot;
            cells.push(Factor { before: factor, after, inverse_pivot });
            before = next * (ground + before) * inverse_pivot;
        }
        Factors { cells }
    }
}

impl Factors {
    /// Solves for some rows in place, side by side.
    pub(super) fn solve<const N: usize>(factors: [&Self; N], rows: [&mut [f64]; N]) {
        let bins = rows[0].len();
        let cells = factors.map(|factors| &factors.cells[..bins]);
        let rows = rows.map(|row| &mut row[..bins]);
        let mut last = [0.0; N];
        for bin in 0..bins {
            for i in 0..N {
                let cell = &cells[i][bin];
                last[i] = rows[i][bin] - cell.before * last[i];
                rows[i][bin] = last[i] * cell.inverse_pivot;
            }
        }
        let mut last = [0.0; N];
        for bin in (0..bins).rev() {
            for i in 0..N {
                last[i] = rows[i][bin] - cells[i][bin].after * last[i];
                rows[i][bin] = last[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_solve_what_the_chain_multiplies() {
        let chain = Chain { ground: vec![1.0, 1e-9, 3.0, 1e9], next: vec![2.0, 5.0, 1e6, 0.0] };
        let row = [1.0, -2.0, 3.0, 0.5];
        let mut product = [0.0; 4];
        chain.times(&row, &mut product);
        Factors::solve([&chain.factors()], [&mut product]);
        assert!(product.iter().zip(&row).all(|(a, b)| (a - b).abs() < 1e-6), "{product:?}");
    }

    /// Row sums and diagonal of a long uniform chain's inverse give the chain back.
    #[test]
    fn a_uniform_chain_is_known_by_its_inverse() {
        let bins = 200;
        let chain = Chain { ground: vec![0.1; bins], next: vec![2.0; bins] };
        let factors =
            Chain { next: [vec![2.0; bins - 1], vec![0.0]].concat(), ..chain.clone() }.factors();
        let solved = |mut row: Vec<f64>| {
            Factors::solve([&factors], [&mut row]);
            row[bins / 2]
        };
        let mut unit = vec![0.0; bins];
        unit[bins / 2] = 1.0;
        let mut outline = Outline::constant(0.0, bins);
        chain.add_inverse_to(&mut outline);
        let (sum, own) = (solved(vec![1.0; bins]), solved(unit));
        assert!((outline.sums[bins / 2] - sum).abs() < 1e-9, "{sum}");
        assert!((outline.diagonal[bins / 2] - own).abs() < 1e-9, "{own}");
        let again = Chain::inverse_of(&outline);
        assert!((again.ground[7] - 0.1).abs() < 1e-12 && (again.next[7] - 2.0).abs() < 1e-9);
    }
}
