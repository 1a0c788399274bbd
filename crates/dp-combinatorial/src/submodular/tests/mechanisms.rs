//! The private mechanisms: settings, shapes, utility, receipts.

use approx::assert_abs_diff_eq;
use dp_accounting::{Budget, Delta};
use dp_mechanism::{Algorithm, Certificate, Mechanism, SecureSource, SelectionRule};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::super::matroid::tests::examples;
use super::super::*;
use crate::{CombinatorialError, Incidence};

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn uniform(m: usize, k: usize) -> Uniform {
    Uniform::new(m, k).expect("valid")
}

/// Set `i` of ten has `100 (i + 1)` users, and nobody is in two.
fn staircase() -> Coverage {
    let users: Vec<[u32; 1]> = (0..10).flat_map(|i| vec![[i]; 100 * (i as usize + 1)]).collect();
    Coverage::new(Incidence::from_slices(10, users.iter().map(|u| &u[..])).expect("sets"))
}

const RULES: [SelectionRule; 3] =
    [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::NoisyMax];

#[test]
fn far_apart_gains_are_picked_in_their_order_by_all_rules() {
    let objective = staircase();
    for rule in RULES {
        let greedy = Greedy::new(
            uniform(10, 4),
            1,
            budget(3.0),
            GreedySettings { rule, ..Default::default() },
        )
        .unwrap();
        let rng = &mut ChaCha20Rng::seed_from_u64(2);
        let chosen = greedy.simulate(&objective, rng).unwrap().output;
        assert_eq!(chosen.elements, [9, 8, 7, 6]);
        let estimate = greedy.post_value(&chosen);
        assert_eq!(estimate.is_some(), rule == SelectionRule::NoisyMax);
        // 3,400 users, of whom a share of .95 takes part: a standard deviation of 14.
        assert!(estimate.is_none_or(|value| (value - 3_400.0).abs() < 100.0), "{estimate:?}");
    }
    let picks = exact_greedy(&objective, &uniform(10, 4));
    assert_eq!(picks, [9, 8, 7, 6]);
}

#[test]
fn a_single_pick_takes_all_records_and_more_picks_take_a_sample() {
    let receipt = |k| {
        Greedy::new(uniform(9, k), 1, budget(1.0), GreedySettings::default()).unwrap().receipt()
    };
    assert!(!receipt(1).to_string().contains("sample"), "{}", receipt(1));
    assert!(receipt(2).to_string().contains("one secret sample"), "{}", receipt(2));
    let one = Greedy::new(uniform(9, 1), 5, budget(1.0), GreedySettings::default()).unwrap();
    assert_abs_diff_eq!(one.rate(), 0.2, epsilon = 1e-8);
}

#[test]
fn what_was_declared_is_held_against_the_objective() {
    let objective = staircase();
    let refused = |m, most| {
        let greedy =
            Greedy::new(uniform(m, 2), most, budget(1.0), GreedySettings::default()).unwrap();
        let answer = greedy.check(&Greedy::<Uniform>::shape(&(&objective as &dyn Objective)));
        let continuous = ContinuousGreedy::new(
            uniform(m, 2),
            Credits::ranked(1),
            budget(1.0),
            ContinuousGreedySettings::default(),
        );
        let other = continuous
            .unwrap()
            .check(&ContinuousGreedy::<Uniform>::shape(&(&objective as &dyn Extension)));
        assert_eq!(answer.is_err(), other.is_err());
        answer.is_err()
    };
    assert!(!refused(10, 1) && refused(11, 1) && refused(9, 1));
    let heavy = Coverage::weighted(objective.incidence().clone(), |_| 1, 2).unwrap();
    let greedy = Greedy::new(uniform(10, 2), 1, budget(1.0), GreedySettings::default()).unwrap();
    let message = greedy
        .check(&Greedy::<Uniform>::shape(&(&heavy as &dyn Objective)))
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "most credit of the objective must be at most what was declared, which is 1, got 2"
    );
    let records: Vec<super::Record> = Vec::new();
    let sampled = super::sampled(&records, super::best, 5);
    for (declared, refused) in [(4, true), (5, false)] {
        let credits = Credits::sampled(super::MOST.into(), declared);
        let plan = ContinuousGreedy::new(
            uniform(super::ELEMENTS, 2),
            credits,
            budget(1.0),
            ContinuousGreedySettings::default(),
        );
        let shape = ContinuousGreedy::<Uniform>::shape(&(&sampled as &dyn Extension));
        assert_eq!(plan.unwrap().check(&shape).is_err(), refused, "{declared} samples");
    }
}

#[test]
fn bad_settings_are_refused_by_name() {
    let zero = |name| CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" };
    let built =
        |m, k, most| Greedy::new(uniform(m, k), most, budget(1.0), GreedySettings::default());
    assert_eq!(built(3, 0, 1).unwrap_err(), zero("elements to choose"));
    assert_eq!(built(0, 0, 1).unwrap_err(), zero("elements to choose"));
    assert!(Uniform::new(3, 4).is_err());
    assert!(built(3, 2, 0).is_err() && built(3, 2, u64::MAX).is_err());
    let delta = Delta::new(1e-5).unwrap();
    let greedy = |certificate, rule| {
        Greedy::new(
            uniform(5, 2),
            1,
            budget(1.0),
            GreedySettings { certificate: Some(certificate), rule },
        )
    };
    let approximate = |delta| Certificate::Approximate { delta };
    assert!(greedy(approximate(delta), SelectionRule::Exponential).is_err());
    let delta = Delta::new(1e-6).unwrap();
    assert!(greedy(approximate(delta), SelectionRule::Exponential).is_ok());
    assert!(greedy(approximate(delta), SelectionRule::PermuteAndFlip).is_err());
    assert!(greedy(Certificate::Composition, SelectionRule::NoisyMax).is_err());
    let continuous =
        |settings| ContinuousGreedy::new(uniform(5, 2), Credits::ranked(1), budget(1.0), settings);
    assert_eq!(
        continuous(ContinuousGreedySettings { steps: 0, ..Default::default() }).unwrap_err(),
        zero("steps")
    );
    assert_eq!(
        continuous(ContinuousGreedySettings { roundings: 0, ..Default::default() }).unwrap_err(),
        zero("roundings")
    );
    assert!(
        continuous(ContinuousGreedySettings { steps: u32::MAX, ..Default::default() }).is_err()
    );
    for share in [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY] {
        assert!(
            continuous(ContinuousGreedySettings { rounding_share: share, ..Default::default() })
                .is_err(),
            "{share}"
        );
    }
}

/// Elements of one parity, which is no matroid; too large to be told when the plan is built.
#[derive(Clone, Debug)]
struct OneParity(usize);

impl Matroid for OneParity {
    fn elements(&self) -> usize {
        self.0
    }

    fn can_add(&self, set: &[usize], element: usize) -> bool {
        !set.contains(&element) && set.iter().all(|other| other % 2 == element % 2)
    }
}

#[test]
fn an_oracle_that_is_no_matroid_is_told_if_small_and_harmless_if_large() {
    let refused = Greedy::new(OneParity(9), 1, budget(1.0), GreedySettings::default());
    assert!(matches!(refused, Err(CombinatorialError::NotAMatroid { .. })));
    let users: [&[u32]; 3] = [&[1], &[3, 12], &[12]];
    let objective = Coverage::new(Incidence::from_slices(13, users).unwrap());
    let greedy = Greedy::new(OneParity(13), 1, budget(1.0), GreedySettings::default()).unwrap();
    let continuous = ContinuousGreedy::new(
        OneParity(13),
        Credits::ranked(1),
        budget(1.0),
        ContinuousGreedySettings::default(),
    )
    .unwrap();
    for seed in 0..20 {
        let rng = &mut ChaCha20Rng::seed_from_u64(seed);
        let chosen = greedy.simulate(&objective, rng).unwrap().output.elements;
        assert!(chosen.len() == 7 || chosen.len() == 6);
        let rounded = continuous.simulate(&objective, rng).unwrap().output;
        assert_eq!(rounded.bases.len(), 4);
    }
}

#[test]
fn constraints_hold_and_nobody_is_enough() {
    for matroid in examples() {
        let m = u32::try_from(matroid.elements()).expect("small");
        let users: Vec<[u32; 2]> = (0..40).map(|i| [i % m, (i * i) % m]).collect();
        for n in [0, 1, 40] {
            let lists = users[..n].iter().map(|user| &user[..]);
            let objective = Coverage::new(Incidence::from_slices(m, lists).unwrap());
            let rng = &mut ChaCha20Rng::seed_from_u64(7);
            let greedy = Greedy::new(&*matroid, 1, budget(1.0), GreedySettings::default()).unwrap();
            let chosen = greedy.simulate(&objective, rng).unwrap().output.elements;
            for roundings in [1, 3] {
                let plan = ContinuousGreedy::new(
                    &*matroid,
                    Credits::ranked(1),
                    budget(1.0),
                    ContinuousGreedySettings { steps: 3, roundings, ..Default::default() },
                )
                .unwrap();
                let rounded = plan.simulate(&objective, rng).unwrap().output;
                for base in rounded.bases.iter().chain([&rounded.elements, &chosen]) {
                    assert!(base.len() == matroid.rank() && matroid.is_independent(base));
                }
            }
        }
    }
}

#[test]
fn continuous_greedy_finds_what_greedy_finds() {
    let objective = staircase();
    let matroid = Partition::new((0..10).map(|i| i / 5).collect(), vec![1, 2]).unwrap();
    let plan = ContinuousGreedy::new(
        matroid,
        Credits::ranked(1),
        budget(4.0),
        ContinuousGreedySettings::default(),
    )
    .unwrap();
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    let rounded = plan.simulate(&objective, rng).unwrap().output;
    assert_eq!(rounded.elements, [4, 8, 9]);

    // The same on samples for an oracle, which here is the coverage itself.
    let users: Vec<usize> = (0..10).flat_map(|i| vec![i; 10 * (i + 1)]).collect();
    let covered = |user: &usize, set: &[usize]| u64::from(set.contains(user));
    let sampled = Sampled::new(Oracle::new(&users, 10, 1, covered).unwrap(), 20, rng).unwrap();
    let credits = Credits::sampled(1, 20);
    let rounded = ContinuousGreedy::new(
        uniform(10, 2),
        credits,
        budget(20.0),
        ContinuousGreedySettings { steps: 2, ..Default::default() },
    )
    .unwrap()
    .simulate(&sampled, rng)
    .unwrap()
    .output;
    let value = exact_value(&sampled, &rounded.elements);
    assert!(value >= 150, "{rounded:?} has {value}");
}

#[test]
fn plans_and_releases_survive_a_file() {
    let delta = Delta::new(1e-7).unwrap();
    let plan = Greedy::new(
        uniform(10, 3),
        4,
        budget(1.0),
        GreedySettings {
            certificate: Some(Certificate::Approximate { delta }),
            rule: SelectionRule::Exponential,
        },
    )
    .unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Greedy<Uniform>>(&text).unwrap(), plan);
    // A file cannot bypass the checks.
    let zero = text.replace("\"most_credit\":4", "\"most_credit\":0");
    assert!(serde_json::from_str::<Greedy<Uniform>>(&zero).is_err());
    let above = text.replace("\"rank\":3", "\"rank\":11");
    assert!(above != text && serde_json::from_str::<Greedy<Uniform>>(&above).is_err());

    let groups = vec![(vec![0, 1, 2], 2), (vec![0, 1], 1)];
    let laminar = Laminar::new(10, groups).unwrap();
    let plan = ContinuousGreedy::new(
        laminar,
        Credits::ranked(9),
        budget(1.0),
        ContinuousGreedySettings::default(),
    )
    .unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<ContinuousGreedy<Laminar>>(&text).unwrap(), plan);
    let release = plan.simulate(&staircase(), &mut ChaCha20Rng::seed_from_u64(1)).unwrap();
    let text = serde_json::to_string(&release.output).unwrap();
    assert_eq!(serde_json::from_str::<Rounded>(&text).unwrap(), release.output);
}

#[test]
fn receipts_stay_within_budgets() {
    for epsilon in [0.01, 0.3, 1.0, 5.0, 40.0] {
        for k in [1, 2, 7] {
            for rule in RULES {
                let receipt = Greedy::new(
                    uniform(9, k),
                    3,
                    budget(epsilon),
                    GreedySettings { rule, ..Default::default() },
                )
                .unwrap()
                .receipt();
                let spent = receipt.pure().expect("pure").get();
                assert!(spent <= epsilon && spent > 0.999 * epsilon, "{epsilon} {k}: {spent}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let users: Vec<u64> = (0..2_000).collect();
    let value = |user: &u64, set: &[usize]| {
        set.iter().map(|&element| user * (element as u64 + 3) % 11).max().unwrap_or(0)
    };
    let results = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let oracle = Oracle::new(&users, 6, 10, value).unwrap();
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let greedy =
                Greedy::new(uniform(6, 3), 10, budget(0.1), GreedySettings::default()).unwrap();
            let chosen = greedy.replay(&oracle, &mut SecureSource::new(&mut rng)).0;
            let sampled = Sampled::new(oracle, 4, &mut rng).unwrap();
            let credits = Credits::sampled(10, 4);
            let plan = ContinuousGreedy::new(
                uniform(6, 2),
                credits,
                budget(0.1),
                ContinuousGreedySettings { steps: 2, ..Default::default() },
            )
            .unwrap();
            (chosen, plan.replay(&sampled, &mut SecureSource::new(&mut rng)).0)
        })
    });
    assert!(results[0] == results[1] && results[1] == results[2]);
}
