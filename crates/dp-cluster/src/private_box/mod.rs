//! A box around most records, found privately inside of a public one that may be far too wide.
//!
//! What needs a box that fits, such as a [map](crate::map), loses everything in one a hundred times too wide, and nobody knows the range of
//! data that nobody has seen. This mechanism takes a range that is generous to the point of absurdity and shrinks it, by the same factor in
//! all dimensions, around where the records are.
//!
//! ```
//! use dp_cluster::private_box::PrivateBox;
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//!
//! // Twenty thousand places between 0 and 23; all that is public is that they are no further than a billion.
//! let coords = (0..40_000).map(|i| f64::from(i * 7 % 11 + i * i % 13)).collect();
//! let places = Points::new(coords, 2)?;
//! let public_box = PublicBox::cube(2, -1e9, 1e9)?;
//!
//! let plan = PrivateBox::plan(public_box, Budget::new(0.2, 1e-6)?)?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//! let found = plan.release(places.view(), &mut chacha_from_os()?)?.output;
//! let sides = (found.public_box.min(0), found.public_box.max(0), found.share_outside);
//! println!("{sides:.2?}"); // from now on as public as the release
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What happens
//! All records are counted, with noise. Then, four times over, boxes of the shape of the public one are nested around a middle, each narrower
//! by root 2 than the one before, 96 of them; at first around the middle of the public box.
//! 1. The records between each box and the next are counted, with noise, whether there are any or not.
//! 2. The widest ring that surely has records, alone or with all beyond it, ends the box. Surely: 4.5 standard deviations. Rounds around about the same
//!    middle count together, so that noise hides fewer records that are far outside.
//! 3. Thrice, the noisy mean of all records, moved into that box, becomes the next middle.
//!
//! If that noise could hide more than a twentieth of all records, the public box is kept; where the box found is so much narrower that
//! keeping the public one would lose everything, up to half.
//!
//! # Guarantee
//! `(epsilon, delta)`-DP under [`AddRemove`](dp_accounting::AddRemove) for the budget given, by the exact curve of one Gaussian. A record
//! adds 1 to the number of all, 1 to one count of each round, and to each mean at most `2^20` units in every coordinate; middles and boxes follow
//! from what has been released.
//!
//! # Utility
//! Each count of a ring has noise of standard deviation `2.7 / mu`: records beyond the box are fewer than about five times that. In a corner of
//! the public box it takes one round per factor of about `n mu / (2 sqrt(d))` between that and the data.
//!
//! # Source
//! Histograms of a scale: Karwa and Vadhan (ITCS 2018), who find the range of one normal variable. Nested boxes around noisy means are this
//! project's.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data. Sides are not scaled against each other: a column that is far narrower than
//! its side stays so.

mod mechanism;
mod nest;
mod search;
#[cfg(test)]
mod tests;

pub use mechanism::{BoxSearchState, FoundBox, PrivateBox};
pub(crate) use nest::{Nest, NestCounter};
pub(crate) use search::{BoxSearch, BoxState, Surely};
