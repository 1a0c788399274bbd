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
