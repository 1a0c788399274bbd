//! The tree of what was spent.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::bisection::bisect;
use crate::cost::{Costs, two_dearest};
use crate::loss::{Loss, group_factor, nested};
use crate::outward::{LEAST, Lower, Upper, larger, smaller};
use crate::params::{Delta, Epsilon, Mu, Rho};
use crate::relation::{AddRemove, Relation};

/// Guesses at the delta of one change in a group. Each is nearer to it by a factor that is small for usual losses.
const MOST_GUESSES: usize = 40;

/// One line of a receipt: a loss, or steps composed in a stated way.
///
/// The totals of a step alone ([`Step::pure`], [`Step::zcdp`], [`Step::epsilon`]) are those under
/// [`AddRemove`]. Totals under another relation come from [`Receipt`](crate::Receipt), which knows its own; the `*_under` methods let a
/// relation be named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Step {
    /// One use of one mechanism.
    Spend {
        /// What it was used for.
        name: String,
        /// What its proof says that it costs.
        loss: Loss,
        /// The draws that this one loss pays for together; one draw if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        covers: Vec<Covered>,
    },
    /// Steps over the same records, each free to depend on the outputs before it: costs add.
    ///
    /// The losses themselves are fixed beforehand; only inputs and queries may depend on outputs.
    Sequential {
        /// What the steps make up together.
        name: String,
        /// The steps, in order.
        steps: Vec<Step>,
    },
    /// Steps over disjoint records, split by a rule that looks at one record at a time (and at earlier outputs): the
    /// dearest counts, in each measure on its own.
    ///
    /// Under a relation where a record can leave one part and enter another ([`Relation::PARTS_TOUCHED`] is 2) the two
    /// dearest add up, and every loss below must hold for a part that gains, loses or swaps one record.
    Parallel {
        /// What the parts make up together.
        name: String,
        /// One step per part.
        steps: Vec<Step>,
    },
    /// Steps of which a run takes one and draws from no other, as what was released before them decides: the dearest counts, in each measure
    /// on its own.
    OneOf {
        /// What is decided.
        name: String,
        /// One step per way.
        steps: Vec<Step>,
    },
    /// A step whose losses are stated for one record more or less, charged for up to `size` such changes.
    ///
    /// Replacing a record is two changes. Every loss below is scaled by [`Loss::scaled_to_group`], and
    /// parallel steps below charge their dearest part: changes that are spread over parts never cost more.
    Group {
        /// Why the step sees more than one change.
        name: String,
        /// How many changes.
        size: NonZeroU32,
        /// The step, stated for one change.
        step: Box<Step>,
    },
    /// A step whose losses hold outside of a mass `delta`: some law within total variation `delta` of `P` has them from `Q`, and the other
    /// way round where the relation has two sides. A key that is kept if its noisy count reaches a threshold is one: by itself a new
    /// key shows with probability `delta` at most, and if it does not, the noise in the other counts is all there is.
    ///
    /// Masses add up, whatever is inside: replace each `P` by the law near it, one after the other. In a group the mass grows; what it
    /// grows to is known where the inside is all pure or covered by a Gaussian pair, and through its epsilon otherwise.
    ///
    /// # Source
    /// Bun and Steinke (TCC 2016), Definition 8.1, in the weaker form that composition and conversion need.
    Outside {
        /// What can go wrong.
        name: String,
        /// With what probability, at most.
        delta: Delta,
        /// What holds otherwise.
        step: Box<Step>,
    },
    /// Steps that were composed apart, as a whole: the loss is that of all of them together, and theirs are told, not added up.
    Composed {
        /// What the steps make up together.
        name: String,
        /// What all of them cost.
        loss: Loss,
        /// The steps, in order.
        steps: Vec<Step>,
    },
}

/// Draws of one kind among those that one loss pays for together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covered {
    /// What they are for.
    pub name: String,
    /// How many there may be; `None` if what they cost is kept per record, by whoever draws.
    pub draws: Option<u64>,
}

impl Step {
    /// One use of one mechanism.
    pub fn spend(name: impl Into<String>, loss: Loss) -> Self {
        Self::spend_on(name, loss, Vec::new())
    }

    /// One loss that pays for several draws together.
    pub fn spend_on(name: impl Into<String>, loss: Loss, covers: Vec<Covered>) -> Self {
        Self::Spend { name: name.into(), loss, covers }
    }

    /// Steps over the same records: costs add.
    pub fn sequential(name: impl Into<String>, steps: Vec<Self>) -> Self {
        Self::Sequential { name: name.into(), steps }
    }

    /// Steps over disjoint records: the dearest counts.
    pub fn parallel(name: impl Into<String>, steps: Vec<Self>) -> Self {
        Self::Parallel { name: name.into(), steps }
    }

    /// Steps of which a run takes one: the dearest counts.
    ///
    /// ```
    /// use dp_accounting::{Loss, Mu, Step};
    ///
    /// // Few records get three rounds, many get one that costs as much.
    /// let round = |mu: f64| Mu::new(mu).map(|mu| Step::spend("round", Loss::from(mu)));
    /// let few = Step::sequential("few records", vec![round(0.1)?; 3]);
    /// let many = Step::sequential("many", vec![round(0.17)?]);
    /// let spent = Step::one_of("by the number of records", vec![few, many]);
    /// let mu = 0.03_f64.sqrt();
    /// assert!((spent.zcdp().expect("all Gaussian").get() - mu * mu / 2.0).abs() < 1e-12);
    /// # Ok::<(), dp_accounting::ParamError>(())
    /// ```
    pub fn one_of(name: impl Into<String>, steps: Vec<Self>) -> Self {
        Self::OneOf { name: name.into(), steps }
    }

    /// A step stated for one change, charged for `size`.
    pub fn group(name: impl Into<String>, size: NonZeroU32, step: Self) -> Self {
        Self::Group { name: name.into(), size, step: Box::new(step) }
    }

    /// A step whose losses hold outside of a mass `delta`, see [`Step::Outside`].
    pub fn outside(name: impl Into<String>, delta: Delta, step: Self) -> Self {
        Self::Outside { name: name.into(), delta, step: Box::new(step) }
    }

    /// Steps that together cost no more than this loss, by a proof or a computation of its own.
    pub fn composed(name: impl Into<String>, loss: Loss, steps: Vec<Self>) -> Self {
        Self::Composed { name: name.into(), loss, steps }
    }

    /// What the step is for.
    pub fn name(&self) -> &str {
        match self {
            Self::Spend { name, .. }
            | Self::Sequential { name, .. }
            | Self::Parallel { name, .. }
            | Self::OneOf { name, .. }
            | Self::Group { name, .. }
            | Self::Outside { name, .. }
            | Self::Composed { name, .. } => name,
        }
    }

    /// The total as pure DP under [`AddRemove`], rounded up; `None` if some step has no pure loss.
    pub fn pure(&self) -> Option<Epsilon> {
        self.pure_under::<AddRemove>()
    }

    /// The total as zCDP under [`AddRemove`], rounded up; `None` if some step has no zCDP loss.
    pub fn zcdp(&self) -> Option<Rho> {
        self.zcdp_under::<AddRemove>()
    }

    /// The least epsilon at `delta` over all routes that this crate knows, under [`AddRemove`]; `None` if none applies.
    ///
    /// Routes: everything pure; everything zCDP; each step as stated, the zCDP part converted at the delta that the
    /// approximate steps leave over, or the Gaussian part by its exact curve if nothing is zCDP.
    pub fn epsilon(&self, delta: Delta) -> Option<Epsilon> {
        self.epsilon_under::<AddRemove>(delta)
    }

    /// As [`Step::pure`], for neighbours under `R`.
    pub fn pure_under<R: Relation>(&self) -> Option<Epsilon> {
        self.costs_under::<R>().total_pure()
    }

    /// As [`Step::zcdp`], for neighbours under `R`.
    pub fn zcdp_under<R: Relation>(&self) -> Option<Rho> {
        self.costs_under::<R>().total_zcdp()
    }

    /// The total as Gaussian DP, for neighbours under `R`; `None` if some step has no [`Loss::gaussian`] there.
    pub fn gaussian_under<R: Relation>(&self) -> Option<Mu> {
        self.costs_under::<R>().total_gaussian()
    }

    /// As [`Step::epsilon`], for neighbours under `R`.
    pub fn epsilon_under<R: Relation>(&self, delta: Delta) -> Option<Epsilon> {
        self.best::<R>(delta, R::PARTS_TOUCHED, true)
    }

    /// Whether parallel steps are somewhere below.
    pub(crate) fn has_parts(&self) -> bool {
        match self {
            Self::Spend { .. } => false,
            Self::Parallel { .. } => true,
            Self::Sequential { steps, .. }
            | Self::OneOf { steps, .. }
            | Self::Composed { steps, .. } => steps.iter().any(Self::has_parts),
            Self::Group { step, .. } | Self::Outside { step, .. } => step.has_parts(),
        }
    }

    /// What the whole step costs neighbours under `R`.
    pub(crate) fn costs_under<R: Relation>(&self) -> Costs {
        self.costs::<R>(Some(1), R::PARTS_TOUCHED)
    }

    /// The costs if the step's records change `group` times, in at most `touched` parts of a partition. Groups of groups that do not
    /// fit an integer cost more than any number.
    fn costs<R: Relation>(&self, group: Option<u64>, touched: usize) -> Costs {
        match self {
            Self::Spend { loss, .. } | Self::Composed { loss, .. } => {
                Costs::of::<R>(loss.scaled_to(group))
            }
            Self::Sequential { steps, .. } => {
                let mut all = Costs::FREE;
                for step in steps {
                    all = all.plus(step.costs::<R>(group, touched));
                }
                all
            }
            Self::OneOf { steps, .. } => Self::dearest::<R>(steps, group, touched),
            Self::Parallel { steps, .. } => {
                let within = Self::dearest::<R>(steps, group, touched);
                if touched == 1 {
                    return within;
                }
                // Either one part sees the whole change, or two parts see one half each.
                within.max(two_dearest(steps.iter().map(|step| step.costs::<R>(group, 1))))
            }
            Self::Group { size, step, .. } => step.costs::<R>(nested(group, *size), 1),
            Self::Outside { delta, step, .. } => match group {
                Some(1) => step.costs::<R>(group, touched).outside(*delta),
                Some(size) => step.costs::<R>(Some(1), touched).group_outside(size, *delta),
                None => Costs::of::<R>(Loss::Unbounded),
            },
        }
    }

    fn dearest<R: Relation>(steps: &[Self], group: Option<u64>, touched: usize) -> Costs {
        let mut dearest = Costs::FREE;
        for step in steps {
            dearest = dearest.max(step.costs::<R>(group, touched));
        }
        dearest
    }

    /// The least epsilon at `delta`, also along routes that look at a node as a whole. With `groups` false, groups are only
    /// taken leaf by leaf: nested searches would take time exponential in the depth.
    fn best<R: Relation>(&self, delta: Delta, touched: usize, groups: bool) -> Option<Epsilon> {
        let by_parts = self.costs::<R>(Some(1), touched).epsilon(delta);
        let as_a_whole = match self {
            Self::Sequential { steps, .. } if steps.len() == 1 => {
                steps[0].best::<R>(delta, touched, groups)
            }
            Self::OneOf { steps, .. } => Self::dearest_best::<R>(steps, delta, touched, groups),
            Self::Parallel { steps, .. } if touched == 1 => {
                Self::dearest_best::<R>(steps, delta, touched, groups)
            }
            Self::Group { size, step, .. } if groups => step.best_of_group::<R>(delta, size.get()),
            Self::Outside { delta: outside, step, .. } => {
                let left = Lower::new(delta.get()) - Upper::new(outside.get());
                Delta::of(left.get()).and_then(|left| step.best::<R>(left, touched, groups))
            }
            _ => None,
        };
        by_parts.into_iter().chain(as_a_whole).reduce(Epsilon::min)
    }

    /// Each way, or part, has its own best route; the dearest of those is a bound.
    fn dearest_best<R: Relation>(
        steps: &[Self],
        delta: Delta,
        touched: usize,
        groups: bool,
    ) -> Option<Epsilon> {
        steps
            .iter()
            .map(|step| step.best::<R>(delta, touched, groups))
            .try_fold(Epsilon::ZERO, |worst, cost| cost.map(|cost| cost.max(worst)))
    }

    /// Converts to (epsilon, delta) first and takes the group afterwards.
    fn best_of_group<R: Relation>(&self, delta: Delta, size: u32) -> Option<Epsilon> {
        let one_change =
            |inner: f64| Delta::of(inner).and_then(|inner| self.best::<R>(inner, 1, false));
        // What the delta of one change has grown by after all of them.
        let grown =
            |inner: f64| one_change(inner).map(|cost| group_factor(cost.get(), u64::from(size)));
        let fits = |inner: f64| {
            grown(inner).map(|factor| factor.times(Upper::new(inner)).get() <= delta.get())
        };
        let mut inner = delta.get();
        // A change costs more at less delta, so from above nothing that fits is passed over: each of these is at least the root.
        for _ in 0..MOST_GUESSES {
            let guess = delta.get() / grown(inner)?.get();
            let near = guess >= inner * (1.0 - 1e-14);
            inner = smaller(guess, inner);
            if near {
                break;
            }
        }
        // Downwards from there in steps that double, until too little is left for the losses beside what lies outside of them.
        let (mut beyond, mut step) = (inner, larger(inner * f64::EPSILON, LEAST));
        while !fits(inner)? {
            if inner == 0.0 {
                return None;
            }
            beyond = inner;
            inner = larger(inner - step, inner / 2.0);
            step *= 2.0;
        }
        if inner < beyond {
            (inner, _) = bisect(inner, beyond, |inner| fits(inner) == Some(true));
        }
        let one = one_change(inner)?;
        Epsilon::of(Upper::new(one.get()).of_uses(f64::from(size)).get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: down by halves, then by bisection.
    fn plain(one: &Step, delta: f64, size: u32) -> Option<f64> {
        let cost =
            |inner: f64| Delta::of(inner).and_then(|inner| one.best::<AddRemove>(inner, 1, false));
        let fits = |inner: f64| {
            cost(inner).is_some_and(|cost| {
                let factor = group_factor(cost.get(), size.into());
                factor.times(Upper::new(inner)).get() <= delta
            })
        };
        let mut inner = delta;
        while !fits(inner) {
            if inner == 0.0 {
                return None;
            }
            inner /= 2.0;
            cost(inner)?;
        }
        if inner < delta {
            (inner, _) = bisect(inner, 2.0 * inner, fits);
        }
        Epsilon::of(Upper::new(cost(inner)?.get()).of_uses(size.into()).get()).map(Epsilon::get)
    }

    /// Losses of every kind, alone and outside of a mass, from deltas that are next to nothing on.
    #[test]
    fn a_group_costs_what_the_plain_search_finds() {
        let epsilon = |x: f64| Epsilon::of(x).expect("valid");
        let mut finite = 0;
        for scale in [1e-9, 1e-3, 0.1, 1.0, 7.0, 300.0] {
            let losses = [
                Loss::Pure { epsilon: epsilon(scale) },
                Loss::Zcdp { rho: Rho::of(scale).expect("valid") },
                Loss::Gaussian { mu: Mu::of(scale).expect("valid") },
                Loss::BoundedRange { eta: epsilon(scale) },
                Loss::Approximate {
                    epsilon: epsilon(scale),
                    delta: Delta::of(1e-9).expect("valid"),
                },
            ];
            for loss in losses {
                let one = Step::spend("one", loss);
                let outside = Step::outside("o", Delta::of(1e-12).expect("valid"), one.clone());
                let halves = Step::parallel("halves", vec![one.clone(), one.clone()]);
                for one in [one, outside, halves] {
                    for delta in [0.0, LEAST, 1e-300, 1e-20, 1e-6, 0.3, 0.999] {
                        for size in [1, 2, 3, 10, 1_000] {
                            let of_delta = Delta::of(delta).expect("valid");
                            let found = one.best_of_group::<AddRemove>(of_delta, size);
                            let (found, plain) =
                                (found.map(Epsilon::get), plain(&one, delta, size));
                            let alike = match (found, plain) {
                                (Some(found), Some(plain)) => {
                                    (found - plain).abs() <= 1e-12 * plain
                                }
                                (found, plain) => found == plain,
                            };
                            assert!(alike, "{one:?} {delta:e} {size}: {found:?}, {plain:?}");
                            finite += usize::from(found.is_some());
                        }
                    }
                }
            }
        }
        assert!(finite > 500, "{finite}");
    }
}
