//! Tests across the objectives and mechanisms of this module.

mod contract;
mod mechanisms;
mod solvers;

use super::{Coverage, DenseFacilityLocation, FacilityLocation, Oracle, Sampled};
use crate::{Incidence, Sizes};

const ELEMENTS: usize = 4;
const MOST: u32 = 9;

/// One private record for all objectives: a similarity to each of four elements, 0 for not in the set;
/// and a weight.
#[derive(Clone, Debug)]
struct Record {
    similarities: [u16; ELEMENTS],
    weight: u32,
}

impl Record {
    fn sets(&self) -> Vec<u32> {
        (0_u32..).zip(self.similarities).filter(|(_, s)| *s > 0).map(|(i, _)| i).collect()
    }
}

fn incidence(records: &[Record]) -> Incidence {
    let sets: Vec<Vec<u32>> = records.iter().map(Record::sets).collect();
    Incidence::from_slices(4, sets.iter().map(Vec::as_slice)).expect("four sets")
}

fn coverage(records: &[Record]) -> Coverage {
    Coverage::weighted(incidence(records), |user| records[user].weight, MOST).expect("valid")
}

fn facility_location(records: &[Record]) -> FacilityLocation {
    let lists: Vec<Vec<(u32, u32)>> = records
        .iter()
        .map(|record| (0..).zip(record.similarities.map(u32::from)).collect())
        .collect();
    FacilityLocation::new(4, lists.iter().map(Vec::as_slice), MOST).expect("valid")
}

fn dense(records: &[Record]) -> DenseFacilityLocation {
    let table = records.iter().flat_map(|record| record.similarities).collect();
    let table = DenseFacilityLocation::new(ELEMENTS, table, |_| 0, 9).expect("valid");
    table.with_sizes(Sizes::small(2))
}

/// What the best element of a set is worth, as facility location has it.
fn best(record: &Record, set: &[usize]) -> u64 {
    set.iter().map(|&element| record.similarities[element].into()).max().unwrap_or(0)
}

/// Neither monotone nor submodular, larger than declared, and not 0 on the empty set.
fn erratic(record: &Record, set: &[usize]) -> u64 {
    let mixed = set.iter().fold(7_u64, |sum, &element| sum * 31 + element as u64);
    (mixed ^ u64::from(record.weight)).wrapping_mul(2_654_435_761) % 23
}

type Value = fn(&Record, &[usize]) -> u64;

fn oracle(records: &[Record], value: Value) -> Oracle<'_, Record, Value> {
    let oracle = Oracle::new(records, ELEMENTS, MOST.into(), value).expect("valid");
    // So few records take more than one chunk.
    oracle.with_sizes(Sizes::small(2))
}

fn sampled(records: &[Record], value: Value, samples: usize) -> Sampled<'_, Record, Value> {
    use rand::SeedableRng;
    let mut rng = rand::rngs::ChaCha20Rng::seed_from_u64(3);
    Sampled::new(oracle(records, value), samples, &mut rng).expect("valid")
}
