//! The same outputs are reachable from every value: the hole that Mironov found in floating-point
//! noise (2012) is not here.

use std::collections::BTreeSet;

use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, RoundedGaussian, SecureBits, TimingSafeLaplace,
    insecure_reproducible,
};

use super::exact::{Tape, enumerate};
use super::ratio;

const WINDOW: std::ops::RangeInclusive<i128> = -4..=4;

/// The outputs `value + noise` within the window that some sequence of draws leads to.
fn reachable(value: i128, sample: impl Fn(&mut Tape<3>) -> i128) -> BTreeSet<i128> {
    let law = enumerate(22, |tape: &mut Tape<3>| value + sample(tape));
    law.found.into_keys().filter(|output| WINDOW.contains(output)).collect()
}

#[test]
fn every_integer_is_reachable_from_every_value() {
    let everything: BTreeSet<i128> = WINDOW.collect();
    let laplace = DiscreteLaplace::new(ratio(3, 2)).expect("valid");
    let digits = TimingSafeLaplace::new(ratio(3, 2)).expect("valid");
    let gaussian = DiscreteGaussian::new(ratio(4, 1)).expect("valid");
    let rounded = RoundedGaussian::new(ratio(4, 1)).expect("valid");
    for value in [0, 1, 2] {
        assert_eq!(reachable(value, |tape| laplace.sample(tape)), everything);
        assert_eq!(reachable(value, |tape| digits.sample(tape)), everything);
        assert_eq!(reachable(value, |tape| gaussian.sample(tape)), everything);
        // Its cells are too many to walk through; what was drawn is reachable.
        let mut rng = insecure_reproducible(7);
        let mut bits = SecureBits::new(&mut rng);
        let drawn = (0..20_000).map(|_| value + rounded.sample(&mut bits));
        assert_eq!(drawn.filter(|z| WINDOW.contains(z)).collect::<BTreeSet<_>>(), everything);
    }
}

/// The control: textbook Laplace noise in floating point, from every uniform of 16 bits. Most of
/// its outputs tell which of two values was hidden.
#[test]
fn floating_point_noise_gives_the_value_away() {
    let outputs = |value: f64| -> BTreeSet<u64> {
        let uniforms = (1..1_u32 << 16).map(|u| f64::from(u) / f64::from(1 << 16));
        uniforms.map(|u| (value - u.ln()).to_bits()).collect()
    };
    let (zero, one) = (outputs(0.0), outputs(1.0));
    let shared = zero.intersection(&one).count();
    assert!(shared * 20 < zero.len(), "{shared} of {} outputs are shared", zero.len());
}
