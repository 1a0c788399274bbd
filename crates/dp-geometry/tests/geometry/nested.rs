use dp_geometry::{GeometryError, NestedGrid, PublicBox};
use proptest::prelude::*;

use crate::BOUNDARY;

fn grid(min: f64, max: f64) -> NestedGrid {
    NestedGrid::new(PublicBox::cube(1, min, max).unwrap()).unwrap()
}

fn key(grid: &NestedGrid, x: f64, level: u32) -> u32 {
    let (mut position, mut key) = ([0], [0]);
    grid.positions(&[x], &mut position);
    grid.key(&position, level, &mut key);
    key[0]
}

#[test]
fn the_map_is_total_and_clipping_changes_nothing() {
    for (low, high) in [(0.0, 1.0), (-1e300, 1e300), (1e16, 1e16 + 4.0), (0.0, 1e-290)] {
        let grid = grid(low, high);
        for level in [0, 1, 7, NestedGrid::MAX_LEVEL] {
            let last = u32::MAX >> (32 - level).min(31) & ((1 << level) - 1);
            for x in BOUNDARY {
                let found = key(&grid, x, level);
                assert!(found <= last);
                if x.is_nan() {
                    assert_eq!(found, (1 << level) / 2);
                } else {
                    assert_eq!(found, key(&grid, x.clamp(low, high), level), "{x}");
                }
            }
            assert_eq!((key(&grid, low, level), key(&grid, high, level)), (0, last));
        }
    }
}

#[test]
fn too_narrow_a_box_is_refused() {
    let narrow = PublicBox::cube(2, 0.0, 1e-295).unwrap();
    assert!(matches!(
        NestedGrid::new(narrow),
        Err(GeometryError::CellTooNarrow { dimension: 0, .. })
    ));
}

#[test]
fn the_middle_of_a_cell_is_in_it() {
    let grid = NestedGrid::new(PublicBox::new(vec![-3.0, 5.0], vec![9.0, 6.0]).unwrap()).unwrap();
    for cell in [[0, 0], [3, 5], [7, 7]] {
        let middle = grid.middle(&cell, 3);
        let (mut positions, mut found) = ([0; 2], [0; 2]);
        grid.positions(&middle, &mut positions);
        grid.key(&positions, 3, &mut found);
        assert_eq!(found, cell);
    }
    assert_eq!(grid.middle(&[0, 1], 1), [0.0, 5.75]);
}

/// Also at the finest level, whose number of cells is no `i32`.
#[test]
fn cells_of_every_level_have_a_middle_and_a_width() {
    let grid = NestedGrid::new(PublicBox::cube(1, -4.0, 4.0).unwrap()).unwrap();
    for level in 0..=NestedGrid::MAX_LEVEL {
        let cells = 2_f64.powi(level.cast_signed());
        assert_eq!(grid.cells_per_unit(0, level), cells / 8.0, "{level}");
        let last = (1_u64 << level) - 1;
        let middle = grid.middle(&[u32::try_from(last).unwrap()], level);
        assert_eq!(middle, [4.0 - 4.0 / cells], "{level}");
    }
    // There are no such levels; asking about them is no mistake that ends a program.
    assert_eq!(grid.cells_per_unit(0, 32), 2_f64.powi(29));
    assert!(grid.cells_per_unit(0, u32::MAX).is_infinite());
}

#[test]
fn reading_back_runs_the_checks() {
    let grid = grid(0.0, 8.0);
    let text = serde_json::to_string(&grid).unwrap();
    assert_eq!(serde_json::from_str::<NestedGrid>(&text).unwrap(), grid);
    assert!(serde_json::from_str::<NestedGrid>(&text.replace("8.0", "0.0")).is_err());
}

proptest! {
    /// At borders of cells of every level, and anywhere.
    #[test]
    fn the_cell_above_is_the_key_without_its_last_bit(
        level in 1..=NestedGrid::MAX_LEVEL, at in 0.0..1.0_f64, border in any::<bool>(), step in -1..=1_i64,
    ) {
        let grid = grid(-0.3, 0.7);
        let at = if border { (at * f64::from(1 << level)).floor() / f64::from(1 << level) } else { at };
        let x = -0.3 + at;
        let x = f64::from_bits(x.to_bits().wrapping_add_signed(step));
        prop_assert_eq!(key(&grid, x, level) >> 1, key(&grid, x, level - 1));
    }

    #[test]
    fn keys_are_monotone(a in -2.0..2.0_f64, b in -2.0..2.0_f64, level in 0..=NestedGrid::MAX_LEVEL) {
        let grid = grid(-1.1, 1.3);
        prop_assert!(key(&grid, a.min(b), level) <= key(&grid, a.max(b), level));
    }
}
