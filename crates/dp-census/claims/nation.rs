//! Small hierarchies, all of their tables with all neighbours, and how a release of one is compared with that of another.

use std::num::NonZeroU32;

use dp_audit::{Comparison, Law, Neighbours, compare, multisets};
use dp_census::{
    Bins, CensusError, CensusSettings, GroupSizes, Hierarchy, LevelShares, Method, Privacy, Query,
    TableShape,
};
use dp_mechanism::{Algorithm, ChaCha20Rng, Mechanism, SecureSource, Source, Usage};

pub(crate) const MEMBERS: &str = "member-of-group";

/// Hierarchies small enough to try every table of groups: parents of the regions after the first.
pub(crate) const TINY: [&[u32]; 6] =
    [&[], &[0, 0], &[0, 0, 0], &[0, 0, 1, 1, 2], &[0, 1, 1], &[0, 0, 1, 2, 2, 3, 4, 4, 5]];

pub(crate) fn hierarchy(parents: &[u32]) -> Hierarchy {
    let names: Vec<String> = (0..=parents.len()).map(|region| format!("r{region}")).collect();
    let parent =
        |region: usize| Some(names[*parents.get(region.checked_sub(1)?)? as usize].as_str());
    Hierarchy::new((0..names.len()).map(|r| (names[r].as_str(), parent(r))))
        .expect("a tiny hierarchy")
}

/// Each table of at most `most` groups, with all of its neighbours: one group with up to `quantity` more, and nothing else changed.
pub(crate) fn neighbours<B: Bins>(
    leaves: usize,
    bins: B,
    most: usize,
    quantity: usize,
    mut see: impl FnMut(&GroupSizes<B>, &GroupSizes<B>, &str),
) {
    let columns = bins.count();
    // A group is a leaf and a column; one beyond the last is a size that counts as the last.
    for groups in multisets(leaves * columns, most) {
        let smaller = table(leaves, bins, &groups, 0, 0);
        for group in 0..groups.len() {
            for grown in 1..=quantity {
                let larger = table(leaves, bins, &groups, group, grown);
                let witness = format!(
                    "groups {groups:?} of {columns} sizes, number {group} grown by {grown}"
                );
                see(&smaller, &larger, &witness);
            }
        }
    }
}

fn table<B: Bins>(
    leaves: usize,
    bins: B,
    groups: &[usize],
    grown: usize,
    by: usize,
) -> GroupSizes<B> {
    let columns = bins.count();
    let mut counts = vec![0; leaves * columns];
    for (i, group) in groups.iter().enumerate() {
        let size =
            u64::from(B::SMALLEST) + (group % columns + if i == grown { by } else { 0 }) as u64;
        let column = bins.column(size).expect("groups do not shrink");
        counts[group / columns * columns + column] += 1;
    }
    GroupSizes::from_table(bins, counts).expect("a table of groups")
}

/// The cells of a table and how many groups are in each: a member more or less puts one of them into another cell.
pub(crate) fn cells<B: Bins>(sizes: &GroupSizes<B>) -> Vec<(usize, usize)> {
    let of_cell = |&count: &i64| usize::try_from(count).expect("a table of groups");
    sizes.counts().iter().map(of_cell).enumerate().collect()
}

/// The groups of a table, each as its cell.
pub(crate) fn groups<B: Bins>(sizes: &GroupSizes<B>) -> Vec<usize> {
    cells(sizes).into_iter().flat_map(|(cell, count)| std::iter::repeat_n(cell, count)).collect()
}

pub(crate) fn above_zero(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("above 0")
}

pub(crate) fn by(method: Method) -> CensusSettings {
    CensusSettings { method, ..CensusSettings::default() }
}

/// A promise, and what of it has been used up as a share.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Promise {
    Pure,
    Zcdp,
    Gaussian,
}

impl Promise {
    pub(crate) const ALL: [Self; 3] = [Self::Pure, Self::Zcdp, Self::Gaussian];
    const RHO: f64 = 0.5;

    pub(crate) fn privacy(self) -> Privacy {
        let privacy = match self {
            Self::Pure => Privacy::pure(1.0),
            Self::Zcdp => Privacy::zcdp(Self::RHO, 1e-9),
            Self::Gaussian => Privacy::gaussian((2.0 * Self::RHO).sqrt(), 1e-9),
        };
        privacy.expect("valid")
    }

    pub(crate) fn share_of_transcripts(self, comparison: &Comparison) -> f64 {
        match self {
            Self::Pure => comparison.pure_loss(),
            // A Gaussian `mu` is in this respect what `mu^2 / 2` of zCDP is.
            Self::Zcdp | Self::Gaussian => comparison.rho() / Self::RHO,
        }
    }

    pub(crate) fn share_of_laws<O: Ord>(self, a: &Law<O>, b: &Law<O>) -> f64 {
        match self {
            Self::Pure => a.pure_loss(b).max(b.pure_loss(a)),
            Self::Zcdp | Self::Gaussian => a.zcdp(b) / Self::RHO,
        }
    }
}

/// Every way to make a plan for a table: every method with every kind of shares, with and without public numbers of groups, with and
/// without shrinkage. A new kind of anything does not compile until it is here.
pub(crate) fn every_way(levels: usize, region_groups: &[i64]) -> Vec<CensusSettings> {
    let mut ways = Vec::new();
    let last_gets_half = (0..levels).map(|level| match level {
        0 => 0.5_f64.powi(i32::try_from(levels).expect("few") - 1),
        _ => 0.5_f64.powi(i32::try_from(levels - level).expect("few")),
    });
    let all_shares = [
        LevelShares::Chosen,
        LevelShares::AfterQuestion(0.25),
        LevelShares::Equal,
        LevelShares::RootOfRegions,
        LevelShares::Fixed(last_gets_half.collect()),
    ];
    for method in Method::ALL {
        match method {
            Method::Fitted
            | Method::RootSpread
            | Method::CumulativeTopDown
            | Method::Cumulative
            | Method::CumulativeThenTree
            | Method::Counts
            | Method::TopDown
            | Method::Chain => {}
        }
        for shares in &all_shares {
            match shares {
                LevelShares::Chosen
                | LevelShares::AfterQuestion(_)
                | LevelShares::Equal
                | LevelShares::RootOfRegions
                | LevelShares::Fixed(_) => {}
            }
            for (public, shrinkage) in [(false, false), (true, false), (true, true)] {
                let by_itself = matches!(method, Method::Fitted | Method::RootSpread);
                let none = by_itself || method.query() != Query::Cumulative || levels < 2;
                if shrinkage && none {
                    continue;
                }
                let asks = matches!(shares, LevelShares::AfterQuestion(_));
                let some = region_groups.iter().any(|&groups| groups > 0);
                if asks && !(method == Method::Fitted && public && some && levels > 1) {
                    continue;
                }
                ways.push(CensusSettings {
                    method,
                    shares: shares.clone(),
                    most_quantity: NonZeroU32::MIN,
                    region_groups: public.then(|| region_groups.to_vec()),
                    shrinkage,
                });
            }
        }
    }
    ways
}

/// Replays a release on a neighbour from the check of its shape on, and gives the share of the promise that it uses.
pub(crate) fn share_used<B: Bins, M>(
    plan: &M,
    promise: Promise,
    pair: (&GroupSizes<B>, &GroupSizes<B>),
    rng: &mut ChaCha20Rng,
) -> f64
where
    M: for<'a> Algorithm<Data<'a> = &'a GroupSizes<B>, Shape = TableShape, Error = CensusError>,
    M::Output: PartialEq + serde::Serialize,
{
    share_shown(plan, promise, pair, rng, |output| output)
}

/// Whether every level was drawn; after a question, every one of the way that was gone, and none of the others.
fn is_reached(usage: &Usage) -> bool {
    let way = |path: &str| {
        let mut steps = path.split(" / ").skip_while(|&step| step != "ways");
        steps.nth(1).map(str::to_owned)
    };
    let gone: Vec<String> = (usage.leaves.iter().filter(|(_, uses)| *uses > 0))
        .filter_map(|(path, _)| way(path))
        .collect();
    usage.leaves.iter().all(|(path, uses)| match way(path) {
        Some(way) => gone.contains(&way) == (*uses > 0),
        None => *uses > 0,
    }) && gone.windows(2).all(|two| two[0] == two[1])
}

/// The same for what somebody is shown of the output. Neighbours must be refused alike, and a level of the receipt that was not drawn is
/// a plan that nothing has been shown about.
pub(crate) fn share_shown<B: Bins, M, O: PartialEq + serde::Serialize>(
    plan: &M,
    promise: Promise,
    (a, b): (&GroupSizes<B>, &GroupSizes<B>),
    rng: &mut ChaCha20Rng,
    show: impl Fn(M::Output) -> O,
) -> f64
where
    M: for<'a> Algorithm<Data<'a> = &'a GroupSizes<B>, Shape = TableShape, Error = CensusError>,
{
    let [of_a, of_b] = [a, b].map(|sizes| plan.check(&sizes.shape()));
    if of_a.is_err() || of_b.is_err() {
        return if of_a == of_b { 0.0 } else { f64::INFINITY };
    }
    let run = |sizes: &GroupSizes<B>, source: &mut dyn Source| {
        let (output, usage) = plan.replay(sizes, source);
        assert!(is_reached(&usage), "a level without noise: {usage:?}");
        show(output)
    };
    promise.share_of_transcripts(&compare(
        &Neighbours::of_counts(plan.receipt().relation(), cells),
        run,
        a,
        b,
        &mut SecureSource::new(rng),
    ))
}
