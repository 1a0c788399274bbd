//! What a Parquet file says about its columns, at its end.
//!
//! Writers put the smallest and the largest text of a column there, some as a whole. So this end is as long as the texts of individuals make it.
//! Nothing of it is used but how the file is made. So what it says of row groups is decoded without any text, whatever its length, and of all else what is
//! too long for a name is taken out.

use super::parquet_pages::{Bounded, too_large};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    FooterTail, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy,
};
use parquet::file::reader::{ChunkReader, Length};

/// Most bytes of a footer without these texts.
const FOOTER: usize = 32 << 20;

/// The field of a footer that has its row groups.
const ROW_GROUPS: i64 = 4;

/// How deep lists and structs of a footer may be in one another.
const DEEPEST: u32 = 64;

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
    let footer = without_texts(&file.get_bytes(start, length)?)?;
    // The smallest number of a column cannot be made of an empty text.
    let mut options = ParquetMetaDataOptions::new();
    options.set_column_stats_policy(ParquetStatisticsPolicy::SkipAll);
    ParquetMetaDataReader::decode_metadata_with_options(&footer, Some(&options))
}

/// A footer in Thrift's compact protocol; there is an empty text in place of each in a row group, and of others that are longer than a name.
fn without_texts(footer: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Copy { from: footer, to: Vec::new(), longest: LONGEST };
    copy.fields(DEEPEST)?;
    Ok(copy.to)
}

struct Copy<'a> {
    from: &'a [u8],
    to: Vec<u8>,
    /// Most bytes of a text that is left as it is.
    longest: usize,
}

impl<'a> Copy<'a> {
    fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let ends = || damaged("its footer ends early");
        let (bytes, rest) = self.from.split_at_checked(length).ok_or_else(ends)?;
        self.from = rest;
        Ok(bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > FOOTER - self.to.len() {
            return Err(too_large(FOOTER));
        }
        self.to.extend_from_slice(bytes);
        Ok(())
    }

    fn bytes(&mut self, length: u64) -> Result<()> {
        let bytes = self.take(length)?;
        self.put(bytes)
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.take(1)?;
        self.put(byte)?;
        Ok(byte[0])
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

    /// The fields of a struct. Their kinds are in four bits; for truths they say which. By how many a field's number is above the one before is in the
    /// other four, or the number follows: doubled, and one less than that below 0.
    fn fields(&mut self, depth: u32) -> Result<()> {
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            match head & 15 {
                0 => return Ok(()),
                _ if head >> 4 == 0 => {
                    let number = self.number()?;
                    let half = (number >> 1).cast_signed();
                    field = if number & 1 == 1 { !half } else { half };
                }
                _ => field = field.saturating_add(i64::from(head >> 4)),
            }
            if depth == DEEPEST {
                self.longest = if field == ROW_GROUPS { 0 } else { LONGEST };
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
                if text.len() <= self.longest {
                    return self.put(text);
                }
                self.to.truncate(before);
                self.to.push(0);
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
    use super::{FOOTER, LONGEST, without_texts};

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
        assert_eq!(without_texts(&behind(&named)).unwrap(), named);
        assert_eq!(without_texts(&behind(&long)).unwrap(), footer(&[0]));
        let whole = footer(&[0]);
        for cut in 0..whole.len() {
            without_texts(&whole[..cut]).unwrap_err();
            for value in 0..=255 {
                let mut changed = whole.clone();
                changed[cut] = value;
                let _: Result<Vec<u8>, _> = without_texts(&changed);
            }
        }
        for wrong in
            [&[0x19; 200][..], &[0x15, 0x80, 0x80, 0x80], &[0x15; 3], &[0x1e, 0], &[0x1c; 999]]
        {
            without_texts(wrong).unwrap_err();
        }
        let long = [&[0x15][..], &[0x80; 10], &[0, 0]].concat();
        without_texts(&long).unwrap_err();
    }

    /// However short: by the number of their field, in its short form and its long one; not those of fields around it, nor of the same number further in.
    #[test]
    fn row_groups_are_left_without_texts() {
        // A list of two structs: a text and a list of one text in the fourth field, and a struct of a text in the fifth.
        let groups = |text: &[u8]| {
            let one = [&[0x18][..], text, &[0x39, 0x18], text, &[0x1c, 0x18], text, &[0, 0]];
            [&[0x2c][..], &one.concat().repeat(2)].concat()
        };
        let (named, empty) = (&[2, b'a', b'b'][..], &[0][..]);
        for (before, head) in [(&[0x35, 2][..], &[0x19][..]), (&[0x15, 2], &[0x09, 8])] {
            let footer = |of_groups: &[u8]| {
                let other = |head: &[u8]| [head, &groups(named)[..]].concat();
                [before, head, &groups(of_groups), &other(&[0x19]), &other(&[0x09, 7]), &[0]]
                    .concat()
            };
            assert_eq!(without_texts(&footer(named)).unwrap(), footer(empty));
        }
    }

    #[test]
    fn no_more_is_copied_than_there_is_room_for() {
        let list = |length: usize| {
            let seven = |from: u32| ((length >> from) & 0x7f).to_le_bytes()[0];
            let head = [0x19, 0xf3, seven(0) | 0x80, seven(7) | 0x80, seven(14) | 0x80, seven(21)];
            [&head[..], &vec![1; length], &[0]].concat()
        };
        assert_eq!(without_texts(&list(FOOTER - 7)).unwrap().len(), FOOTER);
        let error = without_texts(&list(FOOTER - 6)).unwrap_err().to_string();
        assert!(error.contains("a column takes more than"), "{error}");
    }
}
