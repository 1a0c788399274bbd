//! A made-up nation with the published shape of one: households by size in counties, states and the whole.
//!
//! Sizes one to six have the shares of the census of 2010, and every larger size 0.42 times the groups of the size before, which is the
//! ratio of the sizes seven and six that year. County totals are lognormal, states and counties differ in shape by Dirichlet draws, and
//! fifty large groups lie anywhere between 10 people and the largest size, as in the paper.

use crate::Error;
use crate::seed::named_rng;
use dp_census::{Bins, CensusError, From0, GroupSizes, Hierarchy};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand_distr::{Binomial, Distribution, Gamma, LogNormal};

/// Its id among the data sets, at the size of the paper.
pub const ID: &str = "census-synthetic";
/// The seed of the nation that the evaluation uses.
pub const SEED: u64 = 7;

/// How large a nation is.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Parts of the nation.
    pub states: usize,
    /// Parts of the states.
    pub counties: usize,
    /// Households in all.
    pub groups: i64,
    /// The largest size that has a column of its own.
    pub largest: u32,
}

/// That of the paper: the United States with the District of Columbia and Puerto Rico.
pub const WHOLE: Scale = Scale { states: 52, counties: 3_144, groups: 117_630_445, largest: 1_000 };
/// A tenth of it.
pub const TENTH: Scale = Scale { states: 12, counties: 314, groups: 11_763_044, largest: 200 };

/// Households of one to six people in 2010.
const HOUSEHOLDS: [f64; 6] =
    [31_204_909.0, 38_243_290.0, 18_758_985.0, 15_625_452.0, 7_538_631.0, 3_074_065.0];
/// Groups of a size over those of the size before, from six on.
const TAIL: f64 = 0.42;
/// Sizes with a share of their own; the shares beyond are below one in a billion.
const SIZES: usize = 30;
/// Large groups.
pub const OUTLIERS: i64 = 50;
/// Concentration of states around the nation and of counties around their state.
const STATE: f64 = 800.0;
const COUNTY: f64 = 120.0;
/// Of the logarithm of a county's number of groups.
const SPREAD: f64 = 1.62;

/// The nation of this scale and seed. It has no empty groups; the mechanisms do not know.
///
/// # Errors
/// If the scale is too small for what it asks for.
pub fn generate(scale: Scale, seed: u64) -> Result<(Hierarchy, GroupSizes), Error> {
    let bins = From0::up_to(scale.largest).map_err(|error| refused(&error))?;
    let mut rng = named_rng(&["nation", &scale.counties.to_string(), &seed.to_string()]);
    let states = states_of_counties(scale, &mut rng);
    let sizes = county_totals(scale, &mut rng)?;
    let national = shares(&national(), SIZES);
    let columns = bins.count();
    let mut counts = vec![0_i64; scale.counties * columns];
    let column = |size: usize| size.min(scale.largest as usize);
    let mut shape = Vec::new();
    for county in 0..scale.counties {
        if county == 0 || states[county] != states[county - 1] {
            shape = dirichlet(&national, STATE, &mut rng)?;
        }
        let own = dirichlet(&shape, COUNTY, &mut rng)?;
        for (i, groups) in multinomial(sizes[county], &own, &mut rng)?.into_iter().enumerate() {
            counts[county * columns + column(i + 1)] += groups;
        }
    }
    for _ in 0..OUTLIERS {
        let size = rng.random_range(10..=scale.largest as usize);
        let county = rng.random_range(0..scale.counties);
        counts[county * columns + column(size)] += 1;
    }
    let sizes = GroupSizes::from_table(bins, counts).map_err(|error| refused(&error))?;
    Ok((hierarchy(&states)?, sizes))
}

fn refused(error: &CensusError) -> Error {
    Error::library("the nation", error)
}

fn hierarchy(states: &[usize]) -> Result<Hierarchy, Error> {
    let state = |state: usize| format!("state {state}");
    let count = states.last().map_or(0, |last| last + 1);
    let counties = states.iter().enumerate();
    let counties = counties.map(|(i, &of)| (format!("county {i}"), state(of)));
    let above = (0..count).map(|i| (state(i), "nation".to_owned()));
    let rows: Vec<(String, String)> = above.chain(counties).collect();
    let rows = rows.iter().map(|(name, parent)| (name.as_str(), Some(parent.as_str())));
    Hierarchy::new([("nation", None)].into_iter().chain(rows)).map_err(|error| refused(&error))
}

/// The state of each county, ascending. Every state has one at least; how many more is uneven.
fn states_of_counties(scale: Scale, rng: &mut ChaCha20Rng) -> Vec<usize> {
    let weights: Vec<f64> = (0..scale.states).map(|_| rng.random_range(0.05..1.0)).collect();
    let total: f64 = weights.iter().sum();
    let spare = scale.counties - scale.states;
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let more = apportion(i64::try_from(spare).expect("a few thousand"), &shares);
    let counties = |state: usize| 1 + usize::try_from(more[state]).expect("a part of the spare");
    (0..scale.states).flat_map(|state| std::iter::repeat_n(state, counties(state))).collect()
}

fn county_totals(scale: Scale, rng: &mut ChaCha20Rng) -> Result<Vec<i64>, Error> {
    let law =
        LogNormal::new(0.0, SPREAD).map_err(|error| Error::library("county sizes", &error))?;
    let weights: Vec<f64> = (0..scale.counties).map(|_| law.sample(rng)).collect();
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    Ok(apportion(scale.groups - OUTLIERS, &shares))
}

/// Whole numbers in proportion to the shares: floors, and one more for the largest remainders.
#[allow(clippy::cast_possible_truncation, reason = "below the total")]
fn apportion(total: i64, shares: &[f64]) -> Vec<i64> {
    let exact: Vec<f64> = shares.iter().map(|share| share * total as f64).collect();
    let mut parts: Vec<i64> = exact.iter().map(|x| x.floor() as i64).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| (exact[b] - exact[b].floor()).total_cmp(&(exact[a] - exact[a].floor())));
    let missing = usize::try_from(total - parts.iter().sum::<i64>()).unwrap_or(0);
    order.into_iter().take(missing).for_each(|i| parts[i] += 1);
    parts
}

fn national() -> Vec<f64> {
    let tail = std::iter::successors(Some(HOUSEHOLDS[5] * TAIL), |groups| Some(groups * TAIL));
    HOUSEHOLDS.into_iter().chain(tail).take(SIZES).collect()
}

fn shares(weights: &[f64], count: usize) -> Vec<f64> {
    let total: f64 = weights.iter().take(count).sum();
    weights.iter().take(count).map(|weight| weight / total).collect()
}

/// Shares around a mean: independent gamma draws over their sum.
fn dirichlet(mean: &[f64], concentration: f64, rng: &mut ChaCha20Rng) -> Result<Vec<f64>, Error> {
    let draw = |share: &f64| {
        // A share that came out as zero stays zero.
        if *share <= 0.0 {
            return Ok(0.0);
        }
        let law = Gamma::new(concentration * share, 1.0);
        law.map(|law| law.sample(rng)).map_err(|error| Error::library("shapes", &error))
    };
    let drawn: Vec<f64> = mean.iter().map(draw).collect::<Result<_, _>>()?;
    Ok(shares(&drawn, drawn.len()))
}

/// How many of `total` fall on each share: one binomial after the other.
fn multinomial(total: i64, shares: &[f64], rng: &mut ChaCha20Rng) -> Result<Vec<i64>, Error> {
    let (mut left, mut rest) = (total, 1.0);
    let mut parts = Vec::with_capacity(shares.len());
    for &share in shares {
        let p = if rest > 0.0 { (share / rest).clamp(0.0, 1.0) } else { 1.0 };
        let n = u64::try_from(left).expect("never more than are left");
        let law = Binomial::new(n, p).map_err(|error| Error::library("county sizes", &error))?;
        let drawn = i64::try_from(law.sample(rng)).expect("at most as many as are left");
        parts.push(drawn);
        left -= drawn;
        rest -= share;
    }
    // Rounding may leave a group over; the most common size takes it.
    parts[0] += left;
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::{TENTH, generate, multinomial};
    use crate::seed::named_rng;

    #[test]
    fn a_tenth_has_its_groups_its_regions_and_the_shape_of_the_census() {
        let (hierarchy, sizes) = generate(TENTH, 7).unwrap();
        let tree = hierarchy.tree();
        assert_eq!((tree.len(), tree.levels(), tree.level(1).len()), (327, 3, 12));
        assert_eq!((sizes.groups(), sizes.columns()), (TENTH.groups, 201));
        let nation = &sizes.exact_totals(tree).unwrap()[..201];
        let share = |size: usize| nation[size] as f64 / TENTH.groups as f64;
        assert_eq!(nation[0], 0, "nobody lives in an empty household");
        assert!((share(1) - 0.267).abs() < 0.03 && (share(2) - 0.328).abs() < 0.03);
        assert!((0.3..0.55).contains(&(share(8) / share(7))), "the tail");
        let outliers: i64 = nation[30..].iter().sum();
        assert!((20..=50).contains(&outliers), "{outliers}");
        let (_, again) = generate(TENTH, 7).unwrap();
        assert_eq!(again, sizes);
    }

    #[test]
    fn every_group_falls_somewhere() {
        let mut rng = named_rng(&["multinomial"]);
        for total in [0, 1, 1_000_000] {
            let parts = multinomial(total, &[0.5, 0.0, 0.3, 0.2], &mut rng).unwrap();
            assert_eq!(parts.iter().sum::<i64>(), total);
            assert!(parts.iter().all(|&part| part >= 0) && parts[1] == 0);
        }
    }
}
