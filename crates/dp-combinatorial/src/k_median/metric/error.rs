//! Why something is no metric.

/// What is wrong with a metric. Distances are public, so they may be shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// There is no node, or more than ids can tell apart.
    #[error("a metric has between 1 and {} nodes, got {got}", super::Metric::MAX_NODES)]
    Nodes {
        /// How many.
        got: usize,
    },
    /// Points without coordinates.
    #[error("the dimension must be at least 1, got 0")]
    ZeroDimension,
    /// Coordinates that are no whole points.
    #[error("{coordinates} coordinates cannot be cut into points of {dimension}")]
    Ragged {
        /// How many there are.
        coordinates: usize,
        /// Of a point.
        dimension: usize,
    },
    /// Not one distance per pair of nodes.
    #[error("{nodes} nodes need {want} distances, got {got}")]
    Length {
        /// How many nodes there are.
        nodes: usize,
        /// How many distances there are.
        got: usize,
        /// How many there should be.
        want: usize,
    },
    /// A distance is NaN, infinite or negative, or that of a node to itself is not 0.
    #[error("the distance from {from} to {to} must be {want}, got {got:?}")]
    Distance {
        /// From this node.
        from: usize,
        /// To this node.
        to: usize,
        /// The distance.
        got: f64,
        /// What would be accepted.
        want: &'static str,
    },
    /// The distance is another one on the way back.
    #[error("it is {there:?} from {from} to {to} but {back:?} back")]
    Asymmetric {
        /// From this node.
        from: usize,
        /// To this node.
        to: usize,
        /// The distance.
        there: f64,
        /// The other way round.
        back: f64,
    },
    /// A detour is shorter.
    #[error("the way from {from} to {to} is shorter through {through} than direct")]
    Triangle {
        /// From this node.
        from: usize,
        /// To this node.
        to: usize,
        /// Through this node.
        through: usize,
    },
    /// A coordinate is NaN, infinite or above `1e150` in absolute value.
    #[error("coordinates must be numbers between -1e150 and 1e150, got {got:?} in point {point}")]
    Coordinate {
        /// Of this point.
        point: usize,
        /// The coordinate.
        got: f64,
    },
    /// An edge has an end that is no node.
    #[error("edge {edge} ends at {got}, which is no node")]
    EdgeEnd {
        /// Number of the edge.
        edge: usize,
        /// Its end.
        got: u32,
    },
    /// There is no path.
    #[error("no path leads from {from} to {to}")]
    Unreachable {
        /// From this node.
        from: usize,
        /// To this node.
        to: usize,
    },
    /// A path is longer than `2^24 - 1`, so that distances have to be given as `f64` or on a coarser
    /// grid.
    #[error(
        "the path from {from} to {to} is longer than 16777215 steps; declare a smaller diameter"
    )]
    TooLong {
        /// From this node.
        from: usize,
        /// To this node.
        to: usize,
    },
    /// The declared diameter is not a positive number.
    #[error("a declared diameter must be finite and above 0, got {got:?}")]
    Diameter {
        /// As declared.
        got: f64,
    },
}
