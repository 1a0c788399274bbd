//! Renyi divergences: conversion to (epsilon, delta), and the search for the best order.

use crate::error::ParamError;
use crate::params::{Delta, Epsilon};
use crate::pld::{Composition, Direction, least_epsilon_by_moments, log_moment};
use crate::rounding::UNIT;

/// The epsilon at `delta` of a pair whose Renyi divergence of `order` is at most `divergence`, rounded up; `None` without a delta.
///
/// `divergence + ln((a - 1) / a) - (ln(delta) + ln(a)) / (a - 1)`, cut at 0. Relation: the one of the divergence.
///
/// # Source
/// Canonne, Kamath, Steinke (NeurIPS 2020), Proposition 12 with the delta solved for epsilon.
///
/// # Errors
/// [`ParamError`] unless `order` is finite and above 1 and `divergence` finite and at least 0.
pub fn renyi_to_epsilon(
    order: f64,
    divergence: f64,
    delta: Delta,
) -> Result<Option<Epsilon>, ParamError> {
    if !(order.is_finite() && order > 1.0) {
        return Err(ParamError::OutOfRange { name: "order", got: order, want: "finite and > 1" });
    }
    if !(divergence.is_finite() && divergence >= 0.0) {
        let want = "finite and >= 0";
        return Err(ParamError::OutOfRange { name: "divergence", got: divergence, want });
    }
    if delta == Delta::ZERO {
        return Ok(None);
    }
    let x = order - 1.0;
    let gain = -libm::log1p(-1.0 / order);
    let (log_inverse, log_order) = (-libm::log(delta.get()), libm::log(order));
    let tail = (log_inverse - log_order) / x;
    let error = 8.0 * UNIT * (divergence + gain + (log_inverse + log_order) / x);
    Ok(Epsilon::of((divergence - gain + tail + error).max(0.0)))
}

/// The Renyi divergence of `order` of a composition in one direction, rounded up; infinite where mass has no finite loss, and above order 401 for sampled noise.
///
/// # Errors
/// [`ParamError`] unless `order` is finite and above 1.
pub fn renyi_divergence(
    composition: &Composition,
    direction: Direction,
    order: f64,
) -> Result<f64, ParamError> {
    if !(order.is_finite() && order > 1.0) {
        return Err(ParamError::OutOfRange { name: "order", got: order, want: "finite and > 1" });
    }
    let moment = log_moment(composition, direction, order - 1.0);
    Ok((moment / (order - 1.0)).max(0.0))
}

/// The least epsilon that any Renyi order gives at `delta`, in the worse direction, rounded up; infinite without a delta.
///
/// The order is searched continuously, so nothing depends on a list of orders. It is what remains when a composition is too
/// large for [`Composition::epsilon`], and serves for comparison otherwise.
///
/// # Source
/// Mironov (CSF 2017); conversion as [`renyi_to_epsilon`].
pub fn renyi_epsilon(composition: &Composition, delta: Delta) -> f64 {
    [Direction::Remove, Direction::Add]
        .into_iter()
        .map(|direction| least_epsilon_by_moments(composition, direction, delta))
        .fold(0.0, f64::max)
}
