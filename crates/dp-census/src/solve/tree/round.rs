/// Nonnegative integers that sum to `total`, close to the parts: floors, and the missing units to
/// the largest fractions, the earlier part first.
///
/// The parts should sum to about `total`; if rounding errors have put them off, the difference is
/// spread evenly.
pub(super) fn apportion(parts: &[f64], total: i64, integers: &mut [i64]) {
    let mut missing = total;
    for (integer, part) in integers.iter_mut().zip(parts) {
        *integer = floor(*part);
        missing -= *integer;
    }
    // Hamilton's method of apportionment, or largest remainders: of all integers with this sum, the closest in squares.
    let count = i64::try_from(parts.len()).expect("the number of parts fits");
    if missing > count {
        for integer in integers.iter_mut() {
            *integer += missing / count;
        }
        missing %= count;
    }
    if missing < 0 {
        take_back(parts, integers, -missing);
    } else if missing > 0 {
        let missing = usize::try_from(missing).expect("at most one unit per part");
        let mut order: Vec<u32> = (0..).take(parts.len()).collect();
        if missing < order.len() {
            let fraction = |&i: &u32| parts[i as usize] - parts[i as usize].floor();
            // A selection, not a sort: linear time for thousands of parts.
            order.select_nth_unstable_by(missing - 1, |a, b| {
                fraction(b).total_cmp(&fraction(a)).then(a.cmp(b))
            });
        }
        order[..missing].iter().for_each(|&i| integers[i as usize] += 1);
    }
}

/// Takes units from the parts with the smallest fractions, repeatedly if need be.
fn take_back(parts: &[f64], integers: &mut [i64], mut surplus: i64) {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let fraction = |&i: &usize| parts[i] - parts[i].floor();
    order.sort_by(|a, b| fraction(a).total_cmp(&fraction(b)));
    while surplus > 0 {
        let share = (surplus / i64::try_from(parts.len()).expect("fits")).max(1);
        for &i in &order {
            let taken = share.min(integers[i]).min(surplus);
            integers[i] -= taken;
            surplus -= taken;
        }
    }
}

fn floor(part: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, far above any total")]
    let floor = part.max(0.0).floor() as i64;
    floor.min(super::super::MAX_VALUE)
}

#[cfg(test)]
mod tests {
    use super::apportion;

    fn apportioned<const N: usize>(parts: [f64; N], total: i64) -> [i64; N] {
        let mut integers = [0; N];
        apportion(&parts, total, &mut integers);
        integers
    }

    #[test]
    fn largest_fractions_first() {
        assert_eq!(apportioned([1.5, 0.2, 2.3], 4), [2, 0, 2]);
        assert_eq!(apportioned([0.5, 0.5, 0.5, 0.5], 2), [1, 1, 0, 0]);
        assert!(apportioned([], 0).is_empty());
    }

    #[test]
    fn parts_that_are_off_still_give_the_total() {
        assert_eq!(apportioned([0.0, 0.0], 7), [4, 3]);
        assert_eq!(apportioned([3.0, 4.9, 0.0], 2).iter().sum::<i64>(), 2);
        assert_eq!(apportioned([-1.0, f64::NAN, 1e300], 5).iter().sum::<i64>(), 5);
    }
}
