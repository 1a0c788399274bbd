use dp_accounting::Receipt;
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::params::Plan;
use super::{
    CensusBuilder, Certificate, Evidence, GroupTable, Method, Privacy, RealGroupTable, post, shrink,
};
use crate::solve::{MAX_VALUE, Problem};
use crate::{Bins, CensusError, From0, GroupSizes, Hierarchy, TableShape};

/// A checked and calibrated plan to release a consistent table of whole numbers.
///
/// # Guarantee
/// What [`Privacy`] says, under the relation of the columns: [`MemberOfGroup`](dp_accounting::MemberOfGroup) for [`From0`]. With the
/// lengths `d_l` of [`Query`](super::Query), level `l` costs `epsilon_l` by geometric noise of scale `d_l / epsilon_l`, or `rho_l` by
/// Gaussian noise of variance `d_l / (2 rho_l)`, and a group lies in one region of every level, so the levels add up.
///
/// # Utility
/// Before the table is made consistent, unbiased noise of that size in every cell. With [`Method::CumulativeTopDown`], what the levels
/// below say reaches a region without bias, and then each level is the closest split of the one above. With [`Method::Cumulative`], the
/// projection onto consistent real tables brings the whole closer to the truth in weighted squares, and rounding to whole numbers adds
/// less than `d + 1/2` to a cell `d` levels below the root.
///
/// # Complexity
/// One draw per region and column, and one solve; see [`solve`](crate::solve). The draws do not depend on the privacy loss, and the solve
/// hardly does.
///
/// # Shapes and units
/// In: [`GroupSizes`], one row per leaf region. Out: [`GroupTable`], one row per region. Both in groups.
///
/// # Bad records
/// Were clamped or dropped where the table was made; see [`MemberCount`](crate::MemberCount).
///
/// # Precision
/// Noise is exact and added to whole numbers. Noisy cells saturate at [`MAX_VALUE`].
///
/// # Source
/// Fioretto, Van Hentenryck, Zhu (2021), Sections 5 to 9, with the corrections listed in the project's errata page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "B: Bins", try_from = "CensusBuilder<B>", into = "CensusBuilder<B>")]
pub struct Census<B: Bins = From0> {
    pub(super) plan: Plan<B>,
}

/// As [`Census`], for a table of real numbers (`M_H^r`, `M_c^r`): the closest consistent one, with nothing rounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "B: Bins", try_from = "CensusBuilder<B>", into = "CensusBuilder<B>")]
pub struct RealCensus<B: Bins = From0> {
    pub(super) plan: Plan<B>,
}

impl<B: Bins> Census<B> {
    /// Settings for so many groups in the regions of this hierarchy. All but the table that is released later is public.
    pub fn builder(
        hierarchy: Hierarchy,
        bins: B,
        groups: i64,
        privacy: Privacy,
    ) -> CensusBuilder<B> {
        CensusBuilder::new(hierarchy, bins, groups, privacy)
    }

    /// Variance of the noise in each cell of a level, in groups squared; 0 is the root, which receipts call level 1.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn noise_variance(&self, level: usize) -> f64 {
        self.plan.noise.levels[level].variance()
    }

    /// The same plan, whose releases come with what [`certify`](Self::certify) needs. That costs no more: all of it comes from the noisy
    /// table.
    ///
    /// ```
    /// use dp_census::{Census, From0, GroupSizes, Hierarchy, Privacy};
    /// use dp_mechanism::{Mechanism, chacha_from_os};
    ///
    /// let nation = Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))])?;
    /// let bins = From0::up_to(3)?;
    /// let plan = Census::builder(nation.clone(), bins, 6, Privacy::pure(1.0)?).build()?;
    /// let rows = [("GA", 3, 1), ("GA", 1, 2), ("NY", 3, 1), ("NY", 1, 1), ("NY", 2, 1)];
    /// let sizes = GroupSizes::from_rows(&nation, bins, rows)?;
    ///
    /// let (table, evidence) =
    ///     plan.with_evidence().release(&sizes, &mut chacha_from_os()?)?.output;
    /// let proof = plan.certify(&table, &evidence);
    /// assert!(proof.feasible && proof.residual < 1e-6, "{proof:?}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_evidence(&self) -> WithEvidence<'_, Self> {
        WithEvidence(self)
    }

    fn id(&self) -> &'static str {
        self.plan.settings.method.id()
    }

    /// From noise to a table: all that follows is post-processing.
    fn table(&self, mut noisy: Vec<i64>) -> (GroupTable, Evidence) {
        let settings = &self.plan.settings;
        let totals = settings.region_groups.as_deref();
        let (mut counts, mut proof) =
            post::whole_numbers(settings.method, &self.plan.problem(&noisy), totals);
        if let (true, Some(region_groups)) = (settings.shrinkage, totals) {
            let tree = settings.hierarchy.tree();
            let variance = self.noise_variance(tree.levels() - 1);
            noisy = shrink::towards_parents(tree, &noisy, &counts, region_groups, variance);
            let problem = self.plan.problem(&noisy);
            (counts, proof) = post::whole_numbers(settings.method, &problem, totals);
        }
        (GroupTable { columns: settings.bins.count(), counts }, Evidence { noisy, proof })
    }

    /// How good a table is for the noise of its run. Linear time; nothing private is looked at.
    ///
    /// # Panics
    /// If the table or the evidence has another shape.
    pub fn certify(&self, table: &GroupTable, evidence: &Evidence) -> Certificate {
        let settings = &self.plan.settings;
        let totals = settings.region_groups.as_deref();
        evidence.certify(settings.method, &self.plan.problem(&evidence.noisy), totals, table)
    }
}

impl<B: Bins> RealCensus<B> {
    /// The same plan, whose releases come with what [`certify`](Self::certify) needs, at no further cost.
    pub fn with_evidence(&self) -> WithEvidence<'_, Self> {
        WithEvidence(self)
    }

    fn id(&self) -> &'static str {
        match self.plan.settings.method {
            Method::Counts => "m-h-real",
            _ => "m-c-real",
        }
    }

    fn table(&self, noisy: Vec<i64>) -> (RealGroupTable, Evidence) {
        let settings = &self.plan.settings;
        let (counts, proof) = post::real_numbers(settings.method, &self.plan.problem(&noisy));
        (RealGroupTable { columns: settings.bins.count(), counts }, Evidence { noisy, proof })
    }

    /// How good a table is for the noise of its run. Linear time; nothing private is looked at.
    ///
    /// # Panics
    /// If the table or the evidence has another shape.
    pub fn certify(&self, table: &RealGroupTable, evidence: &Evidence) -> Certificate {
        evidence.certify_real(&self.plan.problem(&evidence.noisy), table)
    }
}

/// A plan whose output is a table and the [`Evidence`] for it; made by [`Census::with_evidence`] and [`RealCensus::with_evidence`].
#[derive(Debug)]
pub struct WithEvidence<'p, P>(&'p P);

impl<B: Bins> Plan<B> {
    /// # Errors
    /// A shape, a quantity or a number of groups that is not the public one. They are equal for all neighbours.
    fn check(&self, shape: &TableShape) -> Result<(), CensusError> {
        let settings = &self.settings;
        let leaves = settings.hierarchy.tree().leaves();
        let expected = (leaves.len(), settings.bins.count());
        let got = (shape.groups_of_regions.len(), shape.columns);
        if got != expected {
            return Err(CensusError::Shape { expected, got });
        }
        let (most, got) = (settings.most_quantity.get(), shape.most_quantity.get());
        if got > most {
            return Err(CensusError::Quantity { most, got });
        }
        let (expected, got) = (settings.groups, shape.groups());
        if got != expected {
            return Err(CensusError::Groups { expected, got });
        }
        let region_groups = settings.region_groups.iter().flatten();
        for (leaf, (&expected, &got)) in region_groups.zip(&shape.groups_of_regions).enumerate() {
            if got != expected {
                let region = settings.hierarchy.name(leaves.start + leaf).to_owned();
                return Err(CensusError::RegionGroups { region, expected, got });
            }
        }
        Ok(())
    }

    fn receipt(&self, id: &str) -> Receipt<B::Relation> {
        let spent = self.noise.spent(self.settings.hierarchy.tree());
        let receipt = Receipt::new(id, B::Relation::default(), self.budget, spent);
        match self.settings.privacy {
            Privacy::Pure { .. } => receipt,
            Privacy::Zcdp { rho, .. } => receipt.with_asked_rho(rho),
        }
    }

    /// The only use of private data: everything after it sees noisy numbers and settings.
    fn noisy(&self, sizes: Private<&GroupSizes<B>>, draws: &mut Draws<'_>) -> Vec<i64> {
        let table = (self.settings.hierarchy.tree(), self.settings.bins.count());
        self.noise.release(table, sizes, MAX_VALUE, draws)
    }

    fn problem<'a>(&'a self, noisy: &'a [i64]) -> Problem<'a> {
        let settings = &self.settings;
        let (tree, columns) = (settings.hierarchy.tree(), settings.bins.count());
        Problem::new(tree, columns, noisy, &self.weights, settings.groups)
            .expect("the plan was checked, and noise saturates at what a problem takes")
    }
}

/// A plan and its twin with evidence as mechanisms.
macro_rules! mechanisms {
    ($plan:ident, $table:ty) => {
        impl<B: Bins> Algorithm for $plan<B> {
            type Relation = B::Relation;
            type Data<'a> = &'a GroupSizes<B>;
            type Shape = TableShape;
            type Output = $table;
            type Error = CensusError;

            fn cost(&self) -> Receipt<B::Relation> {
                self.plan.receipt(self.id())
            }

            fn shape(sizes: &&GroupSizes<B>) -> TableShape {
                sizes.shape()
            }

            /// # Errors
            /// [`CensusError::Shape`], [`CensusError::Quantity`], [`CensusError::Groups`] or [`CensusError::RegionGroups`] if what is public
            /// of the table is not what the plan was made for. It is the same for all neighbours.
            fn check(&self, shape: &TableShape) -> Result<(), CensusError> {
                self.plan.check(shape)
            }

            fn run(&self, sizes: Private<&GroupSizes<B>>, draws: &mut Draws<'_>) -> $table {
                self.with_evidence().run(sizes, draws).0
            }
        }

        impl<B: Bins> Algorithm for WithEvidence<'_, $plan<B>> {
            type Relation = B::Relation;
            type Data<'a> = &'a GroupSizes<B>;
            type Shape = TableShape;
            type Output = ($table, Evidence);
            type Error = CensusError;

            fn cost(&self) -> Receipt<B::Relation> {
                self.0.cost()
            }

            fn shape(sizes: &&GroupSizes<B>) -> TableShape {
                sizes.shape()
            }

            /// # Errors
            /// Those of the plan.
            fn check(&self, shape: &TableShape) -> Result<(), CensusError> {
                self.0.check(shape)
            }

            fn run(&self, sizes: Private<&GroupSizes<B>>, draws: &mut Draws<'_>) -> Self::Output {
                self.0.table(self.0.plan.noisy(sizes, draws))
            }
        }
    };
}

mechanisms!(Census, GroupTable);
mechanisms!(RealCensus, RealGroupTable);

/// A plan and its settings, for serde.
macro_rules! by_settings {
    ($plan:ident, $build:ident) => {
        impl<B: Bins> TryFrom<CensusBuilder<B>> for $plan<B> {
            type Error = CensusError;

            fn try_from(settings: CensusBuilder<B>) -> Result<Self, CensusError> {
                settings.$build()
            }
        }

        impl<B: Bins> From<$plan<B>> for CensusBuilder<B> {
            fn from(plan: $plan<B>) -> Self {
                plan.plan.settings
            }
        }
    };
}

by_settings!(Census, build);
by_settings!(RealCensus, build_real);
