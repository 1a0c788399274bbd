//! `cargo xtask data generate NAME`: a generated set as a compressed table, the same bytes each time.

use crate::data::{catalogue, prepare, synth};
use crate::error::Error;
use crate::{files, workspace};
use flate2::{Compression, GzBuilder};
use std::io::{self, Write};
use std::path::Path;

/// Writes FOLDER/NAME/NAME.csv.gz and says what it wrote.
pub(crate) fn write(
    name: &str,
    seed: u64,
    n: Option<usize>,
    folder: &Path,
) -> Result<String, Error> {
    let recipe = catalogue::generated(name)?;
    let spec = synth::BlobSpec { n: n.unwrap_or(recipe.n), ..recipe.blobs() };
    if spec.n == 0 {
        return Err(Error::Setting { name: "--n", got: "0".to_owned(), want: "at least 1" });
    }
    let made = synth::blobs(&spec, &mut prepare::blob_rng(name, seed));
    let folder = folder.join(name);
    files::create_folder(&folder)?;
    let path = folder.join(format!("{name}.csv.gz"));
    files::write_atomically(&path, |writer| {
        // No time stamp in the header: equal data, equal bytes.
        let mut zipped = GzBuilder::new().mtime(0).write(writer, Compression::fast());
        table(&made, spec.d, &mut zipped)?;
        zipped.finish().map(|_| ())
    })?;
    let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
    Ok(format!(
        "{}: {} rows, {} columns and the label, seed {seed}, sha256 {}",
        workspace::shown(&path),
        spec.n,
        spec.d,
        files::sha256_hex(&bytes)
    ))
}

/// One line per point: its coordinates with all their digits, then its class.
fn table(made: &synth::Blobs, d: usize, writer: &mut impl Write) -> io::Result<()> {
    for column in 0..d {
        write!(writer, "x{column},")?;
    }
    writeln!(writer, "label")?;
    for (point, label) in made.points.chunks_exact(d).zip(&made.labels) {
        for x in point {
            write!(writer, "{x},")?;
        }
        writeln!(writer, "{label}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::write;
    use crate::data::{catalogue, prepare, synth, table};

    #[test]
    fn what_was_written_reads_back_to_the_same_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let said = write("synth-10d", 0, Some(130), folder.path()).unwrap();
        assert!(said.contains("130 rows, 10 columns and the label, seed 0"), "{said}");
        let path = folder.path().join("synth-10d/synth-10d.csv.gz");
        let bytes = std::fs::read(&path).unwrap();
        let mut read = table::parse(&bytes, &path).unwrap();
        let labels = read.take_labels("label", &path).unwrap().unwrap();
        let spec = synth::BlobSpec { n: 130, ..catalogue::generated("synth-10d").unwrap().blobs() };
        let made = synth::blobs(&spec, &mut prepare::blob_rng("synth-10d", 0));
        assert_eq!((read.values, labels), (made.points, made.labels));

        write("synth-10d", 0, Some(130), folder.path()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "byte for byte");
    }

    #[test]
    fn no_points_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = write("synth-10d", 0, Some(0), folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "--n must be at least 1, got 0");
    }
}
