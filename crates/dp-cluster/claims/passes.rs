//! Checks of releases by passes: what reaches the draws through tables of parts is what each record counts, once.

use dp_accounting::Budget;
use dp_audit::Method;
use dp_audit::harness::{Check, Effort, Found, TOLERANCE};
use dp_cluster::dpm::Dpm;
use dp_cluster::passes::{Asked, ByPasses, Passes, Question, Table};
use dp_cluster::recentring::DpmRecentred;
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Mechanism, Source};

use crate::neighbours::replay;

pub(crate) fn checks() -> Vec<Check> {
    let mechanism = "Dpm and DpmRecentred, by passes over parts";
    let run = |effort| transcripts(effort, merged_once);
    vec![
        Check::new("passes-transcript", mechanism, "add-remove", Method::Exact, run)
            .resolution(TOLERANCE),
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

/// What all draws of a release give away together, as a share of what the receipt says.
pub(crate) fn transcripts(effort: Effort, merge: Merge) -> Found {
    let mut found = Found::claim(1.0);
    for shape in effort.of([(1, 50), (2, 120)], [(1, 500), (5, 2_000)]) {
        let cube = || PublicBox::cube(shape.0, -10.0, 10.0).expect("valid");
        let budget = |epsilon| Budget::new(epsilon, 1e-6).expect("valid");
        let dpm = Dpm::builder(cube(), budget(4.0)).max_depth(3).build().expect("valid");
        let recentred = DpmRecentred::builder(cube(), budget(8.0)).max_depth(2).clusters(3);
        let recentred = recentred.build().expect("valid");
        let whole = dpm.receipt().zcdp().expect("all steps are zCDP").get();
        replay(
            effort,
            290,
            shape,
            |points, source| run(&dpm, points, merge, source),
            |seen, text| found.see(seen.rho() / whole, text),
        );
        let whole = recentred.receipt().zcdp().expect("all steps are zCDP").get();
        replay(
            effort,
            291,
            shape,
            |points, source| run(&recentred, points, merge, source),
            |seen, text| found.see(seen.rho() / whole, text),
        );
    }
    found
}
