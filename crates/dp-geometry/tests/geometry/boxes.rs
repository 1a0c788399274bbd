use dp_geometry::{GeometryError, PublicBox};
use proptest::prelude::*;

use crate::BOUNDARY;

fn side(min: f64, max: f64) -> Result<PublicBox, GeometryError> {
    PublicBox::new(vec![-1.0, min], vec![1.0, max])
}

#[test]
fn accessors() {
    let domain = PublicBox::new(vec![0.0, -2.0], vec![3.0, 2.0]).unwrap();
    assert_eq!((domain.dim(), domain.min(1), domain.max(1)), (2, -2.0, 2.0));
    assert_eq!((domain.width(1), domain.middle(0), domain.diagonal()), (4.0, 1.5, 5.0));
    assert_eq!(PublicBox::cube(4, -1.0, 2.0).unwrap().diagonal(), 6.0);
}

#[test]
fn bad_bounds_are_refused() {
    use GeometryError as E;
    assert_eq!(PublicBox::cube(0, 0.0, 1.0), Err(E::ZeroDimension));
    assert_eq!(PublicBox::new(vec![0.0], vec![1.0, 2.0]), Err(E::BoundsLength { min: 1, max: 2 }));
    for x in BOUNDARY.into_iter().filter(|x| !x.is_finite()) {
        assert!(matches!(side(x, 1.0), Err(E::NonFiniteBound { dimension: 1, .. })));
        assert!(matches!(side(0.0, x), Err(E::NonFiniteBound { dimension: 1, .. })));
    }
    for x in BOUNDARY.into_iter().filter(|x| x.is_finite()) {
        assert_eq!(side(x, x), Err(E::EmptySide { dimension: 1, min: x, max: x }));
    }
    assert_eq!(side(-0.0, 0.0), Err(E::EmptySide { dimension: 1, min: 0.0, max: 0.0 }));
    assert_eq!(side(2.0, 1.0), Err(E::EmptySide { dimension: 1, min: 2.0, max: 1.0 }));
    let (min, max) = (f64::MIN, f64::MAX);
    assert_eq!(side(min, max), Err(E::WidthOverflow { dimension: 1, min, max }));
    assert_eq!(PublicBox::cube(3, 0.0, max), Err(E::DiagonalOverflow { dim: 3 }));
}

#[test]
fn extreme_but_valid_boxes() {
    let tiny = side(0.0, 5e-324).unwrap();
    assert!(tiny.contains(&[0.0, tiny.middle(1)]));
    assert_eq!(PublicBox::cube(1, 0.0, 5e-324).unwrap().diagonal(), 5e-324);
    let huge = PublicBox::cube(1, f64::MIN / 2.0, f64::MAX / 2.0).unwrap();
    assert_eq!((huge.diagonal(), huge.middle(0)), (f64::MAX, 0.0));
}

#[test]
fn clipping_is_total() {
    let domain = PublicBox::cube(1, -1.0, 3.0).unwrap();
    let clip = |x| domain.clip_coordinate(0, x);
    assert_eq!(clip(f64::NAN), 1.0);
    assert_eq!((clip(f64::INFINITY), clip(f64::NEG_INFINITY)), (3.0, -1.0));
    assert_eq!((clip(f64::MAX), clip(f64::MIN), clip(5e-324)), (3.0, -1.0, 5e-324));
    let mut point = [f64::NAN];
    assert!(!domain.contains(&point));
    domain.clip(&mut point).unwrap();
    assert!(domain.contains(&point));
}

#[test]
fn serde_checks_the_bounds_again() {
    let domain = PublicBox::cube(2, -0.5, 1.0).unwrap();
    let json = serde_json::to_string(&domain).unwrap();
    assert_eq!(json, r#"{"min":[-0.5,-0.5],"max":[1.0,1.0]}"#);
    assert_eq!(serde_json::from_str::<PublicBox>(&json).unwrap(), domain);
    assert!(serde_json::from_str::<PublicBox>(r#"{"min":[1.0],"max":[1.0]}"#).is_err());
}

/// Whatever any one of its coordinates is: the others are ordinary, so nothing else tells that the record is odd.
#[test]
fn a_record_at_once_is_clipped_as_coordinate_by_coordinate() {
    let domain = PublicBox::new(vec![0.0, -5.0, 3.0], vec![1.0, 5.0, 7.0]).unwrap();
    for x in BOUNDARY {
        for odd in 0..3 {
            let mut record = [0.25, 1.0, 5.0];
            record[odd] = x;
            let mut found = [f64::NAN; 3];
            domain.clip_to(&record, &mut found);
            domain.clip(&mut record).unwrap();
            assert_eq!(found, record, "{x} at {odd}");
            assert!(domain.contains(&found));
        }
    }
}

proptest! {
    #[test]
    fn clipped_is_inside_and_nearest(
        a in -1e6..1e6f64,
        width in 1e-3..1e6f64,
        x in prop::num::f64::ANY,
    ) {
        let domain = PublicBox::cube(1, a, a + width).unwrap();
        let clipped = domain.clip_coordinate(0, x);
        prop_assert!(domain.contains(&[clipped]));
        prop_assert_eq!(domain.clip_coordinate(0, clipped), clipped);
        if domain.contains(&[x]) {
            prop_assert_eq!(clipped, x);
        } else if !x.is_nan() {
            prop_assert_eq!(clipped, if x < a { a } else { a + width });
        }
    }
}

proptest! {
    /// Who is hidden within a distance stays hidden within it: clipping brings two records no further apart, in any coordinate, also where
    /// both or one of them lie outside.
    #[test]
    fn clipping_lengthens_no_move(
        sides in prop::collection::vec((-1e9..1e9_f64, 1e-6..1e9_f64), 1..4),
        moves in prop::collection::vec((-3e9..3e9_f64, -3e9..3e9_f64), 4),
    ) {
        let (min, max) = sides.iter().map(|&(low, width)| (low, low + width)).unzip();
        let domain = PublicBox::new(min, max).unwrap();
        for (i, &(a, b)) in moves.iter().take(domain.dim()).enumerate() {
            let (here, there) = (domain.clip_coordinate(i, a), domain.clip_coordinate(i, b));
            prop_assert!((here - there).abs() <= (a - b).abs(), "{a} {b} -> {here} {there}");
        }
    }
}
