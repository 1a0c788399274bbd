//! Tables of groups in a hierarchy: the chain as published, and groups that fall out of the table at its ends.

use dp_accounting::{Epsilon, MemberOfGroup};
use dp_audit::{Neighbours, compare, multisets};
use dp_census::release::{unlikeness, unlikeness_between};
use dp_census::solve::{MAX_VALUE, Problem, chain};
use dp_census::{
    Bins, Census, CensusError, CensusSettings, From0, From1, GroupSizes, Hierarchy, LevelShares,
    Method, Privacy, Query, RegionTree,
};
use dp_mechanism::{Draws, GeometricSum, Mechanism, SecureSource, Source};
use std::num::{NonZeroU32, NonZeroU64};

use dp_audit::harness::{Effort, Found, MutantCheck, MutantCode};

use crate::nation::{TINY, by, cells, hierarchy, neighbours};
use crate::tables::by_parts;

/// Every mutant with its twin.
pub(crate) fn all() -> Vec<MutantCheck> {
    let code: [MutantCode; 10] = [
        ("M14", chain_as_published, chain_of_the_library),
        ("M14-appears", no_column_for_empty_groups, a_column_for_empty_groups),
        ("M14-outgrown", dropped_beyond_the_last_column, counted_in_the_last_column),
        ("M14-quantity", noise_for_a_quantity_of_one, noise_for_a_quantity_of_three),
        ("M60", zero_where_no_group_is, as_it_comes),
        ("M140", scatter_of_exact_counts, as_it_comes),
        ("M141", method_by_exact_counts, as_it_comes),
        ("M292", |effort| by_parts(effort, 2), |effort| by_parts(effort, 1)),
        ("M294", way_by_exact_number, |effort| way_by_noisy_number(effort, TINY[1])),
        ("M294-below", level_by_exact_number, |effort| way_by_noisy_number(effort, TINY[3])),
    ];
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code)
}

const EPSILON: f64 = 1.0;

/// The chain mechanism with the noise that the paper gives it: scale `L / epsilon` in all of the `L` levels, as if one entry of the
/// chain changed.
///
/// All but the noise is the code of the library.
fn published_chain(
    tree: &RegionTree,
    sizes: &GroupSizes,
    epsilon: f64,
    source: &mut dyn Source,
) -> Result<Vec<i64>, CensusError> {
    let columns = sizes.columns();
    let mut noisy = sizes.exact_totals(tree).expect("of this tree");
    Query::Chain.of_totals(tree, columns, &mut noisy);
    let share = Epsilon::new(epsilon / tree.levels() as f64)?;
    let noise = GeometricSum::new(share, NonZeroU64::MIN)
        .map_err(|error| CensusError::Noise { level: 0, error })?;
    let mut noisy = noise.release(&noisy, &mut Draws::unplanned(source));
    for cell in &mut noisy {
        *cell = (*cell).clamp(-MAX_VALUE, MAX_VALUE);
    }
    let weights = vec![1; tree.levels()];
    let problem = Problem::new(tree, columns, &noisy, &weights, sizes.groups())?;
    Ok(chain::solve(&problem))
}

/// The chain on the deepest of the tiny trees: ten regions in four levels.
fn chain_as_published(effort: Effort) -> Found {
    on_all_pairs(effort, |hierarchy, sizes, source| {
        published_chain(hierarchy.tree(), sizes, EPSILON, source).expect("a tiny table")
    })
}

/// The same with the noise that the library gives it.
fn chain_of_the_library(effort: Effort) -> Found {
    on_all_pairs(effort, |hierarchy, sizes, source| {
        let bins = From0::up_to(3).expect("valid");
        let settings = by(Method::Chain);
        let plan = Census::new(hierarchy.clone(), bins, sizes.groups(), privacy(), settings);
        plan.expect("valid").replay(sizes, source).0.counts().to_vec()
    })
}

/// What the default mechanism releases, with the sizes left out that no group of the region truly has: as if a table were only noisy
/// where it is not empty.
fn zero_where_no_group_is(effort: Effort) -> Found {
    on_all_pairs(effort, |hierarchy, sizes, source| {
        let mut counts = default_release(hierarchy, sizes, source);
        let truth = sizes.exact_totals(hierarchy.tree()).expect("of this tree");
        counts.iter_mut().zip(truth).filter(|(_, truth)| *truth == 0).for_each(|(c, _)| *c = 0);
        counts
    })
}

/// What it releases.
fn as_it_comes(effort: Effort) -> Found {
    on_all_pairs(effort, default_release)
}

/// A row is worth as much as exact cumulative counts scatter around a straight line: the strength is read off the data. Multiplied in, as the
/// rounding of what it would be drawn to hides most of the difference on tiny tables.
fn scatter_of_exact_counts(effort: Effort) -> Found {
    on_all_pairs(effort, |hierarchy, sizes, source| {
        let noisy = default_release(hierarchy, sizes, source);
        let (columns, mut exact) =
            (sizes.columns(), sizes.exact_totals(hierarchy.tree()).expect("of this tree"));
        Query::Cumulative.of_totals(hierarchy.tree(), columns, &mut exact);
        let width = i64::try_from(columns).expect("four");
        let of_row = |row: &[i64]| {
            let last = row[row.len() - 1];
            let off = (1..).zip(row).map(|(i, sum)| (sum * width - i * last).pow(2));
            off.sum::<i64>()
        };
        let scatter = 1 + exact.chunks_exact(columns).map(of_row).sum::<i64>();
        noisy.into_iter().map(|count| count * scatter).collect()
    })
}

/// One way to make a table where most sizes occur, another where they do not, judged by the counts that are to be protected.
fn method_by_exact_counts(effort: Effort) -> Found {
    on_all_pairs(effort, |hierarchy, sizes, source| {
        let occupied = sizes.counts().iter().enumerate().filter(|(_, count)| **count > 0);
        let odd = occupied.map(|(cell, _)| cell).sum::<usize>() % 2 == 1;
        let method = if odd { Method::Counts } else { Method::Fitted };
        let bins = From0::up_to(3).expect("valid");
        let plan = Census::new(hierarchy.clone(), bins, sizes.groups(), privacy(), by(method));
        plan.expect("valid").replay(sizes, source).0.into_counts()
    })
}

/// How unlike regions are decides which way to spend the loss, as it does in the library, but without noise.
fn way_by_exact_number(effort: Effort) -> Found {
    on_pairs(effort, (TINY[1], effort.of(2, 3)), |hierarchy, sizes, source| {
        let region_groups = sizes.groups_of_regions();
        let alike = unlikeness(&region_groups, sizes.counts()) % 2 == 0;
        let method = if alike { Method::RootSpread } else { Method::Fitted };
        let (region_groups, shares) = (Some(region_groups), LevelShares::Equal);
        let settings = CensusSettings { region_groups, shares, ..by(method) };
        let bins = From0::up_to(3).expect("valid");
        let plan = Census::new(hierarchy.clone(), bins, sizes.groups(), privacy(), settings);
        plan.expect("valid").replay(sizes, source).0.into_counts()
    })
}

/// Whether the rows of a level between are spread is decided by how unlike the regions below are, without noise.
fn level_by_exact_number(effort: Effort) -> Found {
    on_pairs(effort, (TINY[3], effort.of(2, 3)), |hierarchy, sizes, source| {
        let region_groups = sizes.groups_of_regions();
        let alike =
            unlikeness_between(hierarchy.tree(), (1, 2), &region_groups, sizes.counts()) % 2 == 0;
        // Nearly all for that level, or the same for all.
        let shares =
            if alike { LevelShares::Fixed(vec![0.25, 0.5, 0.25]) } else { LevelShares::Equal };
        let settings =
            CensusSettings { region_groups: Some(region_groups), shares, ..by(Method::Fitted) };
        let bins = From0::up_to(3).expect("valid");
        let plan = Census::new(hierarchy.clone(), bins, sizes.groups(), privacy(), settings);
        plan.expect("valid").replay(sizes, source).0.into_counts()
    })
}

/// What the library does where it asks, with as many numbers as the tree has levels above the lowest.
fn way_by_noisy_number(effort: Effort, parents: &[u32]) -> Found {
    let most = effort.of(2, 3);
    on_pairs(effort, (parents, most), |hierarchy, sizes, source| {
        let region_groups = Some(sizes.groups_of_regions());
        let shares = LevelShares::AfterQuestion(0.25);
        let settings = CensusSettings { region_groups, shares, ..CensusSettings::default() };
        let bins = From0::up_to(3).expect("valid");
        let plan = Census::new(hierarchy.clone(), bins, sizes.groups(), privacy(), settings);
        plan.expect("valid").replay(sizes, source).0.into_counts()
    })
}

fn default_release(hierarchy: &Hierarchy, sizes: &GroupSizes, source: &mut dyn Source) -> Vec<i64> {
    let bins = From0::up_to(3).expect("valid");
    let settings = CensusSettings::default();
    let plan = Census::new(hierarchy.clone(), bins, sizes.groups(), privacy(), settings);
    plan.expect("valid").replay(sizes, source).0.into_counts()
}

fn privacy() -> Privacy {
    Privacy::pure(EPSILON).expect("valid")
}

fn on_all_pairs(
    effort: Effort,
    release: impl Fn(&Hierarchy, &GroupSizes, &mut dyn Source) -> Vec<i64>,
) -> Found {
    on_pairs(effort, (TINY[5], effort.of(1, 2)), release)
}

/// Of at most so many groups in this tree.
fn on_pairs(
    effort: Effort,
    (parents, most): (&[u32], usize),
    release: impl Fn(&Hierarchy, &GroupSizes, &mut dyn Source) -> Vec<i64>,
) -> Found {
    let mut found = Found::claim(EPSILON);
    let mut rng = effort.rng(60);
    let hierarchy = hierarchy(parents);
    let leaves = hierarchy.tree().leaves().len();
    neighbours(leaves, From0::up_to(3).expect("valid"), most, 1, |a, b, witness| {
        let run = |sizes: &GroupSizes, source: &mut dyn Source| release(&hierarchy, sizes, source);
        let comparison = compare(
            &Neighbours::of_counts(MemberOfGroup, cells).without_receipt(),
            run,
            a,
            b,
            &mut SecureSource::new(&mut rng),
        );
        found.see(comparison.pure_loss(), || witness.to_owned());
    });
    found
}

/// Columns `1..=4`, and a group that was empty gets its first member: it appears in the table.
fn no_column_for_empty_groups(effort: Effort) -> Found {
    first_members(effort, From1::up_to(4).expect("valid"))
}

/// Columns `0..=4`.
fn a_column_for_empty_groups(effort: Effort) -> Found {
    first_members(effort, From0::up_to(4).expect("valid"))
}

/// All tables of at most so many groups of two counties; one of these may be empty and gets its first member.
fn first_members<B: Bins>(effort: Effort, bins: B) -> Found {
    let mut found = Found::claim(EPSILON);
    let mut rng = effort.rng(61);
    let hierarchy = hierarchy(TINY[1]);
    for groups in multisets(2 * 5, effort.of(2, 3)) {
        for grown in groups.iter().copied().filter(|group| group % 5 == 0) {
            let [a, b] = [0, 1].map(|member| {
                // The size of a group is its remainder by five; a new member makes it one larger.
                let mut counts = vec![0; 2 * bins.count()];
                let mut place = |group: usize| {
                    let row = group / 5 * bins.count();
                    if let Some(column) = bins.column(group as u64 % 5) {
                        counts[row + column] += 1;
                    }
                };
                for &group in &groups {
                    place(group);
                }
                if member == 1 {
                    place(grown + 1);
                    if let Some(column) = bins.column(0) {
                        counts[grown / 5 * bins.count() + column] -= 1;
                    }
                }
                GroupSizes::from_table(bins, counts).expect("a table of groups")
            });
            let settings = by(Method::CumulativeThenTree);
            let plan = Census::new(hierarchy.clone(), bins, a.groups(), privacy(), settings);
            let plan = plan.expect("valid");
            let run = |(_, sizes): &(Vec<usize>, GroupSizes<B>), source: &mut dyn Source| {
                plan.replay(sizes, source).0
            };
            let mut more = groups.clone();
            if let Some(group) = more.iter_mut().find(|group| **group == grown) {
                *group += 1;
            }
            let comparison = compare(
                &Neighbours::of_records(plan.receipt().relation(), |data: &(Vec<usize>, _)| {
                    data.0.clone()
                }),
                run,
                &(groups.clone(), a),
                &(more, b),
                &mut SecureSource::new(&mut rng),
            );
            found.see(comparison.pure_loss(), || format!("groups {groups:?}, {grown} grows"));
        }
    }
    found
}

/// Groups beyond the last column are dropped, and the number of groups that are left is taken for public.
fn dropped_beyond_the_last_column(effort: Effort) -> Found {
    outgrown(effort, |size, largest| (size <= largest).then_some(size))
}

/// Groups beyond the last column count there.
fn counted_in_the_last_column(effort: Effort) -> Found {
    outgrown(effort, |size, largest| Some(size.min(largest)))
}

/// One region whose groups are as large as the last column, and one of them grows.
fn outgrown(effort: Effort, column: fn(usize, usize) -> Option<usize>) -> Found {
    let mut found = Found::claim(EPSILON);
    let mut rng = effort.rng(62);
    let (hierarchy, largest) = (hierarchy(TINY[0]), 2);
    let table = |groups: &[usize]| {
        let mut counts = vec![0; largest + 1];
        groups.iter().filter_map(|&size| column(size, largest)).for_each(|at| counts[at] += 1);
        GroupSizes::from_table(From0::up_to(2).expect("valid"), counts).expect("a table of groups")
    };
    for groups in multisets(largest + 1, effort.of(3, 4)) {
        for grown in 0..groups.len() {
            let mut more = groups.clone();
            more[grown] += 1;
            let run = |groups: &Vec<usize>, source: &mut dyn Source| {
                let sizes = table(groups);
                let bins = From0::up_to(2).expect("valid");
                let (groups, settings) = (sizes.groups(), by(Method::Counts));
                let plan = Census::new(hierarchy.clone(), bins, groups, privacy(), settings);
                plan.expect("valid").replay(&sizes, source).0
            };
            let comparison = compare(
                &Neighbours::of_records(MemberOfGroup, Vec::clone),
                run,
                &groups,
                &more,
                &mut SecureSource::new(&mut rng),
            );
            found.see(comparison.pure_loss(), || format!("groups {groups:?} and {more:?}"));
        }
    }
    found
}

/// Gaussian noise for individuals who bring one, when they bring up to three.
fn noise_for_a_quantity_of_one(effort: Effort) -> Found {
    quantity(effort, 1)
}

/// Noise for those who bring three.
fn noise_for_a_quantity_of_three(effort: Effort) -> Found {
    quantity(effort, 3)
}

fn quantity(effort: Effort, planned: u32) -> Found {
    let rho = 0.5;
    let mut found = Found::claim(rho);
    let mut rng = effort.rng(63);
    let (hierarchy, bins) = (hierarchy(TINY[1]), From0::up_to(3).expect("valid"));
    neighbours(2, bins, 1, 3, |a, b, witness| {
        let privacy = Privacy::zcdp(rho, 1e-9).expect("valid");
        let most_quantity = NonZeroU32::new(planned).expect("above 0");
        let settings = CensusSettings { most_quantity, ..by(Method::CumulativeThenTree) };
        let plan = Census::new(hierarchy.clone(), bins, a.groups(), privacy, settings);
        let plan = plan.expect("valid");
        let run = |sizes: &GroupSizes, source: &mut dyn Source| plan.replay(sizes, source).0;
        let comparison = compare(
            &Neighbours::of_counts(MemberOfGroup, cells),
            run,
            a,
            b,
            &mut SecureSource::new(&mut rng),
        );
        found.see(comparison.rho(), || witness.to_owned());
    });
    found
}
