//! `cargo xtask data list`: one line per data set, or all about one.

use crate::manifest::{Manifest, Set};
use crate::store::{self, Presence};
use crate::{catalogue, nation};
use std::fmt::Write as _;
use std::path::Path;

/// The table, generated sets first; `folder` is where files are looked for.
pub fn table(manifest: &Manifest, folder: &Path) -> String {
    let mut lines =
        vec![["name", "rows x columns", "here", "published", "licence"].map(String::from)];
    for recipe in catalogue::CLUSTERING.iter().filter(|recipe| recipe.is_generated()) {
        lines.push([
            recipe.id.to_owned(),
            format!("{} x {} + label", recipe.n, recipe.d),
            "generated".to_owned(),
            format!("cargo xtask data generate {}", recipe.id),
            "as this workspace".to_owned(),
        ]);
    }
    let nation::Scale { counties, largest, .. } = nation::WHOLE;
    lines.push([
        nation::ID.to_owned(),
        format!("{counties} x {}", largest + 1),
        "generated".to_owned(),
        format!("cargo xtask data generate {}", nation::ID),
        "as this workspace".to_owned(),
    ]);
    for set in &manifest.sets {
        lines.push([
            set.name.clone(),
            set.shape.clone(),
            here(folder, set),
            set.published.clone(),
            set.licence.clone(),
        ]);
    }
    aligned(&lines)
}

fn here(folder: &Path, set: &Set) -> String {
    match store::presence(folder, set) {
        Presence::All => "present".to_owned(),
        Presence::Some { right, of } => format!("{right} of {of} files"),
        Presence::Wrong => "wrong checksum".to_owned(),
        Presence::Missing => "missing".to_owned(),
    }
}

/// Everything that the manifest says about one set.
pub fn details(set: &Set, folder: &Path) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name:<12} {value}").expect("writing to a String cannot fail");
    };
    line("name", &set.name);
    line("shape", &set.shape);
    line("columns", &set.columns);
    line("classes", set.label.as_deref().unwrap_or("none"));
    line("here", &here(folder, set));
    line("licence", &set.licence);
    line("publisher", &set.publisher);
    line("published", &set.published);
    for source in &set.copied_from {
        line("copied from", source);
    }
    for file in &set.files {
        let facts = format!("{} rows, {} bytes, sha256 {}", file.rows, file.bytes, file.sha256);
        line("file", &format!("{}: {facts}", file.path));
    }
    text
}

fn aligned(lines: &[[String; 5]]) -> String {
    let width = |column: usize| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut text = String::new();
    for line in lines {
        for (cell, width) in line.iter().zip(&widths) {
            write!(text, "{cell:width$}  ").expect("writing to a String cannot fail");
        }
        writeln!(text, "{}", line[4]).expect("writing to a String cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{details, table};
    use crate::store::tests::{put_toy, toy_manifest};

    #[test]
    fn the_list_says_what_is_here_and_where_the_rest_is() {
        let folder = tempfile::tempdir().unwrap();
        put_toy(folder.path(), "x,y\n1,2\n3,4\n");
        let shown = table(&toy_manifest("x,y\n1,2\n3,4\n"), folder.path());
        insta::assert_snapshot!(shown, @r"
        name              rows x columns        here       published                                   licence
        synth-10d         100000 x 10 + label   generated  cargo xtask data generate synth-10d         as this workspace
        synth-100d        100000 x 100 + label  generated  cargo xtask data generate synth-100d        as this workspace
        census-synthetic  3144 x 1001           generated  cargo xtask data generate census-synthetic  as this workspace
        toy               2 x 2                 present    nowhere                                     CC0-1.0
        far               1 x 1                 missing    nowhere                                     CC0-1.0
        ");
    }

    #[test]
    fn one_set_is_shown_with_all_its_facts() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = toy_manifest("x,y\n1,2\n3,4\n");
        insta::assert_snapshot!(details(&manifest.sets[0], folder.path()), @r"
        name         toy
        shape        2 x 2
        columns      x, y
        classes      none
        here         missing
        licence      CC0-1.0
        publisher    tests
        published    nowhere
        copied from  nowhere
        file         toy/toy.csv: 2 rows, 12 bytes, sha256 2a2b86e74ffd5e6a9b75e52a105cf9d02920837179f8e8961aa15411d380f7a3
        ");
    }
}
