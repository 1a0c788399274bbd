//! The algorithms of the suite with their settings.

use crate::error::Error;
use crate::eval::family::{Label, Named, method};
use dp_accounting::{Budget, Delta, Epsilon, Rho, budget_to_zcdp, repeated_selection_epsilon};
use dp_combinatorial::submodular::{
    ContinuousGreedy, ContinuousGreedySettings, Coverage, Credits, Greedy, GreedySettings, Matroid,
    Partition, Uniform, exact_greedy,
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
        Ok(match self {
            Self::Any(k) => Box::new(Uniform::new(elements, k)?),
            Self::Blocks(blocks, each) => {
                let of = (0..elements).map(|element| element * blocks / elements).collect();
                Box::new(Partition::new(of, vec![each; blocks])?)
            }
        })
    }
}

/// One algorithm at one setting.
pub(crate) type Method = Named<How>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// Without privacy.
    Exact,
    /// Looks at nobody.
    Random,
    Greedy(Proof, SelectionRule),
    /// In so many steps, the best of so many roundings.
    Continuous(u32, u32),
}

/// What says how large the loss of all choices is together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Proof {
    /// Pure, of users who take part by chance; as published these weigh less than they pay for.
    Subsampled {
        published: bool,
    },
    /// Every choice pays for itself.
    Composition,
    /// The same, with twice the loss that a choice has.
    Twice,
    ZeroConcentrated,
    /// By the advanced theorem, with twice the loss.
    AdvancedTwice,
    /// All choices for one price, with a delta; as published at a smaller rate than our bound allows.
    Approximate {
        published: bool,
    },
}

const fn greedy(
    algorithm: &'static str,
    variant: &'static str,
    proof: Proof,
    rule: SelectionRule,
) -> Method {
    method(algorithm, variant, How::Greedy(proof, rule))
}

const PURE: Proof = Proof::Subsampled { published: false };
const FLIP: SelectionRule = SelectionRule::PermuteAndFlip;
const EXPONENTIAL: SelectionRule = SelectionRule::Exponential;

/// Without and with privacy; the first two have no epsilon.
pub(super) const METHODS: [Method; 12] = [
    method("greedy", "default", How::Exact),
    method("random", "default", How::Random),
    greedy("pure-greedy", "default", PURE, FLIP),
    greedy("composition-greedy", "default", Proof::Composition, FLIP),
    greedy("approximate-greedy", "default", Proof::Approximate { published: false }, EXPONENTIAL),
    greedy("pure-greedy", "exponential", PURE, EXPONENTIAL),
    greedy("pure-greedy", "noisy max", PURE, SelectionRule::NoisyMax),
    greedy("pure-greedy", "published constant", Proof::Subsampled { published: true }, EXPONENTIAL),
    greedy("composition-greedy", "factor 2", Proof::Twice, EXPONENTIAL),
    greedy("composition-greedy", "zero-concentrated", Proof::ZeroConcentrated, EXPONENTIAL),
    greedy("composition-greedy", "advanced, factor 2", Proof::AdvancedTwice, EXPONENTIAL),
    greedy(
        "approximate-greedy",
        "published constant",
        Proof::Approximate { published: true },
        EXPONENTIAL,
    ),
];

/// How many of [`METHODS`] are run everywhere and drawn.
pub(super) const MAIN: usize = 5;

/// Steps and roundings of continuous greedy under blocks.
pub(super) const CONTINUOUS: [Method; 4] = [
    method("pure-continuous-greedy", "2 steps", How::Continuous(2, 1)),
    method("pure-continuous-greedy", "4 steps", How::Continuous(4, 1)),
    method("pure-continuous-greedy", "8 steps", How::Continuous(8, 1)),
    method("pure-continuous-greedy", "4 steps, best of 8", How::Continuous(4, 8)),
];

impl Method {
    /// Whether it looks at the users, under a guarantee.
    pub(super) fn has_epsilon(self) -> bool {
        !matches!(self.how, How::Exact | How::Random)
    }

    pub(super) fn is_random(self) -> bool {
        self.how == How::Random
    }

    /// Whether it is there for a constant of the paper.
    pub(super) fn is_as_published(self) -> bool {
        use Proof::{Approximate, Subsampled};
        matches!(
            self.how,
            How::Greedy(Approximate { published: true } | Subsampled { published: true }, _)
        )
    }

    fn delta(self) -> Option<f64> {
        let How::Greedy(proof, _) = self.how else { return self.has_epsilon().then_some(0.0) };
        let is_pure = matches!(proof, Proof::Subsampled { .. } | Proof::Composition | Proof::Twice);
        Some(if is_pure { 0.0 } else { DELTA })
    }

    pub(super) fn label(self, constraint: Constraint) -> Label {
        let is_greedy = self.how == How::Exact;
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
        match self.how {
            How::Exact => Ok(exact_greedy(objective, matroid)),
            How::Random => {
                let mut chosen = Vec::new();
                while let candidates = matroid.addable(&chosen)
                    && !candidates.is_empty()
                {
                    chosen.push(candidates[rng.random_range(0..candidates.len())]);
                }
                Ok(chosen)
            }
            How::Greedy(proof, rule) => self.greedy((proof, rule), function, matroid, epsilon, rng),
            How::Continuous(steps, roundings) => {
                let Function::Coverage(coverage) = function else {
                    return Err(Error::library(self.algorithm, &"only coverages are run"));
                };
                let budget = self.budget(epsilon)?;
                let plan = ContinuousGreedy::new(
                    matroid,
                    Credits::ranked(1),
                    budget,
                    ContinuousGreedySettings { steps, roundings, ..Default::default() },
                );
                let release = plan.and_then(|plan| plan.simulate(coverage, rng));
                Ok(release?.output.elements)
            }
        }
    }

    fn budget(self, epsilon: f64) -> Result<Budget, Error> {
        let delta = self.delta().unwrap_or(0.0);
        Ok(Budget::new(epsilon, delta)?)
    }

    fn greedy(
        self,
        (proof, rule): (Proof, SelectionRule),
        function: &Function,
        matroid: &dyn Matroid,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<usize>, Error> {
        let mut objective = function.objective();
        let (certificate, epsilon) = self.certificate(proof, matroid.rank(), epsilon)?;
        let weaker = weaker_weights(function, epsilon)?;
        if proof == (Proof::Subsampled { published: true }) {
            objective = weaker.as_ref().map_or(objective, |weaker| weaker);
        }
        let plan = Greedy::new(
            matroid,
            objective.most_credit(),
            self.budget(epsilon)?,
            GreedySettings { certificate: Some(certificate), rule },
        );
        let release = plan.and_then(|plan| plan.simulate(objective, rng));
        Ok(release?.output.elements)
    }

    /// Our certificate, and the epsilon under our bounds whose rate is that of the proof.
    fn certificate(
        self,
        proof: Proof,
        rank: usize,
        epsilon: f64,
    ) -> Result<(Certificate, f64), Error> {
        let delta = Delta::new(DELTA)?;
        let rounds = rank as f64;
        Ok(match proof {
            Proof::Subsampled { .. } => (Certificate::Subsampled, epsilon),
            Proof::Composition => (Certificate::Composition, epsilon),
            Proof::Twice => (Certificate::Composition, epsilon / 2.0),
            Proof::ZeroConcentrated => {
                // A monotone choice at this rate is rate^2/8 zero-concentrated.
                let rho = budget_to_zcdp(self.budget(epsilon)?).map_or(0.0, Rho::get);
                (Certificate::Composition, (8.0 * rho / rounds).sqrt() * rounds)
            }
            Proof::AdvancedTwice => {
                (Certificate::Composition, rounds * advanced(epsilon, rounds) / 2.0)
            }
            Proof::Approximate { published: false } => {
                (Certificate::Approximate { delta }, epsilon)
            }
            Proof::Approximate { published: true } => {
                let rate = epsilon / ((std::f64::consts::E - 1.0) * (1.0 - DELTA.ln()));
                let rate = Epsilon::new(rate)?;
                let bound = repeated_selection_epsilon(rate, delta).map_or(epsilon, Epsilon::get);
                (Certificate::Approximate { delta }, bound)
            }
        })
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
    Ok(Some(weaker?))
}
