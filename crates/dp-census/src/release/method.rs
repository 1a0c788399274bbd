use serde::{Deserialize, Serialize};

use super::Query;

/// How a consistent table of whole numbers is made from noise.
///
/// Names in brackets are those of the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Noise on cumulative counts; level after level from the top, each region drawn to its share of the row above as far as the noise asks,
    /// which is fitted to noisy values. Not from a paper: see [`fitted`](crate::solve::fitted). The default. It needs the public numbers of
    /// groups of regions for its last step, and does well without.
    #[default]
    Fitted,
    /// Noise on cumulative counts; level after level from the top, each time the closest split of what is there, informed by the levels
    /// below. Not from a paper: see [`cumulative_top_down`](crate::solve::cumulative_top_down). Closest for the upper levels where these matter
    /// most and [`LevelShares::Equal`](super::LevelShares::Equal) gives them their part of the loss.
    CumulativeTopDown,
    /// Noise on cumulative counts; the closest consistent real table by least squares over all levels (`M_c^r`), then whole numbers
    /// within `d + 1/2` of it, `d` levels below the root. Closer than the one before where nearly every region has groups of nearly
    /// every size and the levels below get most of the loss, as zones by hour do; its rounding shows at large losses.
    Cumulative,
    /// Noise on cumulative counts; each row alone made nondecreasing, then the closest consistent table of counts
    /// (`M_c^dp`, Algorithm 2). About half of the time, and about as accurate.
    CumulativeThenTree,
    /// Noise on counts; the closest consistent table of whole numbers (`M_H^dp`).
    Counts,
    /// Noise on counts; level after level from the top, each time the closest split of what is there (`TopDown`).
    TopDown,
    /// Noise on the cumulative counts of the first region only, which gets all of the loss; the others get their share of it by their public
    /// numbers of groups, or equal shares without. The baseline that says whether a release tells anything about the regions.
    /// Asked for, its row is the closest one to the noise; where [`Method::Fitted`] comes to it, the row is smoothed first, as far as noisy values ask for it.
    RootSpread,
    /// Noise on one cumulative chain through all regions of a level (`M_c^ch`), as much as that takes: in proportion to the number of
    /// regions. Published with noise for one region, which is not private; useless with enough. Here for comparison.
    Chain,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Fitted,
        Self::CumulativeTopDown,
        Self::Cumulative,
        Self::CumulativeThenTree,
        Self::Counts,
        Self::TopDown,
        Self::RootSpread,
        Self::Chain,
    ];

    /// The name in receipts and reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Fitted => "m-c-fitted",
            Self::CumulativeTopDown => "m-c-top-down",
            Self::Cumulative => "m-c-exact",
            Self::CumulativeThenTree => "m-c-dp",
            Self::Counts => "m-h-dp",
            Self::TopDown => "top-down",
            Self::RootSpread => "root-spread",
            Self::Chain => "m-c-chain",
        }
    }

    /// What the noise is added to.
    pub fn query(self) -> Query {
        match self {
            Self::Fitted
            | Self::CumulativeTopDown
            | Self::Cumulative
            | Self::CumulativeThenTree
            | Self::RootSpread => Query::Cumulative,
            Self::Counts | Self::TopDown => Query::Counts,
            Self::Chain => Query::Chain,
        }
    }
}
