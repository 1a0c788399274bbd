//! Non-private reference clusterings that the KMeans distance is averaged over: made once per data
//! set from a seed of their own and kept in OUT/references, so that they cost time only once.

use crate::error::Error;
use crate::eval::clustering::algorithms::exact_kmeans;
use crate::eval::clustering::measure::silhouette;
use crate::eval::settings::Effort;
use dp_geometry::Points;
use quietus_datasets::files;
use quietus_datasets::prepare::Dataset;
use quietus_datasets::seed::named_rng;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Silhouettes here only rank clusterings; this many points are enough.
const RANKING_SAMPLE: usize = 2_000;
/// Clusterings per number of clusters when searching for the best number.
const TRIES_PER_K: usize = 2;

/// What decides the references; a cached file with another one is not used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Origin {
    data: String,
    count: usize,
    searched: Vec<usize>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Cached {
    origin: Origin,
    clusterings: Vec<Points>,
}

/// Number of k-means fits that making the references takes.
pub(crate) fn fits(effort: Effort) -> usize {
    let search = if effort.searches_k() { 5 * TRIES_PER_K } else { 0 };
    search + effort.references()
}

/// Whether OUT has them already, without reading them all.
pub(crate) fn likely_cached(out: &Path, dataset: &str) -> bool {
    cache_path(out, dataset).is_file()
}

/// Reads the references from OUT or makes them. `after_fit` is called after each fit and says
/// whether to go on; `None` if not.
pub(crate) fn load_or_make(
    dataset: &Dataset,
    effort: Effort,
    out: &Path,
    mut after_fit: impl FnMut() -> bool,
) -> Result<Option<Vec<Points>>, Error> {
    let recipe = dataset.recipe;
    let searched = if effort.searches_k() { recipe.k_search.to_vec() } else { vec![recipe.k] };
    let origin = Origin { data: dataset.checksum.clone(), count: effort.references(), searched };
    let path = cache_path(out, recipe.id);
    if let Some(clusterings) = read_cache(&path, &origin) {
        return Ok(Some(clusterings));
    }
    let mut fit = |k: usize, index: usize| -> Result<Option<(f64, Points)>, Error> {
        let mut rng = named_rng(&["reference", recipe.id, &k.to_string(), &index.to_string()]);
        let centres = exact_kmeans(&dataset.points, k, &mut rng)?;
        let score = silhouette(&centres, dataset, RANKING_SAMPLE)?;
        Ok(after_fit().then_some((score, centres)))
    };
    let Some(ranked) = search(&origin.searched, origin.count, &mut fit)? else { return Ok(None) };
    let clusterings = ranked.into_iter().map(|(_, centres)| centres).collect();
    let cached = Cached { origin, clusterings };
    files::create_folder(&out.join("references"))?;
    files::write_atomically(&path, |writer| Ok(serde_json::to_writer(writer, &cached)?))?;
    Ok(Some(cached.clusterings))
}

/// A clustering with its rank.
type Scored<T> = (f64, T);

/// Tries each k a few times, then makes `count` more with the k that scored best on average, and
/// keeps the `count` best of all.
fn search<T>(
    ks: &[usize],
    count: usize,
    fit: &mut impl FnMut(usize, usize) -> Result<Option<Scored<T>>, Error>,
) -> Result<Option<Vec<Scored<T>>>, Error> {
    let mut found: Vec<Scored<T>> = Vec::new();
    let mut best = (f64::NEG_INFINITY, ks[0]);
    if ks.len() > 1 {
        for &k in ks {
            let mut total = 0.0;
            for index in 0..TRIES_PER_K {
                let Some(scored) = fit(k, index)? else { return Ok(None) };
                total += scored.0;
                found.push(scored);
            }
            if total > best.0 {
                best = (total, k);
            }
        }
    }
    for index in TRIES_PER_K..TRIES_PER_K + count {
        let Some(scored) = fit(best.1, index)? else { return Ok(None) };
        found.push(scored);
    }
    // A stable sort: equal scores keep the order in which they were made.
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(count);
    Ok(Some(found))
}

fn cache_path(out: &Path, dataset: &str) -> PathBuf {
    out.join("references").join(format!("{dataset}.json"))
}

/// Anything unreadable is made again rather than complained about.
fn read_cache(path: &Path, origin: &Origin) -> Option<Vec<Points>> {
    let cached: Cached = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    (cached.origin == *origin).then_some(cached.clusterings)
}

#[cfg(test)]
mod tests {
    use super::search;

    #[test]
    fn the_best_k_is_repeated_and_the_best_clusterings_are_kept() {
        let mut made = Vec::new();
        let kept = search(&[2, 3, 4], 3, &mut |k, index| {
            made.push(k);
            // k = 3 is best on average, one lucky k = 4 is best of all.
            let score = match (k, index) {
                (4, 1) => 0.95,
                (3, _) => 0.9,
                _ => 0.1,
            };
            Ok(Some((score, (k, index))))
        });
        let kept: Vec<_> = kept.unwrap().unwrap().into_iter().map(|(_, name)| name).collect();
        assert_eq!(made, [2, 2, 3, 3, 4, 4, 3, 3, 3]);
        assert_eq!(kept, [(4, 1), (3, 0), (3, 1)]);
    }

    #[test]
    fn one_k_needs_no_search_and_a_stop_ends_it() {
        let mut made = 0;
        let mut fit = |k: usize, _| {
            made += 1;
            Ok((made < 3).then_some((0.5, k)))
        };
        assert_eq!(search(&[7], 2, &mut fit).unwrap().unwrap().len(), 2);
        assert!(search(&[7], 2, &mut fit).unwrap().is_none());
    }
}
