//! Every public formula against its value in intervals, at random arguments and at the ends of what floats hold: no answer is too small.

use dp_accounting::{
    AddRemove, Budget, Composition, Delta, Epsilon, Event, Loss, Meaning, Mu, Receipt, Rho, Step,
    advanced_composition_epsilon, bounded_range_composition_by_zcdp, bounded_range_optimal_delta,
    budget_to_mu, budget_to_zcdp, gaussian_delta, gaussian_epsilon, gaussian_noise_multiplier,
    mu_to_epsilon, near_optimal_composition_epsilon, normal_tail, one_sided_to_two_sided,
    optimal_composition_delta, optimal_composition_epsilon, poisson_sampling,
    pure_composition_by_zcdp, renyi_to_epsilon, repeated_selection_epsilon,
    repeated_selection_loss, sampling_with_replacement, sampling_without_replacement,
    zcdp_to_delta, zcdp_to_epsilon, zcdp_to_log_delta,
};
use dp_check::{
    Composed, Effort, Interval, Law, Side, charge, exp_m1, hidden, hockey_stick, ln_1p,
    optimal_composition, renyi_epsilon, sampled, tanh_half, zcdp_epsilon, zcdp_log_delta,
};

use crate::queries::Cases;

/// The ends of what floats hold, and where functions change their form.
const ODD: [f64; 24] = [
    5e-324, 1e-310, 1e-300, 1e-200, 1e-154, 1e-100, 1e-17, 1e-16, 1e-9, 1e-3, 0.5, 1.0, 2.0, 36.0,
    40.0, 100.0, 600.0, 709.0, 710.0, 746.0, 1e3, 1e10, 1e100, 1e300,
];

/// Next to 0 and next to 1.
const ODD_SHARES: [f64; 12] = [
    5e-324,
    1e-310,
    1e-300,
    1e-100,
    1e-17,
    1e-9,
    1e-3,
    0.5,
    0.9999,
    1.0 - 1e-9,
    1.0 - 3.0 * f64::EPSILON,
    1.0 - f64::EPSILON / 2.0,
];

fn number(cases: &mut Cases) -> f64 {
    match cases.up_to(4) {
        1 => ODD[cases.up_to(24) as usize - 1],
        2 => cases.between(1e-300, 1e300),
        _ => cases.between(1e-6, 1e4),
    }
}

/// Above 0 and below 1.
fn share(cases: &mut Cases) -> f64 {
    match cases.up_to(4) {
        1 => ODD_SHARES[cases.up_to(12) as usize - 1],
        2 => cases.between(1e-300, 0.9),
        3 => 1.0 - cases.between(f64::EPSILON, 0.9),
        _ => cases.between(1e-20, 0.9),
    }
}

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).expect("finite and not negative")
}

fn delta(x: f64) -> Delta {
    Delta::new(x).expect("below 1")
}

/// What was claimed is not below the truth.
#[track_caller]
fn covers(what: &str, arguments: &[f64], claimed: f64, truth: &Interval) {
    assert!(!claimed.is_nan(), "{what} {arguments:?}: NaN");
    let below = claimed.is_finite() && truth.is_above(claimed);
    assert!(!below, "{what} {arguments:?}: {claimed:e} claimed, {truth} is the truth");
}

/// A delta; one that cannot be told from 1 says nothing.
#[track_caller]
fn covers_delta(what: &str, arguments: &[f64], claimed: Delta, truth: &Interval) {
    if claimed < Delta::MAX {
        covers(what, arguments, claimed.get(), truth);
    }
}

#[track_caller]
fn covers_epsilon(what: &str, arguments: &[f64], claimed: Option<Epsilon>, truth: &Interval) {
    if let Some(claimed) = claimed {
        covers(what, arguments, claimed.get(), truth);
    }
}

fn of(x: f64) -> Interval {
    Interval::of(x)
}

fn gaussian(multiplier: f64, at: f64) -> Option<Interval> {
    // Where 256 bits are enough for the difference of two tails.
    if !(1e-12..1e25).contains(&multiplier) || at * multiplier > 1e4 || at > 1e20 {
        return None;
    }
    let effort = Effort { atoms: 10, cells: 10, terms: 10, places: 256 };
    let parts = [(Law::Gaussian { multiplier }, 1)];
    Composed::new(&parts, Side::Remove, effort).map(|curve| curve.delta(at))
}

#[test]
fn gaussian_curves() {
    let mut cases = Cases::new(101);
    let mut checked = 0;
    for _ in 0..250 {
        let (x, y, d) = (number(&mut cases), number(&mut cases), share(&mut cases));
        // Close to where delta is neither 0 nor 1, too.
        let near = 0.5 / (x * x) + 4.0 * cases.share() / x;
        for at in [y, near] {
            let Ok(e) = Epsilon::new(at) else { continue };
            if let Some(truth) = gaussian(x, at) {
                covers_delta("gaussian_delta", &[x, at], gaussian_delta(x, e), &truth);
                checked += 1;
            }
        }
        let solved = [
            gaussian_epsilon(x, delta(d)),
            Mu::new(1.0 / x).ok().and_then(|mu| mu_to_epsilon(mu, delta(d))),
        ];
        for claimed in solved.into_iter().flatten() {
            if let Some(truth) = gaussian(x, claimed.get()) {
                covers("gaussian_epsilon", &[x, d, claimed.get()], d, &truth);
            }
        }
        if let Ok(budget) = Budget::new(x, d) {
            let multiplier = gaussian_noise_multiplier(budget);
            let mu = budget_to_mu(budget).map_or(f64::INFINITY, |mu| 1.0 / mu.get());
            for multiplier in [multiplier, mu * (1.0 + f64::EPSILON)] {
                if let Some(truth) = gaussian(multiplier, x) {
                    covers("noise for a budget", &[x, d, multiplier], d, &truth);
                }
            }
        }
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn conversions() {
    let mut cases = Cases::new(102);
    for _ in 0..200 {
        let (x, y, d) = (number(&mut cases), number(&mut cases), share(&mut cases));
        let rho = Rho::new(x).expect("finite");
        let claimed = zcdp_to_epsilon(rho, delta(d));
        covers_epsilon("zcdp_to_epsilon", &[x, d], claimed, &zcdp_epsilon(x, d));
        if x < 1e20 && y < 1e20 {
            let log = zcdp_log_delta(x, y);
            if !log.reaches_above(0.0) && log.is_above(-1e18) {
                covers("zcdp_to_log_delta", &[x, y], zcdp_to_log_delta(rho, epsilon(y)), &log);
                covers_delta("zcdp_to_delta", &[x, y], zcdp_to_delta(rho, epsilon(y)), &log.exp());
            }
        }
        if let Ok(budget) = Budget::new(x, d)
            && let Some(rho) = budget_to_zcdp(budget)
        {
            covers("budget_to_zcdp", &[x, d], x, &zcdp_epsilon(rho.get(), d));
        }
        if y < 1e20 {
            let order = 1.0 + y;
            if order > 1.0 {
                let claimed = renyi_to_epsilon(order, x, delta(d)).expect("in range");
                let truth = renyi_epsilon(&of(x), order - 1.0, d);
                covers_epsilon("renyi_to_epsilon", &[order, x, d], claimed, &truth);
            }
        }
        let rho = |loss: Loss| loss.zcdp().map_or(f64::INFINITY, Rho::get);
        let square = &of(x) * &of(x);
        let by_pure = &of(x) * &tanh_half(&of(x.min(1e4)));
        covers("pure as zCDP", &[x], rho(epsilon(x).into()), &by_pure);
        let mu = Loss::Gaussian { mu: Mu::new(x).expect("finite") };
        covers("Gaussian as zCDP", &[x], rho(mu), &(&square * &of(0.5)));
        if x < 1.0 {
            let range = Loss::BoundedRange { eta: epsilon(x) };
            covers("range as zCDP", &[x], rho(range), &(&square * &of(0.125)));
        }
    }
}

/// The coins that are worst for bounded range `eta` with the larger log-ratio `t`: heads under `P` and under `Q`.
fn coins(eta: &Interval, t: &Interval) -> [Interval; 2] {
    let p = &-&exp_m1(&(t - eta)) / &-&exp_m1(&-eta);
    let q = &(-t).exp() * &p;
    [p, q]
}

/// `sup over S of P(S) - e^loss Q(S)` of coins.
fn coin_delta([p, q]: &[Interval; 2], loss: &Interval) -> Interval {
    let (y, one) = (loss.exp(), of(1.0));
    let heads = (p - &(&y * q)).positive_part();
    let tails = (&(&one - p) - &(&y * &(&one - q))).positive_part();
    &heads + &tails
}

/// The Gaussian pair covers the coins for every `t`, at losses around the place where it is tightest; and where `t` is half of the range, a pair
/// that is a thousand-millionth closer does not.
#[test]
fn gaussian_pairs_cover_choices() {
    let mut proved = 0;
    for eta in [1e-6, 1e-3, 0.1, 1.0, 1.999, 2.0, 5.0, 30.0, 200.0, 1400.0, 3000.0] {
        let mu = Loss::BoundedRange { eta: epsilon(eta) }.gaussian().expect("in range");
        assert_eq!(Some(mu), Loss::from(epsilon(eta / 2.0)).gaussian());
        let mu = mu.get();
        let (range, distance) = (of(eta), of(mu));
        for i in 0..=32 {
            let share = match i {
                0 => 1e-9,
                32 => 1.0 - 1e-9,
                i => f64::from(i) / 32.0,
            };
            let pair = coins(&range, &of(eta * share));
            // The log-ratio of the Gaussian pair where it has as much of `Q` as heads: found by halving, and only a place to look at.
            let heads = pair[1].approximate();
            let (mut low, mut high) = (-60.0, 60.0);
            for _ in 0..60 {
                let z = f64::midpoint(low, high);
                if normal_tail(z).get() > heads { low = z } else { high = z }
            }
            let place = low * mu - mu * mu / 2.0;
            for loss in [place, place - 0.1 * mu, place + 0.1 * mu, 0.0, eta / 3.0, -eta / 3.0] {
                let loss = of(loss);
                let (cover, need) = (hockey_stick(&distance, &loss), coin_delta(&pair, &loss));
                let slack = &cover - &need;
                assert!(!slack.is_below(0.0), "{eta} {share}: {need} of {cover} at {loss}");
                proved += usize::from(!slack.reaches_below(0.0));
            }
        }
        if eta < 1400.0 {
            let even = coin_delta(&coins(&range, &of(eta / 2.0)), &of(0.0));
            let closer = hockey_stick(&of(mu * (1.0 - 1e-9)), &of(0.0));
            assert!((&closer - &even).is_below(0.0), "{eta}: {mu} is not the least");
        }
    }
    assert!(proved > 1800, "{proved}");
}

#[test]
fn groups() {
    let mut cases = Cases::new(103);
    for _ in 0..200 {
        let (x, d) = (number(&mut cases).min(1e12), share(&mut cases));
        let size = [2, 3, 1000, u32::MAX][cases.up_to(4) as usize - 1];
        let k = of(f64::from(size));
        let loss = Loss::Approximate { epsilon: epsilon(x), delta: delta(d) };
        if let Loss::Approximate { epsilon: all, delta: grown } = loss.scaled_to_group(size) {
            covers("group", &[x], all.get(), &(&k * &of(x)));
            let factor = &exp_m1(&(&k * &of(x))) / &exp_m1(&of(x));
            covers("delta of a group", &[x, d], grown.get(), &(&factor * &of(d)));
        }
        // A receipt of groups of groups, up to what no integer holds.
        let group = |step| Step::group("g", size.try_into().expect("not 0"), step);
        let twice = group(group(Step::spend("s", epsilon(x).into())));
        let receipt = Receipt::new("m", AddRemove, Budget::new(1.0, 0.0).expect("valid"), twice);
        covers_epsilon("groups of groups", &[x], receipt.pure(), &(&(&k * &k) * &of(x)));
        let thrice = group(receipt.spent().clone());
        assert!(size <= 1000 || thrice.pure().is_none(), "2^96 changes");
    }
}

#[test]
fn composition_of_like_mechanisms() {
    let mut cases = Cases::new(104);
    for _ in 0..150 {
        let (x, d, y) = (number(&mut cases), share(&mut cases), share(&mut cases));
        let uses = cases.up_to(40);
        let k = f64::from(uses);
        // The interval's exponential takes any exponent that an integer holds.
        if x < 1e15 {
            let at = x * k * cases.share();
            let inner = [0.0, d][cases.up_to(2) as usize - 1];
            let got = optimal_composition_delta(epsilon(x), delta(inner), uses, epsilon(at));
            let truth = optimal_composition(x, inner, uses.into(), at);
            covers_delta("optimal", &[x, inner, k, at], got.expect("in range"), &truth);
            let got = optimal_composition_epsilon(epsilon(x), delta(inner), uses, delta(y));
            if let Some(got) = got.expect("in range") {
                let truth = optimal_composition(x, inner, uses.into(), got.get());
                covers("optimal epsilon", &[x, inner, k, y], y, &truth);
            }
        }
        let uses = [1, 2, 1 << 53, (1 << 53) + 1, u64::MAX][cases.up_to(5) as usize - 1];
        let (e, k) = (of(x), Interval::whole(uses));
        let log = -&of(d).ln();
        let root = |log: &Interval| &e * &(&(&k * log) * &of(2.0)).sqrt();
        if x < 700.0 {
            let drift = &(&k * &e) * &exp_m1(&e);
            let got = advanced_composition_epsilon(epsilon(x), uses, delta(d));
            covers_epsilon("advanced", &[x, d], got, &(&drift + &root(&log)));
            let got = near_optimal_composition_epsilon(epsilon(x), uses, delta(d));
            let grown = &of(1.0).exp() + &(&(&e * &k.sqrt()) / &of(d));
            let (other, drift) = (grown.ln(), &(&k * &e) * &tanh_half(&e));
            // The least of three.
            let least = [&k * &e, &drift + &root(&log), &drift + &root(&other)];
            let above = |got: Epsilon| least.iter().all(|one| one.is_above(got.get()));
            assert!(!got.is_some_and(above), "near optimal {x:e} {uses} {d:e}: {got:?}");
        }
        if x < 1e100 {
            let square = &(&k * &e) * &e;
            for (got, part) in [
                (pure_composition_by_zcdp(epsilon(x), uses, delta(d)), 0.5),
                (bounded_range_composition_by_zcdp(epsilon(x), uses, delta(d)), 0.125),
            ] {
                let Some(got) = got else { continue };
                let rho = (&square * &of(part)).approximate() * (1.0 - 1e-13);
                let truth = zcdp_epsilon(rho, d);
                let below = truth.is_above(got.get()) && (&k * &e).is_above(got.get());
                assert!(!below, "by zCDP {x:e} {uses} {d:e}: {got}, {truth}");
                assert!(got.get() > 0.0 || !truth.is_positive(), "{x:e}: nothing at all");
            }
        }
        if x < 700.0 {
            let grown = &exp_m1(&e) * &charge(d);
            let got = repeated_selection_epsilon(epsilon(x), delta(d));
            covers_epsilon("repeated selection", &[x, d], got, &grown.max(&e));
            if let Some(each) = repeated_selection_loss(epsilon(x), delta(d)) {
                let each = of(each.get());
                let grown = &exp_m1(&each) * &charge(d);
                covers("loss of a selection", &[x, d], x, &grown.max(&each));
            }
        }
    }
}

/// The losses `t` and `t - eta`, so many times, at each `t` that could be the worst: none of them loses more, and one as much.
#[test]
fn bounded_ranges_chosen_beforehand() {
    let mut cases = Cases::new(108);
    for case in 0..60 {
        let (eta, uses) = match case % 8 {
            0 => (cases.between(1e-6, 600.0), cases.up_to(3)),
            _ => (cases.between(1e-6, 8.0), cases.up_to(24)),
        };
        let k = u64::from(uses);
        // Every fourth is a few roundings below the largest loss there is.
        let most = eta * f64::from(uses);
        let next = (0..=case / 4 % 4).fold(most, |at, _| at.next_down());
        let is_next = case % 4 == 0;
        let at = if is_next { next } else { most * cases.share() };
        let claimed = bounded_range_optimal_delta(epsilon(eta), uses, epsilon(at));
        let claimed = claimed.expect("in range");
        let mut worst = of(0.0);
        for place in 1..=uses {
            let eta_exactly = of(eta);
            let sum = &of(at) + &(&Interval::whole(u64::from(place)) * &eta_exactly);
            let t = &sum / &Interval::whole(k + 1);
            let t = &eta_exactly - &(&eta_exactly - &t).positive_part();
            let below = &t - &eta_exactly;
            let high = &-&exp_m1(&below) / &-&exp_m1(&-&eta_exactly);
            let low = &of(1.0) - &high;
            let (mut truth, mut choose) = (of(0.0), of(1.0));
            for i in 0..=k {
                let (hits, others) = (Interval::whole(i), Interval::whole(k - i));
                let loss = &(&hits * &t) + &(&others * &below);
                let lost = (&of(1.0) - &(&of(at) - &loss).exp()).positive_part();
                let mass = &(&choose * &high.power(i)) * &low.power(k - i);
                truth = &truth + &(&mass * &lost);
                choose = &(&choose * &others) / &Interval::whole(i + 1);
            }
            covers_delta("bounded range", &[eta, f64::from(uses), at], claimed, &truth);
            worst = worst.max(&truth);
        }
        let is_close = is_next || worst.is_above(claimed.get() * (1.0 - 1e-9));
        assert!(is_close, "{eta} {uses} {at}: {claimed}");
    }
}

/// Sums over a hundred thousand losses, against all that answers the same question.
#[test]
fn many_uses_of_randomised_response() {
    for (x, uses, at) in [
        (0.01, 100_000, 3.0),
        (1e-3, 100_000, 0.5),
        (0.1, 20_000, 250.0),
        (2.0, 3_000, 5000.0),
        (1e-4, 100_000, 0.2),
        (0.3, 5_000, 600.0),
    ] {
        let truth = optimal_composition(x, 0.0, uses.into(), at);
        let event = Event::randomised_response(epsilon(x)).expect("in range");
        let curve = Composition::new().with(event, uses.into()).expect("in range");
        let bound = curve.delta(epsilon(at));
        covers("lattice", &[x, at], bound.upper(), &truth);
        assert!(!truth.is_below(bound.lower()), "{x} {uses}: {bound}, {truth}");
        assert!(bound.gap() <= 1e-6 * bound.upper(), "{x} {uses}: {bound}");
        let got = optimal_composition_delta(epsilon(x), Delta::ZERO, uses, epsilon(at));
        let got = got.expect("in range").get();
        covers("sum", &[x, at], got, &truth);
        assert!(!truth.is_below(got * (1.0 - 1e-6)), "{x} {uses}: {got}, {truth}");
    }
}

#[test]
fn samples() {
    let mut cases = Cases::new(105);
    for _ in 0..200 {
        let (x, y) = (number(&mut cases).min(1e15), number(&mut cases));
        let (d, rate) = (share(&mut cases), share(&mut cases));
        for rate in [rate, 1.0] {
            let all = sampled(x, &of(rate));
            let (e, part) = poisson_sampling(epsilon(x), delta(d), rate).expect("in range");
            covers("poisson", &[x, rate], e.get(), &all);
            covers_delta("poisson", &[d, rate], part, &(&of(rate) * &of(d)));
            for remove in [Some(y.min(1e15)), None] {
                let plain = remove.unwrap_or(f64::INFINITY);
                let Ok(got) = one_sided_to_two_sided(epsilon(x), plain, rate) else { continue };
                let other = hidden(remove, rate);
                covers("one-sided", &[x, plain, rate], got.get(), &all.max(&other));
            }
        }
        let population = [1, 7, 1 << 40, u64::MAX][cases.up_to(4) as usize - 1];
        let size = 1 + population / (1 + u64::from(cases.up_to(1000)));
        if let Ok((e, part)) = sampling_without_replacement(epsilon(x), delta(d), size, population)
        {
            let rate = &Interval::whole(size) / &Interval::whole(population);
            covers("without replacement", &[x], e.get(), &sampled(x, &rate));
            covers_delta("without replacement", &[d], part, &(&rate * &of(d)));
        }
        // A mechanism that shows whoever was drawn more than `most` times.
        let (draws, most) = (cases.up_to(30), cases.up_to(5));
        let of_group = |j: u32| if j > most { delta(d) } else { Delta::ZERO };
        let (e, part) =
            sampling_with_replacement(epsilon(x), draws, population, of_group).expect("in range");
        let hit = &of(1.0) / &Interval::whole(population);
        let miss = &of(1.0) - &hit;
        let rate = &of(1.0) - &miss.power(draws.into());
        if population < 1 << 50 {
            covers("with replacement", &[x], e.get(), &sampled(x, &rate));
        }
        let (mut ways, mut shown) = (of(1.0), of(0.0));
        for j in 1..=draws {
            ways = &(&ways * &Interval::whole((draws - j + 1).into())) / &Interval::whole(j.into());
            if j > most {
                let weight = &hit.power(j.into()) * &miss.power((draws - j).into());
                shown = &shown + &(&(&ways * &weight) * &of(d));
            }
        }
        covers_delta("with replacement", &[d], part, &shown);
    }
}

#[test]
fn what_it_means() {
    let mut cases = Cases::new(106);
    let one = of(1.0);
    for _ in 0..200 {
        let (x, d) = (number(&mut cases).min(1e15), share(&mut cases));
        let meaning = Meaning::new(epsilon(x), delta(d));
        let odds = (-&of(x)).exp();
        let shown = |p: &Interval| &of(d) + &(&(&one - &of(d)) * p);
        covers("advantage", &[x, d], meaning.advantage(), &shown(&tanh_half(&of(x))));
        for p in [0.0, 1.0, 0.5, share(&mut cases)] {
            let truth = (&one / &(&one + &odds)).max(&of(p)).max(&(&one - &of(p)));
            covers("attack", &[x, d, p], meaning.attack_success(p), &shown(&truth));
            let rest = (&(&one - &of(d)) - &of(p)).positive_part();
            let grown = &(&of(x).exp() * &of(p)) + &of(d);
            let other = &one - &(&odds * &rest);
            let got = meaning.detection(p);
            let below = grown.is_above(got) && other.is_above(got) && one.is_above(got);
            assert!(!below && (0.0..=1.0).contains(&got), "detection {x:e} {d:e} {p:e}: {got:e}");
            if p > 0.0 {
                let doubt = &(&one - &of(p)) * &odds;
                covers("belief", &[x, p], meaning.belief(p), &(&of(p) / &(&of(p) + &doubt)));
            }
        }
    }
}

/// The totals of receipts are bounds on the composition of the worst pairs, or of one that has the loss.
#[test]
fn receipts() {
    let mut cases = Cases::new(107);
    let mut checked = 0;
    for _ in 0..150 {
        let (mut steps, mut laws) = (Vec::new(), Vec::new());
        let number = cases.up_to(3);
        for i in 0..=number {
            let (x, d) = (cases.between(1e-3, 3.0), cases.between(1e-12, 1e-3));
            // One Gaussian at most, which the check composes with atoms exactly.
            let (loss, law) = match if i == 0 { 3 + cases.up_to(2) } else { cases.up_to(3) } {
                1 => (epsilon(x).into(), Law::RandomisedResponse { epsilon: x }),
                2 => {
                    let loss = Loss::Approximate { epsilon: epsilon(x), delta: delta(d) };
                    (loss, Law::Approximate { epsilon: x, delta: d })
                }
                3 => (Loss::BoundedRange { eta: epsilon(x) }, ranged(x)),
                4 => (Mu::new(x).expect("valid").into(), Law::Gaussian { multiplier: 1.0 / x }),
                _ => {
                    // A Gaussian is one of those that have it, a hair less.
                    let rho = Rho::new(x * x / 2.0 * (1.0 + 1e-12)).expect("valid");
                    (rho.into(), Law::Gaussian { multiplier: 1.0 / x })
                }
            };
            steps.push(Step::spend("step", loss));
            laws.push((law, 1));
        }
        let all = Step::sequential("all", steps);
        let receipt = Receipt::new("m", AddRemove, Budget::new(1.0, 0.0).expect("valid"), all);
        let effort = Effort { atoms: 1000, cells: 100, terms: 300, places: 200 };
        let truth = Composed::new(&laws, Side::Remove, effort).expect("few atoms");
        for d in [1e-9, 1e-4, 0.01, 0.3] {
            let Some(claimed) = receipt.epsilon_at(delta(d)) else { continue };
            let got = truth.delta(claimed.get());
            assert!(!got.is_above(d), "{receipt}: {claimed} at {d:e}, where delta is {got}");
            checked += 1;
        }
    }
    assert!(checked > 300, "{checked}");
}

/// A pair of bounded range: randomised response that is lopsided by nothing has half of it on each side.
fn ranged(eta: f64) -> Law {
    Law::RandomisedResponse { epsilon: eta / 2.0 }
}

/// At every epsilon that was given: no error below what the curve says there is claimed not to occur.
#[test]
fn trade_offs() {
    let laws = [
        vec![(Law::Gaussian { multiplier: 1.0 }, 1)],
        vec![(Law::RandomisedResponse { epsilon: 0.3 }, 7)],
        vec![(Law::Approximate { epsilon: 0.5, delta: 1e-3 }, 2)],
        vec![(Law::DiscreteLaplace { rate: 0.4, sensitivity: 2 }, 3)],
    ];
    let epsilons = [0.0, 0.1, 0.5, 1.0, 2.0];
    let errors = [0.0, 5e-324, 1e-9, 0.01, 0.3, 0.5, 0.9, 1.0];
    for parts in laws {
        let effort = Effort { atoms: 1000, cells: 100, terms: 300, places: 200 };
        let truth = Composed::new(&parts, Side::Remove, effort).expect("few atoms");
        let all = crate::queries::composition(&parts).expect("in range");
        let told = all.trade_off(&epsilons.map(epsilon), &errors);
        for (a, bound) in errors.into_iter().zip(told) {
            let one = of(1.0);
            let known = epsilons.map(|e| {
                let (kept, y) = (&one - &truth.delta(e), of(e).exp());
                (&kept - &(&y * &of(a))).max(&(&(&kept - &of(a)) / &y)).positive_part()
            });
            let most = known.into_iter().reduce(|x, y| x.max(&y)).expect("five");
            assert!(!most.is_below(bound.lower()), "{parts:?} {a}: {bound}, {most}");
            assert!(!most.is_above(bound.upper()), "{parts:?} {a}: {bound}, {most}");
            assert!(!most.is_above(bound.lower() + 1e-6), "{parts:?} {a}: {bound}, {most}");
        }
    }
}

/// The check itself: a formula that is a thousand-millionth too small is caught.
#[test]
fn what_is_too_small_is_caught() {
    let (x, d) = (0.7, 1e-6);
    let less = 1.0 - 1e-9;
    let caught = |claimed: Option<Epsilon>, truth: &Interval| {
        assert!(truth.is_above(claimed.expect("there is one").get() * less));
    };
    caught(zcdp_to_epsilon(Rho::new(x).expect("valid"), delta(d)), &zcdp_epsilon(x, d));
    caught(repeated_selection_epsilon(epsilon(x), delta(d)), &(&exp_m1(&of(x)) * &charge(d)));
    let sum = optimal_composition_delta(epsilon(x), Delta::ZERO, 9, epsilon(2.0));
    assert!(optimal_composition(x, 0.0, 9, 2.0).is_above(sum.expect("in range").get() * less));
    let sample = poisson_sampling(epsilon(x), delta(d), 0.1).expect("in range").0;
    caught(Some(sample), &sampled(x, &of(0.1)));
    let other = one_sided_to_two_sided(epsilon(1e-9), 1.0, 0.5).expect("in range");
    caught(Some(other), &hidden(Some(1.0), 0.5));
    assert!(ln_1p(&of(1e-9)).is_above(1e-9 * (1.0 - 1e-9)));
    assert!(
        gaussian(1.0, 1.0)
            .expect("in range")
            .is_above(gaussian_delta(1.0, epsilon(1.0)).get() * less)
    );
}
