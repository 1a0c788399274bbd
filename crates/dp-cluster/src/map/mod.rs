//! The private map: one release from which every clustering is free.
//!
//! A record is spread over the corners of its cell, on grids of several spacings, and every vertex of every grid is released with Gaussian
//! noise. Then the weights of the finest vertices are fitted to all of it, none below zero, and k-means and k-median for every `k` work on
//! these weighted vertices.
//!
//! ```
//! use dp_cluster::map::{PrivateMap, PrivateMapSettings};
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//! use dp_mechanism::Nearby;
//!
//! // Two thousand places in a square of 40 km; where anybody is, is hidden up to half a kilometre.
//! let coords = (0..4_000).map(|i| f64::from(i * 7 % 11 + i * i % 23)).collect();
//! let places = Points::new(coords, 2)?;
//! let square = PublicBox::cube(2, 0.0, 40.0)?;
//!
//! let budget = Budget::new(1.0, 1e-6)?;
//! let settings = PrivateMapSettings { levels: Some(2..=4), ..Default::default() };
//! let plan = PrivateMap::within(square, Nearby::new(0.5)?, 2_000, budget, settings)?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//! let mut rng = chacha_from_os()?;
//! let map = plan.release(places.view(), &mut rng)?.output;
//! for k in [3, 10] {
//!     println!("{:?}", map.kmeans(k, &mut rng)?.centres); // as many as are wanted, free of charge
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantee
//! `(epsilon, delta)`-DP for the budget given, by the exact curve of one Gaussian mechanism over all levels, for neighbours of the relation that
//! the plan is made for:
//! - [`AddRemove`](dp_accounting::AddRemove): a record comes or goes. The number of records is private, and one more noisy count.
//! - [`ReplaceOne`](dp_accounting::ReplaceOne): a record takes any other value. The number of records is public.
//! - [`Within`](dp_accounting::Within): a record moves by at most `rho`, Euclidean, in the unit of the coordinates. That somebody is in the data, and where
//!   roughly, is not hidden; the less, the smaller `rho` is.
//!
//! One record has shares of one unit on each level, at least zero: replaced, they change by a length of at most root 2. Moved by `rho`, they change by
//! at most `sqrt(d + 1) rho / spacing` as well ([`Cloud`](dp_geometry::Cloud) has the proof). The plan takes the smaller of both and
//! [says](PrivateMap::levels) which, so it never has more noise than under `ReplaceOne`; from `rho` of a few spacings on, it is the same mechanism.
//!
//! # Utility
//! The noise of a vertex has a standard deviation of that length over the `mu` of its level. Levels have equal shares of the budget, under `AddRemove` each
//! three quarters of that of the next coarser one: of 16 clusters of check-ins, maps were 2 to 4 % better for that, of 15 of 5,000 records 2 to 8 %, of birch1's hundred 1 to 2 % worse. Coarse structure is nearly free under `Within`, fine
//! structure costs what it costs otherwise; so `rho` helps where `n epsilon` is small for the number of clusters, and with many records all relations
//! are as good as no privacy. No weak vertex is cut off: cutting loses the tails, which is worse than their noise.
//!
//! # Parts
//! Records in several files or places are [counted](PrivateMap::count) where they are; [merged counts](MapCounts) make the release that all records
//! would make, byte by byte.
//!
//! # Limits
//! Vertices grow with the power of the dimension: made for 1 to 3 dimensions, refused above 8. Degrees of latitude and longitude are not a
//! metric: project them first, by a public rule.
//!
//! # Source
//! Weights as in particle methods (Birdsall and Fuss, 1969); the relation: Epasto, Mirrokni, Narayanan, Zhong (2023); the rest is ours.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod counts;
mod deviation;
mod fit;
mod mechanism;
mod params;
mod pyramid;
mod relation;
mod released;
mod simplex;
#[cfg(test)]
mod tests;
mod vertices;

pub(crate) use vertices::{VertexCounter, Vertices};

pub use counts::{CountedMap, CountsShape, MapCounts};
pub use fit::MapFit;
pub use mechanism::{MapLevel, PrivateMap};
pub(crate) use params::MANY;
pub use params::PrivateMapSettings;
pub use relation::{MapRelation, PublicSize};
pub use released::ReleasedMap;
pub(crate) use released::local_search_steps;
