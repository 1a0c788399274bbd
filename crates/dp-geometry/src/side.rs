//! One side of a box and its positions.

use crate::error::GeometryError;
use crate::nested::NestedGrid;
use crate::public_box::PublicBox;

/// What the last position is, at the upper bound.
const LAST: u64 = 1 << NestedGrid::POSITION_BITS;
/// Where cells are finer in a part, this share of the positions is on each side of it that does not end where the side does.
const BEYOND: f64 = 0.0625;
/// A part that ends this share of its width before the end of a side ends there.
const NEXT_TO_THE_END: f64 = 0.03125;
/// In at most so many pieces.
const MOST_PIECES: i32 = 48;

/// From coordinates to positions, by pieces of straight lines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Side {
    first: Piece,
    /// The others, in order.
    more: Vec<Piece>,
    /// Of the middle, and of NaN.
    middle: u64,
}

/// A part of a side whose positions have one density.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    min: f64,
    positions_per_unit: f64,
    /// Of its ends.
    positions: [u64; 2],
}

impl Side {
    /// From `min` to `max`, with the same density everywhere.
    pub(crate) fn new(number: usize, min: f64, max: f64) -> Result<Self, GeometryError> {
        let first = Piece::new(number, [min, max], [0, LAST])?;
        Ok(Self { first, more: Vec::new(), middle: LAST / 2 })
    }

    /// The same with most positions between `from` and `to`. To the left and to the right of it all pieces have as many positions, and each is twice as
    /// long as the one before; the first is about half as long as the part in the middle.
    pub(crate) fn finer_between(
        number: usize,
        [min, from, to, max]: [f64; 4],
    ) -> Result<Self, GeometryError> {
        if !(min <= from && from < to && to <= max) {
            return Self::new(number, min, max);
        }
        let width = to - from;
        let [left, right] = [from - min, max - to];
        let [before, after] =
            [left, right].map(|length| if length > 0.0 { share_of(LAST, BEYOND) } else { 0 });
        let beyond = |length: f64, positions| {
            let share = move |[of_length, of_positions]: [f64; 2]| {
                (of_length * length, share_of(positions, of_positions))
            };
            parts(length / width).into_iter().map(share)
        };
        let mut ends = vec![(min, 0)];
        ends.extend(beyond(left, before).rev().map(|(away, share)| (from - away, before - share)));
        ends.extend([(from, before), (to, LAST - after)]);
        ends.extend(beyond(right, after).map(|(away, share)| (to + away, LAST - after + share)));
        ends.push((max, LAST));
        // Of pieces without a length, or without a position, nothing is left.
        ends.dedup_by(|next, last| next.0 <= last.0 || next.1 <= last.1);
        // But the upper bound stays.
        if let Some(last) = ends.last_mut() {
            *last = (max, LAST);
        }
        let pieces = ends
            .array_windows()
            .map(|&[(min, first), (max, last)]| Piece::new(number, [min, max], [first, last]));
        let mut pieces = pieces.collect::<Result<Vec<_>, _>>()?.into_iter();
        let Some(first) = pieces.next() else { return Self::new(number, min, max) };
        let side = Self { first, more: pieces.collect(), middle: 0 };
        let middle = side.position(0.5 * min + 0.5 * max);
        Ok(Self { middle, ..side })
    }

    /// From 0 at the lower bound to the last at the upper one, as far as rounding lets it, and never less for a larger coordinate. NaN is in the middle.
    #[inline]
    pub(crate) fn position(&self, x: f64) -> u64 {
        if x.is_nan() {
            return self.middle;
        }
        let begun = self.more.iter().take_while(|piece| x >= piece.min);
        begun.last().unwrap_or(&self.first).position(x)
    }

    /// Positions per unit of length, where they are most.
    pub(crate) fn most_per_unit(&self) -> f64 {
        let more = self.more.iter().map(|piece| piece.positions_per_unit);
        more.fold(self.first.positions_per_unit, f64::max)
    }

    /// The coordinate of a position, which may be between two.
    pub(crate) fn coordinate(&self, position: f64) -> f64 {
        let begun = self.more.iter().take_while(|piece| position >= piece.positions[0] as f64);
        let piece = begun.last().unwrap_or(&self.first);
        piece.min + (position - piece.positions[0] as f64) / piece.positions_per_unit
    }
}

/// Where a part of a side ends, if it does not end next to the ends of the side.
pub(crate) fn part_of(public_box: &PublicBox, part: &PublicBox, i: usize) -> [f64; 2] {
    let [min, max] = [public_box.min(i), public_box.max(i)];
    let mut ends = [part.min(i), part.max(i)].map(|x| public_box.clip_coordinate(i, x));
    // The second time with the width of the first, so that a part of a part is the same.
    for _ in 0..2 {
        let [from, to] = ends;
        let next_to = NEXT_TO_THE_END * (to - from);
        ends = [
            if from - min < next_to { min } else { from },
            if max - to < next_to { max } else { to },
        ];
    }
    ends
}

/// Pieces beyond a part that is finer, on one of its sides, where that side is so many times as long: the ends of all but the last, from there on, as shares
/// of its length and of its positions.
fn parts(times: f64) -> Vec<[f64; 2]> {
    let pieces = (1..MOST_PIECES).find(|&pieces| 0.5 * (exp2(pieces) - 1.0) >= times);
    let pieces = pieces.unwrap_or(MOST_PIECES);
    let end =
        |piece| [(exp2(piece) - 1.0) / (exp2(pieces) - 1.0), f64::from(piece) / f64::from(pieces)];
    (1..pieces).map(end).collect()
}

fn exp2(power: i32) -> f64 {
    2.0_f64.powi(power)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of it, at most all"
)]
fn share_of(positions: u64, share: f64) -> u64 {
    ((positions as f64 * share) as u64).min(positions)
}

impl Piece {
    fn new(
        dimension: usize,
        [min, max]: [f64; 2],
        positions: [u64; 2],
    ) -> Result<Self, GeometryError> {
        let width = max - min;
        let positions_per_unit = (positions[1] - positions[0]) as f64 / width;
        if positions_per_unit.is_infinite() {
            let cells = 1 << NestedGrid::MAX_LEVEL;
            return Err(GeometryError::CellTooNarrow { dimension, width, cells });
        }
        Ok(Self { min, positions_per_unit, positions })
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the saturating cast is the clamp: negative to 0, large to u64::MAX, towards zero"
    )]
    fn position(&self, x: f64) -> u64 {
        let [first, last] = self.positions;
        // No NaN: `x` is none, `min` is finite, and the factor is finite and not zero.
        let position = (x - self.min) * self.positions_per_unit;
        first.saturating_add(position as u64).min(last)
    }
}
