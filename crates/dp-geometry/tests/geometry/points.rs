use dp_geometry::{GeometryError, Points, PointsView};

use crate::BOUNDARY;

#[test]
fn rows_are_consecutive_slices() {
    let points = Points::new((0..12).map(f64::from).collect(), 3).unwrap();
    assert_eq!((points.len(), points.dim(), points.is_empty()), (4, 3, false));
    assert_eq!(&points[2], [6.0, 7.0, 8.0]);
    let rows = points.view().rows();
    assert_eq!(rows.len(), 4);
    assert!(rows.enumerate().all(|(i, row)| row == &points[i]));
    assert_eq!(points.view().to_points(), points);
    assert_eq!(points.view().coords().len(), 12);
    assert_eq!(points.into_coords().len(), 12);
}

#[test]
fn zero_rows_have_a_dimension() {
    let points = Points::new(Vec::new(), 7).unwrap();
    assert_eq!((points.len(), points.dim(), points.is_empty()), (0, 7, true));
    assert_eq!(points.view().rows().count(), 0);
    assert!(points.view().is_empty() && !Points::new(vec![0.0], 1).unwrap().view().is_empty());
}

#[test]
fn shape_is_checked() {
    assert_eq!(Points::new(vec![1.0], 0), Err(GeometryError::ZeroDimension));
    assert_eq!(
        PointsView::new(&[1.0; 7], 3).unwrap_err(),
        GeometryError::Ragged { coordinates: 7, dim: 3 }
    );
}

#[test]
fn values_are_not_inspected() {
    for x in BOUNDARY {
        let points = Points::new(vec![x; 4], 2).unwrap();
        assert_eq!(points[1][1].to_bits(), x.to_bits());
    }
}

#[test]
fn debug_shows_the_shape_and_no_coordinate() {
    let points = Points::new(vec![4711.5; 6], 2).unwrap();
    assert_eq!(format!("{points:?}"), "Points { len: 3, dim: 2, .. }");
    assert_eq!(format!("{:?}", points.view()), "PointsView { len: 3, dim: 2, .. }");
}

#[test]
fn serde_checks_the_shape_again() {
    let points = Points::new(vec![0.1, 1e-300, -0.0, 7.25], 2).unwrap();
    let json = serde_json::to_string(&points).unwrap();
    assert_eq!(serde_json::from_str::<Points>(&json).unwrap(), points);
    let error = serde_json::from_str::<Points>(r#"{"coords":[1.0,2.0,3.0],"dim":2}"#).unwrap_err();
    assert!(error.to_string().contains("3 coordinates cannot be cut into rows of 2"), "{error}");
}
