//! Loads matrix files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use conform_mock_server::document::{Diagnostic, Place, Source};

use super::model::Matrix;
use super::parse::matrix;
use crate::scenario::{Reading, read_documents, read_source};

/// Loads one file.
///
/// # Errors
/// All that is wrong with it.
pub fn load_file(path: &Path) -> Result<Matrix, Vec<Diagnostic>> {
    let source = read_source(path, "matrix").map_err(|problem| vec![*problem])?;
    matrix(&source)
}

/// Loads a matrix that is at hand already.
///
/// # Errors
/// All that is wrong with it.
pub fn load_source(source: &Arc<Source>) -> Result<Matrix, Vec<Diagnostic>> {
    matrix(source)
}

/// Loads files and folders; of a folder, every `*.yaml` and `*.yml` below it, sorted by name. An
/// id that two files claim is an error.
pub fn load_paths(paths: &[PathBuf]) -> (Vec<Matrix>, Vec<Diagnostic>) {
    let Reading { documents, mut problems } = read_documents(paths, "matrix");
    let mut matrices: Vec<Matrix> = Vec::new();
    for (_, source) in documents {
        match matrix(&source) {
            Err(found) => problems.extend(found),
            Ok(matrix) => match matrices.iter().find(|earlier| earlier.id == matrix.id) {
                None => matrices.push(matrix),
                Some(first) => problems.push(
                    Diagnostic::error(
                        Place::new(&source, matrix.id_span),
                        format!(
                            "the id `{}` is taken: it stands at {}",
                            matrix.id,
                            Place::new(&first.source, first.id_span)
                        ),
                    )
                    .with_help("give one of the two matrices another id"),
                ),
            },
        }
    }
    (matrices, problems)
}
