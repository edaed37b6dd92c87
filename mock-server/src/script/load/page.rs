//! Pages.

use indexmap::IndexMap;

use super::field;
use crate::document::{Fields, Key, Node, NodeKind, Problems};
use crate::script::model::Page;

/// Reads `pages`: a map from name to text, or to a content type, a body and a gate.
pub(super) fn pages(node: &Node, problems: &mut Problems) -> Option<IndexMap<String, Page>> {
    let entries = problems.map(node, "`pages`")?;
    let pages: Vec<_> = entries
        .iter()
        .map(|(key, value)| {
            check_name(key, problems);
            Some((key.name.clone(), page(&key.name, value, problems)?))
        })
        .collect();
    pages.into_iter().collect()
}

/// A name is compared with the path as a client sends it, so it must need no escapes there.
fn check_name(key: &Key, problems: &mut Problems) {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    if key.name.is_empty() || !key.name.chars().all(plain) {
        problems.error_with_help(
            key.span,
            format!("`{}` cannot be the name of a page", key.name),
            "use letters, digits, `-`, `.`, `_`, `~` and `/`",
        );
    }
}

fn page(name: &str, node: &Node, problems: &mut Problems) -> Option<Page> {
    if let NodeKind::Text(body) = &node.kind {
        let content_type = default_type(name).to_owned();
        return Some(Page { content_type, body: body.clone(), gate: None });
    }
    let mut fields = Fields::of(node, "a page", problems)?;
    let content_type =
        field(fields.optional("content_type"), default_type(name).to_owned(), |node| {
            let text = problems.text(node, "`content_type`")?;
            if http::HeaderValue::from_str(&text).is_err() {
                problems.error(node.span, "a content type cannot hold control characters");
            }
            Some(text)
        });
    let body = fields.required("body", problems).and_then(|node| problems.text(node, "`body`"));
    let gate = field(fields.optional("gate"), None, |node| problems.text(node, "`gate`").map(Some));
    fields.finish(problems);
    Some(Page { content_type: content_type?, body: body?, gate: gate? })
}

fn default_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}
