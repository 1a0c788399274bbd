//! On which side of every hyperplane each record lies.

use dp_geometry::lsh::{SignProjections, normal_directions};
use dp_geometry::{PointsView, PublicBall};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::passes::add_up;
use crate::public_coins::{Purpose, public_generator};
use crate::sized_sum::InBall;
use crate::table::rows_per_task;

/// Deepest tree whose codes have a table, of 8 MiB.
pub(super) const MOST_COUNTED: usize = 20;

/// Hyperplanes through the centre of the ball, one per level, shared by all parts of that level; asked for the number of records of each code.
///
/// Bit `i` of a code says whether a record is on the positive side of hyperplane `i`: a function of that record and of public numbers. Records
/// outside of the ball are clipped to it first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Codes {
    ball: PublicBall,
    /// Row-major.
    normals: Vec<f64>,
}

impl Codes {
    pub(super) fn new(ball: PublicBall, depth: usize, public_seed: u64) -> Self {
        let mut rng = public_generator(public_seed, Purpose::Hyperplanes);
        Self { normals: normal_directions(depth, ball.dim(), &mut rng), ball }
    }

    pub(crate) fn dim(&self) -> usize {
        self.ball.dim()
    }

    pub(super) fn ball(&self) -> &PublicBall {
        &self.ball
    }

    fn depth(&self) -> usize {
        self.normals.len() / self.dim()
    }

    pub(crate) fn entries(&self) -> usize {
        1 << self.depth().min(MOST_COUNTED)
    }

    /// None if this is no question of a plan.
    fn planes(&self) -> Option<SignProjections> {
        SignProjections::new(PointsView::new(&self.normals, self.dim()).ok()?).ok()
    }

    pub(super) fn coder(&self) -> Option<Coder> {
        let residual = vec![0.0; self.dim()];
        Some(Coder { ball: self.ball.clone(), planes: self.planes()?, residual })
    }

    pub(crate) fn counter(&self) -> Option<CodeCounter> {
        (self.depth() <= MOST_COUNTED).then_some(CodeCounter(self.coder()?))
    }

    /// A record has one code.
    pub(crate) fn is_possible(rows: u64, entries: &[i64]) -> bool {
        add_up(entries) == Some(rows)
    }

    /// The code of each record.
    pub(super) fn of(&self, points: PointsView<'_>) -> Vec<u32> {
        let (dim, rows) = (points.dim(), rows_per_task(points.len()));
        let (in_ball, planes) = (InBall::new(&self.ball), self.planes().expect("of this plan"));
        let mut codes = vec![0; points.len()];
        codes.par_chunks_mut(rows).zip(points.coords().par_chunks(rows * dim)).for_each(
            |(codes, rows)| {
                let mut residual = vec![0.0; dim];
                for (code, row) in codes.iter_mut().zip(rows.chunks_exact(dim)) {
                    in_ball.residual(row, &mut residual);
                    *code = planes.key(&residual, planes.planes());
                }
            },
        );
        codes
    }
}

/// Finds the code of one record after the other.
pub(super) struct Coder {
    ball: PublicBall,
    planes: SignProjections,
    /// Of the last record.
    pub(super) residual: Vec<f64>,
}

impl Coder {
    #[inline]
    pub(super) fn code(&mut self, row: &[f64]) -> u32 {
        InBall::new(&self.ball).residual(row, &mut self.residual);
        self.planes.key(&self.residual, self.planes.planes())
    }
}

pub(crate) struct CodeCounter(Coder);

impl CodeCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        entries[self.0.code(row) as usize] += 1;
    }
}
