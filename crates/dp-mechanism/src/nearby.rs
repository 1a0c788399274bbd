//! How far a step's output can move with one record, when records move by little.

use std::fmt;
use std::marker::PhantomData;

use dp_accounting::{ParamError, Within};

/// A metric with its unit, as a type: a distance in one does not fit where another is meant.
pub trait Metric: Copy + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// For people.
    const NAME: &'static str;
}

/// Euclidean distance in the unit of the records' coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinates;

impl Metric for Coordinates {
    const NAME: &'static str = "Euclidean distance in the unit of the coordinates";
}

/// Euclidean distance on the ground, in metres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metres;

impl Metric for Metres {
    const NAME: &'static str = "metres on the ground";
}

/// The distance up to which records are protected, in the metric `M`.
///
/// ```
/// use dp_mechanism::{Coordinates, Nearby};
///
/// assert_eq!(Nearby::<Coordinates>::new(0.05)?.rho(), 0.05);
/// assert!(Nearby::<Coordinates>::new(0.0).is_err());
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearby<M> {
    within: Within,
    metric: PhantomData<M>,
}

impl<M: Metric> Nearby<M> {
    /// Records may move by at most `rho`, which is finite and above 0: at 0, nothing would be hidden.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] for every other value.
    pub fn new(rho: f64) -> Result<Self, ParamError> {
        Ok(Self { within: Within::new(rho)?, metric: PhantomData })
    }

    /// The distance.
    pub fn rho(self) -> f64 {
        self.within.rho()
    }

    /// As a neighbouring relation, which remembers the number.
    pub fn within(self) -> Within {
        self.within
    }
}

/// How far the integer vector of one step moves with one record, as a function of how far the record does: a bound for every relation.
///
/// Under [`Within`], a step's sensitivity follows from `rho` and from the step. It is never above that of a replaced record, so a step
/// that changes fast falls back to it by itself.
///
/// A bound for one metric does not take a distance in another:
/// ```compile_fail,E0308
/// use dp_mechanism::{Coordinates, Metres, Modulus, Nearby};
///
/// let in_degrees = Modulus::<Coordinates>::new(20.0, 1.0, 1, 2)?;
/// let bound = in_degrees.moved(Nearby::<Metres>::new(50.0)?);
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
///
/// ```
/// use dp_mechanism::{Coordinates, Modulus, Nearby, Rule};
///
/// // One record adds a vector of at most 1,000 units, which moves by 80 for every 0.01 that the record does.
/// let step = Modulus::<Coordinates>::new(8_000.0, 0.0, 1_000_000, 2_000_000)?;
/// let near = step.moved(Nearby::new(0.01)?);
/// assert_eq!((near.squared, near.rule), (6_401, Rule::Moved)); // rounded up
/// let far = step.moved(Nearby::new(0.5)?);
/// assert_eq!((far, far.rule), (step.replaced(), Rule::Replaced));
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modulus<M> {
    per_distance: f64,
    slack: f64,
    added: u64,
    replaced: u64,
    metric: PhantomData<M>,
}

/// A bound on the squared length of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// In squared units of the vector.
    pub squared: u64,
    /// Where the bound comes from.
    pub rule: Rule,
}

/// Which bound of a [`Modulus`] is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The record moves by little, so its vector does.
    Moved,
    /// A record is replaced by any other.
    Replaced,
    /// A record comes or goes.
    Added,
}

impl<M: Metric> Modulus<M> {
    /// A step whose vector changes by a length of at most `per_distance * distance + slack` when a record moves, by the root of
    /// `replaced` when it is replaced by any other, and by the root of `added` when it comes or goes.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] if `per_distance` or `slack` is negative or not finite.
    pub fn new(
        per_distance: f64,
        slack: f64,
        added: u64,
        replaced: u64,
    ) -> Result<Self, ParamError> {
        for (name, got) in [("slope", per_distance), ("slack", slack)] {
            if !(got.is_finite() && got >= 0.0) {
                return Err(ParamError::OutOfRange { name, got, want: "finite and >= 0" });
            }
        }
        Ok(Self { per_distance, slack, added, replaced, metric: PhantomData })
    }

    /// For a record that moves by at most this much: the smaller of both bounds.
    pub fn moved(&self, nearby: Nearby<M>) -> Change {
        let length = (self.per_distance * nearby.rho() + self.slack) * (1.0 + 1e-12);
        let squared = (length * length * (1.0 + 1e-12)).ceil();
        if squared < self.replaced as f64 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "above 0, below a u64"
            )]
            let squared = squared as u64;
            Change { squared, rule: Rule::Moved }
        } else {
            self.replaced()
        }
    }

    /// For a record that is replaced by any other.
    pub fn replaced(&self) -> Change {
        Change { squared: self.replaced, rule: Rule::Replaced }
    }

    /// For a record that comes or goes.
    pub fn added(&self) -> Change {
        Change { squared: self.added, rule: Rule::Added }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_grows_with_the_distance_up_to_that_of_a_replaced_record() {
        let step = Modulus::<Coordinates>::new(3.0e6, 12.0, 1 << 40, 1 << 41).expect("valid");
        let mut before = 0;
        for exponent in -20..20 {
            let rho = f64::from(exponent).exp2();
            let change = step.moved(Nearby::new(rho).expect("valid"));
            let length = 3.0e6 * rho + 12.0;
            assert!(change.squared >= before && change.squared <= step.replaced().squared);
            match change.rule {
                Rule::Moved => assert!(change.squared as f64 >= length * length, "{rho}"),
                rule => assert_eq!((rule, change), (Rule::Replaced, step.replaced())),
            }
            before = change.squared;
        }
        assert_eq!(before, 1 << 41);
        let most = step.moved(Nearby::new(f64::MAX).expect("valid"));
        assert_eq!(most, step.replaced());
        assert_eq!(step.added(), Change { squared: 1 << 40, rule: Rule::Added });
    }

    /// A length of 80 that may have been rounded is a square above 6400, never below.
    #[test]
    fn squares_are_rounded_up() {
        for (per_distance, rho, slack) in [(80.0, 1.0, 0.0), (8000.0, 0.01, 0.0), (60.0, 1.0, 20.0)]
        {
            let step = Modulus::<Coordinates>::new(per_distance, slack, 1, 1 << 20).expect("valid");
            assert_eq!(step.moved(Nearby::new(rho).expect("valid")).squared, 6_401);
        }
    }

    #[test]
    fn distances_and_slopes_that_mean_nothing_are_refused_by_name() {
        for (rho, shown) in
            [(0.0, "0"), (-0.0, "-0"), (-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")]
        {
            let refused = Nearby::<Metres>::new(rho).expect_err("not a distance").to_string();
            assert_eq!(refused, format!("distance must be finite and > 0, got {shown}"));
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Modulus::<Coordinates>::new(bad, 0.0, 1, 1).is_err());
            assert!(Modulus::<Coordinates>::new(0.0, bad, 1, 1).is_err());
        }
    }
}
