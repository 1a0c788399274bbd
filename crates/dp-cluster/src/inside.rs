//! Which records are points of a box already, so that not every pass moves them there.

use dp_geometry::{PointsView, PublicBox};
use rayon::prelude::*;

use crate::table::rows_per_task;

/// A box, and of each record whether it is inside.
pub(crate) struct Inside {
    public_box: PublicBox,
    are: Vec<bool>,
}

impl Inside {
    pub(crate) fn of(points: PointsView<'_>, public_box: &PublicBox) -> Self {
        let (dim, rows) = (points.dim(), rows_per_task(points.len()));
        let mut are = vec![false; points.len()];
        let tasks = are.par_chunks_mut(rows).zip(points.coords().par_chunks(rows * dim));
        tasks.for_each(|(are, rows)| {
            for (is, row) in are.iter_mut().zip(rows.chunks_exact(dim)) {
                *is = public_box.contains(row);
            }
        });
        Self { public_box: public_box.clone(), are }
    }

    pub(crate) fn public_box(&self) -> &PublicBox {
        &self.public_box
    }

    /// The point of the box that a record counts as: itself, or what is written to `room`.
    #[inline]
    pub(crate) fn point<'a>(
        &self,
        number: usize,
        record: &'a [f64],
        room: &'a mut [f64],
    ) -> &'a [f64] {
        if self.are[number] {
            return record;
        }
        self.public_box.clip_to(record, room);
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::adversarial;

    #[test]
    fn points_are_those_of_clipping() {
        for dim in [1, 2, 5] {
            let public_box = PublicBox::cube(dim, -0.5, 10.0).expect("valid");
            let mut seen = [false; 2];
            for (name, points) in adversarial(dim, 60) {
                let inside = Inside::of(points.view(), &public_box);
                for (number, row) in points.view().rows().enumerate() {
                    let mut plain = row.to_vec();
                    public_box.clip(&mut plain).expect("as many coordinates");
                    let mut room = vec![f64::NAN; dim];
                    let point = inside.point(number, row, &mut room);
                    assert_eq!(point, plain, "{name}");
                    seen[usize::from(inside.are[number])] = true;
                }
            }
            assert_eq!(seen, [true; 2]);
        }
    }
}
