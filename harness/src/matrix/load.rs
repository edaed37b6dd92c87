//! Loads matrix files.
use super::model::Matrix;
use conform_mock_server::document::Diagnostic;
use std::path::{Path, PathBuf};

/// Loads one file.
///
/// # Errors
/// All that is wrong with it.
pub fn load_file(_path: &Path) -> Result<Matrix, Vec<Diagnostic>> {
    Err(Vec::new())
}

/// Loads files and folders.
pub fn load_paths(_paths: &[PathBuf]) -> (Vec<Matrix>, Vec<Diagnostic>) {
    (Vec::new(), Vec::new())
}
