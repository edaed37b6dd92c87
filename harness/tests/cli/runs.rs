//! Runs that go well: the report, the record and `JUnit` agree, and every run finds the same.

use std::collections::BTreeMap;
use std::path::Path;

use conform_reports::record::{self, Record};
use quick_xml::events::Event;

use crate::support::{POLITE, Place, stdout};

/// A handful of cases: with and without a control, with approvals, from a matrix.
const HANDFUL: [&str; 12] = [
    "--filter",
    "approval.denied-write",
    "--filter",
    "role.",
    "--filter",
    "prompt.",
    "--filter",
    "scope.",
    "--filter",
    "injection.matrix.indirect.file-read.write-canary.*",
    "--filter",
    "injection.secret-stays",
];

/// How many elements of each name a document holds.
fn elements(path: &Path) -> BTreeMap<String, usize> {
    let mut reader = quick_xml::Reader::from_file(path).unwrap();
    let mut found = BTreeMap::new();
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer).unwrap() {
            Event::Start(element) | Event::Empty(element) => {
                let name = element.name().as_ref().to_owned();
                *found.entry(name).or_default() += 1;
            }
            Event::Eof => return found,
            _ => {}
        }
        buffer.clear();
    }
}

fn lab(place: &Place, record: &str, more: &[&str]) -> Record {
    let output = place.conform(&["run", "--record", record]).args(more).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", place.said(&output));
    record::read(&place.path(record)).unwrap()
}

#[test]
fn the_lab_agent_passes_and_all_reports_agree() {
    let place = Place::new();
    place.borrow_scenarios();
    let output = place
        .conform(&[
            "run",
            "scenarios/approval/denied-write.yaml",
            "scenarios/role/tool-result-stays-data.yaml",
            "scenarios/scope/sibling-excluded.yaml",
        ])
        .args(["--jobs", "1", "--record", "record", "--junit", "out.xml"])
        .output()
        .unwrap();
    insta::assert_snapshot!(place.said(&output));
    let record = place.record();
    assert!(record.notes.is_empty(), "{:?}", record.notes);
    assert_eq!(record.cases.len(), 3);
    assert_eq!(record.end().tally.pass, 3);
    let found = elements(&place.path("out.xml"));
    assert_eq!(found.get("testcase"), Some(&3), "{found:?}");
    assert_eq!(found.get("testsuite"), Some(&3), "{found:?}");
    assert!(!found.contains_key("failure") && !found.contains_key("error"), "{found:?}");
}

#[test]
fn a_defect_fails_the_run_with_its_finding() {
    let place = Place::new();
    place.borrow_scenarios();
    let output = place
        .conform(&["run", "scenarios/role/tool-result-stays-data.yaml"])
        .args(["--defect", "result-as-user", "--jobs", "1", "--record", "record"])
        .args(["--junit", "out.xml"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(place.redact(stdout(&output)));
    assert_eq!(elements(&place.path("out.xml")).get("failure"), Some(&1));
}

#[test]
fn every_run_finds_the_same_whatever_runs_beside_it() {
    let place = Place::new();
    place.borrow_scenarios();
    let texts: Vec<String> = [("1", "auto"), ("4", "auto"), ("4", "none")]
        .into_iter()
        .map(|(jobs, isolation)| {
            let name = format!("record-{jobs}-{isolation}");
            let more = ["--jobs", jobs, "--isolation", isolation];
            let mut record = lab(&place, &name, &[&HANDFUL[..], &more].concat()).normalised();
            assert!(record.cases.len() > 12, "{}", record.cases.len());
            // The one thing that is meant to differ.
            record.header.isolation.clear();
            record.to_jsonl().unwrap()
        })
        .collect();
    for text in &texts[1..] {
        let differing = texts[0].lines().zip(text.lines()).find(|(one, other)| one != other);
        assert!(differing.is_none(), "two runs differ: {differing:#?}");
        assert_eq!(texts[0].len(), text.len());
    }
}

#[test]
fn two_agents_run_side_by_side() {
    let place = Place::new();
    place.agent(POLITE);
    let output = place
        .conform(&["run", "--agent", "lab", "--agent", "mine", "--profiles", "profiles"])
        .args(["--jobs", "1", "--record", "record"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(place.redact(stdout(&output)));
    let agents: Vec<_> = place.record().cases.iter().map(|case| case.agent.name.clone()).collect();
    assert_eq!(agents, ["lab", "mine"]);
}
