//! Checks of metric clustering: exact laws of whole runs on a tiny metric, replays on larger ones, and
//! what a user is credited.

use std::sync::Arc;

use dp_accounting::{AddRemove, Budget, Delta, Epsilon, Receipt};
use dp_audit::{Law as OutputLaw, Method, Scripted, Window, compare, exact_law};
use dp_combinatorial::k_median::{
    Base, Clustering, Denoise, Metric, MetricBicriteria, MetricBicriteriaBuilder, MetricClustering,
    MetricHistogram, Power, Width,
};
use dp_mechanism::{
    Certificate, ChaCha20Rng, DiscreteGaussian, Geometric, Law, Mechanism, SecureSource,
    SelectionRule, Source,
};
use rand::RngExt;

use dp_audit::harness::toys::{Side, for_each_one_more, pure_loss_of_one_more};
use dp_audit::harness::{Check, Effort, Found};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("k-median-picks", "MetricBicriteria: whole runs", Method::Exact, bicriteria),
        check("k-median-composition", "MetricBicriteria: composition", Method::Exact, composition),
        check(
            "k-median-approximate",
            "MetricBicriteria: share of delta",
            Method::Exact,
            approximate,
        ),
        check("k-median-storages", "MetricBicriteria on every storage", Method::Exact, storages),
        check("k-median-ways", "MetricHistogram, Denoise: whole runs", Method::Exact, ways),
        check(
            "k-median-credit",
            "MetricBicriteria, what a user is credited",
            Method::Range,
            credit,
        ),
        check(
            "k-median-histogram",
            "MetricHistogram, MetricClustering: replays",
            Method::Exact,
            histogram,
        ),
        check(
            "k-median-receipt",
            "MetricBicriteria, MetricHistogram: receipts against budgets",
            Method::Ledger,
            receipts,
        ),
    ]
}

/// Three nodes in a row; the one in the middle is the centre, at unequal distances.
fn line() -> Arc<Metric> {
    Arc::new(Metric::from_points(&[0.0, 2.0, 5.0], 1).expect("a metric"))
}

fn budget() -> Budget {
    Budget::new(1.0, 0.0).expect("valid")
}

fn settings(power: Power) -> MetricBicriteriaBuilder {
    MetricBicriteria::builder(1, power, budget(), 10)
}

fn nodes(users: &[usize]) -> Vec<u32> {
    users.iter().map(|&user| u32::try_from(user).expect("few nodes")).collect()
}

/// The outputs in a form that can be sorted.
type Released = (Vec<u32>, Vec<u32>, Vec<u64>);

fn released(clustering: Clustering) -> Released {
    let Clustering { centres, places, users } = clustering;
    (centres, places, users.into_iter().map(f64::to_bits).collect())
}

/// Sets of up to `most` users, each at a node or, as the last kind, at none; and one more.
fn all_sets(claimed: f64, most: usize, law: impl Fn(&[u32]) -> OutputLaw<Released>) -> Found {
    let law = |users: &[usize]| law(&nodes(users));
    let found = pure_loss_of_one_more(Side::Both, claimed, (4, most), law);
    Found { claimed, worst: found.worst * claimed, ..found }
}

fn claimed(receipt: &Receipt<AddRemove>) -> f64 {
    receipt.pure().expect("a pure form").get()
}

fn exact(plan: &MetricBicriteria, most: usize, window: Window) -> Found {
    all_sets(claimed(&plan.receipt()), most, |users| {
        exact_law(window, |draws| released(plan.replay(users, draws).0))
    })
}

/// One or two picks and the counts, on one sample.
fn bicriteria(effort: Effort) -> Found {
    let plan = |settings: MetricBicriteriaBuilder| settings.build(&line()).expect("valid settings");
    let window = Window::new(-1, 3);
    let flip = plan(settings(Power::Median).picks(2));
    let far =
        plan(settings(Power::Means).rule(SelectionRule::Exponential).base(Base::Diameter).picks(1));
    worst_of([exact(&flip, effort.of(1, 2), window), exact(&far, effort.of(1, 2), window)])
}

fn worst_of(found: [Found; 2]) -> Found {
    let [a, b] = found;
    let cases = a.cases + b.cases;
    let worse = if a.worst / a.claimed >= b.worst / b.claimed { a } else { b };
    Found { cases, ..worse }
}

fn composition(effort: Effort) -> Found {
    let plan = settings(Power::Median).certificate(Certificate::Composition).picks(2);
    exact(&plan.build(&line()).expect("valid settings"), effort.of(1, 3), Window::new(-2, 4))
}

/// Every way to keep distances, with every rule that a secret sample allows.
fn storages(effort: Effort) -> Found {
    let mut found = Found::claim(claimed(
        &settings(Power::Median).picks(1).build(&line()).expect("valid settings").receipt(),
    ));
    for (width, keep_all) in [(Width::Bits16, true), (Width::Bits24, true), (Width::Bits24, false)]
    {
        let metric = Metric::from_points_as(&[0.0, 2.0, 5.0], 1, width, keep_all);
        let metric = Arc::new(metric.expect("a metric"));
        for (power, rule) in [
            (Power::Median, SelectionRule::PermuteAndFlip),
            (Power::Means, SelectionRule::Exponential),
        ] {
            let plan = settings(power).rule(rule).picks(1).build(&metric).expect("valid settings");
            let one = exact(&plan, effort.of(1, 2), Window::new(-1, 3));
            found = found.and(one);
        }
    }
    found
}

/// Each way to weight noisy counts and all of them together, which has the best of several by noisy cost.
fn ways(effort: Effort) -> Found {
    let all = [
        Denoise::Neighbourhoods,
        Denoise::Exchangeable,
        Denoise::Threshold(0.0),
        Denoise::Threshold(1.0),
        Denoise::Uniform,
    ];
    let mut found = Found::claim(budget().epsilon().get());
    for ways in all.iter().map(|&way| vec![way]).chain([all.to_vec()]) {
        let plan = MetricHistogram::builder(1, Power::Median, budget()).denoise(ways);
        let plan = plan.build(&line()).expect("valid settings");
        found = found.and(all_sets(claimed(&plan.receipt()), effort.of(1, 2), |users| {
            exact_law(Window::new(-2, 4), |draws| released(plan.replay(users, draws).0))
        }));
    }
    found
}

/// The exact delta at the epsilon of the receipt, as a share of its delta.
fn approximate(effort: Effort) -> Found {
    let delta = Delta::new(0.02).expect("valid");
    let plan =
        MetricBicriteria::builder(1, Power::Median, Budget::new(1.0, 0.02).expect("valid"), 10)
            .certificate(Certificate::Approximate { delta })
            .rule(SelectionRule::Exponential)
            .picks(3)
            .build(&line())
            .expect("valid settings");
    let epsilon = plan.receipt().epsilon().expect("within the budget").get();
    let law = |users: &[usize]| {
        let users = nodes(users);
        exact_law(Window::new(-1, 3), |draws| released(plan.replay(&users, draws).0))
    };
    let mut found = Found::claim(1.0);
    for_each_one_more((3, effort.of(1, 2)), law, |without, with, witness| {
        let share = without.delta(with, epsilon).max(with.delta(without, epsilon)) / delta.get();
        // The exact loss of a run of three picks is far below what the proof allows for any number.
        let loss = with.pure_loss(without).max(without.pure_loss(with)) / epsilon;
        found.see(share.max(if loss <= 1.0 { loss } else { 0.0 }), || witness.to_owned());
    });
    found
}

/// Notes scores and choices, and leaves out noise.
struct Choices<'a> {
    draws: &'a mut dyn Source,
    seen: Vec<(Vec<i64>, i64)>,
}

impl Source for Choices<'_> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        let scores = match law {
            Law::Flip { scores, .. } => scores.to_vec(),
            Law::Noisy { value, .. } => return value,
            law => return self.draws.draw(law),
        };
        let chosen = self.draws.draw(law);
        self.seen.push((scores, chosen));
        chosen
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        unreachable!("no rule here has noisy scores")
    }

    fn noisy_vector(&mut self, _values: &mut [i64], _noise: DiscreteGaussian) {}
}

/// The premise of the guarantee, on random metrics: along the same choices one user more lowers no score,
/// and what it adds to the chosen ones sums to the most credit at most.
fn credit(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(90);
    for round in 0..effort.of(40, 1_000) {
        let metric = random_metric(effort.of(24, 60), &mut rng);
        let power = if round % 2 == 0 { Power::Median } else { Power::Means };
        let base = if round % 3 == 0 { Base::Diameter } else { Base::Centre };
        let plan = MetricBicriteria::builder(3, power, budget(), 100)
            // All users are seen then, by the same code.
            .certificate(Certificate::Composition)
            .base(base)
            .build(&metric)
            .expect("valid settings");
        let most = u32::try_from(metric.nodes()).expect("few");
        let users: Vec<u32> = (0..round).map(|_| rng.random_range(0..most)).collect();
        let added = rng.random_range(0..most);
        let with = [users.as_slice(), &[added]].concat();
        let mut secure = SecureSource::new(&mut rng);
        let mut first = Choices { draws: &mut secure, seen: Vec::new() };
        plan.replay(&users, &mut first);
        let first = first.seen;
        let script: Vec<i64> = first.iter().map(|seen| seen.1).collect();
        let mut scripted = Scripted::new(script.into_iter(), &mut secure);
        let mut second = Choices { draws: &mut scripted, seen: Vec::new() };
        plan.replay(&with, &mut second);
        let credited = credited(&first, &second.seen).unwrap_or(f64::INFINITY);
        found.see(credited / plan.most_credit() as f64, || {
            format!("round {round}, user at {added}")
        });
    }
    found
}

/// What the chosen candidates gain from the user; `None` where the premise is broken.
fn credited(without: &[(Vec<i64>, i64)], with: &[(Vec<i64>, i64)]) -> Option<f64> {
    if without.len() != with.len() || without.is_empty() {
        return None;
    }
    let mut total = 0;
    for ((without, chosen), (with, _)) in without.iter().zip(with) {
        if without.iter().zip(with).any(|(without, with)| with < without) {
            return None;
        }
        let chosen = usize::try_from(*chosen).ok()?;
        total += with[chosen] - without[chosen];
    }
    Some(total as f64)
}

/// Points, or paths with random lengths.
fn random_metric(nodes: usize, rng: &mut ChaCha20Rng) -> Arc<Metric> {
    let metric = if rng.random() {
        let coordinates: Vec<f64> = (0..2 * nodes).map(|_| rng.random_range(-1.0..1.0)).collect();
        Metric::from_points(&coordinates, 2)
    } else {
        let last = u32::try_from(nodes).expect("few");
        let edges: Vec<(u32, u32, u32)> =
            (1..last).map(|a| (a, rng.random_range(0..a), rng.random_range(0..99))).collect();
        Metric::from_graph(nodes, &edges, None)
    };
    Arc::new(metric.expect("a metric"))
}

/// Runs that release the same counts on neighbouring sets of users.
fn histogram(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(91);
    for round in 0..effort.of(12, 200_usize) {
        let metric = random_metric(15, &mut rng);
        let power = if round % 2 == 0 { Power::Median } else { Power::Means };
        let plan =
            MetricHistogram::builder(2, power, budget()).build(&metric).expect("valid settings");
        // So many users that the rule takes the histogram, too.
        let chosen =
            MetricClustering::new(&metric, 2, power, budget(), 1_000).expect("valid settings");
        let users: Vec<u32> = (0..round * round).map(|_| rng.random_range(0..17)).collect();
        let middle = users.len() / 2;
        // A node, and an id that is none.
        for added in [rng.random_range(0..15), 99] {
            let with = [&users[..middle], &[added], &users[middle..]].concat();
            for (a, b) in [(&users, &with), (&with, &users)] {
                let mut draws = SecureSource::new(&mut rng);
                let one = compare(
                    |d: &Vec<u32>, draws: &mut dyn Source| released(plan.replay(d, draws).0),
                    a,
                    b,
                    &mut draws,
                );
                let other = compare(
                    |d: &Vec<u32>, draws: &mut dyn Source| released(chosen.replay(d, draws).0),
                    a,
                    b,
                    &mut draws,
                );
                let share = one.pure_loss() / claimed(&plan.receipt());
                let share = share.max(other.pure_loss() / claimed(&chosen.receipt()));
                found.see(share, || format!("{users:?} and {added}"));
            }
        }
    }
    found
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(92);
    let metric = random_metric(9, &mut rng);
    for i in 0..effort.of(600_usize, 20_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let budget = Budget::new(epsilon, delta).expect("valid");
        let picks = rng.random_range(0.01..0.99);
        let plan = MetricBicriteria::builder(1 + i % 9, Power::Means, budget, 1 + i as u64)
            .shares(picks, (1.0 - picks) * rng.random_range(0.01..1.0));
        let plan = match i % 3 {
            0 => plan,
            1 => plan.certificate(Certificate::Composition),
            _ => plan
                .certificate(Certificate::Approximate { delta: Delta::new(delta).expect("valid") })
                .rule(SelectionRule::Exponential),
        };
        let plan = plan.build(&metric).expect("valid settings");
        let whole = MetricHistogram::builder(1, Power::Median, budget).build(&metric);
        for receipt in [plan.receipt(), whole.expect("valid settings").receipt()] {
            let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
            let over = !receipt.within_budget();
            found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
                format!("epsilon {epsilon}, delta {delta}, {:?}", plan.settings())
            });
        }
    }
    found
}
