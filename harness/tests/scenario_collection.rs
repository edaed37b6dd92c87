//! The scenarios and matrices of the repository load and expand without a fault.

use std::collections::HashSet;
use std::path::PathBuf;

use conform::case::expand;
use conform::{matrix, scenario};
use conform_mock_server::document::{Diagnostic, render};

fn report(problems: &[Diagnostic]) -> String {
    problems.iter().map(render).collect::<Vec<_>>().join("\n")
}

#[test]
fn all_scenarios_expand_and_no_two_cases_share_an_id() {
    let (matrices, mut problems) = matrix::load_paths(&[PathBuf::from("../matrices")]);
    let loaded = scenario::load_paths(&[PathBuf::from("../scenarios")]);
    problems.extend(loaded.problems);
    let mut ids = HashSet::new();
    for scenario in &loaded.scenarios {
        match expand(scenario, &matrices) {
            Err(found) => problems.extend(found),
            Ok(expansion) => {
                assert!(!expansion.cases.is_empty(), "{} has no case", scenario.id);
                for case in expansion.cases {
                    assert!(ids.insert(case.id.clone()), "{} stands twice", case.id);
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", report(&problems));
    assert!(!ids.is_empty(), "no case");
}
