use std::borrow::Cow;
use std::num::NonZeroU32;

use dp_accounting::{Receipt, Step};
use dp_mechanism::passes::{ByPasses, Counted, Next, TableError};
use dp_mechanism::{Algorithm, CryptoRng, Draws, Mechanism, Private};
use serde::{Deserialize, Serialize};

use super::params::{Asked, Plan};
use super::question::{self, QUESTION};
use super::{
    CensusSettings, Certificate, Evidence, GroupTable, Method, Privacy, RealGroupTable, post,
    shrink,
};
use crate::passes::GroupCounts;
use crate::solve::{MAX_VALUE, Problem};
use crate::{Bins, CensusError, From0, GroupSizes, Hierarchy, TableShape};

/// A checked and calibrated plan to release a consistent table of whole numbers.
///
/// # Guarantee
/// What [`Privacy`] says, under the relation of the columns: [`MemberOfGroup`](dp_accounting::MemberOfGroup) for [`From0`]. With the
/// lengths `d_l` of [`Query`](super::Query), level `l` costs `epsilon_l` by geometric noise of scale `d_l / epsilon_l`, or `rho_l` by
/// Gaussian noise of variance `d_l / (2 rho_l)`, or `mu_l` by Gaussian noise of variance `d_l / mu_l^2`; and a group lies in one region of every level, so the levels add up (squares of mu do).
/// Where a plan asks first ([`LevelShares`](super::LevelShares)), that is a few numbers more, each of which changes by at most [`unlikeness_length`](super::unlikeness_length); by their noisy
/// values alone the rest is spent in one of several ways, none of which costs more than what they left.
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
#[serde(bound = "B: Bins", try_from = "Asked<B>", into = "Asked<B>")]
pub struct Census<B: Bins = From0> {
    pub(super) plan: Plan<B>,
}

/// As [`Census`], for a table of real numbers (`M_H^r`, `M_c^r`): the closest consistent one, with nothing rounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "B: Bins", try_from = "Asked<B>", into = "Asked<B>")]
pub struct RealCensus<B: Bins = From0> {
    pub(super) plan: Plan<B>,
}

impl<B: Bins> Census<B> {
    /// A plan for so many groups in the regions of this hierarchy. All but the table that is released later is public.
    ///
    /// # Errors
    /// [`CensusError`] names the setting, its value and what would be accepted. Nothing else is refused later but a table that is not what the
    /// plan was made for.
    pub fn new(
        hierarchy: Hierarchy,
        bins: B,
        groups: i64,
        privacy: Privacy,
        settings: CensusSettings,
    ) -> Result<Self, CensusError> {
        Asked { hierarchy, bins, groups, privacy, settings }.try_into()
    }

    /// Variance of the noise in each cell of a level, in groups squared; 0 is the root, which receipts call level 1. Infinite for levels that
    /// [`Method::RootSpread`] does not look at; `None` if there is no such level. Of [`ways`](Self::ways), if there are several, in that of the least regret.
    pub fn noise_variance(&self, level: usize) -> Option<f64> {
        let variance = |level: usize| Some(self.plan.usual().noise.levels.get(level)?.variance());
        let known = level < self.plan.asked.hierarchy.tree().levels();
        known.then(|| variance(level).unwrap_or(f64::INFINITY))
    }

    /// Each level's share of the loss, the root's first: of epsilon, or of rho. Those that were chosen by [`LevelShares::Chosen`](super::LevelShares::Chosen) depend on
    /// public facts only. Of [`ways`](Self::ways), if there are several, in that of the least regret, of what the question leaves.
    pub fn shares(&self) -> &[f64] {
        &self.plan.usual().shares
    }

    /// The ways that this plan may go: one, or those among which a question decides, as [`LevelShares::Chosen`](super::LevelShares::Chosen) may ask and
    /// [`LevelShares::AfterQuestion`](super::LevelShares::AfterQuestion) does. Each costs the same, and which was gone is said by [`Evidence::way`].
    ///
    /// Public, so that it can be read before any data.
    pub fn ways(&self) -> impl ExactSizeIterator<Item = Way<'_>> {
        self.plan.ways.iter().map(|way| Way {
            method: way.method,
            shares: &way.shares,
            draws: way.draws
                && way.method == Method::Fitted
                && self.plan.asked.settings.region_groups.is_some(),
        })
    }

    /// The same plan, whose releases come with what [`certify`](Self::certify) needs. That costs no more: all of it comes from the noisy
    /// table.
    ///
    /// ```
    /// use dp_census::{Census, CensusSettings, From0, GroupSizes, Hierarchy, Privacy};
    /// use dp_mechanism::{Mechanism, chacha_from_os};
    ///
    /// let nation = Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))])?;
    /// let bins = From0::up_to(3)?;
    /// let privacy = Privacy::pure(1.0)?;
    /// let plan = Census::new(nation.clone(), bins, 6, privacy, CensusSettings::default())?;
    /// let rows = [("GA", 3, 1), ("GA", 1, 2), ("NY", 3, 1), ("NY", 1, 1), ("NY", 2, 1)];
    /// let sizes = GroupSizes::from_rows(&nation, bins, rows)?;
    ///
    /// let (table, evidence) =
    ///     plan.with_evidence().release(&sizes, &mut chacha_from_os()?)?.output;
    /// let proof = plan.certify(&table, &evidence)?;
    /// // Of the default method: real rows added up to a hundredth of a group.
    /// assert!(proof.feasible && proof.residual < 0.02, "{proof:?}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_evidence(&self) -> WithEvidence<'_, Self> {
        WithEvidence(self)
    }

    /// Standard errors of the cells of a released table, in groups, row-major as the table: this plan is carried out `runs` times on the
    /// table as if it were the truth, and the squared distances from it are averaged. Free, as it looks at a release only.
    ///
    /// An estimate: the released table is smoother than the truth where noise outweighs the regions, and there errors are larger than this
    /// says. Twenty runs know each to about 16 %.
    ///
    /// ```
    /// # use dp_census::{Census, CensusSettings, From0, GroupSizes, Hierarchy, Privacy};
    /// # use dp_mechanism::{Mechanism, chacha_from_os};
    /// # let nation = Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))])?;
    /// # let bins = From0::up_to(3)?;
    /// # let sizes = GroupSizes::from_rows(&nation, bins, [("GA", 3, 1), ("GA", 1, 2), ("NY", 3, 1), ("NY", 1, 2)])?;
    /// # let plan = Census::new(nation, bins, 6, Privacy::pure(1.0)?, CensusSettings::default())?;
    /// let table = plan.release(&sizes, &mut chacha_from_os()?)?.output;
    /// let errors = plan.standard_errors(&table, 20.try_into()?, &mut chacha_from_os()?)?;
    /// assert_eq!(errors.len(), table.counts().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CensusError`] if the table is not one of this plan.
    pub fn standard_errors<R: CryptoRng + ?Sized>(
        &self,
        table: &GroupTable,
        runs: NonZeroU32,
        rng: &mut R,
    ) -> Result<Vec<f64>, CensusError> {
        let mut plan = self.clone();
        let Asked { hierarchy, bins, settings, groups, .. } = &mut plan.plan.asked;
        let tree = hierarchy.tree();
        if !table.is_consistent(tree, *groups) || table.columns() != bins.count() {
            let expected = (tree.len(), bins.count());
            let got = (table.counts().len() / table.columns().max(1), table.columns());
            return Err(CensusError::Shape { expected, got });
        }
        let leaves = table.counts()[tree.leaves().start * table.columns()..].to_vec();
        let sizes = GroupSizes::from_table(*bins, leaves)?;
        // Released totals of regions are those of the table that is simulated.
        if settings.region_groups.is_some() {
            settings.region_groups = Some(sizes.groups_of_regions());
        }
        let mut squares = vec![0.0; table.counts().len()];
        for _ in 0..runs.get() {
            let other = plan.simulate(&sizes, rng)?.output;
            let cells = squares.iter_mut().zip(table.counts()).zip(other.counts());
            cells.for_each(|((sum, a), b)| *sum += ((a - b) as f64).powi(2));
        }
        Ok(squares.into_iter().map(|sum| (sum / f64::from(runs.get())).sqrt()).collect())
    }

    /// The method that is carried out: the one asked for, but [`Method::RootSpread`] where the default has shares of levels that give the root's row most of the
    /// loss, and the numbers of groups of regions are public. Depends on public facts only; it is what the receipt names. Where a question decides among
    /// [`ways`](Self::ways), it is the one asked for.
    pub fn method(&self) -> Method {
        self.plan.method
    }

    fn id(&self) -> &'static str {
        self.method().id()
    }

    /// From noise to a table: all that follows is post-processing.
    fn table(&self, Noisy { way, mut cells }: Noisy) -> (GroupTable, Evidence) {
        let Asked { hierarchy, bins, settings, .. } = &self.plan.asked;
        let totals = settings.region_groups.as_deref();
        let course = &self.plan.ways[way];
        let solve =
            |cells: &[i64]| post::whole_numbers(course, &self.plan.problem(way, cells), totals);
        let (mut counts, mut proof) = solve(&cells);
        if let (true, Some(region_groups)) = (settings.shrinkage, totals) {
            let tree = hierarchy.tree();
            let variance = self.noise_variance(tree.levels() - 1).expect("there is a last level");
            cells = shrink::towards_parents(tree, &cells, &counts, region_groups, variance);
            (counts, proof) = solve(&cells);
        }
        let evidence = Evidence { tree: hierarchy.tree().clone(), noisy: cells, way, proof };
        (GroupTable { columns: bins.count(), counts }, evidence)
    }

    /// How good a table is for the noise of its run. Linear time; nothing private is looked at.
    ///
    /// # Errors
    /// [`CensusError`] if the table or the evidence is of another hierarchy or has other columns.
    pub fn certify(
        &self,
        table: &GroupTable,
        evidence: &Evidence,
    ) -> Result<Certificate, CensusError> {
        self.plan.check_evidence(evidence, table.counts().len(), table.columns())?;
        let settings = &self.plan.asked.settings;
        let totals = settings.region_groups.as_deref();
        let problem = self.plan.problem(evidence.way, &evidence.noisy);
        Ok(evidence.certify(&self.plan.ways[evidence.way], &problem, totals, table))
    }
}

impl<B: Bins> RealCensus<B> {
    /// As [`Census::new`]: `M_c^r` with [`Method::Cumulative`], `M_H^r` with [`Method::Counts`].
    ///
    /// # Errors
    /// As [`Census::new`], and [`CensusError::Conflict`] for the other methods and for shrinkage.
    pub fn new(
        hierarchy: Hierarchy,
        bins: B,
        groups: i64,
        privacy: Privacy,
        settings: CensusSettings,
    ) -> Result<Self, CensusError> {
        Asked { hierarchy, bins, groups, privacy, settings }.try_into()
    }

    /// The same plan, whose releases come with what [`certify`](Self::certify) needs, at no further cost.
    pub fn with_evidence(&self) -> WithEvidence<'_, Self> {
        WithEvidence(self)
    }

    fn id(&self) -> &'static str {
        match self.plan.asked.settings.method {
            Method::Counts => "m-h-real",
            _ => "m-c-real",
        }
    }

    fn table(&self, Noisy { way, cells }: Noisy) -> (RealGroupTable, Evidence) {
        let Asked { bins, settings, .. } = &self.plan.asked;
        let problem = self.plan.problem(way, &cells);
        let (counts, proof) = post::real_numbers(settings.method, &problem);
        let tree = self.plan.asked.hierarchy.tree().clone();
        let evidence = Evidence { tree, noisy: cells, way, proof };
        (RealGroupTable { columns: bins.count(), counts }, evidence)
    }

    /// How good a table is for the noise of its run. Linear time; nothing private is looked at.
    ///
    /// # Errors
    /// As [`Census::certify`].
    pub fn certify(
        &self,
        table: &RealGroupTable,
        evidence: &Evidence,
    ) -> Result<Certificate, CensusError> {
        self.plan.check_evidence(evidence, table.counts().len(), table.columns())?;
        Ok(evidence.certify_real(&self.plan.problem(evidence.way, &evidence.noisy), table))
    }
}

/// One of the [`Census::ways`] of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Way<'p> {
    /// What is carried out.
    pub method: Method,
    /// Each level's share of what is left for levels, the root's first. Of fewer levels than there are, the rows of the last one are spread: regions below have their share of them by
    /// their public numbers of groups.
    pub shares: &'p [f64],
    /// Whether regions are drawn to their share of the row above.
    pub draws: bool,
}

/// Names of the ways in a receipt, in the order of the question.
const WAYS: [&str; question::BETWEEN] = [
    "the root's row spread",
    "shares by least regret",
    "own rows of the lowest level",
    "most for the lowest level",
];

/// What comes of the draws.
struct Noisy {
    /// Which of the plan's ways was gone.
    way: usize,
    cells: Vec<i64>,
}

/// A plan whose output is a table and the [`Evidence`] for it; made by [`Census::with_evidence`] and [`RealCensus::with_evidence`].
#[derive(Debug)]
pub struct WithEvidence<'p, P>(&'p P);

impl<B: Bins> Plan<B> {
    /// The name of a way in a receipt; those of a level between have the number that their level has there.
    fn name(&self, way: usize) -> Cow<'static, str> {
        match WAYS.get(way) {
            Some(name) => (*name).into(),
            None => format!("rows of level {} spread", self.ways[way].noise.levels.len()).into(),
        }
    }

    /// Refuses a table of so many cells in so many columns, or evidence, that no release of this plan has made.
    fn check_evidence(
        &self,
        evidence: &Evidence,
        cells: usize,
        columns: usize,
    ) -> Result<(), CensusError> {
        let (tree, bins) = (self.asked.hierarchy.tree(), self.asked.bins.count());
        let regions = tree.len();
        if evidence.tree != *tree || evidence.way >= self.ways.len() {
            return Err(CensusError::OtherHierarchy);
        }
        for cells in [cells, evidence.noisy.len()] {
            if cells != regions * bins {
                return Err(CensusError::TableLength { regions, bins, cells });
            }
        }
        if columns != bins {
            let [expected, got] = [bins, columns].map(|columns| (tree.leaves().len(), columns));
            return Err(CensusError::Shape { expected, got });
        }
        Ok(())
    }

    /// # Errors
    /// A shape, a quantity or a number of groups that is not the public one. They are equal for all neighbours.
    fn check(&self, shape: &TableShape) -> Result<(), CensusError> {
        let Asked { hierarchy, bins, groups, settings, .. } = &self.asked;
        let leaves = hierarchy.tree().leaves();
        let expected = (leaves.len(), bins.count());
        let got = (shape.groups_of_regions.len(), shape.columns);
        if got != expected {
            return Err(CensusError::Shape { expected, got });
        }
        let (most, got) = (settings.most_quantity.get(), shape.most_quantity.get());
        if got > most {
            return Err(CensusError::Quantity { most, got });
        }
        let (expected, got) = (*groups, shape.groups());
        if got != expected {
            return Err(CensusError::Groups { expected, got });
        }
        let region_groups = settings.region_groups.iter().flatten();
        for (leaf, (&expected, &got)) in region_groups.zip(&shape.groups_of_regions).enumerate() {
            if got != expected {
                let region = hierarchy.name(leaves.start + leaf).to_owned();
                return Err(CensusError::RegionGroups { region, expected, got });
            }
        }
        Ok(())
    }

    fn receipt(&self, id: &str) -> Receipt<B::Relation> {
        let tree = self.asked.hierarchy.tree();
        let spent = match &self.question {
            None => self.usual().noise.spent(tree),
            Some(question) => {
                let names: Vec<_> = (0..self.ways.len()).map(|way| self.name(way)).collect();
                let ways = self.ways.iter().zip(&names);
                let ways = ways
                    .map(|(way, name)| Step::sequential(&**name, vec![way.noise.spent(tree)]))
                    .collect();
                // Each costs no more than what the question leaves.
                let one_way = Step::one_of("ways", ways);
                let question = Step::spend(QUESTION, question.noise.loss());
                Step::sequential(
                    "a question, and the way to go by its answer",
                    vec![question, one_way],
                )
            }
        };
        let receipt = Receipt::new(id, B::Relation::default(), self.budget, spent);
        match self.asked.privacy {
            Privacy::Pure { .. } | Privacy::Gaussian { .. } => receipt,
            Privacy::Zcdp { rho, .. } => receipt.with_asked_rho(rho),
        }
    }

    /// The only use of private data, the rows of the leaf regions: everything after it sees noisy numbers and settings.
    fn noisy(&self, leaves: Private<&[i64]>, draws: &mut Draws<'_>) -> Noisy {
        let table = (self.asked.hierarchy.tree(), self.asked.bins.count());
        let Some(question) = &self.question else {
            return Noisy {
                way: 0,
                cells: self.ways[0].noise.release(table, leaves, MAX_VALUE, draws),
            };
        };
        let region_groups = self.asked.settings.region_groups.as_deref().unwrap_or_default();
        // By noisy numbers, and so are all draws that follow.
        let way = question.way(&question.ask(table.0, region_groups, leaves, draws));
        let mut draws = draws.within(&self.name(way));
        Noisy { way, cells: self.ways[way].noise.release(table, leaves, MAX_VALUE, &mut draws) }
    }

    fn question(&self) -> GroupCounts<B> {
        let Asked { hierarchy, bins, settings, .. } = &self.asked;
        let leaves = u32::try_from(hierarchy.tree().leaves().len());
        GroupCounts {
            bins: *bins,
            leaves: leaves.expect("fewer regions than a u32 counts"),
            most_quantity: settings.most_quantity,
            region_groups: settings.region_groups.clone(),
        }
    }

    fn problem<'a>(&'a self, way: usize, noisy: &'a [i64]) -> Problem<'a> {
        let Asked { hierarchy, bins, groups, .. } = &self.asked;
        Problem::new(hierarchy.tree(), bins.count(), noisy, &self.ways[way].weights, *groups)
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
                let leaves = sizes.map(|sizes| sizes.counts());
                self.0.table(self.0.plan.noisy(leaves, draws))
            }
        }

        /// One pass.
        impl<B: Bins> ByPasses for $plan<B> {
            type Question = GroupCounts<B>;
            type State = ();

            fn identity(&self) -> impl Serialize {
                &self.plan.asked
            }

            fn public_rows(&self) -> Option<u64> {
                u64::try_from(self.plan.asked.groups).ok()
            }

            fn shape_of(&self, question: &GroupCounts<B>, rows: u64) -> TableShape {
                question.shape(rows)
            }

            fn fits(&self, (): &(), question: &GroupCounts<B>) -> Result<(), TableError> {
                if *question == self.plan.question() {
                    return Ok(());
                }
                Err(TableError::OtherQuestion)
            }

            fn first(&self) -> ((), GroupCounts<B>) {
                ((), self.plan.question())
            }

            fn answer(
                &self,
                (): (),
                counted: &Counted,
                draws: &mut Draws<'_>,
            ) -> Next<(), GroupCounts<B>, $table> {
                let leaves = counted.entries.view().into_private();
                Next::Done(self.table(self.plan.noisy(leaves, draws)).0)
            }
        }
    };
}

mechanisms!(Census, GroupTable);
mechanisms!(RealCensus, RealGroupTable);

impl<B: Bins> TryFrom<Asked<B>> for Census<B> {
    type Error = CensusError;

    fn try_from(asked: Asked<B>) -> Result<Self, CensusError> {
        Ok(Self { plan: asked.plan()? })
    }
}

impl<B: Bins> TryFrom<Asked<B>> for RealCensus<B> {
    type Error = CensusError;

    fn try_from(asked: Asked<B>) -> Result<Self, CensusError> {
        let CensusSettings { method, shrinkage, .. } = asked.settings;
        if !matches!(method, Method::Cumulative | Method::Counts) {
            let setting = "a table of real numbers";
            return Err(CensusError::Conflict { setting, needs: "m-c-exact or m-h-dp" });
        }
        if shrinkage {
            return Err(CensusError::Conflict { setting: "shrinkage", needs: "whole numbers" });
        }
        Ok(Self { plan: asked.plan()? })
    }
}

impl<B: Bins> From<Census<B>> for Asked<B> {
    fn from(plan: Census<B>) -> Self {
        plan.plan.asked
    }
}

impl<B: Bins> From<RealCensus<B>> for Asked<B> {
    fn from(plan: RealCensus<B>) -> Self {
        plan.plan.asked
    }
}
