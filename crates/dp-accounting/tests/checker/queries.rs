//! Random questions about random mixes, and the independent answer to each.

use dp_accounting::{Bound, Composition, Delta, Epsilon, Event, ParamError};
use dp_check::{Composed, Effort, Interval, Law, Side};

/// A plain generator: the same seed gives the same cases.
pub(crate) struct Cases(u64);

impl Cases {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    fn word(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `0..1`.
    pub(crate) fn share(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// In `1..=most`.
    pub(crate) fn up_to(&mut self, most: u32) -> u32 {
        1 + u32::try_from(((self.word() >> 32) * u64::from(most)) >> 32).expect("below `most`")
    }

    /// Evenly in its logarithm.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        (low * (high / low).powf(self.share())).clamp(low, high)
    }

    /// Ordinary deltas, tiny ones, and such that are next to 1.
    pub(crate) fn delta(&mut self) -> f64 {
        match self.up_to(6) {
            1 => self.between(1e-300, 1e-12),
            2 => 1.0 - self.between(1e-9, 0.5),
            _ => self.between(1e-12, 0.1),
        }
    }
}

/// A mix, a question about it, and which of its sides is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) parts: Vec<(Law, u64)>,
    pub(crate) ask: Ask,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    Epsilon { delta: f64 },
    Delta { epsilon: f64 },
}

/// What the check says about both sides of a bound.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Holds,
    /// The check is not exact enough to tell, or is too much work.
    Open(String),
    Broken(String),
}

/// A lower and an upper side.
pub(crate) type Sides = [f64; 2];

pub(crate) fn sides(bound: Bound) -> Sides {
    [bound.lower(), bound.upper()]
}

pub(crate) fn event(law: &Law) -> Result<Event, ParamError> {
    match *law {
        Law::Gaussian { multiplier } => Event::gaussian(multiplier),
        Law::Laplace { scale } => Event::laplace(scale),
        Law::RandomisedResponse { epsilon } => Event::randomised_response(Epsilon::new(epsilon)?),
        Law::Approximate { epsilon, delta } => {
            Event::approximate(Epsilon::new(epsilon)?, Delta::new(delta)?)
        }
        Law::DiscreteLaplace { rate, sensitivity } => Event::discrete_laplace(rate, sensitivity),
        Law::DiscreteGaussian { variance, sensitivity } => {
            Event::discrete_gaussian(variance, sensitivity)
        }
        Law::BoundedRange { eta } => Event::bounded_range(Epsilon::new(eta)?),
        Law::Sampled { rate, ref of } => event(of)?.poisson_sampled(rate),
    }
}

pub(crate) fn composition(parts: &[(Law, u64)]) -> Result<Composition, ParamError> {
    parts.iter().try_fold(Composition::new(), |all, (law, count)| all.with(event(law)?, *count))
}

/// The truth, as far as it is known: in one direction, or in the worse of both.
pub(crate) struct Truth(Vec<Composed>);

impl Truth {
    pub(crate) fn new(parts: &[(Law, u64)], sides: &[Side], effort: Effort) -> Option<Self> {
        let sampled = parts.iter().any(|(law, _)| matches!(law, Law::Sampled { .. }));
        let needed = if sampled { sides } else { &sides[..1] };
        needed
            .iter()
            .map(|side| Composed::new(parts, *side, effort))
            .collect::<Option<_>>()
            .map(Self)
    }

    pub(crate) fn delta(&self, epsilon: f64) -> Interval {
        let deltas = self.0.iter().map(|one| one.delta(epsilon));
        deltas.reduce(|a, b| a.max(&b)).expect("at least one direction")
    }

    /// Whether a bound on the delta at an epsilon holds.
    pub(crate) fn check_delta(&self, epsilon: f64, [lower, upper]: Sides) -> Verdict {
        let truth = self.delta(epsilon);
        let what = format!("delta({epsilon:e}) is {truth}, claimed [{lower:e}, {upper:e}]");
        if truth.is_above(upper) || truth.is_below(lower) || lower.is_nan() || upper.is_nan() {
            return Verdict::Broken(what);
        }
        let unsure = truth.reaches_above(upper) || truth.reaches_below(lower);
        if unsure { Verdict::Open(what) } else { Verdict::Holds }
    }

    /// Whether a bound on the epsilon at a delta holds: the curve is at most `delta` at the upper side, and at least at the lower.
    pub(crate) fn check_epsilon(&self, delta: f64, [lower, upper]: Sides) -> Verdict {
        if lower.is_nan() || upper.is_nan() {
            return Verdict::Broken("NaN".into());
        }
        let mut open = None;
        if upper.is_finite() {
            let truth = self.delta(upper);
            let what =
                format!("{truth} at the upper side of [{lower:e}, {upper:e}], {delta:e} asked");
            if truth.is_above(delta) {
                return Verdict::Broken(what);
            }
            open = truth.reaches_above(delta).then_some(what);
        }
        if lower > 0.0 {
            // An infinite lower side says that no epsilon is enough.
            let truth = self.delta(lower.min(1e6));
            let what =
                format!("{truth} at the lower side of [{lower:e}, {upper:e}], {delta:e} asked");
            if truth.is_below(delta) {
                return Verdict::Broken(what);
            }
            open = open.or(truth.reaches_below(delta).then_some(what));
        }
        open.map_or(Verdict::Holds, Verdict::Open)
    }
}

/// The work of one check: a few milliseconds.
pub(crate) fn effort(smallest: f64) -> Effort {
    let bits = -smallest.max(1e-320).log2();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1100")]
    let places = bits as u64 + 128;
    Effort { atoms: 1_000, cells: 100, terms: 300, places }
}

impl Query {
    /// The answer of the library.
    pub(crate) fn answer(&self) -> Bound {
        let all = composition(&self.parts).expect("generated in range");
        match self.ask {
            Ask::Epsilon { delta } => all.epsilon(Delta::new(delta).expect("in range")),
            Ask::Delta { epsilon } => all.delta(Epsilon::new(epsilon).expect("in range")),
        }
    }

    /// What the check says about an answer.
    pub(crate) fn verdict(&self, sides: Sides) -> Verdict {
        self.verdict_with(1_000, sides)
    }

    /// The same with that many atoms at most.
    pub(crate) fn verdict_with(&self, atoms: u64, sides: Sides) -> Verdict {
        let smallest = match self.ask {
            Ask::Epsilon { delta } => delta,
            Ask::Delta { .. } => sides[1],
        };
        let both = [Side::Remove, Side::Add];
        let Some(truth) = Truth::new(&self.parts, &both, Effort { atoms, ..effort(smallest) })
        else {
            return Verdict::Open("too much work".into());
        };
        match self.ask {
            Ask::Epsilon { delta } => truth.check_epsilon(delta, sides),
            Ask::Delta { epsilon } => truth.check_delta(epsilon, sides),
        }
    }

    /// A random question about a random mix of a family, from 1 to 10; those of more than one law may take seconds.
    pub(crate) fn random(cases: &mut Cases, family: u32) -> Self {
        let parts = match family {
            1 => vec![(lattice(cases), uses(cases, 6.0))],
            2 => {
                let multiplier = cases.between(0.3, 1e3);
                let gaussian = Law::Gaussian { multiplier };
                let most = (30.0 * multiplier * multiplier).clamp(1.0, 1e9);
                vec![(lattice(cases), uses(cases, 6.0)), (gaussian, uses(cases, most))]
            }
            3 => vec![spline(cases)],
            4 => vec![(sampled(cases), 1)],
            5 => vec![(Law::Gaussian { multiplier: cases.between(0.01, 1e6) }, uses(cases, 1e9))],
            6 => vec![long(cases)],
            7 => (0..2).map(|_| (lattice(cases), uses(cases, 4.0))).collect(),
            8 => (0..2).map(|_| spline(cases)).collect(),
            9 => vec![spline(cases), (lattice(cases), uses(cases, 4.0))],
            _ => vec![(sampled(cases), 2)],
        };
        let ask = if cases.share() < 0.5 {
            Ask::Epsilon { delta: cases.delta() }
        } else {
            Ask::Delta { epsilon: most(&parts) * cases.between(1e-3, 1.0) }
        };
        Self { parts, ask }
    }
}

fn uses(cases: &mut Cases, most: f64) -> u64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 1e9")]
    let count = cases.between(1.0, most) as u64;
    count
}

/// About the largest loss that matters.
fn most(parts: &[(Law, u64)]) -> f64 {
    let one = |law: &Law| match *law {
        Law::Gaussian { multiplier } => 0.5 / (multiplier * multiplier),
        Law::Laplace { scale } => 1.0 / scale,
        Law::RandomisedResponse { epsilon } | Law::Approximate { epsilon, .. } => epsilon,
        Law::DiscreteLaplace { rate, sensitivity } => rate * f64::from(sensitivity),
        Law::DiscreteGaussian { variance, sensitivity } => {
            0.5 * f64::from(sensitivity).powi(2) / variance
        }
        Law::BoundedRange { eta } => eta,
        Law::Sampled { rate, ref of } => {
            (rate * most(&[((**of).clone(), 1)]).min(300.0).exp_m1()).ln_1p()
        }
    };
    let pure: f64 = parts.iter().map(|(law, k)| one(law) * *k as f64).sum();
    // Gaussian tails go on.
    let spread: f64 = parts
        .iter()
        .filter(|(law, _)| {
            matches!(law, Law::Gaussian { .. } | Law::DiscreteGaussian { .. } | Law::Sampled { .. })
        })
        .map(|(law, k)| one(law) * *k as f64)
        .sum();
    pure + 8.0 * spread.sqrt()
}

/// A law with losses on a lattice; one in four is at the ends of what an event takes.
fn lattice(cases: &mut Cases) -> Law {
    let nasty = cases.up_to(4) == 1;
    let wide = |low, high| if nasty { (1e-9, 200.0) } else { (low, high) };
    match cases.up_to(4) {
        1 => {
            let (low, high) = wide(1e-4, 30.0);
            Law::RandomisedResponse { epsilon: cases.between(low, high) }
        }
        2 => {
            let (low, high) = wide(1e-3, 10.0);
            let least = if nasty { 1e-300 } else { 1e-30 };
            Law::Approximate { epsilon: cases.between(low, high), delta: cases.between(least, 0.1) }
        }
        3 => {
            let (low, high) = wide(1e-3, 5.0);
            let sensitivity = cases.up_to(if nasty { 60 } else { 4 });
            let rate = cases.between(low, high.min(199.0 / f64::from(sensitivity)));
            Law::DiscreteLaplace { rate, sensitivity }
        }
        _ => {
            let variance = cases.between(if nasty { 0.01 } else { 0.05 }, 20.0);
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most 443"
            )]
            let most = if nasty { (99.0 * variance.sqrt()) as u32 } else { 2 };
            Law::DiscreteGaussian { variance, sensitivity: cases.up_to(most.max(1)) }
        }
    }
}

/// Many uses of one of them.
fn long(cases: &mut Cases) -> (Law, u64) {
    match cases.up_to(3) {
        1 => (Law::RandomisedResponse { epsilon: cases.between(1e-4, 3.0) }, uses(cases, 1000.0)),
        2 => {
            let sensitivity = cases.up_to(3);
            (
                Law::DiscreteLaplace { rate: cases.between(1e-3, 2.0), sensitivity },
                uses(cases, 300.0),
            )
        }
        _ => (
            Law::DiscreteGaussian { variance: cases.between(0.1, 50.0), sensitivity: 1 },
            uses(cases, 8.0),
        ),
    }
}

fn spline(cases: &mut Cases) -> (Law, u64) {
    let law = if cases.share() < 0.5 {
        Law::Laplace { scale: cases.between(0.006, 1e9) }
    } else {
        Law::BoundedRange { eta: cases.between(1e-9, 200.0) }
    };
    (law, uses(cases, 6.0))
}

fn sampled(cases: &mut Cases) -> Law {
    let of = if cases.share() < 0.5 {
        Law::Gaussian { multiplier: cases.between(0.126, 1e3) }
    } else {
        Law::Laplace { scale: cases.between(0.021, 1e4) }
    };
    Law::Sampled { rate: cases.between(1e-9, 1.0), of: Box::new(of) }
}
