//! Both ways of searching against the plain loop, bit for bit.

use proptest::prelude::*;

use super::*;
use crate::points::{Points, PointsView};

/// What any way of searching must give: one comparison after the other.
fn plain(point: &[f64], centres: PointsView<'_>) -> TwoNearest {
    let mut best = TwoNearest { label: 0, squared: f64::INFINITY, second_squared: f64::INFINITY };
    for (label, centre) in (0..).zip(centres.rows()) {
        let squared = squared_distance(point, centre);
        if squared < best.squared {
            best = TwoNearest { label, squared, second_squared: best.squared };
        } else if squared < best.second_squared {
            best.second_squared = squared;
        }
    }
    best
}

/// Few distinct coordinates make ties and equal centres common; the last ones are odd.
fn coordinate() -> impl Strategy<Value = f64> {
    let odd = vec![
        -0.0,
        5e-324,
        1e-200,
        1e200,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1.3e154,
        1.4e154,
        1.5e-162,
        1.6e-162,
    ];
    prop_oneof![
        12 => (-4..=4_i8).prop_map(|x| f64::from(x) / 3.0),
        4 => -2.0..2.0_f64,
        1 => prop::sample::select(odd),
    ]
}

proptest! {
    #[test]
    fn table_and_tree_equal_the_plain_loop(
        dim in 1..=9_usize,
        coords in prop::collection::vec(coordinate(), 90),
        centres in prop::collection::vec(coordinate(), 0..500),
        shift in prop_oneof![Just(0.0), Just(1e9 + 0.1)],
    ) {
        let cut = |v: &[f64]| {
            let coords = v[..v.len() / dim * dim].iter().map(|x| x + shift).collect();
            Points::new(coords, dim).expect("whole rows")
        };
        let (points, centres) = (cut(&coords), cut(&centres));
        let table = CentreTable::new(centres.view());
        let (tree, hinted) = (CentreTree::new(centres.view()), HintedTable::new(centres.view()));
        prop_assert_eq!((table.len(), tree.len()), (centres.len(), centres.len()));
        let empty = [table.is_empty(), tree.is_empty(), hinted.is_empty()];
        prop_assert_eq!(empty, [centres.is_empty(); 3]);
        // The centres themselves are points, too: at distance 0, or tied with their copies.
        for point in points.view().rows().chain(centres.view().rows()) {
            let expected = plain(point, centres.view());
            prop_assert_eq!(table.two_nearest(point), expected);
            prop_assert_eq!(tree.two_nearest(point), expected);
            for hint in 0..centres.len().min(40) {
                let found = hinted.nearest_from(point, u32::try_from(hint).unwrap());
                prop_assert_eq!(found, (expected.label, expected.squared));
            }
        }
    }
}

proptest! {
    /// Widths of 0 to 8 lanes after full blocks, rows alone and together.
    #[test]
    fn tables_of_all_widths_hold_plain_distances(
        dim in 1..5usize,
        coords in prop::collection::vec(-9.0..9.0_f64, 4 * 4..4 * 5),
        centres in prop::collection::vec(-9.0..9.0_f64, 0..96),
    ) {
        let cut = |v: &[f64], rows: usize| Points::new(v[..rows * dim].to_vec(), dim).unwrap();
        let points = cut(&coords, 4);
        let centres = cut(&centres, centres.len() / dim);
        let table = CentreTable::new(centres.view());
        let rows = [0, 1, 2, 3].map(|i| &points[i]);
        for centre in centres.view().rows() {
            let together = four_squared_distances(rows, [centre; 4]);
            let alone = rows.map(|row| squared_distance(row, centre)).to_vec();
            prop_assert_eq!(together.to_vec(), alone);
        }
        let mut together = vec![f64::NAN; 4 * table.padded_len()];
        table.distances(rows, &mut together);
        for (number, row) in rows.into_iter().enumerate() {
            let mut alone = vec![f64::NAN; table.padded_len()];
            table.distances([row], &mut alone);
            let mut plain: Vec<f64> =
                centres.view().rows().map(|c| squared_distance(row, c)).collect();
            plain.resize(table.padded_len(), f64::INFINITY);
            prop_assert_eq!(&alone, &plain);
            prop_assert_eq!(&together[number * plain.len()..][..plain.len()], &plain);
        }
    }
}

#[test]
fn runner_up_counts_equal_centres() {
    let centres = Points::new(vec![1.0, 5.0, 1.0, 9.0], 1).unwrap();
    let two = CentreTable::new(centres.view()).two_nearest(&[2.0]);
    assert_eq!((two.label, two.squared, two.second_squared), (0, 1.0, 1.0));
    let alone = CentreTable::new(PointsView::new(&[3.0], 1).unwrap()).two_nearest(&[2.0]);
    assert_eq!((alone.squared, alone.second_squared), (1.0, f64::INFINITY));
}

/// Where the square of a way overflows, or is too small for its digits.
#[test]
fn hints_do_not_matter_where_squares_end() {
    let far = (vec![0.0, 1.4e154], vec![1.3e154], 1);
    let near = ([[1.6e-162; 9], [0.0; 9]].concat(), vec![1.5e-162; 9], 9);
    let odd = (vec![f64::NAN, 0.0, 1e200], vec![1e199], 1);
    for (centres, point, dim) in [far, near, odd] {
        let centres = Points::new(centres, dim).unwrap();
        let (expected, hinted) = (plain(&point, centres.view()), HintedTable::new(centres.view()));
        for hint in 0..centres.len() {
            let found = hinted.nearest_from(&point, u32::try_from(hint).unwrap());
            assert_eq!(found, (expected.label, expected.squared), "{point:?} from {hint}");
        }
    }
}

/// In thousands of dimensions all roundings of one distance may go up and all of another down, which is more than a narrow margin covers.
#[test]
fn hints_do_not_matter_where_many_roundings_go_one_way() {
    let dim = 4_000;
    let half_units = |share: f64| (share * f64::EPSILON).sqrt();
    let first = |x: f64, others: f64| {
        let mut row = vec![others; dim];
        row[0] = x;
        row
    };
    let centres = [vec![0.0; dim], first(2.0, 2.0 * half_units(0.51))].concat();
    let centres = Points::new(centres, dim).unwrap();
    let point = first(1.0 + 1_600.0 * f64::EPSILON, half_units(0.49));
    let (expected, hinted) = (plain(&point, centres.view()), HintedTable::new(centres.view()));
    assert_eq!(expected.label, 1);
    for hint in 0..2 {
        assert_eq!(hinted.nearest_from(&point, hint), (expected.label, expected.squared));
    }
}

/// Far outside of many centres: the hint or one of its neighbours is right, but too far from the point to say so.
#[test]
fn hints_of_far_off_points_end_in_a_search() {
    let line: Vec<f64> = (0..300).map(f64::from).collect();
    let bent: Vec<f64> = (0..300).map(f64::from).flat_map(|x| [x.cos() * x, x.sin() * x]).collect();
    for (centres, points, dim) in
        [(line, vec![-1e6, 1e6, 150.2], 1), (bent, vec![1e5, 1.0, 0.0, 0.0], 2)]
    {
        let centres = Points::new(centres, dim).unwrap();
        let hinted = HintedTable::new(centres.view());
        for point in points.chunks(dim) {
            let expected = plain(point, centres.view());
            for hint in 0..300 {
                assert_eq!(hinted.nearest_from(point, hint), (expected.label, expected.squared));
            }
        }
    }
}
