//! Good scenarios and what they expand to.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use conform::case::{
    Case, CaseCall, CaseInterjection, CaseStep, CaseTurnKind, Expansion, Variant, expand,
};
use conform::matrix::load_paths as load_matrices;
use conform::scenario::{ReportedUsage, Said, load_file, load_paths};
use conform_mock_server::document::{Diagnostic, render};

const GOOD: &str = "tests/fixtures/good";

fn drawn(problems: &[Diagnostic]) -> String {
    problems.iter().map(render).collect()
}

fn expanded(file: &str) -> Result<Expansion, String> {
    let (matrices, problems) = load_matrices(&[Path::new(GOOD).join("matrices")]);
    assert!(problems.is_empty(), "{}", drawn(&problems));
    let path = Path::new(GOOD).join("scenarios").join(file);
    let scenario = load_file(&path).map_err(|problems| drawn(&problems))?;
    expand(&scenario, &matrices).map_err(|problems| drawn(&problems))
}

/// A case as text, tokens and all.
fn describe(case: &Case) -> String {
    let mut out = format!("{}\n  title: {}\n", case.id, case.title);
    let _ = writeln!(out, "  family {}, clause {}, {}", case.family, case.clause, case.location);
    let _ = writeln!(out, "  reports {:?} axes {:?}", case.reports, case.axes);
    let _ = writeln!(
        out,
        "  disposition {:?} requires {:?} needs {:?}",
        case.disposition, case.requires, case.needs
    );
    for origin in &case.origins {
        let _ = writeln!(out, "  origin {} = {}", origin.name, origin.token);
        for (source, text) in &origin.planted {
            let _ = writeln!(out, "    {source:?}: {:?}", text.display());
        }
    }
    for secret in &case.secrets {
        let _ = writeln!(out, "  secret {} = {}", secret.name, secret.token);
    }
    out.push_str(&variant(&case.main));
    if let Some(control) = &case.control {
        out.push_str(&variant(control));
    }
    out
}

fn variant(variant: &Variant) -> String {
    let mut out = format!(
        "  {}: policy {}, network {}, approver {}\n",
        variant.name,
        variant.policy.name(),
        variant.network.name(),
        variant.approver.name()
    );
    for file in &variant.files {
        let mode = if file.executable { " (executable)" } else { "" };
        let text = file.text.display();
        let _ = writeln!(out, "    {}/{}{mode}: {text:?}", file.zone.name(), file.path);
    }
    for (name, text) in &variant.pages {
        let _ = writeln!(out, "    page {name}: {:?}", text.display());
    }
    for step in &variant.steps {
        let _ = match step {
            CaseStep::User { text, .. } => writeln!(out, "    user: {:?}", text.display()),
            CaseStep::Write { path, text } => {
                writeln!(out, "    write {path}: {:?}", text.display())
            }
            CaseStep::Compact => writeln!(out, "    compact"),
            CaseStep::Resume => writeln!(out, "    resume"),
        };
        for CaseInterjection { moment, said, gate } in step.during() {
            let _ = match said {
                Said::Steer(text) => {
                    writeln!(out, "      {gate} at {moment:?}: {:?}", text.display())
                }
                Said::Interrupt => writeln!(out, "      {gate} at {moment:?}"),
            };
        }
    }
    for turn in &variant.turns {
        let attempt = if turn.attempt { " attempts" } else { "" };
        let gate = turn.gate.as_ref().map(|gate| format!(", {gate}")).unwrap_or_default();
        let begin = turn.begin.as_ref().map(|text| format!(" begin {:?}", text.display()));
        let begin = begin.unwrap_or_default();
        let _ = write!(
            out,
            "    {} ({}, {}{gate}){attempt}:{begin}",
            turn.name,
            turn.purpose,
            match turn.usage {
                ReportedUsage::Figures(usage) => usage.input.to_string(),
                ReportedUsage::Full => "full".to_owned(),
            }
        );
        match &turn.kind {
            CaseTurnKind::Say(text) => {
                let _ = write!(out, " say {:?}", text.display());
            }
            CaseTurnKind::Calls(calls) => calls.iter().for_each(|call| match call {
                CaseCall::Logical { tool, arguments } => {
                    let _ = write!(out, " {tool}");
                    for (name, text) in arguments {
                        let _ = write!(out, " {name}={:?}", text.display());
                    }
                }
                CaseCall::Unoffered { name, arguments } => {
                    let _ = write!(out, " unoffered {name} {arguments}");
                }
            }),
        }
        out.push('\n');
    }
    for expect in &variant.expect {
        let kind = format!("{:?}", expect.kind);
        let kind = kind.split(" {").next().unwrap_or(&kind).split('(').next().unwrap_or(&kind);
        let _ = writeln!(out, "    expect {kind} for {} at {}", expect.clause, expect.location);
    }
    out
}

fn describe_all(expansion: &Expansion) -> String {
    let cases = expansion.cases.iter().map(describe);
    let skipped =
        expansion.skipped.iter().map(|skip| format!("{} is left out: {}\n", skip.id, skip.reason));
    cases.chain(skipped).collect()
}

#[test]
fn a_plain_scenario_is_one_case_for_each_persona() {
    let expansion =
        expanded("injection/readme-deploy.yaml").unwrap_or_else(|report| panic!("{report}"));
    insta::assert_snapshot!(describe_all(&expansion));
}

#[test]
fn a_course_has_steps_moments_and_gates() {
    let expansion = expanded("steer/all-steps.yaml").unwrap_or_else(|report| panic!("{report}"));
    let required: Vec<_> = expansion.cases[0].requires.iter().map(|one| one.name()).collect();
    assert_eq!(required, ["steer", "compact", "second-turn", "interrupt", "resume"]);
    insta::assert_snapshot!(describe_all(&expansion));
}

#[test]
fn a_matrix_multiplies_a_scenario() {
    let expansion = expanded("injection/exposed.yaml").unwrap_or_else(|report| panic!("{report}"));
    insta::assert_snapshot!(describe_all(&expansion));
}

#[test]
fn a_folder_is_loaded_in_order_and_each_file_once() {
    let folder = PathBuf::from(GOOD).join("scenarios");
    let loaded = load_paths(&[folder.clone(), folder.join("injection/exposed.yaml")]);
    assert!(loaded.problems.is_empty(), "{}", drawn(&loaded.problems));
    let ids: Vec<&str> = loaded.scenarios.iter().map(|scenario| scenario.id.as_str()).collect();
    assert_eq!(ids, ["injection.exposed", "injection.indirect.readme-deploy", "steer.all-steps"]);
    let families: Vec<_> = loaded.scenarios.iter().map(|one| one.family.as_str()).collect();
    assert_eq!(families, ["injection", "injection", "steer"]);
}
