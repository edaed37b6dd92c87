//! The cache folder: installed agents, and the folders of cases while they run.

use std::path::PathBuf;

use crate::agent::install::{InstallError, Store};

/// No place for the cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Nothing says where it could be.
    #[error(transparent)]
    Unknown(#[from] InstallError),
    /// It cannot be made.
    #[error(
        "cannot make the cache folder {path}: {source}; set CONFORM_CACHE to a folder that can be written"
    )]
    Create {
        /// The folder.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// The cache folder, as the environment says (XDG Base Directory Specification).
///
/// # Errors
/// When no variable says where it is.
pub fn folder() -> Result<PathBuf, CacheError> {
    Ok(Store::default_cache(|name| std::env::var_os(name))?)
}

/// The folder below which case folders are made.
///
/// It is not the system's temporary folder: agents treat that one as a place where everyone may
/// write, so a file beside the workspace would be no file outside of it.
///
/// # Errors
/// When it cannot be made.
pub fn case_parent() -> Result<PathBuf, CacheError> {
    let path = folder()?.join("cases");
    match std::fs::create_dir_all(&path).and_then(|()| path.canonicalize()) {
        Ok(path) => Ok(path),
        Err(source) => Err(CacheError::Create { path: path.display().to_string(), source }),
    }
}
