//! The multilinear extension, exactly telescoping in integers.
//!
//! At a point `y` of the unit cube, the extension of an objective is its expected value on a random set
//! that holds each element `u` with probability `y_u`. For a record whose elements are ranked by value,
//! `v_1 >= v_2 >= ..`, that is `sum_j (v_j - v_(j+1)) (1 - prod_(l <= j) (1 - y_l))`. Points are kept as
//! integer levels, `y_u = level / steps`; logarithms of `1 - y` are tabulated in integers and added, and
//! a table of `1 - e^(-sum)` that never falls gives the value. Gains are differences of these integer
//! values, so what a record is credited along any path adds up to the last value exactly.

use std::sync::LazyLock;

use super::Objective;

/// An [`Objective`] with an extension to points whose coordinates are multiples of `1 / steps`.
///
/// # Contract
/// As for [`Objective`], with [`level_credit`](Self::level_credit) in the place of `most_credit` and
/// raising an element in the place of picking it.
pub trait Extension: Objective {
    /// The most that one record is credited along a path, in the units of [`LevelGains`]. Public.
    fn level_credit(&self) -> u64;

    /// A path from the origin, over the records kept, in which an element can be raised `steps` times.
    ///
    /// # Panics
    /// If there is not one entry per record.
    fn start_levels(&self, kept: &[bool], steps: u32) -> Box<dyn LevelGains + '_>;
}

/// A point on a path.
pub trait LevelGains {
    /// What raising each element by `1 / steps` would add. Private.
    fn gains(&self) -> &[i64];

    /// Raises an element; without effect if it is at 1.
    fn raise(&mut self, element: usize);
}

/// One record: elements by falling value.
pub(super) struct RankedRecord<'a> {
    pub(super) items: &'a [u32],
    /// Empty if all are `value`.
    pub(super) values: &'a [u32],
    pub(super) value: u32,
}

/// Objectives that give each record the largest value of its chosen elements.
pub(super) trait Ranked: Objective {
    fn record(&self, record: usize) -> RankedRecord<'_>;
    fn records_of(&self, element: usize) -> &[u32];
}

/// A path of an objective whose records rank elements.
pub(super) struct Levels<'a, T> {
    objective: &'a T,
    tables: Tables,
    /// By how many bits values are shortened so that they can be summed over records.
    shift: u32,
    kept: Vec<bool>,
    /// How often each element was raised.
    raised: Vec<usize>,
    gains: Vec<i64>,
    scratch: Vec<Group>,
}

/// Elements of equal value within a record.
#[derive(Clone, Copy)]
struct Group {
    /// One past the last position.
    end: usize,
    /// How much more than the next value theirs is.
    worth: u64,
    /// Sum of logarithms up to here.
    exponent: u64,
}

/// Records are credited less than `2^24`, so that `2^32` of them fit in 56 bits, and so that rates per unit
/// are not too small for the samplers.
const CREDIT_BITS: u32 = 24;

/// What `most_credit`, at most `2^32`, is in units of gains.
pub(super) fn ranked_credit(most_credit: u64) -> u64 {
    (most_credit << Tables::ONE_BITS) >> shift(most_credit)
}

fn shift(most_credit: u64) -> u32 {
    let bits = u64::BITS - (most_credit << Tables::ONE_BITS).leading_zeros();
    bits.saturating_sub(CREDIT_BITS)
}

impl<'a, T: Ranked> Levels<'a, T> {
    pub(super) fn new(objective: &'a T, kept: &[bool], steps: u32) -> Self {
        assert_eq!(kept.len(), objective.records(), "one entry per record");
        let elements = objective.elements();
        let mut levels = Self {
            objective,
            tables: Tables::new(steps),
            shift: shift(objective.most_credit()),
            kept: kept.to_vec(),
            raised: vec![0; elements],
            gains: vec![0; elements],
            scratch: Vec::new(),
        };
        for record in 0..kept.len() {
            levels.count(record, 1);
        }
        levels
    }

    /// Adds what a record contributes to all gains, `sign` times.
    fn count(&mut self, record: usize, sign: i64) {
        if !self.kept[record] {
            return;
        }
        let RankedRecord { items, values, value } = self.objective.record(record);
        let value_at = |i: usize| u64::from(values.get(i).copied().unwrap_or(value));
        let groups = &mut self.scratch;
        groups.clear();
        let mut exponent = 0;
        for (i, &item) in items.iter().enumerate() {
            exponent += self.tables.logs[self.raised[item as usize]];
            let last = i + 1 == items.len();
            let next = if last { 0 } else { value_at(i + 1) };
            // The last group is there even if it is worth nothing, as that of a weight of zero.
            if last || value_at(i) > next {
                groups.push(Group { end: i + 1, worth: value_at(i) - next, exponent });
            }
        }
        let now: u64 = groups.iter().map(|g| g.worth * Tables::share(g.exponent)).sum();
        // The groups before the one at hand, whose value stays as it is.
        let (mut before, mut group) = (0, 0);
        for (i, &item) in items.iter().enumerate() {
            while groups[group].end <= i {
                before += groups[group].worth * Tables::share(groups[group].exponent);
                group += 1;
            }
            let more = self.tables.rise[self.raised[item as usize]];
            let raised = |g: &Group| g.worth * Tables::share(g.exponent + more);
            let after = before + groups[group..].iter().map(raised).sum::<u64>();
            let gain = (after >> self.shift) - (now >> self.shift);
            self.gains[item as usize] += sign * gain.cast_signed();
        }
    }
}

impl<T: Ranked> LevelGains for Levels<'_, T> {
    fn gains(&self) -> &[i64] {
        &self.gains
    }

    fn raise(&mut self, element: usize) {
        if self.raised[element] == self.tables.steps {
            return;
        }
        let objective = self.objective;
        for sign in [-1, 1] {
            for &record in objective.records_of(element) {
                self.count(record as usize, sign);
            }
            // Out with the old gains, in with the new ones.
            self.raised[element] += usize::from(sign == -1);
        }
    }
}

/// Logarithms in steps of `2^-12`, shares in steps of `2^-20`.
///
/// Computed in `f64`, from public values only; rounding them off changes how well the extension is
/// followed, not what is credited.
struct Tables {
    steps: usize,
    /// `-ln(1 - level / steps)`; at the top it is past the end of the table.
    logs: Vec<u64>,
    /// From a level to the next one; nothing at the top.
    rise: Vec<u64>,
}

/// `1 - e^(-x)`, never falling; 1 past its end. The same for all plans, and too large to be made for each.
static SHARES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let unit = f64::from(1 << Tables::LOG_BITS);
    let one = f64::from(1 << Tables::ONE_BITS);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^20")]
    let share = |x: u64| (-(-(x as f64) / unit).exp_m1() * one) as u32;
    let mut shares: Vec<u32> = (0..Tables::END).map(share).collect();
    for x in 1..shares.len() {
        shares[x] = shares[x].max(shares[x - 1]).min(1 << Tables::ONE_BITS);
    }
    shares
});

impl Tables {
    const ONE_BITS: u32 = 20;
    const LOG_BITS: u32 = 12;
    /// `e^-15` is below half a step of the shares.
    const END: u64 = 15 << Self::LOG_BITS;

    fn new(steps: u32) -> Self {
        let unit = f64::from(1 << Self::LOG_BITS);
        let log = |level: u32| -(1.0 - f64::from(level) / f64::from(steps)).ln() * unit;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small, positive"
        )]
        let mut logs: Vec<u64> =
            (0..steps).map(|level| (log(level).round() as u64).min(Self::END)).collect();
        logs.push(Self::END);
        let rises = logs.windows(2).map(|pair| pair[1] - pair[0]);
        let rise = rises.chain(std::iter::once(0)).collect();
        Self { steps: steps as usize, logs, rise }
    }

    fn share(exponent: u64) -> u64 {
        let index = usize::try_from(exponent).unwrap_or(usize::MAX);
        SHARES.get(index).copied().unwrap_or(1 << Self::ONE_BITS).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn tables_never_fall_and_end_at_one() {
        for steps in [1, 2, 3, 7, 20, 1000] {
            let tables = Tables::new(steps);
            assert!(tables.logs.is_sorted() && SHARES.is_sorted());
            assert_eq!((tables.logs[0], SHARES[0]), (0, 0));
            assert_eq!(Tables::share(tables.logs[steps as usize]), 1 << 20);
            assert!(*SHARES.last().expect("not empty") <= 1 << 20);
            // The share of a single element is its level, as nearly as the logarithm is tabulated.
            for level in 0..steps {
                let share = Tables::share(tables.logs[level as usize]) as f64 / f64::from(1 << 20);
                assert_abs_diff_eq!(share, f64::from(level) / f64::from(steps), epsilon = 2e-4);
            }
        }
    }
}
