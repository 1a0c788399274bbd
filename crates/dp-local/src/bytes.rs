//! Little-endian bytes of what travels and rests, with a checksum at the end of what rests.

use crate::LocalError;

/// Bytes that are being written.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn u8(&mut self, x: u8) {
        self.0.push(x);
    }

    pub(crate) fn u32(&mut self, x: u32) {
        self.0.extend(x.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, x: u64) {
        self.0.extend(x.to_le_bytes());
    }

    pub(crate) fn f64(&mut self, x: f64) {
        self.u64(x.to_bits());
    }

    pub(crate) fn f64s(&mut self, list: &[f64]) {
        self.u32(u32::try_from(list.len()).expect("short lists"));
        for &x in list {
            self.f64(x);
        }
    }

    pub(crate) fn hash(&self) -> u64 {
        hash(&self.0)
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    /// With a checksum at the end.
    pub(crate) fn sealed(mut self) -> Vec<u8> {
        let sum = self.hash();
        self.u64(sum);
        self.0
    }
}

/// Bytes that are being read.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    left: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self { left: bytes, what }
    }

    /// Bytes with a checksum at the end, which must fit.
    pub(crate) fn unsealed(what: &'static str, bytes: &'a [u8]) -> Result<Self, LocalError> {
        let (content, sum) = bytes.split_last_chunk::<8>().ok_or(LocalError::Truncated { what })?;
        if hash(content) != u64::from_le_bytes(*sum) {
            return Err(LocalError::Damaged { what });
        }
        Ok(Self::new(what, content))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], LocalError> {
        let (taken, left) =
            self.left.split_first_chunk::<N>().ok_or(LocalError::Truncated { what: self.what })?;
        self.left = left;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, LocalError> {
        Ok(u8::from_le_bytes(self.take()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, LocalError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, LocalError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub(crate) fn f64(&mut self) -> Result<f64, LocalError> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// A list of exactly this length, of finite numbers.
    pub(crate) fn f64s(&mut self, len: usize) -> Result<Vec<f64>, LocalError> {
        if self.u32()? as usize != len {
            return Err(LocalError::Malformed { what: self.what });
        }
        let list: Vec<f64> = (0..len).map(|_| self.f64()).collect::<Result<_, _>>()?;
        if list.iter().all(|x| x.is_finite()) {
            Ok(list)
        } else {
            Err(LocalError::Malformed { what: self.what })
        }
    }

    /// What is left of the bytes, all of it.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.left)
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), LocalError> {
        if self.left.is_empty() { Ok(()) } else { Err(LocalError::Malformed { what: self.what }) }
    }
}

/// FNV-1a: against accidents, not against malice.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
