//! Wrong arguments of every constructor, and what is said about them.

use dp_geometry::lsh::{ShiftedGrids, SignProjections, StableProjections};
use dp_geometry::{Cloud, FixedPointGrid, NestedGrid, Points, PointsView, PublicBall, PublicBox};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

fn said<T, E: std::fmt::Display>(outcome: Result<T, E>) -> String {
    outcome.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

#[test]
#[allow(clippy::too_many_lines, reason = "one entry for each refusal")]
fn wrong_arguments_are_refused_with_value_and_limit() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let side = |min, max| PublicBox::cube(1, min, max);
    let cube = |dim| PublicBox::cube(dim, 0.0, 1.0).expect("a box");
    let cells = |cells| FixedPointGrid::new(cube(2), cells);
    let cloud = |dim, level| Cloud::new(&NestedGrid::new(cube(dim)).expect("wide"), level);
    let shifted = |half: Vec<f64>, shifts, halvings| {
        ShiftedGrids::new(half, shifts, halvings, &mut ChaCha20Rng::seed_from_u64(1))
    };
    let strips = |dim, count, width| {
        StableProjections::new(dim, count, width, &mut ChaCha20Rng::seed_from_u64(1))
    };
    for (said, expected) in [
        (said(Points::new(vec![0.0; 7], 3)), "7 coordinates cannot be cut into rows of 3"),
        (said(Points::new(vec![], 0)), "the dimension must be at least 1, got 0"),
        (
            said(Points::new(vec![1.0], usize::MAX)),
            "1 coordinates cannot be cut into rows of 18446744073709551615",
        ),
        (said(PointsView::new(&[1.0, 2.0], 0)), "the dimension must be at least 1, got 0"),
        (said(PointsView::new(&[1.0, 2.0, 3.0], 2)), "3 coordinates cannot be cut into rows of 2"),
        (said(PublicBox::new(vec![], vec![])), "the dimension must be at least 1, got 0"),
        (
            said(PublicBox::new(vec![0.0], vec![])),
            "a box needs as many upper as lower bounds, got 1 lower, 0 upper",
        ),
        (said(PublicBox::cube(0, 0.0, 1.0)), "the dimension must be at least 1, got 0"),
        (
            said(PublicBox::cube(usize::MAX, 0.0, 1.0)),
            "the dimension must be at most 16777216, got 18446744073709551615",
        ),
        (
            said(PublicBox::cube(1 << 40, 0.0, 1.0)),
            "the dimension must be at most 16777216, got 1099511627776",
        ),
        (said(side(nan, 1.0)), "bounds must be finite, got [NaN, 1.0] in dimension 0"),
        (said(side(0.0, inf)), "bounds must be finite, got [0.0, inf] in dimension 0"),
        (said(side(0.0, nan)), "bounds must be finite, got [0.0, NaN] in dimension 0"),
        (
            said(side(1.0, 0.0)),
            "the lower bound must be below the upper one, got [1.0, 0.0] in dimension 0",
        ),
        (
            said(side(0.0, 0.0)),
            "the lower bound must be below the upper one, got [0.0, 0.0] in dimension 0",
        ),
        (
            said(side(0.0, -0.0)),
            "the lower bound must be below the upper one, got [0.0, -0.0] in dimension 0",
        ),
        (
            said(side(f64::MIN, f64::MAX)),
            "the width of a side must be finite, but [-1.7976931348623157e308, 1.7976931348623157e308] in dimension 0 is wider than 1.7976931348623157e308",
        ),
        (
            said(PublicBox::cube(9, 0.0, f64::MAX)),
            "the diagonal of a box must be finite, but these 9 sides make it longer than 1.7976931348623157e308",
        ),
        (said(PublicBall::new(vec![], 1.0)), "the dimension must be at least 1, got 0"),
        (
            said(PublicBall::new(vec![0.0, nan], 1.0)),
            "the centre must be finite, got NaN in dimension 1",
        ),
        (
            said(PublicBall::new(vec![inf], 1.0)),
            "the centre must be finite, got inf in dimension 0",
        ),
        (
            said(PublicBall::new(vec![0.0], 0.0)),
            "the radius must lie between 1e-150 and 1e150, got 0.0",
        ),
        (
            said(PublicBall::new(vec![0.0], -0.0)),
            "the radius must lie between 1e-150 and 1e150, got -0.0",
        ),
        (
            said(PublicBall::new(vec![0.0], -1.0)),
            "the radius must lie between 1e-150 and 1e150, got -1.0",
        ),
        (
            said(PublicBall::new(vec![0.0], nan)),
            "the radius must lie between 1e-150 and 1e150, got NaN",
        ),
        (
            said(PublicBall::new(vec![0.0], inf)),
            "the radius must lie between 1e-150 and 1e150, got inf",
        ),
        (
            said(PublicBall::new(vec![0.0], 5e-324)),
            "the radius must lie between 1e-150 and 1e150, got 5e-324",
        ),
        (
            said(PublicBall::around(&side(0.0, 1e200).expect("a box"))),
            "the radius must lie between 1e-150 and 1e150, got 5.0000000000000185e199",
        ),
        (
            said(PublicBall::around(&side(0.0, 1e-200).expect("a box"))),
            "the radius must lie between 1e-150 and 1e150, got 5.000000000000019e-201",
        ),
        (
            said(cells(0)),
            "the number of cells per dimension must lie between 1 and 16777216, got 0",
        ),
        (
            said(cells(u32::MAX)),
            "the number of cells per dimension must lie between 1 and 16777216, got 4294967295",
        ),
        (
            said(FixedPointGrid::new(side(0.0, 5e-324).expect("a box"), 16)),
            "a side of width 5e-324 in dimension 0 is too narrow for 16 cells",
        ),
        (
            said(NestedGrid::new(side(0.0, 1e-310).expect("a box"))),
            "a side of width 1e-310 in dimension 0 is too narrow for 2147483648 cells",
        ),
        (
            said(cloud(1, 17)),
            "(2^17 + 1)^1 vertices: there may be 8 dimensions, 16 levels and 16777216 vertices at most",
        ),
        (
            said(cloud(1, u32::MAX)),
            "(2^4294967295 + 1)^1 vertices: there may be 8 dimensions, 16 levels and 16777216 vertices at most",
        ),
        (
            said(cloud(9, 1)),
            "(2^1 + 1)^9 vertices: there may be 8 dimensions, 16 levels and 16777216 vertices at most",
        ),
        (
            said(cloud(8, 16)),
            "(2^16 + 1)^8 vertices: there may be 8 dimensions, 16 levels and 16777216 vertices at most",
        ),
        (said(shifted(vec![], 1, 1)), "the dimension must be at least 1, got 0"),
        (
            said(shifted(vec![1.0], 0, 1)),
            "0 (2^1 + 1)^1 cells: there must be at least one, and at most 2^64 - 1 in at most 65536 grids",
        ),
        (
            said(shifted(vec![1.0], usize::MAX, 1)),
            "18446744073709551615 (2^1 + 1)^1 cells: there must be at least one, and at most 2^64 - 1 in at most 65536 grids",
        ),
        (
            said(shifted(vec![1.0], 1 << 60, 0)),
            "1152921504606846976 (2^0 + 1)^1 cells: there must be at least one, and at most 2^64 - 1 in at most 65536 grids",
        ),
        (
            said(shifted(vec![1.0], 1, u32::MAX)),
            "1 (2^4294967295 + 1)^1 cells: there must be at least one, and at most 2^64 - 1 in at most 65536 grids",
        ),
        (
            said(shifted(vec![1.0; 64], 1, 1)),
            "1 (2^1 + 1)^64 cells: there must be at least one, and at most 2^64 - 1 in at most 65536 grids",
        ),
        (
            said(shifted(vec![0.0], 1, 1)),
            "the lower bound must be below the upper one, got [-0.0, 0.0] in dimension 0",
        ),
        (
            said(shifted(vec![-0.0], 1, 1)),
            "the lower bound must be below the upper one, got [0.0, -0.0] in dimension 0",
        ),
        (
            said(shifted(vec![-1.0], 1, 1)),
            "the lower bound must be below the upper one, got [1.0, -1.0] in dimension 0",
        ),
        (said(shifted(vec![nan], 1, 1)), "bounds must be finite, got [NaN, NaN] in dimension 0"),
        (said(shifted(vec![inf], 1, 1)), "bounds must be finite, got [-inf, inf] in dimension 0"),
        (
            said(shifted(vec![f64::MAX], 1, 1)),
            "the width of a side must be finite, but [-1.7976931348623157e308, 1.7976931348623157e308] in dimension 0 is wider than 1.7976931348623157e308",
        ),
        (said(strips(0, 1, 1.0)), "the dimension must be at least 1, got 0"),
        (
            said(strips(1, usize::MAX, 1.0)),
            "18446744073709551615 directions in 1 dimensions: there may be 134217728 coordinates in all",
        ),
        (
            said(strips(usize::MAX, 2, 1.0)),
            "2 directions in 18446744073709551615 dimensions: there may be 134217728 coordinates in all",
        ),
        (
            said(strips(usize::MAX, 1, 1.0)),
            "1 directions in 18446744073709551615 dimensions: there may be 134217728 coordinates in all",
        ),
        (
            said(strips(1, 1, 0.0)),
            "the width of strips must be a positive finite number that can be divided by, got 0.0",
        ),
        (
            said(strips(1, 1, -0.0)),
            "the width of strips must be a positive finite number that can be divided by, got -0.0",
        ),
        (
            said(strips(1, 1, -1.0)),
            "the width of strips must be a positive finite number that can be divided by, got -1.0",
        ),
        (
            said(strips(1, 1, nan)),
            "the width of strips must be a positive finite number that can be divided by, got NaN",
        ),
        (
            said(strips(1, 1, inf)),
            "the width of strips must be a positive finite number that can be divided by, got inf",
        ),
        (
            said(strips(1, 1, 5e-324)),
            "the width of strips must be a positive finite number that can be divided by, got 5e-324",
        ),
        (
            said(SignProjections::new(Points::new(vec![1.0; 33], 1).expect("rows").view())),
            "a key has room for 32 projections, got 33",
        ),
    ] {
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
        (
            read::<Points>(r#"{"coords":[1,2,3],"dim":2}"#),
            "3 coordinates cannot be cut into rows of 2",
        ),
        (read::<Points>(r#"{"coords":[],"dim":0}"#), "the dimension must be at least 1, got 0"),
        (read::<Points>(r#"{"coords":[1],"dim":-1}"#), "invalid value: integer `-1`"),
        (
            read::<Points>(r#"{"coords":[1],"dim":18446744073709551615}"#),
            "rows of 18446744073709551615",
        ),
        (read::<Points>(r#"{"coords":[1],"dim":1.5}"#), "invalid type: floating point `1.5`"),
        (read::<Points>(r#"{"coords":[1e999],"dim":1}"#), "number out of range"),
        (read::<Points>(r#"{"coords":[null],"dim":1}"#), "invalid type: null"),
        (read::<Points>(r#"{"dim":1}"#), "missing field `coords`"),
        (
            read::<PublicBox>(r#"{"min":[0],"max":[0]}"#),
            "must be below the upper one, got [0.0, 0.0]",
        ),
        (read::<PublicBox>(r#"{"min":[0,1],"max":[1]}"#), "got 2 lower, 1 upper"),
        (read::<PublicBox>(r#"{"min":[],"max":[]}"#), "the dimension must be at least 1, got 0"),
        (read::<PublicBox>(r#"{"min":[3],"max":[-3]}"#), "got [3.0, -3.0] in dimension 0"),
        (
            read::<PublicBox>(r#"{"min":[-1e308],"max":[1.7e308]}"#),
            "wider than 1.7976931348623157e308",
        ),
        (read::<PublicBox>(r#"{"min":[0]}"#), "missing field `max`"),
        (read::<PublicBall>(r#"{"centre":[0],"radius":0}"#), "between 1e-150 and 1e150, got 0.0"),
        (read::<PublicBall>(r#"{"centre":[0],"radius":-2}"#), "between 1e-150 and 1e150, got -2.0"),
        (
            read::<PublicBall>(r#"{"centre":[],"radius":1}"#),
            "the dimension must be at least 1, got 0",
        ),
        (
            read::<PublicBall>(r#"{"centre":[0],"radius":1e200}"#),
            "between 1e-150 and 1e150, got 1e200",
        ),
        (
            read::<FixedPointGrid>(r#"{"public_box":{"min":[0],"max":[1]},"cells":0}"#),
            "between 1 and 16777216, got 0",
        ),
        (
            read::<FixedPointGrid>(r#"{"public_box":{"min":[0],"max":[1]},"cells":4294967295}"#),
            "between 1 and 16777216, got 4294967295",
        ),
        (
            read::<FixedPointGrid>(r#"{"public_box":{"min":[0],"max":[5e-324]},"cells":16}"#),
            "too narrow for 16 cells",
        ),
        (
            read::<NestedGrid>(r#"{"public_box":{"min":[0],"max":[5e-324]}}"#),
            "a side of width 5e-324 in dimension 0",
        ),
        (
            read::<NestedGrid>(r#"{"public_box":{"min":[1],"max":[0]}}"#),
            "got [1.0, 0.0] in dimension 0",
        ),
    ] {
        assert!(said.contains(wanted), "{said}, not {wanted}");
    }
}

/// What takes any number answers with one that means something.
#[test]
fn odd_numbers_have_answers() {
    let odd = [f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 5e-324, 4.0, 1e300, f64::INFINITY];
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let grids = ShiftedGrids::new(vec![1.0, 2.0], 3, 2, &mut rng).expect("valid");
    let strips = StableProjections::new(2, 4, 1.0, &mut rng).expect("valid");
    let square = PublicBox::cube(2, -1.0, 1.0).expect("valid");
    let ball = PublicBall::new(vec![0.0, 0.0], 1.0).expect("valid");
    let grid = FixedPointGrid::new(square.clone(), 8).expect("valid");
    let nested = NestedGrid::new(square.clone()).expect("valid");
    let share = |p: f64| assert!(p.is_nan() || (0.0..=1.0).contains(&p), "{p}");
    for x in odd {
        for planes in [0, 1, 3, 32, usize::MAX] {
            share(SignProjections::collision_probability(x, planes));
        }
        share(strips.collision_probability(x));
        share(grids.collision_probability(&[x, 0.0]));
        let mut point = [x, 0.0];
        square.clip(&mut point).unwrap();
        assert!(square.contains(&point), "{x}");
        let mut point = [x, 0.0];
        ball.clip(&mut point).unwrap();
        assert!(ball.contains(&point), "{x}");
        assert!(grid.cell(0, x) < 8 && (-1.0..=1.0).contains(&square.clip_coordinate(1, x)));
        let (mut positions, mut keys) = ([0; 2], [0; 2]);
        nested.positions(&[x, -x], &mut positions);
        nested.key(&positions, NestedGrid::MAX_LEVEL, &mut keys);
        assert!(keys.iter().all(|key| *key < 1 << NestedGrid::MAX_LEVEL), "{x}");
        let mut cells = [0; 3];
        grids.cells(&[x], &mut cells);
        assert!(cells.iter().all(|cell| *cell < grids.len()), "{x}");
    }
    for cell in [0, grids.len(), u64::MAX] {
        let middle = grids.middle(cell);
        assert!(middle[0].abs() <= 1.0 && middle[1].abs() <= 2.0, "{cell}: {middle:?}");
    }
    let none = [
        ShiftedGrids::cells_of(usize::MAX, 1, 1),
        ShiftedGrids::cells_of(64, 1, 1),
        ShiftedGrids::cells_of(1, usize::MAX, 63),
        ShiftedGrids::cells_of(1, 1, 64),
        ShiftedGrids::cells_of(1, 1, u32::MAX),
    ];
    assert_eq!(none, [None; 5]);
    let none = [(9, 1), (1, 17), (usize::MAX, 0), (8, 16), (1, u32::MAX)];
    assert!(none.iter().all(|&(dim, level)| Cloud::vertices_of(dim, level).is_none()));
}

/// A point with another number of coordinates than the domain: refused with both numbers, left as it was, and inside of nothing.
#[test]
fn points_of_another_dimension() {
    let square = PublicBox::cube(2, -1.0, 1.0).unwrap();
    let ball = PublicBall::new(vec![0.0; 2], 1.0).unwrap();
    for got in [0, 1, 3] {
        let mut point = vec![9.0; got];
        let refused = Err(dp_geometry::GeometryError::PointLength { expected: 2, got });
        assert_eq!([square.clip(&mut point), ball.clip(&mut point)], [refused.clone(), refused]);
        assert_eq!(point, vec![9.0; got]);
        assert!(!square.contains(&vec![0.0; got]) && !ball.contains(&vec![0.0; got]), "{got}");
    }
    let points = Points::new(vec![0.0, 1.0, 2.0, 3.0], 2).unwrap();
    assert_eq!(points.view().get(1), Some(&[2.0, 3.0][..]));
    assert_eq!([2, 1 << 40, usize::MAX].map(|i| points.view().get(i)), [None; 3]);
}
