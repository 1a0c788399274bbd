//! Where boxes end up, odd data, files, threads.

use dp_accounting::Budget;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::Mechanism;

use super::PrivateBox;
use crate::ClusterError;
use crate::testing::{adversarial, blobs, rng};

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn cube(dim: usize, min: f64, max: f64) -> PublicBox {
    PublicBox::cube(dim, min, max).expect("valid")
}

/// Data between -12 and 12, in boxes that hold it in the middle or in a corner.
#[test]
fn a_wide_box_becomes_one_that_fits() {
    for dim in [1, 2, 5] {
        let (points, _) = blobs(20_000, dim, 4, 9.0, 2);
        for (min, max) in [(-1e3, 1e3), (-1e12, 1e12), (-20.0, 2e4), (-2e4, 20.0)] {
            let plan = PrivateBox::plan(cube(dim, min, max), budget(0.3)).expect("valid");
            for seed in 0..5 {
                let found = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
                let inside = points.view().rows().filter(|row| found.public_box.contains(row));
                let lost = 1.0 - inside.count() as f64 / 2e4;
                let case = format!("{dim}, {min} to {max}: {found:?}, {lost}");
                assert!(lost < 0.05 && (found.share_outside - lost).abs() < 0.1, "{case}");
                assert!(found.public_box.width(0) < 120.0, "{case}");
            }
        }
    }
}

/// A budget that just makes a search sure of a box does so in every run: the number of records is no sum of noisy counts, by which one of eight had kept
/// a box a thousand times too wide.
#[test]
fn a_box_that_is_sure_is_sure_every_time() {
    let (points, _) = blobs(20_000, 5, 4, 9.0, 2);
    let plan = PrivateBox::plan(cube(5, -20.0, 2e4), budget(0.05)).expect("valid");
    for seed in 0..40 {
        let found = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output.public_box;
        assert!(found.width(0) < 200.0, "{seed}: {found:?}");
    }
}

/// With few records, noise could hide most of them: the box stays as it is.
#[test]
fn too_little_data_keeps_the_public_box() {
    let (points, _) = blobs(300, 2, 4, 9.0, 2);
    let public_box = cube(2, -100.0, 100.0);
    let plan = PrivateBox::plan(public_box.clone(), budget(0.05)).expect("valid");
    let kept = (0..40).filter(|&seed| {
        let found = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
        found.public_box == public_box
    });
    assert!(kept.count() >= 36);
}

#[test]
fn odd_data_is_released_like_any_other() {
    for dim in [1, 2, 200] {
        for epsilon in [0.1, 100.0] {
            let plan = PrivateBox::plan(cube(dim, -10.0, 10.0), budget(epsilon)).expect("valid");
            for (name, points) in adversarial(dim, 300) {
                let found = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
                assert!((0.0..=1.0).contains(&found.share_outside), "{name}");
                for i in 0..dim {
                    let (min, max) = (found.public_box.min(i), found.public_box.max(i));
                    assert!(-10.0 <= min && min < max && max <= 10.0, "{name}");
                }
            }
        }
    }
}

#[test]
fn plans_survive_a_file_and_a_file_cannot_bypass_the_checks() {
    let plan = PrivateBox::plan(cube(2, -10.0, 10.0), budget(1.0)).expect("valid");
    let json = serde_json::to_string(&plan).expect("serialisable");
    assert_eq!(serde_json::from_str::<PrivateBox>(&json).expect("own output"), plan);
    let smuggled = json.replace("0.000001", "0.0").replace("1e-6", "0.0");
    assert!(smuggled != json && serde_json::from_str::<PrivateBox>(&smuggled).is_err());
    let error = PrivateBox::plan(cube(2, 0.0, 1e90), budget(1.0)).expect_err("too wide");
    assert!(error.to_string().starts_with("diagonal of the public box must be"), "{error}");
    let points = Points::new(vec![0.0; 3], 3).expect("a row");
    let error = plan.simulate(points.view(), &mut rng(1)).expect_err("wrong shape");
    assert_eq!(error, ClusterError::Dimension { expected: 2, got: 3 });
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let (points, _) = blobs(9_000, 3, 4, 9.0, 5);
    let plan = PrivateBox::plan(cube(3, -1e5, 1e5), budget(1.0)).expect("valid");
    let release = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let release = pool.install(|| plan.simulate(points.view(), &mut rng(6)));
        serde_json::to_string(&release.expect("the shape fits")).expect("serialisable")
    };
    assert_eq!(release(1), release(2));
    assert_eq!(release(1), release(7));
}
