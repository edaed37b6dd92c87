//! `conform explain`.

use clap::Args;
use conform::case::{Case, CaseCall, CaseTurnKind, Variant};
use conform::clause::{self, ClauseRef};
use conform_mock_server::document::did_you_mean;

use super::Status;
use super::list::Selection;

/// What to explain.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A clause id, such as `role.no-promotion`, or a case id
    what: String,
    #[command(flatten)]
    selection: Selection,
}

pub(crate) fn main(args: &ExplainArgs) -> anyhow::Result<Status> {
    if let Some(clause) = ClauseRef::find(&args.what) {
        explain_clause(clause, &args.selection)?;
        return Ok(Status::Success);
    }
    let Some(suite) = args.selection.load()? else { return Ok(Status::BadInput) };
    if let Some(case) = suite.cases.iter().find(|case| case.id == args.what) {
        explain_case(case);
        return Ok(Status::Success);
    }
    let clauses = clause::catalogue().iter().map(|clause| clause.id.as_str());
    let cases = suite.cases.iter().map(|case| case.id.as_str());
    let help = match nearest(&args.what, clauses.chain(cases)) {
        Some(name) => did_you_mean(&args.what, [name]),
        None => "`conform list` shows the cases".to_owned(),
    };
    anyhow::bail!("`{}` is neither a clause nor a case: {help}", args.what)
}

fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .min()
        .filter(|(distance, _)| *distance <= wrong.len() / 3)
        .map(|(_, name)| name)
}

fn explain_clause(clause: ClauseRef, selection: &Selection) -> anyhow::Result<()> {
    let clause = clause.get();
    anstream::println!("{}  ({}, guarded by {})", clause.id, clause.severity, clause.layer);
    anstream::println!("  {}", clause.text);
    anstream::println!("  source: {}", clause.source);
    if selection.paths.iter().all(|path| path.exists())
        && let Some(suite) = selection.load()?
    {
        let count = suite.cases.iter().filter(|case| case.clause.id() == clause.id).count();
        anstream::println!("  {count} cases serve it first of all");
    }
    Ok(())
}

fn explain_case(case: &Case) {
    anstream::println!("{}\n  {}", case.id, case.title);
    anstream::println!("  {}  clause {}", case.location, case.clause);
    for (axis, value) in &case.axes {
        anstream::println!("  {axis}: {value}");
    }
    if let Some(disposition) = &case.disposition {
        anstream::println!("  disposition: {disposition}");
    }
    for origin in &case.origins {
        anstream::println!("  origin {} is marked {}", origin.name, origin.token);
    }
    explain_variant(&case.main);
    if let Some(control) = &case.control {
        explain_variant(control);
    }
}

fn explain_variant(variant: &Variant) {
    anstream::println!("  {} under policy {}:", variant.name, variant.policy.name());
    for turn in &variant.turns {
        let attempt = if turn.attempt { " (attempt)" } else { "" };
        match &turn.kind {
            CaseTurnKind::Say(text) => {
                anstream::println!("    {}: says {:?}", turn.name, text.display());
            }
            CaseTurnKind::Calls(calls) => {
                for call in calls {
                    anstream::println!("    {}{attempt}: calls {}", turn.name, call_text(call));
                }
            }
        }
    }
    for expectation in &variant.expect {
        anstream::println!("    expects {:?} [{}]", expectation.kind, expectation.clause);
    }
}

fn call_text(call: &CaseCall) -> String {
    match call {
        CaseCall::Logical { tool, arguments } => {
            let arguments: Vec<_> = arguments
                .iter()
                .map(|(name, text)| format!("{name}: {:?}", text.display()))
                .collect();
            format!("{tool} {}", arguments.join(", "))
        }
        CaseCall::Unoffered { name, arguments } => format!("{name} {arguments} (not offered)"),
    }
}
