//! `cargo xtask data generate NAME`: a generated set as tables, the same bytes each time.

use crate::Error;
use crate::nation::{self, Scale};
use crate::{catalogue, prepare, synth};
use crate::{files, workspace};
use dp_census::{GroupSizes, Hierarchy};
use flate2::{Compression, GzBuilder};
use std::io::{self, Write};
use std::path::Path;

/// Writes FOLDER/NAME/NAME.csv.gz, or the tables of the nation, and says what it wrote.
///
/// # Errors
/// If the name, the size or the folder is not usable.
pub fn write(name: &str, seed: u64, n: Option<usize>, folder: &Path) -> Result<String, Error> {
    if name == nation::ID {
        let groups = n.map_or(Ok(nation::WHOLE.groups), i64::try_from).unwrap_or(i64::MAX);
        return write_nation(Scale { groups, ..nation::WHOLE }, seed, folder);
    }
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

/// Most groups of a nation: far below where sums would overflow.
const MOST_GROUPS: i64 = 1_000_000_000_000;

/// Writes FOLDER/census-synthetic/regions.csv, a region and the one it lies in, and table.csv, how many groups of a size are in a region
/// of the lowest level; the largest size stands for all from it on.
fn write_nation(scale: Scale, seed: u64, folder: &Path) -> Result<String, Error> {
    if !(nation::OUTLIERS..=MOST_GROUPS).contains(&scale.groups) {
        let got = scale.groups.to_string();
        return Err(Error::Setting { name: "--n", got, want: "from 50 to 1e12" });
    }
    let (hierarchy, sizes) = nation::generate(scale, nation::SEED.wrapping_add(seed))?;
    let folder = folder.join(nation::ID);
    files::create_folder(&folder)?;
    let mut said = Vec::new();
    for (name, lines) in
        [("regions.csv", regions(&hierarchy)), ("table.csv", groups(&hierarchy, &sizes))]
    {
        let path = folder.join(name);
        let text = lines.join("\n") + "\n";
        files::write_atomically(&path, |writer| writer.write_all(text.as_bytes()))?;
        let (rows, sum) = (lines.len() - 1, files::sha256_hex(text.as_bytes()));
        said.push(format!("{}: {rows} rows, sha256 {sum}", workspace::shown(&path)));
    }
    let (groups, largest) = (sizes.groups(), scale.largest);
    said.push(format!("{groups} groups of sizes 0 to {largest} or more, seed {seed}"));
    Ok(said.join("\n"))
}

/// From the root down; the root lies in none.
fn regions(hierarchy: &Hierarchy) -> Vec<String> {
    let tree = hierarchy.tree();
    let line = |region: usize| {
        let parent = tree.parent(region).map_or("", |parent| hierarchy.name(parent));
        format!("{},{parent}", hierarchy.name(region))
    };
    ["region,parent".to_owned()].into_iter().chain((0..tree.len()).map(line)).collect()
}

/// Sizes that a region has no group of are left out.
fn groups(hierarchy: &Hierarchy, sizes: &GroupSizes) -> Vec<String> {
    let mut lines = vec!["region,size,groups".to_owned()];
    let rows = sizes.counts().chunks_exact(sizes.columns());
    for (leaf, row) in hierarchy.tree().leaves().zip(rows) {
        let region = hierarchy.name(leaf);
        let filled = row.iter().enumerate().filter(|&(_, &count)| count != 0);
        lines.extend(filled.map(|(size, count)| format!("{region},{size},{count}")));
    }
    lines
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
    use super::{write, write_nation};
    use crate::nation::{self, Scale};
    use crate::{catalogue, prepare, synth};
    use dp_census::{From0, GroupSizes, Hierarchy};
    use quietus::table::numbers;

    #[test]
    fn what_was_written_reads_back_to_the_same_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let said = write("synth-10d", 0, Some(130), folder.path()).unwrap();
        assert!(said.contains("130 rows, 10 columns and the label, seed 0"), "{said}");
        let path = folder.path().join("synth-10d/synth-10d.csv.gz");
        let bytes = std::fs::read(&path).unwrap();
        let mut read = numbers::parse(&bytes, &path).unwrap();
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

    #[test]
    fn a_nation_reads_back_to_the_same_regions_and_groups() {
        let folder = tempfile::tempdir().unwrap();
        let scale = Scale { states: 3, counties: 9, groups: 2_000, largest: 12 };
        let said = write_nation(scale, 0, folder.path()).unwrap();
        assert!(said.contains("regions.csv: 13 rows") && said.contains("2000 groups"), "{said}");
        let read = |name: &str| {
            let path = folder.path().join(nation::ID).join(name);
            std::fs::read_to_string(path).unwrap()
        };
        let (regions, table) = (read("regions.csv"), read("table.csv"));
        let rows = regions.lines().skip(1).map(|line| {
            let (name, parent) = line.split_once(',').unwrap();
            (name, Some(parent).filter(|parent| !parent.is_empty()))
        });
        let hierarchy = Hierarchy::new(rows).unwrap();
        let cells = table.lines().skip(1).map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0], cells[1].parse().unwrap(), cells[2].parse().unwrap())
        });
        let bins = From0::up_to(12).unwrap();
        let sizes = GroupSizes::from_rows(&hierarchy, bins, cells).unwrap();
        let (same_hierarchy, same) = nation::generate(scale, nation::SEED).unwrap();
        assert_eq!((&sizes, hierarchy.tree()), (&same, same_hierarchy.tree()));
        let other = nation::generate(scale, nation::SEED + 1).unwrap();
        assert_ne!(other.1, same, "the seed matters");
        let error = write(nation::ID, 0, Some(49), folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "--n must be from 50 to 1e12, got 49");
    }
}
