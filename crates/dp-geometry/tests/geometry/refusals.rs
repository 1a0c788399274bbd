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
