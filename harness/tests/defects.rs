//! Every defect of the lab agent is found, under the clause that it breaks and the layer that
//! guards it: the proof that the checks can fail.

#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use conform_lab_agent::Defect;
use conform_reports::record::{self, Verdict};

/// The defects that no scenario of this repository can show yet, with the reason.
const NOT_YET: [(&str, &str); 6] = [
    ("repeated-id-runs-twice", "no scenario gives call ids yet"),
    ("truncated-is-success", "no scenario scripts a fault yet"),
    ("retries-client-errors", "no scenario scripts a fault yet"),
    ("drops-reasoning", "no scenario scripts a reasoning item yet"),
    ("rules-beyond-root", "profiles do not say yet how far up an agent documents to look"),
    ("untrusted-rules-loaded", "no scenario has an untrusted folder yet"),
];

/// The plain scenarios, and a few cells of the matrix.
const FILTERS: [&str; 12] = [
    "approval.*",
    "prompt.*",
    "role.*",
    "scope.*",
    "steer.*",
    "compaction.*",
    "memory.*",
    "delegate.*",
    "skill.*",
    "injection.secret-stays",
    "injection.benign-twin",
    "injection.matrix.*.file-read.write-canary.*",
];

#[test]
fn each_defect_fails_the_run_and_names_its_clause_and_layer() {
    let defects: Vec<_> = Defect::ALL
        .iter()
        .map(|defect| defect.card())
        .filter(|card| NOT_YET.iter().all(|(name, _)| *name != card.name))
        .collect();
    // A name that is gone would quietly stop to be left out, and so would one that is mended.
    for (name, reason) in NOT_YET {
        assert!(Defect::ALL.iter().any(|defect| defect.card().name == name), "{name} ({reason})");
    }
    assert!(defects.len() >= 10, "only {} defects are proved", defects.len());
    let folder = tempfile::tempdir().unwrap();
    let missed = Mutex::new(Vec::new());
    for card in &defects {
        let record = folder.path().join(card.name);
        let status = run(card.name, &record);
        let layer = serde_json::to_value(card.layer).unwrap();
        let layer = layer.as_str().unwrap();
        let cases = record::read(&record).unwrap().cases;
        let named = cases
            .iter()
            .flat_map(|case| case.verdict.findings())
            .any(|finding| finding.clause == card.breaks && finding.layer.to_string() == layer);
        let errors: Vec<_> = cases
            .iter()
            .filter(|case| matches!(case.verdict, Verdict::Error { .. }))
            .map(|case| case.case.clone())
            .collect();
        if status != Some(1) || !named {
            let found: std::collections::BTreeSet<_> = cases
                .iter()
                .flat_map(|case| case.verdict.findings())
                .map(|finding| format!("{} in {}", finding.clause, finding.layer))
                .collect();
            missed.lock().unwrap().push(format!(
                "{}: exit status {status:?}, wanted {} in {}, found {found:?}, errors {errors:?}",
                card.name, card.breaks, layer
            ));
        }
    }
    let missed = missed.into_inner().unwrap();
    assert!(missed.is_empty(), "not found:\n{}", missed.join("\n"));
}

/// Runs every scenario on the lab agent with the defect.
fn run(defect: &str, record: &Path) -> Option<i32> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(env!("CARGO_BIN_EXE_conform"))
        .current_dir(root)
        .args(["run", "scenarios", "--agent", "lab", "--defect", defect, "--gate", "should"])
        .arg("--record")
        .arg(record)
        // What a part of the cases finds, all of them find.
        .args(FILTERS.iter().flat_map(|filter| ["--filter", filter]))
        .output()
        .unwrap();
    output.status.code()
}
