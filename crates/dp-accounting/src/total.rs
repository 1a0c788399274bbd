//! A receipt as a composition of pairs of laws, and the whole curve that follows.

use crate::loss::{Loss, nested};
use crate::outward::{Between, Lower, Upper};
use crate::params::{Delta, Epsilon, Mu, Rho};
use crate::pld::{Bound, Composition, Event};
use crate::receipt::Receipt;
use crate::relation::{AddRemove, Relation};
use crate::rounding::recip_down;
use crate::step::Step;

/// A receipt taken apart: pairs of laws that are worst for its losses, a mass outside of which that holds, and a zCDP remainder, for
/// which no single pair is worst.
#[derive(Clone, Debug)]
pub struct Total {
    composition: Composition,
    left_out: Upper,
    rho: Upper,
    /// Some pair is worse than what it stands for.
    is_above: bool,
}

impl Total {
    /// The part that is made of pairs of laws.
    pub fn composition(&self) -> &Composition {
        &self.composition
    }

    /// The part that is known as zCDP only.
    pub fn remainder(&self) -> Option<Rho> {
        Rho::of(self.rho.get())
    }

    /// The mass outside of which the rest holds, apart from what is in the pairs.
    pub fn left_out(&self) -> f64 {
        self.left_out.get()
    }

    /// The epsilon at `delta`. With a zCDP remainder the lower side is 0: a loss known as zCDP may be smaller than its bound. So it is where parts, or
    /// ways of which one is taken, count as one pure loss that none of them has by itself.
    ///
    /// The remainder is paid from a share of `delta`, the best of a few. What is left out is paid in full by the upper side, and not at
    /// all by the lower.
    pub fn epsilon(&self, delta: Delta) -> Bound {
        if self.left_out == Upper::ZERO {
            return self.epsilon_inside(delta);
        }
        let left = Delta::of((Lower::new(delta.get()) - self.left_out).get());
        let upper =
            left.map_or(Upper::UNKNOWN, |left| Upper::new(self.epsilon_inside(left).upper()));
        Bound::proved(Between { lower: Lower::new(self.epsilon_inside(delta).lower()), upper })
    }

    fn epsilon_inside(&self, delta: Delta) -> Bound {
        if self.rho == Upper::ZERO {
            let bound = self.composition.epsilon(delta);
            if self.is_above {
                let upper = Upper::new(bound.upper());
                return Bound::proved(Between { lower: Lower::ZERO, upper });
            }
            return bound;
        }
        let with = |share: f64| {
            let rest = Delta::of(delta.get() * share)?;
            let own = Delta::of((Lower::new(delta.get()) - Upper::new(rest.get())).get())?;
            let converted = Upper::new(crate::zcdp_to_epsilon(self.remainder()?, rest)?.get());
            Some(converted + Upper::new(self.composition.epsilon(own).upper()))
        };
        let mut upper = Upper::UNKNOWN;
        // Nothing else wants a share.
        let shares: &[f64] =
            if self.composition.parts().is_empty() { &[1.0] } else { &[0.5, 0.9, 0.1, 0.99, 0.01] };
        for share in shares {
            upper = upper.or(with(*share).unwrap_or(Upper::UNKNOWN));
        }
        Bound::proved(Between { lower: Lower::ZERO, upper })
    }

    fn add(&mut self, loss: Loss) -> Option<()> {
        let event = match loss {
            Loss::Pure { epsilon } if epsilon == Epsilon::ZERO => return Some(()),
            Loss::BoundedRange { eta } if eta == Epsilon::ZERO => return Some(()),
            Loss::Pure { epsilon } => Event::randomised_response(epsilon),
            Loss::BoundedRange { eta } => Event::bounded_range(eta),
            Loss::Approximate { epsilon, delta } if epsilon == Epsilon::ZERO => {
                self.left_out = self.left_out + Upper::new(delta.get());
                return Some(());
            }
            Loss::Approximate { epsilon, delta } => Event::approximate(epsilon, delta),
            Loss::Gaussian { mu } if mu == Mu::ZERO => return Some(()),
            // The composition makes one of all Gaussians.
            Loss::Gaussian { mu } => Event::gaussian(recip_down(mu.get())),
            Loss::Zcdp { rho } => {
                self.rho = self.rho + Upper::new(rho.get());
                return Some(());
            }
            Loss::Unbounded => return None,
        };
        let composition = std::mem::take(&mut self.composition);
        self.composition = composition.with(event.ok()?, 1).ok()?;
        Some(())
    }

    fn walk(&mut self, step: &Step, group: Option<u64>) -> Option<()> {
        match step {
            Step::Spend { loss, .. } | Step::Composed { loss, .. } => {
                self.add(loss.scaled_to(group))
            }
            Step::Sequential { steps, .. } => steps.iter().try_for_each(|s| self.walk(s, group)),
            Step::Group { size, step, .. } => self.walk(step, nested(group, *size)),
            Step::Outside { delta, step, .. } if group == Some(1) => {
                self.left_out = self.left_out + Upper::new(delta.get());
                self.walk(step, group)
            }
            Step::Outside { .. } => None,
            // The dearest part or way, if it is the same in every measure; if not, all of them as zCDP.
            Step::Parallel { .. } | Step::OneOf { .. } => {
                let costs = step.costs_under::<AddRemove>();
                let dearest = if let Some(epsilon) = costs.total_pure() {
                    // Several pure losses are less than one of their sum, and a range is less than a pure loss.
                    self.is_above |= !loses(step, Loss::from(epsilon));
                    Loss::from(epsilon)
                } else if let Some(mu) = costs.stated_gaussian() {
                    Loss::from(mu)
                } else {
                    costs.total_zcdp().map(Loss::from)?
                };
                self.add(dearest.scaled_to(group))
            }
        }
    }
}

/// Whether some step says that it may lose all of this by itself.
fn loses(step: &Step, all: Loss) -> bool {
    match step {
        Step::Spend { loss, .. } | Step::Composed { loss, .. } => *loss == all,
        Step::Sequential { steps, .. }
        | Step::Parallel { steps, .. }
        | Step::OneOf { steps, .. } => steps.iter().any(|step| loses(step, all)),
        Step::Group { .. } | Step::Outside { .. } => false,
    }
}

impl<R: Relation> Receipt<R> {
    /// The receipt as pairs of laws; `None` where that is not proved: under one-sided relations, for parallel steps, or ways of which one is taken, that are not
    /// all zCDP, for parallel steps under a relation that touches two parts, and for losses out of the range of [`Event`].
    ///
    /// Source: worst pairs, see [`Event::randomised_response`], [`Event::approximate`] and [`Event::bounded_range`].
    pub fn total(&self) -> Option<Total> {
        fn splits(step: &Step) -> bool {
            match step {
                Step::Parallel { .. } => true,
                Step::Sequential { steps, .. } | Step::OneOf { steps, .. } => {
                    steps.iter().any(splits)
                }
                Step::Group { step, .. } | Step::Outside { step, .. } => splits(step),
                Step::Spend { .. } | Step::Composed { .. } => false,
            }
        }
        if !R::TWO_SIDED || (R::PARTS_TOUCHED > 1 && splits(self.spent())) {
            return None;
        }
        let (left_out, rho) = (Upper::ZERO, Upper::ZERO);
        let mut total = Total { composition: Composition::new(), left_out, rho, is_above: false };
        total.walk(self.spent(), Some(1))?;
        Some(total)
    }
}
