//! Names of units in an order in which a search is fast.

/// A unit's name behind a hash of it.
///
/// Millions of names of equal beginnings are far apart in memory; a search for one compares hashes, which lie side by side, and only
/// then names. The hash is fixed, so that the order is the same everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unit {
    hash: u64,
    name: String,
}

impl Unit {
    pub(super) fn new(name: &str) -> Self {
        let mut unit = Self::default();
        unit.rename(name);
        unit
    }

    /// Another unit in the same memory.
    pub(super) fn rename(&mut self, name: &str) {
        self.name.clear();
        self.name.push_str(name);
        // FNV-1a.
        self.hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn units_are_equal_by_name_and_their_order_is_pinned() {
        let mut unit = Unit::new("somewhere else and long");
        unit.rename("a");
        assert_eq!(unit, Unit::new("a"));
        // The published value for this string.
        assert_eq!(unit.hash, 0xaf63_dc4c_8601_ec8c);
        let collision = Unit { name: "b".to_owned(), ..unit.clone() };
        assert!(collision != unit && collision > unit);
    }
}
