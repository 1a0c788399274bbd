//! The algorithms of the suite with their settings.

use crate::error::Error;
use crate::eval::family::Label;
use dp_accounting::{Budget, Delta, Epsilon, Rho, budget_to_zcdp, repeated_selection_epsilon};
use dp_combinatorial::submodular::{
    ContinuousGreedy, Coverage, Credits, Greedy, Matroid, Partition, Uniform, exact_greedy,
};
use dp_combinatorial::{Certificate, ChaCha20Rng, Mechanism, SelectionRule};
use quietus_datasets::sets::submodular::Function;
use rand::RngExt;

/// Of every method that has one.
pub(super) const DELTA: f64 = 1e-6;

/// What may be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constraint {
    /// So many elements.
    Any(usize),
    /// So many blocks of consecutive elements, and how many of each.
    Blocks(usize, usize),
}

impl Constraint {
    pub(super) fn name(self) -> String {
        match self {
            Self::Any(k) => format!("k={k}"),
            Self::Blocks(blocks, each) => format!("{blocks} blocks, {each} of each"),
        }
    }

    fn matroid(self, elements: usize) -> Result<Box<dyn Matroid>, Error> {
        let failed =
            |error: dp_combinatorial::CombinatorialError| Error::library("matroid", &error);
        Ok(match self {
            Self::Any(k) => Box::new(Uniform::new(elements, k).map_err(failed)?),
            Self::Blocks(blocks, each) => {
                let of = (0..elements).map(|element| element * blocks / elements).collect();
                Box::new(Partition::new(of, vec![each; blocks]).map_err(failed)?)
            }
        })
    }
}

/// An algorithm with a variant of it; `default` is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Method {
    pub(super) algorithm: &'static str,
    pub(super) variant: &'static str,
}

const fn method(algorithm: &'static str, variant: &'static str) -> Method {
    Method { algorithm, variant }
}

/// Without and with privacy; the first two have no epsilon.
pub(super) const METHODS: [Method; 12] = [
    method("greedy", "default"),
    method("random", "default"),
    method("pure-greedy", "default"),
    method("composition-greedy", "default"),
    method("approximate-greedy", "default"),
    method("pure-greedy", "exponential"),
    method("pure-greedy", "noisy max"),
    method("pure-greedy", "published constant"),
    method("composition-greedy", "factor 2"),
    method("composition-greedy", "zero-concentrated"),
    method("composition-greedy", "advanced, factor 2"),
    method("approximate-greedy", "published constant"),
];

/// How many of [`METHODS`] are run everywhere and drawn.
pub(super) const MAIN: usize = 5;

/// Steps and roundings of continuous greedy under blocks.
pub(super) const CONTINUOUS: [Method; 4] = [
    method("pure-continuous-greedy", "2 steps"),
    method("pure-continuous-greedy", "4 steps"),
    method("pure-continuous-greedy", "8 steps"),
    method("pure-continuous-greedy", "4 steps, best of 8"),
];

impl Method {
    /// Whether it looks at the users, under a guarantee.
    pub(super) fn has_epsilon(self) -> bool {
        !["greedy", "random"].contains(&self.algorithm)
    }

    fn delta(self) -> Option<f64> {
        let approximate = self.algorithm == "approximate-greedy"
            || ["zero-concentrated", "advanced, factor 2"].contains(&self.variant);
        self.has_epsilon().then_some(if approximate { DELTA } else { 0.0 })
    }

    pub(super) fn label(self, constraint: Constraint) -> Label {
        let is_greedy = self.algorithm == "greedy";
        Label {
            algorithm: self.algorithm,
            variant: match self.variant {
                "default" => constraint.name(),
                variant => format!("{}; {variant}", constraint.name()),
            },
            relation: (!is_greedy).then_some("add-remove"),
            has_epsilon: self.has_epsilon(),
            delta: self.delta(),
            once: is_greedy,
            params: vec![("constraint", constraint.name().into())],
        }
    }

    /// The chosen elements.
    pub(super) fn run(
        self,
        function: &Function,
        constraint: Constraint,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<usize>, Error> {
        let objective = function.objective();
        let matroid = constraint.matroid(objective.elements())?;
        let matroid = &*matroid;
        match self.algorithm {
            "greedy" => Ok(exact_greedy(objective, matroid)),
            "random" => {
                let mut chosen = Vec::new();
                while let candidates = matroid.addable(&chosen)
                    && !candidates.is_empty()
                {
                    chosen.push(candidates[rng.random_range(0..candidates.len())]);
                }
                Ok(chosen)
            }
            "pure-continuous-greedy" => self.continuous(function, matroid, epsilon, rng),
            _ => self.greedy(function, matroid, epsilon, rng),
        }
    }

    fn failed(self, error: &dyn std::error::Error) -> Error {
        Error::library(self.algorithm, &error)
    }

    fn budget(self, epsilon: f64) -> Result<Budget, Error> {
        let delta = self.delta().unwrap_or(0.0);
        Budget::new(epsilon, delta).map_err(|error| self.failed(&error))
    }

    fn greedy(
        self,
        function: &Function,
        matroid: &dyn Matroid,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<usize>, Error> {
        let mut objective = function.objective();
        let (certificate, rule, epsilon) = self.proof(matroid.rank(), epsilon)?;
        let weaker = weaker_weights(function, epsilon)?;
        if self.algorithm == "pure-greedy" && self.variant == "published constant" {
            objective = weaker.as_ref().map_or(objective, |weaker| weaker);
        }
        let plan = Greedy::builder(matroid, objective.most_credit(), self.budget(epsilon)?);
        let plan = plan.certificate(certificate).rule(rule).build();
        let release = plan.and_then(|plan| plan.simulate(objective, rng));
        release.map(|release| release.output.elements).map_err(|error| self.failed(&error))
    }

    /// The proof with its rule, and the epsilon under our bounds whose rate is that of the method.
    fn proof(self, rank: usize, epsilon: f64) -> Result<(Certificate, SelectionRule, f64), Error> {
        let delta = Delta::new(DELTA).map_err(|error| self.failed(&error))?;
        let rounds = rank as f64;
        let flip = SelectionRule::PermuteAndFlip;
        let exponential = SelectionRule::Exponential;
        let approximate = Certificate::Approximate { delta };
        Ok(match (self.algorithm, self.variant) {
            ("pure-greedy", "exponential" | "published constant") => {
                (Certificate::Subsampled, exponential, epsilon)
            }
            ("pure-greedy", "noisy max") => {
                (Certificate::Subsampled, SelectionRule::NoisyMax, epsilon)
            }
            ("pure-greedy", _) => (Certificate::Subsampled, flip, epsilon),
            ("composition-greedy", "factor 2") => {
                (Certificate::Composition, exponential, epsilon / 2.0)
            }
            ("composition-greedy", "zero-concentrated") => {
                // A monotone choice at this rate is rate^2/8 zero-concentrated.
                let rho = budget_to_zcdp(self.budget(epsilon)?).map_or(0.0, Rho::get);
                (Certificate::Composition, exponential, (8.0 * rho / rounds).sqrt() * rounds)
            }
            ("composition-greedy", "advanced, factor 2") => {
                (Certificate::Composition, exponential, rounds * advanced(epsilon, rounds) / 2.0)
            }
            ("approximate-greedy", "published constant") => {
                let rate = epsilon / ((std::f64::consts::E - 1.0) * (1.0 - DELTA.ln()));
                let rate = Epsilon::new(rate).map_err(|error| self.failed(&error))?;
                let bound = repeated_selection_epsilon(rate, delta).map_or(epsilon, Epsilon::get);
                (approximate, exponential, bound)
            }
            ("approximate-greedy", _) => (approximate, exponential, epsilon),
            _ => (Certificate::Composition, flip, epsilon),
        })
    }

    fn continuous(
        self,
        function: &Function,
        matroid: &dyn Matroid,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<usize>, Error> {
        let Function::Coverage(coverage) = function else { return Ok(Vec::new()) };
        let plan = ContinuousGreedy::builder(matroid, Credits::ranked(1), self.budget(epsilon)?);
        let (steps, roundings) = match self.variant {
            "2 steps" => (2, 1),
            "4 steps" => (4, 1),
            "8 steps" => (8, 1),
            _ => (4, 8),
        };
        let plan = plan.steps(steps).roundings(roundings).build();
        let release = plan.and_then(|plan| plan.simulate(coverage, rng));
        release.map(|release| release.output.elements).map_err(|error| self.failed(&error))
    }
}

/// The loss of one of `rounds` choices, by the advanced composition theorem.
fn advanced(epsilon: f64, rounds: f64) -> f64 {
    let total =
        |each: f64| each * (2.0 * rounds * -DELTA.ln()).sqrt() + rounds * each * each.exp_m1();
    let (mut low, mut high) = (0.0, epsilon);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if total(middle) <= epsilon { low = middle } else { high = middle }
    }
    // Composing the losses themselves is better for few rounds.
    low.max(epsilon / rounds)
}

/// Users who weigh as much less than what they pay for as ln 2, the published constant, is below
/// `ln(1 + e^epsilon)`.
fn weaker_weights(function: &Function, epsilon: f64) -> Result<Option<Coverage>, Error> {
    const MOST: u32 = 10_000;
    let Function::Coverage(coverage) = function else { return Ok(None) };
    let share = std::f64::consts::LN_2 / epsilon.exp().ln_1p();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10,000")]
    let weight = (share * f64::from(MOST)) as u32;
    let weaker = Coverage::weighted(coverage.incidence().clone(), |_| weight, MOST);
    weaker.map(Some).map_err(|error| Error::library("weights", &error))
}
