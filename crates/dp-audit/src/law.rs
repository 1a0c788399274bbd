//! The law of an output, and what two laws give away, in every measure from the same two laws.

use std::collections::BTreeMap;

use dp_accounting::{AnyRelation, Relation};

use crate::NotNeighbours;
use crate::numbers::worse;
use crate::promises::{Promises, Standing};

/// Probabilities of all outputs of one run of a mechanism on one data set.
///
/// What two laws say about a claim, they say about neighbours. Where plans drew, receipts say which; so the law of a plan is infinitely far from
/// any other until somebody says [under](Self::under) which relation the two data sets are neighbours. That of draws without a plan is as
/// far until somebody [answers for them](Self::without_receipt), since a source that does not pass [`promised`](dp_mechanism::Source::promised)
/// on makes any plan look so. Where nothing was drawn there is nothing to say.
///
/// Equal laws give the same outputs the same probabilities, within the window and beyond it, bit for bit. Equality is about the distribution only:
/// it holds between a law of a plan and one of draws without a receipt, and says nothing about neighbours.
///
/// ```
/// use dp_accounting::{AddRemove, Budget, Epsilon, Receipt, Step};
/// use dp_audit::{Window, exact_law};
/// use dp_mechanism::{Draws, NoisyCount};
///
/// let count = NoisyCount::geometric(Epsilon::new(0.5)?)?;
/// let step = Step::spend("count", count.loss());
/// let receipt = Receipt::new("count", AddRemove, Budget::new(0.5, 0.0)?, step);
/// let law = |n: u64| exact_law(Window::new(-60, 60), |source| {
///     Draws::planned(source, &receipt, |draws| count.release(n, &mut draws.leaf("count", 0))).0
/// });
/// assert!(law(1).pure_loss(&law(2)).is_infinite());
/// assert!(law(1).under(AddRemove).pure_loss(&law(2).under(AddRemove)) <= 0.5 + 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Law<O: Ord> {
    probabilities: BTreeMap<O, Mass>,
    paths: u64,
    standing: Standing,
}

impl<O: Ord> PartialEq for Law<O> {
    fn eq(&self, other: &Self) -> bool {
        self.probabilities == other.probabilities
    }
}

/// A probability, and how much of it comes from runs with a draw outside of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mass {
    pub(crate) all: f64,
    pub(crate) outside: f64,
}

impl Mass {
    /// Of a draw or of several.
    pub(crate) fn new(all: f64, outside: bool) -> Self {
        Self { all, outside: if outside { all } else { 0.0 } }
    }

    /// What has happened so far, then this.
    pub(crate) fn then(self, next: Self) -> Self {
        let outside = self.outside * next.all + (self.all - self.outside) * next.outside;
        Self { all: self.all * next.all, outside }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.all += other.all;
        self.outside += other.outside;
    }
}

impl<O: Ord> Law<O> {
    /// Collects `(output, probability, outside of the window)` of disjoint paths.
    pub(crate) fn from_paths(
        paths: impl IntoIterator<Item = (O, f64, bool)>,
        promises: Promises,
    ) -> Self {
        let masses = paths.into_iter().map(|(output, p, outside)| (output, Mass::new(p, outside)));
        Self::from_masses(masses, promises)
    }

    /// # Panics
    /// If the probabilities do not add up to 1 within `1e-9`: such a law proves nothing.
    pub(crate) fn from_masses(
        masses: impl IntoIterator<Item = (O, Mass)>,
        promises: Promises,
    ) -> Self {
        let standing = Standing::new(promises);
        let mut law = Self { probabilities: BTreeMap::new(), paths: 0, standing };
        for (output, mass) in masses {
            law.probabilities.entry(output).or_default().add(mass);
            law.paths += 1;
        }
        let total: f64 = law.probabilities.values().map(|mass| mass.all).sum();
        assert!((total - 1.0).abs() < 1e-9, "the law sums to {total}, not to 1");
        law
    }

    /// To be compared on neighbours under this relation. How the data sets differ remains the caller's word; where they are made of records,
    /// [`exact_laws`](crate::exact_laws) looks.
    ///
    /// # Panics
    /// If a plan promised something about other neighbours; if something was drawn beside plans, or without any, and nobody
    /// [answers for it](Self::without_receipt).
    #[must_use]
    pub fn under<L: Relation>(self, relation: L) -> Self {
        match self.held_under(relation.any()) {
            Ok(law) => law,
            Err(why) => panic!("{why}"),
        }
    }

    pub(crate) fn held_under(self, relation: AnyRelation) -> Result<Self, NotNeighbours> {
        Ok(Self { standing: self.standing.under(relation)?, ..self })
    }

    /// Of primitives on their own, whose loss the caller accounts for: no receipt stands behind draws beside a plan, and the two data sets differ by
    /// what the caller says. It is compared with its like only.
    ///
    /// ```
    /// use dp_audit::{Window, exact_law};
    /// use dp_mechanism::{DiscreteLaplace, Noise, Ratio};
    ///
    /// let noise = Noise::Laplace(DiscreteLaplace::new(Ratio::new(1, 1)?)?);
    /// let law = |n| exact_law(Window::new(-20, 20), |source| source.noisy(n, noise));
    /// assert!(law(0).pure_loss(&law(1)).is_infinite());
    /// assert!(law(0).without_receipt().pure_loss(&law(1).without_receipt()) <= 1.0 + 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn without_receipt(self) -> Self {
        Self { standing: self.standing.without_receipt(), ..self }
    }

    /// Whether the difference between the two says something about what was promised.
    fn speaks_of(&self, other: &Self) -> bool {
        self.standing.speaks_of(&other.standing)
    }

    /// The probability that a draw was outside of the window.
    pub fn outside(&self) -> f64 {
        self.probabilities.values().map(|mass| mass.outside).sum()
    }

    /// How many paths were walked.
    pub fn paths(&self) -> u64 {
        self.paths
    }

    /// Outputs and their probabilities, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&O, f64)> {
        self.probabilities.iter().map(|(output, mass)| (output, mass.all))
    }

    /// Probability of one output.
    pub fn probability(&self, output: &O) -> f64 {
        self.probabilities.get(output).map_or(0.0, |mass| mass.all)
    }

    /// The least `epsilon` with `self(S) <= e^epsilon other(S)` for all sets: the largest log ratio.
    /// Infinite if some output is possible here and impossible there. One direction only.
    pub fn pure_loss(&self, other: &Self) -> f64 {
        if !self.speaks_of(other) {
            return f64::INFINITY;
        }
        self.iter()
            .filter(|(_, p)| *p > 0.0)
            .map(|(output, p)| (p / other.probability(output)).ln())
            .fold(f64::NEG_INFINITY, worse)
    }

    /// The least `delta` with `self(S) <= e^epsilon other(S) + delta` for all sets: the hockey-stick
    /// divergence. One direction only.
    pub fn delta(&self, other: &Self, epsilon: f64) -> f64 {
        if !self.speaks_of(other) {
            return f64::INFINITY;
        }
        let excess = |(output, p): (&O, f64)| p - epsilon.exp() * other.probability(output);
        self.iter().map(excess).filter(|excess| *excess > 0.0).sum()
    }

    /// The same, where all that is [outside](Self::outside) of the window counts as excess: an upper bound whatever the
    /// mechanism does with a draw out there.
    pub fn charged_delta(&self, other: &Self, epsilon: f64) -> f64 {
        if !self.speaks_of(other) {
            return f64::INFINITY;
        }
        let excess = |(output, mass): (&O, &Mass)| {
            (mass.all - mass.outside) - epsilon.exp() * other.probability(output)
        };
        let inside = self.probabilities.iter().map(excess).filter(|excess| *excess > 0.0);
        inside.sum::<f64>() + self.outside()
    }

    /// `max - min` of the log ratios over all outputs: the range that bounded-range DP bounds.
    /// Infinite if the supports differ.
    pub fn bounded_range(&self, other: &Self) -> f64 {
        self.pure_loss(other) + other.pure_loss(self)
    }

    /// Rényi divergence of order `alpha > 1` of this law from the other; infinite if some output
    /// is possible here and impossible there.
    pub fn renyi(&self, other: &Self, alpha: f64) -> f64 {
        self.logarithms(other).map_or(f64::INFINITY, |both| renyi(&both, alpha))
    }

    /// The least `rho` with `D_alpha <= alpha rho` in both directions, over a grid of orders from
    /// just above 1 to 1000: a lower bound of the zero-concentrated loss, tight up to the grid.
    pub fn zcdp(&self, other: &Self) -> f64 {
        let (Some(forward), Some(backward)) = (self.logarithms(other), other.logarithms(self))
        else {
            return f64::INFINITY;
        };
        (0..120)
            .map(|step| 1.0 + 1e-3 * 1.123_f64.powi(step))
            .map(|alpha| worse(renyi(&forward, alpha), renyi(&backward, alpha)) / alpha)
            .fold(0.0, worse)
    }

    /// The logarithms of the probabilities, here and there, of all outputs that are possible here; nothing if the difference does not speak of
    /// neighbours.
    fn logarithms(&self, other: &Self) -> Option<Vec<(f64, f64)>> {
        let possible = self.iter().filter(|(_, p)| *p > 0.0);
        let both = possible.map(|(output, p)| (p.ln(), other.probability(output).ln()));
        self.speaks_of(other).then(|| both.collect())
    }

    /// The trade-off curve of telling this law (null) from the other: corners `(false positive
    /// rate, false negative rate)` of the optimal tests, from `(0, 1)` on. Its lower convex hull is
    /// the curve itself, since the corners are in order of the likelihood ratio.
    ///
    /// Between laws that are not known to be of neighbours, they can be told apart for certain.
    pub fn trade_off(&self, other: &Self) -> Vec<(f64, f64)> {
        if !self.speaks_of(other) {
            return vec![(0.0, 1.0), (0.0, 0.0), (1.0, 0.0)];
        }
        let here = self.iter().map(|(output, p)| (p, other.probability(output)));
        let only_there =
            other.iter().filter(|(output, _)| !self.probabilities.contains_key(output));
        corners(here.chain(only_there.map(|(_, q)| (0.0, q))).collect())
    }
}

/// The corners of a trade-off curve, from the probabilities of all outputs under both laws.
fn corners(mut pairs: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    // Reject first where the other law is likelier.
    pairs.sort_by(|(p, q), (r, s)| (p * s).total_cmp(&(r * q)));
    let (mut positives, mut negatives) = (0.0, 1.0);
    let mut corners = vec![(0.0, 1.0)];
    for (p, q) in pairs {
        (positives, negatives) = (positives + p, negatives - q);
        corners.push((positives, negatives.max(0.0)));
    }
    corners
}

/// The divergence of order `alpha`, from the logarithms of the probabilities.
fn renyi(both: &[(f64, f64)], alpha: f64) -> f64 {
    let term = |(p, q): &(f64, f64)| alpha * p + (1.0 - alpha) * q;
    let largest = both.iter().map(term).fold(f64::NEG_INFINITY, worse);
    if largest == f64::INFINITY {
        return f64::INFINITY;
    }
    let sum: f64 = both.iter().map(|both| (term(both) - largest).exp()).sum();
    (largest + sum.ln()) / (alpha - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    fn of<O: Ord, const N: usize>(paths: [(O, f64); N]) -> Law<O> {
        Law::from_paths(paths.map(|(output, p)| (output, p, false)), Promises::default())
    }

    /// Randomised response with odds `e^epsilon`, for which everything is known.
    fn response(epsilon: f64) -> (Law<bool>, Law<bool>) {
        let p = epsilon.exp() / (1.0 + epsilon.exp());
        let law = |p: f64| of([(true, p), (false, 1.0 - p)]);
        (law(p), law(1.0 - p))
    }

    #[test]
    fn all_measures_of_randomised_response_match_their_closed_forms() {
        for epsilon in [0.1, 1.0, 3.0] {
            let (a, b) = response(epsilon);
            let close = |x: f64, y: f64| assert_abs_diff_eq!(x, y, epsilon = 1e-9);
            close(a.pure_loss(&b), epsilon);
            close(a.bounded_range(&b), 2.0 * epsilon);
            let p = epsilon.exp() / (1.0 + epsilon.exp());
            close(a.delta(&b, 0.0), 2.0 * p - 1.0);
            close(a.renyi(&b, 2.0), (p * p / (1.0 - p) + (1.0 - p) * (1.0 - p) / p).ln());
            // The zero-concentrated loss, attained at order 1.
            let rho = epsilon * (epsilon / 2.0).tanh();
            let found = a.zcdp(&b);
            assert!(found <= rho * (1.0 + 1e-9) && found > 0.999 * rho, "{found} of {rho}");
            let corners = a.trade_off(&b);
            assert_eq!(corners.len(), 3);
            close(corners[1].0, 1.0 - p);
            close(corners[1].1, 1.0 - p);
        }
    }

    #[test]
    fn different_supports_are_an_unbounded_loss() {
        let a = of([(0, 0.5), (1, 0.5)]);
        let b = of([(0, 1.0)]);
        assert!(a.pure_loss(&b).is_infinite() && a.renyi(&b, 2.0).is_infinite());
        assert!(a.zcdp(&b).is_infinite() && a.bounded_range(&b).is_infinite());
        assert!(b.zcdp(&a).is_infinite() && b.bounded_range(&a).is_infinite());
        assert_abs_diff_eq!(a.delta(&b, 5.0), 0.5, epsilon = 1e-15);
        assert_abs_diff_eq!(b.pure_loss(&a), 2_f64.ln(), epsilon = 1e-15);
    }

    /// What is common on one side and rare on the other costs more one way than the other; the loss of a pair is that of its worse way.
    #[test]
    fn the_zero_concentrated_loss_is_that_of_both_directions() {
        let [rare, even] = [[0.001, 0.999], [0.5, 0.5]].map(|[p, q]| of([(0, p), (1, q)]));
        let order = 1.001;
        let [there, back] = [rare.renyi(&even, order), even.renyi(&rare, order)];
        assert!(there < 0.7 && back > 2.7, "{there} {back}");
        assert!(rare.zcdp(&even) >= back / order && even.zcdp(&rare) >= back / order);
        assert_abs_diff_eq!(rare.zcdp(&even), even.zcdp(&rare), epsilon = 1e-15);
    }

    /// Where a loss is rare, only large orders show it.
    #[test]
    fn the_zero_concentrated_loss_covers_all_orders() {
        for (rare, loss) in [(1e-6, 0.1_f64), (1e-3, 1.0), (0.1, 0.01), (1e-9, 3.0), (0.5, 2.0)] {
            let a = of([(0, rare), (1, 1.0 - rare)]);
            let less = rare * (-loss).exp();
            let b = of([(0, less), (1, 1.0 - less)]);
            let orders = (0..60).map(|step| 1.0 + 0.01 * 1.2_f64.powi(step));
            let most = orders.map(|order| a.renyi(&b, order).max(b.renyi(&a, order)) / order);
            let (most, found) = (most.fold(0.0, f64::max), a.zcdp(&b));
            assert!(found >= 0.99 * most && most > 0.0, "{rare} {loss}: {found} for {most}");
        }
    }

    /// However rarely an output comes, what it gives away is a pure loss.
    #[test]
    fn unlikely_outputs_count_in_a_pure_loss() {
        for p in [1e-3, 1e-15, 1e-300] {
            let [a, b] = [p, p / 8.0].map(|p| of([(0, p), (1, 1.0 - p)]));
            assert_abs_diff_eq!(a.pure_loss(&b), 8_f64.ln(), epsilon = 1e-9);
            assert!(a.pure_loss(&of([(1, 1.0)])).is_infinite());
        }
    }

    /// On top of what is in excess within the window, whether the output has more mass inside or outside.
    #[test]
    fn all_that_is_outside_of_the_window_is_charged() {
        let law = |paths: [(i32, f64, bool); 4]| Law::from_paths(paths, Promises::default());
        let a = law([(0, 0.5, false), (1, 0.3, false), (1, 0.1, true), (2, 0.1, true)]);
        let b = law([(0, 0.2, false), (1, 0.7, false), (2, 0.06, false), (3, 0.04, true)]);
        for (epsilon, excess, back) in [(0.0, 0.3, 0.3), (1.0, 0.0, 0.0), (0.5, 0.170_26, 0.040_51)]
        {
            assert_abs_diff_eq!(a.charged_delta(&b, epsilon), excess + 0.2, epsilon = 1e-4);
            assert_abs_diff_eq!(b.charged_delta(&a, epsilon), back + 0.04, epsilon = 1e-4);
        }
    }

    /// The best tests reject where the other law is likelier by the largest ratio, not by the largest difference, and where it alone is possible first of all.
    #[test]
    fn tests_of_a_trade_off_follow_the_likelihood_ratio() {
        let a = of([(0, 0.69), (1, 0.3), (2, 0.01)]);
        let b = of([(0, 0.2), (1, 0.5), (2, 0.1), (3, 0.2)]);
        let expected = [(0.0, 1.0), (0.0, 0.8), (0.01, 0.7), (0.31, 0.2), (1.0, 0.0)];
        let corners = a.trade_off(&b);
        assert_eq!(corners.len(), expected.len());
        for (found, expected) in corners.into_iter().zip(expected) {
            assert_abs_diff_eq!(found.0, expected.0, epsilon = 1e-12);
            assert_abs_diff_eq!(found.1, expected.1, epsilon = 1e-12);
        }
    }

    #[test]
    #[should_panic(expected = "the law sums to 0.9, not to 1")]
    fn a_law_that_does_not_sum_to_one_is_refused() {
        let _ = of([(0, 0.4), (1, 0.5)]);
    }

    #[test]
    #[should_panic(expected = "the law sums to 0.99998")]
    fn a_law_that_lacks_a_little_is_refused() {
        let _ = of([(0, 0.5), (1, 0.499_99)]);
    }

    /// All that a law can say about another is as bad as it gets, until both are known to be of neighbours.
    #[test]
    fn laws_of_plans_say_nothing_until_their_relation_is_said() {
        use dp_accounting::{AddOnly, AddRemove};
        let mut planned = Promises::default();
        planned.note(Some(AddRemove.any()));
        planned.draw();
        planned.note(None);
        let law = || Law::from_paths([(0, 0.5, false), (1, 0.5, false)], planned.clone());
        let far = |a: &Law<i32>, b: &Law<i32>| {
            let all = [a.pure_loss(b), a.delta(b, 1.0), a.charged_delta(b, 1.0), a.zcdp(b)];
            let apart = a.trade_off(b).contains(&(0.0, 0.0));
            assert_eq!(all.iter().all(|far| far.is_infinite()), apart, "{all:?}");
            apart
        };
        let (a, b) = (law().under(AddRemove), law().under(AddOnly));
        assert!(far(&law(), &law()) && far(&a, &law()) && far(&law(), &a) && far(&a, &b));
        assert!(!far(&a, &law().under(AddRemove)) && !far(&b, &law().under(AddOnly)));
        assert!(!far(&of([(0, 0.5), (1, 0.5)]), &of([(0, 0.5), (1, 0.5)])), "made by hand");
        assert_eq!(law(), law().under(AddOnly), "equality is about the distribution");
    }

    /// Draws without a plan may be those of a plan whose promise a source has kept to itself.
    #[test]
    fn laws_of_draws_without_a_plan_say_nothing_until_somebody_answers_for_them() {
        use dp_accounting::{AddOnly, AddRemove};
        let mut drew = Promises::default();
        drew.draw();
        let halves = [(0, 0.5, false), (1, 0.5, false)];
        let raw = || Law::from_paths(halves, drew.clone());
        let mut plan = Promises::default();
        plan.note(Some(AddRemove.any()));
        plan.draw();
        plan.note(None);
        let planned = || Law::from_paths(halves, plan.clone());
        let by_hand = || of([(0, 0.5), (1, 0.5)]);
        let far = |a: &Law<i32>, b: &Law<i32>| {
            let [there, back] = [a.pure_loss(b), b.pure_loss(a)].map(f64::is_infinite);
            assert_eq!(there, back, "whichever is asked about the other");
            there
        };
        assert!(far(&raw(), &raw()) && far(&raw(), &by_hand()));
        let (told, held) = (|| raw().without_receipt(), || planned().under(AddRemove));
        assert!(!far(&told(), &told()) && !far(&told(), &by_hand()) && !far(&held(), &by_hand()));
        assert!(far(&told(), &raw()) && far(&told(), &held()), "one of two has a receipt");
        let under = || told().under(AddRemove);
        assert!(!far(&under(), &under()) && far(&under(), &held()) && far(&under(), &told()));
        assert!(far(&under(), &told().under(AddOnly)));
        let unsaid = planned().without_receipt();
        assert!(
            far(&unsaid, &unsaid) && far(&told(), &unsaid),
            "a plan is held to its relation whatever was drawn beside it"
        );
    }

    #[test]
    #[should_panic(expected = "neighbours under add-remove, but no receipt says")]
    fn a_law_of_draws_without_a_plan_is_under_no_relation() {
        let mut drew = Promises::default();
        drew.draw();
        let _ = Law::from_paths([(0, 1.0, false)], drew).under(dp_accounting::AddRemove);
    }

    #[test]
    #[should_panic(expected = "neighbours under replace-one, but the receipt is about add-remove")]
    fn a_law_is_not_taken_for_one_of_other_neighbours() {
        let mut planned = Promises::default();
        planned.note(Some(dp_accounting::AddRemove.any()));
        let _ = Law::from_paths([(0, 1.0, false)], planned).under(dp_accounting::ReplaceOne);
    }
}
