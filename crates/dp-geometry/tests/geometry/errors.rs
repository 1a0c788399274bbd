use dp_geometry::{GeometryError, Points, PublicBall, PublicBox};

#[test]
fn messages_say_which_value_and_which_limit() {
    let messages = [
        Points::new(vec![0.0; 7], 3).unwrap_err(),
        Points::new(vec![], 0).unwrap_err(),
        PublicBox::new(vec![0.0], vec![1.0, 2.0]).unwrap_err(),
        PublicBox::new(vec![0.0, 1.0], vec![1.0, f64::NAN]).unwrap_err(),
        PublicBox::new(vec![0.0, 1.0], vec![1.0, 1.0]).unwrap_err(),
        PublicBox::cube(1, f64::MIN, f64::MAX).unwrap_err(),
        PublicBox::cube(5, 0.0, f64::MAX).unwrap_err(),
        PublicBall::new(vec![0.0, f64::INFINITY], 1.0).unwrap_err(),
        PublicBall::new(vec![0.0], -1.0).unwrap_err(),
        GeometryError::Cells { cells: 0 },
        GeometryError::CellTooNarrow { dimension: 2, width: 1e-320, cells: 16 },
        GeometryError::Vertices { dim: 9, level: 3 },
        GeometryError::Projections { got: 33, most: 32 },
        GeometryError::Width { got: -0.0 },
        GeometryError::GridCells { dim: 10, shifts: 4, halvings: 30 },
    ]
    .map(|error| error.to_string());
    let expected = [
        "7 coordinates cannot be cut into rows of 3",
        "the dimension must be at least 1, got 0",
        "a box needs as many upper as lower bounds, got 1 lower, 2 upper",
        "bounds must be finite, got [1.0, NaN] in dimension 1",
        "the lower bound must be below the upper one, got [1.0, 1.0] in dimension 1",
        "the width of a side must be finite, but [-1.7976931348623157e308, \
         1.7976931348623157e308] in dimension 0 is wider than 1.7976931348623157e308",
        "the diagonal of a box must be finite, but these 5 sides make it longer than \
         1.7976931348623157e308",
        "the centre must be finite, got inf in dimension 1",
        "the radius must lie between 1e-150 and 1e150, got -1.0",
        "the number of cells per dimension must lie between 1 and 16777216, got 0",
        "a side of width 1e-320 in dimension 2 is too narrow for 16 cells",
        "(2^3 + 1)^9 vertices: there may be 8 dimensions, 16 levels and 16777216 vertices at most",
        "a key has room for 32 projections, got 33",
        "the width of strips must be a positive finite number that can be divided by, got -0.0",
        "4 (2^30 + 1)^10 cells: there must be at least one, and at most 2^64 - 1 in at most 65536 grids",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn errors_are_std_errors() {
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(GeometryError::ZeroDimension);
    assert!(error.source().is_none());
}
