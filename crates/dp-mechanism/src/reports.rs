//! Which cells of a huge grid of counts pass a threshold, with noise in every cell.

use std::fmt;

use dp_accounting::{Epsilon, Loss};
use dp_noise::{Bits, DiscreteLaplace, Geometric, NoiseError, RareHits, Ratio};

use crate::rational::{ratio_at_most, to_f64};
use crate::source::add;
use crate::{Draws, Law, MechanismError, Private, Source};

/// The noise in the cells of [`ThresholdReports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportNoise {
    /// On `0, 1, 2, ...`: a count at the threshold is reported for certain.
    OneSided(Geometric),
    /// Discrete Laplace.
    TwoSided(DiscreteLaplace),
}

/// Which cells may be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// All of so many, those without a count too.
    Cells(u128),
    /// Those with a count only. That a cell was reported then says that somebody was there, so
    /// there is no pure guarantee without a further argument.
    TouchedOnly,
}

/// The cells with a count, each once, in any order. The others have a count of 0.
///
/// Private. `Debug` prints nothing of them, not even how many there are.
#[derive(Clone, Copy)]
pub struct Touched<'a> {
    /// Numbers of the cells.
    pub cells: &'a [u64],
    /// Their counts, at least 1.
    pub counts: &'a [u32],
}

/// Exact counts stay out of logs.
impl fmt::Debug for Touched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Touched").finish_non_exhaustive()
    }
}

/// A cell that was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reported {
    /// Which of the steps asked for.
    pub step: u64,
    /// Number of the cell.
    pub cell: u64,
    /// Its noisy count, at least the threshold.
    pub noisy_count: i64,
}

/// Reports every cell of a grid whose count plus noise reaches a threshold, with the noisy count.
///
/// # Guarantee
/// With `a = e^-each`, for one reported cell whose count a record raises by 1:
/// - [`one_sided`](Self::one_sided): under [`AddOnly`](dp_accounting::AddOnly), reporting a value `v`
///   has probability `(1 - a) a^(v - count)`, which grows by at most `e^each`; silence has
///   probability `1 - a^(threshold - count)`, or 0, which falls. So an added record costs `each` for
///   every *report* that it is part of, and nothing for silence. Removing it is not bounded.
/// - [`two_sided`](Self::two_sided): under [`AddRemove`](dp_accounting::AddRemove), both reports and
///   silence change by at most `e^each`.
///
/// Both need [`Grid::Cells`]: cells without a count must be able to report.
///
/// # Utility
/// A count of `w` is reported with probability `a^(threshold - w)` below the threshold (times
/// `1 / (1 + a)` if two-sided).
///
/// # Complexity
/// `O(touched)` and about 8 words plus one per binary digit of the number of cells, for every hit of
/// a skeleton that has about one hit per step; counts close to the threshold take a draw each. The lower
/// the threshold, the more hits, up to one per cell: beyond a few, touched cells are sorted once and a
/// hit takes `O(log touched)`.
/// However many steps without counts come before the last, they take a few thousand hits, or as many as
/// they have reports.
///
/// # Precision
/// Exact, on grids of up to `2^104` cells. `each` is rounded down to 32 bits and reported so.
///
/// # Source
/// Ghazi, Kamath, Kumar, Manurangsi, Sealfon (2024), Algorithm 3, on integers; the jumps are ours.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdReports {
    pub(crate) noise: ReportNoise,
    /// Of the receipt, with its loss, if that pays for all reports together.
    among: Option<(&'static str, Loss)>,
    /// Loss per unit of count.
    pub(crate) rate: Ratio,
    pub(crate) grid: Grid,
    least_threshold: i64,
    /// The skeleton: hits of probability `2^-m >= a^reach`.
    pub(crate) hits: RareHits,
    /// Cells whose count is this far below the threshold, or further, are drawn by jumps.
    pub(crate) reach: i64,
}

/// Above `ln 2`, in units of `10^-9`.
const LN_2: u128 = 693_147_181;
const UNITS: u128 = 1_000_000_000;

impl ThresholdReports {
    /// Thresholds are at most this.
    pub const MAX_THRESHOLD: i64 = 1 << 41;

    /// Noise on one side, at `each` per report.
    ///
    /// Thresholds asked for later must be at least `least_threshold`, which is cut to
    /// `0..=MAX_THRESHOLD`.
    ///
    /// # Errors
    /// [`MechanismError`] if `each` is zero or below `2^-31`.
    pub fn one_sided(
        each: Epsilon,
        grid: Grid,
        least_threshold: i64,
    ) -> Result<Self, MechanismError> {
        Self::new(each, grid, least_threshold, |scale| {
            Geometric::new(scale).map(ReportNoise::OneSided)
        })
    }

    /// Noise on both sides, at `each` per answer.
    ///
    /// # Errors
    /// As [`one_sided`](Self::one_sided).
    pub fn two_sided(
        each: Epsilon,
        grid: Grid,
        least_threshold: i64,
    ) -> Result<Self, MechanismError> {
        Self::new(each, grid, least_threshold, |scale| {
            DiscreteLaplace::new(scale).map(ReportNoise::TwoSided)
        })
    }

    fn new(
        each: Epsilon,
        grid: Grid,
        least_threshold: i64,
        noise: impl FnOnce(Ratio) -> Result<ReportNoise, NoiseError>,
    ) -> Result<Self, MechanismError> {
        let name = "epsilon of a report";
        if each.get() <= 0.0 {
            return Err(MechanismError::NotPositive { name });
        }
        let too_much = MechanismError::TooMuchNoise { name, got: each.get() };
        if each.get() < 2_f64.powi(-31) {
            return Err(too_much);
        }
        let rate = ratio_at_most(each.get()).ok_or(too_much)?;
        let scale = rate.recip().ok_or(too_much)?;
        let least_threshold = least_threshold.clamp(0, Self::MAX_THRESHOLD);
        let (a, b) = (rate.numerator(), rate.denominator().get());
        let cells = match grid {
            Grid::Cells(cells) => cells,
            Grid::TouchedOnly => 1,
        };
        // About one hit per step, and never one more likely than a report of the skeleton's cells.
        let wanted = cells.max(1).ilog2() + 1;
        let exponent = wanted.min(carried(rate, least_threshold)).min(RareHits::MAX_EXPONENT);
        let reach = (u128::from(exponent) * LN_2 * b).div_ceil(a * UNITS);
        Ok(Self {
            noise: noise(scale).map_err(|_| too_much)?,
            among: None,
            rate,
            grid,
            least_threshold,
            hits: RareHits::new(exponent).map_err(|_| too_much)?,
            reach: i64::try_from(reach).map_err(|_| too_much)?,
        })
    }

    /// Reports that the leaf of this name, with this loss, pays for together: what each record was part of is counted
    /// by whoever asks.
    #[must_use]
    pub fn among(self, leaf: &'static str, together: Loss) -> Self {
        Self { among: Some((leaf, together)), ..self }
    }

    /// The loss per report, as rounded.
    pub fn each(&self) -> Epsilon {
        Epsilon::new(to_f64(self.rate)).expect("rounded down from a valid one")
    }

    /// Which cells may be reported.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The noise of a cell.
    pub fn noise(&self) -> ReportNoise {
        self.noise
    }

    /// The mean of the noise in a reported count that reached the threshold without noise.
    pub fn mean_noise(&self) -> f64 {
        match self.noise {
            ReportNoise::OneSided(_) => self.each().get().exp_m1().recip(),
            ReportNoise::TwoSided(_) => 0.0,
        }
    }

    /// The reports of a grid of `steps` steps, of which the last has the `touched` counts.
    ///
    /// In the order of steps and cells. With [`Grid::TouchedOnly`] only the last step can report.
    ///
    /// # Panics
    /// If the threshold, a public number, is outside of the range given when this was built.
    pub fn release(
        &self,
        touched: Private<Touched<'_>>,
        steps: u64,
        threshold: i64,
        draws: &mut Draws<'_>,
    ) -> Vec<Reported> {
        assert!(
            (self.least_threshold..=Self::MAX_THRESHOLD).contains(&threshold),
            "the threshold is out of range"
        );
        let touched = touched.into_draw();
        if let Some((leaf, loss)) = self.among {
            draws.next(leaf).charge(loss).reports(touched, steps, threshold, self)
        } else {
            let each = Loss::Pure { epsilon: self.each() };
            draws.charge(each).reports(touched, steps, threshold, self)
        }
    }

    /// One draw for every cell, in order: the definition, and what audits walk through.
    pub(crate) fn cell_by_cell<S: Source + ?Sized>(
        &self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        source: &mut S,
    ) -> Vec<Reported> {
        let mut counts = touched.sorted(|_| true);
        let first = match self.grid {
            Grid::Cells(cells) => {
                let cells = u64::try_from(cells).expect("a grid to go through cell by cell");
                let mut touched = counts.into_iter().peekable();
                let of = |cell| {
                    touched.next_if(|(here, _)| *here == cell).map_or((cell, 0), |(_, n)| (cell, n))
                };
                counts = (0..cells).map(of).collect();
                0
            }
            Grid::TouchedOnly => steps.saturating_sub(1),
        };
        let mut found = Vec::new();
        for step in first..steps {
            for &(cell, count) in &counts {
                let value = if step + 1 == steps { i64::from(count) } else { 0 };
                let noisy_count = source.draw(Law::Report { value, threshold, noise: self.noise });
                if noisy_count >= threshold {
                    found.push(Reported { step, cell, noisy_count });
                }
            }
        }
        found
    }
}

/// The largest `m`, cut to 32 bits, such that hits of probability `2^-m` are no rarer than reports of a
/// count that is `below` the threshold.
pub(crate) fn carried(rate: Ratio, below: i64) -> u32 {
    let (a, b) = (rate.numerator(), rate.denominator().get());
    let carried = u128::from(below.unsigned_abs()) * a * UNITS / (b * LN_2);
    u32::try_from(carried).unwrap_or(u32::MAX)
}

impl ReportNoise {
    /// The value with noise, cut at the ends of `i64`.
    pub(crate) fn noisy<B: Bits + ?Sized>(self, value: i64, bits: &mut B) -> i64 {
        match self {
            Self::OneSided(noise) => {
                add(value, i128::try_from(noise.sample(bits)).unwrap_or(i128::MAX))
            }
            Self::TwoSided(noise) => add(value, noise.sample(bits)),
        }
    }
}

impl Touched<'_> {
    /// The count of a cell, by going through all of them.
    pub(crate) fn count(&self, cell: u64) -> u32 {
        self.cells.iter().position(|&c| c == cell).map_or(0, |i| self.counts[i])
    }

    /// The cells whose counts satisfy it, in order.
    pub(crate) fn sorted(&self, wanted: impl Fn(u32) -> bool) -> Vec<(u64, u32)> {
        let cells = self.cells.iter().zip(self.counts).filter(|(_, count)| wanted(**count));
        let mut cells: Vec<(u64, u32)> = cells.map(|(&cell, &count)| (cell, count)).collect();
        cells.sort_unstable();
        cells
    }
}

#[cfg(test)]
mod tests {
    use dp_noise::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;
    use crate::{JumpSizes, SecureSource};

    const TOUCHED: Touched<'static> = Touched { cells: &[3, 1, 2], counts: &[9, 2, 5] };
    const THRESHOLD: i64 = 6;
    const RUNS: usize = 40_000;

    #[test]
    fn counts_are_not_printed() {
        assert_eq!(format!("{TOUCHED:?}"), "Touched { .. }");
    }

    fn laws() -> Vec<ThresholdReports> {
        let each = |x| Epsilon::new(x).expect("valid");
        vec![
            ThresholdReports::one_sided(each(0.4), Grid::Cells(4), 3).expect("valid"),
            ThresholdReports::one_sided(each(0.4), Grid::TouchedOnly, 3).expect("valid"),
            ThresholdReports::two_sided(each(0.5), Grid::Cells(4), 5).expect("valid"),
            ThresholdReports::two_sided(each(0.5), Grid::Cells(4), 0).expect("valid"),
        ]
    }

    /// The probability that a cell reports at least `value`, which is at least the threshold.
    fn tail(law: &ThresholdReports, count: u32, value: i64) -> f64 {
        let (a, d) = ((-law.each().get()).exp(), value - i64::from(count));
        let decay = a.powf(d.abs() as f64);
        match law.noise() {
            ReportNoise::OneSided(_) if d <= 0 => 1.0,
            ReportNoise::OneSided(_) => decay,
            ReportNoise::TwoSided(_) if d >= 0 => decay / (1.0 + a),
            ReportNoise::TwoSided(_) => 1.0 - decay * a / (1.0 + a),
        }
    }

    fn counts(law: &ThresholdReports) -> Vec<(u64, u64, u32)> {
        let all = (0..2).flat_map(|step| (0..4).map(move |cell| (step, cell)));
        let with = |(step, cell)| (step, cell, if step == 1 { TOUCHED.count(cell) } else { 0 });
        let possible = |&(_, _, count): &(u64, u64, u32)| match law.grid {
            Grid::Cells(_) => true,
            Grid::TouchedOnly => count > 0,
        };
        all.map(with).filter(possible).collect()
    }

    /// Null: the frequency of every combination of reported cells, and of every cell exceeding the
    /// threshold by 2, is what the formulas say. Hoeffding and a union bound over fewer than 300
    /// events hold 40,000 runs within .0159 except with probability 1e-6; the control, a threshold
    /// one higher, is off by more.
    fn worst_deviation(law: &ThresholdReports, threshold: i64, by_jumps: bool) -> f64 {
        let mut rng = ChaCha20Rng::seed_from_u64(9);
        let cells = counts(law);
        let mut sets = vec![0_u32; 1 << cells.len()];
        let mut high = vec![0_u32; cells.len()];
        for _ in 0..RUNS {
            let reports = if by_jumps {
                law.by_jumps(
                    TOUCHED,
                    2,
                    threshold,
                    JumpSizes::default(),
                    &mut SecureSource::new(&mut rng),
                )
            } else {
                law.cell_by_cell(TOUCHED, 2, threshold, &mut SecureSource::new(&mut rng))
            };
            assert!(reports.is_sorted());
            let mut set = 0;
            for Reported { step, cell, noisy_count } in reports {
                let is_it = |&(s, c, _): &(u64, u64, u32)| (s, c) == (step, cell);
                let i = cells.iter().position(is_it).expect("only possible cells report");
                set |= 1 << i;
                high[i] += u32::from(noisy_count >= threshold + 2);
            }
            sets[set] += 1;
        }
        let share = |n: u32| f64::from(n) / RUNS as f64;
        let expected_set = |set: usize| {
            let p = |i: usize| tail(law, cells[i].2, THRESHOLD);
            (0..cells.len())
                .fold(1.0, |product, i| product * if set >> i & 1 == 1 { p(i) } else { 1.0 - p(i) })
        };
        let of_sets = (0..sets.len()).map(|set| (share(sets[set]) - expected_set(set)).abs());
        let of_high =
            (0..cells.len()).map(|i| (share(high[i]) - tail(law, cells[i].2, THRESHOLD + 2)).abs());
        of_sets.chain(of_high).fold(0.0, f64::max)
    }

    #[test]
    fn jumps_and_the_plain_loop_have_the_law_of_the_formulas() {
        for law in laws() {
            for by_jumps in [true, false] {
                let off = worst_deviation(&law, THRESHOLD, by_jumps);
                assert!(off <= 0.0159, "{off} for {law:?}");
            }
            let control = worst_deviation(&law, THRESHOLD + 1, true);
            assert!(control > 0.0159, "no power: {control}");
        }
    }

    #[test]
    fn the_skeleton_is_never_rarer_than_what_it_carries() {
        for each in [2_f64.powi(-31), 1e-6, 0.01, 1.3, 60.0, 900.0] {
            for cells in [1_u128, 1_000, 1 << 64] {
                for least in [0, 26, 1 << 40] {
                    let each = Epsilon::new(each).expect("valid");
                    let law = ThresholdReports::one_sided(each, Grid::Cells(cells), least)
                        .expect("in range");
                    let (m, reach) = (law.hits.exponent(), law.reach);
                    let carried = law.each().get() * reach as f64;
                    assert!(carried >= f64::from(m) * std::f64::consts::LN_2, "{law:?}");
                    assert!((0..=least.max(0)).contains(&reach) && m <= 65, "{law:?}");
                }
            }
        }
    }

    #[test]
    fn losses_that_cannot_be_kept_are_refused() {
        let build = |each| {
            ThresholdReports::one_sided(Epsilon::new(each).expect("valid"), Grid::Cells(4), 3)
        };
        let name = "epsilon of a report";
        assert_eq!(build(0.0), Err(MechanismError::NotPositive { name }));
        for got in [1e-12, 2_f64.powi(-31).next_down()] {
            assert_eq!(build(got), Err(MechanismError::TooMuchNoise { name, got }));
        }
    }
}
