//! DP-Lloyd: Lloyd's iteration with noise on the sums and sizes of every cluster.
//!
//! The oldest private k-means. It starts from centres that do not look at the data, so it finds
//! clusters only where a start happens to lie near them; its value is as a baseline, for few and
//! large clusters, and for budgets without a delta.
//!
//! ```
//! use dp_cluster::dp_lloyd::{DpLloyd, DpLloydSettings};
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//!
//! let coords = (0..10_000).flat_map(|i| [if i % 2 == 0 { -5.0 } else { 5.0 }, 0.0]).collect();
//! let points = Points::new(coords, 2)?;
//! let public_box = PublicBox::cube(2, -10.0, 10.0)?;
//!
//! let plan = DpLloyd::new(public_box, 2, Budget::new(1.0, 1e-6)?, DpLloydSettings::default())?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//! let release = plan.release(points.view(), &mut chacha_from_os()?)?;
//! assert_eq!(release.output.centres.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantee
//! `(epsilon, delta)`-DP under [`AddRemove`](dp_accounting::AddRemove) for the budget given;
//! `epsilon`-DP for [`BudgetSplit::Pure`]. In every iteration a record lies in one cluster, so all
//! clusters cost as much as one; iterations add up.
//!
//! # Utility
//! A cluster of `m` records gets a centre with noise of standard deviation about
//! `radius sqrt(iterations) / (mu m)` in each coordinate, `radius` being half of the diagonal and `mu` what the budget is as Gaussian DP.
//!
//! # Source
//! Blum, Dwork, McSherry, Nissim (2005); Su, Cao, Li, Bertino, Jin (2016) for the number of
//! iterations, the well-spread start and the shares of the pure form. Sums and sizes under one
//! Gaussian noise are ours.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod budget;
mod mechanism;
mod params;
mod start;
#[cfg(test)]
mod tests;

pub use budget::BudgetSplit;
pub use mechanism::DpLloyd;
pub use params::DpLloydSettings;
