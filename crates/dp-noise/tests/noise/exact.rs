//! A tape that walks every path of a sampler, and interval arithmetic to compare with.

use std::any::Any;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use dp_noise::Bits;

/// Probability one, in fixed point. Products of two intervals stay below 2^128.
pub(crate) const ONE: u128 = 1 << 62;

/// The law found: lower bounds of the probability of every output, and the mass not attributed.
pub(crate) struct Law<T> {
    pub(crate) found: BTreeMap<T, u128>,
    pub(crate) unresolved: u128,
}

impl<T> Law<T> {
    pub(crate) fn unresolved_share(&self) -> f64 {
        self.unresolved as f64 / ONE as f64
    }
}

/// A source that replays a path of choices and extends it by first choices. A word branches
/// `2^W` ways: short enough to try them all.
pub(crate) struct Tape<const W: u32 = 4> {
    path: Vec<Branching>,
    position: usize,
    floor: u128,
}

struct Branching {
    /// The possible results of this draw, a `Vec<T>` of the type drawn.
    results: Box<dyn Any>,
    /// Lower bounds of their probabilities, in units of `1 / ONE`.
    shares: Vec<u128>,
    choice: usize,
    /// Probability of having come to this draw, rounded down.
    before: u128,
}

impl Branching {
    fn mass(&self) -> u128 {
        self.before * self.shares[self.choice] / ONE
    }
}

/// Thrown through the sampler when a branch is too unlikely to follow.
struct Pruned;

impl<const W: u32> Tape<W> {
    fn new(floor: u128) -> Self {
        Self { path: Vec::new(), position: 0, floor }
    }

    fn mass(&self) -> u128 {
        self.path.last().map_or(ONE, Branching::mass)
    }

    /// The result of the next draw: as on the path, or the first of `law` beyond its end.
    fn branch<T: Clone + 'static>(&mut self, law: impl FnOnce(u128) -> (Vec<T>, Vec<u128>)) -> T {
        if self.position == self.path.len() {
            let (results, shares) = law(self.floor);
            let before = self.mass();
            self.path.push(Branching { results: Box::new(results), shares, choice: 0, before });
        }
        let here = &self.path[self.position];
        self.position += 1;
        if here.mass() < self.floor {
            resume_unwind(Box::new(Pruned));
        }
        here.results.downcast_ref::<Vec<T>>().expect("replayed in order")[here.choice].clone()
    }

    /// Every path of `sampler`, with its mass; the tape is at its start again afterwards. Compiled once for a type of output: there are hundreds of samplers.
    fn walk<T>(mut self, sampler: &dyn Fn(&mut Self) -> T, visit: &mut dyn FnMut(T, u128)) {
        loop {
            self.position = 0;
            match catch_unwind(AssertUnwindSafe(|| sampler(&mut self))) {
                Ok(output) => visit(output, self.mass()),
                Err(thrown) if thrown.is::<Pruned>() => {}
                Err(bug) => resume_unwind(bug),
            }
            // Step to the next path: drop what is exhausted, advance what is left.
            while self.path.last().is_some_and(|last| last.choice + 1 == last.shares.len()) {
                self.path.pop();
            }
            match self.path.last_mut() {
                Some(last) => last.choice += 1,
                None => return,
            }
        }
    }
}

impl<const W: u32> Bits for Tape<W> {
    const WORD_BITS: u32 = W;

    fn word(&mut self) -> u64 {
        self.branch(|_| ((0..1 << W).collect(), vec![ONE >> W; 1 << W]))
    }

    fn below(&mut self, n: NonZero<u128>) -> u128 {
        let n = n.get();
        if n == 1 {
            return 0;
        }
        self.branch(|_| ((0..n).collect(), (0..n).map(|_| ONE / n).collect()))
    }

    fn retry<T: Ord + Clone + 'static>(&mut self, round: impl Fn(&mut Self) -> Option<T>) -> T {
        self.branch(|floor| {
            let law = law_of(Self::new(floor), &round);
            // Given acceptance: what is not attributed might all be accepted, hence lower bounds.
            let rejected = law.found.get(&None).copied().unwrap_or(0);
            let accepted = law.found.into_iter().filter_map(|(x, mass)| Some((x?, mass)));
            accepted.map(|(x, mass)| (x, mass * ONE / (ONE - rejected))).unzip()
        })
    }
}

fn law_of<T: Ord, const W: u32>(tape: Tape<W>, sampler: &dyn Fn(&mut Tape<W>) -> T) -> Law<T> {
    let mut law = Law { found: BTreeMap::new(), unresolved: ONE };
    tape.walk(sampler, &mut |output, mass| {
        *law.found.entry(output).or_insert(0) += mass;
        law.unresolved -= mass;
    });
    law
}

/// Runs `sampler` over every path of probability at least `2^-cut`.
pub(crate) fn enumerate<T: Ord, const W: u32>(
    cut: u32,
    sampler: impl Fn(&mut Tape<W>) -> T,
) -> Law<T> {
    law_of(Tape::new(ONE >> cut), &sampler)
}

/// A number in `[0, 4)` known to lie between `low` and `high`, in units of `1 / ONE`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) low: u128,
    pub(crate) high: u128,
}

impl Interval {
    pub(crate) fn ratio(a: u128, b: u128) -> Self {
        Self { low: a * ONE / b, high: (a * ONE).div_ceil(b) }
    }

    pub(crate) fn complement(self) -> Self {
        Self { low: ONE - self.high.min(ONE), high: ONE - self.low }
    }

    pub(crate) fn plus_one(self) -> Self {
        Self { low: ONE + self.low, high: ONE + self.high }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self { low: self.low * other.low / ONE, high: (self.high * other.high).div_ceil(ONE) }
    }

    pub(crate) fn divided_by(self, other: Self) -> Self {
        Self { low: self.low * ONE / other.high, high: (self.high * ONE).div_ceil(other.low) }
    }
}

/// `exp(-a/b)`: whole powers of `exp(-1)`, then the alternating series of the fraction.
pub(crate) fn exp_minus(a: u128, b: u128) -> Interval {
    let mut result = series(a % b, b);
    for _ in 0..(a / b).min(80) {
        result = result.times(series(1, 1));
    }
    result
}

/// `sum (-1)^k x^k / k!` for `x = a/b <= 1`; partial sums enclose the limit, and the rounding of
/// each of the 24 terms is at most two units.
fn series(a: u128, b: u128) -> Interval {
    let (mut term, mut sum) = (ONE, ONE);
    for k in 1..=24 {
        term = term * a / (b * k);
        sum = if k % 2 == 1 { sum - term } else { sum + term };
    }
    Interval { low: sum.saturating_sub(64), high: sum + 64 }
}
