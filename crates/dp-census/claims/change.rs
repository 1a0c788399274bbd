//! How far one individual moves each table that noise is added to.

use dp_audit::Method as By;
use dp_audit::harness::{Check, Effort, Found};
use dp_census::release::{unlikeness, unlikeness_between, unlikeness_length};
use dp_census::{Bins, From0, GroupSizes, Query};
use rand::RngExt;

use crate::nation::{MEMBERS, TINY, above_zero, hierarchy, neighbours};

pub(crate) fn checks() -> Vec<Check> {
    [
        ("census-counts", "Census, change of counts", Query::Counts),
        ("census-cumulative", "Census, change of cumulative counts", Query::Cumulative),
        ("census-chain", "Census, change of the chain", Query::Chain),
    ]
    .map(|(id, what, query)| {
        Check::new(id, what, MEMBERS, By::Range, move |effort| change(effort, query))
    })
    .into_iter()
    .chain([Check::new(
        "census-question",
        "Census, change of the number that a question asks for",
        MEMBERS,
        By::Range,
        question,
    )])
    .collect()
}

/// The numbers that say how unlike regions are, one for each level above the lowest, between all neighbours, as a share of the lengths that set their noise; for individuals who
/// bring several, too, as one group changes its size however many these are.
fn question(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for quantity in 1..=effort.of(2, 4) {
        for parents in TINY {
            let hierarchy = hierarchy(parents);
            let tree = hierarchy.tree();
            let bins = From0::up_to(3).expect("valid");
            let most_leaves = |level: usize| {
                let mut leaves = vec![0; tree.len()];
                for mut region in tree.leaves() {
                    while tree.level_of(region) > level {
                        region = tree.parent(region).expect("below the level");
                    }
                    leaves[region] += 1;
                }
                leaves.into_iter().max().expect("there is a root")
            };
            neighbours(tree.leaves().len(), bins, effort.of(2, 3), quantity, |a, b, witness| {
                let mut all = 0.0;
                for level in 0..tree.levels() {
                    let length = f64::from(unlikeness_length(most_leaves(level)).get());
                    let number = |sizes: &GroupSizes| {
                        let levels = (level, tree.levels() - 1);
                        unlikeness_between(tree, levels, &sizes.groups_of_regions(), sizes.counts())
                    };
                    let share = number(a).abs_diff(number(b)) as f64 / length;
                    found.see(share, || format!("{parents:?}, level {}: {witness}", level + 1));
                    all += share;
                }
                // What several numbers change by is paid for one after the other.
                found.see(all / tree.levels() as f64, || format!("{parents:?}: {witness}"));
            });
        }
    }
    // A small region with one group of the size that is left, which is its share, and all others of the size that is entered.
    let mut rng = effort.rng(82);
    for _ in 0..effort.of(40, 2_000) {
        let (small, more) = (rng.random_range(1_000..5_000_i64), rng.random_range(200..400_i64));
        let groups = [small, small * more];
        let rest = small * more - more;
        let before = unlikeness(&groups, &[1, small - 1, more, rest]);
        let change = before.abs_diff(unlikeness(&groups, &[0, small, more, rest])) as f64;
        found.see(change / f64::from(unlikeness_length(2).get()), || format!("{small}, {more}"));
    }
    // Tables with many groups, some of them in few regions.
    for round in 0..effort.of(2_000_usize, 40_000) {
        let (regions, columns) = (rng.random_range(1..9), rng.random_range(2..6_usize));
        let most = [1, 3, 40, 100_000][round % 4];
        let cells = regions * columns;
        let mut table: Vec<i64> =
            (0..cells).map(|_| rng.random_range(-most..=most).max(0)).collect();
        let (region, from) = (rng.random_range(0..regions), rng.random_range(0..columns));
        let to = (from + rng.random_range(1..columns)) % columns;
        table[region * columns + from] += 1;
        let groups: Vec<i64> = table.chunks_exact(columns).map(|row| row.iter().sum()).collect();
        let before = unlikeness(&groups, &table);
        table[region * columns + from] -= 1;
        table[region * columns + to] += 1;
        let change = before.abs_diff(unlikeness(&groups, &table)) as f64;
        found.see(change / f64::from(unlikeness_length(regions).get()), || format!("{table:?}"));
    }
    found
}

/// Absolute and squared change of every level's table between all neighbours, as a share of the length that sets the noise; also for
/// individuals who bring more than the columns that a group can move. The length must be attained for every quantity: a claim of a larger
/// one would be noise for nothing.
fn change(effort: Effort, query: Query) -> Found {
    let mut all = Found::claim(1.0);
    for quantity in 1..=effort.of(4, 5) {
        let mut found = Found::claim(1.0);
        change_by(quantity, effort, query, &mut found);
        let attained = (found.worst - 1.0).abs() < 1e-12;
        all.see(if attained { 0.0 } else { f64::INFINITY }, || {
            format!("quantity {quantity}: {} of the length at most", found.worst)
        });
        all = all.and(found);
    }
    all
}

fn change_by(quantity: u32, effort: Effort, query: Query, found: &mut Found) {
    let bins = From0::up_to(3).expect("valid");
    let most = above_zero(quantity);
    for parents in TINY {
        let hierarchy = hierarchy(parents);
        let tree = hierarchy.tree();
        let leaves = tree.leaves().len();
        neighbours(leaves, bins, effort.of(2, 3), quantity as usize, |a, b, witness| {
            let [a, b] = [a, b].map(|sizes| {
                let mut table = sizes.exact_totals(tree).expect("of this tree");
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
