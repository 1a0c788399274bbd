//! Checks of the recommended plan as a whole.

use dp_accounting::{AnyRelation, Budget, Epsilon, Loss};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method, compare};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings, Start};
use dp_cluster::{ClusterError, Clustering, Points, PublicBox};
use dp_mechanism::{DiscreteGaussian, Geometric, Law, Mechanism, SecureSource, Source};
use rand::RngExt;

use crate::neighbours::{one_more, replay};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, method, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, "add-remove", method, run)
    };
    vec![
        check("private-kmeans-transcript", "PrivateKMeans, a whole run", Method::Exact, |effort| {
            transcripts(effort, honest)
        }),
        check("private-kmeans-choices", "PrivateKMeans, its choices", Method::Exact, |effort| {
            choices(effort, honest)
        }),
        check("private-kmeans-second", "PrivateKMeans, two starts", Method::Exact, |effort| {
            second_starts(effort, honest)
        }),
        check("private-kmeans-even", "PrivateKMeans, even centres", Method::Exact, |effort| {
            even_starts(effort, honest)
        }),
        check("private-kmeans-receipt", "PrivateKMeans, receipt", Method::Ledger, receipts),
    ]
}

pub(crate) fn plan(
    dim: usize,
    k: usize,
    epsilon: f64,
    settings: PrivateKMeansSettings,
) -> Result<PrivateKMeans, ClusterError> {
    let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    PrivateKMeans::new(public_box, k, Budget::new(epsilon, 1e-6).expect("valid"), settings)
}

/// How the draws of a plan reach the source; a mutant puts something in between.
pub(crate) type Through = fn(&PrivateKMeans, &Points, &mut dyn Source) -> Clustering;

/// The plan as it is.
pub(crate) fn honest(plan: &PrivateKMeans, points: &Points, draws: &mut dyn Source) -> Clustering {
    plan.replay(points.view(), draws).0
}

/// Draws of a run whose first one, the count that decides on the way, comes out as this: any number may, and the replay of a neighbour sees the same.
pub(crate) struct Counting<'a> {
    pub(crate) draws: &'a mut dyn Source,
    pub(crate) records: Option<i64>,
}

impl<'a> Counting<'a> {
    /// Goes this way of a plan.
    pub(crate) fn so_many(plan: &PrivateKMeans, way: usize, draws: &'a mut dyn Source) -> Self {
        let mut ways = plan.starts();
        let is_counted = ways.len() > 1;
        let least = ways.nth(way).expect("a way of the plan").0;
        Self { draws, records: is_counted.then(|| i64::try_from(least).expect("few")) }
    }
}

impl Source for Counting<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

    fn charged(&mut self, loss: Option<Loss>) {
        self.draws.charged(loss);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        let drawn = self.draws.draw(law);
        self.records.take().unwrap_or(drawn)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }
}

/// What all draws of a run give away together, as a share of what the receipt says; of runs that count few records, and many.
pub(crate) fn transcripts(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 40), (2, 60), (5, 60)], [(1, 1_000), (3, 2_000), (20, 500)]) {
        let dim = shape.0;
        let d = PrivateKMeansSettings { start: Some(Start::Rings), ..Default::default() };
        let mut all = vec![
            plan(dim, 2, 8.0, d),
            plan(dim, 3, 2.0, PrivateKMeansSettings::default()),
            plan(dim, 4, 6.0, PrivateKMeansSettings { finds_k: true, ..d }),
            // With so little noise a box is found, and there may be rings beyond it.
            plan(dim, 3, 60.0, d),
        ];
        // In more dimensions, the fit takes long.
        if dim == 1 {
            let map = PrivateKMeansSettings { start: Some(Start::Map), ..d };
            all.push(plan(dim, 2, 5.0, map));
            all.push(plan(dim, 5, 5.0, PrivateKMeansSettings { finds_k: true, ..map }));
            // And here the map is finer in a box found.
            all.push(plan(dim, 3, 60.0, map));
        }
        for plan in all {
            let plan = plan.expect("valid settings");
            let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
            let last = plan.starts().len() - 1;
            for way in [0, last] {
                let run = |points: &Points, draws: &mut dyn Source| {
                    through(&plan, points, &mut Counting::so_many(&plan, way, draws))
                };
                replay(effort, 70, shape, run, |seen, text| {
                    found.see(seen.rho() / claimed, text);
                });
            }
        }
    }
    found
}

/// Of runs on a plane that count so many records that a map gets a second start, of three ring rounds, and of one.
pub(crate) fn second_starts(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    let plan = plan(2, 3, 2.0, PrivateKMeansSettings::default()).expect("valid settings");
    let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
    for records in effort.of(&[2_000][..], &[500, 2_000]) {
        let way = plan.starts().take_while(|(least, _)| least <= records).count() - 1;
        let run = |points: &Points, draws: &mut dyn Source| {
            through(&plan, points, &mut Counting::so_many(&plan, way, draws))
        };
        replay(effort, 73, (2, effort.of(30, 300)), run, |seen, text| {
            found.see(seen.rho() / claimed, text);
        });
    }
    found
}

/// Of even centres in the public box, for so few records that nothing finds where they are, and in a part of it, for more.
pub(crate) fn even_starts(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 40), (2, 60), (5, 60)], [(1, 1_000), (3, 2_000), (20, 500)]) {
        for records in [10, 40, 4_000] {
            let (start, expected_records) = (Some(Start::Even), Some(records));
            let settings = PrivateKMeansSettings { expected_records, start, ..Default::default() };
            let plan = plan(shape.0, 3, 2.0, settings).expect("valid settings");
            let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
            let run = |points: &Points, draws: &mut dyn Source| through(&plan, points, draws);
            replay(effort, 74, shape, run, |seen, text| found.see(seen.rho() / claimed, text));
        }
    }
    found
}

/// On sizes at which one more record is one too many for a way, or nearly: a plan must not see it.
pub(crate) fn choices(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(72);
    let plan = plan(4, 2, 2.0, PrivateKMeansSettings::default()).expect("valid settings");
    let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
    let points = |records: u64| {
        let row = |i: u64| if i.is_multiple_of(2) { -4.0 } else { 5.0 };
        let coords = (0..records * 4).map(|i| row(i / 4)).collect();
        Points::new(coords, 4).expect("whole rows")
    };
    let run = |points: &Points, draws: &mut dyn Source| through(&plan, points, draws);
    for (least, _) in plan.starts().skip(1) {
        // Also a few less and more, of which a plan could see that they are near.
        for turn in 0..effort.of(11, 110) {
            let records = (least + turn % 11).saturating_sub(5).max(1);
            let sets = [records - 1, records].map(points);
            for (a, b) in [(&sets[0], &sets[1]), (&sets[1], &sets[0])] {
                let seen = compare(&one_more(), run, a, b, &mut SecureSource::new(&mut rng));
                found.see(seen.rho() / claimed, || format!("{records} records and one less"));
            }
        }
    }
    found
}

/// What receipts add up to, as a share of the budget asked for, over random settings.
fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(71);
    for i in 0..effort.of(500_usize, 10_000) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let public_box = PublicBox::cube(1 + i % 6, 0.0, 1.0).expect("valid");
        let budget = Budget::new(epsilon, delta).expect("valid");
        let settings = PrivateKMeansSettings {
            finds_k: i % 3 == 0,
            expected_records: Some(1 << (i % 20)),
            ..Default::default()
        };
        let plan = PrivateKMeans::new(public_box, 1 + i % 5, budget, settings);
        let plan = plan.expect("valid settings");
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        let over = !receipt.within_budget();
        found.see(if over { f64::INFINITY } else { spent / epsilon }, || {
            format!("epsilon {epsilon}, delta {delta}, dimension {}", 1 + i % 6)
        });
    }
    found
}
