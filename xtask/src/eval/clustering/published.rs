//! Published numbers of `benches/published.csv`, all at epsilon 1 and delta n^-1.5 under add/remove: Tables 2 and 3 of the DPM paper, and
//! public code of each method, run again. Where the paper's table is about an embedding of the same images by another network its inertia
//! is on another scale and left out.

use serde::Deserialize;
use std::sync::LazyLock;

/// A value with its standard deviation, where that was given.
pub(crate) type Value = (f64, Option<f64>);

/// One row of a published table.
#[derive(Debug, Deserialize)]
pub(crate) struct Published {
    pub(crate) dataset: String,
    pub(crate) algorithm: String,
    pub(crate) source: String,
    pub(crate) runs: usize,
    silhouette: Option<f64>,
    silhouette_sd: Option<f64>,
    accuracy: Option<f64>,
    accuracy_sd: Option<f64>,
    inertia_squared: Option<f64>,
    inertia_squared_sd: Option<f64>,
    kmeans_distance_normalised: Option<f64>,
    kmeans_distance_normalised_sd: Option<f64>,
}

impl Published {
    /// Whether it is of the paper, not of its code.
    pub(crate) fn is_of_the_paper(&self) -> bool {
        self.source.starts_with("paper")
    }

    /// The value of a metric by its name in results.jsonl.
    pub(crate) fn metric(&self, name: &str) -> Option<Value> {
        let (mean, sd) = match name {
            "silhouette" => (self.silhouette, self.silhouette_sd),
            "accuracy" => (self.accuracy, self.accuracy_sd),
            "inertia_squared" => (self.inertia_squared, self.inertia_squared_sd),
            "kmeans_distance_normalised" => {
                (self.kmeans_distance_normalised, self.kmeans_distance_normalised_sd)
            }
            _ => (None, None),
        };
        Some((mean?, sd))
    }
}

static TABLE: LazyLock<Vec<Published>> = LazyLock::new(|| {
    csv::Reader::from_reader(include_str!("../../../../benches/published.csv").as_bytes())
        .into_deserialize()
        .collect::<Result<_, _>>()
        .expect("a test reads it")
});

/// All rows for a data set, the paper's first.
pub(crate) fn for_dataset(dataset: &str) -> impl Iterator<Item = &'static Published> {
    TABLE.iter().filter(move |row| row.dataset == dataset)
}

/// Whether published rows can stand beside this epsilon; what is not private has none.
pub(crate) fn comparable(epsilon: Option<f64>) -> bool {
    epsilon.is_none_or(|epsilon| (epsilon - 1.0).abs() < 1e-12)
}

#[cfg(test)]
mod tests {
    use super::{Published, TABLE, comparable, for_dataset};
    use quietus_datasets::catalogue::CLUSTERING;

    #[test]
    fn every_row_belongs_to_a_data_set_and_the_paper_comes_first() {
        for row in &*TABLE {
            assert!(CLUSTERING.iter().any(|recipe| recipe.id == row.dataset), "{}", row.dataset);
        }
        for recipe in &CLUSTERING {
            assert!(for_dataset(recipe.id).next().is_none_or(Published::is_of_the_paper));
        }
        let dpm = for_dataset("synth-10d").find(|row| row.algorithm == "dpm");
        assert_eq!(dpm.and_then(|row| row.metric("inertia_squared")), Some((1.8e7, Some(2.7e7))));
    }

    #[test]
    fn only_epsilon_one_is_comparable() {
        assert!(comparable(None) && comparable(Some(1.0)));
        assert!(!comparable(Some(0.5)));
    }
}
