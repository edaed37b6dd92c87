//! Every fault in a file is reported at its place: one file a fault, its report beside it.

use std::path::{Path, PathBuf};

use conform::case::expand;
use conform::matrix::Matrix;
use conform::{matrix, scenario};
use conform_mock_server::document::{Diagnostic, render};

const FOLDER: &str = "tests/fixtures/broken";

fn report(problems: &[Diagnostic]) -> String {
    problems.iter().map(render).collect::<Vec<_>>().join("\n")
}

fn matrices() -> Vec<Matrix> {
    let (matrices, problems) = matrix::load_paths(&[Path::new(FOLDER).join("matrices")]);
    assert!(problems.is_empty(), "{}", report(&problems));
    matrices
}

/// What is wrong with a file: as it is loaded, and if that goes well, as it is expanded.
fn problems(path: &Path, name: &str, matrices: &[Matrix]) -> Vec<Diagnostic> {
    if name.starts_with("matrix-") {
        return matrix::load_file(path).err().unwrap_or_default();
    }
    match scenario::load_file(path) {
        Err(problems) => problems,
        Ok(scenario) => expand(&scenario, matrices).err().unwrap_or_default(),
    }
}

#[test]
fn every_fault_is_reported_at_its_place() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() > 40, "the fixtures are gone");
    let matrices = matrices();
    insta::with_settings!({
        snapshot_path => "fixtures/broken",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        for path in files {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let found = problems(&path, &name, &matrices);
            assert!(!found.is_empty(), "nothing is wrong with {}", path.display());
            insta::assert_snapshot!(name, report(&found));
        }
    });
}
