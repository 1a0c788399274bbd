//! Pairs of neighbouring data sets that checks of clusterings share.

use dp_accounting::AddRemove;
use dp_audit::harness::Effort;
use dp_audit::{Comparison, Neighbours, compare};
use dp_geometry::Points;
use dp_mechanism::{SecureSource, Source};

use crate::dpm::{added_points, families};

/// Sets of points of which one has a point more.
pub(crate) fn one_more<'a>() -> Neighbours<'a, Points> {
    Neighbours::of_records(AddRemove, records)
}

/// The points, bit for bit.
pub(crate) fn records(points: &Points) -> Vec<Vec<f64>> {
    points.view().rows().map(<[f64]>::to_vec).collect()
}

/// Replays `run` on the adversarial library of a shape, with a new point first, in the middle or last,
/// in both directions; the domain is `[-10, 10]^dim`. Hands over each comparison with a description.
pub(crate) fn replay<O: PartialEq + serde::Serialize>(
    effort: Effort,
    check: u64,
    (dim, n): (usize, usize),
    run: impl Fn(&Points, &mut dyn Source) -> O,
    mut visit: impl FnMut(&Comparison, &dyn Fn() -> String),
) {
    let mut rng = effort.rng(check);
    for (name, without) in families(dim, n, &mut rng) {
        for (i, added) in added_points(dim, n, &mut rng).into_iter().enumerate() {
            let middle = without.len() / dim / 2 * dim;
            let (first, last) = without.split_at([0, middle, without.len()][i % 3]);
            let with = [first, &added, last].concat();
            let [a, b] =
                [without.clone(), with].map(|coords| Points::new(coords, dim).expect("whole rows"));
            // Outcomes typical of the set without the point, then of the set with it.
            for (a, b) in [(&a, &b), (&b, &a)] {
                let comparison = compare(&one_more(), &run, a, b, &mut SecureSource::new(&mut rng));
                visit(&comparison, &|| {
                    let text = format!("{n}: {name}, {added:.2?}: {comparison:?}");
                    text.chars().take(400).collect()
                });
            }
        }
    }
}

/// More than 2^16 records and more than 2^17.
pub(crate) const MANY: usize = 140_000;

/// So many in two dimensions, without the last and with it: each at one of few places in the cube of ten around the origin, moved by `place`.
pub(crate) fn many_records(place: impl Fn(f64) -> f64) -> [Points; 2] {
    let record = |i: usize| [(i % 19) as f64, (i % 17) as f64].map(|x| place(x - 9.0));
    let coords: Vec<f64> = (0..MANY).flat_map(record).collect();
    let without = coords[..coords.len() - 2].to_vec();
    [without, coords].map(|coords| Points::new(coords, 2).expect("whole rows"))
}
