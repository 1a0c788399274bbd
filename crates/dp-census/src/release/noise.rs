use std::num::{NonZeroU32, NonZeroU64};

use dp_accounting::{Loss, Step};
use dp_mechanism::{CellsRef, Draws, GaussianSum, GeometricSum, MechanismError, Private};
use serde::{Deserialize, Serialize};

use super::{Privacy, dearest_path};
use crate::sizes::totals;
use crate::{CensusError, RegionTree};

/// What noise is added to, for each level of the hierarchy.
///
/// One individual moves one group of one leaf region from one column to a higher one, at most `m` columns further: `m` is the most that
/// an individual brings, or the way from the first column to the last if that is shorter. In every level, that changes the table of one
/// region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Query {
    /// How many groups have each size: one count falls by 1 and one rises by 1, so the absolute length is 2, and the squared one too.
    Counts,
    /// How many groups have at most each size: the counts between the two columns fall by 1, so both lengths are `m`.
    Cumulative,
    /// Cumulative counts in the order of sizes, and of regions within a size, over all regions of a level. Those between the two places
    /// fall by 1, and there are `m` times as many as regions in the level: that is what both lengths are.
    Chain,
}

impl Query {
    /// By how much neighbours change the table of a level with so many regions and columns, in absolute and in squared length.
    ///
    /// `None` for fewer than two columns, which no individual can change, and for a length of `2^32` or more.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use dp_census::Query;
    ///
    /// // Sizes 0, 1, 2, 3 or more: a household of nobody that gets five members moves three columns.
    /// let five = NonZeroU32::new(5).expect("above 0");
    /// assert_eq!(Query::Cumulative.length(52, 4, five), NonZeroU32::new(3));
    /// assert_eq!(Query::Chain.length(52, 4, five), NonZeroU32::new(156));
    /// ```
    pub fn length(
        self,
        regions: usize,
        columns: usize,
        most_quantity: NonZeroU32,
    ) -> Option<NonZeroU32> {
        let furthest = u32::try_from(columns.checked_sub(1)?).unwrap_or(u32::MAX);
        let moved = NonZeroU32::new(furthest.min(most_quantity.get()))?;
        match self {
            Self::Counts => NonZeroU32::new(2),
            Self::Cumulative => Some(moved),
            Self::Chain => {
                let regions = u32::try_from(regions).ok().and_then(NonZeroU32::new)?;
                moved.checked_mul(regions)
            }
        }
    }

    /// What is counted, from the sums of groups by region and size. Sums saturate at the ends of `i64`; those of a private table do not
    /// come near.
    ///
    /// # Panics
    /// If the table has not one row per region.
    pub fn of_totals(self, tree: &RegionTree, columns: usize, table: &mut [i64]) {
        assert_eq!(table.len(), tree.len() * columns, "one row per region");
        match self {
            Self::Counts => {}
            Self::Cumulative => table.chunks_exact_mut(columns).for_each(cumulate),
            Self::Chain => {
                for level in 0..tree.levels() {
                    let mut sum = 0;
                    for column in 0..columns {
                        for region in tree.level(level) {
                            let cell = &mut table[region * columns + column];
                            sum = cell.saturating_add(sum);
                            *cell = sum;
                        }
                    }
                }
            }
        }
    }

    /// The private phase of a release: the table of all regions that noise is added to.
    fn exact_table(self, tree: &RegionTree, columns: usize, leaves: &[i64]) -> Vec<i64> {
        let mut table = totals(tree, columns, leaves);
        self.of_totals(tree, columns, &mut table);
        table
    }

    /// The leaf of a receipt that pays for the noise of one region, where the regions of a level are side by side.
    fn of_one_region(self) -> Option<&'static str> {
        match self {
            Self::Counts => Some("groups by size in one region"),
            Self::Cumulative => Some("cumulative groups in one region"),
            Self::Chain => None,
        }
    }
}

/// Running sums.
fn cumulate(row: &mut [i64]) {
    let mut sum = 0;
    for cell in row {
        sum = cell.saturating_add(sum);
        *cell = sum;
    }
}

/// The noise of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LevelNoise {
    Geometric(GeometricSum),
    Gaussian { sum: GaussianSum, length_squared: NonZeroU64 },
}

impl LevelNoise {
    /// For one promise on a query of this length. Counts change by at most one in each cell, so their squared length is the length.
    fn new(privacy: Privacy, length: NonZeroU32, level: usize) -> Result<Self, CensusError> {
        let of_level = |error| CensusError::Noise { level, error };
        Self::with_squared(privacy, length.into(), length.into()).map_err(of_level)
    }

    /// For numbers of which each changes by no more than this.
    pub(super) fn of_numbers(privacy: Privacy, most: &[NonZeroU32]) -> Result<Self, CensusError> {
        let of_question = |error| CensusError::QuestionNoise { error };
        let [length, squared] = [1, 2].map(|power| {
            let sum = most.iter().map(|most| u64::from(most.get()).saturating_pow(power));
            NonZeroU64::new(sum.fold(0, u64::saturating_add)).unwrap_or(NonZeroU64::MIN)
        });
        Self::with_squared(privacy, length, squared).map_err(of_question)
    }

    fn with_squared(
        privacy: Privacy,
        length: NonZeroU64,
        length_squared: NonZeroU64,
    ) -> Result<Self, MechanismError> {
        match privacy {
            Privacy::Pure { epsilon } => {
                let sum = GeometricSum::new(epsilon, length)?;
                Ok(Self::Geometric(sum))
            }
            Privacy::Zcdp { rho, .. } => {
                let sum = GaussianSum::new(rho)?;
                Ok(Self::Gaussian { sum, length_squared })
            }
            Privacy::Gaussian { mu, .. } => {
                let sum = GaussianSum::rounded(mu)?;
                Ok(Self::Gaussian { sum, length_squared })
            }
        }
    }

    pub(super) fn loss(self) -> Loss {
        match self {
            Self::Geometric(sum) => sum.loss(),
            Self::Gaussian { sum, .. } => sum.loss(),
        }
    }

    /// The loss as a number that adds up over levels: epsilon of geometric noise, rho or the square of mu of Gaussian noise.
    pub(super) fn cost(self) -> f64 {
        match self.loss() {
            Loss::Pure { epsilon } => epsilon.get(),
            Loss::Zcdp { rho } => rho.get(),
            Loss::Gaussian { mu } => mu.get().powi(2),
            _ => f64::INFINITY,
        }
    }

    /// In each cell, in groups squared.
    pub(super) fn variance(self) -> f64 {
        match self {
            Self::Geometric(sum) => sum.variance(),
            Self::Gaussian { sum, length_squared } => {
                sum.noise_multiplier().powi(2) * length_squared.get() as f64
            }
        }
    }

    pub(super) fn release(self, cells: CellsRef<'_, i64>, draws: &mut Draws<'_>) -> Vec<i64> {
        match self {
            Self::Geometric(sum) => sum.release(cells, draws),
            Self::Gaussian { sum, length_squared } => {
                sum.release(cells, length_squared.get(), draws)
            }
        }
    }
}

/// The noise of every level that is looked at, the root's first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Noise {
    pub(super) query: Query,
    pub(super) levels: Vec<LevelNoise>,
    /// The most that one individual adds to the size of a group.
    most_quantity: NonZeroU32,
}

impl Noise {
    pub(super) fn calibrate(
        privacy: Privacy,
        query: Query,
        (tree, columns): (&RegionTree, usize),
        shares: &[f64],
        most_quantity: NonZeroU32,
    ) -> Result<Self, CensusError> {
        // Levels are paid for one after the other: each is a query of its own over all groups, with its own length and its share of the loss.
        let length = |level: usize| {
            let regions = tree.level(level).len();
            let most = u64::from(most_quantity.get()).min(columns as u64 - 1);
            let product = (regions as u64).saturating_mul(most);
            query.length(regions, columns, most_quantity).ok_or(CensusError::OutOfRange {
                name: "regions of a level times columns that an individual can move a group",
                got: product.into(),
                want: "below 2^32",
            })
        };
        let parts = privacy.split(shares)?.into_iter().enumerate();
        let level = |(level, privacy)| LevelNoise::new(privacy, length(level)?, level);
        let levels = parts.map(level).collect::<Result<_, CensusError>>()?;
        Ok(Self { query, levels, most_quantity })
    }

    /// The noisy table of all regions, 0 in levels that are not looked at, from the exact one of the leaves. Its cells saturate at `most` in
    /// absolute value.
    pub(super) fn release(
        &self,
        (tree, columns): (&RegionTree, usize),
        leaves: Private<&[i64]>,
        most: i64,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        // Here the table leaves the data: everything after the draws below sees noisy cells and public numbers.
        let exact = leaves.map(|leaves| self.query.exact_table(tree, columns, leaves));
        let exact = exact.cells(tree.len() * columns);
        let mut noisy = Vec::with_capacity(exact.len());
        for (level, noise) in self.levels.iter().enumerate() {
            let regions = tree.level(level);
            let cells = exact.range(regions.start * columns..regions.end * columns);
            let name = level_name(level, regions.len());
            let mut draws = draws.within(&name);
            match self.query.of_one_region() {
                // A group lies in one region of the level, so that its regions are parts and cost as much as one.
                Some(leaf) => {
                    for (region, row) in (0..).zip(cells.chunks(columns)) {
                        noisy.extend(noise.release(row, &mut draws.part(leaf, 0, region)));
                    }
                }
                None => noisy.extend(noise.release(cells, &mut draws.leaf(&name, 0))),
            }
        }
        for cell in &mut noisy {
            *cell = (*cell).clamp(-most, most);
        }
        noisy.resize(tree.len() * columns, 0);
        noisy
    }

    /// What the dearest way from the root to a leaf costs, in epsilon, rho or squares of mu.
    pub(super) fn dearest_path(&self, tree: &RegionTree) -> f64 {
        let of_level = |(level, noise): (usize, &LevelNoise)| {
            std::iter::repeat_n(noise.cost(), tree.level(level).len())
        };
        let mut losses: Vec<f64> = self.levels.iter().enumerate().flat_map(of_level).collect();
        // Levels without noise are not looked at.
        losses.resize(tree.len(), 0.0);
        dearest_path(tree, &losses)
    }

    /// The itemised cost: the levels one after the other, the regions of a level side by side.
    pub(super) fn spent(&self, tree: &RegionTree) -> Step {
        let level = |(level, noise): (usize, &LevelNoise)| {
            let name = level_name(level, tree.level(level).len());
            match self.query.of_one_region() {
                Some(leaf) => Step::parallel(name, vec![Step::spend(leaf, noise.loss())]),
                None => Step::spend(name, noise.loss()),
            }
        };
        let most = self.most_quantity;
        let name = format!("levels, individuals who add up to {most} to the size of a group");
        Step::sequential(name, self.levels.iter().enumerate().map(level).collect())
    }

    /// In each cell of each level that is looked at, in groups squared.
    pub(super) fn variances(&self) -> Vec<f64> {
        self.levels.iter().map(|level| level.variance()).collect()
    }

    /// Weights in inverse proportion to the variance of each level, at most `most`; all 1 if the levels have equal noise.
    pub(super) fn weights(&self, most: u32) -> Vec<u32> {
        let variances = self.variances();
        let noisiest = variances.iter().copied().fold(0.0, f64::max);
        if variances.iter().all(|&variance| variance > noisiest * (1.0 - 1e-6)) {
            return vec![1; variances.len()];
        }
        // Some room below, so that rounding to integers costs little. Next to no noise counts as very little.
        let weight = |variance: &f64| (16.0 * noisiest / variance.max(1e-12)).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and a u32"
        )]
        variances
            .iter()
            .map(|variance| weight(variance).clamp(1.0, f64::from(most)) as u32)
            .collect()
    }
}

/// Variance of the noise of each level at these shares, before anything is rounded; for choosing among shares.
pub(super) fn expected_variances(
    privacy: Privacy,
    query: Query,
    (tree, columns): (&RegionTree, usize),
    shares: &[f64],
    most_quantity: NonZeroU32,
) -> Vec<f64> {
    let of_level = |(level, share): (usize, &f64)| {
        let length = query.length(tree.level(level).len(), columns, most_quantity);
        let length = length.map_or(f64::INFINITY, |length| f64::from(length.get()));
        match privacy {
            Privacy::Pure { epsilon } => {
                // Of two-sided geometric noise of ratio `a`: `2 a / (1 - a)^2`.
                let ratio = (-epsilon.get() * share / length).exp();
                2.0 * ratio / (1.0 - ratio).powi(2)
            }
            Privacy::Zcdp { rho, .. } => length / (2.0 * rho.get() * share),
            Privacy::Gaussian { mu, .. } => length / (mu.get().powi(2) * share),
        }
    };
    shares.iter().enumerate().map(of_level).collect()
}

/// The step of a level in a receipt.
fn level_name(level: usize, regions: usize) -> String {
    format!("level {}, {regions} regions", level + 1)
}

#[cfg(test)]
mod tests {
    use dp_mechanism::{ChaCha20Rng, SecureSource};
    use rand::SeedableRng;

    use super::*;

    /// Noise without end is cut off on both sides, where the solvers' numbers end.
    #[test]
    fn noisy_cells_saturate() {
        let hierarchy = crate::Hierarchy::new([("US", None), ("GA", Some("US"))]).expect("valid");
        let (tree, most) = (hierarchy.tree(), 7);
        let privacy = Privacy::pure(0.01).expect("valid");
        let noise =
            Noise::calibrate(privacy, Query::Cumulative, (tree, 40), &[0.5, 0.5], NonZeroU32::MIN);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let cells = noise.expect("valid").release(
            (tree, 40),
            Private::new(&[0; 40]),
            most,
            &mut Draws::unplanned(&mut SecureSource::new(&mut rng)),
        );
        assert_eq!(cells.len(), 80);
        assert_eq!((cells.iter().min(), cells.iter().max()), (Some(&-most), Some(&most)));
    }

    /// Of as many numbers as a question can ask for, with two levels between: absolute changes add up, or their squares.
    #[test]
    fn noise_of_several_numbers_is_for_all_of_them() {
        let most = NonZeroU32::new(40_000).expect("above 0");
        let ratio = |privacy: Privacy, numbers: usize| {
            let variance = |numbers: usize| {
                LevelNoise::of_numbers(privacy, &vec![most; numbers]).expect("valid").variance()
            };
            variance(numbers) / variance(1)
        };
        for numbers in 2..=4 {
            let count = numbers as f64;
            let pure = ratio(Privacy::pure(0.5).expect("valid"), numbers);
            assert!((pure / count.powi(2) - 1.0).abs() < 1e-6, "{numbers}: {pure}");
            for privacy in [Privacy::zcdp(0.5, 1e-9), Privacy::gaussian(1.0, 1e-9)] {
                let squares = ratio(privacy.expect("valid"), numbers);
                assert!((squares / count - 1.0).abs() < 1e-6, "{numbers}: {squares}");
            }
        }
    }

    #[test]
    fn lengths_end_at_the_last_column() {
        let length = |query: Query, columns, most| {
            let most = NonZeroU32::new(most).expect("above 0");
            query.length(5, columns, most).map(NonZeroU32::get)
        };
        for (query, want) in [
            (Query::Counts, [2, 2, 2, 2]),
            (Query::Cumulative, [1, 3, 4, 4]),
            (Query::Chain, [5, 15, 20, 20]),
        ] {
            let got = [1, 3, 4, u32::MAX].map(|most| length(query, 5, most));
            assert_eq!(got, want.map(Some), "{query:?}");
            assert_eq!((length(query, 1, 1), length(query, 0, 1)), (None, None), "{query:?}");
        }
        assert_eq!(length(Query::Chain, 1 << 30, u32::MAX), None);
        assert_eq!(length(Query::Cumulative, usize::MAX, u32::MAX), Some(u32::MAX));
    }
}
