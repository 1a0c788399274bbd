//! From a recipe to the points that algorithms see.

use crate::Error;
use crate::catalogue::{Origin, Recipe};
use crate::seed::named_rng;
use crate::sets::Shelf;
use crate::{files, store, synth};
use dp_geometry::{Points, PublicBox};
use quietus::table::{TableError, TableProblem};
use rand::rngs::ChaCha20Rng;
use rand::{Rng, RngExt};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A data set in memory.
#[derive(Debug)]
pub struct Dataset {
    /// What it was made by.
    pub recipe: &'static Recipe,
    /// The records.
    pub points: Points,
    /// The class of each point, where there are classes.
    pub labels: Option<Vec<u32>>,
    /// The centres that the points were generated around.
    pub true_centres: Option<Points>,
    /// The declared range.
    pub domain: PublicBox,
    /// SHA-256 over all coordinates: equal exactly if the points are.
    pub checksum: String,
}

/// Makes the points of a recipe; `None` if it is a real set whose file is not here.
///
/// # Errors
/// If a file is not the one of the manifest, or has another shape.
pub fn prepare(recipe: &'static Recipe, shelf: &Shelf<'_>) -> Result<Option<Dataset>, Error> {
    let (values, labels, centres) = match recipe.origin {
        Origin::Blobs => {
            let made = synth::blobs(&recipe.blobs(), &mut blob_rng(recipe.id, 0));
            (made.points, Some(made.labels), Some(made.centres))
        }
        Origin::Table | Origin::ClippedTable | Origin::RowsPerClass(_) => {
            let set = shelf.manifest.set(recipe.id)?;
            let Some((mut table, path)) = store::read_table(shelf.folder, set)? else {
                return Ok(None);
            };
            let labels = match &set.label {
                Some(name) => table.take_labels(name, &path)?,
                None => None,
            };
            let width = table.columns.len();
            expect(width == recipe.d, &path, TableProblem::Columns { got: width, want: recipe.d })?;
            match (&recipe.origin, labels) {
                (Origin::RowsPerClass(rows), Some(labels)) => {
                    let mut rng = named_rng(&["rows per class", recipe.id]);
                    let (values, labels) =
                        resample(&table.values, &labels, recipe.d, *rows, &mut rng);
                    (values, Some(labels), None)
                }
                (Origin::ClippedTable, labels) => {
                    let (low, high) = recipe.range;
                    table.values.iter_mut().for_each(|value| *value = value.clamp(low, high));
                    (table.values, labels, None)
                }
                (_, labels) => (table.values, labels, None),
            }
        }
    };
    let rows = values.len() / recipe.d;
    let place = PathBuf::from(recipe.id);
    expect(rows == recipe.n, &place, TableProblem::Rows { got: rows, want: recipe.n })?;
    let (low, high) = recipe.range;
    let as_points =
        |values| Points::new(values, recipe.d).map_err(|error| Error::library("points", &error));
    Ok(Some(Dataset {
        recipe,
        checksum: checksum(&values),
        points: as_points(values)?,
        labels,
        true_centres: centres.map(as_points).transpose()?,
        domain: PublicBox::cube(recipe.d, low, high)
            .map_err(|error| Error::library("declared range", &error))?,
    }))
}

/// The stream behind a generated set; the evaluation uses seed 0.
pub fn blob_rng(name: &str, seed: u64) -> ChaCha20Rng {
    named_rng(&["blobs", name, &seed.to_string()])
}

fn expect(holds: bool, path: &Path, problem: TableProblem) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(TableError { path: path.to_path_buf(), line: 0, problem }.into())
    }
}

/// `rows` rows of each class, drawn with replacement, class after class.
fn resample<R: Rng + ?Sized>(
    values: &[f64],
    labels: &[u32],
    d: usize,
    rows: usize,
    rng: &mut R,
) -> (Vec<f64>, Vec<u32>) {
    let classes = labels.iter().max().map_or(0, |&largest| largest + 1);
    let (mut drawn, mut drawn_labels) = (Vec::new(), Vec::new());
    for class in 0..classes {
        let members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == class).collect();
        for _ in 0..if members.is_empty() { 0 } else { rows } {
            let row = members[rng.random_range(0..members.len())];
            drawn.extend_from_slice(&values[row * d..][..d]);
            drawn_labels.push(class);
        }
    }
    (drawn, drawn_labels)
}

fn checksum(values: &[f64]) -> String {
    let mut hash = Sha256::new();
    let mut buffer = Vec::with_capacity(8 * 4096);
    for chunk in values.chunks(4096) {
        buffer.clear();
        buffer.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
        hash.update(&buffer);
    }
    files::hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::{checksum, prepare, resample};
    use crate::catalogue::CLUSTERING;
    use crate::files::sha256_hex;
    use crate::manifest::Manifest;
    use crate::seed::named_rng;
    use crate::sets::Shelf;

    #[test]
    fn each_class_gets_its_rows_and_keeps_its_label() {
        let values = [0.0, 1.0, 10.0, 11.0, 12.0];
        let (drawn, labels) =
            resample(&values, &[0, 0, 2, 2, 2], 1, 50, &mut named_rng(&["resample"]));
        assert_eq!(drawn.len(), 100);
        for (value, label) in drawn.iter().zip(&labels) {
            assert_eq!(*label, if *value < 5.0 { 0 } else { 2 });
        }
        assert!((0..2).all(|v| drawn.contains(&f64::from(v))), "all members can be drawn");
    }

    #[test]
    fn the_checksum_is_that_of_the_little_endian_bytes() {
        let values: Vec<f64> = (0..10_000).map(f64::from).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(checksum(&values), sha256_hex(&bytes));
    }

    #[test]
    fn a_set_that_is_not_here_is_left_out_with_the_way_to_get_it() {
        let (folder, manifest) = (tempfile::tempdir().unwrap(), Manifest::of_workspace().unwrap());
        let shelf = Shelf { manifest: &manifest, folder: folder.path() };
        assert!(prepare(&CLUSTERING[2], &shelf).unwrap().is_none());
        let how = shelf.how_to_get("letter").unwrap();
        let how = how.replace(&folder.path().display().to_string(), "DIR");
        insta::assert_snapshot!(how, @"`letter` is not in DIR; published at archive.ics.uci.edu/dataset/59; `cargo xtask data import DIR` takes a local copy, `--datasets DIR` reads one in place");
    }

    #[test]
    fn a_corrupt_real_set_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("letter")).unwrap();
        std::fs::write(folder.path().join("letter/letter.csv.gz"), "not it").unwrap();
        let manifest = Manifest::of_workspace().unwrap();
        let shelf = Shelf { manifest: &manifest, folder: folder.path() };
        let error = prepare(&CLUSTERING[2], &shelf).unwrap_err().to_string();
        assert!(error.contains("letter.csv.gz is refused: sha256 is "), "{error}");
        assert!(error.contains("the manifest says 4a29dad3"), "{error}");
    }
}
