//! One type for the questions of all mechanisms here, so that whoever holds records answers any of them.

use std::fmt;

use dp_geometry::PointsView;
use dp_mechanism::passes;
use serde::{Deserialize, Serialize};

use crate::comparison::{Savings, SavingsCounter};
use crate::dpm::{Gaps, LeafCounter, LeafSums, Level, LevelCounter};
use crate::lsh_splits::{CodeCounter, Codes, PartCounter, PartSums};
use crate::map::{VertexCounter, Vertices};
use crate::private_box::{Nest, NestCounter};
use crate::recentring::{Radii, RadiusCounter, SumCounter, Sums};
use crate::rings::{CellCounter, GroupCounter, GroupSums, RingCells};

/// What a pass over records asks. Public: settings and released values only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Of how records are counted: who counts otherwise must not answer.
    counting: u32,
    dim: usize,
    pub(super) what: What,
}

/// The version of how records are counted.
const COUNTING: u32 = 3;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum What {
    /// Nothing but the number of records.
    Rows,
    Gaps(Gaps),
    Level(Level),
    LeafSums(LeafSums),
    Radii(Radii),
    Sums(Sums),
    Vertices(Vertices),
    Nest(Nest),
    RingCells(RingCells),
    GroupSums(GroupSums),
    Codes(Codes),
    PartSums(PartSums),
    Savings(Savings),
}

impl Question {
    pub(crate) fn rows(dim: usize) -> Self {
        Self { counting: COUNTING, dim, what: What::Rows }
    }

    pub(crate) fn gaps(gaps: Gaps) -> Self {
        Self { counting: COUNTING, dim: gaps.dim(), what: What::Gaps(gaps) }
    }

    pub(crate) fn level(level: Level) -> Self {
        Self { counting: COUNTING, dim: level.path.public_box().dim(), what: What::Level(level) }
    }

    pub(crate) fn leaf_sums(sums: LeafSums) -> Self {
        Self { counting: COUNTING, dim: sums.path.public_box().dim(), what: What::LeafSums(sums) }
    }

    pub(crate) fn radii(radii: Radii) -> Self {
        Self { counting: COUNTING, dim: radii.labels.dim(), what: What::Radii(radii) }
    }

    pub(crate) fn sums(sums: Sums) -> Self {
        Self { counting: COUNTING, dim: sums.labels.dim(), what: What::Sums(sums) }
    }

    pub(crate) fn vertices(vertices: Vertices) -> Self {
        Self { counting: COUNTING, dim: vertices.dim(), what: What::Vertices(vertices) }
    }

    pub(crate) fn nest(nest: Nest) -> Self {
        Self { counting: COUNTING, dim: nest.dim(), what: What::Nest(nest) }
    }

    pub(crate) fn ring_cells(cells: RingCells) -> Self {
        Self { counting: COUNTING, dim: cells.dim(), what: What::RingCells(cells) }
    }

    pub(crate) fn group_sums(sums: GroupSums) -> Self {
        Self { counting: COUNTING, dim: sums.cells.dim(), what: What::GroupSums(sums) }
    }

    pub(crate) fn codes(codes: Codes) -> Self {
        Self { counting: COUNTING, dim: codes.dim(), what: What::Codes(codes) }
    }

    pub(crate) fn part_sums(sums: PartSums) -> Self {
        Self { counting: COUNTING, dim: sums.dim(), what: What::PartSums(sums) }
    }

    pub(crate) fn savings(savings: Savings) -> Self {
        Self { counting: COUNTING, dim: savings.dim(), what: What::Savings(savings) }
    }

    /// How many coordinates a record has.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// What is asked, for people.
    pub fn name(&self) -> &'static str {
        match self.what {
            What::Rows => "number of records",
            What::Gaps(_) => "gaps between neighbouring coordinates",
            What::Level(_) => "histograms of the nodes of a level",
            What::LeafSums(_) => "sums of the leaves",
            What::Radii(_) => "distances to the centres",
            What::Sums(_) => "sums around the centres",
            What::Vertices(_) => "shares of the vertices of a map",
            What::Nest(_) => "places in nested boxes",
            What::RingCells(_) => "cells of the rings around the centres",
            What::GroupSums(_) => "sums of groups of cells",
            What::Codes(_) => "sides of hyperplanes",
            What::PartSums(_) => "sums of parts",
            What::Savings(_) => "savings by other centres",
        }
    }
}

/// What it takes to count records for a [`Question`].
pub struct Counter(Counting);

/// Neighbours print the same: it holds the last record's place.
impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter").finish_non_exhaustive()
    }
}

enum Counting {
    Rows,
    Level(LevelCounter),
    Leaves(LeafCounter),
    Radii(RadiusCounter),
    Sums(SumCounter),
    Vertices(VertexCounter),
    Nest(NestCounter),
    RingCells(CellCounter),
    GroupSums(GroupCounter),
    Codes(CodeCounter),
    PartSums(PartCounter),
    Savings(Box<SavingsCounter>),
}

impl passes::Question for Question {
    type Chunk<'a> = PointsView<'a>;
    type Counter = Counter;

    fn counter(&self) -> Option<Counter> {
        let (dim, counting) = match &self.what {
            What::Rows => (self.dim, Counting::Rows),
            What::Gaps(_) => return None,
            What::Level(level) => {
                (level.path.public_box().dim(), Counting::Level(level.counter()?))
            }
            What::LeafSums(sums) => {
                (sums.path.public_box().dim(), Counting::Leaves(sums.counter()?))
            }
            What::Radii(radii) => (radii.labels.dim(), Counting::Radii(radii.counter()?)),
            What::Sums(sums) => (sums.labels.dim(), Counting::Sums(sums.counter()?)),
            What::Vertices(vertices) => (vertices.dim(), Counting::Vertices(vertices.counter()?)),
            What::Nest(nest) => (nest.dim(), Counting::Nest(nest.counter()?)),
            What::RingCells(cells) => (cells.dim(), Counting::RingCells(cells.counter()?)),
            What::GroupSums(sums) => (sums.cells.dim(), Counting::GroupSums(sums.counter()?)),
            What::Codes(codes) => (codes.dim(), Counting::Codes(codes.counter()?)),
            What::PartSums(sums) => (sums.dim(), Counting::PartSums(sums.counter()?)),
            What::Savings(savings) => (savings.dim(), Counting::Savings(savings.counter()?.into())),
        };
        (self.counting == COUNTING && dim == self.dim && dim > 0).then_some(Counter(counting))
    }

    fn entries(&self) -> usize {
        match &self.what {
            What::Rows => 0,
            What::Gaps(_) => Gaps::entries(),
            What::Level(level) => level.entries(),
            What::LeafSums(sums) => sums.middles.len(),
            What::Radii(radii) => radii.entries(),
            What::Sums(sums) => sums.entries(),
            What::Vertices(vertices) => vertices.entries(),
            What::Nest(nest) => nest.entries(),
            What::RingCells(cells) => cells.entries(),
            What::GroupSums(sums) => sums.entries(),
            What::Codes(codes) => codes.entries(),
            What::PartSums(sums) => sums.entries(),
            What::Savings(_) => Savings::entries(),
        }
    }

    fn rows(&self, points: PointsView<'_>) -> Option<u64> {
        (points.dim() == self.dim).then_some(points.len() as u64)
    }

    fn count(counter: &mut Counter, points: PointsView<'_>, entries: &mut [i64]) {
        let rows = points.rows();
        match &mut counter.0 {
            Counting::Rows => {}
            Counting::Level(level) => rows.for_each(|row| level.add(row, entries)),
            Counting::Leaves(leaves) => rows.for_each(|row| leaves.add(row, entries)),
            Counting::Radii(radii) => rows.for_each(|row| radii.add(row, entries)),
            Counting::Sums(sums) => rows.for_each(|row| sums.add(row, entries)),
            Counting::Vertices(vertices) => rows.for_each(|row| vertices.add(row, entries)),
            Counting::Nest(nest) => rows.for_each(|row| nest.add(row, entries)),
            Counting::RingCells(cells) => rows.for_each(|row| cells.add(row, entries)),
            Counting::GroupSums(groups) => rows.for_each(|row| groups.add(row, entries)),
            Counting::Codes(codes) => rows.for_each(|row| codes.add(row, entries)),
            Counting::PartSums(parts) => rows.for_each(|row| parts.add(row, entries)),
            Counting::Savings(savings) => rows.for_each(|row| savings.add(row, entries)),
        }
    }

    fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        match &self.what {
            What::Rows | What::Gaps(_) => true,
            What::Level(level) => level.is_possible(rows, entries),
            What::LeafSums(sums) => sums.is_possible(rows, entries),
            What::Radii(_) => super::add_up(entries) == Some(rows),
            What::Sums(sums) => sums.is_possible(rows, entries),
            What::Vertices(vertices) => vertices.is_possible(rows, entries),
            What::Nest(nest) => nest.is_possible(rows, entries),
            What::RingCells(_) => RingCells::is_possible(rows, entries),
            What::GroupSums(sums) => sums.is_possible(rows, entries),
            What::Codes(_) => Codes::is_possible(rows, entries),
            What::PartSums(sums) => sums.is_possible(rows, entries),
            What::Savings(_) => Savings::is_possible(rows, entries),
        }
    }
}
