//! How a reply ends.

use super::{fault, field};
use crate::document::{Fields, Node, NodeKind, Problems};
use crate::script::ending::{Ending, ErrorForm, Failure};

/// Reads `ending`: a word, or a map for an ending that needs more.
pub(super) fn ending(node: Option<&Node>, problems: &mut Problems) -> Option<Ending> {
    let Some(node) = node else { return Some(Ending::default()) };
    if !matches!(node.kind, NodeKind::Map(_)) {
        let choices = [("complete", 0), ("length", 1), ("filtered", 2)];
        return problems.choice(node, "`ending`", &choices).map(|choice| match choice {
            0 => Ending::Complete,
            1 => Ending::Length,
            _ => Ending::Filtered,
        });
    }
    let mut fields = Fields::of(node, "`ending`", problems)?;
    let kinds = ["reason", "stop_sequence", "failed", "error"];
    let ending = match fields.exactly_one(&kinds, problems)? {
        ("reason", node) => problems.text(node, "`reason`").map(Ending::Reason),
        ("stop_sequence", node) => problems.text(node, "`stop_sequence`").map(Ending::StopSequence),
        ("failed", node) => failed(node, problems),
        (_, node) => error(node, problems),
    };
    fields.finish(problems);
    ending
}

fn failed(node: &Node, problems: &mut Problems) -> Option<Ending> {
    let mut fields = Fields::of(node, "`failed`", problems)?;
    let failure = failure(&mut fields, problems);
    fields.finish(problems);
    failure.map(Ending::Failed)
}

fn error(node: &Node, problems: &mut Problems) -> Option<Ending> {
    let mut fields = Fields::of(node, "`error`", problems)?;
    let failure = failure(&mut fields, problems);
    let nested = field(fields.optional("form"), false, |node| {
        problems.choice(node, "`form`", &[("flat", false), ("nested", true)])
    });
    let status = field(fields.optional("status"), None, |node| {
        let status = fault::status_code(node, problems);
        if nested == Some(false) {
            let message = "only an error of the form `nested` has a status";
            problems.error_with_help(node.span, message, "add `form: nested`");
        }
        status.map(Some)
    });
    fields.finish(problems);
    let form = if nested? { ErrorForm::Nested { status: status? } } else { ErrorForm::Flat };
    Some(Ending::Error { failure: failure?, form })
}

fn failure(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Failure> {
    let mut text = |name: &'static str, absent: &str| {
        field(fields.optional(name), absent.to_owned(), |node| {
            problems.text(node, &format!("`{name}`"))
        })
    };
    let code = text("code", "server_error");
    let message = text("message", "the server failed");
    let kind = field(fields.optional("type"), None, |node| problems.text(node, "`type`").map(Some));
    let unfinished =
        field(fields.optional("unfinished"), false, |node| problems.boolean(node, "`unfinished`"));
    Some(Failure { code: code?, message: message?, kind: kind?, unfinished: unfinished? })
}
