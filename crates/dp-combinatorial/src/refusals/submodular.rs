//! Of matroids, values and their maximisation.

use rand::SeedableRng;

use crate::submodular::{
    ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, DenseFacilityLocation,
    FacilityLocation, Graphic, Greedy, GreedySettings, Laminar, Oracle, Partition, Sampled,
    Transversal, Uniform,
};
use crate::{Budget, Certificate, ChaCha20Rng, Delta, Incidence, SelectionRule};

use super::{assert_refused, said};

#[test]
#[allow(clippy::too_many_lines, reason = "one entry for each refusal")]
fn wrong_arguments_are_refused_with_value_and_limit() {
    let budget = |epsilon| Budget::new(epsilon, 0.0).expect("in range");
    let one = budget(1.0);
    let approximate = Certificate::Approximate { delta: Delta::new(1e-6).expect("in range") };
    let pair = |a, b| {
        Partition::new(vec![0, 0], vec![2])
            .and_then(|m| Greedy::new(m, a, b, GreedySettings::default()))
    };
    let uniform = |elements, rank| Uniform::new(elements, rank).expect("in range");
    let continuous =
        |settings| ContinuousGreedy::new(uniform(4, 2), Credits::ranked(1), one, settings);
    let none: [&[(u32, u32)]; 0] = [];
    let records = [(); 3];
    let value = |(): &(), _: &[usize]| 1;
    let incidence = || Incidence::from_slices(2, [[0_u32].as_slice()]).expect("two sets");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    assert_refused([
        (
            said(Uniform::new(3, 4)),
            "rank must be at most the number of elements, which is 3, got 4",
        ),
        (
            said(Uniform::new(0, usize::MAX)),
            "rank must be at most the number of elements, which is 0, got 18446744073709551615",
        ),
        (
            said(Partition::new(vec![0, 3], vec![1, 1])),
            "block must be below the number of capacities, which is 2, got 3",
        ),
        (
            said(Partition::new(vec![usize::MAX], vec![])),
            "block must be below the number of capacities, which is 0, got 18446744073709551615",
        ),
        (
            said(Transversal::new(1, vec![vec![0, 1]])),
            "slot must be below the number of slots, which is 1, got 1",
        ),
        (
            said(Transversal::new(usize::MAX, vec![vec![0]])),
            "slots must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Graphic::new(2, vec![(0, 2)])),
            "end of an edge must be below the number of vertices, which is 2, got 2",
        ),
        (
            said(Graphic::new(0, vec![(0, 0)])),
            "end of an edge must be below the number of vertices, which is 0, got 0",
        ),
        (
            said(Graphic::new(usize::MAX, vec![(0, 1)])),
            "vertices must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Laminar::new(3, vec![(vec![3], 1)])),
            "element must be below the number of elements, which is 3, got 3",
        ),
        (
            said(Laminar::new(3, vec![(vec![0, 1], 1), (vec![1, 2], 1)])),
            "groups must be nested or disjoint: element 1 is in two that are neither",
        ),
        (
            said(Laminar::new(usize::MAX, vec![(vec![0], 1)])),
            "elements must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Greedy::new(uniform(3, 0), 1, one, GreedySettings::default())),
            "elements to choose must be at least 1, got 0",
        ),
        (
            said(Greedy::new(uniform(0, 0), 1, one, GreedySettings::default())),
            "elements to choose must be at least 1, got 0",
        ),
        (
            said(Greedy::new(uniform(3, 2), 0, one, GreedySettings::default())),
            "most credit of a record must be > 0, got 0",
        ),
        (
            said(Greedy::new(uniform(3, 2), u64::MAX, one, GreedySettings::default())),
            "most credit of a record = 1.8446744073709552e19 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(Greedy::new(uniform(3, 2), 1, budget(1e-300), GreedySettings::default())),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(Uniform::new(usize::MAX, 1)),
            "elements must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Greedy::new(
                uniform(3, 2),
                1,
                one,
                GreedySettings { certificate: Some(approximate), ..Default::default() },
            )),
            "delta of the certificate must be at most that of the budget, which is 0, got 1e-6",
        ),
        (
            said(Greedy::new(
                uniform(3, 2),
                1,
                one,
                GreedySettings {
                    certificate: Some(Certificate::Composition),
                    rule: SelectionRule::NoisyMax,
                },
            )),
            "a noisy maximum without the subsampled certificate is not proved to be private",
        ),
        (said(pair(0, one)), "most credit of a record must be > 0, got 0"),
        (
            said(continuous(ContinuousGreedySettings { steps: 0, ..Default::default() })),
            "steps must be at least 1, got 0",
        ),
        (
            said(continuous(ContinuousGreedySettings { steps: u32::MAX, ..Default::default() })),
            "steps times elements to choose must be at most 2^24, got 8589934590",
        ),
        (
            said(continuous(ContinuousGreedySettings { roundings: 0, ..Default::default() })),
            "roundings must be at least 1, got 0",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                roundings: u32::MAX,
                ..Default::default()
            })),
            "roundings must be at most 2^16, got 4294967295",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                rounding_share: 0.0,
                ..Default::default()
            })),
            "rounding share must be above 0 and below 1, got 0",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                rounding_share: 1.0,
                ..Default::default()
            })),
            "rounding share must be above 0 and below 1, got 1",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                rounding_share: f64::NAN,
                ..Default::default()
            })),
            "rounding share must be above 0 and below 1, got NaN",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                rounding_share: f64::INFINITY,
                ..Default::default()
            })),
            "rounding share must be above 0 and below 1, got inf",
        ),
        (
            said(continuous(ContinuousGreedySettings {
                certificate: approximate,
                ..Default::default()
            })),
            "delta of the certificate must be at most that of the budget, which is 0, got 1e-6",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 0),
                Credits::ranked(1),
                one,
                ContinuousGreedySettings::default(),
            )),
            "elements to choose must be at least 1, got 0",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 2),
                Credits::ranked(0),
                one,
                ContinuousGreedySettings::default(),
            )),
            "most credit of a record must be > 0, got 0",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 2),
                Credits::sampled(u64::MAX, usize::MAX),
                one,
                ContinuousGreedySettings::default(),
            )),
            "most credit of a record = 1.8446744073709552e19 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 2),
                Credits::sampled(1, 0),
                one,
                ContinuousGreedySettings::default(),
            )),
            "most credit of a record must be > 0, got 0",
        ),
        (
            said(ContinuousGreedy::new(
                uniform(4, 2),
                Credits::ranked(1),
                budget(1e-300),
                ContinuousGreedySettings::default(),
            )),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (said(Coverage::weighted(incidence(), |_| 1, 0)), "most weight must be at least 1, got 0"),
        (
            said(Coverage::weighted(incidence(), |_| 1, u32::MAX)),
            "most weight must be at most 2^24, got 4294967295",
        ),
        (
            said(DenseFacilityLocation::new(0, vec![1], |_| 0, 1)),
            "elements must be at least 1, got 0",
        ),
        (
            said(DenseFacilityLocation::new(2, vec![1, 2], |_| 0, 0)),
            "most credit must be at least 1, got 0",
        ),
        (said(FacilityLocation::new(0, none, 1)), "elements must be at least 1, got 0"),
        (said(FacilityLocation::new(3, none, 0)), "most credit must be at least 1, got 0"),
        (
            said(FacilityLocation::new(3, none, u32::MAX)),
            "most credit must be at most the largest similarity, which is 16777216, got 4294967295",
        ),
        (said(Oracle::new(&records, 0, 1, value)), "elements must be at least 1, got 0"),
        (
            said(Oracle::new(&records, usize::MAX, 1, value)),
            "elements must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(
                Oracle::new(&records, 1 << 24, 1, value)
                    .and_then(|o| Sampled::new(o, 1 << 30, &mut rng)),
            ),
            "samples times elements must be at most 2^28, got 18014398509481984",
        ),
        (said(Oracle::new(&records, 3, 0, value)), "most credit must be at least 1, got 0"),
        (
            said(Oracle::new(&records, 3, u64::MAX, value)),
            "most credit must be at most 2^24, got 18446744073709551615",
        ),
        (
            said(Oracle::new(&records, 3, 1, value).and_then(|o| Sampled::new(o, 0, &mut rng))),
            "samples must be at least 1, got 0",
        ),
        (
            said(
                Oracle::new(&records, 3, 9, value)
                    .and_then(|o| Sampled::new(o, usize::MAX, &mut rng)),
            ),
            "samples must be so few that samples times most credit is at most 2^30, got 18446744073709551615",
        ),
    ]);
}
