//! What a Parquet file says about its columns, at its end.
//!
//! Some writers put the smallest and the largest text of a column there, as a whole. So this end is as long as the texts of individuals make it.
//! Nothing of it is used but how the file is made, so whatever is too long for a name is taken out before it is decoded.

use super::parquet_pages::{Bounded, too_large};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{FooterTail, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};

/// Most bytes of a footer without long texts.
const FOOTER: usize = 32 << 20;

/// No name is as long as that.
const LONGEST: usize = 4 << 10;

/// Bytes behind the footer: its length, and a word.
const TAIL: usize = 8;

/// The footer of a file.
pub(super) fn metadata(file: &Bounded) -> Result<ParquetMetaData> {
    let too_short = || damaged("it is too short");
    let end = file.len().checked_sub(TAIL as u64).ok_or_else(too_short)?;
    let tail = FooterTail::try_from(&*file.get_bytes(end, TAIL)?)?;
    if tail.is_encrypted_footer() {
        return Err(ParquetError::NYI("an encrypted file".to_owned()));
    }
    let length = tail.metadata_length();
    let start = end.checked_sub(length as u64).ok_or_else(too_short)?;
    let footer = without_long_texts(&file.get_bytes(start, length)?)?;
    if footer.len() > FOOTER {
        return Err(too_large(FOOTER));
    }
    ParquetMetaDataReader::decode_metadata(&footer)
}

/// A struct of Thrift's compact protocol; in place of each text in it that is longer than a name there is an empty one.
fn without_long_texts(footer: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Copy { from: footer, to: Vec::new() };
    copy.fields(64)?;
    Ok(copy.to)
}

struct Copy<'a> {
    from: &'a [u8],
    to: Vec<u8>,
}

impl<'a> Copy<'a> {
    fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let ends = || damaged("its footer ends early");
        let (bytes, rest) = self.from.split_at_checked(length).ok_or_else(ends)?;
        self.from = rest;
        Ok(bytes)
    }

    fn bytes(&mut self, length: u64) -> Result<()> {
        let bytes = self.take(length)?;
        self.to.extend_from_slice(bytes);
        Ok(())
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.take(1)?[0];
        self.to.push(byte);
        Ok(byte)
    }

    /// Seven bits a byte, the lowest first.
    fn number(&mut self) -> Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f).checked_shl(shift);
            number |= bits.ok_or_else(|| damaged("a number of its footer is too long"))?;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    /// The fields of a struct. Their kinds are in four bits; for truths they say which.
    fn fields(&mut self, depth: u32) -> Result<()> {
        loop {
            let head = self.byte()?;
            match head & 15 {
                0 => return Ok(()),
                _ if head >> 4 == 0 => _ = self.number()?,
                _ => {}
            }
            match head & 15 {
                1 | 2 => {}
                kind => self.value(kind, depth)?,
            }
        }
    }

    /// A value of a field, or of a list, where a truth is a byte as well. Each has one at least, so a list ends with the footer.
    fn value(&mut self, kind: u8, depth: u32) -> Result<()> {
        let deeper = || depth.checked_sub(1).ok_or_else(|| damaged("its footer is too deep"));
        match kind {
            1..=3 => self.bytes(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.bytes(8),
            8 => {
                let before = self.to.len();
                let length = self.number()?;
                let text = self.take(length)?;
                if text.len() > LONGEST {
                    self.to.truncate(before);
                    self.to.push(0);
                } else {
                    self.to.extend_from_slice(text);
                }
                Ok(())
            }
            9 | 10 => {
                let (head, depth) = (self.byte()?, deeper()?);
                let length = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                (0..length).try_for_each(|_| self.value(head & 15, depth))
            }
            11 => {
                let (length, depth) = (self.number()?, deeper()?);
                let kinds = if length > 0 { self.byte()? } else { 0 };
                (0..length).try_for_each(|_| {
                    self.value(kinds >> 4, depth)?;
                    self.value(kinds & 15, depth)
                })
            }
            12 => self.fields(deeper()?),
            13 => self.bytes(16),
            _ => Err(damaged("its footer has a field of no kind")),
        }
    }
}

fn damaged(reason: &str) -> ParquetError {
    ParquetError::General(format!("no Parquet file: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, without_long_texts};

    #[test]
    fn long_texts_are_taken_out_and_all_else_is_left() {
        let text = |length: usize| {
            let length = u16::try_from(length).unwrap();
            let head = [0x80 | length.to_le_bytes()[0], (length >> 7).to_le_bytes()[0]];
            [&head[..], &vec![b'x'; length.into()]].concat()
        };
        // Two truths, a number, one by the long form, a double, a list of one text, a map of bytes to it, a struct of it in a list of 15 and more, all twice.
        let footer = |text: &[u8]| {
            let flat = [&[0x11, 0x12, 0x15, 0x81, 1, 0x06, 0x80, 1, 7, 0x17][..], &[9; 8]].concat();
            let list = [&[0x19, 0x18][..], text].concat();
            let map = [&[0x1b, 1, 0x38, 77][..], text, &[0x1b, 0]].concat();
            let structs = [&[0x19, 0xfc, 16][..], &[&[0x18][..], text, &[0]].concat().repeat(16)];
            let truths = [0x19, 0x31, 1, 0, 2, 0x1d];
            [flat, list, map, structs.concat(), truths.to_vec(), vec![3; 16], vec![0]].concat()
        };
        let (named, long) = (footer(&text(LONGEST)), footer(&text(LONGEST + 1)));
        let behind = |bytes: &[u8]| [bytes, b"behind"].concat();
        assert_eq!(without_long_texts(&behind(&named)).unwrap(), named);
        assert_eq!(without_long_texts(&behind(&long)).unwrap(), footer(&[0]));
        let whole = footer(&[0]);
        for cut in 0..whole.len() {
            without_long_texts(&whole[..cut]).unwrap_err();
            for value in 0..=255 {
                let mut changed = whole.clone();
                changed[cut] = value;
                let _: Result<Vec<u8>, _> = without_long_texts(&changed);
            }
        }
        for wrong in
            [&[0x19; 200][..], &[0x15, 0x80, 0x80, 0x80], &[0x15; 3], &[0x1e, 0], &[0x1c; 999]]
        {
            without_long_texts(wrong).unwrap_err();
        }
        let long = [&[0x15][..], &[0x80; 10], &[0, 0]].concat();
        without_long_texts(&long).unwrap_err();
    }
}
