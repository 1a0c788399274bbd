//! Laws with losses on a lattice: masses as integers, composed by exact multiplication.
//!
//! The masses of one law are the digits of one huge number; the product of two such numbers holds all masses of the
//! composition. What remains are the roundings of masses to `2^-places`, down in one copy and up in the other.

use num_bigint::BigUint;

use crate::big::{Big, Round};
use crate::interval::Interval;
use crate::law::Law;

/// Atoms `first + i step` of the loss, with their masses under `P`.
#[derive(Clone, Debug)]
pub(crate) struct Lattice {
    first: Interval,
    step: Interval,
    places: u64,
    low: Vec<BigUint>,
    high: Vec<BigUint>,
    /// At least the mass that is left out, whose losses may be anything.
    missing: Interval,
}

/// One possible loss.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    /// Its mass under `P`.
    pub(crate) mass: Interval,
    pub(crate) loss: Interval,
    /// `e^-loss`.
    pub(crate) decay: Interval,
}

impl Atom {
    pub(crate) fn sure() -> Self {
        Self { mass: Interval::one(), loss: Interval::zero(), decay: Interval::one() }
    }

    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            mass: &self.mass * &other.mass,
            loss: &self.loss + &other.loss,
            decay: &self.decay * &other.decay,
        }
    }
}

/// `x 2^places`, rounded, for `0 <= x`.
fn places_of(x: &Big, places: u64, round: Round) -> BigUint {
    let shift = x.e + i64::try_from(places).expect("few");
    let size = x.m.magnitude();
    let by = shift.unsigned_abs();
    if shift >= 0 {
        return size << by;
    }
    let down: BigUint = size >> by;
    match round {
        Round::Up if (&down << by) != *size => down + 1_u32,
        _ => down,
    }
}

/// All sums of products `a[i] b[j]` with `i + j` alike, each divided by `2^places` and rounded.
fn convolve(a: &[BigUint], b: &[BigUint], places: u64, round: Round) -> Vec<BigUint> {
    let longest = |x: &[BigUint]| x.iter().map(BigUint::bits).max().unwrap_or(0);
    // Room for the largest sum.
    let slot = (longest(a) + longest(b) + 64).div_ceil(32) * 32;
    let digits = usize::try_from(slot / 32).expect("few");
    let packed = |x: &[BigUint]| {
        let mut words = Vec::with_capacity(x.len() * digits);
        for mass in x {
            let mut own = mass.to_u32_digits();
            own.resize(digits, 0);
            words.append(&mut own);
        }
        BigUint::new(words)
    };
    let product = (packed(a) * packed(b)).to_u32_digits();
    (0..a.len() + b.len() - 1)
        .map(|i| {
            let from = (i * digits).min(product.len());
            let to = (from + digits).min(product.len());
            let sum = BigUint::from_slice(&product[from..to]);
            let down: BigUint = &sum >> places;
            let cut = round == Round::Up && (&down << places) != sum;
            if cut { down + 1_u32 } else { down }
        })
        .collect()
}

impl Lattice {
    /// The law of one use, if its losses lie on a lattice. `places`: binary digits of the masses.
    pub(crate) fn of(law: &Law, places: u64) -> Option<Self> {
        let one = Interval::one();
        match *law {
            Law::RandomisedResponse { epsilon } | Law::Approximate { epsilon, .. } => {
                let loss = Interval::of(epsilon);
                let odds = (-&loss).exp();
                let all = &one + &odds;
                let masses = [&odds / &all, &one / &all];
                Some(Self::new(-&loss, loss.scaled(1), places, &masses, Interval::zero()))
            }
            Law::DiscreteLaplace { rate, sensitivity } => {
                // At x <= 0 the loss is d rate, at x >= d it is -d rate, and in between (d - 2x) rate.
                let (rate, d) = (Interval::of(rate), u64::from(sensitivity));
                let decay = (-&rate).exp();
                // Pr[x >= 1] + Pr[x <= 0] = 1 with Pr[x] = zero decay^|x|.
                let zero = &(&one - &decay) / &(&one + &decay);
                let tail = &one / &(&one + &decay);
                let mut power = one.clone();
                let mut down = vec![tail.clone()];
                for _ in 1..d {
                    power = &power * &decay;
                    down.push(&zero * &power);
                }
                power = &power * &decay;
                down.push(&tail * &power);
                down.reverse();
                let first = -&(&rate * &Interval::whole(d));
                Some(Self::new(first, rate.scaled(1), places, &down, Interval::zero()))
            }
            Law::DiscreteGaussian { variance, sensitivity } => {
                Some(Self::discrete_gaussian(variance, sensitivity, places))
            }
            _ => None,
        }
    }

    fn discrete_gaussian(variance: f64, sensitivity: u32, places: u64) -> Self {
        let (doubled, d) = (Interval::of(variance).scaled(1), Interval::whole(sensitivity.into()));
        // Where e^(-x^2 / 2v) falls below the last place.
        let most = (variance * 2.0 * (places as f64) * std::f64::consts::LN_2).sqrt().ceil() + 2.0;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few millions")]
        let most = most as u64;
        // e^(-x^2/2v) from x to x + 1: the ratio e^(-(2x + 1)/2v) falls by e^(-2/2v) each time.
        let base = (-&(&Interval::one() / &doubled)).exp();
        let (mut ratio, fall) = (base.clone(), &base * &base);
        let (mut weights, mut all) = (vec![Interval::one()], Interval::one());
        for x in 0..most {
            let next = &weights[usize::try_from(x).expect("few")] * &ratio;
            ratio = &ratio * &fall;
            all = &all + &next.scaled(1);
            weights.push(next);
        }
        // The rest of one tail is at most next / (1 - ratio).
        let next = weights.last().expect("at least one") * &ratio;
        let rest = &next / &(&Interval::one() - &ratio);
        let rest = Interval::zero().hull(&rest.scaled(1));
        all = &all + &rest;
        // Loss at x: (d^2 - 2 x d) / 2v; ascending in -x.
        let masses: Vec<Interval> =
            weights.iter().rev().chain(&weights[1..]).map(|w| w / &all).collect();
        let step = &d / &Interval::of(variance);
        let first = &(&(&d * &d) / &doubled) - &(&step * &Interval::whole(most));
        Self::new(first, step, places, &masses, &rest / &all)
    }

    fn new(
        first: Interval,
        step: Interval,
        places: u64,
        masses: &[Interval],
        missing: Interval,
    ) -> Self {
        let low = masses.iter().map(|p| places_of(&p.lo, places, Round::Down)).collect();
        let high = masses.iter().map(|p| places_of(&p.hi, places, Round::Up)).collect();
        Self { first, step, places, low, high, missing: Interval::point(missing.hi) }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            first: &self.first + &other.first,
            step: self.step.clone(),
            places: self.places,
            low: convolve(&self.low, &other.low, self.places, Round::Down),
            high: convolve(&self.high, &other.high, self.places, Round::Up),
            missing: &self.missing + &other.missing,
        }
    }

    /// How many atoms `count` uses have.
    pub(crate) fn length(&self, count: u64) -> u64 {
        (self.low.len() as u64 - 1).saturating_mul(count).saturating_add(1)
    }

    /// The law of `count` uses.
    pub(crate) fn power(&self, mut count: u64) -> Self {
        let (mut square, mut result) = (self.clone(), None::<Self>);
        while count > 0 {
            if count & 1 == 1 {
                result = Some(result.map_or_else(|| square.clone(), |r| r.and(&square)));
            }
            count >>= 1;
            if count > 0 {
                square = square.and(&square);
            }
        }
        result.expect("at least one use")
    }

    /// All atoms, and at least the mass that is left out.
    pub(crate) fn atoms(&self) -> (Vec<Atom>, Interval) {
        let places = i64::try_from(self.places).expect("few");
        let number = |x: &BigUint, round| Big::new(x.clone().into(), -places, round);
        let (mut loss, mut decay) = (self.first.clone(), (-&self.first).exp());
        let fall = (-&self.step).exp();
        let mut atoms = Vec::with_capacity(self.low.len());
        for (low, high) in self.low.iter().zip(&self.high) {
            let mass = Interval { lo: number(low, Round::Down), hi: number(high, Round::Up) };
            if !mass.hi.is_zero() {
                atoms.push(Atom { mass, loss: loss.clone(), decay: decay.clone() });
            }
            loss = &loss + &self.step;
            decay = &decay * &fall;
        }
        (atoms, self.missing.clone())
    }
}
