//! Greedy without privacy, against all sets.

use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use super::super::matroid::tests::examples;
use super::super::{Coverage, Objective, exact_greedy, exact_value};
use crate::Incidence;

/// Random users of `m` sets, three sets each.
fn random_coverage(m: u32, users: usize, rng: &mut ChaCha20Rng) -> Coverage {
    let lists: Vec<[u32; 3]> =
        (0..users).map(|_| [(); 3].map(|()| rng.random_range(0..m))).collect();
    Coverage::new(Incidence::from_slices(m, lists.iter().map(|list| &list[..])).expect("sets"))
}

#[test]
fn greedy_is_within_its_factor_of_the_best_base() {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    for matroid in examples() {
        let m = matroid.elements();
        for _ in 0..20 {
            let objective = random_coverage(u32::try_from(m).expect("small"), 30, &mut rng);
            let greedy = exact_value(&objective, &exact_greedy(&objective, &*matroid));
            let best = (0..1_usize << m)
                .map(|set| (0..m).filter(|i| set >> i & 1 == 1).collect::<Vec<usize>>())
                .filter(|set| matroid.is_independent(set))
                .map(|set| exact_value(&objective, &set))
                .max()
                .expect("the empty set");
            assert!(greedy <= best && 2 * greedy >= best, "{matroid:?}: {greedy} of {best}");
        }
    }
}

#[test]
fn ties_go_to_the_first() {
    let lists: [&[u32]; 3] = [&[2], &[1], &[2, 1]];
    let objective = Coverage::new(Incidence::from_slices(4, lists).expect("sets"));
    let matroid = super::super::Uniform::new(4, 4).expect("valid");
    assert_eq!(exact_greedy(&objective, &matroid), [1, 2, 0, 3]);
    assert_eq!(objective.records(), 3);
}
