use dp_geometry::{FixedPointGrid, GeometryError, PublicBox};
use proptest::prelude::*;

use crate::BOUNDARY;

fn grid(min: f64, max: f64, cells: u32) -> FixedPointGrid {
    FixedPointGrid::new(PublicBox::cube(1, min, max).unwrap(), cells).unwrap()
}

#[test]
fn cells_of_a_ruler() {
    let ruler = grid(0.0, 10.0, 10);
    for (x, cell) in [(0.0, 0), (0.999, 0), (1.0, 1), (9.5, 9), (10.0, 9), (-0.0, 0), (5e-324, 0)] {
        assert_eq!(ruler.cell(0, x), cell, "{x}");
    }
    assert_eq!((ruler.cells(), ruler.dim(), ruler.cell_width(0)), (10, 1, 1.0));
    assert_eq!((ruler.coordinate(0, 0.5), ruler.coordinate(0, -1.0)), (0.5, -1.0));
    assert_eq!(ruler.public_box().max(0), 10.0);
    assert!(ruler.coordinate(0, f64::NAN).is_nan());
}

#[test]
fn the_map_is_total() {
    let max = FixedPointGrid::MAX_CELLS;
    for cells in [1, 2, 3, 1 << 20, max] {
        for (low, high) in [(0.0, 1.0), (-1e300, 1e300), (1e16, 1e16 + 4.0), (0.0, 1e-290)] {
            let grid = grid(low, high, cells);
            for x in BOUNDARY {
                let cell = grid.cell(0, x);
                assert!(cell < cells);
                if x.is_nan() {
                    assert_eq!(cell, cells / 2);
                } else {
                    assert_eq!(cell, grid.cell(0, x.clamp(low, high)), "{x} on [{low}, {high}]");
                }
            }
            assert_eq!((grid.cell(0, low), grid.cell(0, high)), (0, cells - 1));
        }
    }
}

#[test]
fn a_row_at_once_equals_one_at_a_time() {
    let domain = PublicBox::new(vec![0.0, -5.0, 3.0], vec![1.0, 5.0, 7.0]).unwrap();
    let grid = FixedPointGrid::new(domain, 1000).unwrap();
    for x in BOUNDARY {
        let mut cells = [0; 3];
        grid.cells_of(&[x, 2.0 * x, x + 3.0], &mut cells);
        assert_eq!(cells, [grid.cell(0, x), grid.cell(1, 2.0 * x), grid.cell(2, x + 3.0)]);
    }
}

#[test]
fn bad_settings_are_refused() {
    let unit = PublicBox::cube(2, 0.0, 1.0).unwrap();
    for cells in [0, FixedPointGrid::MAX_CELLS + 1, u32::MAX] {
        let error = FixedPointGrid::new(unit.clone(), cells).unwrap_err();
        assert_eq!(error, GeometryError::Cells { cells });
    }
    let thin = PublicBox::new(vec![0.0, 0.0], vec![1.0, 5e-324]).unwrap();
    assert_eq!(
        FixedPointGrid::new(thin, 4).unwrap_err(),
        GeometryError::CellTooNarrow { dimension: 1, width: 5e-324, cells: 4 }
    );
}

#[test]
fn serde_checks_the_settings_again() {
    let ruler = grid(0.0, 10.0, 10);
    let json = serde_json::to_string(&ruler).unwrap();
    assert_eq!(json, r#"{"public_box":{"min":[0.0],"max":[10.0]},"cells":10}"#);
    assert_eq!(serde_json::from_str::<FixedPointGrid>(&json).unwrap(), ruler);
    let zero = json.replace("\"cells\":10", "\"cells\":0");
    assert!(serde_json::from_str::<FixedPointGrid>(&zero).is_err());
}

proptest! {
    #[test]
    fn cell_is_monotone_and_in_range(
        min in -1e6..1e6f64,
        width in 1e-3..1e6f64,
        cells in 1..=FixedPointGrid::MAX_CELLS,
        x in prop_oneof![-1e7..1e7f64, prop::num::f64::ANY],
        y in -1e7..1e7f64,
    ) {
        let grid = grid(min, min + width, cells);
        let (a, b) = (grid.cell(0, x), grid.cell(0, y));
        prop_assert!(a < cells && b < cells);
        if x <= y {
            prop_assert!(a <= b);
        } else if x >= y {
            prop_assert!(a >= b);
        }
    }

    #[test]
    fn middles_come_back_to_their_cell(
        min in -1e3..1e3f64,
        width in 1e-1..1e3f64,
        cells in 1..=FixedPointGrid::MAX_CELLS,
        share in 0.0..1.0f64,
    ) {
        let grid = grid(min, min + width, cells);
        let cell = grid.cell(0, min + share * width);
        let middle = grid.coordinate(0, f64::from(cell) + 0.5);
        prop_assert_eq!(grid.cell(0, middle), cell);
        prop_assert!((middle - (min + share * width)).abs() <= 0.501 * grid.cell_width(0));
    }
}
