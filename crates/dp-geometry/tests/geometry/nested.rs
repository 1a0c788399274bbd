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
    let grid = finer(0.0, 1.0, 2.0, 8.0);
    let text = serde_json::to_string(&grid).unwrap();
    assert_eq!(serde_json::from_str::<NestedGrid>(&text).unwrap(), grid);
    assert!(serde_json::from_str::<NestedGrid>(&text.replace("2.0", "1.0")).is_err());
    // Only with the end of the side it is so wide that the other end is next to that of the side, too.
    let grid = finer(0.0, 3.0, 99.0, 100.0);
    let text = serde_json::to_string(&grid).unwrap();
    assert_eq!(serde_json::from_str::<NestedGrid>(&text).unwrap(), grid);
}

fn finer(low: f64, from: f64, to: f64, high: f64) -> NestedGrid {
    let cube = |min, max| PublicBox::cube(1, min, max).unwrap();
    NestedGrid::finer_in(cube(low, high), cube(from, to)).unwrap()
}

#[test]
fn a_part_has_most_cells_and_the_ends_are_reached() {
    let last = 1_u64 << NestedGrid::POSITION_BITS;
    for (low, from, to, high) in [
        (0.0, 40.0, 60.0, 100.0),
        (-1.0, 0.0, 1e-9, 1e12),
        (-1e300, -2.0, 3.0, 1e300),
        (0.0, 0.0, 1.0, 1.0 + 1e-15),
        (0.0, 0.0, 1.0, 64.0),
        (0.0, 63.0, 64.0, 64.0),
        // No length in common, and all of it.
        (0.0, 70.0, 80.0, 64.0),
        (0.0, -1.0, 65.0, 64.0),
    ] {
        let grid = finer(low, from, to, high);
        let position = |x: f64| {
            let mut position = [0];
            grid.positions(&[x], &mut position);
            position[0]
        };
        assert_eq!((position(low), position(high)), (0, last), "{grid:?}");
        if from < high {
            assert!(position(to.min(high)) - position(from) >= last / 8 * 7, "{grid:?}");
        }
        for x in BOUNDARY {
            let middle = 0.5 * low + 0.5 * high;
            let clamped = position(if x.is_nan() { middle } else { x.clamp(low, high) });
            assert_eq!(position(x), clamped, "{x} {grid:?}");
        }
        for cell in [0, 3, 31, 60, 63] {
            assert_eq!(key(&grid, grid.middle(&[cell], 6)[0], 6), cell, "{grid:?}");
        }
    }
}

/// Beyond a part, pieces of twice the length have as many cells.
#[test]
fn cells_are_wider_farther_away() {
    let grid = finer(0.0, 0.0, 1.0, 64.5);
    // Half a width, one, two, .. up to 32: seven pieces of the sixteenth beyond.
    let ends = [1.0, 1.5, 2.5, 4.5, 8.5, 16.5, 32.5];
    for (piece, end) in (0..).zip(ends) {
        let found = grid.middle(&[((15 * 7 + piece) << 20) / (7 * 16)], 20)[0];
        assert!((found / end - 1.0).abs() < 1e-3, "{found} {end}");
    }
    assert_eq!(grid.cells_per_unit(0, 4), 15.0);
    assert_eq!(grid.finer().map(|part| part.max(0)), Some(1.0));
}

#[test]
fn every_axis_has_the_cells_of_its_own_part() {
    let side = |max: Vec<f64>| PublicBox::new(vec![0.0; 3], max).unwrap();
    let grid = NestedGrid::finer_in(side(vec![64.0; 3]), side(vec![1.0, 8.0, 0.5])).unwrap();
    let cells = [0, 1, 2].map(|axis| grid.cells_per_unit(axis, 4));
    assert_eq!(cells, [15.0, 1.875, 30.0]);
}

/// Next to an end of a side there would be no vertex where a part begins.
#[test]
fn a_part_next_to_an_end_ends_there() {
    let ends = |from, to| {
        let part = finer(0.0, from, to, 100.0).finer().cloned().expect("it has one");
        (part.min(0), part.max(0))
    };
    assert_eq!(ends(0.5, 20.5), (0.0, 20.5));
    assert_eq!(ends(0.7, 20.7), (0.7, 20.7));
    assert_eq!(ends(60.0, 99.0), (60.0, 100.0));
    assert_eq!(ends(1.0, 99.0), (0.0, 100.0));
    for (from, to, begins) in [(1.0, 21.0, 1.0), (0.5, 20.5, 0.0)] {
        let grid = finer(0.0, from, to, 100.0);
        let place = |cell| 2.0 * grid.middle(&[cell], 4)[0] - grid.middle(&[2 * cell + 1], 5)[0];
        let first = grid.middle(&[if begins > 0.0 { 2 } else { 0 }], 5)[0];
        assert!(first > begins && place(1) > begins, "{grid:?}");
        assert_eq!(key(&grid, from.max(begins) + 1e-9, 4), u32::from(begins > 0.0));
    }
}

#[test]
fn a_part_of_another_dimension_or_too_narrow_is_refused() {
    let cube = |dim, max| PublicBox::cube(dim, 0.0, max).unwrap();
    assert_eq!(
        NestedGrid::finer_in(cube(2, 1.0), cube(1, 1.0)),
        Err(GeometryError::BoundsLength { min: 2, max: 1 })
    );
    let narrow = NestedGrid::finer_in(cube(1, 1.0), cube(1, 1e-300));
    assert!(matches!(narrow, Err(GeometryError::CellTooNarrow { dimension: 0, .. })), "{narrow:?}");
}

proptest! {
    #[test]
    fn positions_grow_with_the_coordinate(a in -2.0..2.0_f64, b in -2.0..2.0_f64, from in -1.1..1.3_f64, width in 1e-9..1.0_f64) {
        let grid = finer(-1.1, from, from + width, 1.3);
        let mut found = [[0], [0]];
        grid.positions(&[a.min(b)], &mut found[0]);
        grid.positions(&[a.max(b)], &mut found[1]);
        prop_assert!(found[0] <= found[1]);
    }

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
