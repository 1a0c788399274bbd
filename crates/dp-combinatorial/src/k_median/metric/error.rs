//! Why something is no metric.

use std::fmt;

/// What is wrong with a metric. Distances are public, so they may be shown.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetricError {
    /// There is no node, or more than ids can tell apart.
    Nodes {
        /// How many.
        got: usize,
    },
    /// The array has another length than its shape says.
    Length {
        /// Of the array.
        got: usize,
        /// By the shape.
        want: usize,
    },
    /// A distance is NaN, infinite or negative, or that of a node to itself is not 0.
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
    Triangle {
        /// From this node.
        from: usize,
        /// To this node.
        to: usize,
        /// Through this node.
        through: usize,
    },
    /// A coordinate is NaN, infinite or above `1e150` in absolute value.
    Coordinate {
        /// Of this point.
        point: usize,
        /// The coordinate.
        got: f64,
    },
    /// An edge has an end that is no node.
    EdgeEnd {
        /// Number of the edge.
        edge: usize,
        /// Its end.
        got: u32,
    },
    /// There is no path.
    Unreachable {
        /// From this node.
        from: usize,
        /// To this node.
        to: usize,
    },
    /// A path is longer than `2^24 - 1`, so that distances have to be given as `f64` or on a coarser
    /// grid.
    TooLong {
        /// From this node.
        from: usize,
        /// To this node.
        to: usize,
    },
    /// The declared diameter is not a positive number.
    Diameter {
        /// As declared.
        got: f64,
    },
}

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nodes { got } => {
                write!(
                    f,
                    "a metric has between 1 and {} nodes, got {got}",
                    super::Metric::MAX_NODES
                )
            }
            Self::Length { got, want } => write!(f, "there must be {want} numbers, got {got}"),
            Self::Distance { from, to, got, want } => {
                write!(f, "the distance from {from} to {to} must be {want}, got {got:?}")
            }
            Self::Asymmetric { from, to, there, back } => {
                write!(f, "it is {there:?} from {from} to {to} but {back:?} back")
            }
            Self::Triangle { from, to, through } => {
                write!(f, "the way from {from} to {to} is shorter through {through} than direct")
            }
            Self::Coordinate { point, got } => write!(
                f,
                "coordinates must be numbers between -1e150 and 1e150, got {got:?} in point {point}"
            ),
            Self::EdgeEnd { edge, got } => write!(f, "edge {edge} ends at {got}, which is no node"),
            Self::Unreachable { from, to } => write!(f, "no path leads from {from} to {to}"),
            Self::TooLong { from, to } => write!(
                f,
                "the path from {from} to {to} is longer than 16777215 steps; declare a smaller diameter"
            ),
            Self::Diameter { got } => {
                write!(f, "a declared diameter must be finite and above 0, got {got:?}")
            }
        }
    }
}

impl std::error::Error for MetricError {}
