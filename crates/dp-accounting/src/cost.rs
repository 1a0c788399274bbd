//! The arithmetic of composition: what a tree of steps costs, on every route at once.

use crate::gaussian::mu_to_epsilon;
use crate::loss::{Loss, pure_rho};
use crate::outward::{larger, smaller};
use crate::params::{Delta, Epsilon, Mu, Rho};
use crate::relation::Relation;
use crate::rounding::{add_up, mul_up, sub_down};
use crate::zcdp::zcdp_to_epsilon;

/// A claim in four parts: outside of mass `delta`, the log-ratio is at most `epsilon` plus that of a `rho`-zCDP pair and that of a
/// Gaussian pair, `mu_squared` being the square of its distance.
///
/// Infinity in a part means that the route cannot express the cost. Parts add up under adaptive composition: drop the
/// mass `delta` of each step (it sums), bound the pure parts pointwise (they sum), and what is left has the moments of a
/// zCDP composition (they sum too, whatever the order in which the steps are interleaved). Gaussian pairs alone are worst for
/// their steps, and their product is the Gaussian pair of the summed squares (Dong, Roth, Su, JRSS B 2022, Corollary 2); beside zCDP
/// they count as `mu^2 / 2`. Only the direction `(P, Q)` is used, so this also holds under one-sided relations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    epsilon: f64,
    delta: f64,
    rho: f64,
    mu_squared: f64,
}

impl Cost {
    const FREE: Self = Self { epsilon: 0.0, delta: 0.0, rho: 0.0, mu_squared: 0.0 };
    const IMPOSSIBLE: Self = Self {
        epsilon: f64::INFINITY,
        delta: f64::INFINITY,
        rho: f64::INFINITY,
        mu_squared: f64::INFINITY,
    };

    fn pure(epsilon: Epsilon) -> Self {
        Self { epsilon: epsilon.get(), ..Self::FREE }
    }

    fn zcdp(rho: Rho) -> Self {
        Self { rho: rho.get(), ..Self::FREE }
    }

    fn gaussian(mu: Mu) -> Self {
        Self { mu_squared: mul_up(mu.get(), mu.get()), ..Self::FREE }
    }

    fn approximate(epsilon: Epsilon, delta: Delta) -> Self {
        Self { epsilon: epsilon.get(), delta: delta.get(), ..Self::FREE }
    }

    fn map2(self, other: Self, f: fn(f64, f64) -> f64) -> Self {
        Self {
            epsilon: f(self.epsilon, other.epsilon),
            delta: f(self.delta, other.delta),
            rho: f(self.rho, other.rho),
            mu_squared: f(self.mu_squared, other.mu_squared),
        }
    }

    /// The epsilon at `delta`: what `delta` leaves over after the approximate steps pays for the zCDP or the Gaussian part.
    fn epsilon(self, delta: Delta) -> Option<Epsilon> {
        if self.delta > delta.get() {
            return None;
        }
        let left = Delta::of(sub_down(delta.get(), self.delta))?;
        let converted = if self.rho == 0.0 {
            mu_to_epsilon(Mu::of_square(self.mu_squared)?, left)?
        } else {
            zcdp_to_epsilon(Rho::of(add_up(self.rho, mul_up(self.mu_squared, 0.5)))?, left)?
        };
        Epsilon::of(add_up(self.epsilon, converted.get()))
    }
}

/// The same steps priced in three ways; each column composes on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// Whatever has a pure loss is counted as pure; zCDP and Gaussian steps cannot be expressed.
    pure: Cost,
    /// Whatever has a zCDP loss, outside of some mass or not, is counted as zCDP.
    zcdp: Cost,
    /// Each step in the measure in which it was stated.
    stated: Cost,
}

impl Costs {
    pub(crate) const FREE: Self = Self { pure: Cost::FREE, zcdp: Cost::FREE, stated: Cost::FREE };

    /// One step. Under a one-sided relation a pure loss stays pure in every column.
    pub(crate) fn of<R: Relation>(loss: Loss) -> Self {
        match (loss, loss.pure(), loss.zcdp()) {
            (Loss::Zcdp { rho }, _, _) if rho != Rho::ZERO => {
                let cost = Cost::zcdp(rho);
                Self { pure: Cost::IMPOSSIBLE, zcdp: cost, stated: cost }
            }
            (Loss::Gaussian { mu }, _, rho) if mu != Mu::ZERO => {
                let zcdp = rho.map_or(Cost::IMPOSSIBLE, Cost::zcdp);
                Self { pure: Cost::IMPOSSIBLE, zcdp, stated: Cost::gaussian(mu) }
            }
            (Loss::BoundedRange { eta }, _, Some(rho)) => {
                // The interval bounds both directions, so this conversion needs no second side.
                Self { pure: Cost::pure(eta), zcdp: Cost::zcdp(rho), stated: Cost::pure(eta) }
            }
            (_, Some(epsilon), Some(rho)) => {
                let cost = Cost::pure(epsilon);
                let zcdp = if R::TWO_SIDED { Cost::zcdp(rho) } else { cost };
                Self { pure: cost, zcdp, stated: cost }
            }
            (_, Some(epsilon), None) => Self::same(Cost::pure(epsilon)),
            (Loss::Approximate { epsilon, delta }, None, _) => {
                let cost = Cost::approximate(epsilon, delta);
                // The worst pair reveals all with probability delta and is that of randomised response otherwise.
                let rho = pure_rho(epsilon.get());
                let outside = Cost { delta: delta.get(), rho, ..Cost::FREE };
                let zcdp = if R::TWO_SIDED && epsilon > Epsilon::ZERO { outside } else { cost };
                Self { pure: cost, zcdp, stated: cost }
            }
            _ => Self::same(Cost::IMPOSSIBLE),
        }
    }

    fn same(cost: Cost) -> Self {
        Self { pure: cost, zcdp: cost, stated: cost }
    }

    fn map2(self, other: Self, f: fn(f64, f64) -> f64) -> Self {
        Self {
            pure: self.pure.map2(other.pure, f),
            zcdp: self.zcdp.map2(other.zcdp, f),
            stated: self.stated.map2(other.stated, f),
        }
    }

    /// Both are spent.
    pub(crate) fn plus(self, other: Self) -> Self {
        self.map2(other, add_up)
    }

    /// One of the two is spent, whichever is dearer, part by part.
    pub(crate) fn max(self, other: Self) -> Self {
        self.map2(other, larger)
    }

    /// The total as pure DP.
    pub(crate) fn total_pure(self) -> Option<Epsilon> {
        let Cost { epsilon, delta, rho, mu_squared } = self.pure;
        if delta == 0.0 && rho == 0.0 && mu_squared == 0.0 { Epsilon::of(epsilon) } else { None }
    }

    /// The total as zCDP. A one-sided pure part has every divergence at most `epsilon <= a * epsilon`, so it adds in full.
    pub(crate) fn total_zcdp(self) -> Option<Rho> {
        self.total_zcdp_outside().and_then(|(rho, delta)| (delta == Delta::ZERO).then_some(rho))
    }

    /// The total as zCDP outside of a mass.
    pub(crate) fn total_zcdp_outside(self) -> Option<(Rho, Delta)> {
        // Nothing is Gaussian in this column.
        let Cost { epsilon, delta, rho, .. } = self.zcdp;
        Rho::of(add_up(epsilon, rho)).zip(Delta::of(delta))
    }

    /// The total as Gaussian DP, where nothing else is spent.
    pub(crate) fn total_gaussian(self) -> Option<Mu> {
        let Cost { epsilon, delta, rho, mu_squared } = self.stated;
        if epsilon == 0.0 && delta == 0.0 && rho == 0.0 { Mu::of_square(mu_squared) } else { None }
    }

    /// The least epsilon at `delta` over the columns.
    pub(crate) fn epsilon(self, delta: Delta) -> Option<Epsilon> {
        [self.pure, self.zcdp, self.stated]
            .into_iter()
            .filter_map(|cost| cost.epsilon(delta))
            .reduce(Epsilon::min)
    }
}

/// The sum of the two dearest, part by part: no pair of parts costs more.
pub(crate) fn two_dearest(costs: impl Iterator<Item = Costs>) -> Costs {
    let (mut first, mut second) = (Costs::FREE, Costs::FREE);
    for cost in costs {
        second = second.max(first.map2(cost, smaller));
        first = first.max(cost);
    }
    first.plus(second)
}
