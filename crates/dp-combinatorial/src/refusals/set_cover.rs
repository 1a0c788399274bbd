//! Of orders of sets, and of the sets.

use crate::set_cover::{
    SetCoverGreedyScaling, SetCoverGreedyScalingSettings, SetCoverSelect, SetCoverSelectSettings,
    SetCoverThresholds, SetCoverThresholdsSettings,
};
use crate::{Budget, Certificate, Delta, Incidence, SelectionRule};

use super::{assert_refused, said};

#[test]
#[allow(clippy::too_many_lines, reason = "one entry for each refusal")]
fn wrong_arguments_are_refused_with_value_and_limit() {
    let budget = |epsilon| Budget::new(epsilon, 0.0).expect("in range");
    let one = budget(1.0);
    let approximate = Certificate::Approximate { delta: Delta::new(1e-6).expect("in range") };
    let cover = |sets, settings| SetCoverSelect::new(sets, one, settings);
    let thresholds = |users, settings| SetCoverThresholds::new(9, users, one, settings);
    let scaling = |beta| {
        let settings = SetCoverGreedyScalingSettings { beta, ..Default::default() };
        SetCoverGreedyScaling::new(9, one, settings)
    };
    assert_refused([
        (said(Incidence::from_pairs(3, 0, &[])), "sets must be at least 1, got 0"),
        (said(Incidence::from_slices(0, [[1_u32].as_slice()])), "sets must be at least 1, got 0"),
        (said(cover(0, SetCoverSelectSettings::default())), "sets must be at least 1, got 0"),
        (
            said(cover(9, SetCoverSelectSettings { partial: Some(0), ..Default::default() })),
            "partial must be at least 1, got 0",
        ),
        (
            said(cover(9, SetCoverSelectSettings { partial: Some(10), ..Default::default() })),
            "partial must be at most the number of sets, which is 9, got 10",
        ),
        (
            said(cover(
                9,
                SetCoverSelectSettings { partial: Some(u32::MAX), ..Default::default() },
            )),
            "partial must be at most the number of sets, which is 9, got 4294967295",
        ),
        (
            said(cover(
                9,
                SetCoverSelectSettings {
                    certificate: approximate,
                    rule: SelectionRule::Exponential,
                    ..Default::default()
                },
            )),
            "delta of the certificate must be at most that of the budget, which is 0, got 1e-6",
        ),
        (
            said(cover(
                9,
                SetCoverSelectSettings {
                    certificate: Certificate::Composition,
                    rule: SelectionRule::NoisyMax,
                    ..Default::default()
                },
            )),
            "a noisy maximum without the subsampled certificate is not proved to be private",
        ),
        (
            said(SetCoverSelect::new(9, budget(1e-300), SetCoverSelectSettings::default())),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(SetCoverSelect::new(
                9,
                budget(f64::MIN_POSITIVE / 4.0),
                SetCoverSelectSettings::default(),
            )),
            "epsilon of a sample = 5.562684646268003e-309 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(thresholds(0, SetCoverThresholdsSettings::default())),
            "most_users must be at least 1, got 0",
        ),
        (
            said(SetCoverThresholds::new(0, 9, one, SetCoverThresholdsSettings::default())),
            "sets must be at least 1, got 0",
        ),
        (
            said(thresholds(9, SetCoverThresholdsSettings { ratio: 1.0, ..Default::default() })),
            "ratio must be from 1.001 to 1000, got 1",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { ratio: f64::NAN, ..Default::default() },
            )),
            "ratio must be from 1.001 to 1000, got NaN",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { ratio: f64::INFINITY, ..Default::default() },
            )),
            "ratio must be from 1.001 to 1000, got inf",
        ),
        (
            said(thresholds(9, SetCoverThresholdsSettings { ratio: -0.0, ..Default::default() })),
            "ratio must be from 1.001 to 1000, got -0",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { floor: Some(0.0), ..Default::default() },
            )),
            "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is 5.6890850294570185, got 0",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { floor: Some(f64::NAN), ..Default::default() },
            )),
            "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is 5.6890850294570185, got NaN",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { floor: Some(10.0), ..Default::default() },
            )),
            "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is 5.6890850294570185, got 10",
        ),
        (
            said(thresholds(
                9,
                SetCoverThresholdsSettings { floor: Some(-1e300), ..Default::default() },
            )),
            "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is 5.6890850294570185, got -1e300",
        ),
        (
            said(SetCoverThresholds::new(
                9,
                9,
                budget(1e-300),
                SetCoverThresholdsSettings::default(),
            )),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (said(scaling(0.0)), "beta must be at least 1e-100 and below 1, got 0"),
        (said(scaling(1.0)), "beta must be at least 1e-100 and below 1, got 1"),
        (said(scaling(-0.0)), "beta must be at least 1e-100 and below 1, got -0"),
        (said(scaling(f64::NAN)), "beta must be at least 1e-100 and below 1, got NaN"),
        (said(scaling(1e-300)), "beta must be at least 1e-100 and below 1, got 1e-300"),
        (said(scaling(f64::NEG_INFINITY)), "beta must be at least 1e-100 and below 1, got -inf"),
        (
            said(SetCoverGreedyScaling::new(0, one, SetCoverGreedyScalingSettings::default())),
            "sets must be at least 1, got 0",
        ),
        (
            said(SetCoverGreedyScaling::new(
                9,
                budget(1e-300),
                SetCoverGreedyScalingSettings::default(),
            )),
            "epsilon must be so large that the noise of its parts fits in 64 bits, got 1e-300",
        ),
        (
            said(Incidence::from_pairs(u32::MAX, 3, &[])),
            "users must be at most 2^30, got 4294967295",
        ),
        (
            said(Incidence::from_pairs(3, u32::MAX, &[])),
            "sets must be at most 2^28, got 4294967295",
        ),
        (said(Incidence::from_slices(u32::MAX, [])), "sets must be at most 2^28, got 4294967295"),
    ]);
}
