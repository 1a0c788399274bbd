//! Wrong arguments of every public constructor, and what is said about them.

mod k_median;
mod set_cover;
mod submodular;

use rand::SeedableRng;

use crate::k_median::Metric;
use crate::set_cover::{SetCoverSelect, SetCoverSelectSettings};
use crate::submodular::{
    Coverage, Graphic, Greedy, GreedySettings, Laminar, Partition, Transversal, Uniform,
};
use crate::{Budget, ChaCha20Rng, Incidence};

fn said<T, E: std::fmt::Display>(outcome: Result<T, E>) -> String {
    outcome.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

/// What was said, and what should be.
fn assert_refused<const N: usize>(all: [(String, &str); N]) {
    for (said, expected) in all {
        assert_eq!(said, expected);
    }
}

/// What somebody else has written, with the value and the limit, or what is missing.
#[test]
fn wrong_files_are_refused_with_value_and_limit() {
    fn read<T: serde::de::DeserializeOwned>(text: &str) -> String {
        said(serde_json::from_str::<T>(text))
    }
    for (said, wanted) in [
        (read::<Uniform>(r#"{"elements":3,"rank":4}"#), "which is 3, got 4"),
        (read::<Uniform>(r#"{"elements":4294967295,"rank":1}"#), "at most 2^24, got 4294967295"),
        (read::<Uniform>(r#"{"elements":-1,"rank":0}"#), "invalid value: integer `-1`"),
        (read::<Uniform>(r#"{"elements":3}"#), "missing field `rank`"),
        (read::<Uniform>(r#"{"elements":3,"rank":1,"weight":2}"#), "unknown field `weight`"),
        (
            read::<Partition>(r#"{"block_of":[0,2],"capacities":[1]}"#),
            "below the number of capacities, which is 1, got 2",
        ),
        (
            read::<Partition>(r#"{"block_of":[0],"capacities":[]}"#),
            "below the number of capacities, which is 0, got 0",
        ),
        (read::<Partition>(r#"{"block_of":0,"capacities":[1]}"#), "invalid type: integer `0`"),
        (
            read::<Graphic>(r#"{"vertices":2,"edges":[[0,9]]}"#),
            "below the number of vertices, which is 2, got 9",
        ),
        (read::<Graphic>(r#"{"vertices":2,"edges":[[0]]}"#), "invalid length 1"),
        (
            read::<Transversal>(r#"{"slots":1,"fits":[[1]]}"#),
            "below the number of slots, which is 1, got 1",
        ),
        (
            read::<Transversal>(r#"{"slots":1099511627776,"fits":[]}"#),
            "at most 2^24, got 1099511627776",
        ),
        (
            read::<Laminar>(r#"{"elements":3,"groups":[[[0,1],1],[[1,2],1]]}"#),
            "element 1 is in two that are neither",
        ),
        (
            read::<Laminar>(r#"{"elements":1,"groups":[[[1],1]]}"#),
            "below the number of elements, which is 1, got 1",
        ),
    ] {
        assert!(said.contains(wanted), "{said}, not {wanted}");
    }
}

/// What is no element, set, node or base is none: nobody's program ends over it.
#[test]
fn what_is_not_there_counts_as_nothing() {
    use crate::k_median::exact_weights;
    use crate::set_cover::{Cover, CoverCost, exact_cost};
    use crate::submodular::{Chosen, Matroid, exact_value, swap_round};
    use dp_mechanism::{Draws, SecureSource};

    let uniform = Uniform::new(3, 2).expect("valid");
    let partition = Partition::new(vec![0, 0, 1], vec![1, 1]).expect("valid");
    let graphic = Graphic::new(3, vec![(0, 1), (1, 2), (0, 2)]).expect("valid");
    let transversal = Transversal::new(2, vec![vec![0], vec![1], vec![0, 1]]).expect("valid");
    let laminar = Laminar::new(3, vec![(vec![0, 1], 1)]).expect("valid");
    let matroids: [&dyn Matroid; 5] = [&uniform, &partition, &graphic, &transversal, &laminar];
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for matroid in matroids {
        for set in [&[3][..], &[0, usize::MAX], &[0, 0], &[0, 1, 2, 3]] {
            assert!(!matroid.is_independent(set), "{matroid:?} {set:?}");
        }
        let rank = matroid.rank();
        for (base, weight, wanted) in [
            (vec![usize::MAX, 0], 1, format!("have {rank} elements")),
            (vec![0], 1, format!("have {rank} elements")),
            (vec![], 1, format!("have {rank} elements")),
            (matroid.base(), 0, "weight of a base must be at least 1, got 0".to_owned()),
        ] {
            let mut source = SecureSource::new(&mut rng);
            let draws = &mut Draws::unplanned(&mut source);
            let outcome = said(swap_round(matroid, &[(base, weight)], draws));
            assert!(outcome.contains(&wanted), "{outcome}, not {wanted}");
        }
    }
    let incidence = || Incidence::from_slices(2, [&[0_u32][..], &[0, 1], &[]]).expect("two sets");
    let none = CoverCost { sets_used: 0, unserved: 3 };
    assert_eq!(exact_cost(&[u32::MAX, 2], &incidence()), none);
    assert_eq!(exact_cost(&[1, 1, 1, 9], &incidence()).unserved, 2);
    let coverage = Coverage::new(incidence());
    assert_eq!(exact_value(&coverage, &[2, usize::MAX]), 0);
    assert_eq!(exact_value(&coverage, &[0, 2, 0]), exact_value(&coverage, &[0]));
    let metric = Metric::from_points(&[0.0, 1.0, 5.0], 1).expect("three points");
    assert_eq!(exact_weights(&metric, &[0, 3, u32::MAX, 0]), [2, 0, 0]);
    // Releases of other plans, or of nobody: the answers are numbers.
    let one = Budget::new(1.0, 0.0).expect("in range");
    let plan = SetCoverSelect::new(2, one, SetCoverSelectSettings::default()).expect("valid");
    for noisy_gains in [vec![], vec![i64::MIN; 9], vec![i64::MAX; 2]] {
        let cover = Cover { order: vec![7, 7], noisy_gains };
        assert!(plan.post_users_served(&cover).iter().all(|served| served.is_finite()));
    }
    let greedy = Greedy::new(uniform, 1, one, GreedySettings::default()).expect("valid");
    for noisy_gains in [vec![i64::MIN; 3], vec![i64::MAX; 3]] {
        let chosen = Chosen { elements: vec![usize::MAX], noisy_gains };
        assert!(greedy.post_value(&chosen).is_some_and(f64::is_finite));
    }
}

/// Of a solution that is looked at with a metric: nodes that there are not, nobody to serve anyone, weights of another metric.
#[test]
fn solutions_that_do_not_fit_their_metric() {
    use crate::k_median::{Power, exact_cost};
    let line = Metric::from_points(&[0.0, 1.0, 5.0], 1).expect("three points");
    let cost = |weights: &[u64], centres: &[u32]| {
        exact_cost(&line, Power::Median, weights, centres).map_err(|error| error.to_string())
    };
    let refused = [cost(&[1; 3], &[]), cost(&[1; 3], &[0, 3]), cost(&[1; 2], &[0])];
    let want = [
        "the number of centres must be at least 1, got 0",
        "a centre must be below the number of nodes, which is 3, got 3",
        "there must be as many weights as nodes, which are 3, got 2",
    ];
    assert_eq!(refused, want.map(|message| Err(message.to_owned())));
    assert!(cost(&[1; 3], &[1]).is_ok());
    assert_eq!([line.distance(0, 3), line.distance(u32::MAX, 0)], [None; 2]);
    let incidence = Incidence::from_slices(2, [&[0_u32][..], &[0, 1]]).expect("two sets");
    assert!(incidence.sets_of(usize::MAX).is_empty() && incidence.users_of(1 << 40).is_empty());
}
