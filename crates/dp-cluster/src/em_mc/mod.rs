//! EM-MC: private clustering by maximum coverage with exponential choices.
//!
//! Cells of randomly shifted grids, from fine to coarse, are chosen again and again for holding many
//! records that no chosen cell holds yet. The middles of all chosen cells, weighted by noisy numbers
//! of nearest records, stand in for the data; a weighted solver finds `k` centres among them, and
//! noisy means of their parts bring these back to all dimensions. The choices work on few dimensions,
//! to which a public random projection leads.
//!
//! ```
//! use dp_cluster::em_mc::{EmMc, EmMcSettings};
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//!
//! let coords = (0..20_000).flat_map(|i| [if i % 2 == 0 { -5.0 } else { 5.0 }, 0.0]).collect();
//! let points = Points::new(coords, 2)?;
//! let public_box = PublicBox::cube(2, -10.0, 10.0)?;
//!
//! let plan = EmMc::new(public_box, 2, Budget::new(1.0, 1e-6)?, EmMcSettings::default())?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//! let release = plan.release(points.view(), &mut chacha_from_os()?)?;
//! assert_eq!(release.output.centres.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantee
//! `(epsilon, delta)`-DP under [`AddRemove`](dp_accounting::AddRemove) for the budget given; for
//! k-median with [`Selection::Pure`], `epsilon`-DP. All choices together cost as much as one, since
//! a record counts until a cell that holds it is chosen, and never again; their number is fixed
//! beforehand. A record counts for one middle, and lies in one part.
//!
//! # Utility
//! At each scale about `picks ln(cells) / rate` records may stay uncovered because of the noise.
//!
//! # Source
//! Nguyen, Chaturvedi, Xu, "Differentially private k-means clustering via exponential mechanism and
//! max cover" (2021); Jones, Nguyen, Nguyen, "Differentially private clustering via maximum coverage"
//! (2021) for k-median. Cells of shifted grids in place of balls, the pure form and the number of
//! scales are ours; see the project's errata page.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod budget;
mod cover;
mod mechanism;
mod params;
mod projection;
#[cfg(test)]
mod tests;

pub use budget::{BudgetSplit, Selection};
pub use mechanism::EmMc;
pub use params::EmMcSettings;
