//! Where things are in the workspace.

use std::path::{Path, PathBuf};

/// The folder of the workspace's Cargo.toml: asked of cargo at run time, as built otherwise.
pub fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or_else(|| package.clone(), Path::to_path_buf)
}

/// Where results and reports go unless the user says otherwise.
pub fn default_out() -> PathBuf {
    root().join("target").join("eval")
}

/// Where imported and generated data sets are kept.
pub fn data_cache() -> PathBuf {
    root().join("target").join("datasets")
}

/// A path as a person in the current folder would type it.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let short = path.strip_prefix(&here).unwrap_or(path);
    short.display().to_string()
}
