//! One region of the lowest level: what is true, what is noisy, what is released.

use crate::error::Error;
use crate::eval::census::datasets::Dataset;
use crate::report::plot::Svg;
use crate::report::plot::lines::{self, Labels, Place, Series};
use crate::seed::named_rng;
use dp_census::{Census, Privacy};
use dp_mechanism::{DiscreteGaussian, Draws, Law, Mechanism, SecureDraws};

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

/// Draws as in a release, and remembers what came out.
struct Overheard<'a> {
    draws: &'a mut dyn Draws,
    noisy: Vec<i64>,
}

impl Draws for Overheard<'_> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        let drawn = self.draws.draw(law);
        self.noisy.push(drawn);
        drawn
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
        self.noisy.extend_from_slice(values);
    }
}

impl Portrait {
    /// The region with the median number of groups in one release of the default mechanism.
    pub(super) fn of(data: &Dataset) -> Result<Self, Error> {
        let tree = data.hierarchy.tree();
        let mut order: Vec<(i64, usize)> =
            data.sizes.groups_of_regions().into_iter().zip(tree.leaves()).collect();
        order.sort_unstable();
        let region = order[order.len() / 2].1;
        let refused = |error| Error::library("m-c-top-down", &error);
        let privacy = Privacy::pure(EPSILON).map_err(refused)?;
        let (hierarchy, groups) = (data.hierarchy.clone(), data.sizes.groups());
        let plan =
            Census::builder(hierarchy, data.bins, groups, privacy).build().map_err(refused)?;
        let mut rng = named_rng(&["portrait", data.recipe.id]);
        let mut draws = SecureDraws::new(&mut rng);
        let mut overheard = Overheard { draws: &mut draws, noisy: Vec::new() };
        let table = plan.run(&data.sizes, &mut overheard);
        let columns = data.sizes.columns();
        let row = region * columns..(region + 1) * columns;
        let cumulative = &overheard.noisy[row.clone()];
        let before = [0].iter().chain(cumulative);
        Ok(Self {
            region: data.hierarchy.name(region).to_owned(),
            exact: data.totals[row].to_vec(),
            noisy: cumulative.iter().zip(before).map(|(up_to, below)| up_to - below).collect(),
            released: table.row(region).to_vec(),
        })
    }

    pub(super) fn caption(&self) -> String {
        let of = "true, noisy and released numbers of groups by size";
        format!("{}: {of}, epsilon {EPSILON}", self.region)
    }

    pub(super) fn draw(&self) -> Result<Svg, Error> {
        let series = |name: &str, values: &[i64]| Series {
            name: name.to_owned(),
            places: values
                .iter()
                .take(SIZES)
                .enumerate()
                .map(|(size, &groups)| {
                    let mean = groups as f64;
                    Place { x: size as f64, mean, low: mean, high: mean }
                })
                .collect(),
        };
        let title = format!("Groups by size in {}", self.region);
        let labels = Labels { title: &title, x: "size", x_log: false, y_log: false };
        let all = [
            series("true", &self.exact),
            series("noisy", &self.noisy),
            series("released", &self.released),
        ];
        lines::draw(labels, &all)
    }
}
