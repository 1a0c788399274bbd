//! The exact law of the table that comes out, consistent and whole.

use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method as By, Window, exact_law};
use dp_census::{Census, CensusSettings, From0, GroupSizes, LevelShares, Method, Query};
use dp_mechanism::Mechanism;

use crate::nation::{MEMBERS, Promise, TINY, by, hierarchy};

pub(crate) fn checks() -> Vec<Check> {
    let what = "Census, law of the released table";
    vec![Check::new("census-release", what, MEMBERS, By::Exact, released)]
}

/// Two tables whose releases are compared as laws.
struct Pair {
    parents: &'static [u32],
    /// The column at which sizes end.
    largest: u32,
    window: Window,
    here: Vec<i64>,
    there: Vec<i64>,
}

/// A group that gets its first member, its second, or one of two groups that does, in one region and in a region of two.
fn pairs(effort: Effort) -> Vec<Pair> {
    let pair = |parents, largest, window, here: &[i64], there: &[i64]| Pair {
        parents,
        largest,
        window,
        here: here.to_vec(),
        there: there.to_vec(),
    };
    let two = Window::new(effort.of(-1, -2), effort.of(2, 4));
    let one = Window::new(-2, effort.of(3, 6));
    // Nine noisy cells: few values each.
    let nine = Window::new(effort.of(0, -1), 1);
    vec![
        pair(TINY[1], 1, two, &[1, 0, 0, 0], &[0, 1, 0, 0]),
        pair(TINY[1], 1, two, &[1, 0, 1, 0], &[0, 1, 1, 0]),
        pair(TINY[1], 1, two, &[2, 0, 0, 0], &[1, 1, 0, 0]),
        pair(TINY[0], 2, one, &[0, 1, 0], &[0, 0, 1]),
        pair(TINY[0], 2, one, &[1, 1, 0], &[1, 0, 1]),
        pair(TINY[1], 2, nine, &[0, 1, 0, 0, 0, 0], &[0, 0, 1, 0, 0, 0]),
        pair(TINY[1], 2, nine, &[0, 1, 0, 1, 0, 0], &[0, 0, 1, 1, 0, 0]),
    ]
}

/// Under both promises, with public numbers of groups and shrinkage among the settings.
///
/// Every noisy cell is clamped to one window, whatever is counted: a function of what is released anyway, so every loss found is one of the
/// mechanism.
fn released(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for Pair { parents, largest, window, here, there } in pairs(effort) {
        let bins = From0::up_to(largest).expect("valid");
        let hierarchy = hierarchy(parents);
        let sizes = |counts: &[i64]| {
            GroupSizes::from_table(bins, counts.to_vec()).expect("a table of groups")
        };
        let [a, b] = [&here, &there].map(|counts| sizes(counts));
        let groups = a.groups_of_regions();
        let asked =
            (groups.len() > 1).then_some((Method::Fitted, LevelShares::AfterQuestion(0.25)));
        let plain = Method::ALL.into_iter().map(|method| (method, LevelShares::Chosen));
        for (method, shares) in plain.chain(asked) {
            let alike = groups.len() > 1 && groups.iter().all(|&count| count == groups[0]);
            let by_itself = matches!(method, Method::Fitted | Method::RootSpread);
            let shrinkage = method.query() == Query::Cumulative && alike && !by_itself;
            for promise in Promise::ALL {
                let (hierarchy, privacy) = (hierarchy.clone(), promise.privacy());
                let region_groups = Some(groups.clone());
                let shares = shares.clone();
                let settings = CensusSettings { region_groups, shrinkage, shares, ..by(method) };
                let plan = Census::new(hierarchy, bins, a.groups(), privacy, settings);
                let plan = plan.expect("valid");
                let law = |sizes: &GroupSizes| {
                    let law = exact_law(window, |source| plan.replay(sizes, source).0);
                    law.under(plan.receipt().relation())
                };
                let share = promise.share_of_laws(&law(&a), &law(&b));
                found.see(share, || format!("{parents:?}, {method:?}: {here:?} and {there:?}"));
            }
        }
    }
    found
}
