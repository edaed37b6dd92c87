//! `conform explain`.

use clap::Args;
use conform::case::{Case, CaseCall, CaseStep, CaseTurnKind, LateText, Variant};
use conform::check::expectation_name;
use conform::clause::{self, Clause, ClauseRef};
use conform::suite::Suite;

use super::list::Selection;
use super::{Status, counted, print};

/// What to explain.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A clause's id, such as `role.no-promotion`, or a case's id
    #[arg(value_name = "CLAUSE|CASE")]
    what: String,
    #[command(flatten)]
    selection: Selection,
}

pub(crate) fn main(args: &ExplainArgs) -> anyhow::Result<Status> {
    if let Some(clause) = ClauseRef::find(&args.what) {
        return explain_clause(clause.get(), &args.selection);
    }
    let Some(suite) = args.selection.load()? else { return Ok(Status::BadInput) };
    if let Some(case) = suite.cases.iter().find(|case| case.id == args.what) {
        print(&case_text(case))?;
        return Ok(Status::Success);
    }
    anyhow::bail!("`{}` is neither a clause nor a case: {}", args.what, help(&args.what, &suite))
}

fn help(what: &str, suite: &Suite) -> String {
    let begun = suite.cases.iter().filter(|case| case.id.starts_with(what)).count();
    if begun > 0 {
        return format!(
            "it begins the id of {}; `conform list --filter {what}` shows them",
            counted(begun, "case")
        );
    }
    let clauses = clause::catalogue().iter().map(|clause| clause.id.as_str());
    let cases = suite.cases.iter().map(|case| case.id.as_str());
    match nearest(what, clauses.chain(cases)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`conform list` shows the cases".to_owned(),
    }
}

fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .min()
        .filter(|(distance, _)| *distance <= wrong.len() / 3)
        .map(|(_, name)| name)
}

fn explain_clause(clause: &Clause, selection: &Selection) -> anyhow::Result<Status> {
    print(&format!(
        "{}  ({}, guarded by {})\n  {}\n  source: {}\n",
        clause.id, clause.severity, clause.layer, clause.text, clause.source
    ))?;
    // A clause is known without any scenario; which cases serve it is told where there are some.
    if selection.is_default() && selection.paths.iter().all(|path| !path.exists()) {
        return Ok(Status::Success);
    }
    let Some(suite) = selection.load()? else { return Ok(Status::BadInput) };
    print(&served(clause, &suite.cases))?;
    Ok(Status::Success)
}

/// The cases that serve a clause first of all.
fn served(clause: &Clause, cases: &[Case]) -> String {
    const SHOWN: usize = 5;
    let ids: Vec<&str> = cases
        .iter()
        .filter(|case| case.clause.id() == clause.id)
        .map(|case| case.id.as_str())
        .collect();
    let mut text = match ids.len() {
        0 => "  no case serves it first of all\n".to_owned(),
        1 => "  1 case serves it first of all:\n".to_owned(),
        count => format!("  {count} cases serve it first of all:\n"),
    };
    for id in ids.iter().take(SHOWN) {
        text.push_str(&format!("    {id}\n"));
    }
    if ids.len() > SHOWN {
        text.push_str(&format!("    and {} more\n", ids.len() - SHOWN));
    }
    text
}

fn case_text(case: &Case) -> String {
    let clause = case.clause.get();
    let mut text = format!("{}\n  {}\n", case.id, case.title);
    let mut line = |name: &str, value: &str| {
        text.push_str(&format!("  {name:NAME$}  {value}\n"));
    };
    line("scenario", &case.location.to_string());
    line("clause", &format!("{} ({}): {}", clause.id, clause.severity, clause.text));
    for (axis, value) in &case.axes {
        line(axis, value);
    }
    if let Some(disposition) = &case.disposition {
        line("disposition", disposition);
    }
    if !case.requires.is_empty() {
        let names: Vec<_> = case.requires.iter().map(|capability| capability.name()).collect();
        line("requires", &names.join(", "));
    }
    if !case.needs.is_empty() {
        line("needs", &case.needs.join(", "));
    }
    for origin in &case.origins {
        line("planted", &format!("`{}`, marked {}", origin.name, origin.token));
    }
    for variant in std::iter::once(&case.main).chain(&case.control) {
        text.push_str(&variant_text(variant));
    }
    text
}

/// Width of the first column.
const NAME: usize = 11;

fn variant_text(variant: &Variant) -> String {
    let Variant { name, policy, network, approver, .. } = variant;
    let mut text = format!(
        "\n{name} run, policy {}, network {}, approver {}\n",
        policy.name(),
        network.name(),
        approver.name()
    );
    let mut line = |name: &str, value: &str| {
        text.push_str(&format!("  {name:NAME$}  {value}\n"));
    };
    for CaseStep::User(prompt) in &variant.steps {
        line("user", &quoted(prompt));
    }
    for turn in &variant.turns {
        match &turn.kind {
            CaseTurnKind::Say(said) => line(&turn.name, &format!("says {}", quoted(said))),
            CaseTurnKind::Calls(calls) => {
                let how = if turn.attempt { "attempts" } else { "calls" };
                for call in calls {
                    line(&turn.name, &format!("{how} {}", call_text(call)));
                }
            }
        }
    }
    for expectation in &variant.expect {
        let asked = expectation_name(&expectation.kind);
        line("expected", &format!("{asked}  [{}]", expectation.clause));
    }
    text
}

fn call_text(call: &CaseCall) -> String {
    match call {
        CaseCall::Logical { tool, arguments } => {
            let arguments: Vec<_> =
                arguments.iter().map(|(name, text)| format!("{name} {}", quoted(text))).collect();
            format!("{tool}: {}", arguments.join(", "))
        }
        CaseCall::Unoffered { name, arguments } => {
            format!("{name}, which no agent offers: {arguments}")
        }
    }
}

/// A text in quotes, on one line.
fn quoted(text: &LateText) -> String {
    format!("{:?}", text.display())
}
