//! The boundary lists, the properties and the serialised forms of the public types.

#![allow(clippy::float_cmp, reason = "the tests are about exact values")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod balls;
mod boxes;
mod clouds;
mod errors;
mod grids;
mod nested;
mod points;
mod refusals;

/// Numbers at which arithmetic goes wrong first.
const BOUNDARY: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    f64::MAX,
    f64::MIN,
    1e300,
    -1e16,
];

#[test]
fn types_can_be_shared_between_threads() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<dp_geometry::Points>();
    assert_send_sync::<dp_geometry::PointsView<'_>>();
    assert_send_sync::<dp_geometry::PublicBox>();
    assert_send_sync::<dp_geometry::PublicBall>();
    assert_send_sync::<dp_geometry::FixedPointGrid>();
    assert_send_sync::<dp_geometry::NestedGrid>();
    assert_send_sync::<dp_geometry::Cloud>();
    assert_send_sync::<dp_geometry::GeometryError>();
}
