//! Generated sets of the kinds that clusterings fail on.

use crate::Error;
use crate::catalogue::{Origin, Recipe};
use crate::files;
use crate::prepare::Dataset;
use crate::seed::named_rng;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::ChaCha20Rng;
use rand::RngExt;
use rand_distr::{Distribution as _, StandardNormal};
use std::sync::LazyLock;

/// What the records are like. Coordinates are from -1 to 1 unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Separate,
    /// Sizes of 100 : 10 : 1.
    Unbalanced,
    /// Centres about three standard deviations apart.
    Overlapping,
    /// A tenth of all records is anywhere.
    Noisy,
    /// A thousand narrow clusters with sizes of 1 : 1/2 : 1/3 : ..., most of them in a few regions, in a box a hundred times too wide.
    Towns,
    /// In the corner of a box that is a thousand times too wide.
    Corner,
    /// The first column is a thousand times longer, in a cube that holds it.
    LongColumn,
    /// Each record is one of `k` points.
    Duplicates,
    /// All records are the same.
    Constant,
    OneCluster,
    Uniform,
}

/// A set that can be generated.
#[derive(Debug)]
pub struct Set {
    /// Its name, size and public domain.
    pub recipe: Recipe,
    kind: Kind,
}

/// All sets.
pub static SETS: LazyLock<Vec<Set>> = LazyLock::new(|| {
    let set = |id, kind, n, d, k| {
        let range = match kind {
            Kind::Towns => (-100.0, 100.0),
            Kind::Corner => (-1.0, 1_999.0),
            Kind::LongColumn => (-1e3, 1e3),
            _ => (-1.0, 1.0),
        };
        let recipe = Recipe { id, origin: Origin::Blobs, n, d, k, range, k_search: [k; 5] };
        Set { recipe, kind }
    };
    vec![
        set("separate", Kind::Separate, 96_000, 10, 64),
        set("unbalanced", Kind::Unbalanced, 100_000, 5, 12),
        set("overlapping", Kind::Overlapping, 5_000, 2, 15),
        set("noise", Kind::Noisy, 40_000, 5, 16),
        set("few-d10", Kind::Separate, 2_000, 10, 5),
        set("few-d2", Kind::Separate, 2_000, 2, 5),
        set("towns", Kind::Towns, 20_000, 2, 16),
        set("corner", Kind::Corner, 20_000, 5, 8),
        set("long-column", Kind::LongColumn, 20_000, 5, 8),
        set("duplicates", Kind::Duplicates, 5_000, 3, 4),
        set("constant", Kind::Constant, 5_000, 3, 4),
        set("one-cluster", Kind::OneCluster, 5_000, 4, 4),
        set("uniform", Kind::Uniform, 5_000, 3, 4),
        set("line", Kind::Separate, 5_000, 1, 5),
        set("d200", Kind::Separate, 3_000, 200, 4),
        set("fewer-than-k", Kind::Uniform, 3, 2, 5),
    ]
});

fn normal(rng: &mut ChaCha20Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Centres and the standard deviation around them.
fn clusters(kind: Kind, (d, k): (usize, usize), rng: &mut ChaCha20Rng) -> (Vec<f64>, f64) {
    let k = if kind == Kind::Towns { 1_000 } else { k };
    let typical = 0.8 * (k as f64).powf(-1.0 / d as f64);
    let (deviation, apart) = match kind {
        Kind::Overlapping => (typical / 4.0, 3.0),
        Kind::Towns => (0.002, 0.0),
        _ => (typical / 12.0, 10.0),
    };
    let regions: Vec<f64> = (0..12).map(|_| rng.random_range(-0.9..0.9)).collect();
    let mut centres: Vec<f64> = Vec::new();
    // Sets that are too crowded for the distance get centres that are nearer.
    for tries in 0_u32.. {
        if centres.len() == d * k {
            break;
        }
        let centre: Vec<f64> = if kind == Kind::Towns && tries % 4 > 0 {
            let region = 2 * rng.random_range(0..regions.len() / 2);
            regions[region..region + d].iter().map(|x| x + 0.04 * normal(rng)).collect()
        } else {
            (0..d).map(|_| rng.random_range(-0.9..0.9)).collect()
        };
        let least = (apart * deviation * 0.999_f64.powf(f64::from(tries) / k as f64)).powi(2);
        let far = |other: &[f64]| {
            other.iter().zip(&centre).map(|(x, y)| (x - y).powi(2)).sum::<f64>() >= least
        };
        if centres.chunks_exact(d).all(far) {
            centres.extend(centre);
        }
    }
    (centres, deviation)
}

/// The records of a set.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn generate(set: &'static Set) -> Result<Dataset, Error> {
    let Recipe { id, n, d, k, range, .. } = set.recipe;
    let mut rng = named_rng(&["robust", id]);
    let (centres, deviation) = clusters(set.kind, (d, k), &mut rng);
    let size = |cluster: usize| match set.kind {
        Kind::Unbalanced => [100.0, 10.0, 1.0][cluster % 3],
        Kind::Towns => 1.0 / (cluster + 1) as f64,
        _ => 1.0,
    };
    let sizes = (0..centres.len() / d).scan(0.0, |sum, cluster| {
        *sum += size(cluster);
        Some(*sum)
    });
    let sizes: Vec<f64> = sizes.collect();
    let mut coords = Vec::with_capacity(n * d);
    for _ in 0..n {
        let at = rng.random_range(0.0..sizes[sizes.len() - 1]);
        let cluster = d * sizes.partition_point(|&sum| sum <= at);
        let anywhere = set.kind == Kind::Uniform || set.kind == Kind::Noisy && rng.random_bool(0.1);
        for (axis, centre) in centres[cluster..cluster + d].iter().enumerate() {
            let x = match set.kind {
                _ if anywhere => rng.random_range(-1.0..1.0),
                Kind::Duplicates => *centre,
                Kind::Constant => centres[axis],
                Kind::OneCluster => 0.1 * normal(&mut rng) + 0.3,
                _ => centre + deviation * normal(&mut rng),
            };
            let longer = if set.kind == Kind::LongColumn && axis == 0 { 1e3 } else { 1.0 };
            coords.push((longer * x).clamp(range.0, range.1));
        }
    }
    let bytes: Vec<u8> = coords.iter().flat_map(|x| x.to_le_bytes()).collect();
    let library = |error: &dyn std::fmt::Display| Error::library("records", error);
    Ok(Dataset {
        recipe: &set.recipe,
        points: Points::new(coords, d).map_err(|error| library(&error))?,
        labels: None,
        true_centres: None,
        domain: PublicBox::cube(d, range.0, range.1).map_err(|error| library(&error))?,
        checksum: files::sha256_hex(&bytes),
    })
}
