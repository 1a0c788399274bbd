//! What some of the records add to a map: counted where they are, added up, and released once.

use std::fmt;

use dp_accounting::Receipt;
use dp_geometry::PointsView;
use dp_mechanism::{Algorithm, Draws, Private};

use super::mechanism::PrivateMap;
use super::relation::MapRelation;
use super::released::ReleasedMap;
use crate::ClusterError;

/// The sums of some of the records, for one plan; made by [`PrivateMap::count`].
///
/// A file of records may be counted in parts, in any order and on several machines: merged counts are those of all records, and
/// [`CountedMap`] makes the same release of them, byte by byte. Merging is associative and commutative, and counts of no records change nothing.
///
/// **Nothing here is private yet.** Counts and their bytes are as confidential as the records.
///
/// # Complexity
/// 8 bytes per vertex, whatever the number of records.
#[derive(Clone, PartialEq, Eq)]
pub struct MapCounts {
    plan: u64,
    records: u64,
    sums: Vec<i64>,
}

/// Neighbours print the same.
impl fmt::Debug for MapCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapCounts").field("sums", &self.sums.len()).finish_non_exhaustive()
    }
}

/// The first bytes: what they are, and in which version.
const MAGIC: &[u8; 8] = b"qmapcnt1";

/// Bytes before the sums, and the checksum after them.
const HEAD: usize = 24;
const TAIL: usize = 8;

impl MapCounts {
    /// Adds the counts of other records.
    ///
    /// # Errors
    /// [`ClusterError::OtherPlan`] if they were counted for another plan. Nothing has changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), ClusterError> {
        if self.plan != other.plan || self.sums.len() != other.sums.len() {
            return Err(ClusterError::OtherPlan);
        }
        // No sum is negative, so it does not matter in which order they stop at the end of the range.
        self.records = self.records.saturating_add(other.records);
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.saturating_add(*other);
        }
        Ok(())
    }

    /// A version, the plan's hash, the number of records, all sums, and a checksum: little endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + 8 * self.sums.len() + TAIL);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.plan.to_le_bytes());
        bytes.extend_from_slice(&self.records.to_le_bytes());
        self.sums.iter().for_each(|sum| bytes.extend_from_slice(&sum.to_le_bytes()));
        bytes.extend_from_slice(&hash(&bytes).to_le_bytes());
        bytes
    }

    /// Counts from their bytes.
    ///
    /// # Errors
    /// [`ClusterError::Damaged`] if these are no counts, or another version, or not whole.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ClusterError> {
        let numbers = bytes.strip_prefix(MAGIC).ok_or(ClusterError::Damaged)?;
        let (numbers, rest) = numbers.as_chunks::<8>();
        let [plan, records, sums @ .., sum] = numbers else { return Err(ClusterError::Damaged) };
        if !rest.is_empty() || u64::from_le_bytes(*sum) != hash(&bytes[..bytes.len() - TAIL]) {
            return Err(ClusterError::Damaged);
        }
        let sums: Vec<i64> = sums.iter().map(|sum| i64::from_le_bytes(*sum)).collect();
        if sums.iter().any(|sum| *sum < 0) {
            return Err(ClusterError::Damaged);
        }
        let [plan, records] = [plan, records].map(|number| u64::from_le_bytes(*number));
        Ok(Self { plan, records, sums })
    }
}

/// 64-bit FNV-1a: finds damage and mistakes, and does not stop a forger.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let next = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, next)
}

impl<R: MapRelation> PrivateMap<R> {
    /// What these records add to the map; `CountedMap` releases it.
    ///
    /// # Errors
    /// [`ClusterError::Dimension`].
    pub fn count(&self, points: PointsView<'_>) -> Result<MapCounts, ClusterError> {
        ClusterError::unless_equal(self.grid.dim(), points.dim())?;
        let (plan, sums) = (self.hash(), self.vertices_asked().sums(points));
        Ok(MapCounts { plan, records: points.len() as u64, sums })
    }

    /// The same map for records that have been counted.
    pub fn counted(self) -> CountedMap<R> {
        CountedMap { map: self }
    }

    /// Of everything that decides what is counted and what noise it gets.
    pub(super) fn hash(&self) -> u64 {
        let asked = &self.asked;
        let public_box = &asked.public_box;
        let mut bytes = asked.relation.name().as_bytes().to_vec();
        let mut number = |bits: u64| bytes.extend_from_slice(&bits.to_le_bytes());
        number(asked.relation.distance().map_or(0, f64::to_bits));
        for i in 0..public_box.dim() {
            number(public_box.min(i).to_bits());
            number(public_box.max(i).to_bits());
        }
        number(asked.budget.epsilon().get().to_bits());
        number(asked.budget.delta().get().to_bits());
        number(asked.settings.spend.map_or(0, |mu| mu.get().to_bits()));
        number(asked.records().map_or(u64::MAX, |records| records));
        self.levels.iter().for_each(|level| number(level.cloud.level().into()));
        hash(&bytes)
    }
}

/// A [`PrivateMap`] of records that were counted before. See [`MapCounts`].
///
/// # Guarantee
/// That of the map, of which this is the one code path, for all the records that were counted: each once.
///
/// # Example
/// ```
/// use dp_cluster::map::{MapCounts, PrivateMap, PrivateMapSettings};
/// use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
///
/// let plan = PrivateMap::add_remove(PublicBox::cube(1, 0.0, 9.0)?, Budget::new(1.0, 1e-6)?, PrivateMapSettings::default())?;
/// let parts = [vec![1.0, 2.0, 2.5], vec![7.0, 7.1]];
/// let mut all = plan.count(Points::new(vec![], 1)?.view())?;
/// for part in parts {
///     let bytes = plan.count(Points::new(part, 1)?.view())?.to_bytes(); // as confidential as the records
///     all.merge(&MapCounts::from_bytes(&bytes)?)?;
/// }
/// let map = plan.counted().release(&all, &mut chacha_from_os()?)?.output;
/// println!("about {:.0} records", map.total());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CountedMap<R: MapRelation> {
    map: PrivateMap<R>,
}

/// What is public of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountsShape {
    /// The hash of the plan that they were made for.
    plan: u64,
    vertices: usize,
    /// How many records there are, where that is public.
    records: Option<u64>,
}

impl<R: MapRelation> Algorithm for CountedMap<R> {
    type Relation = R;
    type Data<'a> = &'a MapCounts;
    type Shape = CountsShape;
    type Output = ReleasedMap;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<R> {
        self.map.cost()
    }

    fn shape(counts: &&MapCounts) -> CountsShape {
        let records = R::PUBLIC_SIZE.then_some(counts.records);
        CountsShape { plan: counts.plan, vertices: counts.sums.len(), records }
    }

    /// # Errors
    /// [`ClusterError::OtherPlan`]; [`ClusterError::Records`] if their number is public and another one.
    fn check(&self, shape: &CountsShape) -> Result<(), ClusterError> {
        if (shape.plan, shape.vertices) != (self.map.hash(), self.map.vertices()) {
            return Err(ClusterError::OtherPlan);
        }
        match (shape.records, self.map.asked.records) {
            (Some(got), Some(expected)) if got != expected => {
                Err(ClusterError::Records { expected, got })
            }
            _ => Ok(()),
        }
    }

    fn run(&self, counts: Private<&MapCounts>, draws: &mut Draws<'_>) -> ReleasedMap {
        let sums = counts.map(|counts| counts.sums.clone()).cells(self.map.vertices());
        self.map.release_sums(&sums, counts.map(|counts| counts.records), draws)
    }
}
