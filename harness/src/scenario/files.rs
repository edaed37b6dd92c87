//! Finds and reads the YAML files of a selection.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use conform_mock_server::document::{Diagnostic, Place, Source, Span};
use walkdir::WalkDir;

/// The files of a selection, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Each file once, in the order of the selection, folders sorted by name.
    pub(crate) documents: Vec<(PathBuf, Arc<Source>)>,
    /// What could not be read.
    pub(crate) problems: Vec<Diagnostic>,
}

/// Reads one file.
pub(crate) fn read_source(path: &Path, what: &str) -> Result<Arc<Source>, Box<Diagnostic>> {
    let bytes = std::fs::read(path)
        .map_err(|error| Box::new(about_path(path, format!("cannot read this {what}: {error}"))))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(path.display().to_string(), text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Box::new(
                about_path(
                    path,
                    format!("this {what} is not UTF-8: byte {at} begins no character"),
                )
                .with_help("save the file as UTF-8"),
            ))
        }
    }
}

/// Reads the files and the `*.yaml` and `*.yml` files of the folders. A file that is reached twice
/// is read once. `what` is the word for a file, such as `scenario`.
pub(crate) fn read_documents(paths: &[PathBuf], what: &str) -> Reading {
    let mut reading = Reading::default();
    let mut seen = HashSet::new();
    for path in paths {
        for file in reading.files_of(path, what) {
            let identity = file.canonicalize().unwrap_or_else(|_| file.clone());
            if !seen.insert(identity) {
                continue;
            }
            match read_source(&file, what) {
                Ok(source) => reading.documents.push((file, source)),
                Err(problem) => reading.problems.push(*problem),
            }
        }
    }
    reading
}

impl Reading {
    fn files_of(&mut self, path: &Path, what: &str) -> Vec<PathBuf> {
        if !path.exists() {
            self.problems.push(
                about_path(path, format!("no such {what} file or folder"))
                    .with_help("check the path; it is taken from the current folder"),
            );
            return Vec::new();
        }
        if !path.is_dir() {
            return vec![path.to_owned()];
        }
        let mut files = Vec::new();
        let mut whole = true;
        for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() && is_yaml(entry.path()) => {
                    files.push(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => {
                    whole = false;
                    let place = error.path().unwrap_or(path);
                    self.problems.push(about_path(place, format!("cannot look here: {error}")));
                }
            }
        }
        if files.is_empty() && whole {
            self.problems.push(
                about_path(path, format!("this folder holds no {what}"))
                    .with_help(format!("a {what} is a file named `*.yaml` or `*.yml`")),
            );
        }
        files
    }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// A problem with a path as a whole.
fn about_path(path: &Path, message: String) -> Diagnostic {
    let source = Source::new(path.display().to_string(), "");
    Diagnostic::error(Place::new(&source, Span::default()), message)
}
