//! Renyi divergences: conversion to (epsilon, delta), and the search for the best order.

use crate::error::ParamError;
use crate::outward::Upper;
use crate::params::{Delta, Epsilon};
use crate::pld::{Composition, Direction, divergence as divergence_by, least_epsilon_by_moments};
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
    // Exact below 2, so that the gain keeps its digits next to order 1.
    let x = order - 1.0;
    let gain = libm::log1p(1.0 / x);
    let (log_inverse, log_order) = (-libm::log(delta.get()), libm::log(order));
    let tail = (log_inverse - log_order) / x;
    let error = 8.0 * UNIT * (divergence + gain + (log_inverse + log_order) / x);
    Ok(Epsilon::of(Upper::near(divergence - gain + tail, error).at_least_0().get()))
}

/// The Renyi divergence of `order` of a composition in one direction, rounded up; infinite where mass has no finite loss. Above order 401
/// for sampled noise, and above `1e6`, it is the largest loss.
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
    let at = |x: f64| divergence_by(composition, direction, x);
    let x = order - 1.0;
    // The divergence rises with the order; next to 1 the moment is below its own rounding.
    let by_larger = |more: f64| if more > x { at(more) } else { Upper::UNKNOWN };
    Ok(at(x).or(by_larger(0.01)).or(by_larger(1.0)).at_least_0().get())
}

/// The least epsilon that any Renyi order gives at `delta`, in the worse direction, rounded up; infinite without a delta.
///
/// The order is searched continuously, so nothing depends on a list of orders. It is what remains when a composition is too
/// large for [`Composition::epsilon`], and serves for comparison otherwise.
///
/// # Source
/// Mironov (CSF 2017); conversion as [`renyi_to_epsilon`].
pub fn renyi_epsilon(composition: &Composition, delta: Delta) -> f64 {
    let by = |direction| least_epsilon_by_moments(composition, direction, delta);
    by(Direction::Remove).max(by(Direction::Add)).get()
}
