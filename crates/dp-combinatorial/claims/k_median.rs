//! Checks of metric clustering: exact laws of whole runs on a tiny metric, replays on larger ones, and
//! what a user is credited.

use std::sync::Arc;

use dp_accounting::{AddRemove, AnyRelation, Budget, Delta, Epsilon, Receipt};
use dp_audit::{Law as OutputLaw, Method, Neighbours, Window, compare, exact_law};
use dp_combinatorial::Sizes;
use dp_combinatorial::k_median::{
    Base, Clustering, Denoise, Metric, MetricBicriteria, MetricBicriteriaSettings,
    MetricClustering, MetricHistogram, MetricHistogramSettings, Power, Width,
};
use dp_mechanism::{
    Certificate, ChaCha20Rng, DiscreteGaussian, Geometric, Law, Mechanism, SecureSource,
    SelectionRule, Source,
};
use rand::RngExt;

use dp_audit::harness::toys::{
    Side, for_each_one_more, nothing_of_who_is_left_out, pure_loss_of_one_more,
};
use dp_audit::harness::{Check, Effort, Found, added_loss};

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
        check(
            "k-median-noisy-max",
            "MetricBicriteria with noisy savings",
            Method::Exact,
            noisy_max,
        ),
        check(
            "k-median-left-out",
            "MetricBicriteria: a user not in the sample",
            Method::Exact,
            left_out,
        ),
        check("k-median-sizes", "MetricBicriteria in every size", Method::Exact, sizes),
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

/// One centre, by so many picks.
fn one_centre(
    metric: &Arc<Metric>,
    power: Power,
    picks: u32,
    settings: MetricBicriteriaSettings,
) -> MetricBicriteria {
    let settings = MetricBicriteriaSettings { picks: Some(picks), ..settings };
    MetricBicriteria::new(metric, 1, power, budget(), 10, settings).expect("valid settings")
}

/// Two centres for a hundred users or so.
fn two_centres(
    metric: &Arc<Metric>,
    power: Power,
    picks: u32,
    settings: MetricBicriteriaSettings,
) -> MetricBicriteria {
    let settings = MetricBicriteriaSettings { picks: Some(picks), ..settings };
    MetricBicriteria::new(metric, 2, power, budget(), 100, settings).expect("valid settings")
}

fn by_rule(rule: SelectionRule) -> MetricBicriteriaSettings {
    MetricBicriteriaSettings { rule, ..Default::default() }
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
    let window = Window::new(-1, 3);
    let flip = one_centre(&line(), Power::Median, 2, MetricBicriteriaSettings::default());
    let base = Base::Diameter;
    let far = MetricBicriteriaSettings { base, ..by_rule(SelectionRule::Exponential) };
    let far = one_centre(&line(), Power::Means, 1, far);
    worst_of([exact(&flip, effort.of(1, 2), window), exact(&far, effort.of(1, 2), window)])
}

fn worst_of(found: [Found; 2]) -> Found {
    let [a, b] = found;
    let cases = a.cases + b.cases;
    let worse = if a.worst / a.claimed >= b.worst / b.claimed { a } else { b };
    Found { cases, ..worse }
}

fn composition(effort: Effort) -> Found {
    let certificate = Certificate::Composition;
    let settings = MetricBicriteriaSettings { certificate, ..Default::default() };
    let plan = one_centre(&line(), Power::Median, 2, settings);
    exact(&plan, effort.of(1, 3), Window::new(-2, 4))
}

/// Every way to keep distances between these points, with every size that computing with them has.
fn every_storage(coordinates: &[f64], dimension: usize) -> impl Iterator<Item = Metric> {
    let ways = [(Width::Bits16, true), (Width::Bits24, true), (Width::Bits24, false)];
    let kept = ways.map(|(width, keep_all)| {
        Metric::from_points_as(coordinates, dimension, width, keep_all).expect("a metric")
    });
    let sizes = [Sizes::default(), Sizes::small(1), Sizes::small(2), Sizes::small(3)];
    kept.into_iter().flat_map(move |metric| sizes.map(|sizes| metric.clone().with_sizes(sizes)))
}

/// Every way to keep distances, with every rule of an index that a secret sample allows.
fn storages(effort: Effort) -> Found {
    let usual = MetricBicriteriaSettings::default();
    let receipt = one_centre(&line(), Power::Median, 1, usual).receipt();
    let mut found = Found::claim(claimed(&receipt));
    for metric in every_storage(&[0.0, 2.0, 5.0], 1).map(Arc::new) {
        for (power, rule) in [
            (Power::Median, SelectionRule::PermuteAndFlip),
            (Power::Means, SelectionRule::Exponential),
        ] {
            let plan = one_centre(&metric, power, 1, by_rule(rule));
            found = found.and(exact(&plan, effort.of(1, 2), Window::new(-1, 3)));
        }
    }
    found
}

/// Distances of 2 and 3, so that noisy savings are few: what is released with each pick is followed up to 7.
fn noisy_max(effort: Effort) -> Found {
    let metric = Metric::from_graph(3, &[(0, 1, 2), (1, 2, 3)], None).expect("a metric");
    let metric = Arc::new(metric);
    let plan = |picks| one_centre(&metric, Power::Median, picks, by_rule(SelectionRule::NoisyMax));
    worst_of([
        exact(&plan(1), effort.of(1, 2), Window::new(-1, 7)),
        exact(&plan(2), effort.of(0, 1), Window::new(-1, 4)),
    ])
}

/// Answers secret coins with yes for all but every so many, so that runs can be compared.
struct Sampled<'a> {
    draws: &'a mut dyn Source,
    all_but_every: u64,
    coins: u64,
}

impl Source for Sampled<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        if !matches!(law, Law::Keep { .. }) {
            return self.draws.draw(law);
        }
        self.coins += 1;
        i64::from(!self.coins.is_multiple_of(self.all_but_every))
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }
}

const RULES: [SelectionRule; 3] =
    [SelectionRule::PermuteAndFlip, SelectionRule::Exponential, SelectionRule::NoisyMax];

/// Random places, and users of whom many are at the same ones.
fn random_users(rng: &mut ChaCha20Rng, nodes: u32, most: u32) -> Vec<u32> {
    let crowd = rng.random_range(0..most);
    (0..crowd).map(|_| rng.random_range(0..nodes).min(rng.random_range(0..nodes + 1))).collect()
}

/// What one user more in the sample adds to the log probability of all that is released, picks and counts, as a share of what the
/// sample leaves to be spent; on every storage and in every size, by every rule.
fn credit(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(93);
    for round in 0..effort.of(4, 60) {
        let coordinates: Vec<f64> = (0..2 * 13).map(|_| rng.random_range(-1.0..1.0)).collect();
        for (case, metric) in every_storage(&coordinates, 2).map(Arc::new).enumerate() {
            let power = if (case + round) % 2 == 0 { Power::Median } else { Power::Means };
            let base = if round % 4 < 2 { Base::Diameter } else { Base::Centre };
            let settings = MetricBicriteriaSettings { base, ..by_rule(RULES[case % 3]) };
            let plan = two_centres(&metric, power, 4, settings);
            let users = random_users(&mut rng, 13, 40);
            let with = [users.as_slice(), &[rng.random_range(0..14)]].concat();
            let run = |users: &[u32], draws: &mut dyn Source| released(plan.replay(users, draws).0);
            let secure = &mut SecureSource::new(&mut rng);
            let loss = added_loss(secure, |draws| run(&users, draws), |draws| run(&with, draws));
            let spends = claimed(&plan.receipt()).exp().ln_1p();
            found.see(loss / spends, || format!("{:?}: {with:?}", plan.settings()));
        }
    }
    found
}

/// Who is not in the sample leaves no trace in any draw.
fn left_out(effort: Effort) -> Found {
    let mut found = Found::claim(1e-9);
    let mut rng = effort.rng(95);
    for round in 0..effort.of(30, 300) {
        let metric = random_metric(13, &mut rng);
        let plan = two_centres(&metric, Power::Median, 4, by_rule(RULES[round % 3]));
        let all: Vec<u32> = (0..rng.random_range(1..30)).map(|_| rng.random_range(0..13)).collect();
        let run = |users: &[u32], draws: &mut dyn Source| released(plan.replay(users, draws).0);
        let none = nothing_of_who_is_left_out(&all, &mut SecureSource::new(&mut rng), run);
        found.see(if none { 0.0 } else { f64::INFINITY }, || {
            format!("{:?}: {all:?}", RULES[round % 3])
        });
    }
    found
}

/// Plans that promise the same by the same settings, on the same users: only how distances are stored and looked up differs, no record does.
fn one_promise(a: &MetricBicriteria, b: &MetricBicriteria) -> bool {
    a.receipt() == b.receipt() && a.settings() == b.settings()
}

/// The same users, in one size and in another; what is compared is two plans, and no record differs: every draw sees the same numbers.
fn sizes(effort: Effort) -> Found {
    let mut found = Found::claim(1e-9);
    let mut rng = effort.rng(94);
    for round in 0..effort.of(4, 60) {
        let coordinates: Vec<f64> = (0..2 * 17).map(|_| rng.random_range(-1.0..1.0)).collect();
        let users = random_users(&mut rng, 17, 60);
        let power = if round % 2 == 0 { Power::Median } else { Power::Means };
        let all: Vec<MetricBicriteria> = every_storage(&coordinates, 2)
            .map(|metric| {
                two_centres(&Arc::new(metric), power, 5, MetricBicriteriaSettings::default())
            })
            .collect();
        // The first of each storage has the sizes of a release.
        for (plain, others) in all.chunks(4).map(|of_storage| (&of_storage[0], &of_storage[1..])) {
            for other in others {
                let run = |plan: &MetricBicriteria, draws: &mut dyn Source| {
                    plan.replay(&users, &mut Sampled { draws, all_but_every: 5, coins: 0 });
                };
                let seen = compare(
                    &Neighbours::tested(AddRemove, one_promise),
                    run,
                    plain,
                    other,
                    &mut SecureSource::new(&mut rng),
                );
                found.see(seen.pure_loss().max(seen.rho()), || format!("round {round}"));
            }
        }
    }
    found
}

/// Each way to weight noisy counts and all of them together, which has the best of several by noisy cost; and with counts of cells, of which one has two
/// nodes.
fn ways(effort: Effort) -> Found {
    let all = [
        Denoise::Neighbourhoods,
        Denoise::Exchangeable,
        Denoise::Threshold(0.0),
        Denoise::Threshold(1.0),
        Denoise::Uniform,
    ];
    let two_cells = Arc::new(
        Metric::from_points(&[0.0, 2.0, 5.0], 1).expect("a metric").with_sizes(Sizes::small(2)),
    );
    let mut found = Found::claim(budget().epsilon().get());
    for ways in all.iter().map(|&way| vec![way]).chain([all.to_vec()]) {
        for (metric, cells_share, window) in
            [(&line(), 0.0, Window::new(-2, 4)), (&two_cells, 0.4, Window::new(-1, 3))]
        {
            let settings = MetricHistogramSettings { denoise: ways.clone(), cells_share };
            let plan = MetricHistogram::new(metric, 1, Power::Median, budget(), settings)
                .expect("valid settings");
            found = found.and(all_sets(claimed(&plan.receipt()), effort.of(1, 2), |users| {
                exact_law(window, |draws| released(plan.replay(users, draws).0))
            }));
        }
    }
    found
}

/// The exact delta at the epsilon of the receipt, as a share of its delta.
fn approximate(effort: Effort) -> Found {
    let delta = Delta::new(0.02).expect("valid");
    let settings = MetricBicriteriaSettings {
        certificate: Certificate::Approximate { delta },
        picks: Some(3),
        ..by_rule(SelectionRule::Exponential)
    };
    let budget = Budget::new(1.0, 0.02).expect("valid");
    let plan = MetricBicriteria::new(&line(), 1, Power::Median, budget, 10, settings)
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

/// Points in any storage, or paths with random lengths.
fn random_metric(nodes: usize, rng: &mut ChaCha20Rng) -> Arc<Metric> {
    let metric = if rng.random_range(0..4) > 0 {
        let coordinates: Vec<f64> = (0..2 * nodes).map(|_| rng.random_range(-1.0..1.0)).collect();
        let place = rng.random_range(0..every_storage(&coordinates, 2).count());
        Ok(every_storage(&coordinates, 2).nth(place).expect("there are as many"))
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
        let cells_share = [0.0, rng.random_range(0.01..0.99)][round / 2 % 2];
        let settings = MetricHistogramSettings { cells_share, ..Default::default() };
        let plan =
            MetricHistogram::new(&metric, 2, power, budget(), settings).expect("valid settings");
        // The rule takes cells where there are many nodes for each centre.
        let nodes = [15, 70][round / 3 % 2];
        let chosen = MetricClustering::new(&random_metric(nodes, &mut rng), 2, power, budget(), 99)
            .expect("valid settings");
        let users: Vec<u32> = (0..round * round).map(|_| rng.random_range(0..17)).collect();
        let middle = users.len() / 2;
        // A node, and an id that is none.
        for added in [rng.random_range(0..15), 999] {
            let with = [&users[..middle], &[added], &users[middle..]].concat();
            for (a, b) in [(&users, &with), (&with, &users)] {
                let mut draws = SecureSource::new(&mut rng);
                let one = compare(
                    &Neighbours::of_records(AddRemove, Vec::clone),
                    |d: &Vec<u32>, draws: &mut dyn Source| released(plan.replay(d, draws).0),
                    a,
                    b,
                    &mut draws,
                );
                let other = compare(
                    &Neighbours::of_records(AddRemove, Vec::clone),
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
        let (certificate, rule) = match i % 3 {
            0 => (Certificate::Subsampled, SelectionRule::PermuteAndFlip),
            1 => (Certificate::Composition, SelectionRule::PermuteAndFlip),
            _ => {
                let delta = Delta::new(delta).expect("valid");
                (Certificate::Approximate { delta }, SelectionRule::Exponential)
            }
        };
        let settings = MetricBicriteriaSettings {
            certificate,
            picks_share: picks,
            counts_share: (1.0 - picks) * rng.random_range(0.01..1.0),
            ..by_rule(rule)
        };
        let (k, hint) = (1 + i % 9, 1 + i as u64);
        let plan = MetricBicriteria::new(&metric, k, Power::Means, budget, hint, settings)
            .expect("valid settings");
        let cells_share = [0.0, rng.random_range(0.001..0.999)][i % 2];
        let each = MetricHistogramSettings { cells_share, ..Default::default() };
        let whole = MetricHistogram::new(&metric, 1, Power::Median, budget, each);
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
