//! The face that every algorithm shows: a plan that knows its cost, then a release.

use dp_accounting::{Receipt, Relation};
use rand::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::{Draws, SecureDraws};

/// A plan, all of whose public settings have been checked.
///
/// Implementors provide [`run`](Self::run), the one code path of release and audit, and
/// [`receipt`](Self::receipt), made from the very primitives that `run` draws with.
pub trait Mechanism {
    /// Between which data sets the guarantee holds.
    type Relation: Relation;
    /// The private input.
    type Data<'a>;
    /// What is released.
    type Output;
    /// Why an input was refused.
    type Error;

    /// The whole cost, itemised, before any data exists.
    fn receipt(&self) -> Receipt<Self::Relation>;

    /// Refuses input whose public shape does not fit the plan, such as its dimension. It must not
    /// look at a private value, nor at the number of records where that is private.
    ///
    /// # Errors
    /// Names the shape and what was expected.
    fn check(&self, data: &Self::Data<'_>) -> Result<(), Self::Error>;

    /// One run, on input that passed [`check`](Self::check). It draws only from `draws`, and it
    /// must not fail, panic, log, or change the size of its output on account of a private value.
    fn run(&self, data: Self::Data<'_>, draws: &mut dyn Draws) -> Self::Output;

    /// One fresh release with its receipt.
    ///
    /// # Errors
    /// Those of [`check`](Self::check). Nothing is spent then.
    fn release<R: CryptoRng + ?Sized>(
        &self,
        data: Self::Data<'_>,
        rng: &mut R,
    ) -> Result<Release<Self::Output, Self::Relation>, Self::Error>
    where
        Self: Sized,
    {
        self.check(&data)?;
        let output = self.run(data, &mut SecureDraws::new(rng));
        Ok(Release { output, receipt: self.receipt() })
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
