//! `cargo xtask data ...`: what there is, generated as files, or taken over from a folder.

use crate::Ending;
use crate::cli::DataCommand;
use crate::error::Error;
use quietus_datasets::{generate, import, list, manifest, workspace};

/// `cargo xtask data ...`
pub(crate) fn command(command: &DataCommand) -> Result<Ending, Error> {
    let manifest = manifest::Manifest::of_workspace()?;
    match command {
        DataCommand::List { name, datasets } => {
            let folder = datasets.clone().unwrap_or_else(workspace::data_cache);
            match name {
                None => print!("{}", list::table(&manifest, &folder)),
                Some(name) => print!("{}", list::details(manifest.set(name)?, &folder)),
            }
            Ok(Ending::Complete)
        }
        DataCommand::Generate { name, seed, n, to } => {
            let folder = to.clone().unwrap_or_else(workspace::data_cache);
            println!("{}", generate::write(name, *seed, *n, &folder)?);
            Ok(Ending::Complete)
        }
        DataCommand::Import { dir, to } => {
            let folder = to.clone().unwrap_or_else(workspace::data_cache);
            let import = import::run(&manifest, dir, &folder)?;
            print!("{}", import.summary(&workspace::shown(&folder)));
            for error in &import.refused {
                eprintln!("error: {error}");
            }
            Ok(if import.refused.is_empty() { Ending::Complete } else { Ending::Incomplete })
        }
    }
}
