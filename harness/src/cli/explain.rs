//! `conform explain`.

use clap::Args;
use conform::case::{Case, CaseCall, CaseInterjection, CaseStep, CaseTurnKind, LateText, Variant};
use conform::check::expectation_name;
use conform::clause::{self, Clause, ClauseRef};
use conform::scenario::{Moment, Said};
use conform::suite::Suite;

use super::Status;
use super::list::Selection;
use super::page::{Page, counted, print};

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
        case_page(case).print()?;
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
    served(clause, &suite.cases).print()?;
    Ok(Status::Success)
}

/// The cases that serve a clause first of all.
fn served(clause: &Clause, cases: &[Case]) -> Page {
    const SHOWN: usize = 5;
    let ids: Vec<&str> = cases
        .iter()
        .filter(|case| case.clause.id() == clause.id)
        .map(|case| case.id.as_str())
        .collect();
    let mut page = Page::default();
    page.line(match ids.len() {
        0 => "  no case serves it first of all".to_owned(),
        1 => "  1 case serves it first of all:".to_owned(),
        count => format!("  {count} cases serve it first of all:"),
    });
    for id in ids.iter().take(SHOWN) {
        page.line(format_args!("    {id}"));
    }
    if ids.len() > SHOWN {
        page.line(format_args!("    and {} more", ids.len() - SHOWN));
    }
    page
}

fn case_page(case: &Case) -> Page {
    let clause = case.clause.get();
    let mut page = Page::default();
    page.line(format_args!("{}\n  {}", case.id, case.title));
    let mut line = |name: &str, value: &str| {
        page.line(format_args!("  {name:NAME$}  {value}"));
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
        add_variant(&mut page, variant);
    }
    page
}

/// Width of the first column.
const NAME: usize = 11;

fn add_variant(page: &mut Page, variant: &Variant) {
    let Variant { name, policy, network, approver, .. } = variant;
    page.line(format_args!(
        "\n{name} run, policy {}, network {}, approver {}",
        policy.name(),
        network.name(),
        approver.name()
    ));
    let mut line = |name: &str, value: &str| {
        page.line(format_args!("  {name:NAME$}  {value}"));
    };
    for step in &variant.steps {
        match step {
            CaseStep::User { text, .. } => line("user", &quoted(text)),
            CaseStep::Write { path, text } => line("write", &format!("{path}: {}", quoted(text))),
            CaseStep::Compact => line("compact", "the agent is told to compact its history"),
            CaseStep::Resume => line("resume", "a new process goes on with the session"),
        }
        for CaseInterjection { moment, said, .. } in step.during() {
            let moment = match moment {
                Moment::Asked(turn) => format!("when asked for {turn}"),
                Moment::Fetched(page) => format!("when page {page} is fetched"),
            };
            match said {
                Said::Steer(text) => line("steer", &format!("{}, {moment}", quoted(text))),
                Said::Interrupt => line("interrupt", &moment),
            }
        }
    }
    for turn in &variant.turns {
        if let Some(begin) = &turn.begin {
            line(&turn.name, &format!("begins with {}", quoted(begin)));
        }
        if let Some(gate) = &turn.gate {
            line(&turn.name, &format!("waits for {gate}"));
        }
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
