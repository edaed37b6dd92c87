//! Purposes: the rules that recognise them and the replies to side requests.

use indexmap::IndexMap;

use super::{condition, each};
use crate::document::{Fields, Key, Node, NodeKind, Problems, Span, did_you_mean};
use crate::script::model::{Purpose, PurposeRule, Reply};

/// Reads `purposes`.
pub(super) fn rules(node: &Node, problems: &mut Problems) -> Option<Vec<PurposeRule>> {
    let items = problems.list(node, "`purposes`")?;
    each(items, |_, item| rule(item, problems))
}

fn rule(node: &Node, problems: &mut Problems) -> Option<PurposeRule> {
    let mut fields = Fields::of(node, "a purpose", problems)?;
    let name =
        fields.required("name", problems).and_then(|node| problems.text(node, "a purpose's name"));
    let all = fields.required("all", problems).and_then(|node| {
        let items = problems.list(node, "`all`")?;
        if items.is_empty() {
            problems.error_with_help(
                node.span,
                "a purpose without a condition takes every request",
                "add a condition, such as `{header: x-purpose, contains: title}`",
            );
        }
        each(items, |_, item| condition::condition(item, problems))
    });
    fields.finish(problems);
    Some(PurposeRule { purpose: Purpose::new(name?), all: all? })
}

/// The names of all rules that have one.
pub(super) fn names(node: &Node) -> Vec<String> {
    let NodeKind::List(items) = &node.kind else { return Vec::new() };
    let name = |item: &Node| match &item.kind {
        NodeKind::Map(entries) => entries.iter().find_map(name_entry),
        _ => None,
    };
    items.iter().filter_map(name).collect()
}

fn name_entry((key, value): &(Key, Node)) -> Option<String> {
    match &value.kind {
        NodeKind::Text(text) if key.name == "name" => Some(text.clone()),
        _ => None,
    }
}

/// A purpose by its name: `main`, or one that a rule recognises.
pub(super) fn named(
    name: &str,
    span: Span,
    known: &[String],
    problems: &mut Problems,
) -> Option<Purpose> {
    if name == "main" || known.iter().any(|known| known == name) {
        return Some(Purpose::new(name));
    }
    let candidates = std::iter::once("main").chain(known.iter().map(String::as_str));
    unrecognised(name, span, candidates, problems);
    None
}

fn unrecognised(
    name: &str,
    span: Span,
    candidates: impl Iterator<Item: AsRef<str>>,
    problems: &mut Problems,
) {
    let message = format!("no rule of `purposes` recognises `{name}`");
    problems.error_with_help(span, message, did_you_mean(name, candidates));
}

/// Reads `side_replies`.
pub(super) fn side_replies(
    node: &Node,
    known: &[String],
    problems: &mut Problems,
) -> Option<IndexMap<Purpose, Reply>> {
    let entries = problems.map(node, "`side_replies`")?;
    let replies: Vec<_> = entries
        .iter()
        .map(|(key, value)| {
            if key.name == "main" {
                problems.error_with_help(
                    key.span,
                    "`main` is no side request",
                    "add a turn: a main request is never answered by default",
                );
                return None;
            }
            if !known.contains(&key.name) {
                unrecognised(&key.name, key.span, known.iter().map(String::as_str), problems);
            }
            let text = problems.text(value, "a side reply")?;
            Some((Purpose::new(&key.name), Reply::say(text)))
        })
        .collect();
    replies.into_iter().collect()
}
