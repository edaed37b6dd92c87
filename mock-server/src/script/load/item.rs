//! Items of a reply, and events beside them.

use serde_json::{Map, Value};

use super::{each, fault, field, reply};
use crate::document::{Fields, Node, NodeKind, Problems};
use crate::script::fault::Event;
use crate::script::item::{ExtraEvent, LocalShell, Part, SearchResult, WebSearch};
use crate::script::model::Item;

/// What an item can be.
const KINDS: [&str; 8] =
    ["say", "parts", "call", "local_shell", "web_search", "reasoning", "compaction", "raw"];

/// Reads an item.
pub(super) fn item(node: &Node, problems: &mut Problems) -> Option<Item> {
    let mut fields = Fields::of(node, "an item", problems)?;
    let item = match fields.exactly_one(&KINDS, problems)? {
        ("say", node) => {
            let text = problems.text(node, "`say`");
            let phase = optional_text(&mut fields, "phase", problems);
            text.zip(phase).map(|(text, phase)| Item::Message { text, phase })
        }
        ("parts", node) => {
            let parts = problems.list(node, "`parts`");
            let parts = parts.and_then(|parts| each(parts, |_, node| part(node, problems)));
            let phase = optional_text(&mut fields, "phase", problems);
            parts.zip(phase).map(|(parts, phase)| Item::Parts { parts, phase })
        }
        ("call", node) => reply::call(node, problems).map(Item::Call),
        ("local_shell", node) => local_shell(node, problems),
        ("web_search", node) => web_search(node, problems),
        ("reasoning", node) => reasoning(node, problems),
        ("compaction", node) => compaction(node, problems),
        (_, node) => raw(node, problems),
    };
    fields.finish(problems);
    item
}

/// Takes a text that may be absent; the outer `None` is a problem.
#[expect(clippy::option_option, reason = "a field that is absent is no problem")]
fn optional_text(
    fields: &mut Fields<'_>,
    name: &'static str,
    problems: &mut Problems,
) -> Option<Option<String>> {
    field(fields.optional(name), None, |node| problems.text(node, &format!("`{name}`")).map(Some))
}

fn part(node: &Node, problems: &mut Problems) -> Option<Part> {
    let mut fields = Fields::of(node, "a part", problems)?;
    let part = match fields.exactly_one(&["text", "refusal"], problems)? {
        ("text", node) => {
            let text = problems.text(node, "`text`");
            let annotations = field(fields.optional("annotations"), Vec::new(), |node| {
                let items = problems.list(node, "`annotations`")?;
                each(items, |_, node| problems.json_map(node, "an annotation").map(Value::Object))
            });
            text.zip(annotations).map(|(text, annotations)| Part::Text { text, annotations })
        }
        (_, node) => problems.text(node, "`refusal`").map(Part::Refusal),
    };
    fields.finish(problems);
    part
}

fn local_shell(node: &Node, problems: &mut Problems) -> Option<Item> {
    let mut fields = Fields::of(node, "`local_shell`", problems)?;
    let command = fields.required("command", problems).and_then(|node| {
        let words = problems.list(node, "`command`")?;
        each(words, |_, word| problems.text(word, "a word of the command"))
    });
    let call_id =
        field(fields.optional("call_id"), None, |node| problems.text(node, "`call_id`").map(Some));
    let mut more = Map::new();
    for name in ["env", "timeout_ms", "user", "working_directory"] {
        if let Some(node) = fields.optional(name) {
            more.insert(name.to_owned(), problems.json(node, &format!("`{name}`"))?);
        }
    }
    fields.finish(problems);
    Some(Item::LocalShell(LocalShell { command: command?, more, call_id: call_id? }))
}

fn web_search(node: &Node, problems: &mut Problems) -> Option<Item> {
    let mut fields = Fields::of(node, "`web_search`", problems)?;
    let query = fields.required("query", problems).and_then(|node| problems.text(node, "`query`"));
    let results = field(fields.optional("results"), Vec::new(), |node| {
        let results = problems.list(node, "`results`")?;
        each(results, |_, node| result(node, problems))
    });
    fields.finish(problems);
    Some(Item::WebSearch(WebSearch { query: query?, results: results? }))
}

fn result(node: &Node, problems: &mut Problems) -> Option<SearchResult> {
    let mut fields = Fields::of(node, "a result", problems)?;
    let url = fields.required("url", problems).and_then(|node| problems.text(node, "`url`"));
    let title =
        field(fields.optional("title"), String::new(), |node| problems.text(node, "`title`"));
    fields.finish(problems);
    Some(SearchResult { url: url?, title: title? })
}

fn reasoning(node: &Node, problems: &mut Problems) -> Option<Item> {
    let mut fields = Fields::of(node, "`reasoning`", problems)?;
    let summary =
        field(fields.optional("summary"), Vec::new(), |node| texts(node, "`summary`", problems));
    let content =
        field(fields.optional("content"), Vec::new(), |node| texts(node, "`content`", problems));
    let encrypted_content = optional_text(&mut fields, "encrypted_content", problems);
    fields.finish(problems);
    Some(Item::Reasoning {
        summary: summary?,
        content: content?,
        encrypted_content: encrypted_content?,
    })
}

fn compaction(node: &Node, problems: &mut Problems) -> Option<Item> {
    let mut fields = Fields::of(node, "`compaction`", problems)?;
    let encrypted_content = optional_text(&mut fields, "encrypted_content", problems);
    fields.finish(problems);
    Some(Item::Compaction { encrypted_content: encrypted_content? })
}

/// One text, or a list of texts.
fn texts(node: &Node, what: &str, problems: &mut Problems) -> Option<Vec<String>> {
    if let NodeKind::Text(text) = &node.kind {
        return Some(vec![text.clone()]);
    }
    let parts = problems.list(node, what)?;
    each(parts, |_, part| problems.text(part, &format!("a part of {what}")))
}

fn raw(node: &Node, problems: &mut Problems) -> Option<Item> {
    let item = problems.json_map(node, "`raw`")?;
    if !item.get("type").is_some_and(Value::is_string) {
        problems.error(node.span, "a raw item needs a `type`, as the wire names it");
    }
    Some(Item::Raw(item))
}

/// Reads `extra_events`.
pub(super) fn extra_events(node: &Node, problems: &mut Problems) -> Option<Vec<ExtraEvent>> {
    let events = problems.list(node, "`extra_events`")?;
    each(events, |_, node| {
        let mut fields = Fields::of(node, "an extra event", problems)?;
        // The end of a reply is its last event.
        let before = field(fields.optional("before_event"), Event::FromEnd(1), |node| {
            fault::event(node, problems)
        });
        let kind = fields.required("type", problems).and_then(|node| problems.text(node, "`type`"));
        let more = field(fields.optional("fields"), Map::new(), |node| {
            problems.json_map(node, "`fields`")
        });
        fields.finish(problems);
        Some(ExtraEvent { before: before?, kind: kind?, fields: more? })
    })
}
