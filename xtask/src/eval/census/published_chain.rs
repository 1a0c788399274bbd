//! The chain mechanism as published, whose noise is for one region: for its column in the tables, marked as not private.

use dp_accounting::Epsilon;
use dp_census::solve::{MAX_VALUE, Problem, chain};
use dp_census::{CensusError, GroupSizes, Query, RegionTree};
use dp_mechanism::{Draws, GeometricSum, SecureSource};
use rand::rngs::ChaCha20Rng;
use std::num::NonZeroU64;

/// One release with noise of scale `L / epsilon` in all of the `L` levels, as if one entry of a level's chain changed. As many change as
/// the level has regions, so that it costs [`true_epsilon`]. All but the noise is the code of the library.
pub(super) fn release(
    tree: &RegionTree,
    sizes: &GroupSizes,
    epsilon: f64,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<i64>, CensusError> {
    let columns = sizes.columns();
    let mut table = sizes.exact_totals(tree)?;
    Query::Chain.of_totals(tree, columns, &mut table);
    let share = Epsilon::new(epsilon / tree.levels() as f64)?;
    let noise = GeometricSum::new(share, NonZeroU64::MIN)
        .map_err(|error| CensusError::Noise { level: 0, error })?;
    let noisy = noise.release(&table, &mut Draws::unplanned(&mut SecureSource::new(rng)));
    let noisy: Vec<i64> = noisy.into_iter().map(|n| n.clamp(-MAX_VALUE, MAX_VALUE)).collect();
    let weights = vec![1; tree.levels()];
    let problem = Problem::new(tree, columns, &noisy, &weights, sizes.groups())?;
    Ok(chain::solve(&problem))
}

/// What `epsilon` comes to; the audit of the library finds it on a tree of four levels.
pub(super) fn true_epsilon(regions_by_level: &[usize], epsilon: f64) -> f64 {
    let regions: usize = regions_by_level.iter().sum();
    epsilon * regions as f64 / regions_by_level.len() as f64
}

#[cfg(test)]
mod tests {
    use super::true_epsilon;

    /// The figure for the census of the paper: 1 nation, 52 states and 3,144 counties.
    #[test]
    fn the_true_epsilon_of_the_published_chain() {
        assert!((true_epsilon(&[1, 52, 3_144], 0.1) - 106.6).abs() < 0.05);
        assert!((true_epsilon(&[1, 2, 3, 4], 1.0) - 2.5).abs() < 1e-12);
    }
}
