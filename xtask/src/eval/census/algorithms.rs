//! The mechanisms of the suite with their settings, and one run of each.

use crate::audit::{published_chain, true_epsilon_of_the_chain};
use crate::error::Error;
use crate::eval::census::datasets::Dataset;
use dp_census::{Census, CensusBuilder, CensusError, LevelShares, Method, Privacy};
use dp_mechanism::{Mechanism, SecureDraws};
use rand::rngs::ChaCha20Rng;

/// The delta at which receipts say what a rho comes to.
pub(super) const DELTA: f64 = 1e-10;

/// A mechanism at one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Algorithm {
    pub(super) id: &'static str,
    pub(super) variant: &'static str,
    kind: Kind,
    shares: Shares,
    gaussian: bool,
    shrinkage: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Whole(Method),
    Real(Method),
    PublishedChain,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shares {
    Equal,
    TenTwentySeventy,
    RootOfRegions,
}

/// What a run gives back.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Whole numbers; those of real mechanisms are rounded one by one, as the paper does.
    pub(super) counts: Vec<i64>,
    pub(super) receipt: Option<String>,
}

/// All of them, in the order of the tables.
pub(super) fn all() -> Vec<Algorithm> {
    use Shares::{Equal, RootOfRegions, TenTwentySeventy};
    let whole = |method: Method| Algorithm {
        id: method.id(),
        variant: "default",
        kind: Kind::Whole(method),
        shares: Equal,
        gaussian: false,
        shrinkage: false,
    };
    let real = |id, method| Algorithm { id, kind: Kind::Real(method), ..whole(method) };
    let exact = |variant, shares, shrinkage, gaussian| Algorithm {
        variant,
        shares,
        gaussian,
        shrinkage,
        ..whole(Method::Cumulative)
    };
    vec![
        real("m-h-real", Method::Counts),
        whole(Method::Counts),
        whole(Method::TopDown),
        real("m-c-real", Method::Cumulative),
        whole(Method::CumulativeThenTree),
        whole(Method::Cumulative),
        exact("10/20/70", TenTwentySeventy, false, false),
        exact("roots", RootOfRegions, false, false),
        exact("shrinkage", Equal, true, false),
        exact("roots, shrinkage", RootOfRegions, true, false),
        exact("zCDP", Equal, false, true),
        exact("zCDP, 10/20/70", TenTwentySeventy, false, true),
        whole(Method::Chain),
        Algorithm {
            id: "m-c-chain-as-published",
            kind: Kind::PublishedChain,
            ..whole(Method::Chain)
        },
    ]
}

impl Algorithm {
    pub(super) fn is_private(&self) -> bool {
        self.kind != Kind::PublishedChain
    }

    /// Whether it makes sense on a hierarchy of so many levels.
    pub(super) fn applies(&self, levels: usize) -> bool {
        match levels {
            // With one region there is nothing to share, nothing to shrink to, and the published chain is private.
            1 => self.shares == Shares::Equal && !self.shrinkage && self.is_private(),
            3 => true,
            _ => self.shares != Shares::TenTwentySeventy,
        }
    }

    /// What is promised at the setting `epsilon` of the table.
    ///
    /// # Errors
    /// For an epsilon out of range.
    fn privacy(&self, epsilon: f64) -> Result<Privacy, CensusError> {
        if self.gaussian {
            Privacy::zcdp(epsilon * epsilon / 2.0, DELTA)
        } else {
            Privacy::pure(epsilon)
        }
    }

    /// What is promised at this setting, as an epsilon, and the delta that it needs.
    pub(super) fn promise(
        &self,
        regions_by_level: &[usize],
        epsilon: f64,
    ) -> Result<(f64, f64), Error> {
        if self.kind == Kind::PublishedChain {
            return Ok((true_epsilon_of_the_chain(regions_by_level, epsilon), 0.0));
        }
        let refused = |error: CensusError| Error::library(self.id, &error);
        let privacy = self.privacy(epsilon).map_err(refused)?;
        let budget = privacy.budget().map_err(refused)?;
        Ok((budget.epsilon().get(), budget.delta().get()))
    }

    fn builder(&self, data: &Dataset, epsilon: f64) -> Result<CensusBuilder, CensusError> {
        let privacy = self.privacy(epsilon)?;
        let (hierarchy, groups) = (data.hierarchy.clone(), data.sizes.groups());
        let method = match self.kind {
            Kind::Whole(method) | Kind::Real(method) => method,
            Kind::PublishedChain => Method::Chain,
        };
        let builder = Census::builder(hierarchy, data.bins, groups, privacy)
            .method(method)
            .shares(match self.shares {
                Shares::Equal => LevelShares::Equal,
                Shares::TenTwentySeventy => LevelShares::ten_twenty_seventy(),
                Shares::RootOfRegions => LevelShares::RootOfRegions,
            })
            .shrinkage(self.shrinkage);
        let region_groups = || data.sizes.groups_of_regions();
        Ok(if self.shrinkage { builder.region_groups(region_groups()) } else { builder })
    }

    /// One release.
    pub(super) fn run(
        &self,
        data: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        self.outcome(data, epsilon, rng).map_err(|error| Error::library(self.id, &error))
    }

    fn outcome(
        &self,
        data: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, CensusError> {
        let builder = self.builder(data, epsilon)?;
        match self.kind {
            Kind::Whole(_) => {
                let release = builder.build()?.release(&data.sizes, rng)?;
                let receipt = Some(release.receipt.to_string());
                Ok(Outcome { counts: release.output.into_counts(), receipt })
            }
            Kind::Real(_) => {
                let release = builder.build_real()?.release(&data.sizes, rng)?;
                let receipt = Some(release.receipt.to_string());
                Ok(Outcome { counts: release.output.rounded(), receipt })
            }
            Kind::PublishedChain => {
                let (tree, draws) = (data.hierarchy.tree(), &mut SecureDraws::new(rng));
                let counts = published_chain(tree, &data.sizes, epsilon, draws)?;
                Ok(Outcome { counts, receipt: None })
            }
        }
    }
}
