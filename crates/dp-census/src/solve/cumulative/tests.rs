use super::*;
use crate::solve::random::{self, Shape};

/// The certificate is the proof; the distance is absolute, in groups.
#[test]
fn certified_on_small_random_trees() {
    let mut rng = random::generator(33);
    let shape = Shape { levels: 4, fan_out: 3, bins: 6, weight: 5, groups: 20, noise: 9 };
    for _ in 0..3_000 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        let certificate = certify(&problem, &solve(&problem));
        assert!(certificate.is_optimal_within(1e-6), "{certificate:?} {case:?}");
    }
}
