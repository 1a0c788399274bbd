//! A census counted by the engine, against that from memory.

use std::num::NonZeroU32;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::MemTable;
use dp_census::passes::{Passes, TableError};
use dp_census::{
    Census, CensusSettings, From0, GroupDirectory, GroupSizes, Hierarchy, Mechanism, Privacy,
};
use dp_datafusion::{Error, count_groups};
use rand::RngExt;

use crate::support::{rng, session, wait};

const MOST: u32 = 3;

fn nation() -> Hierarchy {
    let parts =
        [("land", None), ("east", Some("land")), ("west", Some("land")), ("far", Some("land"))];
    Hierarchy::new(parts).expect("valid")
}

type Person = (Option<String>, Option<i32>);

fn directory() -> Vec<(String, &'static str)> {
    (0..400).map(|unit| (format!("unit {unit}"), ["east", "west"][unit % 7 / 5])).collect()
}

/// Some in units that are unknown or not said, with quantities of all kinds.
fn people() -> Vec<Person> {
    let mut rng = rng(8);
    let quantities = [Some(1), Some(2), Some(0), Some(-7), Some(i32::MAX), Some(1), None];
    let one = |_| {
        let unit = match rng.random_range(0..450) {
            440.. => None,
            unit => Some(format!("unit {unit}")),
        };
        (unit, quantities[rng.random_range(0..7)])
    };
    (0..900).map(one).collect()
}

/// A table in as many parts as there are partitions.
fn frame(partitions: usize, columns: Vec<(&str, ArrayRef)>) -> DataFrame {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length");
    let rows = batch.num_rows().div_ceil(partitions).max(1);
    let part =
        |start: usize| {
            vec![batch.slice(
                start.min(batch.num_rows()),
                rows.min(batch.num_rows().saturating_sub(start)),
            )]
        };
    let parts = (0..partitions).map(|number| part(number * rows)).collect();
    let table = MemTable::try_new(batch.schema(), parts).expect("of one schema");
    session(partitions).read_table(Arc::new(table)).expect("a table")
}

fn units(partitions: usize, rows: &[(String, &str)]) -> DataFrame {
    let name: StringArray = rows.iter().map(|(unit, _)| Some(unit.as_str())).collect();
    let region: StringArray = rows.iter().map(|(_, region)| Some(*region)).collect();
    frame(partitions, vec![("region", Arc::new(region)), ("unit", Arc::new(name))])
}

fn rows(partitions: usize, people: &[Person], quantity: bool) -> DataFrame {
    let unit: StringArray = people.iter().map(|(unit, _)| unit.as_deref()).collect();
    let brought: Int32Array = people.iter().map(|(_, quantity)| *quantity).collect();
    let mut columns: Vec<(&str, ArrayRef)> = vec![("unit", Arc::new(unit))];
    if quantity {
        columns.push(("quantity", Arc::new(brought)));
    }
    frame(partitions, columns)
}

fn plan(groups: i64, region_groups: Option<Vec<i64>>) -> Census {
    let most_quantity = NonZeroU32::new(MOST).expect("above 0");
    let settings = CensusSettings { most_quantity, region_groups, ..Default::default() };
    let bins = From0::up_to(5).expect("valid");
    Census::new(nation(), bins, groups, Privacy::pure(1.0).expect("valid"), settings)
        .expect("valid")
}

fn from_memory(quantity: bool) -> GroupSizes {
    let nation = nation();
    let directory = directory();
    let directory = directory.iter().map(|(unit, region)| (unit.as_str(), *region));
    let directory = GroupDirectory::new(&nation, directory).expect("of leaves");
    let most = NonZeroU32::new(MOST).expect("above 0");
    let mut members = directory.count_members(most);
    let people = people();
    for (unit, brought) in &people {
        let brought = if quantity { *brought } else { Some(1) };
        if let (Some(unit), Some(brought)) = (unit, brought) {
            members.add(&unit.as_str(), i64::from(brought));
        }
    }
    members.into_sizes(From0::up_to(5).expect("valid"), most).expect("few")
}

#[test]
fn a_census_is_that_from_memory() {
    for quantity in [false, true] {
        let sizes = from_memory(quantity);
        for region_groups in [None, Some(sizes.groups_of_regions())] {
            let plan = plan(400, region_groups);
            let want = plan.simulate(&sizes, &mut rng(3)).expect("of the plan").output;
            for partitions in [1, 5] {
                let mut passes = Passes::new(plan.clone()).expect("has tables");
                // Lines of the directory that are there twice.
                let directory = [directory(), directory()[..9].to_vec()].concat();
                let (units, people) =
                    (units(partitions, &directory), rows(partitions, &people(), quantity));
                let table = wait(count_groups(passes.asked(), &nation(), units, people));
                let got = passes.simulate(&table.expect("counted"), &mut rng(3)).expect("whole");
                assert_eq!(got.expect("there is one pass").output, want);
            }
        }
    }
}

#[test]
fn what_is_wrong_with_public_columns_is_refused_by_name_and_a_lost_group_before_a_draw() {
    let passes = Passes::new(plan(400, None)).expect("has tables");
    let count = |units, people| wait(count_groups(passes.asked(), &nation(), units, people));
    let few = &directory()[1..];
    let fewer = count(units(2, few), rows(2, &people(), true)).expect("counted");
    assert_eq!(passes.check(&fewer), Err(TableError::OtherRows));
    let twice = [directory(), vec![("unit 0".to_owned(), "far")]].concat();
    let twice = count(units(2, &twice), rows(2, &people(), true)).expect("counted");
    assert_eq!(passes.check(&twice), Err(TableError::OtherRows));

    let nowhere = [directory(), vec![("new".to_owned(), "land")]].concat();
    let error = count(units(1, &nowhere), rows(1, &people(), true)).expect_err("no leaf");
    assert!(matches!(error, Error::NoRegion(name) if name == "land"));
    let unit: ArrayRef = Arc::new(StringArray::from(vec!["unit 1"]));
    let no_region = frame(1, vec![("unit", unit.clone())]);
    let error = count(no_region, rows(1, &people(), true)).expect_err("no column");
    assert_eq!(error.to_string(), "there is no column `region` in the directory");
    let brought: ArrayRef = Arc::new(Float64Array::from(vec![1.5]));
    let broken = frame(1, vec![("unit", unit), ("quantity", brought)]);
    let error = count(units(1, &directory()), broken).expect_err("no whole numbers");
    assert!(error.to_string().starts_with("the column `quantity` of the people is Float64"));
    let other = Hierarchy::new([("land", None), ("east", Some("land"))]).expect("valid");
    let asked = count_groups(passes.asked(), &other, units(1, &[]), rows(1, &people(), true));
    assert!(matches!(wait(asked), Err(Error::OtherHierarchy)));
}

/// Nobody at all: every group is empty, and counts.
#[test]
fn no_people_are_a_table_of_empty_groups() {
    let passes = Passes::new(plan(400, None)).expect("has tables");
    let nation = nation();
    let counted = count_groups(passes.asked(), &nation, units(3, &directory()), rows(3, &[], true));
    assert_eq!(passes.check(&wait(counted).expect("counted")), Ok(()));
}
