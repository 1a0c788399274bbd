//! Records in memory, which remember between two questions what they would otherwise work out again.

use dp_geometry::PointsView;
use dp_mechanism::Private;
use dp_mechanism::passes::{Counted, Next, Question as _};

use super::Question;
use super::question::What;
use crate::dpm::Rows;
use crate::located::Located;
use crate::recentring::{buckets, exact_sums};

/// Asks from the first question to the release: the loop that is a mechanism's `run`.
pub(crate) fn in_memory<S, O>(
    points: Private<PointsView<'_>>,
    first: (S, Question),
    answer: impl FnMut(S, &Counted) -> Next<S, Question, O>,
) -> O {
    in_memory_near(points, None, first, answer)
}

/// The same; `hints` say for each record near which centre a search for the nearest begins. They change the time only.
pub(crate) fn in_memory_near<S, O>(
    points: Private<PointsView<'_>>,
    hints: Option<Private<Vec<u32>>>,
    (mut state, mut question): (S, Question),
    mut answer: impl FnMut(S, &Counted) -> Next<S, Question, O>,
) -> O {
    let hints = hints.unwrap_or_else(|| points.map(|_| Vec::new()));
    let mut memory = points.zip(hints).map(|(points, hints)| Memory::new(points, hints));
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
    /// Until the first round; empty if there are none.
    hints: Vec<u32>,
    /// In rounds.
    located: Option<Located<'a>>,
}

impl<'a> Memory<'a> {
    fn new(points: PointsView<'a>, hints: Vec<u32>) -> Self {
        Self { points, rows: None, leaf_of: vec![], hints, located: None }
    }

    /// Brings what is remembered to where this question is about.
    fn prepare(&mut self, question: &Question) {
        match &question.what {
            What::Rows | What::Gaps(_) | What::Vertices(_) | What::Sums(_) => {}
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
            What::Radii(radii) => {
                let labels = &radii.labels;
                let located = match self.located.take() {
                    Some(mut located) => {
                        if let Some(moved) = &labels.moved {
                            located.renumber(moved);
                        }
                        located
                    }
                    None => Located::at(self.points, self.first_labels(labels.tree.as_ref())),
                };
                let located = self.located.insert(located);
                located.update(&labels.public_box, labels.centres(), labels.tree.is_none());
            }
        }
    }

    fn first_labels(&mut self, tree: Option<&crate::dpm::Path>) -> Vec<u32> {
        match (self.rows.take(), tree) {
            (Some(rows), Some(path)) => rows.leaves(path).into_iter().map(u32::from).collect(),
            _ if self.hints.len() == self.points.len() => std::mem::take(&mut self.hints),
            _ => vec![0; self.points.len()],
        }
    }

    fn count(&self, question: &Question) -> Vec<i64> {
        match (&question.what, &self.rows, &self.located) {
            (What::Gaps(gaps), _, _) => gaps.count(self.points),
            (What::Level(level), Some(rows), _) => rows.histograms(level.first, level.nodes),
            (What::LeafSums(sums), _, _) => sums
                .counter()
                .map_or_else(Vec::new, |leaves| leaves.sums(self.points, &self.leaf_of)),
            (What::Radii(radii), _, Some(located)) => buckets(&radii.radii, &located.distances),
            (What::Sums(sums), _, Some(located)) => exact_sums(located, sums),
            (What::Vertices(vertices), _, _) => vertices.sums(self.points),
            _ => vec![0; question.entries()],
        }
    }
}
