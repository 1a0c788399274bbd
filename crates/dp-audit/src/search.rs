//! Looking for the worst case.

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
