//! What a shuffler adds to the promise of each client: a named, separate conversion.

use std::fmt;

use dp_accounting::{Delta, Epsilon, Receipt, ReplaceOne};

use crate::LocalError;

/// Two promises about the same answers: one that holds whoever listens, and one that holds if a shuffler does its work.
///
/// # Guarantee
/// The first line is the client's own, pure, whatever happens to its answer. The second is `(epsilon, delta)`-DP under [`ReplaceOne`] for whoever
/// sees only the shuffled answers of the group, under two conditions that nothing here checks: the shuffler of that name takes away who sent
/// what and keeps no copy, and **nothing else tells the clients of the group apart**. In a [`Session`](crate::Session) the class
/// of a client (its hash function or its book) follows from its number and goes with its answer, so a group is the clients of one round *and*
/// one class; it is a whole round only if clients draw classes themselves, in secret.
///
/// # Source
/// Feldman, `McMillan`, Talwar (2021), "Hiding among the clones", Theorem 3.1 (the bound in closed form, for `epsilon <= ln(n / (16 ln(2 / delta)))`)
/// and the pair of laws in its proof, which is evaluated here: a group gives away no more than `(A + D, C - A + 1 - D)` against
/// `(A + 1 - D, C - A + D)`, with `C` binomial in `n - 1` and `e^-epsilon`, `A` in `C` and 1/2, `D` a coin of `e^epsilon / (e^epsilon + 1)`.
/// The pair is symmetric, so both directions cost the same.
///
/// ```
/// use dp_local::{LocalKMeans, LocalKMeansSettings, PublicBox, Shuffled};
///
/// let domain = PublicBox::cube(2, -1.0, 1.0)?;
/// let plan = LocalKMeans::new(domain, 8, 1.0, 1_000_000, LocalKMeansSettings::default())?;
/// let shuffled = Shuffled::new(&plan.receipt(), "mix of example.org", 200_000, 1e-6)?;
/// println!("{shuffled}");
/// assert!(shuffled.numerical() < shuffled.closed().expect("the group is large"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Shuffled {
    local: Epsilon,
    shuffler: String,
    group: u32,
    delta: Delta,
    closed: Option<f64>,
    numerical: f64,
}

impl Shuffled {
    /// The conversion for answers of this cost, mixed in groups of so many by a shuffler that has a name.
    ///
    /// # Errors
    /// The shuffler has no name, the group nobody, or delta is not between 0 and 1; the receipt is not of a pure loss.
    pub fn new(
        receipt: &Receipt<ReplaceOne>,
        shuffler: impl Into<String>,
        group: u32,
        delta: f64,
    ) -> Result<Self, LocalError> {
        let shuffler = shuffler.into();
        if shuffler.trim().is_empty() {
            let name = "length of the shuffler's name";
            return Err(LocalError::OutOfRange { name, got: 0, want: "at least 1" });
        }
        if group == 0 {
            return Err(LocalError::OutOfRange { name: "group", got: 0, want: "at least 1" });
        }
        let checked = Delta::new(delta)?;
        if delta <= 0.0 {
            return Err(LocalError::real("delta", delta, "above 0"));
        }
        let Some(local) = receipt.pure() else {
            return Err(LocalError::real("epsilon of the receipt", f64::INFINITY, "pure"));
        };
        let closed = closed(local.get(), group, delta);
        let numerical = numerical(local.get(), group, delta);
        Ok(Self { local, shuffler, group, delta: checked, closed, numerical })
    }

    /// What holds without the shuffler.
    pub fn local(&self) -> Epsilon {
        self.local
    }

    /// The bound in closed form, where it is proved.
    pub fn closed(&self) -> Option<f64> {
        self.closed
    }

    /// The numerical bound, rounded up; never above the local loss.
    pub fn numerical(&self) -> f64 {
        self.numerical
    }
}

/// The receipt, in two lines.
impl fmt::Display for Shuffled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "local: epsilon {}, pure, whoever listens", self.local.get())?;
        write!(
            f,
            "central, if `{}` shuffles groups of {} and nothing tells their clients apart: epsilon {:.4} at delta {:e}",
            self.shuffler,
            self.group,
            // To four digits, upwards.
            (self.numerical * 1e4).ceil() / 1e4,
            self.delta.get()
        )?;
        match self.closed {
            Some(closed) => write!(f, " (closed form: {:.4})", (closed * 1e4).ceil() / 1e4),
            None => write!(f, " (no closed form for so small a group)"),
        }
    }
}

fn closed(local: f64, group: u32, delta: f64) -> Option<f64> {
    let n = f64::from(group);
    let proved = local <= (n / (16.0 * (2.0 / delta).ln())).ln();
    proved.then(|| {
        let odds = local.exp();
        let share = local.exp_m1() / (odds + 1.0);
        let noise = 8.0 * (odds * (4.0 / delta).ln()).sqrt() / n.sqrt() + 8.0 * odds / n;
        (share * noise).ln_1p() * (1.0 + 1e-12)
    })
}

/// The smallest epsilon, on a fine grid, whose delta is proved to be small enough.
fn numerical(local: f64, group: u32, delta: f64) -> f64 {
    let clones = Clones::new(local, group - 1);
    let (mut low, mut high) = (0.0, local);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if clones.delta(middle) <= delta { high = middle } else { low = middle }
    }
    high
}

/// How many clients look like either of two records, in bins with their lowest number: with fewer clones more is given away.
struct Clones {
    local: f64,
    /// Lowest number, and the mass of the bin.
    bins: Vec<(u32, f64)>,
    /// What is below all bins.
    rest: f64,
    /// The largest relative error of a mass times a difference.
    rounding: f64,
}

/// So many standard deviations of the number of clones are followed; what is beyond has a mass below `1e-14`.
const DEVIATIONS: f64 = 8.0;
/// What sums and exponentials are off by is far below this share.
const ROUNDING: f64 = 1e-6;
/// A logarithm of a factorial is off by a few units in its last place. Six of them, and two powers, make a mass and a difference: so many units of the largest.
const UNITS_OF_LOGARITHMS: f64 = 32.0;

impl Clones {
    fn new(local: f64, others: u32) -> Self {
        // What is near to one is kept as what it lacks: next to no loss, that is all that counts.
        let (n, p, lacks) = (f64::from(others), (-local).exp(), -(-local).exp_m1());
        let sd = (n * p * lacks).sqrt();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let at = |x: f64| x.clamp(0.0, n) as u32;
        let (first, last) = (at(n * p - DEVIATIONS * sd - 8.0), at(n * p + DEVIATIONS * sd + 8.0));
        let width = ((last - first) / 128).max(1);
        let log = |c: u32| log_choose(others, c) + power(p, c) + power(lacks, others - c);
        let mass =
            |low: u32| (low..low.saturating_add(width).min(last + 1)).map(|c| log(c).exp()).sum();
        let mut bins: Vec<(u32, f64)> = Vec::new();
        let mut low = first;
        while low <= last {
            bins.push((low, mass(low)));
            low = low.saturating_add(width);
        }
        // What is above the last bin gives away less than the last bin; what is below the first, everything.
        let inside: f64 = bins.iter().map(|bin| bin.1).sum();
        let rest = if first == 0 && last == others { 0.0 } else { (1.0 - inside).max(1e-14) };
        Self { local, bins, rest, rounding: rounding(local, others) }
    }

    /// An upper bound on delta at this epsilon.
    fn delta(&self, epsilon: f64) -> f64 {
        let sum: f64 = self
            .bins
            .iter()
            .map(|&(clones, mass)| mass * hockey_stick(self.local, clones, epsilon))
            .sum();
        sum * (1.0 + self.rounding) + self.rest
    }
}

/// How far a mass times a difference can be off, as a share: in a group of `10^9`, logarithms are as large as `2e10`.
fn rounding(local: f64, others: u32) -> f64 {
    let n = f64::from(others);
    ROUNDING + UNITS_OF_LOGARITHMS * f64::EPSILON * n * (n.max(1.0).ln() + local + 1.0)
}

/// The largest difference of `P - e^epsilon Q` over all events, given the number of clones.
///
/// `P` has the coin `b` on one and `1 - b` on the other of two shifted binomials, `Q` the other way round; their ratio rises with the value,
/// so the event is all values from some one on.
fn hockey_stick(local: f64, clones: u32, epsilon: f64) -> f64 {
    // With odds = e^epsilon: b - odds (1 - b) and odds b - (1 - b). Neither is formed as a difference of numbers that are nearly alike, nor by powers
    // above those of epsilon itself.
    let b = 1.0 / (1.0 + (-local).exp());
    let won = -b * (epsilon - local).exp_m1();
    let lost = -b * epsilon.exp() * (-local - epsilon).exp_m1();
    let log_half = -f64::from(clones) * std::f64::consts::LN_2;
    let mass = |a: u32| (log_choose(clones, a) + log_half).exp();
    // P(a) / Q(a) > odds: (b before + (1 - b) here) > odds ((1 - b) before + b here), with before = Bin(a - 1), here = Bin(a).
    // Nothing is lost where nobody is, however large the odds: they can be beyond all numbers.
    let gain = |before: f64, here: f64| before * won - if here > 0.0 { here * lost } else { 0.0 };
    // before : here is a : clones + 1 - a.
    let above = |a: u32| gain(f64::from(a), f64::from(clones + 1 - a)) > 0.0;
    let (mut low, mut high) = (0, clones + 1);
    if !above(high) {
        return 0.0;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if above(middle) { high = middle } else { low = middle + 1 }
    }
    // From there on: the sum of all masses from a - 1 on, and from a on.
    let first = low;
    let (mut tail, mut value) = (0.0, first);
    let (mut here, before) = if first <= clones {
        let here = mass(first);
        (here, here * f64::from(first) / f64::from(clones + 1 - first))
    } else {
        (0.0, mass(clones))
    };
    while value <= clones && here > 1e-18 * tail {
        tail += here;
        // The next binomial mass from this one.
        here *= f64::from(clones - value) / f64::from(value + 1);
        value += 1;
    }
    // Terms of either sign are nearly alike. From one mass both follow by ratios, so that its rounding is no more than a factor.
    gain(before + tail, tail).max(0.0)
}

fn power(base: f64, exponent: u32) -> f64 {
    if exponent == 0 { 0.0 } else { f64::from(exponent) * base.ln() }
}

fn log_choose(n: u32, k: u32) -> f64 {
    let log_factorial = |m: u32| libm::lgamma(f64::from(m) + 1.0);
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    #[test]
    fn the_closed_form_is_the_documented_one_and_the_numerical_one_is_several_times_smaller() {
        for (local, stated) in [(1.0, 0.052), (2.0, 0.135), (4.0, 0.40)] {
            let closed = closed(local, 200_000, 1e-6).expect("a large group");
            assert!((closed / stated - 1.0).abs() < 0.02, "{closed}");
            let numerical = numerical(local, 200_000, 1e-6);
            assert!(numerical < closed / 2.0 && numerical > closed / 20.0, "{numerical} {closed}");
        }
        assert_eq!(closed(1.0, 100, 1e-6), None);
        assert_abs_diff_eq!(numerical(1.0, 1, 1e-6), 1.0, epsilon = 1e-3);
    }

    /// The theorem is about losses up to `ln(n / (16 ln(2 / delta)))`, which is 6.07 here, and about others who hide a client with
    /// probability `e^-loss` each.
    #[test]
    fn nothing_is_stated_beyond_what_is_proved() {
        assert!(closed(6.0, 100_000, 1e-6).is_some());
        assert_eq!(closed(6.1, 100_000, 1e-6), None);
        for local in [0.5_f64, 1.0, 3.0] {
            let mean: f64 =
                Clones::new(local, 100).bins.iter().map(|bin| f64::from(bin.0) * bin.1).sum();
            assert_relative_eq!(mean, 100.0 * (-local).exp(), max_relative = 1e-9);
        }
    }

    /// Randomised response of small groups, exactly: how many say yes, if one of them would and if none would.
    #[test]
    fn small_groups_give_away_no_more() {
        for local in [0.5_f64, 1.0, 3.0] {
            let truth = 1.0 / (1.0 + (-local).exp());
            for group in [2_usize, 5, 20, 200] {
                let said_yes = |yes: usize| {
                    let mut law = vec![1.0];
                    for i in 0..group {
                        let p = if i < yes { truth } else { 1.0 - truth };
                        let mut next = vec![0.0; law.len() + 1];
                        for (count, mass) in law.iter().enumerate() {
                            next[count] += mass * (1.0 - p);
                            next[count + 1] += mass * p;
                        }
                        law = next;
                    }
                    law
                };
                for delta in [1e-2, 1e-6] {
                    let size = u32::try_from(group).expect("small");
                    let epsilon = numerical(local, size, delta);
                    let lost = |a: &[f64], b: &[f64]| -> f64 {
                        a.iter().zip(b).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
                    };
                    for yes in 0..group {
                        let (a, b) = (said_yes(yes), said_yes(yes + 1));
                        let worst = lost(&a, &b).max(lost(&b, &a));
                        assert!(worst <= delta * (1.0 + 1e-9), "{group} at {local}: {worst}");
                    }
                }
            }
        }
    }

    /// `P - e^epsilon Q` at a value, or 0, by sums of what the two coins have in common and of half of what they differ by.
    fn given_away(local: f64, epsilon: f64, before: f64, here: f64) -> f64 {
        // The coins are (1 + t) / 2 and (1 - t) / 2.
        let (t, more) = ((local / 2.0).tanh(), epsilon.exp_m1());
        let (even, odd) = (f64::midpoint(before, here), (before - here) / 2.0 * t);
        (odd * (2.0 + more) - even * more).max(0.0)
    }

    /// Delta over all numbers of clones and all values, without bins or tails.
    fn plain_delta(local: f64, others: u32, epsilon: f64) -> f64 {
        let (p, lacks) = ((-local).exp(), -(-local).exp_m1());
        let given = |clones: u32| -> f64 {
            let all = -f64::from(clones) * std::f64::consts::LN_2;
            let law: Vec<f64> = (0..=clones).map(|a| (log_choose(clones, a) + all).exp()).collect();
            let before = std::iter::once(&0.0).chain(&law);
            let pairs = before.zip(law.iter().chain([&0.0]));
            pairs.map(|(before, here)| given_away(local, epsilon, *before, *here)).sum()
        };
        let mass = |c: u32| (log_choose(others, c) + power(p, c) + power(lacks, others - c)).exp();
        let likely = (0..=others).map(|c| (c, mass(c))).filter(|(_, mass)| *mass > 1e-25);
        likely.map(|(clones, mass)| mass * given(clones)).sum()
    }

    /// Masses by ratios from the likeliest value on, divided by their sum, have no logarithms. In groups of up to `10^9`, and so near to no loss that what is
    /// left of the difference is small beside its terms.
    #[test]
    fn differences_of_large_groups_are_as_exact_as_is_said() {
        for (clones, local) in
            [(1_000_u32, 1.0), (1_000_000, 0.5), (30_000_000, 0.01), (1_000_000_000, 0.01)]
        {
            let (mode, n) = (clones / 2, f64::from(clones));
            let reach = 20 * clones.isqrt() + 8;
            let (low, high) = (mode.saturating_sub(reach), (mode + reach).min(clones));
            let mut law = vec![0.0; (high - low + 1) as usize];
            let place = |a: u32| (a - low) as usize;
            law[place(mode)] = 1.0;
            for a in mode..high {
                law[place(a + 1)] = law[place(a)] * f64::from(clones - a) / f64::from(a + 1);
            }
            for a in (low..mode).rev() {
                law[place(a)] = law[place(a + 1)] * f64::from(a + 1) / f64::from(clones - a);
            }
            let all: f64 = law.iter().sum();
            for deviations in [0.1, 1.0, 4.0] {
                let epsilon = local * deviations / n.sqrt();
                let before = std::iter::once(&0.0).chain(&law);
                let pairs = before.zip(law.iter().chain([&0.0]));
                let lost = pairs.map(|(before, here)| given_away(local, epsilon, *before, *here));
                let exact = lost.sum::<f64>() / all;
                let found = hockey_stick(local, clones, epsilon);
                assert!(
                    (found / exact - 1.0).abs() < rounding(local, clones),
                    "{clones} {epsilon}: {found} {exact}"
                );
            }
        }
    }

    /// With bins of one number and of several, and as far out as delta is small.
    #[test]
    fn delta_is_no_less_than_the_whole_sum_and_what_is_told_keeps_it() {
        for (local, others) in [(0.5, 60), (1.0, 400), (1.0, 4_000), (3.0, 9_000)] {
            let clones = Clones::new(local, others);
            for delta in [1e-2, 1e-6, 1e-9] {
                let told = numerical(local, others + 1, delta);
                for epsilon in [0.0, 0.5 * told, told] {
                    let (bound, plain) =
                        (clones.delta(epsilon), plain_delta(local, others, epsilon));
                    assert!(bound >= plain * (1.0 + 1e-9), "{local} {others} {epsilon}: {plain}");
                    assert!(bound <= plain * 1.3 + 1e-13, "{bound} is far above {plain}");
                }
                // Where nobody hides a client, it is the local loss that is told.
                assert!(told >= local || clones.delta(told) <= delta, "{local} {others} {delta}");
            }
        }
    }

    /// Next to no loss, where `P` and `Q` agree in all but their last digits, and in groups that are followed to the end, so that nothing
    /// that is left out covers a mistake: `delta` of one client is `(e^local - e^epsilon) / (1 + e^local)`, and of two what is left of it
    /// where the other hides half of one with `e^-local`.
    #[test]
    fn losses_next_to_nothing_are_told_as_large_as_they_are() {
        for local in [1e-14_f64, 5.8e-10, 3.1e-9, 1.3e-8, 1.7e-6, 1e-3, 0.5] {
            for (group, kept) in [(1, 1.0), (2, 1.0 - 0.5 * (-local).exp())] {
                for lost in [0.5, 0.1, 1e-3, 1e-6] {
                    let delta = lost * kept * (local / 2.0).tanh();
                    let told = numerical(local, group, delta);
                    let left = told.exp() * (local - told).exp_m1() / (1.0 + local.exp()) * kept;
                    assert!(left <= delta * (1.0 + 1e-9), "{local} {group} {lost}: {left}");
                    assert!(left >= delta * 0.99 - local * 1e-8, "{local} {group} {lost}: {left}");
                }
            }
            for group in [3, 5, 30] {
                for lost in [0.5, 0.1, 1e-3, 1e-6] {
                    let delta = lost * plain_delta(local, group - 1, 0.0);
                    let told = numerical(local, group, delta);
                    let left = plain_delta(local, group - 1, told);
                    assert!(left <= delta * (1.0 + 1e-9), "{local} {group} {lost}: {left}");
                }
            }
        }
    }

    /// Where odds, or those of twice the loss, are beyond all numbers: nobody hides a client, so that all of the loss is told but for what `delta` is
    /// worth, `-ln(1 - delta)`.
    #[test]
    fn losses_beyond_all_numbers_are_told() {
        for local in [40.0, 354.0, 360.0, 400.0, 708.0, 711.0, 800.0, 1_500.0, 1e5, 1e300] {
            for group in [1, 2, 50, 1_000] {
                for delta in [1e-9, 0.1] {
                    let told = numerical(local, group, delta);
                    let left = -(told - local).exp_m1();
                    assert!(
                        told <= local && left <= delta * (1.0 + 1e-6),
                        "{local} {group}: {told}"
                    );
                }
            }
        }
    }

    /// In groups of all sizes that the theorem is about; the last term counts in the small ones.
    #[test]
    fn the_closed_form_is_that_of_the_theorem() {
        for (local, delta) in [(0.5_f64, 1e-6_f64), (1.0, 1e-3), (3.0, 1e-9), (1e-9, 1e-6)] {
            let least = 16.0 * (2.0 / delta).ln() * local.exp();
            for times in [1.01, 30.0, 1e4] {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
                let group = (least * times) as u32;
                let n = f64::from(group);
                let within = 8.0 * (local.exp() * (4.0 / delta).ln() / n).sqrt();
                let more = 8.0 * local.exp() / n;
                let stated = ((local / 2.0).tanh() * (within + more)).ln_1p();
                let told = closed(local, group, delta).expect("proved");
                assert!(told >= stated * (1.0 - 1e-14) && told <= stated * (1.0 + 1e-9), "{told}");
            }
        }
    }

    /// Values to 20 digits, as a number and what it lacks, where plain arithmetic ends below.
    #[test]
    fn the_closed_form_is_rounded_up() {
        for (delta, group, whole, lacks) in [
            (1e-9, 27_078, 0.031_749_567_685_097_006, -2.665e-19),
            (1e-9, 227_816, 0.011_049_652_492_523_529, -3.462e-19),
            (1e-5, 14_976, 0.032_630_979_820_411_73, -1.503e-18),
        ] {
            let told = closed(0.25, group, delta).expect("proved");
            assert!(
                (told - whole) - lacks >= 0.0 && told <= whole * (1.0 + 1e-11),
                "{group}: {told}"
            );
        }
    }

    /// What is outside of the bins is not proved to give away less, so a delta that small buys nothing.
    #[test]
    fn no_delta_is_smaller_than_what_is_not_followed() {
        assert!(numerical(1.0, 1_000_000, 1e-15) >= 1.0);
        // Nor where the bins reach one end.
        for local in [1e-3, 8.0] {
            let clones = Clones::new(local, 1_000);
            assert!(clones.rest > 0.0, "{local}");
            assert!(numerical(local, 1_001, 1e-15) >= local);
        }
        assert!(numerical(1.0, 1_000_000, 1e-6) < 0.1);
    }

    #[test]
    fn a_shuffler_without_a_name_is_refused() {
        let domain = dp_geometry::PublicBox::cube(2, -1.0, 1.0).expect("a box");
        let plan =
            crate::LocalKMeans::new(domain, 2, 1.0, 100, crate::LocalKMeansSettings::default())
                .expect("valid");
        let refused = |name: &str, group, delta| {
            Shuffled::new(&plan.receipt(), name, group, delta).expect_err("refused").to_string()
        };
        assert_eq!(refused(" ", 5, 0.1), "length of the shuffler's name must be at least 1, got 0");
        assert_eq!(refused("x", 0, 0.1), "group must be at least 1, got 0");
        assert_eq!(refused("x", 5, 0.0), "delta must be above 0, got 0");
        assert!(Shuffled::new(&plan.receipt(), "x", 5, f64::NAN).is_err());
    }

    #[test]
    fn what_is_shown_is_two_lines_and_rounded_up() {
        let domain = dp_geometry::PublicBox::cube(2, -1.0, 1.0).expect("a box");
        let plan =
            crate::LocalKMeans::new(domain, 2, 1.004, 100, crate::LocalKMeansSettings::default())
                .expect("valid");
        // One number may happen to round upwards by itself.
        for group in (50_000..300_000).step_by(10_000) {
            let shuffled = Shuffled::new(&plan.receipt(), "x", group, 1e-6).expect("valid");
            let shown = shuffled.to_string();
            assert_eq!(shown.lines().count(), 2, "{shown}");
            assert!(shown.starts_with("local: epsilon 1.004, pure"), "{shown}");
            let after = |words: &str| -> f64 {
                let number =
                    shown.rsplit(words).next().and_then(|rest| rest.split([' ', ')']).next());
                number.and_then(|number| number.parse().ok()).expect("a number")
            };
            assert!(
                after("tells their clients apart: epsilon ") >= shuffled.numerical(),
                "{shown}"
            );
            assert!(Some(after("closed form: ")) >= shuffled.closed(), "{shown}");
        }
    }
}
