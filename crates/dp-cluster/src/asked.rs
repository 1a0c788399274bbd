//! What plans for a number of clusters in a public box are asked for.

use dp_accounting::Budget;
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked<S> {
    pub(crate) public_box: PublicBox,
    pub(crate) k: usize,
    pub(crate) budget: Budget,
    pub(crate) settings: S,
}
