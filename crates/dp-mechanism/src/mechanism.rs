//! The face that every algorithm shows: a plan that knows its cost, then a release.

use dp_accounting::{Receipt, Relation};
use rand::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::{Draws, Private, ReleaseRng, SecureSource, Source, Usage};

/// What an author writes: a plan, all of whose public settings have been checked. Users call [`Mechanism`].
pub trait Algorithm {
    /// Between which data sets the guarantee holds.
    type Relation: Relation;
    /// The private input, by reference.
    type Data<'a>: Copy + Sync;
    /// What of an input is public, such as its dimension.
    type Shape;
    /// What is released.
    type Output;
    /// Why an input was refused.
    type Error;

    /// The whole cost, itemised, before any data exists; made from the very primitives that `run` draws with.
    fn cost(&self) -> Receipt<Self::Relation>;

    /// What is public of an input. It is equal for all neighbours: not the number of records where that is private.
    fn shape(data: &Self::Data<'_>) -> Self::Shape;

    /// Refuses input whose shape does not fit the plan.
    ///
    /// # Errors
    /// Names the shape and what was expected.
    fn check(&self, shape: &Self::Shape) -> Result<(), Self::Error>;

    /// One run, on input whose shape passed [`check`](Self::check): the one code path of release and audit.
    ///
    /// It draws only from `draws`, each draw from the leaf of the receipt that pays for it. It must not panic or loop forever on account
    /// of a private value; that it does not branch on one, or return one, is checked by the compiler.
    fn run(&self, data: Private<Self::Data<'_>>, draws: &mut Draws<'_>) -> Self::Output;
}

/// A plan that knows its whole cost, and makes releases. Every [`Algorithm`] is one, and nothing here can be overridden.
pub trait Mechanism: Algorithm {
    /// The whole cost, itemised, before any data exists.
    fn receipt(&self) -> Receipt<Self::Relation>;

    /// One fresh release with its receipt.
    ///
    /// # Errors
    /// Those of [`Algorithm::check`]. Nothing is spent then.
    fn release(
        &self,
        data: Self::Data<'_>,
        rng: &mut ReleaseRng,
    ) -> Result<Release<Self::Output, Self::Relation>, Self::Error>;

    /// The same code with a generator of the caller's choice, for tests and evaluations on data that may be published.
    ///
    /// Who knows the seed knows the noise: what comes out is not private.
    ///
    /// # Errors
    /// Those of [`Algorithm::check`].
    fn simulate<R: CryptoRng + ?Sized>(
        &self,
        data: Self::Data<'_>,
        rng: &mut R,
    ) -> Result<Release<Self::Output, Self::Relation>, Self::Error>;

    /// The same code with any source of draws, for audits; the shape must have passed the check.
    fn replay(&self, data: Self::Data<'_>, source: &mut dyn Source) -> (Self::Output, Usage);
}

impl<A: Algorithm> Mechanism for A {
    fn receipt(&self) -> Receipt<A::Relation> {
        self.cost()
    }

    fn release(
        &self,
        data: A::Data<'_>,
        rng: &mut ReleaseRng,
    ) -> Result<Release<A::Output, A::Relation>, A::Error> {
        self.simulate(data, rng)
    }

    fn simulate<R: CryptoRng + ?Sized>(
        &self,
        data: A::Data<'_>,
        rng: &mut R,
    ) -> Result<Release<A::Output, A::Relation>, A::Error> {
        self.check(&A::shape(&data))?;
        let (output, _) = self.replay(data, &mut SecureSource::new(rng));
        Ok(Release { output, receipt: self.cost() })
    }

    fn replay(&self, data: A::Data<'_>, source: &mut dyn Source) -> (A::Output, Usage) {
        let data = Private::new(data);
        Draws::planned(source, &self.cost(), |draws| self.run(data, draws))
    }
}

/// What came out, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "T: Serialize + serde::de::DeserializeOwned, R: Relation")]
#[must_use = "the privacy budget is spent whether the release is used or not"]
pub struct Release<T, R: Relation> {
    /// The released value. Anything computed from it alone is free.
    pub output: T,
    /// The itemised cost.
    pub receipt: Receipt<R>,
}

#[cfg(test)]
mod tests {
    use dp_accounting::{AddRemove, Budget, Epsilon, Step};
    use dp_noise::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;
    use crate::NoisyCount;

    /// Counts of columns, of which the plan knows the number.
    struct Columns(usize);

    impl Algorithm for Columns {
        type Relation = AddRemove;
        type Data<'a> = &'a [u64];
        type Shape = usize;
        type Output = Vec<i64>;
        type Error = usize;

        fn cost(&self) -> Receipt<AddRemove> {
            let column = Step::spend("column", count().loss());
            let budget = Budget::new(1.0, 0.0).expect("valid");
            Receipt::new("columns", AddRemove, budget, Step::parallel("columns", vec![column]))
        }

        fn shape(data: &&[u64]) -> usize {
            data.len()
        }

        fn check(&self, shape: &usize) -> Result<(), usize> {
            if *shape == self.0 { Ok(()) } else { Err(*shape) }
        }

        fn run(&self, data: Private<&[u64]>, draws: &mut Draws<'_>) -> Vec<i64> {
            let column = |column: usize| data.map(move |data| data[column]);
            let release = |at| count().release(column(at), &mut draws.part("column", 0, at as u64));
            (0..self.0).map(release).collect()
        }
    }

    fn count() -> NoisyCount {
        NoisyCount::geometric(Epsilon::new(1.0).expect("valid")).expect("in range")
    }

    #[test]
    fn a_shape_that_does_not_fit_the_plan_is_refused_before_anything_is_drawn() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let refused = Columns(2).simulate(&[5, 6, 7], &mut rng).map(|release| release.output);
        assert_eq!((refused, rng.get_word_pos()), (Err(3), 0));
        let released = Columns(3).simulate(&[5, 6, 7], &mut rng).map(|release| release.output);
        assert_eq!(released.map(|counts| counts.len()), Ok(3));
    }
}
