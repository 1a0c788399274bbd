use serde::{Deserialize, Serialize};

use crate::{CensusError, RegionTree};

/// How the privacy loss is divided among the levels of the hierarchy.
///
/// The error of a level falls in proportion to what it gets, so what helps the counties hurts the nation. Shares are of epsilon, or
/// of rho under zCDP. They are public settings, never fitted to the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelShares {
    /// By a model of the error, for the least sum of errors over all levels: from the tree, the number of groups (of each region if that is
    /// public), the columns and the loss, so from public facts alone. [`Census::shares`](super::Census::shares) says what it comes to.
    ///
    /// Where these leave open which of several ways is best by far, and the answers cost at most a few per cent of the loss, it is first asked how unlike regions are,
    /// as with [`AfterQuestion`](Self::AfterQuestion); [`Census::ways`](super::Census::ways) says so.
    #[default]
    Chosen,
    /// As chosen, after a question that gets this share of the loss, above 0 and at most a half: how unlike are the regions of the lowest level, in one noisy number about the root's row and one
    /// about the rows of each level between, up to two. The rest goes to one of the ways, [`Census::ways`](super::Census::ways), by the answers. For [`Method::Fitted`](super::Method::Fitted) with public numbers of groups of regions.
    AfterQuestion(f64),
    /// The same for every level, as in the paper. Best for the upper levels.
    Equal,
    /// In proportion to the square root of the number of regions. That minimises the sum over all levels of errors that are in
    /// proportion to (regions) / (share), which is what pure noise does if the regions of a level fill about equally many columns.
    RootOfRegions,
    /// One per level, the root first; they add up to 1.
    Fixed(Vec<f64>),
}

impl LevelShares {
    /// 10, 20 and 70 % for three levels: halves the error of the lowest level for two to three times that of the first.
    pub fn ten_twenty_seventy() -> Self {
        Self::Fixed(vec![0.1, 0.2, 0.7])
    }

    /// One positive number per level that add up to about 1; those of [`Chosen`](Self::Chosen) and
    /// [`AfterQuestion`](Self::AfterQuestion) depend on more than the tree, so that the ones of [`RootOfRegions`](Self::RootOfRegions) stand in for them here.
    ///
    /// # Errors
    /// [`CensusError`] if fixed shares do not fit the levels, are not positive, or are more than `1e-9` away from 1 together.
    pub fn of(&self, tree: &RegionTree) -> Result<Vec<f64>, CensusError> {
        let levels = tree.levels();
        match self {
            Self::Equal => Ok(vec![1.0 / levels as f64; levels]),
            Self::Chosen | Self::AfterQuestion(_) | Self::RootOfRegions => {
                let roots = (0..levels).map(|level| (tree.level(level).len() as f64).sqrt());
                let total: f64 = roots.clone().sum();
                Ok(roots.map(|root| root / total).collect())
            }
            Self::Fixed(shares) => {
                if shares.len() != levels {
                    return Err(CensusError::NumberOfShares { levels, shares: shares.len() });
                }
                if let Some(level) = shares.iter().position(|&s| !(s.is_finite() && s > 0.0)) {
                    return Err(CensusError::Share { level, got: shares[level] });
                }
                let sum: f64 = shares.iter().sum();
                if (sum - 1.0).abs() > 1e-9 {
                    return Err(CensusError::SumOfShares { got: sum });
                }
                Ok(shares.clone())
            }
        }
    }
}

/// The dearest way from the root to a leaf, if the table of region `r` costs `losses[r]`, in epsilon or in rho.
///
/// A group lies in one region of every level, and these are the regions of one way. So an individual costs the sum along one way,
/// whatever the losses elsewhere, and the dearest way is the loss of the whole hierarchy.
///
/// # Panics
/// If there is not one loss per region.
pub fn dearest_path(tree: &RegionTree, losses: &[f64]) -> f64 {
    assert_eq!(losses.len(), tree.len(), "one loss per region");
    let mut along = losses.to_vec();
    for region in 1..tree.len() {
        // Parents come before their children, so theirs are complete.
        along[region] += along[tree.parent(region).expect("only the first region has none")];
    }
    along[tree.leaves()].iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    fn tree() -> RegionTree {
        let parents = [None, Some(0), Some(0), Some(1), Some(1), Some(1), Some(2)];
        RegionTree::from_parents(&parents).expect("valid")
    }

    #[test]
    fn shares_add_up_to_one() {
        for shares in
            [LevelShares::Equal, LevelShares::RootOfRegions, LevelShares::ten_twenty_seventy()]
        {
            let shares = shares.of(&tree()).expect("three levels");
            assert_abs_diff_eq!(shares.iter().sum::<f64>(), 1.0, epsilon = 1e-12);
        }
        let roots = LevelShares::RootOfRegions.of(&tree()).expect("valid");
        assert_abs_diff_eq!(roots[2] / roots[0], 2.0, epsilon = 1e-12);
    }

    #[test]
    fn shares_that_do_not_fit_are_refused() {
        let message = |shares: &[f64]| {
            LevelShares::Fixed(shares.to_vec()).of(&tree()).expect_err("refused").to_string()
        };
        assert_eq!(message(&[0.5, 0.5]), "there must be one share per level, got 2 for 3 levels");
        assert_eq!(message(&[0.5, 0.3, 0.1]), "the shares of the levels must add up to 1, got 0.9");
        assert_eq!(message(&[0.5, 0.3, 0.3]), "the shares of the levels must add up to 1, got 1.1");
        for bad in [0.0, -0.0, -0.1, f64::NAN, f64::INFINITY] {
            let want = format!("the share of level 2 must be finite and > 0, got {bad}");
            assert_eq!(message(&[0.5, bad, 0.5]), want);
        }
    }

    #[test]
    fn the_dearest_path_is_a_sum_over_levels_not_over_regions() {
        let losses = [0.1, 0.2, 0.5, 0.3, 0.7, 0.0, 0.2];
        assert_abs_diff_eq!(dearest_path(&tree(), &losses), 1.0, epsilon = 1e-12);
    }
}
