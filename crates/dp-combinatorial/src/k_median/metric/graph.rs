//! Shortest paths of a graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::dense::checked_nodes;
use super::{Metric, MetricError, Storage, Width};

/// An edge in both directions: its ends and its length in steps.
pub type Edge = (u32, u32, u32);

/// Neighbours of all nodes, one list after another.
struct Neighbours {
    starts: Vec<usize>,
    ends: Vec<(u32, u32)>,
}

impl Metric {
    /// Shortest paths along edges with integer lengths; the unit is that of the lengths.
    ///
    /// Of parallel edges the shortest counts, and loops do not. Distances above the declared
    /// `diameter` count as the diameter. Two bytes per distance if it is declared and at most 65,535;
    /// else four while they are computed, and two afterwards if they fit.
    ///
    /// # Complexity
    /// Dijkstra's algorithm from every node, in parallel: `O(nodes edges log nodes)`.
    ///
    /// # Errors
    /// [`MetricError`] if there is no node, if an edge ends nowhere, if there is no path between two
    /// nodes, or if a path is longer than `2^24 - 1` and no smaller diameter was declared.
    pub fn from_graph(
        nodes: usize,
        edges: &[Edge],
        diameter: Option<u32>,
    ) -> Result<Self, MetricError> {
        checked_nodes(nodes)?;
        if diameter == Some(0) {
            return Err(MetricError::Diameter { got: 0.0 });
        }
        let graph = Neighbours::of(nodes, edges)?;
        let longest = Width::Bits24.steps();
        let limit = diameter.map_or(u64::from(longest), |declared| declared.min(longest).into());
        let row = |from: usize| -> Result<Vec<u64>, MetricError> {
            let row = graph.paths_from(from);
            let worst = row.iter().zip(0..).max().map_or((0, 0), |(&length, to)| (length, to));
            match worst {
                (u64::MAX, to) => Err(MetricError::Unreachable { from, to }),
                (length, to) if length > limit && diameter.is_none_or(|d| d > longest) => {
                    Err(MetricError::TooLong { from, to })
                }
                _ => Ok(row),
            }
        };
        let storage = if limit <= u64::from(Width::Bits16.steps()) {
            let short = |length: u64| u16::try_from(length.min(limit)).expect("within the limit");
            Storage::Short(fill(nodes, row, short)?)
        } else {
            let long = |length: u64| u32::try_from(length.min(limit)).expect("within the limit");
            let all: Vec<u32> = fill(nodes, row, long)?;
            match all.par_iter().map(|&d| u16::try_from(d)).collect::<Result<_, _>>() {
                Ok(short) => Storage::Short(short),
                Err(_) => Storage::Long(all),
            }
        };
        Ok(Self::with_middle(nodes, 1.0, storage))
    }
}

/// All rows one after another, each made in parallel and kept in its final width.
fn fill<T: Copy + Default + Send>(
    nodes: usize,
    row: impl Fn(usize) -> Result<Vec<u64>, MetricError> + Sync,
    narrow: impl Fn(u64) -> T + Sync,
) -> Result<Vec<T>, MetricError> {
    let mut all = vec![T::default(); nodes * nodes];
    // Each row can fail for its own reason; the first row that fails is told.
    let failed: Vec<MetricError> = all
        .par_chunks_mut(nodes)
        .enumerate()
        .filter_map(|(from, out)| match row(from) {
            Ok(lengths) => {
                out.iter_mut().zip(lengths).for_each(|(out, length)| *out = narrow(length));
                None
            }
            Err(error) => Some(error),
        })
        .collect();
    failed.into_iter().next().map_or(Ok(all), Err)
}

impl Neighbours {
    fn of(nodes: usize, edges: &[Edge]) -> Result<Self, MetricError> {
        let mut starts = vec![0; nodes + 1];
        for (edge, &(a, b, _)) in edges.iter().enumerate() {
            for end in [a, b] {
                if end as usize >= nodes {
                    return Err(MetricError::EdgeEnd { edge, got: end });
                }
                starts[end as usize + 1] += 1;
            }
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut ends = vec![(0, 0); 2 * edges.len()];
        for &(a, b, length) in edges {
            for (from, to) in [(a, b), (b, a)] {
                let place = &mut next[from as usize];
                ends[*place] = (to, length);
                *place += 1;
            }
        }
        Ok(Self { starts, ends })
    }

    /// Lengths of the shortest paths to all nodes; `u64::MAX` where there is none.
    fn paths_from(&self, from: usize) -> Vec<u64> {
        let mut lengths = vec![u64::MAX; self.starts.len() - 1];
        lengths[from] = 0;
        let mut open = BinaryHeap::from([Reverse((0_u64, from))]);
        while let Some(Reverse((length, node))) = open.pop() {
            if length > lengths[node] {
                continue;
            }
            for &(to, more) in &self.ends[self.starts[node]..self.starts[node + 1]] {
                let (to, through) = (to as usize, length + u64::from(more));
                if through < lengths[to] {
                    lengths[to] = through;
                    open.push(Reverse((through, to)));
                }
            }
        }
        lengths
    }
}
