use std::ops::Range;

use crate::CensusError;

/// The shape of a region hierarchy.
///
/// Nodes are numbered level by level from the root, 0, and the children of a node are neighbours. All leaves have the same depth, so
/// that each level is a partition of the whole. Of any depth; plans and solvers take at most
/// [`MAX_LEVELS`](crate::solve::MAX_LEVELS) levels.
///
/// ```
/// use dp_census::RegionTree;
///
/// let tree = RegionTree::from_parents(&[None, Some(0), Some(0), Some(1), Some(2), Some(2)])?;
/// assert_eq!(tree.levels(), 3);
/// assert_eq!(tree.level(1), 1..3);
/// assert_eq!(tree.children(2), 4..6);
/// assert_eq!(tree.leaves(), 3..6);
/// # Ok::<(), dp_census::CensusError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionTree {
    /// The root's entry is unused.
    parents: Vec<u32>,
    /// One past the last child of each node; the children of the next node begin there.
    children_end: Vec<u32>,
    /// First node of each level, and the number of nodes at the end.
    level_starts: Vec<usize>,
}

impl RegionTree {
    /// The hierarchy in which node `i` lies in `parents[i]`, in breadth-first order: `None` for the root only, parents ascending.
    ///
    /// # Errors
    /// No node or too many, no root in front, more than one root, a parent that does not come before its child, parents that
    /// descend, or a node above the lowest level without children.
    pub fn from_parents(parents: &[Option<u32>]) -> Result<Self, CensusError> {
        let regions = parents.len();
        if regions == 0
            || u32::try_from(regions).is_ok_and(|n| n == u32::MAX)
            || regions > u32::MAX as usize
        {
            let (name, got) = ("the number of regions", regions as i128);
            return Err(CensusError::OutOfRange { name, got, want: "between 1 and 2^32 - 2" });
        }
        let parents = checked_parents(parents)?;
        let mut children_end = vec![1_u32; regions];
        let mut next = 1;
        for (node, end) in children_end.iter_mut().enumerate() {
            while next < regions && parents[next] as usize == node {
                next += 1;
            }
            *end = u32::try_from(next).expect("checked above: the number of nodes fits");
        }
        let tree = Self { level_starts: level_starts(&children_end), parents, children_end };
        match (0..tree.leaves().start).find(|&node| tree.children(node).is_empty()) {
            Some(region) => Err(CensusError::LeafAboveLowestLevel { region }),
            None => Ok(tree),
        }
    }

    /// Number of nodes.
    #[expect(clippy::len_without_is_empty, reason = "a hierarchy always has a root")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Number of levels; 1 if the root is the only node.
    pub fn levels(&self) -> usize {
        self.level_starts.len() - 1
    }

    /// The nodes of a level; 0 is the root.
    pub fn level(&self, level: usize) -> Range<usize> {
        self.level_starts[level]..self.level_starts[level + 1]
    }

    /// The level of a node, 0 for the root.
    pub fn level_of(&self, node: usize) -> usize {
        assert!(node < self.len(), "node {node} of a hierarchy of {}", self.len());
        self.level_starts.partition_point(|&start| start <= node) - 1
    }

    /// The node that holds this one; `None` for the root.
    pub fn parent(&self, node: usize) -> Option<usize> {
        let parent = self.parents[node] as usize;
        (node > 0).then_some(parent)
    }

    /// The children of a node, empty for a leaf.
    pub fn children(&self, node: usize) -> Range<usize> {
        let start = if node == 0 { 1 } else { self.children_end[node - 1] };
        start as usize..self.children_end[node] as usize
    }

    /// The hierarchy of so many levels from the root, at least one.
    pub(crate) fn upper(&self, levels: usize) -> Self {
        let level_starts = self.level_starts[..=levels].to_vec();
        let nodes = level_starts[levels];
        let last = u32::try_from(nodes).expect("no more than there are");
        let ends = self.children_end[..nodes].iter().map(|&end| end.min(last));
        Self { parents: self.parents[..nodes].to_vec(), children_end: ends.collect(), level_starts }
    }

    /// For each node of the level `above` those of the level `below` it that are in it, as places in that level.
    pub(crate) fn within(&self, above: usize, below: usize) -> Vec<Range<usize>> {
        let mut within: Vec<Range<usize>> = self.level(above).map(|node| node..node + 1).collect();
        for _ in above..below {
            for nodes in &mut within {
                *nodes = self.children(nodes.start).start..self.children(nodes.end - 1).end;
            }
        }
        let first = self.level(below).start;
        within.into_iter().map(|nodes| nodes.start - first..nodes.end - first).collect()
    }

    /// The nodes of the lowest level.
    pub fn leaves(&self) -> Range<usize> {
        self.level(self.levels() - 1)
    }
}

fn checked_parents(parents: &[Option<u32>]) -> Result<Vec<u32>, CensusError> {
    if parents[0].is_some() {
        return Err(CensusError::RootMissing);
    }
    let mut checked = vec![0];
    for (region, &parent) in parents.iter().enumerate().skip(1) {
        let parent = parent.ok_or(CensusError::SecondRoot { region })?;
        if parent as usize >= region {
            return Err(CensusError::ParentNotBefore { region, parent });
        }
        if parent < checked[region - 1] {
            return Err(CensusError::NotBreadthFirst { region });
        }
        checked.push(parent);
    }
    Ok(checked)
}

/// Walks from the first node of a level to its first child until no node is left. A leaf above the lowest level may put too many
/// nodes into a level here; the caller refuses such a tree.
fn level_starts(children_end: &[u32]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut end = 1;
    while end < children_end.len() {
        starts.push(end);
        end = children_end[end - 1] as usize;
    }
    starts.push(children_end.len());
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(parents: &[u32]) -> Result<RegionTree, CensusError> {
        let parents: Vec<Option<u32>> =
            [None].into_iter().chain(parents.iter().map(|&p| Some(p))).collect();
        RegionTree::from_parents(&parents)
    }

    #[test]
    fn the_shape_of_an_uneven_tree() {
        let tree = tree(&[0, 0, 0, 1, 1, 2, 3, 3, 3]).expect("valid");
        assert_eq!((tree.len(), tree.levels()), (10, 3));
        assert_eq!((tree.level(0), tree.level(1), tree.level(2)), (0..1, 1..4, 4..10));
        assert_eq!(
            (tree.children(0), tree.children(2), tree.children(3), tree.children(4)),
            (1..4, 6..7, 7..10, 10..10)
        );
        assert_eq!((tree.parent(0), tree.parent(6), tree.parent(9)), (None, Some(2), Some(3)));
        let levels: Vec<usize> = (0..10).map(|node| tree.level_of(node)).collect();
        assert_eq!(levels, [0, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn upper_levels_are_a_tree_of_their_own() {
        let whole = tree(&[0, 0, 0, 1, 1, 2, 3, 3, 3]).expect("valid");
        assert_eq!(whole.upper(3), whole);
        assert_eq!(whole.upper(2), tree(&[0, 0, 0]).expect("valid"));
        assert_eq!(whole.upper(1), tree(&[]).expect("valid"));
        assert_eq!(whole.within(0, 0), vec![0..1]);
        assert_eq!(whole.within(0, 1), vec![0..3]);
        assert_eq!(whole.within(0, 2), vec![0..6]);
        assert_eq!(whole.within(1, 2), [0..2, 2..3, 3..6]);
        assert_eq!(whole.within(2, 2).len(), 6);
    }

    #[test]
    fn a_root_alone_is_a_leaf() {
        let tree = tree(&[]).expect("valid");
        assert_eq!(
            (tree.len(), tree.levels(), tree.leaves(), tree.children(0)),
            (1, 1, 0..1, 1..1)
        );
    }

    #[test]
    fn bad_shapes_are_refused() {
        let nothing = RegionTree::from_parents(&[]).expect_err("no root").to_string();
        assert_eq!(nothing, "the number of regions must be between 1 and 2^32 - 2, got 0");
        assert_eq!(RegionTree::from_parents(&[Some(0)]), Err(CensusError::RootMissing));
        assert_eq!(
            RegionTree::from_parents(&[None, None]),
            Err(CensusError::SecondRoot { region: 1 })
        );
        assert_eq!(tree(&[1]), Err(CensusError::ParentNotBefore { region: 1, parent: 1 }));
        assert_eq!(tree(&[2, 1]), Err(CensusError::ParentNotBefore { region: 1, parent: 2 }));
        assert_eq!(tree(&[0, 0, 2, 1]), Err(CensusError::NotBreadthFirst { region: 4 }));
        assert_eq!(tree(&[0, 0, 1]), Err(CensusError::LeafAboveLowestLevel { region: 2 }));
        assert_eq!(tree(&[0, 0, 2]), Err(CensusError::LeafAboveLowestLevel { region: 1 }));
        assert_eq!(tree(&[0, 0, 1, 2, 3]), Err(CensusError::LeafAboveLowestLevel { region: 4 }));
    }
}
