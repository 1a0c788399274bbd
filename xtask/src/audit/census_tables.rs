//! Checks of whole tables of the census: real ones by replayed noise, whole ones by the exact law of what comes out.

use dp_audit::{Comparison, Law, Window, compare, exact_law};
use dp_census::{Census, CensusSettings, From0, GroupSizes, Method, Privacy, Query, RealCensus};
use dp_mechanism::{Mechanism, SecureSource, Source};

use super::census::{TINY, by, epsilon_one, hierarchy, neighbours};
use super::check::{Effort, Found};

/// A promise and what of it has been used up, as a share.
#[derive(Clone, Copy)]
enum Promise {
    Pure,
    Zcdp,
}

impl Promise {
    const BOTH: [Self; 2] = [Self::Pure, Self::Zcdp];
    const RHO: f64 = 0.5;

    fn privacy(self) -> Privacy {
        match self {
            Self::Pure => epsilon_one(),
            Self::Zcdp => Privacy::zcdp(Self::RHO, 1e-9).expect("valid"),
        }
    }

    fn share_of_transcripts(self, comparison: &Comparison) -> f64 {
        match self {
            Self::Pure => comparison.pure_loss(),
            Self::Zcdp => comparison.rho() / Self::RHO,
        }
    }

    fn share_of_laws<O: Ord>(self, a: &Law<O>, b: &Law<O>) -> f64 {
        match self {
            Self::Pure => a.pure_loss(b).max(b.pure_loss(a)),
            Self::Zcdp => a.zcdp(b) / Self::RHO,
        }
    }
}

/// Tables of real numbers on trees of one to three levels, under both promises: the same noise, and floats that depend on nothing else.
pub(super) fn real(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(71);
    let bins = From0::up_to(2).expect("valid");
    for parents in [TINY[0], TINY[1], TINY[3]] {
        let hierarchy = hierarchy(parents);
        let leaves = hierarchy.tree().leaves().len();
        for promise in Promise::BOTH {
            for method in [Method::Cumulative, Method::Counts] {
                neighbours(leaves, bins, 2, 1, |a, b, witness| {
                    let (hierarchy, privacy) = (hierarchy.clone(), promise.privacy());
                    let plan = RealCensus::new(hierarchy, bins, a.groups(), privacy, by(method));
                    let plan = plan.expect("valid");
                    let run =
                        |sizes: &GroupSizes, source: &mut dyn Source| plan.replay(sizes, source).0;
                    let comparison = compare(run, a, b, &mut SecureSource::new(&mut rng));
                    let share = promise.share_of_transcripts(&comparison);
                    found.see(share, || format!("{parents:?}, {method:?} {witness}"));
                });
            }
        }
    }
    found
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

/// The exact law of the table that comes out, consistent and whole, under both promises, with public numbers of groups and shrinkage among
/// the settings.
///
/// Every noisy cell is clamped to one window, whatever is counted: a function of what is released anyway, so every loss found is one of the
/// mechanism.
pub(super) fn released(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for Pair { parents, largest, window, here, there } in pairs(effort) {
        let bins = From0::up_to(largest).expect("valid");
        let hierarchy = hierarchy(parents);
        let sizes = |counts: &[i64]| {
            GroupSizes::from_table(bins, counts.to_vec()).expect("a table of groups")
        };
        let [a, b] = [&here, &there].map(|counts| sizes(counts));
        let groups = a.groups_of_regions();
        for method in Method::ALL {
            let alike = groups.len() > 1 && groups.iter().all(|&count| count == groups[0]);
            let shrinkage = method.query() == Query::Cumulative && alike;
            for promise in Promise::BOTH {
                let (hierarchy, privacy) = (hierarchy.clone(), promise.privacy());
                let region_groups = Some(groups.clone());
                let settings = CensusSettings { region_groups, shrinkage, ..by(method) };
                let plan = Census::new(hierarchy, bins, a.groups(), privacy, settings);
                let plan = plan.expect("valid");
                let law =
                    |sizes: &GroupSizes| exact_law(window, |source| plan.replay(sizes, source).0);
                let share = promise.share_of_laws(&law(&a), &law(&b));
                found.see(share, || format!("{parents:?}, {method:?}: {here:?} and {there:?}"));
            }
        }
    }
    found
}
