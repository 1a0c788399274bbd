//! The metrics of one clustering, by the names that results.jsonl uses.

use crate::data::prepare::Dataset;
use crate::seed::named_rng;
use dp_cluster::metrics;
use dp_geometry::Points;
use std::collections::BTreeMap;

/// Computes every metric that the data set allows. All clusterings of a data set are judged on the
/// same silhouette sample.
pub(crate) fn metrics_of(
    centres: &Points,
    dataset: &Dataset,
    references: &[Points],
    silhouette_sample: usize,
) -> BTreeMap<String, f64> {
    let (points, view) = (dataset.points.view(), centres.view());
    let mut found = BTreeMap::new();
    let mut put = |name: &str, value: f64| {
        // JSON has no NaN; a metric that is not a number is as good as absent.
        if value.is_finite() {
            found.insert(name.to_owned(), value);
        }
    };
    put("centres", centres.len() as f64);
    put("inertia_squared", metrics::squared_inertia(points, view));
    put("inertia", metrics::inertia(points, view));
    put("silhouette", silhouette(centres, dataset, silhouette_sample));
    if let Some(labels) = &dataset.labels {
        put("accuracy", metrics::accuracy(points, labels, view));
    }
    if let Some(truth) = &dataset.true_centres {
        put("clusters_found", metrics::distinct_clusters_found(view, truth.view()) as f64);
    }
    if let Some(distance) = metrics::normalised_kmeans_distance(view, references, &dataset.domain) {
        put("kmeans_distance_normalised", distance);
    }
    found
}

/// Silhouette on a sample that depends on the data set and the size only.
pub(crate) fn silhouette(centres: &Points, dataset: &Dataset, sample: usize) -> f64 {
    let mut rng = named_rng(&["silhouette", dataset.recipe.id, &sample.to_string()]);
    metrics::silhouette(dataset.points.view(), centres.view(), sample, &mut rng)
}
