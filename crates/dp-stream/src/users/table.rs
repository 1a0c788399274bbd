//! How often each item came up in a step.

/// A counting table that forgets in constant time.
///
/// Open addressing with linear probing; a slot is empty unless it carries the epoch of this step, so
/// nothing is cleared between steps. Items and counts lie dense, in order of first appearance.
///
/// # Complexity
/// Amortised constant time per event and 16 to 64 bytes of slots per distinct item of the largest
/// step so far, plus 12 bytes of dense arrays. Items crafted to share a slot slow it down; the answer
/// does not change.
#[derive(Clone, Debug)]
pub(crate) struct ItemTable {
    slots: Vec<Slot>,
    epoch: u32,
    items: Vec<u64>,
    counts: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    item: u64,
    /// Of the step that wrote the slot; 0 is none.
    epoch: u32,
    /// Into the dense arrays.
    index: u32,
}

impl ItemTable {
    /// With so many slots at first, or a few more.
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            slots: vec![Slot::default(); slots.next_power_of_two()],
            epoch: 1,
            items: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.counts.clear();
        self.epoch = self.epoch.checked_add(1).unwrap_or_else(|| {
            self.slots.fill(Slot::default());
            1
        });
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.items.capacity() * size_of::<u64>()
            + self.counts.capacity() * size_of::<u32>()
    }

    pub(crate) fn items(&self) -> &[u64] {
        &self.items
    }

    pub(crate) fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// One more of this item; returns its place in the dense arrays.
    #[inline]
    pub(crate) fn add(&mut self, item: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = place(item) & mask;
        loop {
            let slot = &mut self.slots[at & mask];
            if slot.epoch != self.epoch {
                break;
            }
            if slot.item == item {
                let count = &mut self.counts[slot.index as usize];
                *count = count.saturating_add(1);
                return slot.index;
            }
            at += 1;
        }
        self.insert(at & mask, item)
    }

    /// The place of an item that has been added.
    pub(crate) fn find(&self, item: u64) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = place(item) & mask;
        loop {
            let slot = self.slots[at];
            if slot.epoch != self.epoch {
                return None;
            }
            if slot.item == item {
                return Some(slot.index);
            }
            at = (at + 1) & mask;
        }
    }

    fn insert(&mut self, at: usize, item: u64) -> u32 {
        let index = u32::try_from(self.items.len()).expect("fewer distinct items than events");
        self.slots[at] = Slot { item, epoch: self.epoch, index };
        self.items.push(item);
        self.counts.push(1);
        if self.items.len() * 2 > self.slots.len() {
            self.grow();
        }
        index
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        self.epoch = 1;
        self.slots.clear();
        self.slots.resize(size, Slot::default());
        for (index, &item) in (0..).zip(&self.items) {
            let mut at = place(item) & (size - 1);
            while self.slots[at].epoch == self.epoch {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = Slot { item, epoch: self.epoch, index };
        }
    }
}

/// Both halves of a wide product, so that all bits of an item matter.
#[inline]
fn place(item: u64) -> usize {
    let wide = u128::from(item ^ 0x2545_f491_4f6c_dd1d) * 0x9e37_79b9_7f4a_7c15;
    #[allow(clippy::cast_possible_truncation, reason = "a hash")]
    let mixed = (wide >> 64) as usize ^ wide as usize;
    mixed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn counted(table: &ItemTable) -> BTreeMap<u64, u32> {
        table.items().iter().copied().zip(table.counts().iter().copied()).collect()
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map_in_every_step(
            steps in proptest::collection::vec(
                proptest::collection::vec((0_u64..40).prop_map(|x| x << 58 | x), 0..200), 1..6),
        ) {
            let mut table = ItemTable::new(64);
            for items in steps {
                let mut plain = BTreeMap::new();
                for item in items {
                    *plain.entry(item).or_insert(0) += 1;
                    let index = table.add(item) as usize;
                    prop_assert_eq!(table.items()[index], item);
                }
                prop_assert_eq!(counted(&table), plain);
                prop_assert_eq!(table.find(u64::MAX), None);
                table.clear();
                prop_assert!(table.items().is_empty());
            }
        }
    }

    #[test]
    fn a_table_grows_and_keeps_its_places() {
        let mut table = ItemTable::new(64);
        let places: Vec<u32> = (0..10_000).map(|item| table.add(item * 977)).collect();
        assert_eq!(places, (0..10_000).collect::<Vec<_>>());
        assert!((0..10_000).all(|i| table.find(u64::from(i) * 977) == Some(i)));
        assert!(table.slots.len() >= 20_000 && table.slots.len() <= 40_000);
    }

    #[test]
    fn epochs_that_wrap_around_do_not_bring_old_items_back() {
        let mut table = ItemTable::new(64);
        table.add(5);
        table.epoch = u32::MAX;
        table.clear();
        assert_eq!((table.epoch, table.find(5)), (1, None));
    }
}
