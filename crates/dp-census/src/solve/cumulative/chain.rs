//! Symmetric tridiagonal matrices as chains of resistances, stored row after row.

use super::precondition::Outline;

/// What hardly reacts is taken to react by this much, in units of leaves.
const LEAST_REACTION: f64 = 1e-12;

/// A bin of a chain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Link {
    /// Resistance to the ground.
    ground: f64,
    /// To the next bin; 0 at the end.
    next: f64,
}

/// A bin of the triangular factors of a chain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Factor {
    /// Off the diagonal, to the bin before and to the bin after.
    before: f64,
    after: f64,
    inverse_pivot: f64,
}

/// The chain whose inverse has these row sums and this diagonal, if they are the same at all bins.
pub(super) fn inverse_of(outline: &[Outline], chain: &mut [Link]) {
    let length = |sum: f64, own: f64| (sum / own.max(LEAST_REACTION)).max(1.0);
    let mut before = (f64::INFINITY, 1.0);
    for bin in (0..outline.len()).rev() {
        let sum = outline[bin].sum.max(LEAST_REACTION);
        let length = length(sum, outline[bin].diagonal);
        let next = (length * before.1 - 1.0) / (4.0 * sum.max(before.0));
        chain[bin] = Link { ground: 1.0 / sum, next };
        before = (sum, length);
    }
}

pub(super) fn in_series(left: &[Link], right: &[Link], sum: &mut [Link]) {
    for (sum, (left, right)) in sum.iter_mut().zip(left.iter().zip(right)) {
        *sum = Link { ground: left.ground + right.ground, next: left.next + right.next };
    }
}

/// Adds row sums and diagonal of the inverse, as if the chain were the same at all bins.
pub(super) fn add_inverse(chain: &[Link], outline: &mut [Outline]) {
    let mut before = chain[0].next;
    let last = chain.len() - 1;
    for (bin, (&Link { ground, next }, outline)) in chain.iter().zip(outline).enumerate() {
        let between = if bin < last { (before * next).sqrt() } else { before };
        outline.sum += 1.0 / ground;
        outline.diagonal += 1.0 / (ground * (ground + 4.0 * between)).sqrt();
        before = next;
    }
}

/// The products with some rows.
pub(super) fn times(chains: &[Link], bins: usize, rows: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    add_times(chains, bins, rows, out);
}

pub(super) fn add_times(chains: &[Link], bins: usize, rows: &[f64], out: &mut [f64]) {
    let rows = rows.chunks_exact(bins).zip(out.chunks_exact_mut(bins));
    for (chain, (row, out)) in chains.chunks_exact(bins).zip(rows) {
        let mut before = 0.0;
        let after = row[1..].iter().chain(&[0.0]);
        for (((out, link), value), after) in out.iter_mut().zip(chain).zip(row).zip(after) {
            let flow = link.next * (value - after);
            *out += link.ground * value + flow - before;
            before = flow;
        }
    }
}

pub(super) fn factorise(chain: &[Link], factors: &mut [Factor]) {
    let (mut rest, mut before) = (0.0, 0.0);
    for (&Link { ground, next }, factor) in chain.iter().zip(factors) {
        let inverse_pivot = 1.0 / (ground + next + rest);
        let after = -next * inverse_pivot;
        *factor = Factor { before, after, inverse_pivot };
        // What is left of the link once this bin is eliminated: two in series, so that nothing cancels.
        rest = next * (ground + rest) * inverse_pivot;
        before = after;
    }
}

/// Solves for some rows in place, side by side: each is a sequence of dependent operations, so that several take as long as one.
pub(super) fn solve<const N: usize>(nodes: [(&[Factor], &mut [f64]); N]) {
    let bins = nodes[0].1.len();
    let mut nodes = nodes.map(|(factors, row)| (&factors[..bins], &mut row[..bins]));
    let mut last = [0.0; N];
    for bin in 0..bins {
        for (last, (factors, row)) in last.iter_mut().zip(&mut nodes) {
            *last = row[bin] - factors[bin].before * *last;
            row[bin] = *last * factors[bin].inverse_pivot;
        }
    }
    let mut last = [0.0; N];
    for bin in (0..bins).rev() {
        for (last, (factors, row)) in last.iter_mut().zip(&mut nodes) {
            *last = row[bin] - factors[bin].after * *last;
            row[bin] = *last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    fn factors(chain: &[Link]) -> Vec<Factor> {
        let mut factors = vec![Factor::default(); chain.len()];
        factorise(chain, &mut factors);
        factors
    }

    #[test]
    fn factors_solve_what_the_chain_multiplies() {
        let link = |ground, next| Link { ground, next };
        let chain = [link(1.0, 2.0), link(1e-9, 5.0), link(3.0, 1e6), link(1e9, 0.0)];
        let row = [1.0, -2.0, 3.0, 0.5];
        let mut product = [0.0; 4];
        times(&chain, 4, &row, &mut product);
        solve([(&factors(&chain), &mut product)]);
        assert!(product.iter().zip(&row).all(|(a, b)| (a - b).abs() < 1e-6), "{product:?}");
    }

    /// Row sums and diagonal of a long uniform chain's inverse give the chain back.
    #[test]
    fn a_uniform_chain_is_known_by_its_inverse() {
        let bins = 200;
        let mut chain = vec![Link { ground: 0.1, next: 2.0 }; bins];
        chain[bins - 1].next = 0.0;
        let factors = factors(&chain);
        let solved = |mut row: Vec<f64>| {
            solve([(&factors, &mut row)]);
            row[bins / 2]
        };
        let mut unit = vec![0.0; bins];
        unit[bins / 2] = 1.0;
        let mut outline = vec![Outline::default(); bins];
        add_inverse(&chain, &mut outline);
        let (sum, own) = (solved(vec![1.0; bins]), solved(unit));
        assert_abs_diff_eq!(outline[bins / 2].sum, sum, epsilon = 1e-9);
        assert_abs_diff_eq!(outline[bins / 2].diagonal, own, epsilon = 1e-9);
        let mut again = vec![Link::default(); bins];
        inverse_of(&outline, &mut again);
        assert!((again[7].ground - 0.1).abs() < 1e-12 && (again[7].next - 2.0).abs() < 1e-9);
    }
}
