//! Post-processing: the closest consistent table to a noisy one.
//!
//! Tables are flat and row-major: one row per node of the [`RegionTree`](crate::RegionTree), in its order, and one column per bin.
