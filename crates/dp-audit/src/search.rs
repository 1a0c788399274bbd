//! Looking for the worst case: all small cases, and climbing from large ones.

use rand::rngs::ChaCha20Rng;

/// Seeded hill-climbing: keeps a mutation whenever the objective does not fall.
///
/// Sideways steps are taken too, because losses have plateaus. Returns the best case and its value.
pub fn climb<C: Clone>(
    start: C,
    steps: u32,
    rng: &mut ChaCha20Rng,
    mutate: impl Fn(&mut C, &mut ChaCha20Rng),
    objective: impl Fn(&C) -> f64,
) -> (C, f64) {
    let mut best = objective(&start);
    let mut case = start;
    for _ in 0..steps {
        let mut candidate = case.clone();
        mutate(&mut candidate, rng);
        let value = objective(&candidate);
        if value >= best {
            (case, best) = (candidate, value);
        }
    }
    (case, best)
}

/// All multisets of at most `most` out of `kinds` kinds of records, each in ascending order,
/// beginning with the empty one.
///
/// ```
/// assert_eq!(dp_audit::multisets(2, 2), [vec![], vec![0], vec![1], vec![0, 0], vec![0, 1], vec![1, 1]]);
/// ```
pub fn multisets(kinds: usize, most: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    let mut size_begins = 0;
    for _ in 0..most {
        let size_ends = all.len();
        for i in size_begins..size_ends {
            let least = all[i].last().copied().unwrap_or(0);
            all.extend(
                (least..kinds)
                    .map(|kind| [all[i].as_slice(), &[kind]].concat())
                    .collect::<Vec<_>>(),
            );
        }
        size_begins = size_ends;
    }
    all
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Over a plateau to the top, and it says how high that is.
    #[test]
    fn climbing_goes_up_and_over_plateaus() {
        let height = |x: &i32| f64::from(10 - (x - 40).abs().clamp(0, 10) / 2);
        let step = |x: &mut i32, rng: &mut ChaCha20Rng| *x += rng.random_range(-3..=3);
        for seed in 0..5 {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let (top, found) = climb(25, 4_000, &mut rng, step, height);
            assert!((39..=41).contains(&top), "{top}");
            assert!((found - height(&top)).abs() < 1e-15 && found > 9.0, "{found}");
        }
    }

    #[test]
    fn multisets_are_all_of_them_once() {
        for (kinds, most, number) in [(0, 3, 1), (1, 3, 4), (3, 2, 10), (2, 4, 15), (4, 0, 1)] {
            let mut all = multisets(kinds, most);
            assert!(all.iter().all(|one| one.is_sorted() && one.len() <= most));
            all.sort();
            all.dedup();
            assert_eq!(all.len(), number, "{kinds} {most}");
        }
    }
}
