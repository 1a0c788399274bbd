//! Lengths of texts that Parquet stores as differences (`DELTA_BINARY_PACKED`): read one by one, so that nothing is made of what they say of themselves.

use super::parquet_texts::damaged;
use parquet::errors::Result;
use std::io::{Cursor, Read};

/// Most values of a block; writers have 128.
const BLOCK: u64 = 1 << 16;

/// Numbers that come from somewhere: the first, then blocks of differences in the fewest bits that hold all of a small block.
pub(super) struct Lengths<R> {
    from: R,
    /// How many are left.
    left: u64,
    /// Small blocks of a block, and values of a small one.
    small: u64,
    values: u64,
    last: i32,
    is_first: bool,
    /// The least difference of the block, and the bits of those of its small blocks that have not begun, the last one first.
    least: i32,
    widths: Vec<u8>,
    /// Of the small block: its bits, its values that are left, and those bits of its last byte that are.
    width: u8,
    in_small: u64,
    bits: u64,
    held: u8,
}

impl<R: Read> Lengths<R> {
    /// At most so many.
    fn new(from: R, most: u32) -> Result<Self> {
        let mut new = Self {
            from,
            left: 0,
            small: 0,
            values: 0,
            last: 0,
            is_first: true,
            least: 0,
            widths: Vec::new(),
            width: 0,
            in_small: 0,
            bits: 0,
            held: 0,
        };
        let block = new.number()?;
        (new.small, new.left) = (new.number()?, new.number()?);
        new.last = new.signed()?;
        let fits = new.small > 0 && block <= BLOCK && block.is_multiple_of(new.small);
        if !fits || new.left > most.into() {
            return Err(damaged());
        }
        new.values = block / new.small;
        // A small block is whole bytes, whatever its bits.
        if new.values == 0 || !new.values.is_multiple_of(8) { Err(damaged()) } else { Ok(new) }
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.from.read_exact(&mut byte).map_err(|_| damaged())?;
        Ok(byte[0])
    }

    /// Seven bits a byte, the lowest first.
    fn number(&mut self) -> Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift).ok_or_else(damaged)?;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    /// Doubled, and one less than that for numbers below 0.
    fn signed(&mut self) -> Result<i32> {
        let number = self.number()?;
        let half = i32::try_from(number >> 1).map_err(|_| damaged())?;
        Ok(if number & 1 == 1 { !half } else { half })
    }

    fn begin_small_block(&mut self) -> Result<()> {
        if self.widths.is_empty() {
            self.least = self.signed()?;
            for _ in 0..self.small {
                let width = self.byte()?;
                self.widths.push(width);
            }
            self.widths.reverse();
        }
        self.width = self.widths.pop().ok_or_else(damaged)?;
        (self.in_small, self.bits, self.held) = (self.values, 0, 0);
        if self.width > 32 { Err(damaged()) } else { Ok(()) }
    }

    /// The next bits of the small block.
    fn difference(&mut self) -> Result<u32> {
        while self.held < self.width {
            self.bits |= u64::from(self.byte()?) << self.held;
            self.held += 8;
        }
        let bits = self.bits & ((1 << self.width) - 1);
        self.bits >>= self.width;
        self.held -= self.width;
        self.in_small -= 1;
        u32::try_from(bits).map_err(|_| damaged())
    }

    pub(super) fn next(&mut self) -> Result<u32> {
        self.left = self.left.checked_sub(1).ok_or_else(damaged)?;
        if !std::mem::take(&mut self.is_first) {
            if self.in_small == 0 {
                self.begin_small_block()?;
            }
            let difference = self.difference()?.cast_signed();
            self.last = self.last.wrapping_add(self.least).wrapping_add(difference);
        }
        u32::try_from(self.last).map_err(|_| damaged())
    }

    /// Goes behind all of them: a small block is whole if it has begun.
    fn end(&mut self) -> Result<()> {
        while self.left > 0 {
            self.next()?;
        }
        while self.in_small > 0 {
            self.difference()?;
        }
        Ok(())
    }
}

impl Lengths<Cursor<Vec<u8>>> {
    /// Takes them from before what follows; at most so many, and `None` if they have more bytes than there is room for.
    pub(super) fn before(bytes: &mut impl Read, most: u32, room: usize) -> Result<Option<Self>> {
        let mut copied = Copied { from: bytes, bytes: Vec::new(), room };
        let read = Lengths::new(&mut copied, most).and_then(|mut lengths| lengths.end());
        let Copied { bytes, room: left, .. } = copied;
        match read {
            Err(_) if left == 0 => Ok(None),
            read => read.and_then(|()| Self::new(Cursor::new(bytes), most)).map(Some),
        }
    }
}

/// Keeps what is read; nothing more comes when there is no more room.
struct Copied<'a, R> {
    from: &'a mut R,
    bytes: Vec<u8>,
    room: usize,
}

impl<R: Read> Read for Copied<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let most = buf.len().min(self.room);
        let read = self.from.read(&mut buf[..most])?;
        self.bytes.extend_from_slice(&buf[..read]);
        self.room -= read;
        Ok(read)
    }
}
