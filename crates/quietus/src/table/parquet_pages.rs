//! Pages of a column of Parquet, unpacked here, so that what a file says of itself decides nothing about memory.
//!
//! The reader of the format reserves what a page's header promises, and unpacks gzip to its end before it compares.
//! Here it is told that columns are not compressed: it hands over pages as they are in the file, and each is unpacked only as far as there is room.
//! Pages of texts for which there is none, and those by differences, are handed over in parts (`parquet_texts`); all others are refused.

use super::parquet_texts::{Levels, SmallPages, Texts};
use bytes::{Buf, Bytes};
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

/// Most bytes of a page by its format.
const PAGE: usize = i32::MAX as usize;

/// What pages may take in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Bytes that chosen columns share for their pages.
    pub(super) shared: usize,
    /// As many more for each of them.
    pub(super) column: usize,
    /// For a dictionary of texts.
    pub(super) dictionary: usize,
}

impl Room {
    /// Writers look at the size of a dictionary every 1,024 values at the latest, and give up at a MiB or a few. If all of these were texts of the most
    /// that a record may have, there would still be room: who has long texts is not noticed by an error.
    pub(super) const USUAL: Self =
        Self { shared: 32 << 20, column: 8 << 20, dictionary: (1 << 30) + (64 << 20) };

    /// Bytes of the pages of one of so many columns: a dictionary of numbers, and a page, which is there twice while it is unpacked.
    fn of_one(self, columns: usize) -> usize {
        self.shared / columns.max(1) + self.column
    }
}

/// What a text of a dictionary takes beside its bytes.
pub(super) const TEXT: usize = 48;

/// The largest window of zstd, as a power of two: that of its highest level. What is larger was asked for by whoever has written the file.
#[cfg(feature = "zstd")]
const WINDOW: u32 = 27;

/// Most bytes that a byte of snappy can stand for; it is 64 bytes by three.
const DENSEST_SNAPPY: usize = 24;

thread_local! {
    /// Whether pages are being decoded here.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// What a decoder gives, or that the file is damaged: the reader of the format stops with a panic at some pages that are not as they say.
///
/// Nothing of a file is shown by such a panic, and the reader is not to be used after it.
pub(super) fn decoded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !DECODING.get() {
                before(info);
            }
        }));
    });
    DECODING.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    let reason = "a page does not hold what it says".to_owned();
    result.unwrap_or(Err(ParquetError::General(reason)))
}

/// Steps in which unpacked bytes are asked for.
pub(super) const STEP: usize = 1 << 20;

/// A file of which no more is reserved than it has.
#[derive(Clone)]
pub(super) struct Bounded {
    file: Arc<File>,
    /// Most bytes that are read at once.
    most: usize,
}

impl Bounded {
    pub(super) fn new(file: File) -> Self {
        Self { file: Arc::new(file), most: usize::MAX }
    }
}

/// Bytes of a file for what has its own end: that of the file is an error. The reader of the format would pass over as many more numbers of a list as it says there are.
pub(super) struct UpToTheEnd(BufReader<File>);

impl Read for UpToTheEnd {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(bytes)?;
        if read == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(read)
    }
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Bounded {
    type T = UpToTheEnd;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(UpToTheEnd(self.file.get_read(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let there = self.len().saturating_sub(start);
        if length as u64 > there {
            let reason = format!("{length} bytes are asked for at {start}, and {there} are there");
            return Err(ParquetError::General(reason));
        }
        if length > self.most {
            return Err(too_large(self.most));
        }
        self.file.get_bytes(start, length)
    }
}

/// The pages of one column of one row group.
pub(super) struct Pages {
    packed: SerializedPageReader<Bounded>,
    codec: Compression,
    physical: Type,
    /// Whether values can be missing.
    optional: bool,
    room: usize,
    /// For a dictionary.
    room_of_dictionary: usize,
    /// Bytes of a text that are kept at least.
    most_text: usize,
    /// What the dictionary takes of the room for pages, once it is there.
    dictionary: Option<usize>,
    /// What is left of a page that is handed over in parts.
    parts: Option<SmallPages>,
    /// Bytes of pages since the last pause whose texts are not copied: they are held as long as any of these.
    held: usize,
    most_held: usize,
}

impl Pages {
    /// One of so many chosen columns.
    pub(super) fn new(
        file: &Bounded,
        chunk: &ColumnChunkMetaData,
        rows: usize,
        (room, columns): (Room, usize),
        most_text: usize,
    ) -> Result<Self> {
        let (codec, physical) = (chunk.compression(), chunk.column_type());
        let places = [Some(chunk.data_page_offset()), chunk.dictionary_page_offset()];
        if places.into_iter().flatten().any(|place| place < 0) || chunk.compressed_size() < 0 {
            let reason = "the footer puts a column before the file's beginning".to_owned();
            return Err(ParquetError::General(reason));
        }
        let plain = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
        // A page of texts is in the file as long as it is, whoever they are of.
        let most = if physical == Type::BYTE_ARRAY { PAGE } else { room.shared };
        let file = Arc::new(Bounded { most, ..file.clone() });
        let packed = SerializedPageReader::new(file, &plain.build()?, rows, None)?;
        let most_held = room.column;
        let optional = chunk.column_descr().max_def_level() > 0;
        let (room, room_of_texts) = (room.of_one(columns), room.dictionary);
        let room_of_dictionary = if physical == Type::BYTE_ARRAY { room_of_texts } else { room };
        Ok(Self {
            packed,
            codec,
            physical,
            optional,
            room,
            room_of_dictionary,
            most_text,
            dictionary: None,
            parts: None,
            held: 0,
            most_held,
        })
    }

    /// The bytes of a page, of which the first `plain` are never packed; `None` if there is no room for them.
    fn unpacked(&self, packed: &Bytes, plain: usize) -> Result<Option<Bytes>> {
        let left = self.room.saturating_sub(self.dictionary.unwrap_or(0));
        let Some(left) = left.checked_sub(packed.len()) else { return Ok(None) };
        if self.codec == Compression::UNCOMPRESSED {
            return Ok(Some(packed.clone()));
        }
        let (levels, rest) = split_at(packed, plain)?;
        let mut bytes = levels.to_vec();
        if !rest.is_empty() && !unpack(self.codec, rest, left, &mut bytes)? {
            return Ok(None);
        }
        Ok(Some(bytes.into()))
    }

    /// The bytes of a page of data. Texts that are stored by their differences are always handed over in parts: the reader would make as many lengths as
    /// they say.
    fn unpacked_values(
        &self,
        packed: &Bytes,
        plain: usize,
        encoding: Encoding,
    ) -> Result<Option<Bytes>> {
        let as_it_is = encoding == Encoding::PLAIN || by_dictionary(encoding);
        if self.physical == Type::BYTE_ARRAY && !as_it_is {
            return Ok(None);
        }
        self.unpacked(packed, plain)
    }

    /// The bytes of a dictionary. Texts for which there is no room are cut.
    fn unpacked_dictionary(&self, packed: Bytes, values: u32) -> Result<Bytes> {
        if self.dictionary.is_some() {
            return Err(ParquetError::General("a column has two dictionaries".to_owned()));
        }
        if let Some(bytes) = self.unpacked(&packed, 0)? {
            return Ok(bytes);
        }
        if self.physical != Type::BYTE_ARRAY {
            return Err(too_large(self.room));
        }
        let texts = Texts::new(self.codec, packed, self.most_text)?;
        let texts = texts.dictionary(values, self.room_of_dictionary)?;
        texts.ok_or_else(|| too_large(self.room_of_dictionary))
    }

    /// Begins with the parts of a page; `levels` are those that are not among its bytes.
    fn divide(
        &mut self,
        (codec, packed): (Compression, Bytes),
        levels: Option<Bytes>,
        (values, present): (u32, u32),
        encoding: Encoding,
    ) -> Result<()> {
        let mut texts = Texts::new(codec, packed, self.most_text)?;
        let levels = match levels {
            _ if !self.optional => None,
            Some(levels) => Some(Levels::new(levels)),
            None => {
                let levels = Levels::before(&mut texts, self.room)?;
                Some(levels.ok_or_else(|| too_large(self.room))?)
            }
        };
        let is_plain = encoding == Encoding::PLAIN;
        if !is_plain && !texts.by_differences(encoding, present, self.room)? {
            return Err(too_large(self.room));
        }
        let size = STEP.min(self.room);
        self.parts = Some(SmallPages::new(texts, levels, values, present, size));
        Ok(())
    }

    /// Refuses what is no page of texts, for there is no other that can be divided.
    fn check_divisible(&self, encoding: Encoding) -> Result<()> {
        if self.physical == Type::BYTE_ARRAY && !by_dictionary(encoding) {
            return Ok(());
        }
        Err(too_large(self.room))
    }

    /// A page as it is in memory; `None` if it has no values, or has been divided.
    fn page(&mut self, mut page: Page) -> Result<Option<Page>> {
        match &mut page {
            Page::DictionaryPage { buf, num_values, .. } => {
                *buf = self.unpacked_dictionary(std::mem::take(buf), *num_values)?;
                self.check_dictionary(buf.len(), *num_values)?;
            }
            // The reader would take it for the last one.
            Page::DataPage { num_values: 0, .. } | Page::DataPageV2 { num_values: 0, .. } => {
                return Ok(None);
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                self.check_encoding(*encoding)?;
                self.check_levels(*def_level_encoding)?;
                let packed = std::mem::take(buf);
                let Some(bytes) = self.unpacked_values(&packed, 0, *encoding)? else {
                    self.check_divisible(*encoding)?;
                    let counts = (*num_values, *num_values);
                    self.divide((self.codec, packed), None, counts, *encoding)?;
                    return Ok(None);
                };
                *buf = bytes;
            }
            Page::DataPageV2 {
                buf,
                num_values,
                num_nulls,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                self.check_encoding(*encoding)?;
                let repeated = *rep_levels_byte_len as usize;
                let levels = repeated.saturating_add(*def_levels_byte_len as usize);
                let packed = std::mem::take(buf);
                let (before, rest) = split_at(&packed, levels)?;
                let plain = if *is_compressed { levels } else { packed.len() };
                let Some(bytes) = self.unpacked_values(&packed, plain, *encoding)? else {
                    self.check_divisible(*encoding)?;
                    let is_plain = !*is_compressed || rest.is_empty();
                    let codec = if is_plain { Compression::UNCOMPRESSED } else { self.codec };
                    let more_nulls = || ParquetError::General("more nulls than values".to_owned());
                    let present = num_values.checked_sub(*num_nulls).ok_or_else(more_nulls)?;
                    let levels = Some(before.slice(repeated..));
                    self.divide((codec, rest), levels, (*num_values, present), *encoding)?;
                    return Ok(None);
                };
                *buf = bytes;
            }
        }
        Ok(Some(page))
    }

    /// Refuses a dictionary that says it has more entries than its bytes can hold; it is made before they are read.
    fn check_dictionary(&mut self, bytes: usize, values: u32) -> Result<()> {
        let (shortest, taken) = match self.physical {
            Type::BYTE_ARRAY => (4, TEXT),
            Type::INT32 | Type::FLOAT => (4, 4),
            _ => (8, 8),
        };
        let values = values as usize;
        if values > bytes / shortest {
            let reason = format!("a dictionary of {bytes} bytes cannot have {values} entries");
            return Err(ParquetError::General(reason));
        }
        let bytes = bytes.saturating_add(values.saturating_mul(taken));
        if bytes > self.room_of_dictionary {
            return Err(too_large(self.room_of_dictionary));
        }
        self.dictionary = Some(if self.physical == Type::BYTE_ARRAY { 0 } else { bytes });
        Ok(())
    }

    /// Refuses the levels of old writers in columns of texts: such a page could not be divided, and which one has to be is up to individuals.
    fn check_levels(&self, encoding: Encoding) -> Result<()> {
        if encoding == Encoding::RLE || !self.optional || self.physical != Type::BYTE_ARRAY {
            return Ok(());
        }
        let reason = format!("levels are stored as {encoding}; RLE can be read");
        Err(ParquetError::NYI(reason))
    }

    /// Refuses entries of no dictionary, and what cannot be read.
    fn check_encoding(&self, encoding: Encoding) -> Result<()> {
        let entries = by_dictionary(encoding);
        if entries && self.dictionary.is_none() {
            return Err(ParquetError::General("a page comes before its dictionary".to_owned()));
        }
        let known = match (encoding, self.physical) {
            (Encoding::PLAIN, _) => true,
            (_, _) if entries => true,
            (Encoding::DELTA_BINARY_PACKED, kind) => matches!(kind, Type::INT32 | Type::INT64),
            (Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY, kind) => {
                kind == Type::BYTE_ARRAY
            }
            (Encoding::BYTE_STREAM_SPLIT, kind) => kind != Type::BYTE_ARRAY,
            _ => false,
        };
        if known {
            return Ok(());
        }
        let reason = format!("{} is stored as {encoding}, which cannot be read", self.physical);
        Err(ParquetError::NYI(reason))
    }
}

fn by_dictionary(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY)
}

fn split_at(packed: &Bytes, levels: usize) -> Result<(Bytes, Bytes)> {
    if levels > packed.len() {
        return Err(ParquetError::General("a page is shorter than its levels".to_owned()));
    }
    Ok((packed.slice(..levels), packed.slice(levels..)))
}

/// Writes the bytes behind what is there already; false if they are more than there is room for.
fn unpack(codec: Compression, packed: Bytes, room: usize, bytes: &mut Vec<u8>) -> Result<bool> {
    if codec != Compression::SNAPPY {
        return drain(stream(codec, packed)?, room, bytes);
    }
    let length = snap::raw::decompress_len(&packed).map_err(failed)?;
    if length > room {
        return Ok(false);
    }
    let levels = bytes.len();
    bytes.resize(levels + length, 0);
    snap::raw::Decoder::new().decompress(&packed, &mut bytes[levels..]).map_err(failed)?;
    Ok(true)
}

/// What is in a page, unpacked on the way, but for snappy: that is there as a whole, as it can refer to all before.
pub(super) fn stream(codec: Compression, packed: Bytes) -> Result<Box<dyn Read + Send>> {
    Ok(match codec {
        Compression::UNCOMPRESSED => Box::new(packed.reader()),
        Compression::SNAPPY => {
            let length = snap::raw::decompress_len(&packed).map_err(failed)?;
            if length > packed.len().saturating_mul(DENSEST_SNAPPY) || length > PAGE {
                let reason = "a page says that it is longer than it can be".to_owned();
                return Err(ParquetError::General(reason));
            }
            let bytes = snap::raw::Decoder::new().decompress_vec(&packed).map_err(failed)?;
            Box::new(io::Cursor::new(bytes))
        }
        Compression::GZIP(_) => Box::new(flate2::bufread::MultiGzDecoder::new(packed.reader())),
        #[cfg(feature = "zstd")]
        Compression::ZSTD(_) => {
            let mut stream = zstd::Decoder::with_buffer(packed.reader())?;
            stream.window_log_max(WINDOW)?;
            Box::new(stream)
        }
        other => return Err(ParquetError::NYI(format!("compression with {other}"))),
    })
}

fn failed(error: snap::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// All of a stream, step by step, so that what is reserved stays near what has come; false if there is more than there is room for.
fn drain(mut stream: impl Read, room: usize, bytes: &mut Vec<u8>) -> Result<bool> {
    let before = bytes.len();
    loop {
        let step = STEP.max(bytes.len() / 4);
        bytes.reserve_exact(step);
        let read = (&mut stream).take(step as u64).read_to_end(bytes)?;
        if bytes.len() - before > room {
            return Ok(false);
        }
        if read < step {
            return Ok(true);
        }
    }
}

impl PageReader for Pages {
    /// `None` at the end, and as a pause where texts take as much memory as is good: the next call goes on.
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        if self.held >= self.most_held {
            self.held = 0;
            return Ok(None);
        }
        let page = loop {
            if let Some(parts) = &mut self.parts {
                if let Some(page) = parts.next_page()? {
                    break page;
                }
                self.parts = None;
            }
            let Some(page) = self.packed.get_next_page()? else { return Ok(None) };
            if let Some(page) = self.page(page)? {
                break page;
            }
        };
        let texts = self.physical == Type::BYTE_ARRAY && page.encoding() == Encoding::PLAIN;
        if texts && page.is_data_page() {
            self.held = self.held.saturating_add(page.buffer().len());
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(one_after_another())
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(one_after_another())
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

fn one_after_another() -> ParquetError {
    ParquetError::NYI("pages are read one after another".to_owned())
}

pub(super) fn too_large(most: usize) -> ParquetError {
    ParquetError::General(format!(
        "a column takes more than {most} bytes at once; write it with smaller pages"
    ))
}
