//! The arithmetic of composition: what a tree of steps costs, on every route at once.

use std::ops::Add as _;

use crate::gaussian::{group_delta, mu_to_epsilon};
use crate::loss::{Loss, group_factor, pure_mu, pure_rho};
use crate::outward::{Lower, Upper};
use crate::params::{Delta, Epsilon, Mu, Rho};
use crate::relation::Relation;
use crate::zcdp::zcdp_to_epsilon;

/// A claim in four parts: outside of mass `delta`, the log-ratio is at most `epsilon` plus that of a `rho`-zCDP pair and that of a
/// Gaussian pair, `mu_squared` being the square of its distance.
///
/// Infinity in a part means that the route cannot express the cost. Parts add up under adaptive composition: drop the
/// mass `delta` of each step (it sums), bound the pure parts pointwise (they sum), and what is left has the moments of a
/// zCDP composition (they sum too, whatever the order in which the steps are interleaved). Gaussian pairs alone are worst for
/// their steps, and their product is the Gaussian pair of the summed squares (Dong, Roth, Su, JRSS B 2022, Corollary 2); beside zCDP
/// they count as `mu^2 / 2`. A pair that covers a step ([`Loss::gaussian`]) is as good as a step that has it. Only the direction `(P, Q)` is used, so this also holds under one-sided relations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    epsilon: Upper,
    delta: Upper,
    rho: Upper,
    mu_squared: Upper,
}

impl Cost {
    const FREE: Self = Self {
        epsilon: Upper::ZERO,
        delta: Upper::ZERO,
        rho: Upper::ZERO,
        mu_squared: Upper::ZERO,
    };
    const IMPOSSIBLE: Self = Self {
        epsilon: Upper::UNKNOWN,
        delta: Upper::UNKNOWN,
        rho: Upper::UNKNOWN,
        mu_squared: Upper::UNKNOWN,
    };

    fn pure(epsilon: Epsilon) -> Self {
        Self { epsilon: Upper::new(epsilon.get()), ..Self::FREE }
    }

    fn zcdp(rho: Rho) -> Self {
        Self { rho: Upper::new(rho.get()), ..Self::FREE }
    }

    fn gaussian(mu: Mu) -> Self {
        let mu = Upper::new(mu.get());
        Self { mu_squared: mu.times(mu), ..Self::FREE }
    }

    fn approximate(epsilon: Epsilon, delta: Delta) -> Self {
        Self { delta: Upper::new(delta.get()), ..Self::pure(epsilon) }
    }

    fn map2(self, other: Self, f: fn(Upper, Upper) -> Upper) -> Self {
        Self {
            epsilon: f(self.epsilon, other.epsilon),
            delta: f(self.delta, other.delta),
            rho: f(self.rho, other.rho),
            mu_squared: f(self.mu_squared, other.mu_squared),
        }
    }

    /// The epsilon at `delta`: what `delta` leaves over after the approximate steps pays for the zCDP or the Gaussian part.
    fn epsilon(self, delta: Delta) -> Option<Epsilon> {
        let left = Delta::of((Lower::new(delta.get()) - self.delta).get())?;
        let converted = if self.rho == Upper::ZERO {
            mu_to_epsilon(Mu::of_square(self.mu_squared)?, left)?
        } else {
            let rho = self.rho + self.mu_squared.times(Upper::new(0.5));
            zcdp_to_epsilon(Rho::of(rho.get())?, left)?
        };
        Epsilon::of((self.epsilon + Upper::new(converted.get())).get())
    }

    /// The distance and the mass, where there is nothing else.
    fn gaussian_outside(self) -> Option<(Mu, Delta)> {
        let Self { epsilon, delta, rho, mu_squared } = self;
        let alone = [epsilon, rho] == [Upper::ZERO; 2];
        if alone { Mu::of_square(mu_squared).zip(Delta::of(delta.get())) } else { None }
    }

    /// The same outside of a mass `delta` more.
    fn outside(self, delta: Delta) -> Self {
        Self { delta: self.delta + Upper::new(delta.get()), ..self }
    }
}

/// The same steps priced in four ways; each column composes on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// Whatever has a pure loss is counted as pure; zCDP and Gaussian steps cannot be expressed.
    pure: Cost,
    /// Whatever has a zCDP loss, outside of some mass or not, is counted as zCDP.
    zcdp: Cost,
    /// Each step in the measure in which it was stated.
    stated: Cost,
    /// Whatever a Gaussian pair covers, outside of some mass or not, is counted as that pair.
    gaussian: Cost,
}

impl Costs {
    pub(crate) const FREE: Self =
        Self { pure: Cost::FREE, zcdp: Cost::FREE, stated: Cost::FREE, gaussian: Cost::FREE };

    /// One step. Under a one-sided relation a pure loss stays pure in every column.
    pub(crate) fn of<R: Relation>(loss: Loss) -> Self {
        match (loss, loss.pure(), loss.zcdp()) {
            (Loss::Zcdp { rho }, _, _) if rho != Rho::ZERO => {
                let cost = Cost::zcdp(rho);
                Self { pure: Cost::IMPOSSIBLE, zcdp: cost, stated: cost, gaussian: cost }
            }
            (Loss::Gaussian { mu }, _, rho) if mu != Mu::ZERO => {
                let zcdp = rho.map_or(Cost::IMPOSSIBLE, Cost::zcdp);
                let cost = Cost::gaussian(mu);
                Self { pure: Cost::IMPOSSIBLE, zcdp, stated: cost, gaussian: cost }
            }
            (Loss::BoundedRange { eta }, _, Some(rho)) => {
                // The interval bounds both directions, so these conversions need no second side.
                let (cost, gaussian) = (Cost::pure(eta), covered(loss));
                Self { pure: cost, zcdp: Cost::zcdp(rho), stated: cost, gaussian }
            }
            (_, Some(epsilon), Some(rho)) => {
                let cost = Cost::pure(epsilon);
                let (zcdp, gaussian) =
                    if R::TWO_SIDED { (Cost::zcdp(rho), covered(loss)) } else { (cost, cost) };
                Self { pure: cost, zcdp, stated: cost, gaussian }
            }
            (_, Some(epsilon), None) => Self::same(Cost::pure(epsilon)),
            (Loss::Approximate { epsilon, delta }, None, _) => {
                let cost = Cost::approximate(epsilon, delta);
                // The worst pair reveals all with probability delta and is that of randomised response otherwise.
                let rho = pure_rho(epsilon.get());
                let mu = pure_mu(epsilon.get());
                if !R::TWO_SIDED || epsilon == Epsilon::ZERO {
                    return Self::same(cost);
                }
                let zcdp = Cost { rho, ..Cost::FREE }.outside(delta);
                let gaussian = Cost { mu_squared: mu.times(mu), ..Cost::FREE }.outside(delta);
                Self { pure: cost, zcdp, stated: cost, gaussian }
            }
            _ => Self::same(Cost::IMPOSSIBLE),
        }
    }

    fn same(cost: Cost) -> Self {
        Self { pure: cost, zcdp: cost, stated: cost, gaussian: cost }
    }

    fn map2(self, other: Self, f: fn(Upper, Upper) -> Upper) -> Self {
        Self {
            pure: self.pure.map2(other.pure, f),
            zcdp: self.zcdp.map2(other.zcdp, f),
            stated: self.stated.map2(other.stated, f),
            gaussian: self.gaussian.map2(other.gaussian, f),
        }
    }

    /// Both are spent.
    pub(crate) fn plus(self, other: Self) -> Self {
        self.map2(other, Upper::add)
    }

    /// One of the two is spent, whichever is dearer, part by part.
    pub(crate) fn max(self, other: Self) -> Self {
        self.map2(other, Upper::max)
    }

    /// The total as pure DP.
    pub(crate) fn total_pure(self) -> Option<Epsilon> {
        let Cost { epsilon, delta, rho, mu_squared } = self.pure;
        let alone = [delta, rho, mu_squared] == [Upper::ZERO; 3];
        if alone { Epsilon::of(epsilon.get()) } else { None }
    }

    /// The total as zCDP. A one-sided pure part has every divergence at most `epsilon <= a * epsilon`, so it adds in full.
    pub(crate) fn total_zcdp(self) -> Option<Rho> {
        self.total_zcdp_outside().and_then(|(rho, delta)| (delta == Delta::ZERO).then_some(rho))
    }

    /// The total as zCDP outside of a mass.
    pub(crate) fn total_zcdp_outside(self) -> Option<(Rho, Delta)> {
        // Nothing is Gaussian in this column.
        let Cost { epsilon, delta, rho, .. } = self.zcdp;
        Rho::of((epsilon + rho).get()).zip(Delta::of(delta.get()))
    }

    /// The total as Gaussian DP, where all that is spent has a Gaussian pair that covers it.
    pub(crate) fn total_gaussian(self) -> Option<Mu> {
        self.total_gaussian_outside().and_then(|(mu, delta)| (delta == Delta::ZERO).then_some(mu))
    }

    /// The total as Gaussian DP outside of a mass.
    pub(crate) fn total_gaussian_outside(self) -> Option<(Mu, Delta)> {
        self.gaussian.gaussian_outside()
    }

    /// The same, where every step is Gaussian by itself: the pair is then not only a cover, but what the steps may lose.
    pub(crate) fn stated_gaussian(self) -> Option<Mu> {
        self.stated.gaussian_outside().and_then(|(mu, delta)| (delta == Delta::ZERO).then_some(mu))
    }

    /// The same steps outside of a mass `delta`.
    pub(crate) fn outside(self, delta: Delta) -> Self {
        Self {
            pure: self.pure.outside(delta),
            zcdp: self.zcdp.outside(delta),
            stated: self.stated.outside(delta),
            gaussian: self.gaussian.outside(delta),
        }
    }

    /// What a chain of `size` neighbours costs, each step of the chain being `self` outside of a mass `delta`: known where the whole
    /// of `self` is pure or covered by a Gaussian pair.
    ///
    /// With `h` the largest `P(S)` that the loss allows at `Q(S)`, a step of the chain says `P(S) <= h(Q(S)) + delta`. `h` is concave and 0
    /// at 0, so `h(x + y) <= h(x) + h(y)`: two steps give `h(h(Q(S))) + h(delta) + delta`, and so on. For a pure loss `h(x)` is at most `e^epsilon x`.
    pub(crate) fn group_outside(self, size: u64, delta: Delta) -> Self {
        let grown = |factor: Upper| Delta::of(factor.times(Upper::new(delta.get())).get());
        if let Some(epsilon) = self.total_pure() {
            let loss = Loss::from(epsilon).scaled_to(Some(size));
            let delta = grown(group_factor(epsilon.get(), size));
            return match (loss, delta) {
                (Loss::Pure { epsilon }, Some(delta)) => {
                    Self::same(Cost::approximate(epsilon, delta))
                }
                _ => Self::same(Cost::IMPOSSIBLE),
            };
        }
        let whole = self.total_gaussian().and_then(|mu| {
            let Loss::Gaussian { mu: all } = Loss::from(mu).scaled_to(Some(size)) else {
                return None;
            };
            let delta = Delta::of(group_delta(mu, size, delta).get())?;
            let rho = Loss::from(all).zcdp().map_or(Cost::IMPOSSIBLE, Cost::zcdp);
            let cost = Cost::gaussian(all);
            let costs = Self { pure: Cost::IMPOSSIBLE, zcdp: rho, stated: cost, gaussian: cost };
            Some(costs.outside(delta))
        });
        whole.unwrap_or(Self::same(Cost::IMPOSSIBLE))
    }

    /// The least epsilon at `delta` over the columns.
    pub(crate) fn epsilon(self, delta: Delta) -> Option<Epsilon> {
        [self.pure, self.zcdp, self.stated, self.gaussian]
            .into_iter()
            .filter_map(|cost| cost.epsilon(delta))
            .reduce(Epsilon::min)
    }
}

/// A loss as the Gaussian pair that covers it.
fn covered(loss: Loss) -> Cost {
    loss.gaussian().map_or(Cost::IMPOSSIBLE, Cost::gaussian)
}

/// The sum of the two dearest, part by part: no pair of parts costs more.
pub(crate) fn two_dearest(costs: impl Iterator<Item = Costs>) -> Costs {
    let (mut first, mut second) = (Costs::FREE, Costs::FREE);
    for cost in costs {
        second = second.max(first.map2(cost, Upper::or));
        first = first.max(cost);
    }
    first.plus(second)
}
