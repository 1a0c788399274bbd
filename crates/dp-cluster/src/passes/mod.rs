//! Releases by passes: what some plans ask of all records, so that these may be anywhere.
//!
//! [`PrivateKMeans`](crate::private_kmeans::PrivateKMeans) with its parts [`PrivateBox`](crate::private_box::PrivateBox) and
//! [`RingRounds`](crate::rings::RingRounds), [`Dpm`](crate::dpm::Dpm), [`DpmRecentred`](crate::recentring::DpmRecentred),
//! [`LshSplits`](crate::lsh_splits::LshSplits) and [`PrivateMap`](crate::map::PrivateMap) are [`ByPasses`]. [`Passes`] asks their questions one after the other; every answer is a [`Table`] of integers, merged from tables of parts
//! of the records in any order. The release is that of [`Mechanism::release`](crate::Mechanism) on all records in memory, byte by byte.
//!
//! ```
//! use dp_cluster::passes::Passes;
//! use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
//! use dp_cluster::{Budget, Points, PublicBox, chacha_from_os};
//!
//! let public_box = PublicBox::cube(2, -10.0, 10.0)?;
//! let plan = PrivateKMeans::new(public_box, 2, Budget::new(1.0, 1e-6)?, PrivateKMeansSettings::default())?;
//! let parts = [vec![-5.0, 0.0, -5.0, 0.1], vec![5.0, 0.0]]; // files, say
//! let mut passes = Passes::new(plan)?;
//! let (mut rng, mut release) = (chacha_from_os()?, None);
//! while release.is_none() {
//!     let mut tally = passes.asked().tally()?;
//!     for part in &parts {
//!         tally.add(Points::new(part.clone(), 2)?.view())?;
//!     }
//!     release = passes.answer(tally.table(), &mut rng)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # SQL
//! [`sql()`] writes what an engine counts that does not run our code: levels and leaves of DPM, and maps. Rounds and the search for a box have none.
//!
//! # Complexity
//! | plan | passes | bytes of a table, whatever the number of records |
//! |---|---|---|
//! | `Dpm` | one per level, and one: 8 by default | `8 nodes d bins` for a level, at most 32 MiB, else the level takes more passes; `8 d` per leaf |
//! | `DpmRecentred` | the same levels, two per round: 19 by default | and 1,296 for a radius, `8 k (d + 2)` for sums |
//! | `PrivateKMeans` | seven for a box, two per ring round or one for a map, with up to seven for a second start after it, two per round: 27 at most, in 24 dimensions and more 33 | 768 for a box, `176 * 2^b` per centre for rings with `b` at most 10, up to 3.2 times that where the box found is far narrower than the public one (128 MiB in all), and those of rounds and maps |
//! | `LshSplits` | two | `8 * 2^depth`, at most 8 MiB; `8 (d + 1)` per leaf |
//! | `PrivateMap` | one | 8 per vertex |
//!
//! A question has at most about as many bytes as its table. Per record and pass: `O(d)` steps and the depth of the tree, with `O(k d)` for the
//! nearest centre in rounds.
//!
//! # Bad records
//! As in memory: a coordinate outside of the box counts as on its boundary, NaN as the middle of its side.
//!
//! # Errors
//! A plan with [`IntervalSize::Estimated`](crate::dpm::IntervalSize) sorts all records at once, so [`Passes::new`] refuses it; and `LshSplits` of more
//! than 20 levels.

mod fits;
mod memory;
mod question;
mod sql;
#[cfg(test)]
mod tests;

pub(crate) use fits::{LARGEST, are_in, asks, is_inside, is_there};
pub(crate) use memory::in_memory;
pub use question::{Counter, Question};
pub use sql::{sql, sql_double};

pub use dp_mechanism::passes::{
    Asked, ByPasses, Counted, MAX_ROWS, Next, Passes, StateError, Table, TableError, Tally,
};

/// The sum of counts; none if one is negative or the sum is more than records can be.
pub(crate) fn add_up(counts: &[i64]) -> Option<u64> {
    counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(u64::try_from(count).ok()?))
}

/// Whether so many records of at most `most` each can add up to this.
pub(crate) fn within(sum: i64, rows: u64, most: i64) -> bool {
    u128::from(sum.unsigned_abs()) <= u128::from(rows) * u128::from(most.unsigned_abs())
}
