//! Plans as people keep them in files, with changes: each is refused, or releases. None panics.

use dp_audit::hostile::changed_plans;
use dp_combinatorial::set_cover::{
    SetCoverGreedyScaling, SetCoverGreedyScalingSettings, SetCoverSelect, SetCoverSelectSettings,
    SetCoverThresholds, SetCoverThresholdsSettings,
};
use dp_combinatorial::submodular::{
    ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, Extension, Greedy,
    GreedySettings, Objective, Partition, Uniform,
};
use dp_combinatorial::{Budget, ChaCha20Rng, Incidence, Mechanism};
use rand::SeedableRng;
use serde::Serialize;
use serde::de::DeserializeOwned;

const SETS: u32 = 6;

fn users() -> Incidence {
    let lists: Vec<Vec<u32>> =
        (0..90).map(|user| vec![user % SETS, user * user % SETS, user / 20 % SETS]).collect();
    Incidence::from_slices(SETS, lists.iter().map(Vec::as_slice)).expect("sets that there are")
}

/// Of another number of sets than the data have, a plan refuses to release: that is public on both sides.
fn released_or_refused<P: Serialize + DeserializeOwned>(
    plan: &P,
    releases: impl Fn(&P, &mut ChaCha20Rng) -> bool,
) {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let accepted = changed_plans(plan, 600, &mut rng).expect("a plan is read back");
    let refused = 600 - accepted.len();
    let released = accepted.iter().filter(|(plan, _)| releases(plan, &mut rng)).count();
    assert!(released > 20 && refused > 150, "{released} released, {refused} refused");
}

fn budget() -> Budget {
    Budget::new(1.5, 1e-6).expect("valid")
}

#[test]
fn of_covers() {
    let users = users();
    let settings = SetCoverSelectSettings::default();
    let plan = SetCoverSelect::new(SETS, budget(), settings).expect("valid");
    released_or_refused(&plan, |plan, rng| plan.simulate(&users, rng).is_ok());
    let settings = SetCoverThresholdsSettings::default();
    let plan = SetCoverThresholds::new(SETS, 200, budget(), settings).expect("valid");
    released_or_refused(&plan, |plan, rng| plan.simulate(&users, rng).is_ok());
    let settings = SetCoverGreedyScalingSettings::default();
    let plan = SetCoverGreedyScaling::new(SETS, budget(), settings).expect("valid");
    released_or_refused(&plan, |plan, rng| plan.simulate(&users, rng).is_ok());
}

#[test]
fn of_submodular_maximisation() {
    let coverage = Coverage::new(users());
    let (objective, extension): (&dyn Objective, &dyn Extension) = (&coverage, &coverage);
    let three = Uniform::new(SETS as usize, 3).expect("valid");
    let plan = Greedy::new(three, 1, budget(), GreedySettings::default()).expect("valid");
    released_or_refused(&plan, |plan, rng| plan.simulate(objective, rng).is_ok());
    let halves = Partition::new(vec![0, 0, 0, 1, 1, 1], vec![1, 2]).expect("valid");
    let settings = ContinuousGreedySettings { steps: 2, roundings: 3, ..Default::default() };
    let plan = ContinuousGreedy::new(halves, Credits::ranked(1), budget(), settings);
    released_or_refused(&plan.expect("valid"), |plan, rng| plan.simulate(extension, rng).is_ok());
}
