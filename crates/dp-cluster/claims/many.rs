//! What is not in the list of settings, on many records: nothing counts otherwise because it comes late.

use dp_accounting::{AddRemove, Budget, Relation, ReplaceOne, Within};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Comparison, Method, Neighbours, compare};
use dp_cluster::distance::{
    NearbyKMeans, NoisedPoints, RegionCoreset, RegionCoresetSettings, RegionRule, SoftRecentred,
    Way,
};
use dp_cluster::local_search::Objective;
use dp_cluster::map::PrivateMap;
use dp_cluster::private_centres::Payment;
use dp_cluster::{ClusterError, Points};
use dp_mechanism::{Mechanism, Nearby, SecureSource, Source};
use serde::Serialize;

use crate::map::{domain, of_levels};
use crate::neighbours::{MANY, many_records, records};
use crate::private_centres::{centres, search, stemmer_kaplan};

pub(crate) fn checks() -> Vec<Check> {
    let check = |id: &str, mechanism: &str, relation: &str, run: fn(Effort) -> Found| {
        Check::new(id, mechanism, relation, Method::Exact, run)
    };
    vec![
        check("many-added", "PrivateMap, CountedMap, a late record", "add-remove", maps),
        check("many-candidates", "PrivateCentres, a late record", "add-remove", candidates),
        check("many-farthest", "StemmerKaplan, a late record", "add-remove", farthest),
        check("many-searched", "PrivateLocalSearch, a late record", "add-remove", searches),
        check("many-replaced", "PrivateMap, a late record", "replace-one", replaced),
        check("many-moved", "PrivateMap, NoisedPoints, a late record", "within", moved),
        check("many-regions", "RegionCoreset, a late record", "within", regions),
        check("many-clustered", "SoftRecentred, NearbyKMeans, a late record", "within", clustered),
    ]
}

const DIM: usize = 2;

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-3).expect("valid")
}

/// Both directions of a pair, as shares of what the receipt says beside the mass.
struct Late<'a> {
    effort: Effort,
    found: Found,
    pair: [&'a Points; 2],
}

impl<'a> Late<'a> {
    fn new(effort: Effort, pair: &'a [Points; 2]) -> Self {
        Self { effort, found: Found::claim(1.0), pair: [&pair[0], &pair[1]] }
    }

    fn see<M>(&mut self, name: &str, plan: Result<M, ClusterError>)
    where
        M: for<'p> Mechanism<Data<'p> = dp_cluster::PointsView<'p>, Output: PartialEq + Serialize>
            + Sync,
        M::Relation: Relation,
    {
        let plan = plan.unwrap_or_else(|error| panic!("{name}: {error}"));
        let receipt = plan.receipt();
        let (claimed, _) = receipt.zcdp_outside().expect("all steps are zCDP beside a mass");
        let run = |points: &Points, source: &mut dyn Source| plan.replay(points.view(), source).0;
        self.compare(name, receipt.relation(), claimed.get(), run);
    }

    fn compare<O: PartialEq + Serialize>(
        &mut self,
        name: &str,
        relation: impl Relation,
        claimed: f64,
        run: impl Fn(&Points, &mut dyn Source) -> O + Sync,
    ) {
        let [without, with] = self.pair;
        // In pieces, and in one piece that the late record is at the end of; with other draws, which may put it elsewhere.
        let runs = [(2, without, with, 150), (1, with, without, 151), (2, without, with, 152)];
        for (threads, a, b, seed) in runs {
            let mut rng = self.effort.rng(seed);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let seen: Comparison = pool.expect("threads").install(|| {
                let neighbours = Neighbours::of_records(relation, records);
                compare(&neighbours, &run, a, b, &mut SecureSource::new(&mut rng))
            });
            let text = || format!("{name}: {seen:?}").chars().take(400).collect();
            self.found.see(seen.rho() / claimed, text);
        }
    }
}

fn maps(effort: Effort) -> Found {
    let pair = many_records(|x| x);
    let mut late = Late::new(effort, &pair);
    let plan = PrivateMap::add_remove(domain(DIM, 0), budget(1.0), of_levels(1..=3));
    late.see("PrivateMap", plan.clone());
    let plan = plan.expect("valid");
    let counted = plan.clone().counted();
    let claimed = counted.receipt().zcdp().expect("Gaussian").get();
    late.compare("CountedMap", AddRemove, claimed, |points, source| {
        // A part with few records, and all others.
        let (few, others) = points.view().coords().split_at(DIM * 9);
        let [mut counts, others] = [few, others].map(|coords| {
            let part = Points::new(coords.to_vec(), DIM).expect("whole rows");
            plan.count(part.view()).expect("the same dimension")
        });
        counts.merge(&others).expect("the same plan");
        counted.replay(&counts, source).0
    });
    late.found
}

/// Places are few and far apart, so that no cell is new.
fn candidates(effort: Effort) -> Found {
    let pair = many_records(|x| x);
    let mut late = Late::new(effort, &pair);
    for payment in [Payment::AllRecords, Payment::Subsamples] {
        late.see(&format!("{payment:?}"), Ok(centres(DIM, 8.0, 1e-3, payment)));
    }
    late.found
}

fn farthest(effort: Effort) -> Found {
    let pair = many_records(|x| if x < 0.0 { -9.0 } else { 9.0 });
    let mut late = Late::new(effort, &pair);
    late.see("two crowds", Ok(stemmer_kaplan(DIM, MANY / 2 - 900)));
    late.found
}

/// The late record is where a candidate costs it nothing, and another one as much as can be.
fn searches(effort: Effort) -> Found {
    let [without, _] = many_records(|x| x);
    let with = [without.view().coords(), &[-10.0; DIM]].concat();
    let pair = [without, Points::new(with, DIM).expect("whole rows")];
    let mut late = Late::new(effort, &pair);
    for objective in [Objective::KMeans, Objective::KMedian] {
        for k in [1, 2] {
            late.see(&format!("{objective:?}, {k}"), Ok(search(DIM, k, budget(0.5), objective)));
        }
    }
    late.found
}

/// All records, of which the last is at one of two places.
fn other_place(places: [Vec<f64>; 2]) -> [Points; 2] {
    let [without, _] = many_records(|x| x);
    let others = without.into_coords();
    places.map(|place| Points::new([others.as_slice(), &place].concat(), DIM).expect("whole rows"))
}

/// From one place to another one so far away.
fn a_move(rho: f64) -> [Vec<f64>; 2] {
    [vec![1.0; DIM], vec![1.0 + rho * (1.0 - 1e-9) / (DIM as f64).sqrt(); DIM]]
}

const RHO: f64 = 1.0;

fn many() -> u64 {
    MANY as u64
}

fn replaced(effort: Effort) -> Found {
    let pair = other_place([vec![-10.0; DIM], vec![5.0; DIM]]);
    let mut late = Late::new(effort, &pair);
    let plan = PrivateMap::<ReplaceOne>::replace_one;
    late.see("PrivateMap", plan(domain(DIM, 0), many(), budget(1.0), of_levels(1..=3)));
    late.found
}

fn moved(effort: Effort) -> Found {
    let pair = other_place(a_move(RHO));
    let mut late = Late::new(effort, &pair);
    let near = Nearby::new(RHO).expect("above 0");
    let plan = PrivateMap::<Within>::within;
    late.see("PrivateMap", plan(domain(DIM, 0), near, many(), budget(1.0), of_levels(1..=3)));
    late.see("NoisedPoints", NoisedPoints::new(domain(DIM, 0), near, many(), budget(1.0)));
    late.found
}

/// Crowds at both ends of the move.
fn regions(effort: Effort) -> Found {
    let ends = a_move(RHO);
    let crowd: Vec<f64> = (1..MANY).flat_map(|i| ends[i % 2].clone()).collect();
    let pair = [0, 1].map(|end: usize| {
        Points::new([crowd.as_slice(), &ends[end]].concat(), DIM).expect("whole rows")
    });
    let mut late = Late::new(effort, &pair);
    let near = Nearby::new(RHO).expect("above 0");
    for rule in [RegionRule::NoisedPoint, RegionRule::TruePoint] {
        let settings = RegionCoresetSettings {
            rule,
            repetitions: 1,
            coarse_level: Some(6),
            finest_level: Some(7),
            far: Some(1.0),
            least_cell: Some(3_000),
            ..Default::default()
        };
        let plan = RegionCoreset::new(domain(DIM, 0), near, many(), 1, budget(2.0), settings);
        late.see::<RegionCoreset>(&format!("{rule:?}"), plan);
    }
    late.found
}

fn clustered(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut ways = Vec::new();
    for (dim, rho) in [(2, 100.0), (4, 1e-3), (4, 100.0)] {
        let place = |i: usize| if (i / dim).is_multiple_of(2) { -4.0 } else { 4.0 };
        let others: Vec<f64> = (0..(MANY - 1) * dim).map(place).collect();
        // Along one axis by a little, or from one cluster to the other.
        let pair = [0.0, 1.0].map(|moved| {
            let last: Vec<f64> = if rho < 16.0 {
                (0..dim)
                    .map(|i| if i == 0 { 1.0 + moved * rho * (1.0 - 1e-9) } else { 1.0 })
                    .collect()
            } else {
                vec![8.0 * moved - 4.0; dim]
            };
            Points::new([others.as_slice(), &last].concat(), dim).expect("whole rows")
        });
        let mut late = Late::new(effort, &pair);
        let near = Nearby::new(rho).expect("above 0");
        let plan = NearbyKMeans::new(domain(dim, 0), near, many(), 2, budget(1.0), 1);
        ways.extend(plan.as_ref().map(NearbyKMeans::way));
        late.see(&format!("NearbyKMeans, {dim} dimensions, {rho}"), plan);
        let plan = SoftRecentred::new(domain(dim, 0), near, many(), 2, budget(1.0), 1);
        late.see(&format!("SoftRecentred, {dim} dimensions, {rho}"), plan);
        found = found.and(late.found);
    }
    for way in [Way::Map, Way::Soft, Way::Whole] {
        if !ways.contains(&way) {
            found.see(f64::INFINITY, || format!("{way:?} was never chosen"));
        }
    }
    found
}
