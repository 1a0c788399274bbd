//! Which items there could be.

use serde::{Deserialize, Serialize};

use crate::StreamError;
use crate::files::Checksum;

/// All items that could ever be reported: public, never collected from the data.
///
/// Pure privacy needs that *every* item of the universe may be reported at any time, so a universe
/// is always finite. Names of unlimited length have none: give them a bound ([`BoundedNames`]), or
/// hash them to 64 bits ([`Universe::Hashed64`]).
///
/// [`BoundedNames`]: Universe::BoundedNames
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Universe {
    /// The items `0..size`.
    Range {
        /// How many there are.
        size: u64,
    },
    /// All 64-bit numbers.
    Bits64,
    /// Names of at most `max_bytes` bytes over an alphabet, numbered shortest first and then in the
    /// order of the alphabet; [`item_of`](Universe::item_of) and [`name_of`](Universe::name_of) are
    /// inverse to each other.
    BoundedNames {
        /// The bytes that names are made of, each once; empty stands for all 256.
        alphabet: String,
        /// Length of the longest name. Seven with all bytes, twelve with 37 symbols.
        max_bytes: u32,
    },
    /// Names of any length by a public 64-bit hash, which cannot be undone: consumers look reports up
    /// in a dictionary of names of their own. Names that collide are counted as one item; that costs
    /// accuracy and no privacy.
    Hashed64,
}

impl Universe {
    /// The number of items.
    pub fn size(&self) -> u128 {
        match self {
            Self::Range { size } => u128::from(*size),
            Self::Bits64 | Self::Hashed64 => 1 << 64,
            Self::BoundedNames { alphabet, max_bytes } => {
                let symbols = symbols(alphabet);
                // One name of each length: the sum below would have as many terms as the longest has bytes.
                if symbols == 1 {
                    return u128::from(*max_bytes) + 1;
                }
                // Beyond 2^64 the exact number does not matter any more, except to end here.
                let longer = |size: &u128| {
                    (*size <= 1 << 64).then(|| size.saturating_mul(symbols).saturating_add(1))
                };
                let lengths = usize::try_from(*max_bytes).unwrap_or(usize::MAX);
                let sizes = std::iter::successors(Some(1), longer);
                sizes.take(lengths.saturating_add(1)).last().unwrap_or(1)
            }
        }
    }

    /// Every setting, for checksums.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        let (kind, value) = match self {
            Self::Range { size } => (1, *size),
            Self::Bits64 => (2, 0),
            Self::Hashed64 => (3, 0),
            Self::BoundedNames { alphabet, max_bytes } => {
                sum.bytes(alphabet.as_bytes());
                (4, (*max_bytes).into())
            }
        };
        sum.number(kind);
        sum.number(value);
    }

    /// Refuses universes without items, with more than `2^64`, and broken alphabets.
    pub(crate) fn check(&self) -> Result<(), StreamError> {
        if let Self::BoundedNames { alphabet, max_bytes } = self {
            let mut bytes = alphabet.as_bytes().to_vec();
            bytes.sort_unstable();
            if let Some(twice) = bytes.windows(2).find(|two| two[0] == two[1]) {
                return Err(StreamError::RepeatedByte { byte: twice[0] });
            }
            if self.size() > 1 << 64 {
                let (symbols, max_bytes) = (symbols(alphabet), *max_bytes);
                return Err(StreamError::TooManyNames { symbols, max_bytes });
            }
        }
        if self.size() == 0 {
            let (name, want) = ("size of the universe", "between 1 and 2^64");
            return Err(StreamError::OutOfRange { name, got: 0, want });
        }
        Ok(())
    }

    /// The number of a name; `None` if the universe has no such name, or none at all.
    pub fn item_of(&self, name: &str) -> Option<u64> {
        match self {
            Self::Hashed64 => Some(hash(name.as_bytes())),
            Self::BoundedNames { alphabet, max_bytes } => {
                if name.len() > usize::try_from(*max_bytes).unwrap_or(usize::MAX) {
                    return None;
                }
                let symbols = symbols(alphabet);
                let mut rank = 0_u128;
                for byte in name.bytes() {
                    let rest = digit(alphabet, byte)? + 1;
                    rank = rank.checked_mul(symbols)?.checked_add(rest)?;
                }
                u64::try_from(rank).ok()
            }
            _ => None,
        }
    }

    /// The name with a number, where names can be told from numbers. Bytes that are not UTF-8 are
    /// replaced by the replacement character.
    pub fn name_of(&self, item: u64) -> Option<String> {
        let Self::BoundedNames { alphabet, .. } = self else { return None };
        if u128::from(item) >= self.size() {
            return None;
        }
        let symbols = symbols(alphabet);
        let (mut rank, mut bytes) = (u128::from(item), Vec::new());
        while rank > 0 {
            rank -= 1;
            let place = usize::try_from(rank % symbols).ok()?;
            bytes.push(match alphabet.as_bytes() {
                [] => u8::try_from(place).ok()?,
                alphabet => alphabet[place],
            });
            rank /= symbols;
        }
        bytes.reverse();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The largest item.
    pub(crate) fn last(&self) -> u64 {
        u64::try_from(self.size().saturating_sub(1)).unwrap_or(u64::MAX)
    }
}

fn symbols(alphabet: &str) -> u128 {
    if alphabet.is_empty() { 256 } else { alphabet.len() as u128 }
}

fn digit(alphabet: &str, byte: u8) -> Option<u128> {
    match alphabet {
        "" => Some(byte.into()),
        alphabet => alphabet.bytes().position(|b| b == byte).map(|place| place as u128),
    }
}

/// FNV-1a with the finaliser of `SplitMix64`, which spreads the last bytes over all bits. Public and fixed:
/// reports of different programs can be compared. Whoever wants collisions can find them.
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (fnv ^ fnv >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(alphabet: &str, max_bytes: u32) -> Universe {
        Universe::BoundedNames { alphabet: alphabet.to_owned(), max_bytes }
    }

    #[test]
    fn names_and_numbers_are_inverse_to_each_other() {
        let universe = names("abc", 3);
        assert_eq!(universe.size(), 1 + 3 + 9 + 27);
        let all: Vec<String> = (0..40).map(|i| universe.name_of(i).expect("below 40")).collect();
        assert_eq!(&all[..6], ["", "a", "b", "c", "aa", "ab"]);
        for (i, name) in (0..).zip(&all) {
            assert_eq!(universe.item_of(name), Some(i));
        }
        assert_eq!(universe.name_of(40), None);
        assert_eq!(universe.item_of("abca"), None, "too long");
        assert_eq!(universe.item_of("d"), None, "not in the alphabet");
    }

    #[test]
    fn the_longest_names_that_fit_in_64_bits() {
        assert_eq!(names("", 7).check(), Ok(()));
        assert!(names("", 8).check().is_err(), "256^8 names of 8 bytes and all shorter ones");
        assert_eq!(names("abcdefghijklmnopqrstuvwxyz0123456789-", 12).check(), Ok(()));
        let universe = names("", 7);
        assert_eq!(universe.item_of("quietus"), Some(32_218_346_702_599_796));
        assert_eq!(universe.name_of(32_218_346_702_599_796).as_deref(), Some("quietus"));
        assert_eq!(universe.last(), 72_340_172_838_076_672);
    }

    /// A loop over the lengths would take four billion rounds for every name here.
    #[test]
    fn names_of_one_symbol_are_counted_without_a_loop() {
        assert_eq!([0, 1, 5].map(|longest| names("a", longest).size()), [1, 2, 6]);
        let universe = names("a", u32::MAX);
        assert_eq!((universe.size(), universe.check()), (1 << 32, Ok(())));
        for item in 0..1_000 {
            let name = universe.name_of(item).expect("below 2^32");
            assert_eq!(universe.item_of(&name), Some(item));
        }
        assert_eq!(universe.name_of(1 << 32), None);
    }

    #[test]
    fn hashes_are_fixed_and_ranges_have_no_names() {
        assert_eq!(Universe::Hashed64.item_of(""), Some(hash(b"")));
        assert_ne!(Universe::Hashed64.item_of("a"), Universe::Hashed64.item_of("b"));
        assert_eq!(Universe::Hashed64.name_of(1), None);
        assert_eq!(Universe::Bits64.item_of("a"), None);
    }

    #[test]
    fn broken_universes_are_refused() {
        let shown = |universe: Universe| universe.check().expect_err("broken").to_string();
        assert_eq!(
            shown(Universe::Range { size: 0 }),
            "size of the universe must be between 1 and 2^64, got 0"
        );
        assert_eq!(
            shown(names("aba", 2)),
            "every byte of an alphabet must be there once, got 0x61 twice"
        );
        assert!(names("", u32::MAX - 1).check().is_err());
    }
}
