//! The multilinear extension of any function, on public random sets.

use std::fmt;

use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::levels::{Extension, LevelGains};
use super::oracle::{Account, sum_of_chunks};
use super::{Gains, Objective, Oracle};
use crate::CombinatorialError;

/// An [`Oracle`] with its multilinear extension averaged over public thresholds.
///
/// Each sample has a threshold between 0 and 1 for every element, and holds the elements whose
/// coordinate has passed theirs; as a point rises, the sets of all samples grow. Privacy does not depend
/// on the number of samples, only how closely the extension is followed.
///
/// # Complexity
/// About `records * elements * samples / steps` calls per raise; 16 bytes per record and sample.
///
/// # Source
/// Chaturvedi, Nguyen, Zakynthinou (2021), with the samples of Ghazi, Kamath, Kumar, Manurangsi, Sealfon
/// (2024), Algorithm 5.
pub struct Sampled<'a, R, F> {
    oracle: Oracle<'a, R, F>,
    /// Sample by sample, one threshold per element, in units of `2^-32`.
    thresholds: Vec<u32>,
    samples: usize,
}

impl<'a, R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> Sampled<'a, R, F> {
    /// The most that a record is credited over all samples, so that sums over `2^32` records fit.
    pub const MOST_LEVEL_CREDIT: u64 = 1 << 30;

    /// Draws the thresholds. They are public, so `rng` need not be secret.
    ///
    /// # Errors
    /// [`CombinatorialError`] if there are no samples, or so many that a record is credited more than
    /// [`MOST_LEVEL_CREDIT`](Self::MOST_LEVEL_CREDIT) over all of them, or that samples times elements is above `2^28`, a GiB of thresholds.
    pub fn new<G: Rng + ?Sized>(
        oracle: Oracle<'a, R, F>,
        samples: usize,
        rng: &mut G,
    ) -> Result<Self, CombinatorialError> {
        if samples == 0 {
            return Err(CombinatorialError::OutOfRange {
                name: "samples",
                got: 0,
                want: "at least 1",
            });
        }
        if samples as u64 > Self::MOST_LEVEL_CREDIT / oracle.most_credit() {
            let (name, got) = ("samples", samples as i128);
            let want = "so few that samples times most credit is at most 2^30";
            return Err(CombinatorialError::OutOfRange { name, got, want });
        }
        // Saturates where the product does not fit, which is above the limit as well.
        let thresholds = samples.saturating_mul(oracle.elements());
        if thresholds > 1 << 28 {
            let (name, got) = ("samples times elements", thresholds as i128);
            return Err(CombinatorialError::OutOfRange { name, got, want: "at most 2^28" });
        }
        let thresholds = (0..thresholds).map(|_| rng.random()).collect();
        Ok(Self { oracle, thresholds, samples })
    }

    /// Whether a sample holds an element of this level.
    fn holds(&self, sample: usize, element: usize, level: u32, steps: u32) -> bool {
        let threshold = self.thresholds[sample * self.oracle.elements() + element];
        u64::from(level) << 32 > u64::from(threshold) * u64::from(steps)
    }
}

impl<R, F> fmt::Debug for Sampled<'_, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Sampled");
        shown.field("oracle", &self.oracle).field("samples", &self.samples).finish_non_exhaustive()
    }
}

impl<R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> Objective for Sampled<'_, R, F> {
    fn elements(&self) -> usize {
        self.oracle.elements()
    }

    fn most_credit(&self) -> u64 {
        self.oracle.most_credit()
    }

    fn records(&self) -> usize {
        self.oracle.records()
    }

    fn start(&self, kept: &[bool]) -> Box<dyn Gains + '_> {
        self.oracle.start(kept)
    }
}

impl<R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> Extension for Sampled<'_, R, F> {
    fn level_credit(&self) -> u64 {
        self.oracle.most_credit() * self.samples as u64
    }

    fn start_levels(&self, kept: &[bool], steps: u32) -> Box<dyn LevelGains + '_> {
        assert_eq!(kept.len(), self.records(), "one entry per record");
        let records = (0..kept.len()).filter(|&record| kept[record]);
        let accounts = records
            .map(|record| {
                let value = self.oracle.value(record, &[]);
                vec![Account { record, value }; self.samples]
            })
            .collect();
        let sets = vec![Vec::new(); self.samples];
        let levels = vec![0; self.elements()];
        let mut path =
            Path { source: self, steps, accounts, sets, levels, gains: vec![0; self.elements()] };
        path.measure();
        Box::new(path)
    }
}

struct Path<'s, 'a, R, F> {
    source: &'s Sampled<'a, R, F>,
    steps: u32,
    /// For each record that takes part, one account per sample.
    accounts: Vec<Vec<Account>>,
    sets: Vec<Vec<usize>>,
    levels: Vec<u32>,
    gains: Vec<i64>,
}

impl<R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> Path<'_, '_, R, F> {
    /// The samples that an element enters when it is raised.
    fn entered(&self, element: usize) -> Vec<usize> {
        let level = self.levels[element];
        let holds = |sample: usize, level| self.source.holds(sample, element, level, self.steps);
        let enters = |&sample: &usize| !holds(sample, level) && holds(sample, level + 1);
        if level == self.steps {
            return Vec::new();
        }
        (0..self.source.samples).filter(enters).collect()
    }

    fn measure(&mut self) {
        let source = self.source;
        // Public: each sample's set with one element more.
        let with: Vec<Vec<(usize, Vec<usize>)>> = (0..source.elements())
            .map(|element| {
                let with = |sample: usize| (sample, [&self.sets[sample][..], &[element]].concat());
                self.entered(element).into_iter().map(with).collect()
            })
            .collect();
        let of_chunk = |chunk: &[Vec<Account>]| {
            let gain = |accounts: &Vec<Account>, (sample, set): &(usize, Vec<usize>)| {
                let account = accounts[*sample];
                account.gain(source.oracle.value(account.record, set))
            };
            let of_element = |sets: &Vec<(usize, Vec<usize>)>| -> u64 {
                chunk.iter().map(|a| sets.iter().map(|set| gain(a, set)).sum::<u64>()).sum()
            };
            with.iter().map(|sets| of_element(sets).cast_signed()).collect()
        };
        self.gains =
            sum_of_chunks(&self.accounts, (source.oracle.chunk(), source.elements()), of_chunk);
    }
}

impl<R: Sync, F: Fn(&R, &[usize]) -> u64 + Sync> LevelGains for Path<'_, '_, R, F> {
    fn gains(&self) -> &[i64] {
        &self.gains
    }

    fn raise(&mut self, element: usize) {
        if self.levels[element] == self.steps {
            return;
        }
        let entered = self.entered(element);
        self.levels[element] += 1;
        for &sample in &entered {
            self.sets[sample].push(element);
        }
        let (source, sets) = (self.source, &self.sets);
        self.accounts.par_iter_mut().with_min_len(source.oracle.chunk()).for_each(|accounts| {
            for &sample in &entered {
                let account = &mut accounts[sample];
                account.credit(source.oracle.value(account.record, &sets[sample]));
            }
        });
        self.measure();
    }
}
