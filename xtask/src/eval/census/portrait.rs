//! One region of the lowest level: what is true, what is noisy, what is released.

use crate::error::Error;
use crate::report::plot::Svg;
use crate::report::plot::bars::{self, Heights};
use dp_census::{Census, CensusSettings, Privacy};
use dp_mechanism::Mechanism;
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::census::Dataset;

/// Low, so that the noise can be seen.
const EPSILON: f64 = 0.1;
/// As many sizes as can be told apart.
const SIZES: usize = 16;

/// Groups by size in one region.
#[derive(Clone, Debug)]
pub(super) struct Portrait {
    region: String,
    exact: Vec<i64>,
    noisy: Vec<i64>,
    released: Vec<i64>,
}

impl Portrait {
    /// A typical region in one release of the default mechanism.
    pub(super) fn of(data: &Dataset) -> Result<Self, Error> {
        let region = typical(data);
        let privacy = Privacy::pure(EPSILON)?;
        let (hierarchy, groups) = (data.hierarchy.clone(), data.sizes.groups());
        let plan = Census::new(hierarchy, data.bins, groups, privacy, CensusSettings::default())?;
        let mut rng = named_rng(&["portrait", data.recipe.id]);
        let release = plan.with_evidence().simulate(&data.sizes, &mut rng)?;
        let (table, evidence) = release.output;
        let columns = data.sizes.columns();
        let row = region * columns..(region + 1) * columns;
        let cumulative = &evidence.noisy()[row.clone()];
        let before = [0].iter().chain(cumulative);
        Ok(Self {
            region: data.hierarchy.name(region).to_owned(),
            exact: data.totals[row].to_vec(),
            noisy: cumulative.iter().zip(before).map(|(up_to, below)| up_to - below).collect(),
            released: table[region].to_vec(),
        })
    }

    pub(super) fn caption(&self) -> String {
        let of = "true, noisy and released numbers of groups by size";
        format!("{}: {of}, epsilon {EPSILON}", self.region)
    }

    pub(super) fn draw(&self) -> Result<Svg, Error> {
        let heights = |name: &str, values: &[i64]| Heights {
            name: name.to_owned(),
            values: values.iter().take(SIZES).map(|&groups| groups as f64).collect(),
        };
        let all = [
            heights("true", &self.exact),
            heights("noisy", &self.noisy),
            heights("released", &self.released),
        ];
        bars::draw(&format!("Groups by size in {}", self.region), "size", &all)
    }
}

/// The region with the median number of sizes that it has groups of, among those with more than one: a single size is no shape.
fn typical(data: &Dataset) -> usize {
    let (leaves, columns) = (data.hierarchy.tree().leaves(), data.sizes.columns());
    let rows = data.sizes.counts().chunks_exact(columns);
    let occupied = rows.map(|row| row.iter().filter(|&&groups| groups > 0).count());
    let mut order: Vec<(usize, usize)> = occupied.zip(leaves).collect();
    order.sort_unstable();
    let shaped = order.partition_point(|&(sizes, _)| sizes < 2);
    let shaped = if shaped < order.len() { &order[shaped..] } else { &order };
    shaped[shaped.len() / 2].1
}

#[cfg(test)]
mod tests {
    use super::{Portrait, typical};
    use crate::eval::census::tests::tiny;

    #[test]
    fn the_typical_region_has_a_median_number_of_sizes_and_all_three_histograms() {
        let data = tiny();
        let columns = data.sizes.columns();
        let occupied = |region: usize| {
            let row = &data.totals[region * columns..(region + 1) * columns];
            row.iter().filter(|&&groups| groups > 0).count()
        };
        let typical = typical(&data);
        let mut all: Vec<usize> = data.hierarchy.tree().leaves().map(occupied).collect();
        all.sort_unstable();
        assert!(all[0] > 1, "every region of it has a shape");
        assert_eq!(occupied(typical), all[all.len() / 2]);
        let portrait = Portrait::of(&data).unwrap();
        assert_eq!(portrait.exact, data.totals[typical * columns..(typical + 1) * columns]);
        assert_ne!(portrait.noisy, portrait.exact);
        assert_eq!(portrait.released.iter().filter(|&&groups| groups < 0).count(), 0);
        assert!(portrait.draw().unwrap().standalone().matches("<rect").count() > 10);
    }
}
