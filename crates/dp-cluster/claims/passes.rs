//! Checks of releases by passes: what reaches the draws through tables of parts is what each record counts, once.

use dp_accounting::Budget;
use dp_audit::Method;
use dp_audit::harness::{Check, Effort, Found, TOLERANCE};
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
use dp_cluster::passes::{Asked, ByPasses, Passes, Question, Table};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_cluster::rings::{RingRounds, RingRoundsSettings};
use dp_geometry::{Points, PointsView, PublicBall, PublicBox};
use dp_mechanism::{Mechanism, Source};

use crate::neighbours::replay;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, run: fn(Effort, Merge) -> Found| {
        let run = move |effort| run(effort, merged_once);
        Check::new(id, mechanism, "add-remove", Method::Exact, run).resolution(TOLERANCE)
    };
    vec![
        check("passes-transcript", "Dpm, by passes over parts", of_dpm),
        check("passes-transcript-recentred", "DpmRecentred, by passes over parts", of_recentred),
        check("passes-transcript-kmeans", "PrivateKMeans, by passes over parts", of_kmeans),
        check("passes-transcript-splits", "LshSplits, by passes over parts", of_splits),
        check("passes-transcript-rings", "RingRounds, by passes over parts", of_rings),
    ]
}

/// The table of all records from those of parts.
pub(crate) type Merge = fn(&Asked<Question>, &[Table]) -> Table;

pub(crate) fn merged_once(asked: &Asked<Question>, parts: &[Table]) -> Table {
    let mut all = asked.tally().expect("has a table");
    for part in parts {
        all.merge(part).expect("of one question");
    }
    all.into_table()
}

/// A whole release, taken up from its bytes after each pass.
fn run<P>(plan: &P, points: &Points, merge: Merge, source: &mut dyn Source) -> P::Output
where
    P: ByPasses<Question = Question> + Clone,
{
    let dim = points.dim();
    let mut passes = Passes::new(plan.clone()).expect("has tables");
    loop {
        let part = |coords| {
            let mut part = passes.asked().tally().expect("has a table");
            part.add(PointsView::new(coords, dim).expect("whole rows")).expect("few rows");
            part.into_table()
        };
        let parts: Vec<Table> = points.view().coords().chunks(17 * dim).map(part).collect();
        let table = merge(passes.asked(), &parts);
        if let Some(output) = passes.replay(&table, source).expect("of all records") {
            return output;
        }
        passes = Passes::from_bytes(plan.clone(), &passes.to_bytes()).expect("whole");
    }
}

/// What all draws of a release give away together, as a share of what the receipt says. One plan each: a loose one would hide behind another.
fn transcripts<P>(effort: Effort, number: u64, merge: Merge, plan: impl Fn(PublicBox) -> P) -> Found
where
    P: ByPasses<Question = Question> + Clone,
    P::Output: PartialEq + serde::Serialize,
{
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 50), (2, 120)], [(1, 500), (5, 2_000)]) {
        let plan = plan(PublicBox::cube(shape.0, -10.0, 10.0).expect("valid"));
        let whole = plan.receipt().zcdp().expect("all steps are zCDP").get();
        replay(
            effort,
            number,
            shape,
            |points, source| run(&plan, points, merge, source),
            |seen, text| found.see(seen.rho() / whole, text),
        );
    }
    found
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

pub(crate) fn of_dpm(effort: Effort, merge: Merge) -> Found {
    transcripts(effort, 290, merge, |cube| {
        Dpm::new(cube, budget(4.0), DpmSettings { max_depth: 3, ..Default::default() })
            .expect("valid")
    })
}

pub(crate) fn of_recentred(effort: Effort, merge: Merge) -> Found {
    transcripts(effort, 291, merge, |cube| {
        let settings =
            DpmRecentredSettings { max_depth: 2, clusters: Some(3), ..Default::default() };
        DpmRecentred::new(cube, budget(8.0), settings).expect("valid")
    })
}

fn of_kmeans(effort: Effort, merge: Merge) -> Found {
    transcripts(effort, 292, merge, |cube| {
        PrivateKMeans::new(cube, 3, budget(8.0), PrivateKMeansSettings::default()).expect("valid")
    })
}

pub(crate) fn of_rings(effort: Effort, merge: Merge) -> Found {
    transcripts(effort, 293, merge, |cube| {
        let settings = RingRoundsSettings { rounds: 2, most_planes: 2, ..Default::default() };
        RingRounds::new(cube, 3, budget(8.0), settings).expect("valid")
    })
}

pub(crate) fn of_splits(effort: Effort, merge: Merge) -> Found {
    transcripts(effort, 294, merge, |cube| {
        let settings = LshSplitsSettings { depth: 4, least_leaf: 0.5, ..Default::default() };
        let ball = PublicBall::around(&cube).expect("valid");
        LshSplits::new(ball, 3, budget(8.0), settings).expect("valid")
    })
}
