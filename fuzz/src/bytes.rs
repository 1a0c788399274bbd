//! Bytes as choices, and checksums that fit.

use dp_audit::hostile;

/// Choices, one byte each; where they end, the first of all.
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most.max(1)
    }

    /// Odd, or a usual one.
    pub(crate) fn float(&mut self) -> f64 {
        let odd = hostile::floats();
        match self.below(2 * odd.len() + 8) {
            place if place < odd.len() => odd[place],
            place => f64::from(self.byte()) * [1e-3, 1.0 / 256.0, 0.5, 1.0, 1e6][place % 5],
        }
    }

    pub(crate) fn integer(&mut self) -> i64 {
        let odd = hostile::integers();
        match self.below(2 * odd.len()) {
            place if place < odd.len() => odd[place],
            _ => i64::from(self.byte()),
        }
    }

    pub(crate) fn size(&mut self) -> u64 {
        self.integer().unsigned_abs()
    }

    pub(crate) fn small(&mut self) -> u32 {
        #[allow(clippy::cast_possible_truncation, reason = "any number is as good")]
        let small = self.size() as u32;
        small
    }

    pub(crate) fn floats(&mut self) -> Vec<f64> {
        (0..self.below(5)).map(|_| self.float()).collect()
    }
}

/// 64-bit FNV-1a, the sum of all file forms of bytes: it finds damage only, so a forger makes it fit.
pub(crate) fn sealed(magic: &[u8], content: &[u8]) -> Vec<u8> {
    let next = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let mut bytes = [magic, content].concat();
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325, next);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// What is between the magic and the sum.
pub(crate) fn unsealed(magic: &[u8], bytes: &[u8]) -> Vec<u8> {
    bytes[magic.len()..bytes.len() - 8].to_vec()
}
