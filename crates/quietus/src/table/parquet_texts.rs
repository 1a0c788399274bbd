//! Pages of texts that are too large to be held: several small ones in place of one, in which texts are cut that are too long for a record anyway.
//!
//! A page is as large as the texts of individuals make it, so none may be too large to be read. Its bytes are unpacked on the way, what is cut off
//! is never held, and the record of a text that was cut is still too long: it is passed over as it would be with the whole text.

use super::parquet_lengths::Lengths;
use super::parquet_pages::{STEP, TEXT, stream};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::Page;
use parquet::errors::{ParquetError, Result};
use std::io::{self, BufReader, Cursor, Read};

/// Most values of a small page.
const VALUES: u32 = 1 << 16;

/// Bytes that say how long a text is.
const LENGTH: usize = size_of::<u32>();

/// The texts of a page, one after the other.
pub(super) struct Texts {
    bytes: BufReader<Box<dyn Read + Send>>,
    /// `None` if each text has its length before it.
    differences: Option<Box<Differences>>,
    /// Bytes of one text that are kept.
    most: u32,
}

/// Texts that have all their lengths before them, and before these how many bytes each shares with the one before; they are left out of it.
struct Differences {
    shared: Option<Lengths<Cursor<Vec<u8>>>>,
    lengths: Lengths<Cursor<Vec<u8>>>,
    /// What was kept of the text before, if any is shared, and its length.
    before: Vec<u8>,
    length: u64,
}

impl Texts {
    pub(super) fn new(codec: Compression, packed: Bytes, most: usize) -> Result<Self> {
        let bytes = BufReader::with_capacity(1 << 16, stream(codec, packed)?);
        Ok(Self { bytes, differences: None, most: u32::try_from(most).unwrap_or(u32::MAX) })
    }

    /// The same texts if they are stored by their differences and are no more than that; false if there is no room for their lengths.
    pub(super) fn by_differences(
        &mut self,
        encoding: Encoding,
        most: u32,
        room: usize,
    ) -> Result<bool> {
        let shared = match encoding {
            Encoding::DELTA_BYTE_ARRAY => {
                let Some(shared) = Lengths::before(&mut self.bytes, most, room)? else {
                    return Ok(false);
                };
                Some(shared)
            }
            _ => None,
        };
        let Some(lengths) = Lengths::before(&mut self.bytes, most, room)? else { return Ok(false) };
        let (before, length) = (Vec::new(), 0);
        self.differences = Some(Box::new(Differences { shared, lengths, before, length }));
        Ok(true)
    }

    fn length(&mut self) -> Result<u32> {
        let mut length = [0; LENGTH];
        match self.bytes.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(damaged()),
            read => Ok(read.map(|()| u32::from_le_bytes(length))?),
        }
    }

    /// Writes so many bytes behind what is there already.
    fn take(&mut self, length: u32, bytes: &mut Vec<u8>) -> Result<()> {
        let read = (&mut self.bytes).take(length.into()).read_to_end(bytes)?;
        if read as u64 == u64::from(length) { Ok(()) } else { Err(damaged()) }
    }

    /// Writes the next text, with its length before it, behind what is there already.
    fn next(&mut self, texts: &mut Vec<u8>) -> Result<()> {
        let (shared, length) = match &mut self.differences {
            None => (0, self.length()?),
            Some(all) => (all.shared.as_mut().map_or(Ok(0), Lengths::next)?, all.lengths.next()?),
        };
        // Of what it has in common with the text before, and of what follows.
        let before = shared.min(self.most);
        let behind = length.min(self.most - before);
        let kept = before + behind;
        if texts.capacity() - texts.len() < LENGTH + kept as usize {
            texts.reserve_exact(STEP.max(texts.len() / 4));
        }
        texts.extend_from_slice(&kept.to_le_bytes());
        let begin = texts.len();
        if let Some(all) = &self.differences {
            if u64::from(shared) > all.length {
                return Err(damaged());
            }
            texts.extend_from_slice(all.before.get(..before as usize).ok_or_else(damaged)?);
        }
        self.take(behind, texts)?;
        if let Some(all) = self.differences.as_mut().filter(|all| all.shared.is_some()) {
            all.length = u64::from(shared) + u64::from(length);
            all.before.clear();
            all.before.extend_from_slice(&texts[begin..]);
        }
        let rest = u64::from(length - behind);
        if io::copy(&mut (&mut self.bytes).take(rest), &mut io::sink())? < rest {
            return Err(damaged());
        }
        Ok(())
    }

    /// What is left is of no use; a checksum may be in it.
    fn end(&mut self) -> Result<()> {
        io::copy(&mut self.bytes, &mut io::sink())?;
        Ok(())
    }

    /// So many texts, which are a dictionary; `None` if there is no room for them.
    pub(super) fn dictionary(mut self, values: u32, room: usize) -> Result<Option<Bytes>> {
        let mut texts = Vec::new();
        for taken in (0..values as usize).map(|before| (before + 1).saturating_mul(TEXT)) {
            self.next(&mut texts)?;
            if texts.len().saturating_add(taken) > room {
                return Ok(None);
            }
        }
        self.end()?;
        Ok(Some(texts.into()))
    }
}

/// One page that is handed over as several.
pub(super) struct SmallPages {
    texts: Texts,
    /// `None` if no value can be missing.
    levels: Option<Levels>,
    /// Values that have not been handed over, those that are missing among them, and how many texts there can be.
    values: u32,
    present: u32,
    /// Bytes after which a small page ends.
    size: usize,
}

impl SmallPages {
    pub(super) fn new(
        texts: Texts,
        levels: Option<Levels>,
        values: u32,
        present: u32,
        size: usize,
    ) -> Self {
        Self { texts, levels, values, present, size }
    }

    /// The next small page; `None` after the last one.
    pub(super) fn next_page(&mut self) -> Result<Option<Page>> {
        if self.values == 0 {
            self.texts.end()?;
            return Ok(None);
        }
        let (mut bits, mut texts) = (Vec::new(), Vec::new());
        let mut values = 0;
        while values < self.values.min(VALUES) && texts.len() < self.size {
            let is_there = self.levels.as_mut().map_or(Ok(true), Levels::next)?;
            if values % 8 == 0 {
                bits.push(0_u8);
            }
            if let (true, Some(last)) = (is_there, bits.last_mut()) {
                *last |= 1 << (values % 8);
                self.present = self.present.checked_sub(1).ok_or_else(damaged)?;
                self.texts.next(&mut texts)?;
            }
            values += 1;
        }
        self.values -= values;
        let mut buf = if self.levels.is_some() { packed(&bits, values) } else { Vec::new() };
        buf.append(&mut texts);
        Ok(Some(Page::DataPage {
            buf: buf.into(),
            num_values: values,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }))
    }
}

/// The levels of a small page, a bit for each of so many: their length, then one run of whole bytes.
fn packed(bits: &[u8], values: u32) -> Vec<u8> {
    let bytes = values.div_ceil(8);
    // How many, and that it is a run of bits; seven bits a byte, and all of it has 21 at most.
    let head = bytes << 1 | 1;
    let seven_from = |bit: u32| (head >> bit).to_le_bytes()[0] & 0x7f;
    let head = [seven_from(0) | 0x80, seven_from(7) | 0x80, seven_from(14)];
    [&(3 + bytes).to_le_bytes()[..], &head, bits].concat()
}

/// Which values of a page are there: runs of one level, or of a bit for each value.
pub(super) struct Levels {
    bytes: Bytes,
    run: Run,
}

enum Run {
    Same {
        is_there: bool,
        left: u64,
    },
    /// Bits that are left in the last byte, and bytes behind it.
    Bits {
        byte: u8,
        left: u32,
        bytes: u64,
    },
}

impl Levels {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self { bytes, run: Run::Same { is_there: false, left: 0 } }
    }

    /// In front of the texts, with their length before them; `None` if there is no room for them.
    pub(super) fn before(texts: &mut Texts, room: usize) -> Result<Option<Self>> {
        let length = texts.length()?;
        if length as usize > room {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        texts.take(length, &mut bytes)?;
        Ok(Some(Self::new(bytes.into())))
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.first().ok_or_else(damaged)?;
        self.bytes = self.bytes.slice(1..);
        Ok(byte)
    }

    fn next(&mut self) -> Result<bool> {
        loop {
            match &mut self.run {
                Run::Same { left: 0, .. } | Run::Bits { left: 0, bytes: 0, .. } => {
                    self.run = self.next_run()?;
                }
                Run::Same { is_there, left } => {
                    *left -= 1;
                    return Ok(*is_there);
                }
                Run::Bits { left: 0, bytes, .. } => {
                    let bytes = *bytes - 1;
                    self.run = Run::Bits { byte: self.byte()?, left: 8, bytes };
                }
                Run::Bits { byte, left, .. } => {
                    let is_there = *byte & 1 == 1;
                    (*byte, *left) = (*byte >> 1, *left - 1);
                    return Ok(is_there);
                }
            }
        }
    }

    fn next_run(&mut self) -> Result<Run> {
        let (mut head, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = self.byte()?;
            head |= u64::from(byte & 0x7f).checked_shl(shift).ok_or_else(damaged)?;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
        }
        if head & 1 == 1 {
            return Ok(Run::Bits { byte: 0, left: 0, bytes: head >> 1 });
        }
        let level = self.byte()?;
        if level > 1 {
            return Err(damaged());
        }
        Ok(Run::Same { is_there: level == 1, left: head >> 1 })
    }
}

pub(super) fn damaged() -> ParquetError {
    ParquetError::General("a page does not hold what it says".to_owned())
}
