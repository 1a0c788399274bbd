//! What a release gives away, from the check of a table on: its noise replayed on every neighbour, for every way to make a plan.

use std::cell::Cell;

use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method as By, Neighbours, compare};
use dp_census::passes::{Group, Passes};
use dp_census::{
    Bins, Census, CensusSettings, Certificate, Evidence, From0, From1, GroupSizes, GroupTable,
    LevelShares, Method, RealCensus, RealGroupTable,
};
use dp_mechanism::{ChaCha20Rng, Mechanism, SecureSource, Source};
use rand::RngExt;

use crate::nation::{
    MEMBERS, Promise, TINY, above_zero, by, cells, every_way, groups, hierarchy, neighbours,
    share_shown, share_used,
};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, what: &str, relation: &str, run: fn(Effort) -> Found| {
        Check::new(id, what, relation, By::Exact, run)
    };
    vec![
        check("census-transcript", "Census, every setting", MEMBERS, transcripts),
        check("census-evidence", "WithEvidence, Census, every setting", MEMBERS, evidence),
        check(
            "census-from-1",
            "Census, without a column for empty groups",
            "further-member-of-group",
            from_one,
        ),
        check("census-quantity", "Census, quantities", MEMBERS, |effort| {
            quantities(effort, Promise::Pure)
        }),
        check("census-zcdp", "Census, quantities, Gaussian noise", MEMBERS, |effort| {
            quantities(effort, Promise::Zcdp)
        }),
        check("census-gaussian", "Census, quantities, one mu", MEMBERS, |effort| {
            quantities(effort, Promise::Gaussian)
        }),
        check("census-other-quantity", "Census, tables for another quantity", MEMBERS, others),
        check("census-real", "RealCensus, WithEvidence, every setting", MEMBERS, real),
        check("census-by-parts", "Census, RealCensus, by passes over parts", MEMBERS, |effort| {
            by_parts(effort, 1)
        }),
        check("census-ways", "Census, WithEvidence, after a question", MEMBERS, ways),
        check("census-wide", "Census, RealCensus, beyond the small sizes", MEMBERS, wide),
    ]
}

/// Neighbours on all of the tiny trees, of up to so many groups on those with few tables and of one on the others.
fn on_tiny_trees<B: Bins>(
    (bins, groups, quantity): (B, usize, u32),
    mut see: impl FnMut(&[u32], (&GroupSizes<B>, &GroupSizes<B>), &str),
) {
    for parents in TINY {
        let leaves = hierarchy(parents).tree().leaves().len();
        let most = if leaves * bins.count() > 9 { 1 } else { groups };
        let quantity = above_zero(quantity);
        neighbours(leaves, bins, most, quantity.get() as usize, |a, b, witness| {
            let [a, b] = [a, b].map(|sizes| sizes.clone().with_most_quantity(quantity));
            see(parents, (&a, &b), witness);
        });
    }
}

/// The exact loss of the noise of every plan. Anything that depends on the table other than through noise would make it infinite.
fn transcripts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(70);
    on_tiny_trees(
        (From0::up_to(2).expect("valid"), effort.of(1, 3), 1),
        |parents, (a, b), witness| {
            let hierarchy = hierarchy(parents);
            for settings in every_way(hierarchy.tree().levels(), &a.groups_of_regions()) {
                for promise in Promise::ALL {
                    let (hierarchy, settings) = (hierarchy.clone(), settings.clone());
                    let says = format!("{parents:?}: {settings:?}");
                    let privacy = promise.privacy();
                    let plan = Census::new(hierarchy, a.bins(), a.groups(), privacy, settings);
                    let share = share_used(&plan.expect("valid"), promise, (a, b), &mut rng);
                    found.see(share, || format!("{says} {promise:?}: {witness}"));
                }
            }
        },
    );
    // More groups, which share regions and sizes.
    on_tiny_trees(
        (From0::up_to(2).expect("valid"), effort.of(2, 3), 1),
        |parents, (a, b), witness| {
            for method in Method::ALL {
                let (hierarchy, privacy) = (hierarchy(parents), Promise::Pure.privacy());
                let plan = Census::new(hierarchy, a.bins(), a.groups(), privacy, by(method));
                let share = share_used(&plan.expect("valid"), Promise::Pure, (a, b), &mut rng);
                found.see(share, || format!("{parents:?}, {method:?}: {witness}"));
            }
        },
    );
    found
}

/// The noise is released with the table, and what the table is proved to be with both.
fn evidence(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(71);
    on_tiny_trees(
        (From0::up_to(2).expect("valid"), effort.of(1, 2), 1),
        |parents, (a, b), witness| {
            let hierarchy = hierarchy(parents);
            for settings in every_way(hierarchy.tree().levels(), &a.groups_of_regions()) {
                let (hierarchy, privacy) = (hierarchy.clone(), Promise::Pure.privacy());
                let says = format!("{parents:?}: {settings:?}");
                let plan = Census::new(hierarchy, a.bins(), a.groups(), privacy, settings);
                let plan = plan.expect("valid");
                let show = |(table, evidence): (GroupTable, Evidence)| {
                    let counts = table.counts().iter().map(|count| count.cast_unsigned()).collect();
                    bits(counts, &evidence, plan.certify(&table, &evidence).expect("of this plan"))
                };
                let pair = (a, b);
                let share = share_shown(&plan.with_evidence(), Promise::Pure, pair, &mut rng, show);
                found.see(share, || format!("{says}: {witness}"));
            }
        },
    );
    found
}

/// Tables that were counted in two places, and a release that is taken up from its bytes. The plan is for individuals who add one to a
/// group; `quantity` is what they add.
pub(crate) fn by_parts(effort: Effort, quantity: u32) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(79);
    let bins = From0::up_to(2).expect("valid");
    for parents in TINY {
        let tree = hierarchy(parents);
        let leaves = tree.tree().leaves().len();
        let most = if leaves > 3 { 1 } else { effort.of(1, 2) };
        neighbours(leaves, bins, most, quantity as usize, |a, b, witness| {
            let public = [None, Some(a.groups_of_regions())];
            for (method, region_groups) in Method::ALL.into_iter().zip(public.iter().cycle()) {
                let settings =
                    CensusSettings { region_groups: region_groups.clone(), ..by(method) };
                let privacy = Promise::Pure.privacy();
                let plan = Census::new(tree.clone(), bins, a.groups(), privacy, settings);
                let plan = plan.expect("valid");
                let run =
                    |sizes: &GroupSizes, source: &mut dyn Source| from_parts(&plan, sizes, source);
                let relation = plan.receipt().relation();
                let pair = Neighbours::of_counts(relation, cells);
                let seen = compare(&pair, run, a, b, &mut SecureSource::new(&mut rng));
                found.see(seen.pure_loss(), || format!("{parents:?}, {method:?}: {witness}"));
            }
        });
    }
    found
}

/// A release from the tables of single groups, merged.
fn from_parts(plan: &Census, sizes: &GroupSizes, source: &mut dyn Source) -> GroupTable {
    let columns = sizes.columns();
    let group = |cell: usize| Group {
        region: u32::try_from(cell / columns).expect("few regions"),
        size: (cell % columns) as u64,
    };
    let all: Vec<Group> = groups(sizes).into_iter().map(group).collect();
    let bytes = Passes::new(plan.clone()).expect("has tables").to_bytes();
    let mut passes = Passes::from_bytes(plan.clone(), &bytes).expect("whole");
    let mut table = passes.asked().tally().expect("has a table");
    for part in all.chunks(1) {
        let mut counted = passes.asked().tally().expect("has a table");
        counted.add(part).expect("groups of the hierarchy");
        table.merge(counted.table()).expect("of one question");
    }
    let output = passes.replay(table.table(), source).expect("of all groups");
    output.expect("there is one pass")
}

/// Under the weaker relation, groups of size 1 or more that keep a member.
fn from_one(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(72);
    on_tiny_trees(
        (From1::up_to(3).expect("valid"), effort.of(1, 2), 2),
        |parents, (a, b), witness| {
            for method in Method::ALL {
                for promise in Promise::ALL {
                    let (hierarchy, privacy) = (hierarchy(parents), promise.privacy());
                    let settings = CensusSettings { most_quantity: above_zero(2), ..by(method) };
                    let plan = Census::new(hierarchy, a.bins(), a.groups(), privacy, settings);
                    let share = share_used(&plan.expect("valid"), promise, (a, b), &mut rng);
                    found.see(share, || format!("{parents:?}, {method:?} {promise:?}: {witness}"));
                }
            }
        },
    );
    found
}

/// Individuals who bring up to so much, over more columns than they can move a group, and over fewer.
fn quantities(effort: Effort, promise: Promise) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(73);
    for (largest, quantity) in [(4, 3), (3, 3), (3, 5), (2, 4)] {
        let bins = From0::up_to(largest).expect("valid");
        on_tiny_trees((bins, effort.of(1, 2), quantity), |parents, (a, b), witness| {
            for method in Method::ALL {
                let (hierarchy, privacy) = (hierarchy(parents), promise.privacy());
                let settings = CensusSettings { most_quantity: above_zero(quantity), ..by(method) };
                let plan = Census::new(hierarchy, bins, a.groups(), privacy, settings);
                let share = share_used(&plan.expect("valid"), promise, (a, b), &mut rng);
                found.see(share, || format!("{method:?}, {quantity}: {witness}"));
            }
        });
    }
    found
}

/// A table says how much an individual may have added, a plan whom it protects. Where the table says more, neighbours differ by more than
/// the noise is for, so that the plan must refuse both; where it says less, there is noise to spare.
fn others(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(74);
    let bins = From0::up_to(4).expect("valid");
    for (of_table, of_plan) in [(2, 1), (4, 1), (3, 2), (1, 2), (2, 3), (2, 2)] {
        on_tiny_trees((bins, 1, of_table), |parents, (a, b), witness| {
            for method in Method::ALL {
                let (hierarchy, privacy) = (hierarchy(parents), Promise::Pure.privacy());
                let most_quantity = above_zero(of_plan);
                let settings = CensusSettings { most_quantity, ..by(method) };
                let groups = a.groups();
                let whole = Census::new(hierarchy.clone(), bins, groups, privacy, settings.clone());
                let share = share_used(&whole.expect("valid"), Promise::Pure, (a, b), &mut rng);
                let says = format!("{method:?}, {of_table} for {of_plan}: {witness}");
                found.see(share, || says.clone());
                if let Ok(real) = RealCensus::new(hierarchy, bins, groups, privacy, settings) {
                    let show = |table| of_real(&table);
                    let share = share_shown(&real, Promise::Pure, (a, b), &mut rng, show);
                    found.see(share, || format!("in real numbers, {says}"));
                }
            }
        });
    }
    found
}

/// Tables of real numbers, whose floats must depend on nothing else than the noise, bit by bit.
fn real(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(75);
    on_tiny_trees(
        (From0::up_to(2).expect("valid"), effort.of(1, 2), 1),
        |parents, (a, b), witness| {
            let hierarchy = hierarchy(parents);
            for settings in every_way(hierarchy.tree().levels(), &a.groups_of_regions()) {
                for promise in Promise::ALL {
                    let (hierarchy, settings) = (hierarchy.clone(), settings.clone());
                    let says = format!("{parents:?}: {settings:?}");
                    let privacy = promise.privacy();
                    let plan = RealCensus::new(hierarchy, a.bins(), a.groups(), privacy, settings);
                    // Not every method is one of real numbers.
                    let Ok(plan) = plan else { continue };
                    let pair = (a, b);
                    let alone =
                        share_shown(&plan, promise, pair, &mut rng, |table| of_real(&table));
                    let show = |(table, evidence): (RealGroupTable, Evidence)| {
                        bits(
                            of_real(&table),
                            &evidence,
                            plan.certify(&table, &evidence).expect("of this plan"),
                        )
                    };
                    let both = share_shown(&plan.with_evidence(), promise, pair, &mut rng, show);
                    found.see(alone.max(both), || format!("{says} {promise:?}: {witness}"));
                }
            }
        },
    );
    found
}

/// Plans that ask, on tables for which each of the ways is best: all of them are gone, or nothing has been shown about one. Of counties in a nation there are four; in states there is a
/// fifth, to spread the rows of these.
fn ways(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(83);
    let counties: u32 = 12;
    let of_nation: Vec<u32> = (0..counties).map(|_| 0).collect();
    let of_states: Vec<u32> = [0; 3].into_iter().chain((0..counties).map(|i| 1 + i / 4)).collect();
    for (parents, ways) in [(of_nation, 4), (of_states, 5)] {
        let gone: Vec<Cell<bool>> = (0..ways).map(|_| Cell::new(false)).collect();
        for round in 0..effort.of(2, 20) * ways {
            let pair = one_group_grows(counties as usize, round, ways, &mut rng);
            for promise in Promise::ALL {
                let settings = CensusSettings {
                    shares: LevelShares::AfterQuestion(0.25),
                    region_groups: Some(pair.0.groups_of_regions()),
                    ..CensusSettings::default()
                };
                let (groups, privacy) = (pair.0.groups(), promise.privacy());
                let plan =
                    Census::new(hierarchy(&parents), pair.0.bins(), groups, privacy, settings);
                let plan = plan.expect("valid");
                let show = |(table, evidence): (GroupTable, Evidence)| {
                    gone[evidence.way()].set(true);
                    let counts = table.counts().iter().map(|count| count.cast_unsigned());
                    let proof = plan.certify(&table, &evidence).expect("of this plan");
                    bits(counts.collect(), &evidence, proof)
                };
                let pair = (&pair.0, &pair.1);
                let share = share_shown(&plan.with_evidence(), promise, pair, &mut rng, show);
                found.see(share, || format!("{ways} ways, {promise:?}, round {round}"));
            }
        }
        for (way, gone) in gone.iter().enumerate() {
            let never = if gone.get() { 0.0 } else { f64::INFINITY };
            found.see(never, || format!("way {way} of {ways} was never gone"));
        }
    }
    found
}

/// A table of forty sizes, and another with one larger group: alike counties of few groups and of many, counties of few sizes each, counties of which half of the groups are empty
/// and the others have few sizes, and states of few sizes each with alike counties.
fn one_group_grows(
    counties: usize,
    round: usize,
    kinds: usize,
    rng: &mut ChaCha20Rng,
) -> (GroupSizes, GroupSizes) {
    let columns = 40;
    let bins = From0::up_to(39).expect("valid");
    let mut counts = vec![0; counties * columns];
    let mut own = [0; 2];
    for (county, row) in counts.chunks_exact_mut(columns).enumerate() {
        let kind = round % kinds;
        if kind != 4 || county % 4 == 0 {
            own = own.map(|_| rng.random_range(0..columns));
        }
        for group in 0..[4, 100_000, 400, 40, 400][kind] {
            let column = match kind {
                3 if group % 2 == 0 => 0,
                3 => 1 + county * 5 % 30 + group / 10,
                2.. => own[group % 2],
                _ => group % columns,
            };
            row[column] += 1;
        }
    }
    let cell = round % counties * columns + (round * 7) % (columns - 1);
    counts[cell] += 1;
    let before = GroupSizes::from_table(bins, counts.clone()).expect("a table of groups");
    counts[cell] -= 1;
    counts[cell + 1] += 1;
    (before, GroupSizes::from_table(bins, counts).expect("a table of groups"))
}

/// As many regions and columns as it takes to be beyond every size at which a solver goes another way: 24 columns, 67 million units of
/// work in one split, 4,096 cells of a level, strips of 8.
fn wide(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(76);
    let counties = 42;
    let parents: Vec<u32> = std::iter::repeat_n(0, counties).collect();
    let bins = From0::up_to(119).expect("valid");
    let columns = bins.count();
    // All sizes are occupied, so that every one of them is a step of the split.
    let counts: Vec<i64> =
        (0..counties * columns).map(|_| rng.random_range(1_000..1_100)).collect();
    let sizes = |moved: Option<(usize, usize, usize)>| {
        let mut counts = counts.clone();
        if let Some((county, from, to)) = moved {
            counts[county * columns + from] -= 1;
            counts[county * columns + to] += 1;
        }
        GroupSizes::from_table(bins, counts).expect("a table of groups")
    };
    let before = sizes(None);
    for (county, from) in [(0, 0), (17, 64), (counties - 1, columns - 2)] {
        let after = sizes(Some((county, from, from + 1)));
        for method in Method::ALL {
            let (hierarchy, privacy) = (hierarchy(&parents), Promise::Pure.privacy());
            let region_groups = Some(before.groups_of_regions());
            let settings = CensusSettings { region_groups, ..by(method) };
            let groups = before.groups();
            let plan = Census::new(hierarchy.clone(), bins, groups, privacy, settings.clone());
            let pair = (&before, &after);
            let share = share_used(&plan.expect("valid"), Promise::Pure, pair, &mut rng);
            found.see(share, || format!("{method:?}: county {county}, size {from}"));
            if let Ok(plan) = RealCensus::new(hierarchy, bins, groups, privacy, settings) {
                let show = |table| of_real(&table);
                let share = share_shown(&plan, Promise::Pure, pair, &mut rng, show);
                found.see(share, || format!("real {method:?}: county {county}, size {from}"));
            }
        }
    }
    found
}

/// All that a release with evidence lets out: table, noise, and what is proved about both.
fn bits(table: Vec<u64>, evidence: &Evidence, proof: Certificate) -> Vec<u64> {
    let noisy = evidence.noisy().iter().map(|count| count.cast_unsigned());
    let proof = [u64::from(proof.feasible), proof.residual.to_bits(), proof.distance.to_bits()];
    table.into_iter().chain(noisy).chain(proof).collect()
}

fn of_real(table: &RealGroupTable) -> Vec<u64> {
    table.counts().iter().map(|count| count.to_bits()).collect()
}
