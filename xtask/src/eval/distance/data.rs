//! Records in the box of side 2.

use crate::error::{Error, TableError, TableProblem};
use crate::eval::distance::sources::{Origin, Role, Source};
use crate::eval::suite::Context;
use dp_geometry::{Points, PublicBox};
use quietus::table::numbers;
use quietus_datasets::files;
use quietus_datasets::seed::named_rng;
use quietus_datasets::store;
use quietus_datasets::synth::{BlobSpec, blobs};
use rand::seq::SliceRandom as _;

/// Records in memory, scaled.
pub(super) struct Scaled {
    pub(super) source: Source,
    pub(super) points: Points,
    pub(super) public_box: PublicBox,
    /// SHA-256 of all coordinates.
    pub(super) checksum: String,
}

/// The records, or `None` if their file is not here.
pub(super) fn read(source: &Source, context: &Context) -> Result<Option<Scaled>, Error> {
    let (set, dim) = (source.set, source.dim());
    // The frontier is one population, of which there are more and more records.
    let name = if set.role == Role::Frontier { "frontier" } else { set.name };
    let mut rng = named_rng(&["distance", name]);
    let mut values = match set.origin {
        Origin::Blobs => {
            let range = set.sides[0];
            blobs(&BlobSpec { n: set.n, d: dim, k: 12, range }, &mut rng).points
        }
        Origin::File { set: name, file } => {
            let listed = context.manifest.set(name)?;
            let (folder, entry) = (&context.settings.datasets, &listed.files[file]);
            let Some(bytes) = store::read_checked(folder, entry)? else { return Ok(None) };
            let path = folder.join(&entry.path);
            let mut table = numbers::parse(&bytes, &path)?;
            if let Some(label) = &listed.label {
                table.take_labels(label, &path)?;
            }
            let got = table.columns.len();
            if got != dim {
                let problem = TableProblem::Columns { got, want: dim };
                return Err(TableError { path, line: 0, problem }.into());
            }
            table.values
        }
    };
    if values.len() > set.n * dim {
        let mut rows: Vec<usize> = (0..values.len() / dim).collect();
        rows.shuffle(&mut rng);
        rows.truncate(set.n);
        values = rows.into_iter().flat_map(|row| values[row * dim..][..dim].to_vec()).collect();
    }
    for (at, value) in values.iter_mut().enumerate() {
        let (low, high) = set.sides[at % dim];
        *value = (2.0 * (*value - low) / (high - low) - 1.0).clamp(-1.0, 1.0);
    }
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Ok(Some(Scaled {
        source: *source,
        points: Points::new(values, dim)?,
        public_box: PublicBox::cube(dim, -1.0, 1.0)?,
        checksum: files::sha256_hex(&bytes),
    }))
}
