use std::fmt;
use std::num::NonZeroU32;

use crate::sizes::cells_of;
use crate::{Bins, CensusError, GroupSizes, Hierarchy};

/// Which groups there are and in which region each of them lies. Public; people come and go, groups stay.
///
/// A record of a person names its unit and no region: where the unit is, the directory knows, so no record can move a group.
///
/// # Not from the private records
/// The list of groups must come from elsewhere: a register of addresses, a list of licences. A directory of the units that occur in
/// the records has one group less if somebody who lives alone is not there, so the public number of groups would say who is, and no
/// release from it has the guarantee of its receipt.
///
/// ```
/// use std::num::NonZeroU32;
/// use dp_census::{From0, GroupDirectory, Hierarchy};
///
/// let nation = Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))])?;
/// // Public: three addresses. Nobody lives at the last one, and it counts as a household of size 0.
/// let homes = [("1 Main St", "GA"), ("2 Main St", "GA"), ("7 Elm St", "NY")];
/// let directory = GroupDirectory::new(&nation, homes)?;
/// // Private: one record per person. Who is somewhere else is not counted.
/// let mut members = directory.count_members(NonZeroU32::MIN);
/// for home in ["1 Main St", "1 Main St", "2 Main St", "nowhere"] {
///     members.add(&home, 1);
/// }
/// let sizes = members.into_sizes(From0::up_to(2)?, NonZeroU32::MIN)?;
/// assert_eq!(sizes.counts(), [0, 1, 1, 1, 0, 0]); // one row per state: sizes 0, 1, 2 or more
/// # Ok::<(), dp_census::CensusError>(())
/// ```
///
/// # Complexity
/// `O(g log g)` to build for `g` groups, `O(log g)` per lookup.
#[derive(Clone, Debug)]
pub struct GroupDirectory<U> {
    /// Sorted.
    units: Vec<U>,
    leaves: Vec<u32>,
    regions: usize,
}

impl<U: Ord> GroupDirectory<U> {
    /// From each group's unit (an address, a licence plate) and the name of its leaf region. The same row twice counts once.
    ///
    /// # Errors
    /// [`CensusError::UnknownRegion`]; [`CensusError::TwoRegions`] for a unit in two places, with both of them and its position in sorted order.
    pub fn new<'a>(
        hierarchy: &Hierarchy,
        groups: impl IntoIterator<Item = (U, &'a str)>,
    ) -> Result<Self, CensusError> {
        let leaf = |(unit, region)| {
            let leaf = hierarchy.leaf(region)?;
            Ok::<_, CensusError>((
                unit,
                u32::try_from(leaf).expect("fewer regions than a u32 counts"),
            ))
        };
        let mut groups: Vec<(U, u32)> = groups.into_iter().map(leaf).collect::<Result<_, _>>()?;
        groups.sort();
        groups.dedup();
        if let Some(unit) = groups.windows(2).position(|pair| pair[0].0 == pair[1].0) {
            let leaves = hierarchy.tree().leaves();
            let name = |place: usize| hierarchy.name(leaves.start + groups[place].1 as usize);
            let [first, second] = [unit, unit + 1].map(|place| name(place).to_owned());
            return Err(CensusError::TwoRegions { unit, first, second });
        }
        let (units, leaves) = groups.into_iter().unzip();
        Ok(Self { units, leaves, regions: hierarchy.tree().leaves().len() })
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.units.len()
    }

    /// How many groups lie in each leaf region: public, and what [`region_groups`](crate::CensusSettings::region_groups) takes.
    pub fn groups_of_regions(&self) -> Vec<i64> {
        let mut groups = vec![0; self.regions];
        self.leaves.iter().for_each(|&leaf| groups[leaf as usize] += 1);
        groups
    }

    /// A count of members that starts with every group empty; see [`MemberCount`].
    pub fn count_members(&self, most_quantity: NonZeroU32) -> MemberCount<'_, U> {
        MemberCount { directory: self, sizes: vec![0; self.units.len()], most_quantity }
    }

    /// The sizes of groups from records of people who may be in several records: `(person, unit, quantity)`.
    ///
    /// Of a person with records in several groups, those in the least of these units count; their quantities there are added.
    /// So one individual changes one group, whatever the records. The rest is as in [`MemberCount::add`].
    ///
    /// # Complexity
    /// Sorts all records: `O(n log n)` time, one copy of persons, positions and quantities in memory.
    pub fn count_people<P: Ord>(
        &self,
        records: impl IntoIterator<Item = (P, U, i64)>,
        most_quantity: NonZeroU32,
    ) -> MemberCount<'_, U> {
        let known = |(person, unit, quantity)| Some((person, self.find(&unit)?, quantity));
        let mut known: Vec<(P, usize, i64)> = records.into_iter().filter_map(known).collect();
        known.sort();
        let mut members = self.count_members(most_quantity);
        for person in known.chunk_by(|a, b| a.0 == b.0) {
            let group = person[0].1;
            let in_group = person.iter().take_while(|record| record.1 == group);
            // Records with a negative quantity count as 0 one by one, so that none takes away from another.
            let quantity = in_group.fold(0_i64, |sum, record| sum.saturating_add(record.2.max(0)));
            members.add_to(group, quantity);
        }
        members
    }

    fn is_the_same(&self, other: &Self) -> bool {
        let equal = || (&self.units, &self.leaves) == (&other.units, &other.leaves);
        std::ptr::eq(self, other) || (self.regions == other.regions && equal())
    }

    fn find(&self, unit: &U) -> Option<usize> {
        self.units.binary_search(unit).ok()
    }
}

/// Sizes of groups while people are counted, one call of [`add`](Self::add) per individual: for streams of any length.
///
/// Private. `Debug` prints what is public: groups, regions and quantity.
#[derive(Clone)]
pub struct MemberCount<'a, U> {
    directory: &'a GroupDirectory<U>,
    sizes: Vec<u64>,
    most_quantity: NonZeroU32,
}

/// Equal whoever was counted: sizes stay out of logs, and units too, of which there may be many.
impl<U> fmt::Debug for MemberCount<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberCount")
            .field("groups", &self.sizes.len())
            .field("regions", &self.directory.regions)
            .field("most_quantity", &self.most_quantity)
            .finish_non_exhaustive()
    }
}

impl<U: Ord> MemberCount<'_, U> {
    /// Adds one individual, who brings `quantity` to the group of `unit`: 1 if people are counted, the number of their cars if cars are.
    ///
    /// Nothing here fails, as who is in which record is private: a negative quantity counts as 0, one above `most_quantity` as
    /// `most_quantity`, and a record of a unit that is not in the directory is dropped.
    ///
    /// The guarantee of a release is for one call. Who may appear in several records must be counted by
    /// [`GroupDirectory::count_people`].
    pub fn add(&mut self, unit: &U, quantity: i64) {
        if let Some(group) = self.directory.find(unit) {
            self.add_to(group, quantity);
        }
    }

    /// Adds what was counted elsewhere, such as of another part of the records.
    ///
    /// The guarantee of a release is for individuals who are in one part only.
    ///
    /// # Errors
    /// [`CensusError::Conflict`] if the other was counted with other groups or another most quantity, both of which are public. Nothing
    /// is added then.
    ///
    /// # Complexity
    /// One addition per group.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use dp_census::{From0, GroupDirectory, Hierarchy};
    ///
    /// let nation = Hierarchy::new([("US", None)])?;
    /// let directory = GroupDirectory::new(&nation, [("1 Main St", "US"), ("2 Main St", "US")])?;
    /// let [mut members, mut others] = [(); 2].map(|()| directory.count_members(NonZeroU32::MIN));
    /// members.add(&"1 Main St", 1);
    /// others.add(&"1 Main St", 1);
    /// members.merge(&others)?;
    /// let sizes = members.into_sizes(From0::up_to(2)?, NonZeroU32::MIN)?;
    /// assert_eq!(sizes.counts(), [1, 0, 1]);
    /// # Ok::<(), dp_census::CensusError>(())
    /// ```
    pub fn merge(&mut self, other: &MemberCount<'_, U>) -> Result<(), CensusError> {
        let setting = "merging counts of members";
        if !self.directory.is_the_same(other.directory) {
            return Err(CensusError::Conflict { setting, needs: "the same groups" });
        }
        if self.most_quantity != other.most_quantity {
            return Err(CensusError::Conflict { setting, needs: "the same most quantity" });
        }
        for (size, more) in self.sizes.iter_mut().zip(&other.sizes) {
            *size = size.saturating_add(*more);
        }
        Ok(())
    }

    fn add_to(&mut self, group: usize, quantity: i64) {
        let quantity =
            u64::try_from(quantity).unwrap_or(0).min(u64::from(self.most_quantity.get()));
        self.sizes[group] = self.sizes[group].saturating_add(quantity);
    }

    /// The table of group sizes, for a plan that protects individuals who add up to `most_quantity`. The table remembers it, and a plan for
    /// less refuses it.
    ///
    /// # Errors
    /// [`CensusError::Quantity`] if members were counted with another most quantity: for a higher one the noise of that plan would be too
    /// small, and under a lower one more was cut off than its noise asks for. [`CensusError::TooManyGroups`] for more groups than a table
    /// may have, [`CensusError::OutOfRange`] for more than `2^32` cells.
    pub fn into_sizes<B: Bins>(
        self,
        bins: B,
        most_quantity: NonZeroU32,
    ) -> Result<GroupSizes<B>, CensusError> {
        if self.most_quantity != most_quantity {
            let (most, got) = (most_quantity.get(), self.most_quantity.get());
            return Err(CensusError::Quantity { most, got });
        }
        let columns = bins.count();
        let mut counts = vec![0; cells_of(self.directory.regions, columns)?];
        for (&size, &leaf) in self.sizes.iter().zip(&self.directory.leaves) {
            if let Some(column) = bins.column(size) {
                counts[leaf as usize * columns + column] += 1;
            }
        }
        Ok(GroupSizes::from_table(bins, counts)?.with_most_quantity(self.most_quantity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::From0;

    fn nation() -> Hierarchy {
        Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))]).expect("valid")
    }

    fn directory() -> GroupDirectory<&'static str> {
        let groups = [("F", "NY"), ("A", "GA"), ("B", "GA"), ("D", "NY"), ("A", "GA")];
        GroupDirectory::new(&nation(), groups).expect("valid")
    }

    #[test]
    fn people_make_sizes_and_empty_groups_stay() {
        let directory = directory();
        assert_eq!((directory.groups(), directory.groups_of_regions()), (4, vec![2, 2]));
        let mut members = directory.count_members(NonZeroU32::MIN);
        for unit in ["A", "A", "A", "D", "D", "nowhere"] {
            members.add(&unit, 1);
        }
        // Who brings less than nothing brings nothing.
        members.add(&"B", -3);
        let bins = From0::up_to(3).expect("valid");
        let sizes = members.into_sizes(bins, NonZeroU32::MIN).expect("few");
        assert_eq!(sizes.counts(), [1, 0, 0, 1, 1, 0, 1, 0]);
    }

    /// Every kind of odd record changes one group by at most the most that one individual may bring.
    #[test]
    fn odd_records_are_clamped_or_dropped() {
        let directory = directory();
        let (bins, two) = (From0::up_to(5).expect("valid"), NonZeroU32::new(2).expect("above 0"));
        let table = |records: &[(u32, &'static str, i64)]| {
            let members = directory.count_people(records.iter().copied(), two);
            members.into_sizes(bins, two).expect("few").counts().to_vec()
        };
        let others = [(1, "A", 1), (2, "A", 2)];
        assert_eq!(table(&others)[..6], [1, 0, 0, 1, 0, 0]);
        for odd in [
            vec![(9, "A", i64::MAX), (9, "A", i64::MAX), (9, "D", 1)],
            vec![(9, "A", -5), (9, "A", 7)],
            vec![(9, "A", -1), (9, "A", 2)],
            vec![(9, "D", 2), (9, "A", 1), (9, "A", 1)],
        ] {
            assert_eq!(table(&[&others[..], &odd].concat())[..6], [1, 0, 0, 0, 0, 1], "{odd:?}");
        }
        for nothing in [vec![(9, "Z", 2)], vec![(9, "A", i64::MIN)], vec![(9, "A", 0), (9, "B", 1)]]
        {
            assert_eq!(table(&[&others[..], &nothing].concat()), table(&others), "{nothing:?}");
        }
    }

    #[test]
    fn parts_add_up_if_they_fit() {
        let [directory, copy] = [(); 2].map(|()| directory());
        let two = NonZeroU32::new(2).expect("above 0");
        let records = [("A", 1), ("A", 5), ("D", 1), ("F", -3), ("Z", 1), ("D", 2)];
        for cut in 0..=records.len() {
            let [mut first, mut second, mut all] =
                [&directory, &copy, &copy].map(|directory| directory.count_members(two));
            for (i, (unit, quantity)) in records.iter().enumerate() {
                if i < cut { &mut first } else { &mut second }.add(unit, *quantity);
                all.add(unit, *quantity);
            }
            first.merge(&second).expect("equal directories");
            assert_eq!(first.sizes, all.sizes);
        }
        let mut members = directory.count_members(two);
        let refused = |error: CensusError| error.to_string();
        assert_eq!(
            members.merge(&directory.count_members(NonZeroU32::MIN)).map_err(refused),
            Err("merging counts of members needs the same most quantity".into())
        );
        // As many groups, one of them elsewhere.
        let groups = [("F", "GA"), ("A", "GA"), ("B", "GA"), ("D", "NY")];
        let other = GroupDirectory::new(&nation(), groups).expect("valid");
        assert_eq!(
            members.merge(&other.count_members(two)).map_err(refused),
            Err("merging counts of members needs the same groups".into())
        );
    }

    /// Members who were counted with one most quantity are no table for a plan that protects another.
    #[test]
    fn a_count_for_another_most_quantity_makes_no_table() {
        let directory = directory();
        let [one, two, three] = [1, 2, 3].map(|most| NonZeroU32::new(most).expect("above 0"));
        let bins = From0::up_to(3).expect("valid");
        for (other, got) in [(one, 2), (three, 2)] {
            let refused = directory.count_members(two).into_sizes(bins, other);
            assert_eq!(refused, Err(CensusError::Quantity { most: other.get(), got }));
            let refused = directory.count_people([(1, "A", 2)], two).into_sizes(bins, other);
            assert_eq!(refused, Err(CensusError::Quantity { most: other.get(), got }));
        }
        let sizes = directory.count_members(two).into_sizes(bins, two).expect("few");
        assert_eq!(sizes.most_quantity(), two);
    }

    #[test]
    fn whoever_was_counted_prints_alike() {
        let directory = directory();
        let nobody = directory.count_members(NonZeroU32::MIN);
        let mut one = nobody.clone();
        one.add(&"A", 1);
        assert_eq!(format!("{one:?}"), format!("{nobody:?}"));
        assert_eq!(
            format!("{one:?}"),
            "MemberCount { groups: 4, regions: 2, most_quantity: 1, .. }"
        );
    }

    #[test]
    fn groups_in_two_places_or_nowhere_are_refused() {
        let groups = [("B", "NY"), ("C", "GA"), ("A", "GA"), ("B", "GA")];
        let error = GroupDirectory::new(&nation(), groups).expect_err("two");
        let want = "a group is said to be both in `GA` and in `NY`: \
                    that of the unit at position 1 (from 0) of all units, sorted";
        assert_eq!(error.to_string(), want);
        let error = GroupDirectory::new(&nation(), [("A", "US")]).expect_err("not a leaf");
        assert_eq!(error, CensusError::UnknownRegion { region: "US".into() });
    }
}
