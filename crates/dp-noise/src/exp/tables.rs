//! Powers of `e` in units of `2^-64`, computed by the compiler from the series.

use crate::scaled::{high_half, multiply_high_wide};

/// `floor(2^64 exp(-i))`, except that 1 is held as `2^64 - 1`.
pub(super) static WHOLE: [u64; 64] = whole();
/// The same for `exp(-i / 2^6)`.
pub(super) static COARSE: [u64; 64] = fractions(1 << 6);
/// The same for `exp(-i / 2^12)`.
pub(super) static FINE: [u64; 64] = fractions(1 << 12);

/// `floor(2^64 (1 + 1/1! + .. + 1/n!) / e)`.
pub(super) static UNIT_POISSON: [u64; 21] = unit_poisson();

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

const fn unit_poisson() -> [u64; 21] {
    let mut table = [0; 21];
    let (mut term, mut sum, mut n) = (series(1, 1), 0, 0);
    while n < 21 {
        sum += term;
        table[n] = high_half(sum << (128 - BITS));
        n += 1;
        term /= n as u128;
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
