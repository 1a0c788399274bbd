//! Statistics per region when a record may move by a little, and so from one region to another.

use dp_audit::{Law, Window, exact_law, multisets};
use dp_mechanism::{Noise, Source};

use dp_audit::harness::toys::{count, laplace};
use dp_audit::harness::{Effort, Found};

/// Places on a line, one step of the relation apart, with the border in the middle.
pub(super) const PLACES: usize = 4;

const EPSILON: f64 = 1.0;

/// Records per region, each in the region of its true place.
pub(super) fn counts(records: &[usize]) -> [i64; 2] {
    let right = count(records, |&&place| place >= PLACES / 2);
    [i64::try_from(records.len()).expect("small") - right, right]
}

/// All data sets of one to `most` records, and the same with one of them moved by one place.
pub(super) fn moves(most: usize) -> impl Iterator<Item = (Vec<usize>, Vec<usize>)> {
    multisets(PLACES, most).into_iter().flat_map(|records| {
        (0..records.len()).flat_map(move |i| {
            let records = records.clone();
            (records[i].saturating_sub(1)..=(records[i] + 1).min(PLACES - 1)).map(move |place| {
                let mut moved = records.clone();
                moved[i] = place;
                (records.clone(), moved)
            })
        })
    })
}

/// Noise for one count that changes by one, as if the regions were disjoint data.
pub(super) fn for_one_region() -> Noise {
    laplace(EPSILON)
}

/// Noise for two of them.
pub(super) fn for_two_regions() -> Noise {
    laplace(EPSILON / 2.0)
}

pub(super) fn laplace_counts(effort: Effort, noise: fn() -> Noise) -> Found {
    let mut found = Found::claim(EPSILON);
    let release = |records: &[usize], draws: &mut dyn Source| {
        counts(records).map(|count| draws.noisy(count, noise()))
    };
    let law = |records: &[usize]| -> Law<[i64; 2]> {
        exact_law(Window::new(-8, 10), |draws| release(records, draws)).without_receipt()
    };
    for (here, there) in moves(effort.of(2, 4)) {
        let loss = law(&here).pure_loss(&law(&there));
        found.see(loss, || format!("{here:?} and {there:?}, border between 1 and 2"));
    }
    found
}
