//! Powers of `e` in units of `2^-64`, computed by the compiler from the series.

use crate::scaled::{high_half, multiply_high_wide};

/// `floor(2^64 exp(-i))`, except that 1 is held as `2^64 - 1`.
pub(super) static WHOLE: [u64; 64] = whole();
/// The same for `exp(-i / 2^6)`.
pub(super) static COARSE: [u64; 64] = fractions(1 << 6);
/// The same for `exp(-i / 2^12)`.
pub(super) static FINE: [u64; 64] = fractions(1 << 12);

/// The mean of few points is one over this.
pub(crate) const FEW: u128 = 8;
/// `floor(2^64 (1 + x/1! + .. + x^n/n!) exp(-x))` for the mean `x` of few points.
pub(super) static FEW_POINTS: [u64; 14] = few_points();

/// Of normal noise.
pub(crate) const BLOCKS_PER_DEVIATION: u64 = 16;
/// Beyond them there is less than a unit of `2^-64`.
const BLOCKS: usize = 148;
/// `Pr[I <= i]` in units of `2^-64`, rounded down, for weights `exp(-i^2 / 512)` from 0 on.
pub(super) static UP_TO_BLOCK: [u64; BLOCKS] = up_to_block();
/// For the first eight digits of a uniform real: the first block that it may be in.
pub(super) static FIRST_BLOCK: [u8; 256] = first_block();

/// Working precision of the series; products with numbers below `2^6` fit in 128 bits.
const BITS: u32 = 120;

/// `exp(-i/n)` in units of `2^-120`, within 100 units: each term is cut by less than two.
const fn series(i: u128, n: u128) -> u128 {
    let (mut term, mut sum, mut k) = (1_u128 << BITS, 1_u128 << BITS, 1);
    while term > 0 {
        term = term * i / (n * k);
        sum = if k % 2 == 1 { sum - term } else { sum + term };
        k += 1;
    }
    sum
}

const fn fractions(n: u128) -> [u64; 64] {
    let mut table = [u64::MAX; 64];
    let mut i = 1;
    while i < 64 {
        table[i] = high_half(series(i as u128, n) << (128 - BITS));
        i += 1;
    }
    table
}

const fn few_points() -> [u64; 14] {
    let mut table = [0; 14];
    let (mut term, mut sum, mut n) = (series(1, FEW), 0, 0);
    while n < table.len() {
        sum += term;
        table[n] = high_half(sum << (128 - BITS));
        n += 1;
        term /= FEW * n as u128;
    }
    table
}

/// Each weight is that before it times a ratio that falls geometrically; every product is cut by less than two units of `2^-128`.
const fn up_to_block() -> [u64; BLOCKS] {
    let twice_variance = 2 * (BLOCKS_PER_DEVIATION * BLOCKS_PER_DEVIATION) as u128;
    let shift = 128 - BITS;
    let step = series(2, twice_variance) << shift;
    let (mut weight, mut ratio) = (1 << BITS, series(1, twice_variance) << shift);
    let (mut sums, mut all, mut i) = ([0_u128; BLOCKS], 0, 0);
    // Until weights are less than a unit.
    while weight > 0 {
        all += weight;
        if i < BLOCKS {
            sums[i] = all;
        }
        weight = multiply_high_wide(weight, ratio);
        ratio = multiply_high_wide(ratio, step);
        i += 1;
    }
    let (mut table, mut i) = ([0; BLOCKS], 0);
    while i < BLOCKS {
        table[i] = fraction(sums[i], all);
        i += 1;
    }
    table
}

/// `floor(2^64 a / b)` for `a < b < 2^127`, digit after digit.
const fn fraction(a: u128, b: u128) -> u64 {
    let (mut rest, mut digits, mut i) = (a, 0, 0);
    while i < 64 {
        (rest, digits) = (2 * rest, 2 * digits);
        if rest >= b {
            (rest, digits) = (rest - b, digits + 1);
        }
        i += 1;
    }
    digits
}

const fn first_block() -> [u8; 256] {
    let (mut table, mut digits) = ([0; 256], 0);
    while digits < 256 {
        let mut i = 0;
        // A real with these digits is not below what ends here, if that is a unit more.
        while i < BLOCKS && UP_TO_BLOCK[i] < (digits as u64) << 56 {
            i += 1;
        }
        #[allow(clippy::cast_possible_truncation, reason = "fewer than 256 blocks")]
        {
            table[digits] = i as u8;
        }
        digits += 1;
    }
    table
}

/// Powers of `exp(-1)` by repeated multiplication, 128 bits wide so that they stay exact at 64.
const fn whole() -> [u64; 64] {
    let once = series(1, 1) << (128 - BITS);
    let mut table = [u64::MAX; 64];
    let (mut power, mut i) = (once, 1);
    while i < 64 {
        table[i] = high_half(power);
        power = multiply_high_wide(power, once);
        i += 1;
    }
    table
}
