/// Whole numbers for the children of a node: nondecreasing rows, column sums to be met, convex costs.
///
/// A group of some size in some child can become one of another size: then the child's row is one higher, or lower, between the
/// two. So there is a graph with a node per size, in which an arc is the cheapest such move over all children, and a unit too many at
/// one size goes to a size that lacks one by a shortest path. Rows that are optimal one by one for some multipliers admit no
/// cycle that gains, and shortest paths make none: when no unit is missing, the rows are optimal (successive shortest paths).
///
/// If children may have any number of groups, there is one more node, for groups outside of the child.
pub(super) struct Exchange<'a> {
    problem: &'a Columns,
    rows: Vec<i64>,
    nodes: usize,
    /// Per child and step, the cost of all raises before it; then of all lowerings.
    raised: Vec<i128>,
    lowered: Vec<i128>,
    /// From each node to each node, the cheapest move and the child that makes it.
    arcs: Vec<Option<(i128, usize)>>,
}

/// Convex costs `curvature x^2 - 2 target x`, a row per child, and what the columns add up to.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) totals: Vec<i64>,
    pub(super) curvature: Vec<i128>,
    pub(super) target: Vec<i128>,
    /// Whether the last column is what it is.
    pub(super) ends_are_fixed: bool,
}

/// Length of a path: cost, then arcs. Among the cheapest paths the one with the fewest arcs never moves a child twice at one place.
type Length = (i128, usize);

impl<'a> Exchange<'a> {
    /// For rows that are optimal one by one for common multipliers.
    pub(super) fn new(problem: &'a Columns, rows: Vec<i64>) -> Self {
        let steps = problem.totals.len();
        let nodes = if problem.ends_are_fixed { steps } else { steps + 1 };
        let children = rows.len() / steps;
        let prefixes = vec![0; children * (steps + 1)];
        let (raised, lowered) = (prefixes.clone(), prefixes);
        let arcs = vec![None; nodes * nodes];
        let mut exchange = Self { problem, rows, nodes, raised, lowered, arcs };
        for child in 0..children {
            exchange.add_up(child);
            exchange.offer(child);
        }
        exchange
    }

    /// The optimal rows and the multipliers that prove it; `None` if the rows at the start were not optimal one by one, or more units
    /// than that are in the wrong place.
    pub(super) fn settle(mut self, most_units: usize) -> Option<(Vec<i64>, Vec<i128>)> {
        let mut surplus = self.surplus();
        let units: i128 = surplus.iter().map(|&more| more.max(0)).sum();
        if usize::try_from(units).map_or(true, |units| units > most_units) {
            return None;
        }
        // Successive shortest paths: without a negative cycle before, there is none after a unit has gone along a shortest path, and a flow
        // without negative cycles in its residual graph has least cost (Ahuja, Magnanti, Orlin, 1993, sections 9.3 and 9.7).
        while let Some(path) = self.shortest_path(&surplus)? {
            let (from, to) = (path.first()?.0, path.last()?.1);
            surplus[from] -= 1;
            surplus[to] += 1;
            self.send(&path);
        }
        // With every node a source the distances are potentials: no arc costs less than their difference, which is the proof.
        let potentials = self.distances(&vec![true; self.nodes])?;
        // Between neighbouring sizes; the last column has none if it is fixed.
        let mut multipliers: Vec<i128> =
            potentials.windows(2).map(|pair| pair[0].0.0 - pair[1].0.0).collect();
        multipliers.resize(self.problem.totals.len(), 0);
        Some((self.rows, multipliers))
    }

    fn steps(&self) -> usize {
        self.problem.totals.len()
    }

    fn children(&self) -> usize {
        self.rows.len() / self.steps()
    }

    /// Groups of each size beyond what there must be. Sums of rows that a search went astray with may not fit a row's own type.
    fn surplus(&self) -> Vec<i128> {
        let steps = self.steps();
        let sum = |step: usize| {
            self.rows.iter().skip(step).step_by(steps).map(|&x| i128::from(x)).sum::<i128>()
        };
        let over: Vec<i128> =
            (0..steps).map(|step| sum(step) - i128::from(self.problem.totals[step])).collect();
        let grown = |node: usize| {
            let before = if node == 0 { 0 } else { over[node - 1] };
            over.get(node).copied().unwrap_or(0) - before
        };
        (0..self.nodes).map(grown).collect()
    }

    /// Prefix sums of what one more or one less costs at each step of a child.
    fn add_up(&mut self, child: usize) {
        let steps = self.steps();
        let (cells, prefixes) = (child * steps, child * (steps + 1));
        for step in 0..steps {
            let curvature = self.problem.curvature[cells + step];
            let value = i128::from(self.rows[cells + step]);
            let slope = 2 * (curvature * value - self.problem.target[cells + step]);
            let at = prefixes + step;
            self.raised[at + 1] = self.raised[at] + curvature + slope;
            self.lowered[at + 1] = self.lowered[at] + curvature - slope;
        }
    }

    /// What it costs that a group of one size in a child gets another one, if there is such a group.
    fn cost(&self, child: usize, from: usize, to: usize) -> Option<i128> {
        let steps = self.steps();
        let row = &self.rows[child * steps..][..steps];
        let before = if from == 0 { 0 } else { row[from - 1] };
        if row.get(from).is_some_and(|&sum| sum == before) {
            return None;
        }
        let at = |node: usize| child * (steps + 1) + node;
        Some(if from < to {
            self.lowered[at(to)] - self.lowered[at(from)]
        } else {
            self.raised[at(from)] - self.raised[at(to)]
        })
    }

    /// Takes all moves of a child as arcs that are cheaper than what there is.
    fn offer(&mut self, child: usize) {
        for from in 0..self.nodes {
            for to in (0..self.nodes).filter(|&to| to != from) {
                let Some(cost) = self.cost(child, from, to) else { break };
                let arc = &mut self.arcs[from * self.nodes + to];
                if arc.is_none_or(|(least, _)| cost < least) {
                    *arc = Some((cost, child));
                }
            }
        }
    }

    /// Bellman and Ford: for each node the length of the shortest path to it from any of the sources, and the node before it; `None` if
    /// there is a cycle that gains.
    fn distances(&self, sources: &[bool]) -> Option<Vec<(Length, usize)>> {
        const FAR: Length = (i128::MAX, usize::MAX);
        let start = |&source: &bool| (if source { (0, 0) } else { FAR }, usize::MAX);
        // A shortest path without cycles has fewer arcs than there are nodes, so that a change in the last round means a negative cycle.
        let mut found: Vec<(Length, usize)> = sources.iter().map(start).collect();
        for _ in 0..=self.nodes {
            let mut changed = false;
            for from in (0..self.nodes).filter(|&from| found[from].0 != FAR).collect::<Vec<_>>() {
                let length = found[from].0;
                let arcs = &self.arcs[from * self.nodes..][..self.nodes];
                for (to, (cost, _)) in
                    arcs.iter().enumerate().filter_map(|(to, a)| Some((to, (*a)?)))
                {
                    let next = (length.0 + cost, length.1 + 1);
                    if next < found[to].0 {
                        found[to] = (next, from);
                        changed = true;
                    }
                }
            }
            if !changed {
                return Some(found);
            }
        }
        None
    }

    /// The cheapest way from a size with too many groups to one with too few, as its arcs in order: `Some(None)` if none is missing.
    #[expect(clippy::option_option, reason = "a failure, and the end")]
    fn shortest_path(&self, surplus: &[i128]) -> Option<Option<Vec<(usize, usize)>>> {
        let sources: Vec<bool> = surplus.iter().map(|&surplus| surplus > 0).collect();
        if !sources.contains(&true) {
            return Some(None);
        }
        let found = self.distances(&sources)?;
        let lacking = (0..self.nodes).filter(|&node| surplus[node] < 0);
        let mut node = lacking.min_by_key(|&node| found[node].0)?;
        let mut path = Vec::new();
        while found[node].1 != usize::MAX {
            path.push((found[node].1, node));
            node = found[node].1;
        }
        path.reverse();
        Some(Some(path))
    }

    /// Makes the moves of a path, each by the child that is cheapest for it.
    fn send(&mut self, path: &[(usize, usize)]) {
        let steps = self.steps();
        let mut moved = Vec::new();
        for &(from, to) in path {
            let (_, child) = self.arcs[from * self.nodes + to].expect("a path is made of arcs");
            // The row is cumulative: a group that gets larger leaves all sums from its old size up to its new one, and one that gets
            // smaller joins them.
            let row = &mut self.rows[child * steps..][..steps];
            row[from.min(to)..from.max(to)]
                .iter_mut()
                .for_each(|sum| *sum += if from < to { -1 } else { 1 });
            moved.push(child);
        }
        moved.sort_unstable();
        moved.dedup();
        for &child in &moved {
            self.add_up(child);
        }
        // An arc is the best offer of any child. Those of the children that moved are void and sought again among all; the others can only
        // be undercut.
        for from in 0..self.nodes {
            for to in (0..self.nodes).filter(|&to| to != from) {
                let arc = self.arcs[from * self.nodes + to];
                if arc.is_some_and(|(_, child)| moved.contains(&child)) {
                    let costs =
                        (0..self.children()).filter_map(|c| Some((self.cost(c, from, to)?, c)));
                    self.arcs[from * self.nodes + to] = costs.min();
                }
            }
        }
        for child in moved {
            self.offer(child);
        }
    }
}
