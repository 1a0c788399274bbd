//! How often each item came up in a step.

use std::hash::{BuildHasher, RandomState};

/// A counting table that forgets in constant time and that nobody can slow down from outside.
///
/// Chains behind heads; a head is empty unless it is of this step, so nothing is cleared between steps. Items lie
/// dense, in order of first appearance, so what comes out does not depend on the key.
///
/// # Complexity
/// The place of an item follows from a secret key by a strongly universal hash, and there are at least twice as many heads
/// as items: whichever items come, if they were chosen without the key, one event looks at
/// one and a half entries or fewer on average over keys. 8 to 16 bytes of heads per distinct item of the largest step so far, 16 of its entry, and 12
/// of the lists that a decision reads.
#[derive(Clone)]
pub(crate) struct ItemTable {
    key: Key,
    /// Of each chain, the stamp of its first entry.
    heads: Vec<u32>,
    /// An entry has the stamp `first` plus its index. Smaller stamps are of earlier steps.
    first: u32,
    /// Of which the first `len` are of this step.
    entries: Vec<Entry>,
    len: u32,
    items: Vec<u64>,
    counts: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    item: u64,
    count: u32,
    /// Stamp of the next entry of the chain.
    next: u32,
}

/// So many items are hashed before the first of them is looked up, so that memory is waited for once.
const BLOCK: usize = 64;
/// In place of the next stamp: the smallest stamp is 1.
const END: u32 = 0;
/// Stamps begin again above this.
const MOST_STAMPS: u32 = 1 << 31;

impl ItemTable {
    /// With so many chains at first, or a few more.
    pub(crate) fn new(chains: usize) -> Self {
        Self {
            key: Key::fresh(),
            heads: vec![0; chains.next_power_of_two().max(2)],
            first: 1,
            entries: Vec::new(),
            len: 0,
            items: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.first += self.len;
        self.len = 0;
        self.items.clear();
        self.counts.clear();
        if self.first > MOST_STAMPS {
            self.heads.fill(0);
            self.first = 1;
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        (self.heads.capacity() + self.counts.capacity()) * size_of::<u32>()
            + self.items.capacity() * size_of::<u64>()
            + self.entries.capacity() * size_of::<Entry>()
    }

    /// How many distinct items there are.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Items in order of first appearance, and the number of each.
    pub(crate) fn lists(&mut self) -> (&[u64], &[u32]) {
        self.items.clear();
        self.counts.clear();
        let entries = &self.entries[..self.len()];
        self.items.extend(entries.iter().map(|entry| entry.item));
        self.counts.extend(entries.iter().map(|entry| entry.count));
        (&self.items, &self.counts)
    }

    /// One more of the item of each of these.
    pub(crate) fn add_all<T>(&mut self, shown: &[T], item: impl Fn(&T) -> u64) {
        for block in shown.chunks(BLOCK) {
            self.reserve(block.len());
            let mut chains = [0; BLOCK];
            let mut heads = 0;
            for (chain, shown) in chains.iter_mut().zip(block) {
                *chain = self.chain(item(shown));
                heads ^= self.heads[*chain];
            }
            // The heads are at hand now: loads that do not wait for each other.
            std::hint::black_box(heads);
            for (&chain, shown) in chains.iter().zip(block) {
                self.add_to(chain, item(shown));
            }
        }
    }

    /// One more of this item.
    pub(crate) fn add(&mut self, item: u64) {
        self.reserve(1);
        self.add_to(self.chain(item), item);
    }

    /// The place of an item that has been added.
    #[inline]
    pub(crate) fn find(&self, item: u64) -> Option<u32> {
        let mut at = self.heads[self.chain(item)];
        while let Some(index) = at.checked_sub(self.first) {
            let entry = &self.entries[index as usize];
            if entry.item == item {
                return Some(index);
            }
            at = entry.next;
        }
        None
    }

    /// Nearly always an item is the first of its chain, whether it is new or not.
    #[inline]
    fn add_to(&mut self, chain: usize, item: u64) {
        let head = &mut self.heads[chain];
        let is_new = *head < self.first;
        let index = if is_new { self.len } else { *head - self.first };
        let entry = &mut self.entries[index as usize];
        if !is_new && entry.item != item {
            self.add_behind(index, item);
            return;
        }
        if is_new {
            *head = self.first + index;
        }
        let (count, next) = if is_new { (0, END) } else { (entry.count, entry.next) };
        *entry = Entry { item, count: count.saturating_add(1), next };
        self.len += u32::from(is_new);
    }

    /// The same of an item whose chain begins with another one.
    fn add_behind(&mut self, mut last: u32, item: u64) {
        while let Some(index) = self.entries[last as usize].next.checked_sub(self.first) {
            let entry = &mut self.entries[index as usize];
            if entry.item == item {
                entry.count = entry.count.saturating_add(1);
                return;
            }
            last = index;
        }
        // What comes often came early, and is found early.
        let index = self.len;
        self.entries[last as usize].next = self.first + index;
        self.entries[index as usize] = Entry { item, count: 1, next: END };
        self.len += 1;
    }

    fn chain(&self, item: u64) -> usize {
        let shift = 64 - self.heads.len().trailing_zeros();
        #[allow(clippy::cast_possible_truncation, reason = "below the number of heads")]
        let chain = (self.key.hash(item) >> shift) as usize;
        chain
    }

    /// Room for so many items more, with a head for each.
    fn reserve(&mut self, more: usize) {
        let needed = self.len() + more;
        if needed > self.entries.len() {
            assert!(needed < MOST_STAMPS as usize, "fewer than 2^31 distinct items in a step");
            self.entries.resize(needed, Entry::default());
        }
        if 2 * needed > self.heads.len().max(2 * BLOCK) {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.heads.len().max(2 * BLOCK) * 2;
        self.first = 1;
        self.heads.clear();
        self.heads.resize(size, 0);
        // From the last on, so that the earliest of a chain comes first.
        for index in (0..self.len()).rev() {
            let chain = self.chain(self.entries[index].item);
            self.entries[index].next = self.heads[chain];
            self.heads[chain] = 1 + u32::try_from(index).expect("fewer than 2^31 distinct items");
        }
    }
}

/// Multiply-shift with 128 bits: for any two items, their hashes are independent and uniform over keys (Dietzfelbinger
/// 1996, Theorem 3).
#[derive(Clone, Copy)]
struct Key {
    factor: u128,
    summand: u128,
}

impl Key {
    /// Secret, and another one for every table. Not from the draws of a release, which it has no part in.
    fn fresh() -> Self {
        let random = RandomState::new();
        let word = |number: u64| u128::from(random.hash_one(number));
        let wide = |number| word(number) << 64 | word(number + 1);
        Self { factor: wide(0), summand: wide(2) }
    }

    #[inline]
    fn hash(self, item: u64) -> u64 {
        let product = self.factor.wrapping_mul(item.into()).wrapping_add(self.summand);
        #[allow(clippy::cast_possible_truncation, reason = "the upper half")]
        let upper = (product >> 64) as u64;
        upper
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn counted(table: &mut ItemTable) -> BTreeMap<u64, u32> {
        let (items, counts) = table.lists();
        items.iter().copied().zip(counts.iter().copied()).collect()
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map_in_every_step(
            steps in proptest::collection::vec(
                proptest::collection::vec((0_u64..90).prop_map(|x| x << 57 | x), 0..300), 1..6),
        ) {
            let mut table = ItemTable::new(1);
            for items in steps {
                let mut plain = BTreeMap::new();
                for item in &items {
                    *plain.entry(*item).or_insert(0) += 1;
                }
                table.add_all(&items, |&item| item);
                prop_assert_eq!(counted(&mut table), plain);
                let mut in_order: Vec<u64> = Vec::new();
                for &item in &items {
                    if !in_order.contains(&item) {
                        in_order.push(item);
                    }
                }
                prop_assert_eq!(table.lists().0, &in_order);
                prop_assert_eq!(table.find(u64::MAX), None);
                for (place, item) in (0..).zip(in_order) {
                    prop_assert_eq!(table.find(item), Some(place));
                }
                table.clear();
                prop_assert_eq!(table.lists(), (&[][..], &[][..]));
            }
        }
    }

    #[test]
    fn a_table_grows_and_keeps_its_places() {
        let mut table = ItemTable::new(64);
        let items: Vec<u64> = (0..100_000).map(|item| item * 977).collect();
        table.add_all(&items, |&item| item);
        assert_eq!(table.lists().0, items);
        assert!((0..100_000).all(|i| table.find(u64::from(i) * 977) == Some(i)));
        assert_eq!(table.heads.len(), 1 << 18);
    }

    #[test]
    fn stamps_that_begin_again_do_not_bring_old_items_back() {
        let mut table = ItemTable::new(64);
        table.first = MOST_STAMPS;
        table.add(5);
        table.clear();
        assert_eq!((table.first, table.find(5)), (1, None));
    }

    /// Items that share a chain under one key are spread by another. Null hypothesis: 1/8 of an entry before an item on average, as
    /// for any 1,024 items in 4,096 chains; each of 200 keys deviates by less than 1/20, so the mean is above 0.2 less than once in
    /// 10^12. The control is the table with the key that they were crafted for.
    #[test]
    fn items_crafted_for_one_key_are_nothing_to_another() {
        let known = ItemTable::new(1 << 12);
        let crafted: Vec<u64> =
            (0..).filter(|&item| known.chain(item) == 7).take(1 << 10).collect();
        let looked_at = |table: &mut ItemTable| {
            table.add_all(&crafted, |&item| item);
            let before = |item: &u64| {
                let mut at = table.heads[table.chain(*item)];
                let mut steps = 0;
                while table.entries[(at - table.first) as usize].item != *item {
                    at = table.entries[(at - table.first) as usize].next;
                    steps += 1;
                }
                f64::from(steps)
            };
            crafted.iter().map(before).sum::<f64>() / crafted.len() as f64
        };
        let mean = (0..200).map(|_| looked_at(&mut ItemTable::new(1 << 12))).sum::<f64>() / 200.0;
        assert!(mean < 0.2, "{mean} entries before an item");
        assert!(looked_at(&mut known.clone()) > 500.0);
    }
}
