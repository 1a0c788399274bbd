//! Every public function at arguments that nobody means: each answers, refuses with the value and the limit, or says that there is nothing;
//! no panic, no NaN, no run without an end. Whether the answers are large enough is for the checker, which takes the same numbers.

use std::num::NonZeroU32;

use dp_accounting::{
    Accuracy, AddOnly, AddRemove, BasicFilter, BasicOdometer, Bound, Budget, Composition, Delta,
    Direction, Epsilon, Event, Filter, Ledger, Loss, Meaning, Mu, Odometer, ParamError, Question,
    Receipt, Relation, ReplaceOne, Rho, Step, Within, advanced_composition_epsilon,
    bounded_range_composition_by_zcdp, bounded_range_optimal_delta, budget_to_mu, budget_to_zcdp,
    calibrate, epsilon_for, gaussian_delta, gaussian_epsilon, gaussian_log_delta,
    gaussian_noise_multiplier, mu_to_epsilon, near_optimal_composition_epsilon, noise_for,
    normal_tail, one_sided_to_two_sided, optimal_composition_delta, optimal_composition_epsilon,
    plain_number, poisson_sampling, pure_composition_by_zcdp, renyi_divergence, renyi_epsilon,
    renyi_to_epsilon, repeated_selection_epsilon, repeated_selection_loss,
    sampling_with_replacement, sampling_without_replacement, target_charging_delta,
    target_charging_loss, uses_for, zcdp_to_delta, zcdp_to_epsilon, zcdp_to_log_delta,
};

const ODD: [f64; 22] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MIN,
    -1.0,
    -5e-324,
    -0.0,
    0.0,
    5e-324,
    1e-310,
    1e-300,
    1e-9,
    0.5,
    1.0 - 1e-9,
    1.0 - f64::EPSILON / 2.0,
    1.0,
    1.0 + f64::EPSILON,
    2.0,
    700.0,
    1e10,
    1e300,
    f64::MAX,
];

const COUNTS: [u64; 8] =
    [0, 1, 2, 1000, 1_000_000_000_000, 1_000_000_000_001, u64::MAX - 1, u64::MAX];
const SMALL_COUNTS: [u32; 6] = [0, 1, 2, 1000, u32::MAX - 1, u32::MAX];

/// What can come out of a public function.
trait Told {
    fn check(&self, what: &dyn Fn() -> String);
}

impl Told for f64 {
    fn check(&self, what: &dyn Fn() -> String) {
        assert!(!self.is_nan(), "{}: NaN", what());
    }
}

macro_rules! numbers {
    ($($name:ty),*) => {
        $(impl Told for $name {
            fn check(&self, what: &dyn Fn() -> String) {
                assert!(self.get() >= 0.0 && self.get().is_finite(), "{}: {self}", what());
            }
        })*
    };
}

numbers!(Epsilon, Delta, Rho, Mu);

impl Told for Bound {
    fn check(&self, what: &dyn Fn() -> String) {
        let (lower, upper) = (self.lower(), self.upper());
        assert!(0.0 <= lower && lower <= upper && self.gap() >= 0.0, "{}: {self}", what());
    }
}

impl Told for ParamError {
    fn check(&self, what: &dyn Fn() -> String) {
        let told = self.to_string();
        let typed = match self {
            Self::OutOfRange { name, got, want } => {
                let parts = told.contains(name) && told.contains(want);
                parts && told.ends_with(&plain_number(*got))
            }
            Self::Empty { name } => told.contains(name),
            _ => false,
        };
        assert!(typed, "{}: {told}", what());
    }
}

impl<T: Told> Told for Option<T> {
    fn check(&self, what: &dyn Fn() -> String) {
        if let Some(inner) = self {
            inner.check(what);
        }
    }
}

impl<T: Told, E: Told> Told for Result<T, E> {
    fn check(&self, what: &dyn Fn() -> String) {
        match self {
            Ok(inner) => inner.check(what),
            Err(error) => error.check(what),
        }
    }
}

impl<A: Told, B: Told> Told for (A, B) {
    fn check(&self, what: &dyn Fn() -> String) {
        self.0.check(what);
        self.1.check(what);
    }
}

impl<T: Told> Told for Vec<T> {
    fn check(&self, what: &dyn Fn() -> String) {
        for one in self {
            one.check(what);
        }
    }
}

impl Told for u64 {
    fn check(&self, _: &dyn Fn() -> String) {}
}

/// Counts the calls, and names the one that went wrong.
struct Table(u32);

impl Table {
    fn see<T: Told>(&mut self, name: &str, arguments: &dyn std::fmt::Debug, got: &T) {
        got.check(&|| format!("{name} {arguments:?}"));
        self.0 += 1;
    }
}

fn valid<T, E>(of: impl Fn(f64) -> Result<T, E>) -> Vec<T> {
    ODD.iter().filter_map(|x| of(*x).ok()).collect()
}

fn budgets() -> Vec<Budget> {
    ODD.iter().flat_map(|x| ODD.map(|d| Budget::new(*x, d))).filter_map(Result::ok).collect()
}

#[test]
fn numbers_and_conversions() {
    let mut table = Table(0);
    for x in ODD {
        table.see("Epsilon", &x, &Epsilon::new(x));
        table.see("Delta", &x, &Delta::new(x));
        table.see("Rho", &x, &Rho::new(x));
        table.see("Mu", &x, &Mu::new(x));
        table.see("Within", &x, &Within::new(x).map(Within::rho));
        table.see("Accuracy", &x, &Accuracy::within(x).map(Accuracy::gap));
        table.see("normal_tail", &x, &normal_tail(x));
        for y in ODD {
            table.see("Budget", &(x, y), &Budget::new(x, y).map(|b| (b.epsilon(), b.delta())));
            let weights = [vec![x], vec![x, y], vec![y; 3]];
            for whole in [0.0, 5e-324, 1.0, 1e300] {
                for weights in &weights {
                    let split = |told| table_split(whole, weights, told);
                    table.see("split", &(whole, weights), &split(0));
                    table.see("split of squares", &(whole, weights), &split(1));
                }
            }
        }
        for e in valid(Epsilon::new) {
            table.see("gaussian_delta", &(x, e), &gaussian_delta(x, e));
            table.see("gaussian_log_delta", &(x, e), &gaussian_log_delta(x, e));
        }
        for d in valid(Delta::new) {
            table.see("gaussian_epsilon", &(x, d), &gaussian_epsilon(x, d));
        }
    }
    for n in COUNTS {
        let effort = Accuracy::default().with_effort(n).map(Accuracy::effort);
        table.see("effort", &n, &effort);
    }
    for d in valid(Delta::new) {
        for rho in valid(Rho::new) {
            table.see("zcdp_to_epsilon", &(rho, d), &zcdp_to_epsilon(rho, d));
        }
        for mu in valid(Mu::new) {
            table.see("mu_to_epsilon", &(mu, d), &mu_to_epsilon(mu, d));
        }
    }
    for rho in valid(Rho::new) {
        for e in valid(Epsilon::new) {
            table.see("zcdp_to_delta", &(rho, e), &zcdp_to_delta(rho, e));
            table.see("zcdp_to_log_delta", &(rho, e), &zcdp_to_log_delta(rho, e));
        }
    }
    for budget in budgets() {
        table.see("budget_to_zcdp", &budget, &budget_to_zcdp(budget));
        table.see("budget_to_mu", &budget, &budget_to_mu(budget));
        let least = gaussian_noise_multiplier(budget);
        table.see("gaussian_noise_multiplier", &budget, &least);
        assert!(least > 0.0, "{budget}: no noise is enough");
    }
    assert!(table.0 > 6000, "{} calls", table.0);
}

/// Shares of an epsilon, or of a mu.
fn table_split(whole: f64, weights: &[f64], which: u8) -> Result<Vec<f64>, ParamError> {
    if which == 0 {
        let shares = Epsilon::new(whole)?.split(weights)?;
        Ok(shares.into_iter().map(Epsilon::get).collect())
    } else {
        let shares = Mu::new(whole)?.split(weights)?;
        Ok(shares.into_iter().map(Mu::get).collect())
    }
}

#[test]
fn formulas_of_composition_and_sampling() {
    let mut table = Table(0);
    let (epsilons, deltas) = (valid(Epsilon::new), valid(Delta::new));
    for &e in &epsilons {
        for &d in &deltas {
            for n in COUNTS {
                let at = (e, n, d);
                table.see("advanced", &at, &advanced_composition_epsilon(e, n, d));
                table.see("near optimal", &at, &near_optimal_composition_epsilon(e, n, d));
                table.see("pure by zCDP", &at, &pure_composition_by_zcdp(e, n, d));
                table.see("range by zCDP", &at, &bounded_range_composition_by_zcdp(e, n, d));
                for m in [0, 1, 7, u64::MAX] {
                    let got = sampling_without_replacement(e, d, n, m);
                    table.see("without replacement", &(at, m), &got);
                }
            }
            for n in SMALL_COUNTS {
                let at = (e, n, d);
                let got = optimal_composition_delta(e, d, n, Epsilon::ZERO);
                table.see("optimal delta", &at, &got);
                let got = optimal_composition_epsilon(e, Delta::ZERO, n, d);
                table.see("optimal epsilon", &at, &got);
                if n != 1000 {
                    table.see("charging loss", &at, &target_charging_loss(e, d, n));
                }
            }
            table.see("selection", &(e, d), &repeated_selection_epsilon(e, d));
            table.see("selection's loss", &(e, d), &repeated_selection_loss(e, d));
            for x in ODD {
                table.see("Poisson", &(e, d, x), &poisson_sampling(e, d, x));
                table.see("of a moment", &(x, d), &renyi_to_epsilon(x, e.get(), d));
            }
        }
        for n in SMALL_COUNTS {
            let at = (e, n);
            table.see("charging", &at, &target_charging_delta(e, n, Epsilon::ZERO));
            table.see("of ranges", &at, &bounded_range_optimal_delta(e, n, e));
            for m in [0, 1, 2, u64::MAX] {
                let got = sampling_with_replacement(e, n, m, |_| Delta::MAX);
                table.see("with replacement", &(at, m), &got);
            }
        }
        for x in ODD {
            for y in ODD {
                table.see("one side", &(e, x, y), &one_sided_to_two_sided(e, x, y));
            }
        }
    }
    for x in ODD {
        for y in ODD {
            table.see("of a moment", &(x, y), &renyi_to_epsilon(x, y, Delta::MAX));
        }
    }
    for &e in &epsilons {
        for &d in &deltas {
            let meaning = Meaning::new(e, d);
            assert!(!meaning.to_string().contains("NaN"), "{meaning}");
            table.see("advantage", &(e, d), &meaning.advantage());
            for x in ODD {
                let told = [meaning.attack_success(x), meaning.detection(x), meaning.belief(x)];
                assert!(told.iter().all(|p| (0.0..=1.0).contains(p)), "{e} {d} {x}: {told:?}");
                table.see("meaning", &(e, d, x), &told.to_vec());
            }
        }
    }
    assert!(table.0 > 20_000, "{} calls", table.0);
}

fn losses() -> Vec<Loss> {
    let mut all = vec![Loss::Unbounded];
    all.extend(valid(Epsilon::new).into_iter().map(Loss::from));
    all.extend(valid(Epsilon::new).into_iter().map(|eta| Loss::BoundedRange { eta }));
    all.extend(valid(Rho::new).into_iter().map(Loss::from));
    all.extend(valid(Mu::new).into_iter().map(Loss::from));
    for epsilon in valid(Epsilon::new) {
        all.extend(valid(Delta::new).into_iter().map(|delta| Loss::Approximate { epsilon, delta }));
    }
    all
}

fn receipts<R: Relation>(relation: R, table: &mut Table) {
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    for loss in losses() {
        table.see("loss", &loss, &vec![loss.pure().map(Epsilon::get), loss.zcdp().map(Rho::get)]);
        table.see("as Gaussian", &loss, &loss.gaussian());
        for size in SMALL_COUNTS {
            assert!(!loss.scaled_to_group(size).to_string().contains("NaN"), "{loss} {size}");
            let Some(size) = NonZeroU32::new(size) else { continue };
            let group = Step::group("group", size, Step::spend("step", loss));
            let all = Step::sequential("all", vec![group.clone(), group]);
            let receipt = Receipt::new("m", relation, budget, Step::group("again", size, all));
            let at = (loss, size);
            table.see("receipt", &at, &vec![receipt.pure(), receipt.epsilon()]);
            table.see("zCDP", &at, &receipt.zcdp());
            table.see("zCDP outside", &at, &receipt.zcdp_outside());
            table.see("Gaussian", &at, &receipt.gaussian_outside());
            // Nothing may be charged less than one change of one step.
            let one = Receipt::new("m", relation, budget, Step::spend("step", loss)).epsilon();
            let dearer = match (receipt.epsilon(), one) {
                (Some(all), Some(one)) => all.get() >= one.get() * (1.0 - 1e-12),
                (all, one) => all.is_none() || one.is_some(),
            };
            assert!(dearer, "{at:?}: {one:?} once, {:?} for all", receipt.epsilon());
            if size.get() > 1 {
                continue;
            }
            for d in valid(Delta::new) {
                table.see("at a delta", &(loss, d), &receipt.epsilon_at(d));
            }
            let left = receipt.mu_left(budget);
            table.see("what is left", &loss, &left);
            assert!(!receipt.to_string().contains("NaN"), "{receipt}");
            let mut ledger = Ledger::new(relation, budget);
            let fits = ledger.spend(&receipt).is_ok();
            assert!(!fits || receipt.epsilon_at(budget.delta()).is_some(), "{receipt}");
            table.see("ledger", &loss, &ledger.spent());
            let mut filter = Filter::new(relation, Rho::new(1.0).expect("valid"));
            let admitted = filter.admit(&receipt);
            assert!(!admitted || receipt.zcdp() <= Some(filter.limit()), "{receipt}");
            table.see("filter", &loss, &filter.spent());
            let mut basic = BasicFilter::new(relation, budget);
            let admitted = basic.admit(&receipt);
            assert!(!admitted || basic.spent().0 <= budget.epsilon(), "{receipt}");
            table.see("basic filter", &loss, &basic.spent());
            let mut basic = BasicOdometer::new(relation);
            basic.charge(&receipt);
            table.see("basic odometer", &loss, &basic.spent());
        }
    }
    for d in valid(Delta::new) {
        for rho in valid(Rho::new) {
            let odometer = Odometer::new(relation, d, rho);
            let spent = odometer.map(|odometer| odometer.spent().map_or(0.0, Epsilon::get));
            table.see("odometer", &(d, rho), &spent);
        }
    }
}

#[test]
fn receipts_ledgers_and_filters() {
    let mut table = Table(0);
    receipts(AddRemove, &mut table);
    receipts(ReplaceOne, &mut table);
    receipts(AddOnly, &mut table);
    assert!(table.0 > 20_000, "{} calls", table.0);
}

/// Events at odd arguments; those that are made answer at odd questions. The ends of what events take, in mixes, are in `adversary`.
#[test]
fn events_and_compositions() {
    let mut table = Table(0);
    let mut events = Vec::new();
    let mut see =
        |name: &str, arguments: &dyn std::fmt::Debug, event: Result<Event, ParamError>| {
            match event {
                Ok(event) => events.push(event),
                Err(error) => error.check(&|| format!("{name} {arguments:?}")),
            }
            table.0 += 1;
        };
    for x in ODD {
        see("Gaussian", &x, Event::gaussian(x));
        see("Laplace", &x, Event::laplace(x));
        for n in SMALL_COUNTS {
            see("discrete Laplace", &(x, n), Event::discrete_laplace(x, n));
            see("discrete Gaussian", &(x, n), Event::discrete_gaussian(x, n));
        }
        for of in [Event::gaussian(1.0), Event::laplace(1.0), Event::discrete_laplace(1.0, 1)] {
            see("sampled", &(of.clone(), x), of.and_then(|event| event.poisson_sampled(x)));
        }
    }
    for e in valid(Epsilon::new) {
        see("response", &e, Event::randomised_response(e));
        see("range", &e, Event::bounded_range(e));
        for d in valid(Delta::new) {
            see("approximate", &(e, d), Event::approximate(e, d));
        }
    }
    assert!(events.len() > 40, "{}", events.len());
    let cheap = Accuracy::default().with_effort(100_000).expect("in range");
    let (deltas, epsilons) = (valid(Delta::new), valid(Epsilon::new));
    for event in &events {
        for n in COUNTS {
            let Ok(all) = Composition::new().with(*event, n) else {
                assert!(n == 0 || n > 1_000_000_000_000, "{event:?} {n}");
                continue;
            };
            for order in ODD {
                let got = renyi_divergence(&all, Direction::Remove, order);
                table.see("divergence", &(event, n, order), &got);
            }
            if n > 1 {
                continue;
            }
            let mut profile = all.profile(cheap);
            let mut ask = |question| profile.ask(question).expect("no contradiction").bound;
            for d in &deltas {
                table.see("epsilon", &(event, d), &ask(Question::Epsilon(*d)));
                table.see("by moments", &(event, d), &renyi_epsilon(&all, *d));
            }
            for e in &epsilons {
                table.see("delta", &(event, e), &ask(Question::Delta(*e)));
            }
        }
    }
    let gaussian = Event::gaussian(2.0).expect("valid");
    for n in COUNTS {
        for d in &deltas {
            table.see("epsilon_for", &(n, d), &epsilon_for(gaussian, n, *d));
        }
    }
    for x in ODD {
        for y in ODD {
            let one = |scale| Composition::new().with(Event::gaussian(scale)?, 1);
            let budget = Budget::new(1.0, 1e-6).expect("valid");
            table.see("calibrate", &(x, y), &calibrate(budget, x, y, one));
        }
    }
    for budget in budgets() {
        table.see("uses_for", &budget, &uses_for(budget, gaussian));
        for n in [0, 3, u64::MAX] {
            table.see("noise_for", &(budget, n), &noise_for(budget, n, Event::gaussian));
        }
    }
    assert!(table.0 > 10_000, "{} calls", table.0);
}
