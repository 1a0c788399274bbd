//! Reports of a huge grid without going through it: jumps over a skeleton of rare hits.

use std::num::NonZero;
use std::ops::Range;

use dp_noise::{Bits, Geometric, RareHits, bernoulli_exp, bernoulli_exp_scaled};

use crate::lookup::Lookup;
use crate::reports::{Grid, ReportNoise, Reported, ThresholdReports, Touched, carried};
use crate::source::add;

/// More hits than this, on average, are worth a skeleton of their own, which takes about a millisecond.
const MOST_HITS: u128 = 1 << 12;

/// The draws that jumps are made of. A release takes them from random bits; a proof goes through all their
/// outcomes.
trait Chances {
    /// Cells before the next hit.
    fn gap(&mut self, hits: &RareHits) -> u128;

    /// True with probability `2^shift e^-(numerator / denominator)`.
    fn scaled(&mut self, shift: u32, numerator: u128, denominator: NonZero<u128>) -> bool;

    /// True with probability `1 / (1 + e^-(numerator / denominator))`.
    fn logistic(&mut self, numerator: u128, denominator: NonZero<u128>) -> bool;

    fn geometric(&mut self, noise: Geometric) -> i128;

    fn noisy(&mut self, noise: ReportNoise, value: i64) -> i64;
}

struct Random<'a, B: Bits + ?Sized>(&'a mut B);

impl<B: Bits + ?Sized> Chances for Random<'_, B> {
    fn gap(&mut self, hits: &RareHits) -> u128 {
        hits.gap(self.0)
    }

    fn scaled(&mut self, shift: u32, numerator: u128, denominator: NonZero<u128>) -> bool {
        bernoulli_exp_scaled(self.0, shift, numerator, denominator)
    }

    /// Of two alternating coins, of 1/2 and of the exponential, the first that decides is the first one.
    fn logistic(&mut self, numerator: u128, denominator: NonZero<u128>) -> bool {
        self.0.retry(|bits| {
            let half = bits.below(NonZero::new(2).expect("not zero")) == 0;
            if half {
                Some(true)
            } else {
                bernoulli_exp(bits, numerator, denominator).then_some(false)
            }
        })
    }

    fn geometric(&mut self, noise: Geometric) -> i128 {
        i128::try_from(noise.sample(self.0)).unwrap_or(i128::MAX)
    }

    fn noisy(&mut self, noise: ReportNoise, value: i64) -> i64 {
        noise.noisy(value, self.0)
    }
}

impl ThresholdReports {
    /// The same law: cells far below the threshold by jumps over a skeleton of hits, the others one
    /// by one.
    pub(crate) fn by_jumps<B: Bits + ?Sized>(
        &self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        bits: &mut B,
    ) -> Vec<Reported> {
        self.by_jumps_with(&mut Lookup::new(touched), steps, threshold, bits)
    }

    /// The same, with counts from there.
    pub(crate) fn by_jumps_with<B: Bits + ?Sized>(
        &self,
        counts: &mut Lookup<'_>,
        steps: u64,
        threshold: i64,
        bits: &mut B,
    ) -> Vec<Reported> {
        let skipped = steps.saturating_sub(1);
        let rare = match self.grid {
            Grid::Cells(cells) => self.rare_hits(cells, skipped, threshold),
            Grid::TouchedOnly => None,
        };
        self.over_skeletons(rare.as_ref(), counts, steps, threshold, &mut Random(bits))
    }

    /// With a skeleton of their own for the steps before the last, or without.
    fn over_skeletons(
        &self,
        rare: Option<&RareHits>,
        counts: &mut Lookup<'_>,
        steps: u64,
        threshold: i64,
        chances: &mut impl Chances,
    ) -> Vec<Reported> {
        let Some(last) = steps.checked_sub(1) else { return Vec::new() };
        let mut found = Vec::new();
        let mut far = i64::MIN;
        if let Grid::Cells(cells) = self.grid {
            far = threshold - self.reach;
            if let Some(rare) = rare {
                let below = |_, _| Some(threshold);
                found.append(&mut self.jump(rare, cells, 0..last, threshold, chances, below));
            }
            let first = if rare.is_some() { last } else { 0 };
            let below = |step, cell| {
                let count = if step == last { counts.count(cell).into() } else { 0 };
                (count <= far).then_some(threshold - count)
            };
            found.append(&mut self.jump(
                &self.hits,
                cells,
                first..steps,
                threshold,
                chances,
                below,
            ));
        }
        for (cell, count) in counts.touched().sorted(|count| i64::from(count) > far) {
            if let Some(noisy_count) = self.one_cell(count.into(), threshold, chances) {
                found.push(Reported { step: last, cell, noisy_count });
            }
        }
        found.sort_unstable();
        found
    }

    /// Reports of those cells of these steps that `below` says to be so far below the threshold.
    fn jump(
        &self,
        hits: &RareHits,
        cells: u128,
        steps: Range<u64>,
        threshold: i64,
        chances: &mut impl Chances,
        mut below: impl FnMut(u64, u64) -> Option<i64>,
    ) -> Vec<Reported> {
        let mut found = Vec::new();
        let size = cells.saturating_mul((steps.end - steps.start).into());
        let mut at = chances.gap(hits);
        while at < size {
            let step = u64::try_from(at / cells).expect("below the number of steps");
            let step = steps.start + step;
            let cell = u64::try_from(at % cells).expect("cells have 64-bit numbers");
            if below(step, cell).is_some_and(|below| self.confirms(hits, below, chances)) {
                let noisy_count = add(threshold, self.excess(chances));
                found.push(Reported { step, cell, noisy_count });
            }
            at = at.saturating_add(1).saturating_add(chances.gap(hits));
        }
        found
    }

    /// A skeleton for so many steps without counts that the usual one would have masses of hits in
    /// them: it has about one in all of them, or as many as they have reports.
    fn rare_hits(&self, cells: u128, steps: u64, threshold: i64) -> Option<RareHits> {
        let size = cells.saturating_mul(steps.into());
        if size >> self.hits.exponent() <= MOST_HITS {
            return None;
        }
        let wanted = size.checked_ilog2()? + 1;
        let exponent = wanted.min(carried(self.rate, threshold)).min(RareHits::MAX_EXPONENT);
        RareHits::new(exponent)
    }

    /// Given a hit of the skeleton, whether a count this far below the threshold is reported.
    fn confirms(&self, hits: &RareHits, below: i64, chances: &mut impl Chances) -> bool {
        let below = u128::from(below.unsigned_abs());
        let (a, b) = (self.rate.numerator(), self.rate.denominator());
        chances.scaled(hits.exponent(), below * a, b)
            && match self.noise {
                ReportNoise::OneSided(_) => true,
                // Pr[Z >= d] = a^d / (1 + a).
                ReportNoise::TwoSided(_) => chances.logistic(a, b),
            }
    }

    /// How far a noisy count exceeds the threshold, given that it reaches it from below: the
    /// geometric law has no memory.
    fn excess(&self, chances: &mut impl Chances) -> i128 {
        let scale = self.rate.recip().expect("positive");
        chances.geometric(Geometric::new(scale).expect("checked when built"))
    }

    fn one_cell(&self, count: i64, threshold: i64, chances: &mut impl Chances) -> Option<i64> {
        let noisy = chances.noisy(self.noise, count);
        (noisy >= threshold).then_some(noisy)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dp_accounting::Epsilon;
    use dp_noise::{ChaCha20Rng, SecureBits};
    use rand::SeedableRng;

    use super::*;

    const CELLS: u64 = 2;
    const STEPS: u64 = 2;

    /// Goes through all outcomes of all draws, depth first, with the probability of each path.
    struct Walk {
        /// Probabilities of the outcomes of a draw, and which is followed.
        path: Vec<(Vec<f64>, usize)>,
        position: usize,
        threshold: i64,
    }

    impl Walk {
        fn branch(&mut self, probabilities: Vec<f64>) -> usize {
            let valid = |p: &f64| (-1e-12..=1.0 + 1e-12).contains(p);
            assert!(probabilities.iter().all(valid), "not probabilities: {probabilities:?}");
            if self.position == self.path.len() {
                self.path.push((probabilities, 0));
            }
            self.position += 1;
            self.path[self.position - 1].1
        }

        fn advance(&mut self) -> bool {
            self.position = 0;
            while let Some((probabilities, chosen)) = self.path.last_mut() {
                *chosen += 1;
                if *chosen < probabilities.len() {
                    return true;
                }
                self.path.pop();
            }
            false
        }

        fn probability(&self) -> f64 {
            self.path.iter().map(|(probabilities, chosen)| probabilities[*chosen]).product()
        }
    }

    fn exp_minus(numerator: u128, denominator: NonZero<u128>) -> f64 {
        (-(numerator as f64) / denominator.get() as f64).exp()
    }

    impl Chances for Walk {
        /// From the end of the grid on, all gaps are one.
        fn gap(&mut self, hits: &RareHits) -> u128 {
            let hit = 0.5_f64.powi(i32::try_from(hits.exponent()).expect("small"));
            let end = i32::try_from(CELLS * STEPS).expect("small");
            let missed = |cells: i32| (1.0 - hit).powi(cells);
            let inside = (0..end).map(|gap| missed(gap) * hit);
            self.branch(inside.chain([missed(end)]).collect()) as u128
        }

        fn scaled(&mut self, shift: u32, numerator: u128, denominator: NonZero<u128>) -> bool {
            let p = 2_f64.powi(i32::try_from(shift).expect("small"))
                * exp_minus(numerator, denominator);
            self.branch(vec![1.0 - p, p]) == 1
        }

        fn logistic(&mut self, numerator: u128, denominator: NonZero<u128>) -> bool {
            let p = (1.0 + exp_minus(numerator, denominator)).recip();
            self.branch(vec![1.0 - p, p]) == 1
        }

        /// 0, or more.
        fn geometric(&mut self, noise: Geometric) -> i128 {
            let a =
                exp_minus(noise.scale().denominator().get(), positive(noise.scale().numerator()));
            self.branch(vec![1.0 - a, a]) as i128
        }

        /// Below the threshold, at it, or above.
        fn noisy(&mut self, noise: ReportNoise, value: i64) -> i64 {
            let [at_least, more] = [0, 1].map(|d| tail(noise, self.threshold + d - value));
            let chosen = self.branch(vec![1.0 - at_least, at_least - more, more]);
            self.threshold - 1 + i64::try_from(chosen).expect("small")
        }
    }

    fn positive(x: u128) -> NonZero<u128> {
        NonZero::new(x).expect("positive")
    }

    /// `Pr[noise >= d]`.
    fn tail(noise: ReportNoise, d: i64) -> f64 {
        let scale = match noise {
            ReportNoise::OneSided(noise) => noise.scale(),
            ReportNoise::TwoSided(noise) => noise.scale(),
        };
        let a = exp_minus(scale.denominator().get(), positive(scale.numerator()));
        let power = |d: i64| a.powi(i32::try_from(d).expect("small"));
        match noise {
            ReportNoise::OneSided(_) => power(d.max(0)),
            ReportNoise::TwoSided(_) if d >= 0 => power(d) / (1.0 + a),
            ReportNoise::TwoSided(_) => 1.0 - power(1 - d) / (1.0 + a),
        }
    }

    /// Cells reported, and whether the noisy count is above the threshold.
    type Found = Vec<(u64, u64, bool)>;

    fn by_jumps(
        law: &ThresholdReports,
        rare: Option<&RareHits>,
        touched: Touched<'_>,
        threshold: i64,
    ) -> BTreeMap<Found, f64> {
        let mut walk = Walk { path: Vec::new(), position: 0, threshold };
        let mut found = BTreeMap::new();
        loop {
            let mut counts = Lookup::new(touched);
            let reports = law.over_skeletons(rare, &mut counts, STEPS, threshold, &mut walk);
            let shown = |r: Reported| (r.step, r.cell, r.noisy_count > threshold);
            let shown = reports.into_iter().map(shown).collect();
            *found.entry(shown).or_insert(0.0) += walk.probability();
            if !walk.advance() {
                return found;
            }
        }
    }

    /// The definition: every cell on its own.
    fn by_cells(
        law: &ThresholdReports,
        touched: Touched<'_>,
        threshold: i64,
    ) -> BTreeMap<Found, f64> {
        let mut all = BTreeMap::from([(Vec::new(), 1.0)]);
        for (step, cell) in (0..STEPS).flat_map(|step| (0..CELLS).map(move |cell| (step, cell))) {
            let count = if step + 1 == STEPS { touched.count(cell).into() } else { 0 };
            let [at_least, more] = [0, 1].map(|d| tail(law.noise(), threshold + d - count));
            let longer = |(found, p): (Found, f64)| {
                let with = |more| [&found[..], &[(step, cell, more)]].concat();
                [
                    (with(true), p * more),
                    (with(false), p * (at_least - more)),
                    (found, p * (1.0 - at_least)),
                ]
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        all
    }

    fn distance(a: &BTreeMap<Found, f64>, b: &BTreeMap<Found, f64>) -> f64 {
        let keys: std::collections::BTreeSet<&Found> = a.keys().chain(b.keys()).collect();
        let of = |law: &BTreeMap<Found, f64>, key| law.get(key).copied().unwrap_or(0.0);
        keys.into_iter().map(|key| (of(a, key) - of(b, key)).abs()).sum()
    }

    /// Which cells are reported together and with what noisy counts, for all small counts, with the usual
    /// skeleton and with one of its own for the step before the last: the law is that of the loop.
    /// The control: one count more.
    #[test]
    fn sets_of_reports_with_their_noisy_counts_have_the_law_of_the_loop() {
        let each = Epsilon::new(0.75).expect("valid");
        let grid = Grid::Cells(CELLS.into());
        let (mut laws, mut controls) = (0, 0);
        for (least, threshold) in [(1, 1), (1, 3), (3, 3), (4, 5)] {
            for law in [
                ThresholdReports::one_sided(each, grid, least).expect("in range"),
                ThresholdReports::two_sided(each, grid, least).expect("in range"),
            ] {
                let own = RareHits::new(carried(law.rate, threshold).min(3)).expect("small");
                for counts in [[1, 1], [1, 2], [2, 3], [4, 1], [6, 2]] {
                    let touched = Touched { cells: &[1, 0], counts: &counts };
                    let truth = by_cells(&law, touched, threshold);
                    for rare in [None, Some(&own)] {
                        let found = by_jumps(&law, rare, touched, threshold);
                        assert!((found.values().sum::<f64>() - 1.0).abs() < 1e-12);
                        let off = distance(&found, &truth);
                        assert!(off < 1e-11, "{off} for {law:?} at {threshold} with {counts:?}");
                        laws += 1;
                    }
                    // Far above the threshold, all that is told apart is certain.
                    if i64::from(counts[1]) <= threshold {
                        let more = Touched { cells: &[1, 0], counts: &[counts[0], counts[1] + 1] };
                        let off = distance(&by_jumps(&law, None, more, threshold), &truth);
                        assert!(off > 1e-3, "no power: {off}");
                        controls += 1;
                    }
                }
            }
        }
        assert_eq!((laws, controls), (80, 34));
    }

    /// Null: of 400,000 cells without counts, each of probability `a^26 = 3.04e-5`, a binomial number is
    /// reported, and each of the four cells as often. The mean of 250 runs is within 1.25 of 12.17 and
    /// a share of the reports within .051 of 1/4 or 1/2, except with probability 1e-6 (Bernstein; Hoeffding
    /// over 2,800 reports or more). The control, a threshold lower by one, reports half as much again.
    #[test]
    fn long_skips_report_as_often_as_their_cells() {
        let each = Epsilon::new(0.4).expect("valid");
        let law = ThresholdReports::one_sided(each, Grid::Cells(4), 25).expect("in range");
        let steps = 100_001;
        assert!(law.rare_hits(4, steps - 1, 26).is_some() && law.rare_hits(4, 9, 26).is_none());
        let touched = Touched { cells: &[], counts: &[] };
        let mut rng = ChaCha20Rng::seed_from_u64(10);
        let mut reports = |threshold| -> Vec<Reported> {
            let mut bits = SecureBits::new(&mut rng);
            let run = |_| law.by_jumps(touched, steps, threshold, &mut bits);
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
