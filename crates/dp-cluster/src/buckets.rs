//! Between which two of some public radii a distance lies.

/// Between which two radii a distance lies: the number of the radii below it, all of them for what is no number.
#[inline]
fn bucket(radii: &[f64], distance: f64) -> usize {
    radii.partition_point(|&r| r < distance || distance.is_nan())
}

/// Bits of a distance that a table does not look at: it tells sixteen parts of an octave from each other.
const UNSEEN: u32 = 52 - 4;

/// Most parts of a table; 20 octaves have 320.
const PARTS: usize = 1 << 12;

/// [`bucket`] by a table of where to begin: a distance is compared with the one or two radii near it.
pub(crate) struct Buckets {
    radii: Vec<f64>,
    first: usize,
    starts: Vec<usize>,
    /// Whether no part has more than one radius: then one comparison is all.
    is_fine: bool,
}

impl Buckets {
    pub(crate) fn new(radii: Vec<f64>) -> Self {
        let part =
            |radius: Option<&f64>| radius.map_or(0, |radius| (radius.to_bits() >> UNSEEN) as usize);
        let (first, last) = (part(radii.first()), part(radii.last()));
        // Bits are in the order of the numbers where these are not negative.
        let is_table = radii.is_sorted()
            && radii.first().is_some_and(|radius| *radius >= 0.0 && radius.is_sign_positive());
        let parts = if is_table && last - first < PARTS { first..last + 1 } else { 0..0 };
        let from = |part: usize| f64::from_bits((part as u64) << UNSEEN);
        let starts: Vec<usize> = parts.map(|part| bucket(&radii, from(part))).collect();
        let ends = starts.iter().copied().skip(1).chain([radii.len()]);
        let is_fine = starts.iter().zip(ends).all(|(start, end)| end - start <= 1);
        Self { radii, first, starts, is_fine }
    }

    pub(crate) fn radii(&self) -> &[f64] {
        &self.radii
    }

    #[inline]
    pub(crate) fn find(&self, distance: f64) -> usize {
        let part = (distance.to_bits() >> UNSEEN) as usize;
        let Some(&start) = self.starts.get(part.wrapping_sub(self.first)) else {
            return bucket(&self.radii, distance);
        };
        if self.is_fine {
            let next = self.radii.get(start).copied().unwrap_or(f64::INFINITY);
            return start + usize::from(next < distance);
        }
        let below = self.radii[start..].iter().take_while(|radius| **radius < distance);
        start + below.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On, just above and just below each radius, at the ends of all numbers, and with radii that no plan has.
    #[test]
    fn a_table_finds_the_bucket_of_the_search() {
        let usual: Vec<f64> = (-160..=0).map(|i| 3e9 * (f64::from(i) / 8.0).exp2()).collect();
        let twos = (0..22).map(|i| 7.3 * f64::from(1 << i)).collect();
        let widths = (1..96).rev().map(|i| (-0.5 * f64::from(i)).exp2()).collect();
        let odd = [
            vec![],
            vec![0.0],
            vec![0.0, 5e-324, 1.0, 1.0, f64::INFINITY],
            vec![-1.0, 2.0],
            vec![-0.0, 1.0],
            vec![1.0, f64::NAN],
            vec![3.0, 3.0 + 1e-9, 3.0 + 2e-9],
        ];
        for radii in odd.into_iter().chain([usual, twos, widths]) {
            let near = radii.iter().flat_map(|r| [r.next_down(), *r, r.next_up(), r * 1.03]);
            let ends = [0.0, 5e-324, 1e-300, 1e300, f64::INFINITY, f64::NAN, -f64::NAN];
            let table = Buckets::new(radii.clone());
            for distance in near.chain(ends) {
                assert_eq!(table.find(distance), bucket(&radii, distance), "{distance} {radii:?}");
            }
        }
    }
}
