//! From records of people to the release: one individual more, whatever stands in his or her records, by every way to make a table.

use std::collections::{BTreeMap, BTreeSet};

use dp_accounting::{MemberOfGroup, Relation};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method as By, Neighbours, compare, multisets};
use dp_census::{
    Bins, Census, CensusError, CensusSettings, From0, From1, GroupDirectory, GroupSizes,
    GroupTable, Hierarchy,
};
use dp_mechanism::{Algorithm, Mechanism, SecureSource, Source};
use rand::RngExt;

use crate::nation::{MEMBERS, Promise, TINY, above_zero, hierarchy};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, what: &str, run: fn(Effort) -> Found| {
        Check::new(id, what, MEMBERS, By::Exact, run)
    };
    vec![
        check("census-people", "Census, GroupDirectory: records of people", people),
        check("census-members", "Census, MemberCount: one call per individual", members),
        Check::new(
            "census-members-from-1",
            "Census, MemberCount: groups that keep a member",
            "further-member-of-group",
            By::Exact,
            members_from_one,
        ),
        check("census-merged", "Census, MemberCount: counts of parts, merged", merged),
        check("census-for-another", "Census, MemberCount: counts for another plan", for_another),
        check("census-rows", "Census, GroupSizes: rows and files", rows),
    ]
}

/// Person, group, quantity.
type Record = (u32, usize, i64);

const ODD: [i64; 8] = [i64::MIN, -1, 0, 1, 2, 3, 1 << 40, i64::MAX];
/// Groups 0 and 1 lie in one region, 2 in another; 3 and 4 are not in the directory.
const UNITS: [(usize, &str); 3] = [(0, "r1"), (1, "r1"), (2, "r2")];

struct Town {
    hierarchy: Hierarchy,
    directory: GroupDirectory<usize>,
}

impl Town {
    fn new() -> Self {
        let hierarchy = hierarchy(TINY[1]);
        let directory = GroupDirectory::new(&hierarchy, UNITS).expect("three groups");
        Self { hierarchy, directory }
    }

    /// A plan for individuals who bring up to so much. Numbers of groups of regions are public, as the directory is.
    fn plan<B: Bins>(&self, bins: B, most_quantity: u32) -> Census<B> {
        let settings = CensusSettings {
            most_quantity: above_zero(most_quantity),
            region_groups: Some(self.directory.groups_of_regions()),
            ..CensusSettings::default()
        };
        let privacy = Promise::Pure.privacy();
        Census::new(self.hierarchy.clone(), bins, 3, privacy, settings).expect("valid settings")
    }
}

/// What comes out of a table, if it is not refused: by the release, and by `Debug`, which goes to logs.
type Outcome = Result<(String, GroupTable), CensusError>;

fn release<B: Bins>(
    plan: &Census<B>,
    sizes: Result<GroupSizes<B>, CensusError>,
    source: &mut dyn Source,
) -> Outcome {
    let sizes = sizes?;
    plan.check(&sizes.shape())?;
    Ok((format!("{sizes:?}"), plan.replay(&sizes, source).0))
}

/// The loss between two lists of records; none where both are refused for the same reason, before anything is drawn.
fn loss<D>(
    neighbours: &Neighbours<'_, D>,
    run: impl Fn(&D, &mut dyn Source) -> Outcome,
    before: &D,
    after: &D,
    source: &mut dyn Source,
) -> f64 {
    let run = |data: &D, source: &mut dyn Source| run(data, source).map_err(|e| e.to_string());
    let comparison = compare(neighbours, run, before, after, source);
    let refused = comparison.steps.is_empty() && comparison.diverged.is_none();
    if refused && comparison.outputs_equal { 0.0 } else { comparison.pure_loss() }
}

/// Records of people, of whom one has others or is in one of the two lists only.
fn one_person<'a, D>(
    relation: impl Relation,
    records: impl Fn(&D) -> Vec<Record> + 'a,
) -> Neighbours<'a, D> {
    let people = move |data: &D| {
        let mut people: BTreeMap<u32, Vec<(usize, i64)>> = BTreeMap::new();
        for (person, unit, quantity) in records(data) {
            people.entry(person).or_default().push((unit, quantity));
        }
        people
    };
    Neighbours::tested(relation, move |a, b| {
        let [a, b] = [people(a), people(b)];
        let all: BTreeSet<&u32> = a.keys().chain(b.keys()).collect();
        all.into_iter().filter(|person| a.get(person) != b.get(person)).count() == 1
    })
}

/// All of up to so many people with one record each.
fn others(effort: Effort) -> Vec<Vec<Record>> {
    let all = multisets(3, effort.of(3, 4)).into_iter();
    all.map(|units| (100..).zip(units).map(|(person, unit)| (person, unit, 1)).collect()).collect()
}

/// Up to three records of one person, in known and unknown groups, before and after the others.
fn people(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(80);
    let town = Town::new();
    let neighbours = one_person(MemberOfGroup, Vec::clone);
    let bins = From0::up_to(3).expect("valid");
    for most in 1..=3 {
        let plan = town.plan(bins, most);
        let run = |records: &Vec<Record>, source: &mut dyn Source| {
            let members = town.directory.count_people(records.iter().copied(), above_zero(most));
            release(&plan, members.into_sizes(bins, above_zero(most)), source)
        };
        for before in others(effort) {
            for _ in 0..effort.of(8, 40) {
                let mut record =
                    || (7_u32, rng.random_range(0..5_usize), ODD[rng.random_range(0..ODD.len())]);
                let own = [record(), record(), record()];
                let after = [&own[..1], &before, &own[1..]].concat();
                let share =
                    loss(&neighbours, run, &before, &after, &mut SecureSource::new(&mut rng));
                found.see(share, || format!("{most}: {before:?} and {own:?}"));
            }
        }
    }
    found
}

/// One record of an individual, counted by one call.
fn members(effort: Effort) -> Found {
    one_call(effort, From0::up_to(3).expect("valid"), &[])
}

/// The same where every group has somebody else in it.
fn members_from_one(effort: Effort) -> Found {
    one_call(effort, From1::up_to(4).expect("valid"), &[(1, 0, 1), (2, 1, 1), (3, 2, 1)])
}

fn one_call<B: Bins>(effort: Effort, bins: B, settled: &[Record]) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(81);
    let town = Town::new();
    for most in 1..=3 {
        let plan = town.plan(bins, most);
        let neighbours = one_person(plan.receipt().relation(), Vec::clone);
        let run = |records: &Vec<Record>, source: &mut dyn Source| {
            let mut members = town.directory.count_members(above_zero(most));
            for (_, unit, quantity) in records {
                members.add(unit, *quantity);
            }
            let shown = format!("{members:?}");
            let (sizes, table) =
                release(&plan, members.into_sizes(bins, above_zero(most)), source)?;
            Ok((shown + &sizes, table))
        };
        for before in others(effort) {
            let before = [settled, &before].concat();
            for own in (0..5).flat_map(|unit| ODD.map(|quantity| (7, unit, quantity))) {
                let after = [&before[..], &[own]].concat();
                let share =
                    loss(&neighbours, run, &before, &after, &mut SecureSource::new(&mut rng));
                found.see(share, || format!("{most}: {before:?} and {own:?}"));
            }
        }
    }
    found
}

/// Parts of the records counted apart, the individual in one of them.
fn merged(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(82);
    let town = Town::new();
    let neighbours = one_person(MemberOfGroup, |parts: &[Vec<Record>; 2]| parts.concat());
    let bins = From0::up_to(3).expect("valid");
    for (of_part, of_other) in [(1, 1), (2, 2), (1, 2), (3, 1)] {
        let plan = town.plan(bins, of_part);
        let run = |parts: &[Vec<Record>; 2], source: &mut dyn Source| {
            let [mut part, mut other] =
                [of_part, of_other].map(|most| town.directory.count_members(above_zero(most)));
            for (members, records) in [(&mut part, &parts[0]), (&mut other, &parts[1])] {
                for (_, unit, quantity) in records {
                    members.add(unit, *quantity);
                }
            }
            part.merge(&other)?;
            release(&plan, part.into_sizes(bins, above_zero(of_part)), source)
        };
        for before in others(effort) {
            let (here, there) = before.split_at(before.len() / 2);
            for own in (0..4).flat_map(|unit| ODD.map(|quantity| (7, unit, quantity))) {
                for place in 0..2 {
                    let before = [here.to_vec(), there.to_vec()];
                    let mut after = before.clone();
                    after[place].push(own);
                    let share =
                        loss(&neighbours, run, &before, &after, &mut SecureSource::new(&mut rng));
                    found.see(share, || format!("{of_part}, {of_other}: {before:?} and {own:?}"));
                }
            }
        }
    }
    found
}

/// People are counted for one plan and released by another, which protects who brings less or more.
fn for_another(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(83);
    let town = Town::new();
    let neighbours = one_person(MemberOfGroup, Vec::clone);
    let bins = From0::up_to(4).expect("valid");
    for (of_count, of_table, of_plan) in
        [(3, 1, 1), (3, 3, 1), (2, 2, 1), (4, 2, 2), (1, 3, 3), (1, 1, 3), (2, 2, 2)]
    {
        let plan = town.plan(bins, of_plan);
        let run = |records: &Vec<Record>, source: &mut dyn Source| {
            let members =
                town.directory.count_people(records.iter().copied(), above_zero(of_count));
            release(&plan, members.into_sizes(bins, above_zero(of_table)), source)
        };
        for before in others(effort) {
            for own in (0..3).map(|unit| (7, unit, i64::MAX)) {
                let after = [&before[..], &[own]].concat();
                let share =
                    loss(&neighbours, run, &before, &after, &mut SecureSource::new(&mut rng));
                let says = || format!("{of_count} {of_table} {of_plan}: {before:?} and {own:?}");
                found.see(share, says);
            }
        }
    }
    found
}

/// Tables that were made elsewhere, by rows and by files: one group has a member more, whose size may be beyond the last column.
fn rows(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(84);
    let town = Town::new();
    let neighbours = Neighbours::of_records(MemberOfGroup, Vec::clone);
    let bins = From0::up_to(2).expect("valid");
    let plan = town.plan(bins, 1);
    let by_rows = |groups: &Vec<(&str, u64)>, source: &mut dyn Source| {
        let rows = groups.iter().map(|&(region, size)| (region, size, 1));
        release(&plan, GroupSizes::from_rows(&town.hierarchy, bins, rows), source)
    };
    let by_files = |groups: &Vec<(&str, u64)>, source: &mut dyn Source| {
        let rows = groups.iter().map(|&(region, size)| (region, size, 1));
        let sizes = GroupSizes::from_rows(&town.hierarchy, bins, rows)?;
        let [plan, sizes] = [serde_json::to_string(&plan), serde_json::to_string(&sizes)]
            .map(|text| text.expect("plain data"));
        let plan: Census = serde_json::from_str(&plan).expect("as it was written");
        release(&plan, Ok(serde_json::from_str(&sizes).expect("as it was written")), source)
    };
    for sizes in multisets(5, 3).into_iter().filter(|sizes| sizes.len() == 3) {
        let regions = ["r1", "r1", "r2"];
        let groups = |sizes: &[usize]| -> Vec<(&str, u64)> {
            regions.into_iter().zip(sizes.iter().map(|&size| size as u64)).collect()
        };
        for grown in 0..3 {
            let mut more = sizes.clone();
            more[grown] += 1;
            let (before, after) = (groups(&sizes), groups(&more));
            let source = &mut SecureSource::new(&mut rng);
            let share = loss(&neighbours, by_rows, &before, &after, source);
            found.see(share, || format!("rows {before:?} and {after:?}"));
            let share = loss(&neighbours, by_files, &before, &after, source);
            found.see(share, || format!("files {before:?} and {after:?}"));
        }
    }
    found
}
