//! The public settings, and the choices that follow from them.

use dp_accounting::{Budget, Mu};
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::PrivateKMeans;
use super::even::Even;
use super::way::Way;
use crate::ClusterError;
use crate::kmeans::KMeans;
use crate::map::MANY as MANY_ON_A_MAP;
use crate::private_box::{BoxSearch, Surely};
use crate::rings::{RingRoundsSettings, usual_count_weight};
use crate::total_rho::total_mu;

/// What finds about where the clusters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Ring rounds: any number of dimensions, any box. See [`rings`](crate::rings).
    Rings,
    /// A private map: few dimensions, a box that fits. See [`map`](crate::map).
    Map,
    /// Nothing: centres that share out evenly the public box, or a part of it that all records together are seen in, and nearly all of the budget for rounds
    /// that move them. At most 512 clusters, whose number is given. By default, where so few records are counted that noise hides every cluster; asked
    /// for, without a count, for about as many records as expected.
    Even,
}

/// Settings of [`PrivateKMeans`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrivateKMeansSettings {
    /// Whether `k` is only the most clusters there may be, and the plan finds how many there are. See the
    /// [module](super#how-many-clusters) for what counts as one. Default: no.
    pub finds_k: bool,
    /// About how many records there are, if that is public. The forecast is for so many. How the budget is used does not depend on it, as a plan counts
    /// them, but for [`Start::Even`].
    pub expected_records: Option<u64>,
    /// How to start. Default: by the number of dimensions, of clusters and of counted records. A map takes 16,384 clusters at most, even centres 512.
    pub start: Option<Start>,
    /// Decides hyperplanes and the random choices of k-means on what has been released. It hides nothing and may be published. It
    /// must not be chosen by looking at the data. Default: 0.
    pub public_seed: u64,
}

pub(super) type Asked = crate::asked::Asked<PrivateKMeansSettings>;

/// What the choice of radii gets of what re-centring may spend.
const RADII: f64 = 0.05;
/// Or, if that is more and as far as the records are known to be few, what makes the noise in a step of a search among few radii this
/// share of them,
const RADIUS_NOISE: f64 = 0.05;
/// but no more than this.
const MOST_RADII: f64 = 0.15;

/// What a way has decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choices {
    pub(super) start: Start,
    /// What the start gets, of the square of `mu`.
    pub(super) share: f64,
    /// What radii get of what re-centring may spend.
    pub(super) radii: f64,
    /// Of ring rounds, and of re-centring. After a map, ring rounds make a second start, if there are any.
    pub(super) rounds: [usize; 2],
    /// What a ring round gets over what the one before gets, in squares of `mu`.
    pub(super) growth: f64,
    /// What a record adds to a count of a ring round, if not the usual.
    pub(super) count_weight: Option<f64>,
    /// What the search for a box gets, of the square of `mu`.
    pub(super) search: f64,
    /// Whether ring rounds of one centre take its place,
    pub(super) together: bool,
    /// and, if not, how sure it has to be.
    pub(super) surely: Surely,
    /// A box found is used if it has at most this share of the width of the public one.
    pub(super) widest: f64,
}

impl PrivateKMeans {
    /// For points in this public box, to be put in `k` clusters within this budget.
    ///
    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        public_box: PublicBox,
        k: usize,
        budget: Budget,
        settings: PrivateKMeansSettings,
    ) -> Result<Self, ClusterError> {
        let asked = Asked { public_box, k, budget, settings };
        if !(1..=KMeans::MAX_CLUSTERS).contains(&asked.k) {
            return Err(ClusterError::ClusterCount { got: asked.k });
        }
        if asked.settings.start == Some(Start::Map) && asked.k > MOST_ON_A_MAP {
            let (name, got) = ("clusters on a map", asked.k as f64);
            return Err(ClusterError::Setting { name, got, want: "at most 16384" });
        }
        let PrivateKMeansSettings { expected_records, finds_k, .. } = asked.settings;
        if asked.settings.start == Some(Start::Even) {
            let refuse = |name, got, want| Err(ClusterError::Setting { name, got, want });
            if asked.k > Even::MOST {
                return refuse("clusters of an even start", asked.k as f64, "at most 512");
            }
            if finds_k {
                return refuse("finds_k of an even start", 1.0, "left out: it finds no clusters");
            }
            if expected_records.is_none() {
                return refuse("expected_records of an even start", f64::NAN, "given");
            }
        }
        let whole = total_mu(asked.budget)?;
        let (count, ways) = match asked.settings.start {
            Some(Start::Even) => {
                (None, vec![Way::new(&asked, whole, expected_records, Some(Start::Even))?])
            }
            Some(Start::Rings | Start::Map) | None => asked.counted_ways(whole)?,
        };
        Ok(Self { asked, whole, count, ways })
    }
}

impl Asked {
    /// Length of a typical cluster's sum in standard deviations of the noise of the whole budget.
    pub(super) fn signal(&self, whole: Mu) -> Option<f64> {
        self.settings.expected_records.map(|records| self.signal_of(records, whole))
    }

    pub(super) fn signal_of(&self, records: u64, whole: Mu) -> f64 {
        let (k, dim) = (self.k as f64, self.public_box.dim() as f64);
        records as f64 * whole.get() / (k * dim.sqrt())
    }

    /// For as many records as are expected.
    pub(super) fn usual_choices(&self, whole: Mu) -> Choices {
        let PrivateKMeansSettings { expected_records, start, .. } = self.settings;
        self.choices(whole, expected_records, start)
    }

    /// For about so many records, with this start if one is asked for.
    pub(super) fn choices(&self, whole: Mu, records: Option<u64>, start: Option<Start>) -> Choices {
        let (dim, k) = (self.public_box.dim(), self.k);
        let signal = records.map_or(USUAL_SIGNAL, |records| self.signal_of(records, whole));
        let maps_well = match dim {
            _ if !(VERY_FEW_CLUSTERS + 1..=MOST_ON_A_MAP).contains(&k) => false,
            1 | 2 => true,
            3 => signal < WEAK_SIGNAL,
            _ => false,
        };
        let start = start.unwrap_or(if maps_well { Start::Map } else { Start::Rings });
        let is_cut = dim >= CUT_BY_PLANES && k > VERY_FEW_CLUSTERS;
        let hard_to_tell = k >= MANY_CLUSTERS || is_cut || signal >= CLEAR_SIGNAL;
        let is_long = dim >= LONG_SUMS && k > VERY_FEW_CLUSTERS && signal < WEAK_SIGNAL;
        let is_counted = signal * (dim as f64).sqrt() >= SEEN_COUNT;
        let ring_rounds = 2 + usize::from(hard_to_tell);
        let (share, rounds) = match start {
            Start::Map => match self.rounds_after_map(signal) {
                0 => (0.6, [0, 2]),
                rounds => (0.7, [rounds, 2]),
            },
            Start::Even => (0.0, [0, EVEN_ROUNDS]),
            Start::Rings if is_long && k >= SOME_CLUSTERS => {
                if is_counted {
                    (0.55, [5, LONG_ROUNDS])
                } else {
                    (0.65, [4, LONG_ROUNDS])
                }
            }
            // A fifth round of rings loses small ones of few clusters.
            Start::Rings if is_long && is_counted => {
                (if k <= FEW_CLUSTERS { 0.45 } else { 0.55 }, [4, FAINT_ROUNDS])
            }
            Start::Rings if signal >= STRONG_SIGNAL => (0.7, [ring_rounds, CLEAR_ROUNDS]),
            Start::Rings if signal >= CLEAR_SIGNAL => (0.6, [ring_rounds, CLEAR_ROUNDS]),
            Start::Rings if k >= SOME_CLUSTERS => (0.6, [4, FAINT_ROUNDS]),
            Start::Rings => (0.5, [ring_rounds, FAINT_ROUNDS]),
        };
        let OfSearch { least, most, widest } = OfSearch::new(start);
        let (search, surely) = match records.map(|n| n as f64) {
            None => (least, Surely::WELL),
            Some(n) => match BoxSearch::share_to_be_sure(n, whole) {
                // More than the least, where that makes it sure, and a box that was not found would spoil all.
                sure if sure <= MOST_FOR_SEARCH => (sure.clamp(least, most), Surely::WELL),
                _ => {
                    let share = BoxSearch::share_for_noise(SEARCH_NOISE * n, whole);
                    (share.clamp(least, most), Surely::ROUGHLY)
                }
            },
        };
        let seen = records.map_or(0.0, |n| n as f64 * whole.get());
        let together = match start {
            Start::Even => seen >= SEEN_TOGETHER,
            Start::Map => (SEEN_TOGETHER..SEEN_BY_SEARCH).contains(&seen),
            Start::Rings => false,
        };
        let search = if together {
            (SEEN_TOGETHER / seen).powi(2).clamp(TOGETHER[0], TOGETHER[1])
        } else {
            search
        };
        let radii = records.map_or(RADII, |n| {
            let noise = RADIUS_NOISE * n as f64 * whole.get();
            let draws = 3.0 * rounds[1] as f64 / (1.0 - share - search);
            (draws / (noise * noise)).clamp(RADII, MOST_RADII)
        });
        let is_weighed = is_long && (is_counted || k >= SOME_CLUSTERS);
        let count_weight = if signal >= STRONG_SIGNAL {
            Some(STRONG_COUNT_WEIGHT * usual_count_weight(dim))
        } else {
            is_weighed.then_some(LONG_COUNT_WEIGHT)
        };
        let growth = if signal >= CLEAR_SIGNAL { CLEAR_GROWTH } else { FAINT_GROWTH };
        Choices {
            start,
            share,
            radii,
            rounds,
            growth,
            count_weight,
            search,
            together,
            surely,
            widest,
        }
    }
}

impl Asked {
    /// Ring rounds that make a second start after a map. On a line a map is fine enough; where the signal is not clear, both starts would be worse.
    fn rounds_after_map(&self, signal: f64) -> usize {
        let is_one = self.public_box.dim() == 1 || self.settings.finds_k;
        match signal {
            _ if is_one => 0,
            ..CLEAR_SIGNAL => 0,
            CLEAR_SIGNAL..STRONG_SIGNAL => 1,
            _ => 3,
        }
    }
}

impl Choices {
    pub(super) fn ring_rounds(&self, public_seed: u64) -> RingRoundsSettings {
        let Self { rounds: [rounds, _], growth, count_weight, .. } = *self;
        RingRoundsSettings { rounds, growth, count_weight, public_seed, ..Default::default() }
    }

    /// Whether those for more records than so many are the same.
    pub(super) fn are_settled(&self, asked: &Asked, records: u64, whole: Mu) -> bool {
        self.search <= OfSearch::new(self.start).least
            && self.radii <= RADII
            && asked.signal_of(records, whole) >= STRONG_SIGNAL
            && records > MANY_ON_A_MAP
    }
}

/// What a search for a box may get, of the square of `mu`, and the widest box that is worth having.
struct OfSearch {
    least: f64,
    most: f64,
    widest: f64,
}

impl OfSearch {
    fn new(start: Start) -> Self {
        match start {
            // Rings go on beyond it, and see what is ten times smaller than the public one, but of few records not if it is in a corner.
            Start::Rings => Self { least: 0.02, most: 0.12, widest: 0.5 },
            // A map loses more.
            Start::Map => Self { least: 0.04, most: 0.15, widest: 0.7 },
            // Nothing would be found.
            Start::Even => Self { least: 0.0, most: 0.0, widest: 0.0 },
        }
    }
}

/// Below this, even centres that rounds move with all of the budget are closer than what a start finds.
pub(super) const HIDING_SIGNAL: f64 = 3.0;
/// Before even centres, and before a map, ring rounds of one centre see where all records together are, if these are so many deviations of what the whole budget would put on a count;
const SEEN_TOGETHER: f64 = 12.0;
/// with what makes noise in a count that part of them, but between these shares.
const TOGETHER: [f64; 2] = [0.1, 0.25];
/// From so many on, a search for a box sees as well where a map should be finer.
pub(super) const SEEN_BY_SEARCH: f64 = 100.0;
/// Rounds of re-centring after rings. One halves how far a centre is off, more or less, where noise is long, and does all that can be done where it is short.
const CLEAR_ROUNDS: usize = 3;
const FAINT_ROUNDS: usize = 6;
const LONG_ROUNDS: usize = 8;
/// Rounds that move even centres: with six they lose 3 % more, with sixteen as much.
const EVEN_ROUNDS: usize = 10;
/// If the number of records is not known.
const USUAL_SIGNAL: f64 = 25.0;
/// From here on re-centring has more than it needs, and small clusters are what can still be won: by rings that count more closely than usual.
pub(super) const STRONG_SIGNAL: f64 = 100.0;
const STRONG_COUNT_WEIGHT: f64 = 1.2;
/// In a search for a box among few records, noise in a count is this share of all of them, or more where that would cost too much: measured.
const SEARCH_NOISE: f64 = 0.024;
/// A search that is to be sure of a box gets at most this.
pub(super) const MOST_FOR_SEARCH: f64 = 0.08;
/// A start that misses one of so many clusters loses more than noise does in the rounds after it, where the signal is not clear.
const SOME_CLUSTERS: usize = 16;
/// So few are seen with less, and noise in the rounds is what costs most.
const FEW_CLUSTERS: usize = 8;
/// Below this, rings are likely to miss some.
pub(super) const HOPELESS_SIGNAL: f64 = 5.0;
/// Below this, rings see no group small enough to be a cluster, where a map still sees how dense which part of the box is.
pub(super) const WEAK_SIGNAL: f64 = 12.0;
/// Of so few, rings see each as long as anything does, and noise all over a map outweighs them.
const VERY_FEW_CLUSTERS: usize = 2;
/// The search on a map takes time that grows with the square of their number: 5 to 20 seconds for so many, where rings, which never find
/// more groups than they have cells with records, take one.
const MOST_ON_A_MAP: usize = 1 << 14;
/// From so many on, two ring rounds do not tell them apart,
const MANY_CLUSTERS: usize = 20;
/// nor fewer of them, where planes cut clusters of so many dimensions.
const CUT_BY_PLANES: usize = 4;
/// From here on a round more costs little. Without it, the mean of what is far from the first centre stays short of where its records are, and a heavy
/// cluster takes two centres.
pub(super) const CLEAR_SIGNAL: f64 = 30.0;
/// The first ring round only has to see what is large, and the last sees what is there: each gets so many times the budget of the one before, where the signal is clear
const CLEAR_GROWTH: f64 = 1.5;
/// or not: clusters that the first round does not see cost more there.
const FAINT_GROWTH: f64 = 1.2;
/// In so many dimensions weak sums are so long that rounds hardly halve how far centres are off, and more of them do more than the noise that they add
/// to all,
const LONG_SUMS: usize = 24;
/// as long as a typical cluster has so many records, in deviations of what the whole budget would put on a count: with fewer, and in fewer dimensions, a fifth
/// round of rings was found to lose clusters, whose counts have more noise then;
const SEEN_COUNT: f64 = 30.0;
/// and so these weigh more than usual.
const LONG_COUNT_WEIGHT: f64 = 0.8;
