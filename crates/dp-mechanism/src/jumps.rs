//! Reports of a huge grid without going through it: jumps over a skeleton of rare hits.

use std::ops::Range;

use dp_noise::{Geometric, RareHits};

use crate::lookup::Lookup;
use crate::reports::{Grid, ReportNoise, Reported, ThresholdReports, Touched, carried};
use crate::{Coin, Law, Source};

/// From where on jumps take another way. None of it changes a law, which claims show by going through all ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpSizes {
    /// So many hits or more, on average, in the steps without counts are worth a skeleton of their own, which takes about a
    /// millisecond.
    pub own_skeleton: u128,
    /// So many questions for counts are answered by going through all of them, which costs less than to put the cells in order.
    pub scans: u32,
}

impl Default for JumpSizes {
    fn default() -> Self {
        Self { own_skeleton: (1 << 12) + 1, scans: 64 }
    }
}

impl ThresholdReports {
    /// What a release does: the law of one draw per cell, with cells far below the threshold by jumps over a skeleton of hits and
    /// the others one by one. The last of the steps has the touched counts.
    ///
    /// All coins come from the source, so an audit can go through their outcomes as well.
    pub fn by_jumps<S: Source + ?Sized>(
        &self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        sizes: JumpSizes,
        source: &mut S,
    ) -> Vec<Reported> {
        let Some(last) = steps.checked_sub(1) else { return Vec::new() };
        let mut counts = Lookup::new(touched, sizes.scans);
        let mut found = Vec::new();
        let mut far = i64::MIN;
        if let Grid::Cells(cells) = self.grid {
            far = threshold - self.reach;
            let rare = self.rare_hits(cells, last, threshold, sizes);
            if let Some(rare) = &rare {
                let below = |_, _| Some(threshold);
                found.append(&mut self.jump(rare, cells, 0..last, threshold, source, below));
            }
            let first = if rare.is_some() { last } else { 0 };
            let below = |step, cell| {
                let count = if step == last { counts.count(cell).into() } else { 0 };
                (count <= far).then_some(threshold - count)
            };
            let hits = &self.hits;
            found.append(&mut self.jump(hits, cells, first..steps, threshold, source, below));
        }
        for (cell, count) in touched.sorted(|count| i64::from(count) > far) {
            let law = Law::Report { value: count.into(), threshold, noise: self.noise };
            let noisy_count = source.draw(law);
            if noisy_count >= threshold {
                found.push(Reported { step: last, cell, noisy_count });
            }
        }
        found.sort_unstable();
        found
    }

    /// Reports of those cells of these steps that `below` says to be so far below the threshold.
    fn jump<S: Source + ?Sized>(
        &self,
        hits: &RareHits,
        cells: u128,
        steps: Range<u64>,
        threshold: i64,
        source: &mut S,
        mut below: impl FnMut(u64, u64) -> Option<i64>,
    ) -> Vec<Reported> {
        let mut found = Vec::new();
        let size = cells.saturating_mul((steps.end - steps.start).into());
        let mut at = source.gap(hits, size);
        while at < size {
            let step = u64::try_from(at / cells).expect("below the number of steps");
            let step = steps.start + step;
            let cell = u64::try_from(at % cells).expect("cells have 64-bit numbers");
            if below(step, cell).is_some_and(|below| self.confirms(hits, below, source)) {
                let noisy_count = self.above(threshold, source);
                found.push(Reported { step, cell, noisy_count });
            }
            at += 1;
            at += source.gap(hits, size - at);
        }
        found
    }

    /// A skeleton for so many steps without counts that the usual one would have masses of hits in
    /// them: it has about one in all of them, or as many as they have reports.
    fn rare_hits(
        &self,
        cells: u128,
        steps: u64,
        threshold: i64,
        sizes: JumpSizes,
    ) -> Option<RareHits> {
        let size = cells.saturating_mul(steps.into());
        if size >> self.hits.exponent() < sizes.own_skeleton {
            return None;
        }
        let wanted = size.checked_ilog2()? + 1;
        let exponent = wanted.min(carried(self.rate, threshold)).min(RareHits::MAX_EXPONENT);
        RareHits::new(exponent).ok()
    }

    /// Given a hit of the skeleton, whether a count this far below the threshold is reported.
    fn confirms<S: Source + ?Sized>(&self, hits: &RareHits, below: i64, source: &mut S) -> bool {
        let below = u128::from(below.unsigned_abs());
        let (numerator, denominator) = (below * self.rate.numerator(), self.rate.denominator());
        source.keep(Coin::ScaledExp { shift: hits.exponent(), numerator, denominator })
            && match self.noise {
                ReportNoise::OneSided(_) => true,
                // Pr[Z >= d] = a^d / (1 + a).
                ReportNoise::TwoSided(_) => source.keep(Coin::Logistic(self.rate)),
            }
    }

    /// A noisy count, given that it reaches the threshold from below: the geometric law has no memory.
    fn above<S: Source + ?Sized>(&self, threshold: i64, source: &mut S) -> i64 {
        let scale = self.rate.recip().expect("positive");
        let noise = ReportNoise::OneSided(Geometric::new(scale).expect("checked when built"));
        source.draw(Law::Report { value: threshold, threshold, noise })
    }
}

#[cfg(test)]
mod tests {
    use dp_accounting::Epsilon;
    use dp_noise::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;
    use crate::SecureSource;

    /// Null: of 400,000 cells without counts, each of probability `a^26 = 3.04e-5`, a binomial number is
    /// reported, and each of the four cells as often. The mean of 250 runs is within 1.25 of 12.17 and
    /// a share of the reports within .051 of 1/4 or 1/2, except with probability 1e-6 (Bernstein; Hoeffding
    /// over 2,800 reports or more). The control, a threshold lower by one, reports half as much again.
    #[test]
    fn long_skips_report_as_often_as_their_cells() {
        let each = Epsilon::new(0.4).expect("valid");
        let law = ThresholdReports::one_sided(each, Grid::Cells(4), 25).expect("in range");
        let steps = 100_001;
        let sizes = JumpSizes::default();
        assert!(law.rare_hits(4, steps - 1, 26, sizes).is_some());
        assert!(law.rare_hits(4, 9, 26, sizes).is_none());
        let touched = Touched { cells: &[], counts: &[] };
        let mut rng = ChaCha20Rng::seed_from_u64(10);
        let mut reports = |threshold| -> Vec<Reported> {
            let mut source = SecureSource::new(&mut rng);
            let run = |_| law.by_jumps(touched, steps, threshold, sizes, &mut source);
            (0..250).flat_map(run).collect()
        };
        let found = reports(26);
        let mean = |found: &[Reported]| found.len() as f64 / 250.0;
        let expected = 4.0 * steps as f64 * (-law.each().get() * 26.0).exp();
        assert!((mean(&found) - expected).abs() < 1.25, "{} for {expected}", mean(&found));
        for cell in 0..4 {
            let share = found.iter().filter(|r| r.cell == cell).count() as f64 / found.len() as f64;
            assert!((share - 0.25).abs() < 0.051, "{share} of the reports in {cell}");
        }
        let late = found.iter().filter(|r| r.step > 50_000).count() as f64 / found.len() as f64;
        assert!((late - 0.5).abs() < 0.051, "{late} in the second half");
        assert!((mean(&reports(25)) - expected).abs() > 1.25, "no power");
    }
}
