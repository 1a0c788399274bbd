//! Records in memory, which remember between two questions what they would otherwise work out again.

use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::Private;
use dp_mechanism::passes::{Counted, Next, Question as _};

use super::Question;
use super::question::What;
use crate::dpm::Rows;
use crate::inside::Inside;
use crate::located::Located;
use crate::recentring::{Labels, buckets, exact_sums};
use crate::rings::exact_counts;

/// Asks from the first question to the release: the loop that is a mechanism's `run`.
pub(crate) fn in_memory<S, O>(
    points: Private<PointsView<'_>>,
    (mut state, mut question): (S, Question),
    mut answer: impl FnMut(S, &Counted) -> Next<S, Question, O>,
) -> O {
    let mut memory = points.map(Memory::new);
    let rows = points.map(|points| points.len() as u64);
    loop {
        memory.update(|memory| memory.prepare(&question));
        let entries = memory.as_ref().map(|memory| memory.count(&question));
        let entries = entries.cells(question.entries());
        match answer(state, &Counted { rows, entries }) {
            Next::Ask(next, asked) => (state, question) = (next, asked),
            Next::Done(output) => return output,
        }
    }
}

/// All records, and what they remember. Each answer is what [`Question::count`](dp_mechanism::passes::Question::count) makes of them.
struct Memory<'a> {
    points: PointsView<'a>,
    /// While a tree grows.
    rows: Option<Rows>,
    /// Of a whole tree.
    leaf_of: Vec<u16>,
    /// In rounds.
    located: Option<Located<'a>>,
    /// In ring rounds: the cell of each record, and how many cells there are.
    cells: (Vec<u32>, usize),
    /// Of the box that was asked about last.
    inside: Option<Inside>,
}

impl<'a> Memory<'a> {
    fn new(points: PointsView<'a>) -> Self {
        let (rows, located, inside) = (None, None, None);
        Self { points, rows, leaf_of: vec![], located, cells: (vec![], 0), inside }
    }

    /// Brings what is remembered to where this question is about.
    fn prepare(&mut self, question: &Question) {
        match &question.what {
            What::Rows
            | What::Gaps(_)
            | What::Vertices(_)
            | What::Codes(_)
            | What::PartSums(_)
            | What::Savings(_) => {}
            What::Nest(nest) => self.enter(nest.public_box()),
            What::Sums(sums) => self.enter(&sums.labels.public_box),
            What::GroupSums(sums) => self.enter(&sums.cells.labels.public_box),
            What::Level(level) => {
                if self.rows.is_none() {
                    self.rows = Rows::new(self.points, &level.path);
                }
                if let Some(rows) = &mut self.rows {
                    rows.follow(&level.path);
                }
            }
            What::LeafSums(sums) => {
                let rows = self.rows.take();
                self.leaf_of = rows.map_or_else(Vec::new, |rows| rows.leaves(&sums.path));
            }
            What::Radii(radii) => self.locate(&radii.labels),
            What::RingCells(cells) => {
                let Some(layout) = cells.layout() else {
                    self.cells = (vec![], cells.entries());
                    return;
                };
                let mut found = vec![0; self.points.len()];
                self.locate_each(&cells.labels, &mut found, |point, (centre, distance), cell| {
                    let found = layout.cell((centre as usize, distance), point);
                    #[allow(clippy::cast_possible_truncation, reason = "2^24, or 80 per centre")]
                    {
                        *cell = found as u32;
                    }
                });
                self.cells = (found, cells.entries());
            }
        }
    }

    /// Finds out which records are inside of a box, if that is another one than before.
    fn enter(&mut self, public_box: &PublicBox) {
        if self.inside.as_ref().is_none_or(|inside| inside.public_box() != public_box) {
            self.inside = Some(Inside::of(self.points, public_box));
        }
    }

    /// Finds the centre of each record.
    fn locate(&mut self, labels: &Labels) {
        self.locate_each(labels, &mut vec![(); self.points.len()], |_, _, ()| ());
    }

    /// The same, and [something else](Located::update_each) of each.
    fn locate_each<T: Send>(
        &mut self,
        labels: &Labels,
        found: &mut [T],
        also: impl Fn(&[f64], (u32, f64), &mut T) + Sync,
    ) {
        self.enter(&labels.public_box);
        let mut located = self.hinted(labels);
        if let Some(inside) = &self.inside {
            located.update_each(inside, labels.centres(), labels.tree.is_none(), found, also);
        }
        self.located = Some(located);
    }

    /// Where each record was before, which says where a search begins and changes the time only.
    fn hinted(&mut self, labels: &Labels) -> Located<'a> {
        let centres = labels.centres();
        let mut located = self.located.take().unwrap_or_else(|| {
            let first = match (self.rows.take(), labels.tree.as_ref()) {
                (Some(rows), Some(path)) => rows.leaves(path).into_iter().map(u32::from).collect(),
                _ => vec![0; self.points.len()],
            };
            Located::at(self.points, first)
        });
        match (&labels.moved, &labels.of_cells.0) {
            (Some(moved), _) => located.renumber(moved),
            (None, Some(of_cells)) if of_cells.len() == self.cells.1 => {
                for (label, &cell) in located.labels.iter_mut().zip(&self.cells.0) {
                    *label = of_cells[cell as usize];
                }
            }
            _ => {}
        }
        if labels.tree.is_none() {
            // Of other centres than these, as many as they may be.
            for label in &mut located.labels {
                *label = if (*label as usize) < centres.len() { *label } else { 0 };
            }
        }
        located
    }

    fn count(&self, question: &Question) -> Vec<i64> {
        let located = self.located.as_ref().zip(self.inside.as_ref());
        match (&question.what, &self.rows, located) {
            (What::Gaps(gaps), _, _) => gaps.count(self.points),
            (What::Level(level), Some(rows), _) => rows.histograms(level.first, level.nodes),
            (What::LeafSums(sums), _, _) => sums
                .counter()
                .map_or_else(Vec::new, |leaves| leaves.sums(self.points, &self.leaf_of)),
            (What::Radii(radii), _, Some((located, _))) => {
                buckets(&radii.radii, &located.distances)
            }
            (What::Sums(sums), _, Some((located, inside))) => exact_sums(located, inside, sums),
            (What::Vertices(vertices), _, _) => vertices.sums(self.points),
            (What::Nest(nest), _, _) => {
                self.inside.as_ref().map_or_else(Vec::new, |inside| nest.sums(self.points, inside))
            }
            (What::Savings(savings), _, _) => savings.count(self.points),
            (What::RingCells(cells), _, _) => exact_counts(&self.cells.0, cells.entries()),
            (What::GroupSums(sums), _, Some((located, inside))) => {
                sums.sums(located, inside, &self.cells.0)
            }
            _ => vec![0; question.entries()],
        }
    }
}
