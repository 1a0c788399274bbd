//! What a check is, and what it finds.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use crate::{Claim, Method};

/// A loss may exceed its claim by this factor before it counts: the rounding of `f64` probabilities.
pub const TOLERANCE: f64 = 1.0 + 1e-9;

/// How much to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Where random cases start from.
    pub seed: u64,
    /// Minutes instead of seconds.
    pub deep: bool,
}

impl Effort {
    /// Seconds, with a fixed seed: part of `cargo test`.
    pub fn quick() -> Self {
        Self { seed: 1, deep: false }
    }

    /// Minutes, with a seed of its own that is printed.
    pub fn deep(seed: u64) -> Self {
        Self { seed, deep: true }
    }

    /// The first number, or the second when there is time.
    pub fn of<T>(self, quick: T, deep: T) -> T {
        if self.deep { deep } else { quick }
    }

    /// A generator of its own for each check.
    pub fn rng(self, check: u64) -> ChaCha20Rng {
        ChaCha20Rng::seed_from_u64(self.seed ^ check << 32)
    }
}

/// The worst that a check has come across.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The loss claimed.
    pub claimed: f64,
    /// The largest loss seen.
    pub worst: f64,
    /// Where it was seen.
    pub witness: String,
    /// How many cases were tried.
    pub cases: u64,
}

impl Found {
    /// Nothing yet about this claim.
    pub fn claim(claimed: f64) -> Self {
        Self { claimed, worst: 0.0, witness: "none".to_owned(), cases: 0 }
    }

    /// One more case.
    pub fn see(&mut self, loss: f64, witness: impl FnOnce() -> String) {
        self.cases += 1;
        // A loss that is not a number is the worst of all, and stays so.
        if loss > self.worst || loss.is_nan() {
            self.worst = loss;
            self.witness = witness();
        }
    }

    /// Two findings about the same claim as one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let cases = self.cases + other.cases;
        self.see(other.worst, || other.witness);
        Self { cases, ..self }
    }

    /// Whether the claim survives. It does not if there was nothing to survive.
    pub fn stands(&self) -> bool {
        self.cases > 0 && self.worst <= self.claimed * TOLERANCE
    }

    /// What a check that panicked has shown: a crash is an output too.
    pub(super) fn panicked(why: &str) -> Self {
        let witness = format!("panicked: {why}");
        Self { claimed: f64::NAN, worst: f64::INFINITY, witness, cases: 0 }
    }
}

/// A check of one claim.
#[derive(Clone)]
pub struct Check {
    pub(super) id: String,
    pub(super) mechanism: String,
    relation: String,
    method: Method,
    resolution: f64,
    run: Arc<dyn Fn(Effort) -> Found + Send + Sync>,
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Check").field(&self.id).finish()
    }
}

impl Check {
    /// A check with a stable name of its own about a mechanism under a relation. It resolves what rounding
    /// does, unless it [says otherwise](Self::resolution).
    pub fn new(
        id: impl Into<String>,
        mechanism: impl Into<String>,
        relation: impl Into<String>,
        method: Method,
        run: impl Fn(Effort) -> Found + Send + Sync + 'static,
    ) -> Self {
        let (id, mechanism, relation) = (id.into(), mechanism.into(), relation.into());
        Self { id, mechanism, relation, method, resolution: TOLERANCE, run: Arc::new(run) }
    }

    /// What it is about, as it was given.
    pub fn mechanism(&self) -> &str {
        &self.mechanism
    }

    /// The smallest overspend, as a factor, that it would notice.
    #[must_use]
    pub fn resolution(self, resolution: f64) -> Self {
        Self { resolution, ..self }
    }

    /// Runs it; a panic is a claim that does not stand.
    pub fn claim(&self, crate_name: &str, effort: Effort) -> Claim {
        let (found, seconds) = timed(|| (self.run)(effort));
        let found = found.unwrap_or_else(|why| Found::panicked(&why));
        Claim {
            id: self.id.clone(),
            crate_name: crate_name.to_owned(),
            mechanism: self.mechanism.clone(),
            relation: self.relation.clone(),
            method: self.method,
            claimed: found.claimed,
            worst: found.worst,
            tightness: found.worst / found.claimed,
            // Had it lost this much more everywhere, the worst case found would have crossed the claim.
            resolution: (found.claimed / found.worst).max(self.resolution),
            cases: found.cases,
            seconds,
            pass: found.stands(),
            witness: found.witness,
        }
    }
}

/// The result and its duration; a panic becomes its message.
///
/// Cases are tiny, so waking other threads would take longer than the work: one thread it is.
pub(super) fn timed<T: Send>(run: impl FnOnce() -> T + Send) -> (Result<T, String>, f64) {
    let start = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let result = pool.install(|| catch_unwind(AssertUnwindSafe(run)));
    let result = result.map_err(|panic| panic_message(&*panic).to_owned());
    (result, start.elapsed().as_secs_f64())
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_cannot_pass_on_nothing() {
        let claimed = 1.0;
        let nothing = Found { claimed, worst: 0.0, witness: String::new(), cases: 0 };
        assert!(!nothing.stands());
        let undefined = Found { claimed, worst: f64::NAN, witness: String::new(), cases: 9 };
        assert!(!undefined.stands());
        let check = Check::new("x", "X", "none", Method::Exact, |_| panic!("why"));
        let claim = check.claim("dp-mine", Effort::quick());
        assert!(!claim.pass && claim.witness == "panicked: why", "{claim:?}");
    }

    /// What a check reaches of its claim, and by how much more it would have noticed; not less than what it says of itself.
    #[test]
    fn a_claim_says_how_much_of_it_was_reached() {
        for (loss, own, tightness, resolution) in
            [(2.0, 1.5, 0.5, 2.0), (3.0, 1.5, 0.75, 1.5), (4.0, TOLERANCE, 1.0, TOLERANCE)]
        {
            let found = move |_| {
                let mut found = Found::claim(4.0);
                found.see(loss, || "here".to_owned());
                found
            };
            let check = Check::new("x", "X", "none", Method::Exact, found).resolution(own);
            let claim = check.claim("dp-mine", Effort::quick());
            assert!((claim.tightness - tightness).abs() < 1e-15, "{claim:?}");
            assert!((claim.resolution - resolution).abs() < 1e-15, "{claim:?}");
        }
    }

    /// A small claim has no more room than a large one.
    #[test]
    fn a_loss_may_exceed_its_claim_by_rounding_only() {
        for claimed in [1e-12, 1.0, 1e6] {
            let stands = |loss: f64| {
                let mut found = Found::claim(claimed);
                found.see(loss, || "here".to_owned());
                found.stands()
            };
            assert!(stands(claimed) && stands(claimed * (1.0 + 1e-10)));
            assert!(!stands(claimed * (1.0 + 1e-8)) && !stands(claimed + 1e-2), "{claimed}");
        }
    }

    #[test]
    fn of_two_findings_the_worse_stays_and_a_number_that_is_none_is_the_worst() {
        let with = |worst: f64| {
            let mut found = Found::claim(1.0);
            found.see(worst, || format!("{worst}"));
            found
        };
        let both = with(0.5).and(with(0.7));
        assert_eq!((both.worst, both.witness.as_str(), both.cases), (0.7, "0.7", 2));
        assert!(!with(f64::NAN).and(with(0.5)).stands() && !with(0.5).and(with(f64::NAN)).stands());
    }
}
