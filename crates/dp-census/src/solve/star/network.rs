use crate::solve::Problem;

/// No parent: the label was not corrected since the last cycle.
const NONE: u32 = u32::MAX;

/// The residual network of a table.
///
/// Node `row * bins + bin` for each cell and a hub after them. Arcs, with what they do to the table:
/// - `(child, s + 1)` to `(child, s)`, from the hub for the last `s`: raise the child at `s`; and back,
///   lower it;
/// - `(root, s)` to `(root, s + 1)` raises the root at `s`; back lowers it; none to the hub, because
///   the last entry is fixed;
/// - `(child, s)` to `(root, s)`, free: one more group of size `s`; back only if there is one.
pub(super) struct Network<'a> {
    problem: Problem<'a>,
    pub(super) rows: Vec<i64>,
    pub(super) labels: Vec<i128>,
    parents: Vec<u32>,
    /// Children whose labels may need correcting.
    dirty: Vec<bool>,
}

impl<'a> Network<'a> {
    pub(super) fn new(problem: Problem<'a>, rows: Vec<i64>, labels: Vec<i128>) -> Self {
        assert!(labels.len() < NONE as usize, "too many cells for the integer solver");
        let parents = vec![NONE; labels.len()];
        let dirty = vec![true; problem.tree().len()];
        Self { problem, rows, labels, parents, dirty }
    }

    /// Bellman and Ford: corrects labels until no arc has a negative reduced cost, and sends one unit
    /// around each cycle that the corrections close, which all gain.
    pub(super) fn cancel_all_negative_cycles(&mut self) {
        while self.correct_labels() {
            self.cancel_cycles();
        }
    }

    /// One pass over the arcs; whether a label changed.
    fn correct_labels(&mut self) -> bool {
        let bins = self.problem.bins();
        let hub = self.labels.len() - 1;
        let mut changed = false;
        for child in self.problem.tree().leaves() {
            if !std::mem::take(&mut self.dirty[child]) {
                continue;
            }
            // Down a child's row and up again: labels travel along a whole row in one pass, where passes in one direction would need
            // as many as there are bins.
            let first = child * bins;
            let last = first + bins - 1;
            changed |= self.correct(hub, last, self.raise(last));
            for cell in (first..last).rev() {
                changed |= self.correct(cell + 1, cell, self.raise(cell));
            }
            for cell in first..last {
                changed |= self.correct(cell, cell + 1, self.lower(cell));
            }
            if self.correct(last, hub, self.lower(last)) {
                changed = true;
                self.dirty.fill(true);
            }
            for bin in 0..bins {
                changed |= self.correct(first + bin, bin, 0);
            }
        }
        for cell in 0..bins - 1 {
            changed |= self.correct(cell, cell + 1, self.raise(cell));
        }
        for cell in (0..bins - 1).rev() {
            changed |= self.correct(cell + 1, cell, self.lower(cell));
        }
        for child in self.problem.tree().leaves() {
            for bin in 0..bins {
                if self.leaves_at(child, bin) && self.correct(bin, child * bins + bin, 0) {
                    self.dirty[child] = true;
                    changed = true;
                }
            }
        }
        changed
    }

    fn correct(&mut self, from: usize, to: usize, cost: i128) -> bool {
        let label = self.labels[from] + cost;
        let shorter = label < self.labels[to];
        if shorter {
            self.labels[to] = label;
            self.parents[to] = u32::try_from(from).expect("checked on construction");
        }
        shorter
    }

    /// Whether a group of the child has this size.
    fn leaves_at(&self, child: usize, bin: usize) -> bool {
        let row = &self.rows[child * self.problem.bins()..];
        row[bin] > if bin == 0 { 0 } else { row[bin - 1] }
    }

    /// Cost of one more at a cell.
    fn raise(&self, cell: usize) -> i128 {
        let (weight, twice) = self.marginal(cell);
        weight * (twice + 1)
    }

    /// Cost of one less at a cell.
    fn lower(&self, cell: usize) -> i128 {
        let (weight, twice) = self.marginal(cell);
        weight * (1 - twice)
    }

    fn marginal(&self, cell: usize) -> (i128, i128) {
        let level = usize::from(cell >= self.problem.bins());
        let weight = i128::from(self.problem.level_weights()[level]);
        (weight, 2 * i128::from(self.rows[cell] - self.problem.noisy()[cell]))
    }

    /// Finds the cycles among the parents, which share no node, and sends a unit around each.
    fn cancel_cycles(&mut self) {
        let mut seen = vec![NONE; self.parents.len()];
        let mut any = false;
        for start in 0..self.parents.len() {
            let walk = u32::try_from(start).expect("checked on construction");
            let mut node = start;
            while seen[node] == NONE && self.parents[node] != NONE {
                seen[node] = walk;
                node = self.parents[node] as usize;
            }
            if seen[node] == walk && self.parents[node] != NONE {
                self.cancel(node);
                any = true;
            }
        }
        if any {
            self.parents.fill(NONE);
        }
    }

    fn cancel(&mut self, start: usize) {
        let mut to = start;
        loop {
            let from = self.parents[to] as usize;
            self.send(from, to);
            to = from;
            if to == start {
                return;
            }
        }
    }

    /// Sends a unit over an arc.
    fn send(&mut self, from: usize, to: usize) {
        let bins = self.problem.bins();
        let hub = self.labels.len() - 1;
        let row = |node: usize| if node == hub { None } else { Some(node / bins) };
        [from, to].into_iter().filter_map(row).for_each(|row| self.dirty[row] = true);
        match (row(from), row(to)) {
            (Some(0), Some(0)) if from < to => self.rows[from] += 1,
            (Some(0), Some(0)) => self.rows[to] -= 1,
            (None, Some(_)) => self.rows[to] += 1,
            (Some(_), None) => self.rows[from] -= 1,
            (Some(a), Some(b)) if a == b && to < from => self.rows[to] += 1,
            (Some(a), Some(b)) if a == b => self.rows[from] -= 1,
            // A group of one more or one less size: the rows say so already.
            _ => {}
        }
    }

    /// Over all arcs.
    pub(super) fn smallest_reduced_cost(&self) -> i128 {
        let bins = self.problem.bins();
        let hub = self.labels.len() - 1;
        let mut least = i128::MAX;
        let mut arc = |from: usize, to: usize, cost: i128| {
            least = least.min(cost + self.labels[from] - self.labels[to]);
        };
        for cell in 0..bins - 1 {
            arc(cell, cell + 1, self.raise(cell));
            arc(cell + 1, cell, self.lower(cell));
        }
        for child in self.problem.tree().leaves() {
            for bin in 0..bins {
                let cell = child * bins + bin;
                let above = if bin + 1 == bins { hub } else { cell + 1 };
                arc(above, cell, self.raise(cell));
                arc(cell, above, self.lower(cell));
                arc(cell, bin, 0);
                if self.leaves_at(child, bin) {
                    arc(bin, cell, 0);
                }
            }
        }
        least
    }
}
