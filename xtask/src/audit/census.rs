//! Checks of the census: how far one individual moves each table, and what each mechanism gives away.

use std::num::NonZeroU32;

use dp_accounting::{Epsilon, Rho};
use dp_audit::{Comparison, Method as By, compare, multisets};
use dp_census::{
    Bins, Census, CensusSettings, From0, From1, GroupDirectory, GroupSizes, Hierarchy, LevelShares,
    Method, Privacy, Query, RegionTree, dearest_path,
};
use dp_mechanism::{Algorithm, Mechanism, SecureSource, Source};
use rand::RngExt;

use super::census_tables as tables;
use super::check::{Check, Effort, Found};

pub(super) fn checks() -> Vec<Check> {
    let check = |id, mechanism, relation, method, run| Check {
        id,
        crate_name: "dp-census",
        mechanism,
        relation,
        method,
        resolution: super::TOLERANCE,
        run,
    };
    let members = "member-of-group";
    vec![
        check("census-counts", "Census, change of counts", members, By::Range, |effort| {
            change(effort, Query::Counts)
        }),
        check(
            "census-cumulative",
            "Census, change of cumulative counts",
            members,
            By::Range,
            |e| change(e, Query::Cumulative),
        ),
        check("census-chain", "Census, change of the chain", members, By::Range, |effort| {
            change(effort, Query::Chain)
        }),
        check("census-transcript", "Census, every method", members, By::Exact, transcripts),
        check(
            "census-from-1",
            "Census, without a column for empty groups",
            "further-member-of-group",
            By::Exact,
            from_one,
        ),
        check("census-quantity", "Census, quantities", members, By::Exact, quantities),
        check("census-people", "Census, records of people", members, By::Exact, people),
        check("census-zcdp", "Census, Gaussian noise", members, By::Exact, gaussian),
        check("census-real", "RealCensus", members, By::Exact, tables::real),
        check(
            "census-release",
            "Census, law of the released table",
            members,
            By::Exact,
            tables::released,
        ),
        check("census-receipt", "Census, receipts", members, By::Ledger, receipts),
    ]
}

/// Hierarchies small enough to try every table of groups: parents of the regions after the first.
pub(super) const TINY: [&[u32]; 6] =
    [&[], &[0, 0], &[0, 0, 0], &[0, 0, 1, 1, 2], &[0, 1, 1], &[0, 0, 1, 2, 2, 3, 4, 4, 5]];

pub(super) fn hierarchy(parents: &[u32]) -> Hierarchy {
    let names: Vec<String> = (0..=parents.len()).map(|region| format!("r{region}")).collect();
    let parent =
        |region: usize| Some(names[*parents.get(region.checked_sub(1)?)? as usize].as_str());
    Hierarchy::new((0..names.len()).map(|r| (names[r].as_str(), parent(r))))
        .expect("a tiny hierarchy")
}

/// Each table of at most `most` groups, with all of its neighbours: one group with up to `quantity` more, and nothing else changed.
pub(super) fn neighbours<B: Bins>(
    leaves: usize,
    bins: B,
    most: usize,
    quantity: usize,
    mut see: impl FnMut(&GroupSizes<B>, &GroupSizes<B>, &str),
) {
    let columns = bins.count();
    // A group is a leaf and a column; one beyond the last is a size that counts as the last.
    for groups in multisets(leaves * columns, most) {
        let smaller = table(leaves, bins, &groups, 0, 0);
        for group in 0..groups.len() {
            for grown in 1..=quantity {
                let larger = table(leaves, bins, &groups, group, grown);
                let witness = format!(
                    "groups {groups:?} of {columns} sizes, number {group} grown by {grown}"
                );
                see(&smaller, &larger, &witness);
            }
        }
    }
}

fn table<B: Bins>(
    leaves: usize,
    bins: B,
    groups: &[usize],
    grown: usize,
    by: usize,
) -> GroupSizes<B> {
    let columns = bins.count();
    let mut counts = vec![0; leaves * columns];
    for (i, group) in groups.iter().enumerate() {
        let size =
            u64::from(B::SMALLEST) + (group % columns + if i == grown { by } else { 0 }) as u64;
        let column = bins.column(size).expect("groups do not shrink");
        counts[group / columns * columns + column] += 1;
    }
    GroupSizes::from_table(bins, counts).expect("a table of groups")
}

/// Absolute and squared change of every level's table between all neighbours, as a share of the length that sets the noise; also for
/// individuals who bring more than the columns that a group can move.
fn change(effort: Effort, query: Query) -> Found {
    let mut found = Found::claim(1.0);
    for quantity in 1..=effort.of(4, 5) {
        change_by(quantity, effort, query, &mut found);
    }
    found
}

fn change_by(quantity: u32, effort: Effort, query: Query, found: &mut Found) {
    let bins = From0::up_to(3).expect("valid");
    let most = NonZeroU32::new(quantity).expect("above 0");
    for parents in TINY {
        let hierarchy = hierarchy(parents);
        let tree = hierarchy.tree();
        let leaves = tree.leaves().len();
        neighbours(leaves, bins, effort.of(2, 3), quantity as usize, |a, b, witness| {
            let [a, b] = [a, b].map(|sizes| {
                let mut table = sizes.exact_totals(tree);
                query.of_totals(tree, bins.count(), &mut table);
                table
            });
            for level in 0..tree.levels() {
                let regions = tree.level(level);
                let length = query.length(regions.len(), bins.count(), most).expect("few regions");
                let cells = regions.start * bins.count()..regions.end * bins.count();
                let moved = |power| -> u64 {
                    cells.clone().map(|cell| a[cell].abs_diff(b[cell]).pow(power)).sum()
                };
                let worst = moved(1).max(moved(2)) as f64 / f64::from(length.get());
                found.see(worst, || format!("{parents:?}, level {}: {witness}", level + 1));
            }
        });
    }
}

pub(super) fn by(method: Method) -> CensusSettings {
    CensusSettings { method, ..CensusSettings::default() }
}

pub(super) fn epsilon_one() -> Privacy {
    Privacy::pure(1.0).expect("valid")
}

/// Compares whole releases, from the check of the table on, for each number of groups on all neighbours, in which an individual brings
/// up to `quantity`.
fn replay<B: Bins>(
    effort: Effort,
    bins: B,
    privacy: Privacy,
    quantity: u32,
    settings: &CensusSettings,
    mut see: impl FnMut(&Comparison, String),
) {
    let mut rng = effort.rng(70);
    let most_quantity = NonZeroU32::new(quantity).expect("above 0");
    for parents in TINY {
        let hierarchy = hierarchy(parents);
        let leaves = hierarchy.tree().leaves().len();
        // The trees of four levels have many tables.
        let most = if leaves > 3 { 1 } else { effort.of(2, 3) };
        neighbours(leaves, bins, most, quantity as usize, |a, b, witness| {
            let settings = CensusSettings { most_quantity, ..settings.clone() };
            let plan = Census::new(hierarchy.clone(), bins, a.groups(), privacy, settings);
            let plan = plan.expect("valid settings");
            let run = |sizes: &GroupSizes<B>, source: &mut dyn Source| {
                plan.check(&sizes.shape()).map(|()| plan.replay(sizes, source).0)
            };
            let [a, b] = [a, b].map(|sizes| sizes.clone().with_most_quantity(most_quantity));
            let comparison = compare(run, &a, &b, &mut SecureSource::new(&mut rng));
            see(&comparison, format!("{parents:?}: {witness}"));
        });
    }
}

/// The exact loss of the noise of every method, with equal and unequal shares; anything that depends on the table other than through
/// noise would make it infinite.
fn transcripts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let bins = From0::up_to(2).expect("valid");
    for method in Method::ALL {
        for shares in [LevelShares::Equal, LevelShares::RootOfRegions] {
            let settings = CensusSettings { shares, ..by(method) };
            replay(effort, bins, epsilon_one(), 1, &settings, |comparison, witness| {
                found.see(comparison.pure_loss(), || format!("{method:?} {witness}"));
            });
        }
    }
    found
}

/// Under the weaker relation, groups of size 1 or more that keep a member.
fn from_one(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let bins = From1::up_to(3).expect("valid");
    for method in Method::ALL {
        replay(effort, bins, epsilon_one(), 1, &by(method), |comparison, witness| {
            found.see(comparison.pure_loss(), || format!("{method:?} {witness}"));
        });
    }
    found
}

/// Gaussian noise, also for individuals who bring as much as a group can move, and more.
fn gaussian(effort: Effort) -> Found {
    let rho = 0.5;
    let mut found = Found::claim(rho);
    let bins = From0::up_to(3).expect("valid");
    let privacy = Privacy::zcdp(rho, 1e-9).expect("valid");
    for method in Method::ALL {
        for quantity in [1, 3, 5] {
            replay(effort, bins, privacy, quantity, &by(method), |comparison, witness| {
                found.see(comparison.rho(), || format!("{method:?}, {quantity}: {witness}"));
            });
        }
    }
    found
}

/// Geometric noise for individuals who bring up to three or four, over more columns than they can move a group, and over fewer.
fn quantities(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for (largest, quantity) in [(4, 3), (2, 4)] {
        let bins = From0::up_to(largest).expect("valid");
        for method in Method::ALL {
            replay(effort, bins, epsilon_one(), quantity, &by(method), |comparison, witness| {
                let of = || format!("{method:?}, {quantity}: {witness}");
                found.see(comparison.pure_loss(), of);
            });
        }
    }
    found
}

/// From records of people to the release: one individual more, whatever stands in his or her records.
fn people(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(73);
    let hierarchy = hierarchy(TINY[1]);
    let units = [(1_usize, "r1"), (2, "r1"), (3, "r2")];
    let directory = GroupDirectory::new(&hierarchy, units).expect("three groups");
    let most_quantity = NonZeroU32::new(2).expect("above 0");
    let bins = From0::up_to(3).expect("valid");
    let settings = CensusSettings { most_quantity, ..CensusSettings::default() };
    let plan = Census::new(hierarchy.clone(), bins, 3, epsilon_one(), settings);
    let plan = plan.expect("valid settings");
    let run = |records: &Vec<(u32, usize, i64)>, source: &mut dyn Source| {
        let members = directory.count_people(records.iter().copied(), most_quantity);
        let sizes = members.into_sizes(bins, most_quantity).expect("three groups");
        plan.check(&sizes.shape()).map(|()| plan.replay(&sizes, source).0)
    };
    let odd = [i64::MIN, -1, 0, 1, 2, 3, i64::MAX];
    for others in multisets(3, effort.of(3, 4)) {
        let before: Vec<(u32, usize, i64)> =
            (100..).zip(&others).map(|(person, &unit)| (person, unit + 1, 1)).collect();
        for _ in 0..effort.of(8, 40) {
            // Up to three records of one person, in known and unknown groups, before and after the others.
            let mut record =
                || (7_u32, rng.random_range(0..5_usize), odd[rng.random_range(0..odd.len())]);
            let own = [record(), record(), record()];
            let after = [&own[..1], &before, &own[1..]].concat();
            let comparison = compare(run, &before, &after, &mut SecureSource::new(&mut rng));
            found.see(comparison.pure_loss(), || format!("{before:?} and {own:?}"));
        }
    }
    found
}

/// What receipts add up to, and what the dearest way through the tree costs, as a share of the budget, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(72);
    for i in 0..effort.of(400_usize, 5_000) {
        let hierarchy = hierarchy(TINY[i / 2 % TINY.len()]);
        let tree = hierarchy.tree().clone();
        let weights: Vec<f64> = (0..tree.levels()).map(|_| rng.random_range(0.01..1.0)).collect();
        let total: f64 = weights.iter().sum();
        let shares = LevelShares::Fixed(weights.iter().map(|weight| weight / total).collect());
        let (log, pure) = (rng.random_range(-4.0..1.5), i % 2 == 0);
        let asked = 10_f64.powf(log);
        let privacy = if pure { Privacy::pure(asked) } else { Privacy::zcdp(asked, 1e-6) };
        let privacy = privacy.expect("valid");
        // Every method on every tree.
        let method = Method::ALL[i / 2 / TINY.len() % Method::ALL.len()];
        let settings = CensusSettings { shares: shares.clone(), ..by(method) };
        let bins = From0::up_to(5).expect("valid");
        let plan = Census::new(hierarchy, bins, 100, privacy, settings).expect("valid settings");
        let receipt = plan.receipt();
        let spent = if pure {
            receipt.pure().map_or(f64::INFINITY, Epsilon::get)
        } else {
            receipt.zcdp().map_or(f64::INFINITY, Rho::get)
        };
        let along = if pure { path_cost(&tree, &shares, asked) } else { 0.0 };
        let over = !receipt.within_budget() || receipt.mechanism() != method.id();
        let share = spent.max(along * (1.0 - 1e-12)) / asked;
        found.see(if over { f64::INFINITY } else { share }, || format!("{privacy:?} {shares:?}"));
    }
    found
}

/// The dearest way through the tree if every region of a level costs the share of the level.
fn path_cost(tree: &RegionTree, shares: &LevelShares, epsilon: f64) -> f64 {
    let shares = shares.of(tree).expect("valid");
    let losses: Vec<f64> =
        (0..tree.len()).map(|region| epsilon * shares[tree.level_of(region)]).collect();
    dearest_path(tree, &losses)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths are attained for every quantity, so they are sensitivities and not just bounds; the chain's grows with the regions.
    #[test]
    fn sensitivities_are_exact() {
        for query in [Query::Counts, Query::Cumulative, Query::Chain] {
            for quantity in 1..=5 {
                let mut found = Found::claim(1.0);
                change_by(quantity, Effort::quick(), query, &mut found);
                let exact = found.stands() && (found.worst - 1.0).abs() < 1e-12;
                assert!(exact, "{query:?}, {quantity}: {found:?}");
            }
        }
        assert_eq!(Query::Chain.length(4, 9, NonZeroU32::MIN), NonZeroU32::new(4));
        assert_eq!(Query::Cumulative.length(4, 9, NonZeroU32::MIN), NonZeroU32::new(1));
        assert_eq!(Query::Counts.length(4, 9, NonZeroU32::MIN), NonZeroU32::new(2));
    }
}
