//! Published numbers, all at epsilon 1 and delta n^-1.5 under add/remove.

/// Where numbers come from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) name: &'static str,
    pub(crate) runs: u32,
}

/// Tables 2 and 3 of the DPM paper.
pub(crate) static PAPER: Source = Source { name: "paper", runs: 20 };
/// The same tables where they are about an embedding of the same images by another network: its
/// inertia is on another scale and left out.
pub(crate) static PAPER_EMBEDDING: Source = Source { name: "paper, its own embedding", runs: 20 };
/// Public code of each method, run again at the same epsilon and delta.
pub(crate) static RERUN: Source = Source { name: "public code, re-run", runs: 5 };

/// A value with its standard deviation, where that was given.
pub(crate) type Value = (f64, Option<f64>);

/// One row of a published table.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) dataset: &'static str,
    pub(crate) algorithm: &'static str,
    pub(crate) source: &'static Source,
    silhouette: Option<Value>,
    accuracy: Option<Value>,
    inertia_squared: Option<Value>,
    kmeans_distance_normalised: Option<Value>,
}

impl Published {
    /// The value of a metric by its name in results.jsonl.
    pub(crate) fn metric(&self, name: &str) -> Option<Value> {
        match name {
            "silhouette" => self.silhouette,
            "accuracy" => self.accuracy,
            "inertia_squared" => self.inertia_squared,
            "kmeans_distance_normalised" => self.kmeans_distance_normalised,
            _ => None,
        }
    }
}

/// All rows for a data set, the paper's first.
pub(crate) fn for_dataset(dataset: &str) -> impl Iterator<Item = &'static Published> {
    TABLE.iter().filter(move |row| row.dataset == dataset)
}

/// Whether published rows can stand beside this epsilon; what is not private has none.
pub(crate) fn comparable(epsilon: Option<f64>) -> bool {
    epsilon.is_none_or(|epsilon| (epsilon - 1.0).abs() < 1e-12)
}

#[allow(clippy::unnecessary_wraps, reason = "the table reads better with None where there is none")]
const fn sd(mean: f64, sd: f64) -> Option<Value> {
    Some((mean, Some(sd)))
}

#[allow(clippy::unnecessary_wraps, reason = "as above")]
const fn mean(mean: f64) -> Option<Value> {
    Some((mean, None))
}

const fn paper(
    dataset: &'static str,
    algorithm: &'static str,
    values: [Option<Value>; 4],
) -> Published {
    row(dataset, algorithm, &PAPER, values)
}

/// Values in the order silhouette, accuracy, normalised KMeans distance.
const fn embedding(algorithm: &'static str, values: [Option<Value>; 3]) -> Published {
    let [silhouette, accuracy, distance] = values;
    row("mnist_emb40", algorithm, &PAPER_EMBEDDING, [silhouette, accuracy, None, distance])
}

/// The re-run reported no silhouettes.
const fn rerun(
    dataset: &'static str,
    algorithm: &'static str,
    values: [Option<Value>; 3],
) -> Published {
    row(dataset, algorithm, &RERUN, [None, values[0], values[1], values[2]])
}

/// Values in the order silhouette, accuracy, squared inertia, normalised KMeans distance.
const fn row(
    dataset: &'static str,
    algorithm: &'static str,
    source: &'static Source,
    [silhouette, accuracy, inertia_squared, kmeans_distance_normalised]: [Option<Value>; 4],
) -> Published {
    Published {
        dataset,
        algorithm,
        source,
        silhouette,
        accuracy,
        inertia_squared,
        kmeans_distance_normalised,
    }
}

#[rustfmt::skip]
static TABLE: [Published; 41] = [
    paper("synth-10d", "kmeans++", [mean(0.97), mean(1.0), mean(1.0e6), mean(0.0)]),
    paper("synth-10d", "dp-lloyd", [sd(0.61, 0.05), sd(0.66, 0.05), sd(6.0e8, 1.0e8), sd(0.12, 0.01)]),
    paper("synth-10d", "em-mc", [sd(0.42, 0.05), sd(0.49, 0.07), sd(1.5e9, 8.4e7), sd(14.19, 43.27)]),
    paper("synth-10d", "lsh-splits", [sd(0.93, 0.02), sd(0.95, 0.02), sd(1.2e8, 3.0e7), sd(0.04, 0.01)]),
    paper("synth-10d", "dpm", [sd(0.96, 0.02), sd(0.99, 0.01), sd(1.8e7, 2.7e7), mean(0.01)]),
    paper("synth-100d", "kmeans++", [mean(0.98), mean(1.0), mean(1.0e7), mean(0.0)]),
    paper("synth-100d", "dp-lloyd", [sd(0.58, 0.04), sd(0.63, 0.04), sd(1.5e10, 9.7e8), sd(0.21, 0.01)]),
    paper("synth-100d", "em-mc", [sd(0.09, 0.02), sd(0.11, 0.03), sd(3.5e10, 1.5e9), sd(19.32, 26.26)]),
    paper("synth-100d", "lsh-splits", [sd(0.98, 0.01), mean(1.0), sd(8.0e8, 3.6e8), mean(0.03)]),
    paper("synth-100d", "dpm", [sd(0.98, 0.01), sd(1.0, 0.01), sd(5.4e8, 3.4e8), mean(0.03)]),
    paper("letter", "kmeans++", [mean(0.15), sd(0.28, 0.01), sd(5.8e5, 2.8e3), mean(0.0)]),
    paper("letter", "dp-lloyd", [sd(0.09, 0.02), sd(0.13, 0.02), sd(1.1e6, 6.4e4), sd(0.20, 0.01)]),
    paper("letter", "em-mc", [sd(0.09, 0.02), sd(0.11, 0.02), sd(1.2e6, 6.7e4), sd(23.81, 67.34)]),
    paper("letter", "lsh-splits", [sd(0.07, 0.01), sd(0.24, 0.02), sd(8.5e5, 2.6e4), mean(0.07)]),
    paper("letter", "dpm", [sd(0.05, 0.01), sd(0.20, 0.02), sd(9.5e5, 3.3e4), sd(0.10, 0.01)]),
    paper("gas_turbine", "kmeans++", [mean(0.37), None, sd(2.5e7, 1.0e1), mean(0.0)]),
    paper("gas_turbine", "dp-lloyd", [mean(-1.0), None, sd(5.1e7, 5.7e6), sd(0.25, 0.02)]),
    paper("gas_turbine", "em-mc", [mean(-1.0), None, sd(4.0e7, 5.0e5), mean(0.0)]),
    paper("gas_turbine", "lsh-splits", [sd(-0.08, 0.56), None, sd(1.0e8, 2.7e7), mean(0.02)]),
    paper("gas_turbine", "dpm", [sd(0.13, 0.27), None, sd(3.7e7, 1.6e7), mean(0.01)]),
    embedding("kmeans++", [sd(0.61, 0.02), sd(0.98, 0.02), mean(0.0)]),
    embedding("dp-lloyd", [sd(0.14, 0.28), sd(0.33, 0.12), sd(0.30, 0.05)]),
    embedding("em-mc", [sd(0.42, 0.07), sd(0.79, 0.07), sd(0.07, 0.01)]),
    embedding("lsh-splits", [sd(0.59, 0.01), sd(0.95, 0.01), sd(0.03, 0.01)]),
    embedding("dpm", [sd(0.60, 0.01), sd(0.98, 0.01), mean(0.02)]),
    rerun("synth-10d", "kmeans++", [mean(1.0), mean(1.00e6), mean(0.0)]),
    rerun("synth-10d", "dpm", [mean(0.994), mean(1.35e7), mean(0.0107)]),
    rerun("synth-10d", "lsh-splits", [mean(0.982), mean(7.4e7), mean(0.029)]),
    rerun("synth-10d", "dp-lloyd", [mean(0.647), mean(6.2e8), mean(0.124)]),
    rerun("synth-100d", "kmeans++", [mean(1.0), mean(9.99e6), mean(0.0)]),
    rerun("synth-100d", "dpm", [mean(1.0), mean(2.92e8), mean(0.0264)]),
    rerun("synth-100d", "lsh-splits", [mean(1.0), mean(8.1e8), mean(0.038)]),
    rerun("synth-100d", "dp-lloyd", [mean(0.634), mean(1.48e10), mean(0.209)]),
    rerun("letter", "kmeans++", [mean(0.289), mean(5.79e5), mean(0.046)]),
    rerun("letter", "dpm", [mean(0.192), mean(9.87e5), mean(0.093)]),
    rerun("letter", "lsh-splits", [mean(0.234), mean(8.22e5), mean(0.075)]),
    rerun("letter", "dp-lloyd", [mean(0.134), mean(1.07e6), mean(0.196)]),
    rerun("gas_turbine", "kmeans++", [None, mean(2.47e7), mean(0.0)]),
    rerun("gas_turbine", "dpm", [None, mean(3.5e7), mean(0.007)]),
    rerun("gas_turbine", "lsh-splits", [None, mean(8.4e7), mean(0.018)]),
    rerun("gas_turbine", "dp-lloyd", [None, mean(4.9e7), mean(0.20)]),
];

#[cfg(test)]
mod tests {
    use super::{RERUN, TABLE, comparable, for_dataset};
    use quietus_datasets::catalogue::CLUSTERING;

    #[test]
    fn every_row_belongs_to_a_data_set_and_the_paper_comes_first() {
        for row in &TABLE {
            assert!(CLUSTERING.iter().any(|recipe| recipe.id == row.dataset), "{}", row.dataset);
        }
        for recipe in &CLUSTERING {
            let first = for_dataset(recipe.id).next().map(|row| row.source);
            assert!(first.is_none_or(|source| source != &RERUN), "{}", recipe.id);
        }
    }

    #[test]
    fn only_epsilon_one_is_comparable() {
        assert!(comparable(None) && comparable(Some(1.0)));
        assert!(!comparable(Some(0.5)));
    }
}
