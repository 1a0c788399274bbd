//! Moments `E e^(s L)` of the loss under `P`: enough to check a bound by Markov's inequality, for any number of uses.

use crate::big::{Big, Round};
use crate::interval::{Interval, pi};
use crate::law::{Law, Side};
use crate::normal::upper_tail;

/// `ln E e^(order L)` of all uses together, for an order above 0; `None` where some output has no finite loss.
pub fn log_moment(parts: &[(Law, u64)], side: Side, order: f64) -> Option<Interval> {
    parts.iter().try_fold(Interval::zero(), |sum, (law, count)| {
        Some(&sum + &(&Interval::whole(*count) * &of_law(law, side, order)?))
    })
}

/// At least the delta at `epsilon` of whatever has that `ln E e^(order L)`: `(1 - e^-x)_+ <= e^(s x) s^s / (1 + s)^(1 + s)` for every `x`.
pub fn delta_by_moment(log_moment: f64, order: f64, epsilon: f64) -> Interval {
    let s = Interval::of(order);
    let exponent = &Interval::of(log_moment) - &(&s * &Interval::of(epsilon));
    (&exponent + &log_peak(&s)).exp()
}

/// At least the epsilon at `delta` of the same.
pub fn epsilon_by_moment(log_moment: f64, order: f64, delta: f64) -> Interval {
    let s = Interval::of(order);
    let above = &(&Interval::of(log_moment) + &log_peak(&s)) - &Interval::of(delta).ln();
    (&above / &s).positive_part()
}

/// `s ln s - (1 + s) ln (1 + s)`.
fn log_peak(s: &Interval) -> Interval {
    let more = &Interval::one() + s;
    &(s * &s.ln()) - &(&more * &more.ln())
}

fn of_law(law: &Law, side: Side, order: f64) -> Option<Interval> {
    let (one, s) = (Interval::one(), Interval::of(order));
    let more = &one + &s;
    match law {
        Law::Gaussian { multiplier } => {
            let sigma = Interval::of(*multiplier);
            Some((&(&s * &more) / &(&sigma * &sigma)).scaled(-1))
        }
        Law::RandomisedResponse { epsilon } | Law::Approximate { epsilon, delta: 0.0 } => {
            let e = Interval::of(*epsilon);
            let sum = &(&more * &e).exp() + &(-&(&s * &e)).exp();
            Some((&sum / &(&one + &e.exp())).ln())
        }
        Law::Approximate { .. } => None,
        Law::Laplace { .. } | Law::BoundedRange { .. } => {
            let w = law.width()?;
            let (inside, rate) = (factor(law, &w), &s + &Interval::of(0.5));
            let top = &rate * &w;
            let mut sum = &inside * &(&(&top.exp() - &(-&top).exp()) / &rate);
            if matches!(law, Law::Laplace { .. }) {
                let atoms = &(&s * &w).exp() + &(-&(&more * &w)).exp();
                sum = &sum + &atoms.scaled(-1);
            }
            Some(sum.ln())
        }
        Law::DiscreteLaplace { rate, sensitivity } => {
            let (rate, d) = (Interval::of(*rate), u64::from(*sensitivity));
            let decay = (-&rate).exp();
            let tail = &one / &(&one + &decay);
            let zero = &(&one - &decay) * &tail;
            // x <= 0, x = 1 .. d - 1, x >= d, with losses (d - 2x) rate.
            let loss = |x: u64| &(&Interval::whole(d) - &Interval::whole(2 * x)) * &rate;
            let weigh = |mass: &Interval, x: u64| mass * &(&s * &loss(x)).exp();
            let mut sum = &weigh(&tail, 0) + &weigh(&(&tail * &decay.power(d)), d);
            for x in 1..d {
                sum = &sum + &weigh(&(&zero * &decay.power(x)), x);
            }
            Some(sum.ln())
        }
        Law::DiscreteGaussian { variance, sensitivity } => {
            let (v, d) = (Interval::of(*variance), Interval::whole((*sensitivity).into()));
            // The sum of e^(-(x + s d)^2 / 2v) over the integers, over that of e^(-x^2 / 2v).
            let grown = &(&(&s * &more) * &(&d * &d)) / &v.scaled(1);
            let ratio = &theta(&v, &(&s * &d)) / &theta(&v, &Interval::zero());
            Some(&grown + &ratio.ln())
        }
        Law::Sampled { rate, of } => {
            // E_Q of the ratio 1 - q + q r to the power s + 1, or -s.
            let power = if side == Side::Remove { more } else { -&s };
            match &**of {
                Law::Gaussian { multiplier } => sampled_gaussian(*rate, *multiplier, &power),
                Law::Laplace { .. } => {
                    Some(sampled_laplace(of, &Interval::of(*rate), &power)?.ln())
                }
                _ => None,
            }
        }
    }
}

/// The factor before `e^(l / 2)` in the density of the loss.
fn factor(law: &Law, w: &Interval) -> Interval {
    let half = (-&w.scaled(-1)).exp();
    if matches!(law, Law::Laplace { .. }) {
        return half.scaled(-2);
    }
    &half.scaled(-1) / &(&Interval::one() - &(&half * &half))
}

/// The sum of `e^(-(x + t)^2 / 2v)` over the integers.
fn theta(v: &Interval, t: &Interval) -> Interval {
    if v.is_above(20.0) {
        // Poisson: sqrt(2 pi v) (1 + 2 sum of e^(-2 pi^2 v m^2) cos(2 pi m t)).
        let fall = (-&(&(pi() * pi()).scaled(1) * v)).exp();
        let wave = fall.scaled(2);
        let around = Interval { lo: wave.hi.neg(), hi: wave.hi };
        return &(pi() * v).scaled(1).sqrt() * &(&Interval::one() + &around);
    }
    let near = t.lo.nearest().unwrap_or(0);
    let near = Interval::point(Big::new(near.into(), 0, Round::Down));
    let t = t - &near;
    // At 120 away, e^(-x^2 / 2v) is below 2^-256; the rest falls by more than half each time.
    (-120..=120).fold(Interval::zero(), |sum, x| {
        let x = &Interval::of(f64::from(x)) + &t;
        let term = (-&(&(&x * &x) / &v.scaled(1))).exp();
        let rest = Interval::zero().hull(&term.scaled(1));
        if x.is_above(119.0) || x.is_below(-119.0) { &sum + &rest } else { &sum + &term }
    })
}

/// `ln E (1 - q + q r)^a` with `r = e^(mu x - mu^2 / 2)` for a standard normal `x`, by the trapezoid rule.
///
/// Within `|Im x| <= d`, `mu d <= 1`, the integrand is analytic and at most `e^(d^2 / 2) cos(1)^-|a|` times what it is on the real line, so the
/// rule with step `h` is off by at most twice that over `e^(2 pi d / h) - 1`, relative (Trefethen and Weideman 2014, Theorem 5.1).
fn sampled_gaussian(rate: f64, multiplier: f64, power: &Interval) -> Option<Interval> {
    let (q, mu) = (Interval::of(rate), &Interval::one() / &Interval::of(multiplier));
    let rest = &Interval::one() - &q;
    let size = power.approximate().abs();
    let d = multiplier.min(6.0) * (1.0 - 1e-9);
    // e^(-2 pi d / h) times the growth is to be about e^-90.
    let growth = 0.5 * d * d + 0.62 * size;
    let h = 2.0 * std::f64::consts::PI * d / (90.0 + growth);
    let reach = size / multiplier + 16.0 + (2.0 * size * (1.0 - rate.ln())).sqrt();
    if reach / h > 20_000.0 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "at most 20,000")]
    let nodes = (reach / h).ceil() as i32;
    let half = (&mu * &mu).scaled(-1);
    let mut sum = Interval::zero();
    for i in -nodes..=nodes {
        let x = &Interval::of(h) * &Interval::of(f64::from(i));
        let ratio = (&(&mu * &x) - &half).exp();
        let log = &(power * &(&rest + &(&q * &ratio)).ln()) - &(&x * &x).scaled(-1);
        sum = &sum + &log.exp();
    }
    let sum = &(&sum * &Interval::of(h)) / &pi().scaled(1).sqrt();
    // Beyond the nodes (1 - q + q r)^a is at most 2^a max(1, r^a), or (q r)^a for a < 0: a normal law moved by a mu.
    let (a, end) = (Interval::of(size.next_up()), Interval::of(h * f64::from(nodes - 1)));
    let moved = upper_tail(&(&end - &(&a * &mu)));
    let square = (&(&a * &a) * &(&mu * &mu)).scaled(-1);
    let most = if power.is_positive() {
        let both = &(&square.exp() * &moved) + &upper_tail(&end).scaled(1);
        &both * &(&a * &Interval::of(2.0).ln()).exp()
    } else {
        let left = &(&(&square + &(&a * &half)).exp() * &moved) * &(-&(&a * &q.ln())).exp();
        // To the right the ratio is above 1, and 1 - q + q r at least 1.
        &left + &upper_tail(&end)
    };
    let off = {
        let d = Interval::of(d);
        let grown = (&(&d * &d).scaled(-1) + &(&a * &Interval::of(0.6157))).exp();
        let fall = (&(&pi().scaled(1) * &d) / &Interval::of(h)).exp();
        &grown.scaled(1) / &(&fall - &Interval::one())
    };
    let off = Interval { lo: off.hi.neg(), hi: off.hi };
    let sum = &sum + &Interval::zero().hull(&most);
    Some((&sum / &(&Interval::one() + &off)).ln())
}

/// `E (1 - q + q r)^a` for Laplace noise of loss at most `w`: atoms at both ends, and between them a Taylor series in each cell.
///
/// Around `l`, within a distance of 1, `1 - q + q e^z` has size between `cos(1)` times its value at `l - 1` and its value at `l + 1`, so the
/// terms of the series are at most the largest value there, times `x^n` (Cauchy).
fn sampled_laplace(law: &Law, q: &Interval, power: &Interval) -> Option<Interval> {
    const TERMS: usize = 56;
    let (one, w) = (Interval::one(), law.width()?);
    let rest = &one - q;
    let ratio = |l: &Interval| &rest + &(q * &l.exp());
    let raised = |x: &Interval| (power * &x.ln()).exp();
    // Under Q the large ratio has mass e^-w / 2, the small one 1/2.
    let large = &(-&w).exp() * &raised(&ratio(&w));
    let mut sum = (&large + &raised(&ratio(&-&w))).scaled(-1);
    let cells = (8.0 * w.approximate()).ceil().max(1.0);
    if cells > 400.0 {
        return None;
    }
    let width = &w / &Interval::of(cells);
    let c = factor(law, &w);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 400")]
    for i in 0..cells as u64 {
        // The cell reaches `width` to both sides of its middle.
        let middle = &(&width * &Interval::whole(2 * i + 1)) - &w;
        // g = 1 - q + q e^(middle + x); f = g^a from g f' = a g' f; then times e^(-(middle + x) / 2).
        let grown = q * &middle.exp();
        let mut g = vec![&rest + &grown];
        let mut own = grown;
        for n in 1..TERMS as u64 {
            own = &own / &Interval::whole(n);
            g.push(own.clone());
        }
        let mut f = vec![raised(&g[0])];
        for n in 1..TERMS {
            let mut next = Interval::zero();
            for k in 1..=n {
                let whole = |x: usize| Interval::whole(x as u64);
                let weight = &(power * &whole(k)) - &whole(n - k);
                next = &next + &(&(&weight * &g[k]) * &f[n - k]);
            }
            f.push(&(&next / &g[0]) / &Interval::whole(n as u64));
        }
        let mut tilted = vec![(-&middle.scaled(-1)).exp()];
        for n in 1..TERMS as u64 {
            let last = tilted.last().expect("one at least");
            tilted.push(-&(&last.scaled(-1) / &Interval::whole(n)));
        }
        // Even powers of x integrate to 2 width^(n + 1) / (n + 1).
        let mut cell = Interval::zero();
        for n in (0..TERMS).step_by(2) {
            let coefficient =
                (0..=n).fold(Interval::zero(), |sum, k| &sum + &(&f[k] * &tilted[n - k]));
            let n = n as u64 + 1;
            cell = &cell + &(&(&coefficient * &width.power(n)) / &Interval::whole(n)).scaled(1);
        }
        let (low, high) = (&middle - &one, &middle + &one);
        let end = if power.is_positive() {
            raised(&ratio(&high))
        } else {
            raised(&(&ratio(&low) * &Interval::of(0.54)))
        };
        let most = &end * &(-&low.scaled(-1)).exp();
        // What the series leaves out, over a cell of twice the width, with 1 / (1 - width) at most 2.
        let left = (&most * &width.power(TERMS as u64 + 1)).scaled(2);
        cell = &cell + &Interval { lo: left.hi.neg(), hi: left.hi };
        sum = &sum + &(&c * &cell);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: &Interval, want: f64) {
        assert!((got.approximate() / want - 1.0).abs() < 1e-12, "{got}, want {want:e}");
        assert!(got.relative_width() < 1e-25, "{got}");
    }

    /// At whole powers a sampled ratio is a sum of powers of the plain one, with the weights of a binomial law.
    #[test]
    fn sampled_moments_are_binomial_sums_at_whole_powers() {
        let gaussian = |s: f64| Law::Gaussian { multiplier: s };
        let laplace = |b: f64| Law::Laplace { scale: b };
        for (of, rate) in [
            (gaussian(1.0), 0.01),
            (gaussian(5.0), 0.3),
            (laplace(0.5), 0.01),
            (laplace(30.0), 0.7),
        ] {
            for a in [2_u32, 3, 9] {
                // E_Q r^j = e^((j - 1) times the plain Renyi divergence of order j).
                let plain = |j: u32| match j {
                    0 | 1 => 1.0,
                    _ => of_law(&of, Side::Remove, f64::from(j - 1)).unwrap().approximate().exp(),
                };
                let power = |x: f64, n: u32| (0..n).fold(1.0, |all, _| all * x);
                let (rate_to, rest_to) = (|n| power(rate, n), |n| power(1.0 - rate, n));
                let mut ways = 1.0_f64;
                let mut want = 0.0;
                for j in 0..=a {
                    want += ways * rate_to(j) * rest_to(a - j) * plain(j);
                    ways = ways * f64::from(a - j) / f64::from(j + 1);
                }
                let law = Law::Sampled { rate, of: Box::new(of.clone()) };
                let got = of_law(&law, Side::Remove, f64::from(a - 1)).unwrap();
                close(&got.exp(), want);
            }
        }
    }

    /// The same sum in intervals: both enclose the moment, to the last digit of either.
    #[test]
    fn sampled_moments_enclose_their_sums() {
        for (of, rate) in [
            (Law::Gaussian { multiplier: 1.0 }, 0.25),
            (Law::Gaussian { multiplier: 3.0 }, 0.5),
            (Law::Laplace { scale: 0.5 }, 0.25),
            (Law::Laplace { scale: 20.0 }, 0.75),
        ] {
            let (rate_of, rest) = (Interval::of(rate), Interval::of(1.0 - rate));
            for a in [2_u64, 3, 6] {
                let mut ways = Interval::one();
                let mut want = Interval::zero();
                for j in 0..=a {
                    let plain = match j {
                        0 | 1 => Interval::one(),
                        _ => of_law(&of, Side::Remove, (j - 1) as f64).unwrap().exp(),
                    };
                    let weight = &rate_of.power(j) * &rest.power(a - j);
                    want = &want + &(&(&ways * &weight) * &plain);
                    ways = &(&ways * &Interval::whole(a - j)) / &Interval::whole(j + 1);
                }
                let law = Law::Sampled { rate, of: Box::new(of.clone()) };
                let got = of_law(&law, Side::Remove, (a - 1) as f64).unwrap().exp();
                assert!(got.lo <= want.hi && want.lo <= got.hi, "{of:?} {a}: {got} and {want}");
            }
        }
    }

    /// Both forms of the sum over the integers, where both apply; and moments of nearly order 0, which are nearly 1.
    #[test]
    fn sums_over_the_integers_agree() {
        for t in [0.0, 0.25, 0.5, 77.3] {
            let [below, above] = [19.999_999_f64, 20.000_001].map(|v| {
                let v = Interval::of(v);
                &theta(&v, &Interval::of(t)) / &v.sqrt()
            });
            let off = &(&below / &above) - &Interval::one();
            assert!(off.is_above(-1e-30) && off.is_below(1e-30), "{t}: {off}");
        }
        for of in [Law::Gaussian { multiplier: 1.5 }, Law::Laplace { scale: 0.7 }] {
            for side in [Side::Remove, Side::Add] {
                let law = Law::Sampled { rate: 0.4, of: Box::new(of.clone()) };
                let [low, high] = [1e-6, 2e-6].map(|s| of_law(&law, side, s).unwrap());
                // About s times the mean of the loss, which is above 0.
                assert!(low.is_positive() && (&high / &low).is_above(1.999), "{low} {high}");
            }
        }
    }
}
