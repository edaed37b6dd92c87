//! Programs on this machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

/// The program that a shell would run for this name: on `PATH`, unless the name holds a slash.
pub(super) fn find(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if name.contains('/') {
        return std::path::absolute(name).ok().filter(|found| is_executable(found));
    }
    std::env::split_paths(path?)
        .filter_map(|folder| std::path::absolute(folder.join(name)).ok())
        .find(|found| is_executable(found))
}

/// Every program of this name on `PATH`, in its order.
pub(super) fn find_all(name: &str, path: Option<&OsStr>) -> Vec<PathBuf> {
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let found = folders.filter_map(|folder| std::path::absolute(folder.join(name)).ok());
    found.filter(|found| is_executable(found)).collect()
}

/// Whether this is a file that may be run.
pub(super) fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}
