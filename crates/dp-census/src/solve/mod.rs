//! Post-processing: the closest consistent table to a noisy one.
//!
//! Everything here is a deterministic function of a noisy table and of public numbers, so it costs no privacy. Tables are flat and
//! row-major: one row per node of the [`RegionTree`](crate::RegionTree), in its order, and one column per bin. A table of *counts*
//! holds how many groups have each size, a *cumulative* one how many have at most that size.
//!
//! | module | input | problem | exact |
//! |---|---|---|---|
//! | [`isotonic`] | one row | nondecreasing integers within bounds | yes |
//! | [`chain`] | cumulative along each level | one nondecreasing chain through all nodes, size by size | yes |
//! | [`tree`] | counts | nonnegative integers, children add up, `groups` in all | yes |
//! | [`top_down`] | counts | the same, level by level | each level |
//! | [`monotone_rows`] | cumulative | each row alone nondecreasing, then [`tree`] on the differences | each step |
//! | [`cumulative`] | cumulative | nondecreasing real rows, children add up | to rounding error |
//! | [`cumulative_top_down`] | cumulative | nondecreasing rows of whole numbers, level by level | each level, but for very large families |
//! | [`fitted`] | cumulative | the same, each row drawn to its share of the one above | near to each level's optimum |
//! | [`edf`] | real solution of [`cumulative`] | the same in integers, level `l` within `l + 1/2` | feasible, not optimal |
//! | [`star`] | cumulative, two levels | the same in integers | yes |
//! | [`cost_table`] | counts or one chain | dynamic program over all values; slow, the oracle | yes |
//!
//! All minimise the weighted sum of squared distances to the noisy table, with one positive integer weight per level. Weights
//! proportional to the inverse variance of a level's noise give generalised least squares. Each module has a `certify` function
//! that proves a solution optimal, or shows that it is not, without knowing how it was found.

pub mod chain;
pub mod cost_table;
pub mod cumulative;
pub mod cumulative_top_down;
pub mod edf;
pub mod fitted;
pub mod isotonic;
pub mod monotone_rows;
mod newton;
mod problem;
#[cfg(test)]
pub(crate) mod random;
pub mod star;
pub mod top_down;
pub mod tree;
mod whole_rows;

pub use problem::{MAX_LEVELS, MAX_VALUE, MAX_WEIGHT, Problem};
