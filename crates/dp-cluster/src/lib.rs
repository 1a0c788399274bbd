//! Differentially private Euclidean clustering and its non-private baselines.
