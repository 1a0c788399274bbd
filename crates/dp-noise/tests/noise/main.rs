//! Proofs by enumeration, and tests of their power.
//!
//! Enumeration is the proof: every sampler is run over every possible draw and its law compared
//! with the formula, in integer arithmetic with rigorous error bounds. No sampling error, no float.
//! Words have 3 to 6 bits there, so that the second and third looks of a sampler, too rare to be
//! met at 64 bits, are enumerated as well. The code is the same at 64, and draws of it are counted in the tests `statistics`.

mod bad_input;
mod choices;
mod coins;
mod exact;
mod mutants;
mod noise;
mod pinned;
mod rationals;
mod rounded;
mod rounded_law;
mod slips;
mod subsample;
mod support;
mod words;

use std::fmt::Debug;
use std::num::NonZero;

use dp_noise::Ratio;
use exact::{Interval, Law, ONE, Tape, enumerate};

fn nonzero(n: u128) -> NonZero<u128> {
    NonZero::new(n).expect("positive")
}

fn ratio(a: u128, b: u128) -> Ratio {
    Ratio::new(a, b).expect("valid")
}

/// The law found must agree with the formula for every output that was found, to within the mass
/// of the branches that were cut off.
fn check<T: Ord + Clone + Debug, const W: u32>(
    name: &str,
    sampler: impl Fn(&mut Tape<W>) -> T,
    probability: impl Fn(T) -> Interval,
) {
    check_to(30, name, sampler, probability);
}

/// [`check`] down to branches of probability `2^-cut`, of which at most `2^(10 - cut)` is left.
fn check_to<T: Ord + Clone + Debug, const W: u32>(
    cut: u32,
    name: &str,
    sampler: impl Fn(&mut Tape<W>) -> T,
    probability: impl Fn(T) -> Interval,
) {
    hold(name, cut, &enumerate(cut, sampler), &probability);
}

fn hold<T: Ord + Clone + Debug>(
    name: &str,
    cut: u32,
    law: &Law<T>,
    probability: &dyn Fn(T) -> Interval,
) {
    assert!(!law.found.is_empty(), "{name}: nothing was enumerated");
    assert!(
        law.unresolved <= ONE >> (cut - 10),
        "{name}: unresolved {:.1e}",
        law.unresolved_share()
    );
    for (output, &found) in &law.found {
        let p = probability(output.clone());
        assert!(found <= p.high, "{name}: {output:?} is too likely: {found} > {}", p.high);
        assert!(p.low <= found + law.unresolved, "{name}: {output:?} is too rare");
    }
}

/// [`check`] with the same sampler on words of 3, 4, 5 and 6 bits.
macro_rules! check_all_words {
    ($name:expr, $sampler:expr, $probability:expr) => {{
        let probability = $probability;
        $crate::check($name, |tape: &mut $crate::exact::Tape<3>| $sampler(tape), &probability);
        $crate::check($name, |tape: &mut $crate::exact::Tape<4>| $sampler(tape), &probability);
        $crate::check($name, |tape: &mut $crate::exact::Tape<5>| $sampler(tape), &probability);
        $crate::check($name, |tape: &mut $crate::exact::Tape<6>| $sampler(tape), &probability);
    }};
}
pub(crate) use check_all_words;
