//! Bounds against truth in big-number arithmetic, far into the tails; and the faults of other libraries, which must not recur.

use approx::assert_abs_diff_eq;
use dp_accounting::{
    Bound, Composition, Epsilon, Event, Loss, Step, gaussian_delta, gaussian_noise_multiplier,
};
use num_bigint::BigInt;

use crate::{budget, delta, epsilon, pure};

/// Fixed-point numbers with this many bits after the point.
const BITS: u32 = 700;

fn one() -> BigInt {
    BigInt::from(1) << BITS
}

fn fixed(x: f64) -> BigInt {
    let bits = x.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap() - 1075;
    let mantissa = BigInt::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let shift = exponent + i32::try_from(BITS).unwrap();
    let size = if shift >= 0 { mantissa << shift } else { mantissa >> -shift };
    if x < 0.0 { -size } else { size }
}

fn mul(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> BITS
}

fn div(a: &BigInt, b: &BigInt) -> BigInt {
    (a << BITS) / b
}

/// A positive fixed-point number as a float.
fn float(x: &BigInt) -> f64 {
    let bits = i64::try_from(x.bits()).unwrap();
    let shift = (bits - 64).max(0);
    let top = u64::try_from(x >> shift).unwrap_or(0) as f64;
    let scale = shift - i64::from(BITS);
    // Two steps, so that the scale itself does not underflow.
    top * 2.0_f64.powi(i32::try_from(scale / 2).unwrap())
        * 2.0_f64.powi(i32::try_from(scale - scale / 2).unwrap())
}

fn exp(x: &BigInt) -> BigInt {
    // Halve until small, then square back.
    let halvings = 16 + x.bits().saturating_sub(u64::from(BITS));
    let small = x >> halvings;
    let (mut sum, mut term, mut n) = (one(), one(), 1);
    loop {
        term = mul(&term, &small) / n;
        if term.bits() < 2 {
            break;
        }
        sum += &term;
        n += 1;
    }
    for _ in 0..halvings {
        sum = mul(&sum, &sum);
    }
    sum
}

/// `1/2 erfc(x / sqrt 2)` by the series of the integral from 0; `inverse_root` is `1 / sqrt(2 pi)`.
fn upper_tail(x: &BigInt, inverse_root: &BigInt) -> BigInt {
    let square = mul(x, x);
    let (mut term, mut sum, mut n) = (x.clone(), x.clone(), 1_u32);
    loop {
        // x^(2n+1) / (1 3 5 .. (2n+1)), times the density: positive terms.
        term = mul(&term, &square) / (2 * n + 1);
        if term.bits() < 2 {
            break;
        }
        sum += &term;
        n += 1;
    }
    let density = mul(&exp(&(-square >> 1)), inverse_root);
    (one() >> 1) - mul(&sum, &density)
}

/// `1 / sqrt(2 pi)`, with pi by Machin's formula.
fn inverse_root() -> BigInt {
    let arctan_inverse = |n: i64| -> BigInt {
        let (mut sum, mut power, mut k) = (BigInt::from(0), one() / n, 1_i64);
        while power.bits() > 1 {
            sum += if k % 4 == 1 { &power / k } else { -(&power / k) };
            power /= n * n;
            k += 2;
        }
        sum
    };
    let pi: BigInt = (arctan_inverse(5) * 4 - arctan_inverse(239)) * 4;
    let doubled: BigInt = pi << (BITS + 1);
    div(&one(), &doubled.sqrt())
}

/// A plain generator: the cases are the same on every run.
struct Cases(u64);

impl Cases {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// `1..=most`.
    fn up_to(&mut self, most: u32) -> u32 {
        let share = u64::from(most);
        self.next();
        1 + u32::try_from(((self.0 >> 32) * share) >> 32).expect("below `most`")
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }
}

#[track_caller]
fn encloses(bound: Bound, truth: f64, what: &str) {
    let room = 1e-12 * truth;
    assert!(bound.lower() <= truth + room, "{what}: lower {:e} > {truth:e}", bound.lower());
    assert!(bound.upper() >= truth - room, "{what}: upper {:e} < {truth:e}", bound.upper());
    assert!(bound.gap() <= 1e-7 * truth, "{what}: {bound} around {truth:e}");
}

/// The exact delta of `k` uses of a discrete Laplace pair with losses `rate (2 i - s)`, by convolution.
fn lattice_truth(rate: f64, s: u32, k: u32, epsilon: f64) -> f64 {
    let decay = exp(&-fixed(rate));
    let tail = div(&one(), &(one() + &decay));
    let middle = mul(&(one() - &decay), &tail);
    let mut power = vec![one()];
    for i in 0..s as usize {
        power.push(mul(&power[i], &decay));
    }
    let single: Vec<BigInt> = (0..=s as usize)
        .map(|i| match s as usize - i {
            0 => tail.clone(),
            left if left == s as usize => mul(&tail, &power[left]),
            left => mul(&middle, &power[left]),
        })
        .collect();
    let mut law = vec![one()];
    for _ in 0..k {
        let mut next = vec![BigInt::from(0); law.len() + s as usize];
        for (i, a) in law.iter().enumerate() {
            for (j, b) in single.iter().enumerate() {
                next[i + j] += mul(a, b);
            }
        }
        law = next;
    }
    let mut sum = BigInt::from(0);
    for (i, mass) in law.iter().enumerate() {
        let loss = fixed(rate) * (2 * i64::try_from(i).unwrap() - i64::from(k * s));
        let below = fixed(epsilon) - loss;
        if below < BigInt::from(0) {
            sum += mul(mass, &(one() - exp(&below)));
        }
    }
    float(&sum)
}

#[test]
fn lattice_cases_down_to_1e_30() {
    let mut cases = Cases(1);
    let mut checked = 0;
    while checked < 1000 {
        let rate = cases.between(0.02, 2.0);
        let s = cases.up_to(3);
        let k = cases.up_to(14);
        let most = rate * f64::from(s * k);
        let at = most * cases.next();
        let event = Event::discrete_laplace(rate, s).unwrap();
        let all = Composition::new().with(event, u64::from(k)).unwrap();
        let truth = lattice_truth(rate, s, k, at);
        if !(1e-30..=1e-3).contains(&truth) || most - at < 1e-9 * most {
            continue;
        }
        checked += 1;
        let what = format!("rate {rate} s {s} k {k} epsilon {at}");
        encloses(all.delta(epsilon(at)), truth, &what);
        // And back: the epsilon at that delta.
        let back = all.epsilon(delta(truth));
        assert!(
            back.lower() <= at * (1.0 + 1e-12) && back.upper() >= at * (1.0 - 1e-12),
            "{what}: {back}"
        );
        assert!(back.gap() <= 1e-9 * at.max(1e-3), "{what}: {back}");
    }
}

#[test]
fn gaussian_cases_down_to_1e_30() {
    let root = inverse_root();
    let mut cases = Cases(2);
    let mut checked = 0;
    while checked < 1000 {
        let sigma = cases.between(0.3, 100.0);
        let k = u64::from(cases.up_to(200));
        let s = sigma / (k as f64).sqrt();
        let z = 2.5 + 8.5 * cases.next();
        let at = z / s + 0.5 / (s * s);
        if at > 100.0 {
            continue;
        }
        // mu = sqrt(k) / sigma, in big numbers.
        let uses: BigInt = BigInt::from(k) << (2 * BITS);
        let mu = div(&uses.sqrt(), &fixed(sigma));
        let ratio = div(&fixed(at), &mu);
        let half = &mu >> 1;
        let (a, b) = (upper_tail(&(&ratio - &half), &root), upper_tail(&(&ratio + &half), &root));
        let truth = float(&(a - mul(&exp(&fixed(at)), &b)));
        if !(1e-30..=1e-3).contains(&truth) {
            continue;
        }
        checked += 1;
        let all = Composition::new().with(Event::gaussian(sigma).unwrap(), k).unwrap();
        encloses(all.delta(epsilon(at)), truth, &format!("sigma {sigma} k {k} epsilon {at}"));
    }
}

/// Fault 1: an upper side below the truth, or a lower side above it, where rounding decides.
#[test]
fn the_bounds_carry_their_rounding() {
    let all = Composition::new().with(Event::discrete_laplace(0.1, 1).unwrap(), 1000).unwrap();
    let bound = all.epsilon(delta(1e-10));
    assert!(bound.upper() >= 24.406_695_392_274 && bound.lower() <= 24.406_695_392_275, "{bound}");
    for (variance, k, at, want) in
        [(1.0, 100, 1e-10, 112.842_630_767_231_54), (0.25, 100, 1e-10, 319.723_488_478_611_8)]
    {
        let event = Event::discrete_gaussian(variance, 1).unwrap();
        let bound = Composition::new().with(event, k).unwrap().epsilon(delta(at));
        assert!(bound.upper() >= want * (1.0 - 1e-13) && bound.lower() <= want * (1.0 + 1e-13));
    }
}

/// Faults 2 and 3: finer lattices that are worse, and lower sides that are far away.
#[test]
fn both_sides_are_close_for_many_uses() {
    let sampled = Event::gaussian(20.0).unwrap().poisson_sampled(1.0_f64.next_down()).unwrap();
    let bound = Composition::new().with(sampled, 10_000).unwrap().epsilon(delta(1e-6));
    let exact = 35.566_343_714_136_22;
    assert!(bound.lower() <= exact && exact <= bound.upper(), "{bound}");
    assert!(bound.gap() <= 1e-6 * exact, "{bound}");
}

/// Fault 4: a Gaussian that is under-noised at small deltas.
#[test]
fn noise_is_enough_at_small_deltas() {
    let s = gaussian_noise_multiplier(budget(0.5, 1e-10));
    assert!(s >= 11.436_2, "{s}");
    assert!(gaussian_delta(s, epsilon(0.5)) <= delta(1e-10));
}

/// Fault 5: deltas around 1e-18 and below break, and only one direction of a sampled mechanism is looked at.
#[test]
fn sampled_mechanisms_at_tiny_deltas_in_both_directions() {
    let event = Event::laplace(1.0).unwrap().poisson_sampled(0.1).unwrap();
    let all = Composition::new().with(event, 50).unwrap();
    let mut before = 0.0;
    for at in [1e-6, 1e-12, 1e-18, 1e-25] {
        let bound = all.epsilon(delta(at));
        assert!(bound.lower() > before && bound.gap() <= 1e-5 * bound.upper(), "{at:e}: {bound}");
        before = bound.upper();
        let both = [dp_accounting::Direction::Remove, dp_accounting::Direction::Add]
            .map(|direction| all.epsilon_in(direction, delta(at)));
        assert!(both[0].lower() > both[1].upper(), "the directions differ");
        assert_abs_diff_eq!(bound.upper(), both[0].upper().max(both[1].upper()), epsilon = 1e-9);
    }
}

/// Fault 6: the continuous Gaussian taken for the discrete one.
#[test]
fn the_discrete_gaussian_has_its_own_curve() {
    let discrete = Composition::new().with(Event::discrete_gaussian(1.0, 1).unwrap(), 10).unwrap();
    let continuous = Composition::new().with(Event::gaussian(1.0).unwrap(), 10).unwrap();
    let at = delta(1e-6);
    assert!(discrete.epsilon(at).lower() > continuous.epsilon(at).upper() + 0.05);
}

#[test]
fn order_and_grouping_do_not_matter_and_more_is_more() {
    let (a, b) = (Event::laplace(10.0).unwrap(), Event::gaussian(5.0).unwrap());
    let one = Composition::new().with(a, 3).unwrap().with(b, 2).unwrap();
    let two = Composition::new().with(b, 1).unwrap().with(a, 3).unwrap().with(b, 1).unwrap();
    assert_eq!(one, two);
    let at = delta(1e-6);
    let more = one.clone().with(a, 1).unwrap();
    assert!(more.epsilon(at).lower() > one.epsilon(at).upper());
    assert!(one.epsilon(delta(1e-8)).lower() > one.epsilon(at).upper());
    let once = Composition::new().with(Event::gaussian(2.0).unwrap(), 1).unwrap().epsilon(at);
    let many = Composition::new().with(Event::gaussian(20.0).unwrap(), 100).unwrap().epsilon(at);
    assert_abs_diff_eq!(once.upper(), many.upper(), epsilon = 1e-9);
}

/// Two paths for one value: a mix by inversion, and its parts by lattice.
#[test]
fn inversion_and_lattices_agree() {
    let laplace = |scale: f64| Event::laplace(scale).unwrap();
    // Scales so close that only the path differs.
    let mixed = Composition::new().with(laplace(10.0), 500).unwrap();
    let split = Composition::new()
        .with(laplace(10.0), 250)
        .unwrap()
        .with(laplace(10.0 * (1.0 + 1e-12)), 250)
        .unwrap();
    let (lattice, line) = (mixed.epsilon(delta(1e-6)), split.epsilon(delta(1e-6)));
    assert!(lattice.lower() <= line.upper() && line.lower() <= lattice.upper(), "{lattice} {line}");
    let renyi = dp_accounting::renyi_epsilon(&mixed, delta(1e-6));
    assert!(renyi >= lattice.lower() && renyi < 1.2 * lattice.upper(), "{renyi}");
}

/// As pairs of laws, a choice costs what its dearest way does, by itself and in a group; what is known from below is nothing where no way has such a pair.
#[test]
fn a_choice_as_a_composition() {
    use dp_accounting::{AddRemove, Receipt};
    let total = |spent: &Step, d| {
        let receipt = Receipt::new("m", AddRemove, budget(10.0, 1e-6), spent.clone());
        receipt.total().unwrap().epsilon(delta(d))
    };
    let one = |loss| Step::spend("a", loss);
    let several = |number, loss| Step::sequential("several", vec![one(loss); number]);
    let either = |ways: &[Step]| Step::one_of("ways", ways.to_vec());
    let group = |step| Step::group("g", std::num::NonZeroU32::new(2).unwrap(), step);
    let gaussian = |mu| Loss::Gaussian { mu: crate::mu(mu) };
    for ways in [
        [one(pure(0.3)), one(pure(0.4))],
        [one(crate::range(0.3)), one(pure(0.4))],
        [one(gaussian(0.3)), one(gaussian(0.4))],
        [one(gaussian(0.3)), several(3, gaussian(0.3))],
    ] {
        for d in [1e-9, 1e-6, 1e-2] {
            for around in [|step| step, group] {
                let [a, b] = [&ways[0], &ways[1]].map(|way| total(&around(way.clone()), d));
                let other = [ways[1].clone(), ways[0].clone()];
                for ways in [&ways, &other] {
                    let bound = total(&around(either(ways)), d);
                    assert!(
                        bound.upper() >= b.lower() && bound.lower() <= b.upper(),
                        "{bound} {b}"
                    );
                    assert!(bound.upper() >= a.upper(), "{bound} {a}");
                }
            }
        }
    }
    // A hundred small losses are not one of their sum, which is all that is known of several ways.
    let many = either(&[several(100, pure(0.05)), one(pure(0.1))]);
    let receipt = Receipt::new("m", AddRemove, budget(10.0, 1e-6), many.clone());
    let (proved, bound) = (receipt.epsilon().unwrap().get(), total(&many, 1e-6));
    assert!(proved < 2.7 && bound.lower() <= proved && bound.upper() >= 4.99, "{proved} {bound}");
    // Not the same way in each measure, or no pair that it has: from above.
    for ways in [
        [one(pure(0.3)), one(gaussian(0.4))],
        [several(100, pure(0.05)), one(pure(0.1))],
        [one(crate::range(0.5)), one(pure(0.4))],
        [one(crate::zcdp(0.01)), several(2, crate::zcdp(0.02))],
    ] {
        for d in [1e-6, 1e-2] {
            for around in [|step| step, group] {
                for whole in [either(&ways), Step::parallel("parts", ways.to_vec())] {
                    let bound = total(&around(whole), d);
                    assert_eq!(bound.lower(), 0.0);
                    for way in &ways {
                        let way = total(&around(way.clone()), d);
                        assert!(bound.upper() >= way.lower(), "{bound} {way}");
                    }
                }
            }
        }
    }
}

#[test]
fn receipts_as_compositions() {
    use dp_accounting::{AddOnly, AddRemove, Receipt, ReplaceOne, Within};
    let steps = vec![Step::spend("a", pure(0.1)); 100];
    let spent = Step::sequential("all", steps);
    let receipt = Receipt::new("m", AddRemove, budget(10.0, 1e-6), spent.clone());
    let total = receipt.total().unwrap();
    let bound = total.epsilon(delta(1e-6));
    assert_abs_diff_eq!(bound.upper(), 4.774_567_588_107_986, epsilon = 1e-8);
    assert!(receipt.epsilon().unwrap().get() > bound.upper());
    let with_rest =
        Step::sequential("more", vec![spent.clone(), Step::spend("b", crate::zcdp(0.01))]);
    let more = Receipt::new("m", AddRemove, budget(10.0, 1e-6), with_rest).total().unwrap();
    assert!(more.epsilon(delta(1e-6)).upper() > bound.upper());
    // One of next to nothing costs its share of delta, a hundredth at least: what is converted with it the pairs do not have.
    let next_to_nothing =
        Step::sequential("rest", vec![spent.clone(), Step::spend("b", crate::zcdp(1e-40))]);
    let rest = Receipt::new("m", AddRemove, budget(10.0, 1e-6), next_to_nothing).total().unwrap();
    let (with_rest, without) = (rest.epsilon(delta(1e-6)), total.epsilon(delta(0.991e-6)));
    assert!(with_rest.upper() >= without.upper(), "{with_rest} {without}");
    assert!(Receipt::new("m", AddOnly, budget(10.0, 1e-6), spent.clone()).total().is_none());
    let nothing = Step::spend("n", Loss::Unbounded);
    assert!(Receipt::new("m", AddRemove, budget(10.0, 1e-6), nothing).total().is_none());
    // What is left out grows with a group by more than is known here.
    let outside = Step::outside("rare", delta(1e-9), Step::spend("a", pure(0.1)));
    let outside = Receipt::new("m", AddRemove, budget(1.0, 1e-6), outside);
    assert!(outside.total().is_some() && outside.into_replace_one().total().is_none());
    // Nothing need be left out: what is known from below is what the rest costs.
    let rare = Step::outside("rare", delta(1e-9), spent.clone());
    let rare = Receipt::new("m", AddRemove, budget(10.0, 1e-6), rare).total().unwrap();
    let rare = rare.epsilon(delta(1e-6));
    assert!(rare.lower() == bound.lower() && bound.lower() < bound.upper(), "{rare} {bound}");
    assert!(rare.upper() > bound.upper(), "{rare} {bound}");
    // A record that is replaced leaves one part and comes into another.
    let parts = Step::parallel("parts", vec![Step::spend("a", pure(0.1)); 2]);
    for steps in [parts.clone(), Step::sequential("all", vec![parts.clone()])] {
        let added = Receipt::new("m", AddRemove, budget(1.0, 0.0), steps.clone());
        let replaced = Receipt::new("m", ReplaceOne, budget(1.0, 0.0), steps);
        assert!(added.total().is_some() && replaced.total().is_none());
    }
    // So it does where the parts are in one of several ways.
    for ways in [vec![parts.clone(), Step::spend("a", pure(0.3))], vec![parts.clone()]] {
        let ways = Step::sequential("all", vec![Step::one_of("ways", ways)]);
        let added = Receipt::new("m", AddRemove, budget(1.0, 0.0), ways.clone());
        let replaced = Receipt::new("m", ReplaceOne, budget(1.0, 0.0), ways);
        assert!(added.total().is_some() && replaced.total().is_none());
    }
    // And in any other step that holds them: each loses as much as two parts do.
    let none = delta(0.0);
    let two = std::num::NonZeroU32::new(2).unwrap();
    for holds in [
        Step::outside("rare", none, parts.clone()),
        Step::group("two", two, parts.clone()),
        Step::outside("rare", none, Step::group("two", two, Step::sequential("all", vec![parts]))),
    ] {
        for replaced in [
            Receipt::new("m", ReplaceOne, budget(1.0, 0.0), holds.clone()).total(),
            Receipt::new("m", Within::new(1.0).unwrap(), budget(1.0, 0.0), holds.clone()).total(),
        ] {
            assert!(replaced.is_none(), "{holds:?}");
        }
        assert!(Receipt::new("m", AddRemove, budget(1.0, 0.0), holds).total().is_some());
    }
    // The group of two changes under another relation is the doubled loss.
    let replace = receipt.into_replace_one().total().unwrap().epsilon(delta(1e-6));
    assert!(replace.lower() > bound.upper());
}

#[test]
fn the_trade_off_of_a_gaussian() {
    let all = Composition::new().with(Event::gaussian(1.0).unwrap(), 1).unwrap();
    let epsilons: Vec<Epsilon> = (0..120).map(|i| epsilon(f64::from(i) / 20.0)).collect();
    let errors = all.trade_off(&epsilons, &[0.0, 0.05, 0.5, 1.0]);
    // Phi(Phi^-1(1 - a) - 1).
    for (bound, want) in errors.iter().zip([1.0, 0.740_489, 0.158_655, 0.0]) {
        assert!(bound.lower() <= want + 1e-6 && bound.upper() >= want - 1e-6, "{bound} {want}");
        assert!(bound.gap() <= 1e-2, "{bound}");
    }
    assert!(errors[1].gap() <= 1e-3 && errors[2].gap() <= 1e-3, "{errors:?}");
    // A control: few points leave room.
    let rough = all.trade_off(&[epsilon(2.0)], &[0.05])[0];
    assert!(rough.gap() > 0.01 && rough.upper() >= errors[1].upper(), "{rough}");
}

#[test]
fn the_trade_off_of_randomised_response_is_known_exactly() {
    // max(1 - e^e a, e^-e (1 - a)): two lines that meet at the only interesting point.
    let e = 1.5;
    let all = Composition::new().with(Event::randomised_response(epsilon(e)).unwrap(), 1).unwrap();
    let alphas: Vec<f64> = (0..=20).map(|i| f64::from(i) / 20.0).collect();
    for (bound, a) in all.trade_off(&[epsilon(e)], &alphas).iter().zip(alphas) {
        let want = (1.0 - e.exp() * a).max((-e).exp() * (1.0 - a));
        assert!(bound.lower() <= want + 1e-15 && bound.upper() >= want - 1e-15, "{bound} {want}");
        assert_abs_diff_eq!(bound.lower(), want, epsilon = 1e-12);
    }
}

/// Far below any noise that anyone would use, a mix still costs at least its Gaussian part, and at most what simple composition says.
/// The exponents are in the thousands there.
#[test]
fn a_mix_never_costs_less_than_its_gaussian_part() {
    let delta = delta(3e-8);
    for multiplier in [0.01, 0.013, 0.02, 0.1] {
        let gaussian = Event::gaussian(multiplier).unwrap();
        let loss = 0.05 / multiplier;
        let other = Event::discrete_laplace(loss, 1).unwrap();
        let alone = Composition::new().with(gaussian, 1).unwrap();
        let mix = alone.clone().with(other, 21).unwrap();
        let (alone, mix) = (alone.epsilon(delta), mix.epsilon(delta));
        assert!(mix.upper() >= alone.lower(), "{multiplier}: {mix} below {alone}");
        assert!(mix.upper() <= alone.upper() + 21.0 * loss, "{multiplier}: {mix}, {alone} alone");
        assert!(mix.lower() >= alone.lower(), "{multiplier}: {mix}");
    }
}
