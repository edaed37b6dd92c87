//! Loads scenario files.
use super::model::Scenario;
use conform_mock_server::document::Diagnostic;
use std::path::{Path, PathBuf};

/// What was loaded from a selection.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// Everything wrong with the files.
    pub problems: Vec<Diagnostic>,
}

/// Loads one file.
///
/// # Errors
/// All that is wrong with it.
pub fn load_file(_path: &Path) -> Result<Scenario, Vec<Diagnostic>> {
    Err(Vec::new())
}

/// Loads files and folders.
pub fn load_paths(_paths: &[PathBuf]) -> Loaded {
    Loaded::default()
}
