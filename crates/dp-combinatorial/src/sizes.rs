//! From where on something is computed in another way.

/// Sizes from which on another way is taken to the same result. Claims go through both sides of each.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Nodes whose savings are summed together, which stay in the first cache; at most that many.
    pub tile: usize,
    /// Heavier clients are not summed in 32 bits.
    pub heaviest: u16,
    /// Sums of 32 bits are emptied before they could exceed this.
    pub narrow: u32,
    /// Subtrees that are gone through side by side, at most.
    pub subtrees: usize,
    /// Points of a leaf of a kd-tree, at most.
    pub leaf: usize,
    /// Weights above 0 that centres are searched for; if there are more, they are moved to a net.
    pub clients: usize,
    /// Points of a net, at most.
    pub net: usize,
    /// Cells that a prior is fitted to, at least.
    pub prior: usize,
    /// Rows of 16 bits that are added up in 32.
    pub rows: usize,
    /// Side of the squares in which a table is transposed.
    pub square: usize,
    /// Records that one thread takes at a time.
    pub records: usize,
}

impl Sizes {
    /// The largest [`tile`](Self::tile).
    pub(crate) const MOST_TILE: usize = 2_048;

    /// All of them as small as can be, but for what `size` says.
    #[must_use]
    pub fn small(size: u16) -> Self {
        let number = usize::from(size.max(1));
        Self {
            tile: number,
            heaviest: size,
            narrow: size.into(),
            subtrees: number,
            leaf: number,
            clients: number - 1,
            net: number,
            prior: number,
            rows: number,
            square: number,
            records: number,
        }
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            tile: Self::MOST_TILE,
            heaviest: u16::MAX,
            narrow: u32::MAX,
            subtrees: 16,
            leaf: 32,
            // With more a search over all of them takes minutes.
            clients: 20_000,
            // What they cost grows with their number times that of the nodes.
            net: 4_096,
            // With fewer it would follow their noise.
            prior: 256,
            // So many additions of 16 bits fit in 32.
            rows: 1 << 16,
            square: 64,
            records: 256,
        }
    }
}
