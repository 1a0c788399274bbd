//! Pages of a column of Parquet, unpacked here, so that what a file says of itself decides nothing about memory.
//!
//! The reader of the format reserves what a page's header promises, and unpacks gzip to its end before it compares.
//! Here it is told that columns are not compressed: it hands over pages as they are in the file, and each is unpacked only as far as there is room.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

/// Bytes that chosen columns share for their pages, and so many more for each of them. A footer may take as many as they share.
const ROOM: usize = 32 << 20;
const ROOM_OF_COLUMN: usize = 8 << 20;

/// What a text of a dictionary takes beside its bytes.
const TEXT: usize = 48;

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
const STEP: usize = 1 << 20;

/// A file of which no more is reserved than it has.
#[derive(Clone)]
pub(super) struct Bounded(Arc<File>);

impl Bounded {
    pub(super) fn new(file: File) -> Self {
        Self(Arc::new(file))
    }
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Bounded {
    type T = <File as ChunkReader>::T;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let there = self.len().saturating_sub(start);
        if length as u64 > there {
            let reason = format!("{length} bytes are asked for at {start}, and {there} are there");
            return Err(ParquetError::General(reason));
        }
        if length > ROOM {
            return Err(too_large(ROOM));
        }
        self.0.get_bytes(start, length)
    }
}

/// Bytes that the pages of one of so many columns may take at once: a dictionary, and a page, which is there twice while it is unpacked.
pub(super) fn room(columns: usize) -> usize {
    ROOM / columns.max(1) + ROOM_OF_COLUMN
}

/// The pages of one column of one row group.
pub(super) struct Pages {
    packed: SerializedPageReader<Bounded>,
    codec: Compression,
    physical: Type,
    room: usize,
    /// Bytes of the dictionary, once it is there.
    dictionary: Option<usize>,
}

impl Pages {
    pub(super) fn new(
        file: Bounded,
        chunk: &ColumnChunkMetaData,
        rows: usize,
        room: usize,
    ) -> Result<Self> {
        let (codec, physical) = (chunk.compression(), chunk.column_type());
        let places = [Some(chunk.data_page_offset()), chunk.dictionary_page_offset()];
        if places.into_iter().flatten().any(|place| place < 0) || chunk.compressed_size() < 0 {
            let reason = "the footer puts a column before the file's beginning".to_owned();
            return Err(ParquetError::General(reason));
        }
        let plain = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
        let packed = SerializedPageReader::new(Arc::new(file), &plain.build()?, rows, None)?;
        Ok(Self { packed, codec, physical, room, dictionary: None })
    }

    /// The bytes of a page, of which the first `plain` are never packed.
    fn unpacked(&self, packed: Bytes, plain: usize) -> Result<Bytes> {
        let too_large = || too_large(self.room);
        let left = self.room.saturating_sub(self.dictionary.unwrap_or(0));
        let left = left.checked_sub(packed.len()).ok_or_else(too_large)?;
        if self.codec == Compression::UNCOMPRESSED {
            return Ok(packed);
        }
        let short = || ParquetError::General("a page is shorter than its levels".to_owned());
        let (levels, rest) = packed.split_at_checked(plain).ok_or_else(short)?;
        let mut bytes = levels.to_vec();
        if !rest.is_empty() {
            unpack(self.codec, rest, left, &mut bytes)?.ok_or_else(too_large)?;
        }
        Ok(bytes.into())
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
        if bytes > self.room {
            return Err(too_large(self.room));
        }
        self.dictionary = Some(bytes);
        Ok(())
    }

    /// Refuses entries of no dictionary, and texts that are stored as differences: as many lengths are made as they say.
    fn check_encoding(&self, encoding: Encoding) -> Result<()> {
        let entries = matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
        if entries && self.dictionary.is_none() {
            return Err(ParquetError::General("a page comes before its dictionary".to_owned()));
        }
        let known = match (encoding, self.physical) {
            (Encoding::PLAIN, _) => true,
            (_, _) if entries => true,
            (Encoding::DELTA_BINARY_PACKED, kind) => matches!(kind, Type::INT32 | Type::INT64),
            (Encoding::BYTE_STREAM_SPLIT, kind) => kind != Type::BYTE_ARRAY,
            _ => false,
        };
        if known {
            return Ok(());
        }
        let reason = format!(
            "{} is stored as {encoding}; plain and dictionary columns can be read, and whole numbers as DELTA_BINARY_PACKED",
            self.physical
        );
        Err(ParquetError::NYI(reason))
    }
}

/// Writes the bytes behind what is there already; `None` if they are more than there is room for.
fn unpack(
    codec: Compression,
    packed: &[u8],
    room: usize,
    bytes: &mut Vec<u8>,
) -> Result<Option<()>> {
    match codec {
        Compression::SNAPPY => {
            let failed = |error: snap::Error| ParquetError::External(Box::new(error));
            let length = snap::raw::decompress_len(packed).map_err(failed)?;
            if length > room {
                return Ok(None);
            }
            let levels = bytes.len();
            bytes.resize(levels + length, 0);
            snap::raw::Decoder::new().decompress(packed, &mut bytes[levels..]).map_err(failed)?;
            Ok(Some(()))
        }
        Compression::GZIP(_) => drain(flate2::read::MultiGzDecoder::new(packed), room, bytes),
        #[cfg(feature = "zstd")]
        Compression::ZSTD(_) => {
            let mut stream = zstd::Decoder::with_buffer(packed)?;
            // No window may be larger than what has to fit in anyway.
            stream.window_log_max(ROOM.ilog2())?;
            drain(stream, room, bytes)
        }
        other => Err(ParquetError::NYI(format!("compression with {other}"))),
    }
}

/// All of a stream, step by step, so that what is reserved stays near what has come.
fn drain(mut stream: impl Read, room: usize, bytes: &mut Vec<u8>) -> Result<Option<()>> {
    let before = bytes.len();
    loop {
        let step = STEP.max(bytes.len() / 4);
        bytes.reserve_exact(step);
        let read = (&mut stream).take(step as u64).read_to_end(bytes)?;
        if bytes.len() - before > room {
            return Ok(None);
        }
        if read < step {
            return Ok(Some(()));
        }
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.packed.get_next_page()? else { return Ok(None) };
        match &mut page {
            Page::DictionaryPage { buf, num_values, .. } => {
                *buf = self.unpacked(std::mem::take(buf), 0)?;
                self.check_dictionary(buf.len(), *num_values)?;
            }
            Page::DataPage { buf, encoding, .. } => {
                self.check_encoding(*encoding)?;
                *buf = self.unpacked(std::mem::take(buf), 0)?;
            }
            Page::DataPageV2 {
                buf,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                self.check_encoding(*encoding)?;
                let levels =
                    (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize);
                let packed = std::mem::take(buf);
                let plain = if *is_compressed { levels } else { packed.len() };
                *buf = self.unpacked(packed, plain)?;
                if levels > buf.len() {
                    let reason = "a page is shorter than its levels".to_owned();
                    return Err(ParquetError::General(reason));
                }
            }
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.packed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.packed.skip_next_page()
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

fn too_large(most: usize) -> ParquetError {
    ParquetError::General(format!(
        "a column takes more than {most} bytes at once; write it with smaller pages"
    ))
}
