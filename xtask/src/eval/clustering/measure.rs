//! The metrics of one clustering, by the names that results.jsonl uses.

use crate::error::Error;
use crate::eval::clustering::algorithms;
use dp_accounting::budget_to_mu;
use dp_cluster::metrics;
use dp_geometry::Points;
use quietus_datasets::prepare::Dataset;
use quietus_datasets::seed::named_rng;
use std::collections::BTreeMap;

/// The metrics that take about as long as an assignment of all points.
pub(crate) fn basic(centres: &Points, dataset: &Dataset) -> Result<BTreeMap<String, f64>, Error> {
    let (points, view) = (dataset.points.view(), centres.view());
    let mut found = vec![
        ("centres", centres.len() as f64),
        ("inertia_squared", metrics::squared_inertia(points, view)?),
        ("inertia", metrics::inertia(points, view)?),
    ];
    if let Some(labels) = &dataset.labels {
        found.push(("accuracy", metrics::accuracy(points, labels, view)?));
    }
    if let Some(truth) = &dataset.true_centres {
        let clusters = metrics::distinct_clusters_found(view, truth.view())?;
        found.push(("clusters_found", clusters as f64));
    }
    Ok(numbers(found))
}

/// The metrics that look at pairs of points or at many reference clusterings. All clusterings of a
/// data set are judged on the same silhouette sample.
pub(crate) fn costly(
    centres: &Points,
    dataset: &Dataset,
    references: &[Points],
    silhouette_sample: usize,
) -> Result<BTreeMap<String, f64>, Error> {
    let mut found = vec![("silhouette", silhouette(centres, dataset, silhouette_sample)?)];
    let distance =
        metrics::normalised_kmeans_distance(centres.view(), references, &dataset.domain)?;
    found.extend(distance.map(|distance| ("kmeans_distance_normalised", distance)));
    Ok(numbers(found))
}

/// What a private method at this epsilon loses at least, in squared inertia; `None` without a delta.
pub(crate) fn floor(data: &Dataset, best: &Points, epsilon: f64) -> Result<Option<f64>, Error> {
    let mu = budget_to_mu(algorithms::budget(epsilon, data.recipe.delta())?);
    let floor = |mu| metrics::information_floor(data.points.view(), best.view(), mu);
    Ok(mu.map(floor).transpose()?)
}

/// JSON has no NaN; a metric that is not a number is as good as absent.
fn numbers(found: Vec<(&str, f64)>) -> BTreeMap<String, f64> {
    let finite = found.into_iter().filter(|(_, value)| value.is_finite());
    finite.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Silhouette on a sample that depends on the data set and the size only.
pub(crate) fn silhouette(centres: &Points, dataset: &Dataset, sample: usize) -> Result<f64, Error> {
    let mut rng = named_rng(&["silhouette", dataset.recipe.id, &sample.to_string()]);
    Ok(metrics::silhouette(dataset.points.view(), centres.view(), sample, &mut rng)?)
}
