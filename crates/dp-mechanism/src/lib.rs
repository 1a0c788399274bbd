//! Calibrated primitives: the one place where noise meets a privacy loss.
