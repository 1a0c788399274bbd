//! [`Ratio`] against a rational library, on random parts of every length.

use dp_noise::{Bits, Ratio, SecureBits, insecure_reproducible};
use num_bigint::BigUint;
use num_rational::Ratio as Exact;

/// The same, if the exact result can be held.
fn held(exact: &Exact<BigUint>) -> Option<Ratio> {
    let numerator = u128::try_from(exact.numer()).ok()?;
    let denominator = u128::try_from(exact.denom()).ok()?;
    let fits = numerator < Ratio::LIMIT && denominator < Ratio::LIMIT;
    fits.then(|| Ratio::new(numerator, denominator).expect("fits"))
}

fn exact(ratio: Ratio) -> Exact<BigUint> {
    Exact::new(ratio.numerator().into(), ratio.denominator().get().into())
}

#[test]
fn ratios_agree_with_a_rational_library() {
    let mut rng = insecure_reproducible(77);
    let mut bits = SecureBits::new(&mut rng);
    let mut refused = [0_u32; 3];
    // A number of random length with small common factors, so that reduction has work to do.
    let mut part = |factors: &[u128]| {
        let wide = (u128::from(bits.word()) << 64) | u128::from(bits.word());
        let cut = bits.word() % 128;
        let factor = factors[usize::try_from(bits.word() % factors.len() as u64).expect("small")];
        (wide >> cut).saturating_mul(factor)
    };
    for _ in 0..20_000 {
        let [a, b] = [part(&[1, 2, 6, 35]), part(&[1, 4, 15, 1 << 40])];
        let Ok(x) = Ratio::new(a, b) else {
            assert!(b == 0 || held(&Exact::new(a.into(), b.into())).is_none(), "{a}/{b}");
            refused[0] += 1;
            continue;
        };
        assert_eq!(exact(x), Exact::new(a.into(), b.into()), "{a}/{b}");
        let lowest = exact(x);
        assert_eq!(*lowest.numer(), x.numerator().into(), "{a}/{b} is in lowest terms");
        assert_eq!(x.recip().map(exact), (a != 0).then(|| lowest.recip()), "1 / ({a}/{b})");
        let [c, d] = [part(&[1, 3, 10, 1 << 20]), part(&[1, 2, 21])];
        let Ok(y) = Ratio::new(c, d) else {
            refused[1] += 1;
            continue;
        };
        let product = lowest * exact(y);
        assert_eq!(x.checked_mul(y), held(&product), "{a}/{b} times {c}/{d}");
        refused[2] += u32::from(held(&product).is_none());
    }
    assert!(refused.iter().all(|n| *n > 500), "refusals were met, too: {refused:?}");
}
