//! The mechanisms of the suite with their settings, and one run of each.

use crate::error::Error;
use crate::eval::cell::{Cost, measured};
use crate::eval::census::published_chain::{self, true_epsilon};
use crate::eval::census::{op, qp};
use dp_accounting::Epsilon;
use dp_census::solve::Problem;
use dp_census::{
    Census, CensusError, CensusSettings, Certificate, GroupSizes, LevelShares, Method, Privacy,
    Query, RealCensus, RegionTree,
};
use dp_mechanism::{Draws, GeometricSum, Mechanism, SecureSource};
use quietus_datasets::sets::census::Dataset;
use rand::rngs::ChaCha20Rng;
use std::num::NonZeroU32;

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
    /// The noisy table as it is: whole numbers that do not add up, and may be negative.
    Raw(Method),
    PublishedChain,
    /// The real problem, by a general solver.
    GeneralSolver(Method),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shares {
    Chosen,
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
    /// Of the release, without the proof.
    pub(super) cost: Cost,
    /// That the table is the closest one to its noise; before real numbers are rounded one by one.
    pub(super) certificate: Option<Certificate>,
}

/// All of them, in the order of the tables.
pub(super) fn all() -> Vec<Algorithm> {
    use Shares::{Chosen, Equal, RootOfRegions, TenTwentySeventy};
    let whole = |method: Method| Algorithm {
        id: method.id(),
        variant: "default",
        kind: Kind::Whole(method),
        shares: Equal,
        gaussian: false,
        shrinkage: false,
    };
    let real = |id, method| Algorithm { id, kind: Kind::Real(method), ..whole(method) };
    let with = |variant, shares| Algorithm { variant, shares, ..whole(Method::CumulativeTopDown) };
    let at_once = |variant, shares| Algorithm { variant, shares, ..whole(Method::Cumulative) };
    let raw = |id, method| Algorithm { id, kind: Kind::Raw(method), ..whole(method) };
    let fitted = |variant, shares| Algorithm { variant, shares, ..whole(Method::Fitted) };
    vec![
        fitted("default", Chosen),
        fitted("equal", Equal),
        fitted("roots", RootOfRegions),
        Algorithm { gaussian: true, ..fitted("zCDP", Chosen) },
        whole(Method::RootSpread),
        raw("m-h-raw", Method::Counts),
        raw("m-c-raw", Method::Cumulative),
        real("m-h-real", Method::Counts),
        whole(Method::Counts),
        whole(Method::TopDown),
        real("m-c-real", Method::Cumulative),
        whole(Method::CumulativeThenTree),
        whole(Method::Cumulative),
        at_once("10/20/70", TenTwentySeventy),
        at_once("roots", RootOfRegions),
        whole(Method::CumulativeTopDown),
        with("10/20/70", TenTwentySeventy),
        with("roots", RootOfRegions),
        Algorithm { shrinkage: true, ..with("shrinkage", Equal) },
        Algorithm { shrinkage: true, ..with("roots, shrinkage", RootOfRegions) },
        Algorithm { gaussian: true, ..with("zCDP", Equal) },
        Algorithm { gaussian: true, ..with("zCDP, 10/20/70", TenTwentySeventy) },
        Algorithm { gaussian: true, ..with("zCDP, roots", RootOfRegions) },
        whole(Method::Chain),
        Algorithm {
            id: "m-c-chain-as-published",
            kind: Kind::PublishedChain,
            ..whole(Method::Chain)
        },
    ]
}

/// The real mechanisms with a general solver in place of ours: for run times only.
pub(super) fn by_general_solver() -> Vec<Algorithm> {
    let all = all();
    let general = |id, real: &str, method| {
        let known = all.iter().find(|one| one.id == real).copied();
        known.map(|one| Algorithm { id, kind: Kind::GeneralSolver(method), ..one })
    };
    let counts = general("m-h-real-clarabel", "m-h-real", Method::Counts);
    let cumulative = general("m-c-real-clarabel", "m-c-real", Method::Cumulative);
    counts.into_iter().chain(cumulative).collect()
}

/// `M_dp^OP`, which has a bench of its own: for run times only.
pub(super) fn by_cost_tables() -> Option<Algorithm> {
    let like = all().into_iter().find(|one| one.id == Method::Counts.id())?;
    Some(Algorithm { id: op::ID, ..like })
}

impl Algorithm {
    pub(super) fn is_private(&self) -> bool {
        self.kind != Kind::PublishedChain
    }

    /// The rho that is asked for at the setting `epsilon` of the table, if it is one.
    pub(super) fn rho(&self, epsilon: f64) -> Option<f64> {
        self.gaussian.then_some(epsilon * epsilon / 2.0)
    }

    /// Whether it makes sense on a hierarchy of so many levels.
    pub(super) fn applies(&self, levels: usize) -> bool {
        match levels {
            // With one region there is nothing to share, nothing to shrink to, and the published chain is private.
            1 => self.variant != "equal" && self.has_one_level_shares() && self.is_private(),
            3 => true,
            _ => self.shares != Shares::TenTwentySeventy,
        }
    }

    fn has_one_level_shares(&self) -> bool {
        matches!(self.shares, Shares::Chosen | Shares::Equal) && !self.shrinkage
    }

    /// What is promised at the setting `epsilon` of the table.
    ///
    /// # Errors
    /// For an epsilon out of range.
    fn privacy(&self, epsilon: f64) -> Result<Privacy, CensusError> {
        self.rho(epsilon).map_or_else(|| Privacy::pure(epsilon), |rho| Privacy::zcdp(rho, DELTA))
    }

    /// What is promised at this setting, as an epsilon, and the delta that it needs.
    pub(super) fn promise(
        &self,
        regions_by_level: &[usize],
        epsilon: f64,
    ) -> Result<(f64, f64), Error> {
        if self.kind == Kind::PublishedChain {
            return Ok((true_epsilon(regions_by_level, epsilon), 0.0));
        }
        let budget = self.privacy(epsilon)?.budget()?;
        Ok((budget.epsilon().get(), budget.delta().get()))
    }

    fn settings(&self, data: &Dataset) -> CensusSettings {
        let method = match self.kind {
            Kind::Whole(method)
            | Kind::Real(method)
            | Kind::Raw(method)
            | Kind::GeneralSolver(method) => method,
            Kind::PublishedChain => Method::Chain,
        };
        // Public facts, which the others may use but as a row of the paper do not.
        let by_regions = self.shrinkage || matches!(method, Method::Fitted | Method::RootSpread);
        CensusSettings {
            method,
            shares: match self.shares {
                Shares::Chosen => LevelShares::Chosen,
                Shares::Equal => LevelShares::Equal,
                Shares::TenTwentySeventy => LevelShares::ten_twenty_seventy(),
                Shares::RootOfRegions => LevelShares::RootOfRegions,
            },
            region_groups: by_regions.then(|| data.sizes.groups_of_regions()),
            shrinkage: self.shrinkage,
            ..CensusSettings::default()
        }
    }

    /// One release.
    pub(super) fn run(
        &self,
        data: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        if let Kind::GeneralSolver(method) = self.kind {
            return general_solver(data, epsilon, method == Method::Cumulative, rng);
        }
        let (privacy, settings) = (self.privacy(epsilon)?, self.settings(data));
        let (hierarchy, bins) = (data.hierarchy.clone(), data.bins);
        let (sizes, groups) = (&data.sizes, data.sizes.groups());
        match self.kind {
            Kind::Whole(_) | Kind::Raw(_) => {
                let ((plan, (table, evidence)), cost) = measured(|| {
                    let plan = Census::new(hierarchy, bins, groups, privacy, settings)?;
                    let output = plan.with_evidence().simulate(sizes, rng)?.output;
                    Ok::<_, CensusError>((plan, output))
                })?;
                let Kind::Raw(method) = self.kind else {
                    let certificate = Some(plan.certify(&table, &evidence)?);
                    let receipt = Some(format!("{:#}", plan.receipt()));
                    return Ok(Outcome { counts: table.into_counts(), receipt, cost, certificate });
                };
                let mut counts = evidence.noisy().to_vec();
                if method.query() == Query::Cumulative {
                    for row in counts.chunks_exact_mut(data.sizes.columns()) {
                        for column in (1..row.len()).rev() {
                            row[column] -= row[column - 1];
                        }
                    }
                }
                let receipt = Some(plan.receipt().to_string());
                Ok(Outcome { counts, receipt, cost, certificate: None })
            }
            // The general solver has a path of its own.
            Kind::Real(_) | Kind::GeneralSolver(_) => {
                let ((plan, (table, evidence)), cost) = measured(|| {
                    let plan = RealCensus::new(hierarchy, bins, groups, privacy, settings)?;
                    let output = plan.with_evidence().simulate(sizes, rng)?.output;
                    Ok::<_, CensusError>((plan, output))
                })?;
                let certificate = Some(plan.certify(&table, &evidence)?);
                let receipt = Some(format!("{:#}", plan.receipt()));
                Ok(Outcome { counts: table.rounded(), receipt, cost, certificate })
            }
            Kind::PublishedChain => {
                let tree = data.hierarchy.tree();
                let (counts, cost) =
                    measured(|| published_chain::release(tree, &data.sizes, epsilon, rng))?;
                Ok(Outcome { counts, receipt: None, cost, certificate: None })
            }
        }
    }
}

/// Equal level shares of `epsilon`, then the real problem as a quadratic program.
fn general_solver(
    data: &Dataset,
    epsilon: f64,
    cumulative: bool,
    rng: &mut ChaCha20Rng,
) -> Result<Outcome, Error> {
    let (tree, columns) = (data.hierarchy.tree(), data.sizes.columns());
    let (query, rows) = if cumulative {
        (Query::Cumulative, qp::Rows::Cumulative)
    } else {
        (Query::Counts, qp::Rows::Counts)
    };
    let weights = vec![1; tree.levels()];
    let (real, cost) = measured(|| {
        let noisy = noisy_table(tree, &data.sizes, query, epsilon, rng)?;
        let groups = data.sizes.groups();
        let problem = Problem::new(tree, columns, &noisy, &weights, groups)?;
        qp::relaxed(&problem, rows)
    })?;
    #[expect(clippy::cast_possible_truncation, reason = "counts are far below 2^53")]
    let mut counts: Vec<i64> = real.iter().map(|value| value.round() as i64).collect();
    if cumulative {
        for row in counts.chunks_exact_mut(columns) {
            for bin in (1..columns).rev() {
                row[bin] -= row[bin - 1];
            }
        }
    }
    Ok(Outcome { counts, receipt: None, cost, certificate: None })
}

/// What the solvers get to see: a table with the noise of equal level shares of `epsilon`.
pub(super) fn noisy_table(
    tree: &RegionTree,
    sizes: &GroupSizes,
    query: Query,
    epsilon: f64,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<i64>, Error> {
    let columns = sizes.columns();
    let mut noisy = sizes.exact_totals(tree)?;
    query.of_totals(tree, columns, &mut noisy);
    let share = Epsilon::new(epsilon / tree.levels() as f64)?;
    let source = &mut SecureSource::new(rng);
    for level in 0..tree.levels() {
        let regions = tree.level(level);
        let length = query.length(regions.len(), columns, NonZeroU32::MIN);
        let length = length.unwrap_or(NonZeroU32::MIN);
        let cells = &mut noisy[regions.start * columns..regions.end * columns];
        let sum = GeometricSum::new(share, length.into())?;
        cells.copy_from_slice(&sum.release(&*cells, &mut Draws::unplanned(source)));
    }
    Ok(noisy)
}
