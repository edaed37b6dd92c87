//! Finding and reading files: what is missing, empty, unreadable or there twice.

use std::path::Path;

use conform::{matrix, scenario};
use conform_mock_server::document::{Diagnostic, render};

const SCENARIO: &str = "id: family.case\ntitle: A title\nclause: injection.hijack-contained\n\
                        steps: [{user: Go.}]\nmodel: [{say: Done.}]\nexpect: [{exit: success}]\n";
const MATRIX: &str = "id: m\ntitle: M\naxes: {a: {x: {title: X}}}\ncells: [{disposition: d}]\n\
                      dispositions: {d: {title: D}}\n";

fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) -> std::io::Result<()> {
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)
}

/// The reports, with the folder's name taken out.
fn report(folder: &Path, problems: &[Diagnostic]) -> String {
    let text: Vec<String> = problems.iter().map(render).collect();
    text.join("\n").replace(&folder.display().to_string(), "FOLDER")
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "scenarios/good/case.yml", SCENARIO).unwrap();
    write(at, "scenarios/good/notes.txt", "not a scenario").unwrap();
    write(at, "scenarios/latin.yaml", b"id: caf\xe9\n").unwrap();
    std::fs::create_dir(at.join("empty")).unwrap();
    let paths = ["missing.yaml", "scenarios", "empty"].map(|path| at.join(path));
    let loaded = scenario::load_paths(&paths);
    assert_eq!(loaded.scenarios.len(), 1);
    assert_eq!(loaded.scenarios[0].family, "good");
    insta::assert_snapshot!(report(at, &loaded.problems));
}

#[test]
fn an_id_that_two_files_claim_names_both_places() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "scenarios/a/one.yaml", SCENARIO).unwrap();
    write(at, "scenarios/b/two.yaml", format!("# A comment\n{SCENARIO}")).unwrap();
    let loaded = scenario::load_paths(&[at.join("scenarios")]);
    assert_eq!(loaded.scenarios.len(), 1);
    insta::assert_snapshot!(report(at, &loaded.problems));
}

#[test]
fn matrices_are_found_and_told_apart_in_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "one.yaml", MATRIX).unwrap();
    write(at, "two.yaml", MATRIX).unwrap();
    let (matrices, problems) = matrix::load_paths(&[at.to_owned(), at.join("none")]);
    assert_eq!(matrices.len(), 1);
    insta::assert_snapshot!(report(at, &problems));
}

#[test]
fn a_file_of_another_name_is_loaded_when_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "case.scenario", SCENARIO).unwrap();
    let loaded = scenario::load_paths(&[folder.path().join("case.scenario")]);
    assert!(loaded.problems.is_empty(), "{}", report(folder.path(), &loaded.problems));
    assert_eq!(loaded.scenarios.len(), 1);
}
