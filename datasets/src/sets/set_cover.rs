//! Families of sets over users: OR-Library instances, baskets, ratings and a generator.

use super::{Shelf, checksum_of, numbers_of, text_of};
use crate::Error;
use crate::seed::named_rng;
use dp_combinatorial::Incidence;
use quietus::table::numbers;
use rand::RngExt;
use std::path::Path;

/// A family of sets over users. Everything here is public.
#[derive(Debug)]
pub struct Source {
    /// Its name.
    pub id: &'static str,
    origin: Origin,
    /// How often each user of the origin is there.
    copies: u32,
    /// Users, copies included.
    pub users: u32,
    /// Sets.
    pub sets: u32,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    /// Every user is in every set with probability one in fifty.
    Random,
    /// A file of `orlib_scp`: rows are users, columns are sets.
    OrLibrary { file: &'static str },
    /// Customers of `retail`, items as sets.
    Baskets,
    /// Raters of `movielens_small`, films as sets.
    Ratings,
}

/// All of them; the first needs no file.
pub static SOURCES: [Source; 10] = [
    random("random-x10", 10),
    random("random-x100", 100),
    library("scp41-x10", "scp41", 10, 200, 1_000),
    library("scp41-x100", "scp41", 100, 200, 1_000),
    library("scp51-x10", "scp51", 10, 200, 2_000),
    library("scpa1-x10", "scpa1", 10, 300, 3_000),
    library("scpa1-x100", "scpa1", 100, 300, 3_000),
    library("scpb1-x10", "scpb1", 10, 300, 3_000),
    Source { id: "movielens_small", origin: Origin::Ratings, copies: 1, users: 610, sets: 9_724 },
    Source { id: "retail", origin: Origin::Baskets, copies: 1, users: 88_162, sets: 16_470 },
];

const fn random(id: &'static str, copies: u32) -> Source {
    Source { id, origin: Origin::Random, copies, users: 200 * copies, sets: 1_000 }
}

const fn library(
    id: &'static str,
    file: &'static str,
    copies: u32,
    rows: u32,
    columns: u32,
) -> Source {
    let origin = Origin::OrLibrary { file };
    Source { id, origin, copies, users: rows * copies, sets: columns }
}

/// The family of this name.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn source(id: &str) -> Result<&'static Source, Error> {
    let unknown = || {
        let what = "data set of the suite set-cover";
        Error::unknown(what, id, SOURCES.iter().map(|source| source.id))
    };
    SOURCES.iter().find(|source| source.id == id).ok_or_else(unknown)
}

impl Source {
    /// The set of the manifest and the file in it; `None` if it is generated.
    pub fn file(&self) -> Option<(&'static str, String)> {
        match self.origin {
            Origin::Random => None,
            Origin::OrLibrary { file } => Some(("orlib_scp", format!("orlib_scp/{file}.txt.gz"))),
            Origin::Baskets => Some(("retail", "retail/retail.dat.gz".to_owned())),
            Origin::Ratings => {
                Some(("movielens_small", "movielens_small/ratings.csv.gz".to_owned()))
            }
        }
    }

    /// Whether a run takes seconds, so that only the main algorithms are run.
    pub fn is_large(&self) -> bool {
        self.sets > 4_000
    }
}

/// Who is in which set, with the SHA-256 over all memberships; `None` if the file is not there.
///
/// # Errors
/// If there is no such set, or its file is not the one of the manifest.
pub fn read(source: &Source, shelf: &Shelf<'_>) -> Result<Option<(Incidence, String)>, Error> {
    let lists = match source.file() {
        None => generated(source),
        Some((set, file)) => {
            let Some((bytes, path)) = shelf.bytes(set, Some(&file))? else { return Ok(None) };
            parse(source, &bytes, &path)?
        }
    };
    let copies = (0..source.copies).flat_map(|_| lists.iter().map(Vec::as_slice));
    let incidence = Incidence::from_slices(source.sets, copies)
        .map_err(|error| Error::library("memberships", &error))?;
    let checksum = checksum_of(&incidence);
    Ok(Some((incidence, checksum)))
}

fn generated(source: &Source) -> Vec<Vec<u32>> {
    // The same family for all numbers of copies.
    let mut rng = named_rng(&["set-cover", "random"]);
    let rows = source.users / source.copies;
    let mut list = || (0..source.sets).filter(|_| rng.random_range(0..50) == 0).collect();
    (0..rows).map(|_| list()).collect()
}

fn parse(source: &Source, bytes: &[u8], path: &Path) -> Result<Vec<Vec<u32>>, Error> {
    let rows = (source.users / source.copies) as usize;
    if let Origin::Ratings = source.origin {
        let table = numbers::parse(bytes, path)?;
        let mut lists = vec![Vec::new(); rows];
        for row in table.values.chunks_exact(table.columns.len()) {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the cast saturates, and what is out of range is refused"
            )]
            let (user, film) = (row[0] as usize, row[1] as u32);
            let list = user.checked_sub(1).and_then(|user| lists.get_mut(user));
            list.ok_or_else(|| Error::malformed(path, format!("there is no user {user}")))?
                .push(film);
        }
        return Ok(lists);
    }
    let text = text_of(bytes, path)?;
    let lists = match source.origin {
        Origin::OrLibrary { .. } => rows_of_the_library(&text, source, path)?,
        _ => text.lines().map(|line| numbers_of(line, path)).collect::<Result<Vec<_>, _>>()?,
    };
    if lists.len() == rows {
        Ok(lists)
    } else {
        Err(Error::malformed(path, format!("{} users, expected {rows}", lists.len())))
    }
}

/// Numbers of rows and columns, a cost per column, then for each row how many columns hold it and
/// which, counted from 1. Costs are left out: here every set costs the same.
fn rows_of_the_library(text: &str, source: &Source, path: &Path) -> Result<Vec<Vec<u32>>, Error> {
    let all = numbers_of(text, path)?;
    let mut rest = all.into_iter();
    let mut next = || rest.next().ok_or_else(|| Error::malformed(path, "it breaks off"));
    let (rows, columns) = (next()?, next()?);
    if columns != source.sets {
        return Err(Error::malformed(path, format!("{columns} columns, expected {}", source.sets)));
    }
    for _ in 0..columns {
        next()?;
    }
    let mut lists = Vec::new();
    for _ in 0..rows {
        let count = next()?;
        let mut list = Vec::new();
        for _ in 0..count {
            let column = next()?.checked_sub(1).filter(|column| *column < columns);
            list.push(column.ok_or_else(|| Error::malformed(path, "a column out of range"))?);
        }
        lists.push(list);
    }
    Ok(lists)
}

#[cfg(test)]
mod tests {
    use super::{Origin, Source, parse};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;
    use std::path::Path;

    fn parsed(text: &str) -> Result<Vec<Vec<u32>>, String> {
        let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
        writer.write_all(text.as_bytes()).unwrap();
        let origin = Origin::OrLibrary { file: "toy" };
        let source = Source { id: "toy", origin, copies: 2, users: 4, sets: 3 };
        let path = Path::new("toy.txt.gz");
        parse(&source, &writer.finish().unwrap(), path).map_err(|error| error.to_string())
    }

    #[test]
    fn an_instance_of_the_library_is_read_across_its_line_breaks() {
        assert_eq!(parsed(" 2 3\n 5 5\n 9\n 2\n 1 3 1\n2 \n"), Ok(vec![vec![0, 2], vec![1]]));
    }

    #[test]
    fn what_is_wrong_with_an_instance_is_said() {
        for (text, reason) in [
            ("2 3 5 5 9 2 1 3 1", "it breaks off"),
            ("2 4 5 5 9 1 2 1 3 1 2", "4 columns, expected 3"),
            ("2 3 5 5 9 2 1 4 1 2", "a column out of range"),
            ("2 3 5 5 9 2 0 3 1 2", "a column out of range"),
            ("1 3 5 5 9 2 1 3", "1 users, expected 2"),
            ("2 3 5 x", "`x` is not a number"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
