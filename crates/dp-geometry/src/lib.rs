//! Points, public boxes and balls, fixed-point grids; no privacy claim.
