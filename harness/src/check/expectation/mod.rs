//! Expectations: what a scenario asks for.

mod compacted;
mod contained;
mod dialogue;
mod files;
mod request;
mod sink;
mod text;

use super::invariant::pairing;
use super::ledger::Breach;
use super::run::Run;
use super::trouble::Trouble;
use conform_mock_server::document::Span;

use crate::case::LateText;
use crate::scenario::{ExitExpectation, ExpectKind, FilesExpectation};

pub(super) use contained::effects;

/// The answer to an expectation: what breaks it, and why it could not be asked.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) breaches: Vec<Breach>,
    pub(super) trouble: Option<Trouble>,
}

impl Answer {
    fn broken(breaches: Vec<Breach>) -> Self {
        Self { breaches, trouble: None }
    }

    fn unproved(trouble: Trouble) -> Self {
        Self { breaches: Vec::new(), trouble: Some(trouble) }
    }
}

/// Asks one expectation of a run.
pub(super) fn check(run: &Run<'_>, kind: &ExpectKind<LateText>) -> Answer {
    match kind {
        ExpectKind::Request { origin, authority, frame, verbatim, count, .. } => {
            let wanted = request::Wanted {
                origin,
                authority,
                frame: frame.as_deref(),
                verbatim: *verbatim,
                count: *count,
            };
            request::check(run, &wanted)
        }
        ExpectKind::NoRequest { origin, .. } => request::absent(run, origin),
        ExpectKind::LastRequest { holds, lacks, order } => request::last(run, holds, lacks, order),
        ExpectKind::SubAgent { holds, lacks } => request::of_sub_agents(run, holds, lacks),
        ExpectKind::Paired => Answer::broken(pairing::breaches(run)),
        ExpectKind::Compaction(expected) => dialogue::compaction(run, *expected),
        ExpectKind::Compacted => compacted::check(run),
        ExpectKind::Contained => contained::check(run),
        ExpectKind::Approvals { raised } => dialogue::approvals(run, *raised),
        ExpectKind::Files(expected) => files::check(run, expected),
        ExpectKind::Sink { sink, receives } => sink::check(run, sink, receives.as_ref()),
        ExpectKind::Final { contains, excludes } => dialogue::final_text(run, contains, excludes),
        ExpectKind::Result { turn, class, contains, excludes, .. } => {
            dialogue::result(run, turn, *class, (contains, excludes))
        }
        ExpectKind::Exit(expected) => dialogue::exit(run, *expected),
    }
}

/// The expectation in a few words that stay the same between runs.
pub fn name(kind: &ExpectKind<LateText>) -> String {
    match kind {
        ExpectKind::Request { origin, authority, frame, verbatim, count, .. } => {
            let frame = frame.as_ref().map(|frame| format!(" in `{frame}`")).unwrap_or_default();
            let verbatim = if *verbatim { ", verbatim" } else { "" };
            let count = count.map(|count| format!(", {count} times")).unwrap_or_default();
            let authority = request::names(authority);
            format!("`{origin}` stands at {authority}{frame}{verbatim}{count}")
        }
        ExpectKind::NoRequest { origin, .. } => format!("`{origin}` stands in no request"),
        ExpectKind::LastRequest { holds, lacks, order } => {
            let asked = [("holds", holds), ("lacks", lacks), ("has in this order", order)];
            format!("the last request {}", origins_name(&asked))
        }
        ExpectKind::SubAgent { holds, lacks } => {
            let asked = [("hold", holds), ("lack", lacks)];
            format!("the requests of sub-agents {}", origins_name(&asked))
        }
        ExpectKind::Paired => "each call has its result".to_owned(),
        ExpectKind::Compaction(ExitExpectation::Success) => "the compaction succeeds".to_owned(),
        ExpectKind::Compaction(ExitExpectation::Failure) => {
            "the compaction is reported as a failure".to_owned()
        }
        ExpectKind::Compacted => "a full window is compacted".to_owned(),
        ExpectKind::Contained => "the dangerous call has no effect".to_owned(),
        ExpectKind::Approvals { raised } => format!("approval requests: {raised}"),
        ExpectKind::Files(files) => files_name(files),
        ExpectKind::Sink { sink, receives: Some(text) } => {
            format!("sink `{sink}` receives `{}`", text.display())
        }
        ExpectKind::Sink { sink, receives: None } => format!("sink `{sink}` receives nothing"),
        ExpectKind::Final { contains, excludes } => {
            format!("final text {}", text::names(contains, excludes))
        }
        ExpectKind::Result { turn, class, contains, excludes, .. } => {
            let class = class.map(|class| format!("is {}", class.name()));
            let texts = (!contains.is_empty() || !excludes.is_empty())
                .then(|| text::names(contains, excludes));
            let asked: Vec<String> = class.into_iter().chain(texts).collect();
            format!("result of {turn} {}", asked.join(", "))
        }
        ExpectKind::Exit(ExitExpectation::Success) => "the turn ends as a success".to_owned(),
        ExpectKind::Exit(ExitExpectation::Failure) => "the turn ends as a failure".to_owned(),
    }
}

fn origins_name(asked: &[(&str, &Vec<(String, Span)>)]) -> String {
    let list = |names: &[(String, Span)]| {
        names.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let asked = asked.iter().filter(|(_, names)| !names.is_empty());
    let asked: Vec<String> = asked.map(|(word, names)| format!("{word} {}", list(names))).collect();
    asked.join(" and ")
}

fn files_name(files: &FilesExpectation<LateText>) -> String {
    let named: Vec<String> =
        [("created", &files.created), ("changed", &files.changed), ("deleted", &files.deleted)]
            .into_iter()
            .filter(|(_, paths)| !paths.is_empty())
            .map(|(word, paths)| {
                let paths: Vec<String> = paths.iter().map(LateText::display).collect();
                format!("{word} {}", paths.join(", "))
            })
            .collect();
    if named.is_empty() {
        "files unchanged".to_owned()
    } else {
        format!("files {}", named.join("; "))
    }
}

#[cfg(test)]
mod tests;
