//! Public normal directions, in fixed point, computed where they are needed.

use std::sync::LazyLock;

use crate::PublicCoins;

/// A coordinate of 1 standard deviation.
pub(super) const ONE: i16 = 1 << 12;

/// No coordinate is larger than this, in size.
pub(super) const LARGEST: i16 = 4 * ONE;

/// So many bits of a random word make one coordinate.
const BITS: usize = 12;
/// So many coordinates come from one word.
const PER_WORD: usize = 5;

/// The middle of each of `2^12` parts of the normal law of equal mass, scaled to the variance 1.
static NORMAL: LazyLock<Vec<i16>> = LazyLock::new(normal_table);

/// The directions of one book.
#[derive(Clone, Copy, Debug)]
pub(super) struct Book {
    coins: PublicCoins,
    words: u64,
    normal: &'static [i16; 1 << BITS],
}

impl Book {
    /// Directions of so many coordinates.
    pub(super) fn new(coins: PublicCoins, number: u32, dim: usize) -> Self {
        let normal = NORMAL.as_slice().try_into().expect("the size of the table");
        Self { coins: coins.of(number.into()), words: dim.div_ceil(PER_WORD) as u64, normal }
    }

    /// A coordinate of a direction.
    #[inline]
    pub(super) fn at(&self, symbol: u32, coordinate: usize) -> i16 {
        let word = self.word(symbol, coordinate / PER_WORD);
        self.pick(word, coordinate % PER_WORD)
    }

    /// The inner product of a direction with values from a coordinate on.
    #[inline]
    pub(super) fn product(&self, symbol: u32, first: usize, values: &[i32]) -> i64 {
        let mut sum = 0;
        let (mut block, mut place) = (first / PER_WORD, first % PER_WORD);
        let mut word = self.word(symbol, block);
        for &value in values {
            if place == PER_WORD {
                (block, place) = (block + 1, 0);
                word = self.word(symbol, block);
            }
            sum += i64::from(value) * i64::from(self.pick(word, place));
            place += 1;
        }
        sum
    }

    /// Adds a direction so many times.
    pub(super) fn add(&self, symbol: u32, times: i64, sums: &mut [i64]) {
        for (block, sums) in sums.chunks_mut(PER_WORD).enumerate() {
            let word = self.word(symbol, block);
            for (place, sum) in sums.iter_mut().enumerate() {
                *sum += times * i64::from(self.pick(word, place));
            }
        }
    }

    #[inline]
    fn word(&self, symbol: u32, block: usize) -> u64 {
        self.coins.word(u64::from(symbol) * self.words + block as u64)
    }

    #[inline]
    fn pick(&self, word: u64, place: usize) -> i16 {
        let bits = (word >> (64 - BITS - BITS * place)) & ((1 << BITS) - 1);
        self.normal[bits as usize]
    }
}

/// A public standard normal number.
pub(crate) fn normal(coins: PublicCoins, place: u64) -> f64 {
    let part = coins.word(place) >> (64 - BITS);
    f64::from(NORMAL[usize::try_from(part).expect("12 bits")]) / f64::from(ONE)
}

fn normal_table() -> Vec<i16> {
    let parts = 1_usize << BITS;
    let density = |x: f64| (-0.5 * x * x).exp();
    // Means of the parts above the middle, up to a common factor.
    let edges: Vec<f64> = (0..=parts / 2)
        .map(|i| if i == parts / 2 { f64::INFINITY } else { quantile(i as f64 / parts as f64) })
        .collect();
    let means: Vec<f64> =
        edges.windows(2).map(|edge| density(edge[0]) - density(edge[1])).collect();
    let square = means.iter().map(|x| x * x).sum::<f64>() / means.len() as f64;
    #[allow(clippy::cast_possible_truncation, reason = "below 4 standard deviations")]
    let upper: Vec<i16> =
        means.iter().map(|x| (x / square.sqrt() * f64::from(ONE)).round() as i16).collect();
    upper.iter().rev().map(|x| -x).chain(upper.iter().copied()).collect()
}

/// Where the normal law has this mass between 0 and there, by bisection.
fn quantile(mass: f64) -> f64 {
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let below = 0.5 * libm::erf(middle * std::f64::consts::FRAC_1_SQRT_2);
        if below < mass { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_moments_of_the_normal_law() {
        let table = normal_table();
        let moment = |power: i32| {
            let value = |x: &i16| (f64::from(*x) / f64::from(ONE)).powi(power);
            table.iter().map(value).sum::<f64>() / table.len() as f64
        };
        let close = |power, value: f64, within| (moment(power) - value).abs() < within;
        assert!(
            close(1, 0.0, 1e-12) && close(2, 1.0, 1e-6) && close(4, 3.0, 0.02),
            "{}",
            moment(4)
        );
        assert!(table.is_sorted() && table.iter().all(|x| x.abs() < LARGEST));
    }

    #[test]
    fn a_direction_is_the_same_however_it_is_read() {
        let book = Book::new(PublicCoins::new(3), 4, 13);
        for symbol in [0, 1, 200] {
            let plain: Vec<i64> = (0..13).map(|j| book.at(symbol, j).into()).collect();
            let mut added = vec![5; 13];
            book.add(symbol, 2, &mut added);
            assert!(added.iter().zip(&plain).all(|(sum, x)| *sum == 5 + 2 * x));
            for first in 0..12 {
                let product: i64 = 3 * plain[first] - 7 * plain[first + 1];
                assert_eq!(book.product(symbol, first, &[3, -7]), product);
            }
        }
    }
}
