//! A release from a table that somebody else has counted: in parts, on other machines, in SQL.
//!
//! All that a [`Census`](crate::Census) needs of people is one table, of how many groups of each size there are in each leaf region. Where
//! people are in an engine, that is a join of the public directory with the sums of its groups, and a count: [`sql`] writes it.
//! [`Passes`] asks the question, refuses what is not its answer, and draws. It is the code path of the release from memory.
//!
//! ```
//! use dp_census::passes::{Group, Passes};
//! use dp_census::{Census, CensusSettings, From0, Hierarchy, Privacy, chacha_from_os};
//!
//! let nation = Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))])?;
//! let plan = Census::new(nation, From0::up_to(3)?, 4, Privacy::pure(1.0)?, CensusSettings::default())?;
//! let mut passes = Passes::new(plan)?;
//!
//! // Two parts of the groups, counted in two places: regions by their number among those of the lowest level.
//! let parts = [[(0, 3), (1, 0)], [(1, 1), (0, 2)]];
//! let mut all = passes.asked().tally()?;
//! for part in parts {
//!     let mut counted = passes.asked().tally()?;
//!     counted.add(&part.map(|(region, size)| Group { region, size }))?;
//!     all.merge(counted.table())?;
//! }
//! let release = passes.answer(all.table(), &mut chacha_from_os()?)?.expect("there is one pass");
//! assert_eq!(release.output[0].len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is not protected
//! **Tables are exact**: they and [`Passes`] are as confidential as the people. Only the question and the release are not.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

pub use dp_mechanism::passes::{Asked, ByPasses, Passes, Question, Table, TableError, Tally};

use crate::sizes::cells_of;
use crate::{Bins, From0, TableShape};

/// A group, by its leaf region and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The number of its region among those of the lowest level, in the order of the hierarchy.
    pub region: u32,
    /// What its individuals add up to, each of them cut to the most quantity of the plan.
    pub size: u64,
}

/// How many groups of each size there are in each leaf region: public.
///
/// Every group of the directory is a record, also one that is empty. Who counts has cut what each individual brings to
/// [`most_quantity`](Self::most_quantity) and put each into one group, as [`MemberCount`](crate::MemberCount) does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "B: Bins")]
pub struct GroupCounts<B: Bins = From0> {
    pub(crate) bins: B,
    pub(crate) leaves: u32,
    pub(crate) most_quantity: NonZeroU32,
    /// Where they are public.
    pub(crate) region_groups: Option<Vec<i64>>,
}

impl<B: Bins> GroupCounts<B> {
    /// The columns.
    pub fn bins(&self) -> B {
        self.bins
    }

    /// Number of leaf regions.
    pub fn regions(&self) -> u32 {
        self.leaves
    }

    /// The most that one individual may have added to the size of a group.
    pub fn most_quantity(&self) -> NonZeroU32 {
        self.most_quantity
    }

    /// Of a table that [`is_possible`](Question::is_possible), which compares where the groups are if that is public: else it is as good in one
    /// region as in another.
    pub(crate) fn shape(&self, rows: u64) -> TableShape {
        let groups_of_regions = self.region_groups.clone().unwrap_or_else(|| {
            let mut groups = vec![0; self.leaves as usize];
            groups[0] = rows.cast_signed();
            groups
        });
        let (columns, most_quantity) = (self.bins.count(), self.most_quantity);
        TableShape { columns, most_quantity, groups_of_regions }
    }

    fn cells(&self) -> Option<usize> {
        cells_of(usize::try_from(self.leaves).ok()?, self.bins.count()).ok()
    }
}

impl<B: Bins> Question for GroupCounts<B> {
    type Chunk<'a> = &'a [Group];
    type Counter = B;

    fn counter(&self) -> Option<B> {
        self.cells().map(|_| self.bins)
    }

    fn entries(&self) -> usize {
        self.cells().unwrap_or(0)
    }

    /// Groups below the first size are none, as in [`GroupSizes`](crate::GroupSizes).
    fn rows(&self, groups: &[Group]) -> Option<u64> {
        if groups.iter().any(|group| group.region >= self.leaves) {
            return None;
        }
        Some(groups.iter().filter(|group| self.bins.column(group.size).is_some()).count() as u64)
    }

    fn count(bins: &mut B, groups: &[Group], entries: &mut [i64]) {
        for group in groups {
            if let Some(column) = bins.column(group.size) {
                entries[group.region as usize * bins.count() + column] += 1;
            }
        }
    }

    /// Each group is in one cell, and where it is public how many a region has, no part of the groups has more there; so that all of them,
    /// whose number is public, have as many.
    fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        let sum = |row: &[i64]| row.iter().map(|&count| i128::from(count)).sum::<i128>();
        let regions = entries.chunks(self.bins.count());
        let public = self.region_groups.iter().flatten();
        entries.iter().all(|&count| count >= 0)
            && sum(entries) == i128::from(rows)
            && regions.zip(public).all(|(row, &groups)| sum(row) <= i128::from(groups))
    }
}

/// The statement that counts the table, for engines that do not run this code. `groups` is SQL for one row per group of the directory, with
/// whole numbers `region` and `size` as in [`Group`]. What it returns is described at [`Asked::sql`].
pub fn sql<B: Bins>(asked: &Asked<GroupCounts<B>>, groups: &str) -> String {
    let bins = asked.question().bins;
    let (columns, smallest, largest) = (bins.count(), B::SMALLEST, bins.largest());
    asked.sql(
        &format!(
            "records AS (SELECT region, size FROM (\n{groups}\n) AS every_group WHERE size >= {smallest}),\n\
             placed AS (SELECT region * {columns} + LEAST(size, {largest}) - {smallest} AS entry FROM records),\n\
             cells AS (SELECT entry, COUNT(*) AS value FROM placed GROUP BY entry)"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Census, CensusError, CensusSettings, From1, GroupSizes, Hierarchy, Method, Privacy,
        RealCensus,
    };
    use dp_mechanism::{Algorithm, ChaCha20Rng, Mechanism};
    use rand::{RngExt, SeedableRng};

    fn nation() -> Hierarchy {
        let parts = [("US", None), ("GA", Some("US")), ("NY", Some("US")), ("VT", Some("US"))];
        Hierarchy::new(parts).expect("valid")
    }

    fn groups(n: usize, least: u64) -> Vec<Group> {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let one = |_| Group { region: rng.random_range(0..3), size: rng.random_range(least..9) };
        (0..n).map(one).collect()
    }

    fn sizes<B: Bins>(bins: B, groups: &[Group]) -> GroupSizes<B> {
        let name = |group: &Group| ["GA", "NY", "VT"][group.region as usize];
        let rows = groups.iter().map(|group| (name(group), group.size, 1));
        GroupSizes::from_rows(&nation(), bins, rows).expect("a table")
    }

    fn counted<B: Bins>(asked: &Asked<GroupCounts<B>>, parts: &[&[Group]]) -> Table {
        let mut all = asked.tally().expect("has a table");
        for part in parts {
            let mut tally = asked.tally().expect("has a table");
            tally.add(part).expect("groups of the hierarchy");
            all.merge(tally.table()).expect("of this question");
        }
        all.into_table()
    }

    /// The bytes of the release from memory, for any cut and order of the groups.
    fn same<B: Bins, P>(plan: &P, bins: B, groups: &[Group])
    where
        P: ByPasses<Question = GroupCounts<B>, Error = CensusError>
            + for<'a> Algorithm<Data<'a> = &'a GroupSizes<B>>
            + Clone,
        P::Output: PartialEq + std::fmt::Debug,
    {
        let rng = || ChaCha20Rng::seed_from_u64(9);
        let want = plan.simulate(&sizes(bins, groups), &mut rng()).expect("of the plan").output;
        let mut backwards = groups.to_vec();
        backwards.reverse();
        for groups in [groups, &backwards] {
            for cut in [0, 1, 17, groups.len()] {
                let mut passes = Passes::new(plan.clone()).expect("has tables");
                let bytes = passes.to_bytes();
                let (first, second) = groups.split_at(cut);
                let table = counted(passes.asked(), &[first, second]);
                let table = Table::from_bytes(&table.to_bytes()).expect("whole");
                let got = passes.simulate(&table, &mut rng()).expect("its answer").expect("one");
                assert_eq!(got.output, want);
                let mut again = Passes::from_bytes(plan.clone(), &bytes).expect("its state");
                let got = again.simulate(&table, &mut rng()).expect("its answer").expect("one");
                assert_eq!(got.output, want);
                assert_eq!(again.check(&table), Err(TableError::Finished));
            }
        }
    }

    #[test]
    fn counted_in_parts_a_release_has_the_bytes_of_that_from_memory() {
        for method in Method::ALL {
            for public in [false, true] {
                let (bins, all) = (From0::up_to(5).expect("valid"), groups(40, 0));
                let region_groups = public.then(|| sizes(bins, &all).groups_of_regions());
                let settings = CensusSettings { method, region_groups, ..Default::default() };
                let privacy = Privacy::pure(1.0).expect("valid");
                let plan = Census::new(nation(), bins, 40, privacy, settings.clone());
                same(&plan.expect("valid"), bins, &all);
                if let Ok(plan) = RealCensus::new(nation(), bins, 40, privacy, settings) {
                    same(&plan, bins, &all);
                }
            }
        }
        // Without a column for empty groups, which are left out.
        let (bins, all) = (From1::up_to(5).expect("valid"), groups(40, 0));
        let privacy = Privacy::gaussian(1.0, 1e-9).expect("valid");
        let left = sizes(bins, &all).groups();
        assert!(left < 40);
        let plan = Census::new(nation(), bins, left, privacy, CensusSettings::default());
        same(&plan.expect("valid"), bins, &all);
    }

    #[test]
    fn what_is_no_table_of_these_groups_is_refused_before_a_draw() {
        let (bins, all) = (From0::up_to(5).expect("valid"), groups(40, 0));
        let region_groups = Some(sizes(bins, &all).groups_of_regions());
        let plan = |most: u32, region_groups: &Option<Vec<i64>>| {
            let most_quantity = NonZeroU32::new(most).expect("above 0");
            let region_groups = region_groups.clone();
            let settings = CensusSettings { most_quantity, region_groups, ..Default::default() };
            let plan =
                Census::new(nation(), bins, 40, Privacy::pure(1.0).expect("valid"), settings);
            Passes::new(plan.expect("valid")).expect("has tables")
        };
        let passes = plan(1, &region_groups);
        let at_once = |passes: &Passes<Census>, groups: &[Group]| {
            let mut tally = passes.asked().tally().expect("has a table");
            tally.add(groups).expect("groups of the hierarchy");
            tally.into_table()
        };
        let table = at_once(&passes, &all);
        assert_eq!(passes.check(&table), Ok(()));
        let twice = at_once(&passes, &[&all[..], &all[..1]].concat());
        assert_eq!(passes.check(&twice), Err(TableError::Impossible));
        // As many groups, one of them elsewhere.
        let mut moved = all.clone();
        moved[0].region = (moved[0].region + 1) % 3;
        assert_eq!(passes.check(&at_once(&passes, &moved)), Err(TableError::Impossible));
        let free = plan(1, &None);
        assert_eq!(free.check(&at_once(&free, &moved)), Ok(()));
        assert_eq!(free.check(&at_once(&free, &all[1..])), Err(TableError::OtherRows));
        // Of another most quantity.
        assert_eq!(plan(2, &region_groups).check(&table), Err(TableError::OtherPlan));
        // A state that asks what another plan does.
        for other in [plan(2, &region_groups), plan(1, &None)] {
            let fits = passes.plan().fits(&(), other.asked().question());
            assert_eq!(fits, Err(TableError::OtherQuestion));
        }
        let nowhere = [Group { region: 3, size: 1 }];
        let mut tally = passes.asked().tally().expect("has a table");
        assert_eq!(tally.add(&nowhere), Err(TableError::Shape));
        let signature = passes.asked().signature();
        let by_hand = |entries: &[(usize, i64)]| {
            let table = passes.asked().table(&signature, 40, entries.iter().copied());
            table.and_then(|table| passes.check(&table))
        };
        // Also where no number of a region is public that a sum could be above.
        let signature_of_free = free.asked().signature();
        let below_zero = free.asked().table(&signature_of_free, 40, [(0, 41), (1, -1)]);
        assert_eq!(below_zero.and_then(|table| free.check(&table)), Err(TableError::Impossible));
        // One group is in no cell, or in two.
        for count in [39, 41] {
            let off = free.asked().table(&signature_of_free, 40, [(0, count)]);
            assert_eq!(off.and_then(|table| free.check(&table)), Err(TableError::Impossible));
        }
        assert_eq!(by_hand(&[(0, 41), (1, -1)]), Err(TableError::Impossible));
        assert_eq!(by_hand(&[(18, 40)]), Err(TableError::Damaged));
        assert_eq!(by_hand(&[(0, i64::MAX), (1, i64::MAX)]), Err(TableError::Impossible));
    }

    /// The columns of the statement are those of the table: sizes above the last are in it, not in the first of the next region.
    #[test]
    fn a_statement_cuts_sizes_to_the_columns() {
        fn lines<B: Bins>(bins: B) -> [String; 2] {
            let privacy = Privacy::pure(1.0).expect("valid");
            let plan = Census::new(nation(), bins, 4, privacy, CensusSettings::default());
            let passes = Passes::new(plan.expect("valid")).expect("has tables");
            let text = sql(passes.asked(), "SELECT region, size FROM groups");
            let line = |begins: &str| {
                text.lines().find(|line| line.starts_with(begins)).map(str::to_owned)
            };
            [") AS", "placed"].map(|begins| line(begins).expect("a line"))
        }
        assert_eq!(
            lines(From0::up_to(5).expect("valid")),
            [
                ") AS every_group WHERE size >= 0),",
                "placed AS (SELECT region * 6 + LEAST(size, 5) - 0 AS entry FROM records),"
            ]
        );
        assert_eq!(
            lines(From1::up_to(5).expect("valid")),
            [
                ") AS every_group WHERE size >= 1),",
                "placed AS (SELECT region * 5 + LEAST(size, 5) - 1 AS entry FROM records),"
            ]
        );
    }

    #[test]
    fn a_question_of_more_cells_than_memory_has_no_table() {
        let bins = From0::up_to((1 << 24) - 1).expect("valid");
        let (leaves, most_quantity) = (u32::MAX, NonZeroU32::MIN);
        let question = GroupCounts { bins, leaves, most_quantity, region_groups: None };
        assert!(question.counter().is_none() && question.entries() == 0);
    }
}
