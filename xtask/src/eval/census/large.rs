//! A nation ten times as large, released whole: what 3.2e7 cells take.

use crate::error::Error;
use crate::eval::cell::{Cost, measured, rng_of};
use crate::eval::record::Record;
use dp_census::{
    Census, CensusError, CensusSettings, From0, GroupSizes, Hierarchy, Method, Privacy,
};
use dp_mechanism::Mechanism;
use quietus_datasets::nation::{self, Scale};
use std::collections::BTreeMap;

/// 31,493 regions of 1,001 columns.
pub(super) const SCALE: Scale =
    Scale { states: 52, counties: 31_440, groups: 1_176_304_450, largest: 1_000 };
pub(super) const VARIANT: &str = "ten nations";
pub(super) const METHODS: [Method; 4] =
    [Method::Chain, Method::Counts, Method::Cumulative, Method::CumulativeTopDown];
pub(super) const EPSILON: f64 = 1.0;

/// A nation in memory.
pub(super) struct Nation {
    hierarchy: Hierarchy,
    bins: From0,
    sizes: GroupSizes,
}

impl Nation {
    pub(super) fn new(scale: Scale) -> Result<Self, Error> {
        let bins = From0::up_to(scale.largest)?;
        let (hierarchy, sizes) = nation::generate(scale, nation::SEED)?;
        Ok(Self { hierarchy, bins, sizes })
    }

    /// One release with its noise, from the plan on, on one thread; the peak of memory has the nation in it.
    pub(super) fn release(&self, cell: &Record) -> Result<Record, Error> {
        let known = METHODS.into_iter().find(|method| method.id() == cell.algorithm);
        let method = known.ok_or_else(|| {
            Error::unknown("mechanism", &cell.algorithm, METHODS.map(dp_census::Method::id))
        })?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let mut rng = rng_of(cell);
        let groups = self.sizes.groups();
        let release = || {
            let (hierarchy, privacy) = (self.hierarchy.clone(), Privacy::pure(EPSILON)?);
            let settings = CensusSettings { method, ..CensusSettings::default() };
            let plan = Census::new(hierarchy, self.bins, groups, privacy, settings)?;
            Ok::<_, CensusError>(plan.simulate(&self.sizes, &mut rng)?.output)
        };
        let (table, cost) = pool.install(|| measured(release))?;
        let Cost { seconds, peak_rss_mib } = cost;
        let consistent = table.is_consistent(self.hierarchy.tree(), groups);
        let metrics = BTreeMap::from([
            ("cells".to_owned(), table.counts().len() as f64),
            ("consistent".to_owned(), f64::from(u8::from(consistent))),
        ]);
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::{METHODS, Nation, SCALE, VARIANT};
    use crate::eval::record::Record;
    use crate::eval::record::tests::example;
    use quietus_datasets::nation::Scale;

    #[test]
    fn a_release_by_each_method_is_consistent() {
        assert_eq!(1 + SCALE.states + SCALE.counties, 31_493);
        let scale = Scale { states: 3, counties: 9, groups: 20_000, largest: 12 };
        let nation = Nation::new(scale).unwrap();
        let cell =
            |id: &str| Record { variant: VARIANT.to_owned(), ..example("census-solvers", id, 0) };
        for method in METHODS {
            let metrics = nation.release(&cell(method.id())).unwrap().metrics;
            let of = |name: &str| metrics[name];
            assert!((of("cells") - 13.0 * 13.0).abs() < 0.5 && of("consistent") > 0.5);
        }
        assert!(nation.release(&cell("top-down")).is_err());
    }
}
