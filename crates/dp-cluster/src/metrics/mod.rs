//! How good a set of centres is. **Not private**: for evaluation only.
//!
//! Every function here looks at the records as they are and returns an exact number. None of these
//! numbers may leave the building as part of a private release; they answer the question of a
//! reader of a paper, "how much did privacy cost here", on data that needs no protection.
//!
//! | function | what it is | better |
//! |---|---|---|
//! | [`squared_inertia`], [`inertia`] | sum of (squared) distances to the nearest centre | lower |
//! | [`silhouette`] | how much nearer points are to their own cluster than to the next | higher, in `[-1, 1]` |
//! | [`accuracy`] | share of points that carry the majority label of their cluster | higher, in `[0, 1]` |
//! | [`kmeans_distance`], [`normalised_kmeans_distance`] | how far centres are from reference centres | lower |
//! | [`distinct_clusters_found`] | how many known clusters got a centre | higher |
//! | [`information_floor`] | what noise alone would cost who knows everything else | of the data, not of the centres |
//!
//! [`reference_clusterings`] makes the reference centres.
//!
//! # Conventions
//! A point belongs to its nearest centre, the lowest index in a tie. No function returns NaN: each
//! says what it does without points or without centres. Results are the same, bit for bit, for every number of
//! threads.

#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare with values worked out by hand")
)]

mod accuracy;
mod distinct;
mod floor;
mod inertia;
mod kmeans_distance;
mod reference;
mod sample;
mod silhouette;
#[cfg(test)]
mod testing;

pub use accuracy::accuracy;
pub use distinct::distinct_clusters_found;
pub use floor::information_floor;
pub use inertia::{inertia, squared_inertia};
pub use kmeans_distance::{kmeans_distance, normalised_kmeans_distance};
pub use reference::reference_clusterings;
pub use silhouette::{SILHOUETTE_SAMPLE, silhouette};
