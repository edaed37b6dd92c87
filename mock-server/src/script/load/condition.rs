//! Conditions on a request.

use super::field;
use crate::document::{Fields, Node, Problems, Span};
use crate::script::model::{Condition, Guard};

/// Reads a condition.
pub(super) fn condition(node: &Node, problems: &mut Problems) -> Option<Condition> {
    let mut fields = Fields::of(node, "a condition", problems)?;
    let condition = parse(&mut fields, problems);
    fields.finish(problems);
    condition
}

/// Reads a guard: a condition that may be turned round by `not`.
pub(super) fn guard(node: &Node, problems: &mut Problems) -> Option<Guard> {
    let mut fields = Fields::of(node, "a condition", problems)?;
    let not = field(fields.optional("not"), false, |node| problems.boolean(node, "`not`"));
    let condition = parse(&mut fields, problems);
    fields.finish(problems);
    Some(Guard { condition: condition?, holds: !not? })
}

fn parse(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Condition> {
    match fields.exactly_one(&["header", "pointer", "body_contains"], problems)? {
        ("header", node) => {
            let name = problems.text(node, "a header's name");
            let contains = field(fields.optional("contains"), String::new(), |node| {
                problems.text(node, "`contains`")
            });
            let name = name.and_then(|name| header_name(&name, node.span, problems));
            Some(Condition::Header { name: name?, contains: contains? })
        }
        ("pointer", node) => {
            let pointer = problems
                .text(node, "a JSON pointer")
                .and_then(|pointer| json_pointer(pointer, node.span, problems));
            at_pointer(fields, pointer, problems)
        }
        (_, node) => {
            let text = problems.text(node, "`body_contains`")?;
            non_empty(&text, node.span, "every body contains an empty text", problems)?;
            Some(Condition::BodyContains { text })
        }
    }
}

fn at_pointer(
    fields: &mut Fields<'_>,
    pointer: Option<String>,
    problems: &mut Problems,
) -> Option<Condition> {
    match fields.exactly_one(&["equals", "contains", "absent"], problems)? {
        ("equals", node) => {
            let value = problems.json(node, "`equals`");
            Some(Condition::Equals { pointer: pointer?, value: value? })
        }
        ("contains", node) => {
            let text = problems.text(node, "`contains`");
            Some(Condition::Contains { pointer: pointer?, text: text? })
        }
        (_, node) => {
            if !problems.boolean(node, "`absent`")? {
                problems.error_with_help(
                    node.span,
                    "`absent` can only be true",
                    "for something that must be there, write `absent: true` with `not: true`",
                );
            }
            Some(Condition::Absent { pointer: pointer? })
        }
    }
}

fn json_pointer(pointer: String, span: Span, problems: &mut Problems) -> Option<String> {
    if pointer.is_empty() || pointer.starts_with('/') {
        return Some(pointer);
    }
    problems.error_with_help(
        span,
        format!("`{pointer}` is no JSON pointer"),
        format!("a pointer begins with a slash, such as `/{}`", pointer.replace('.', "/")),
    );
    None
}

fn header_name(name: &str, span: Span, problems: &mut Problems) -> Option<String> {
    if http::HeaderName::from_bytes(name.as_bytes()).is_ok() {
        return Some(name.to_owned());
    }
    problems.error(span, format!("`{name}` is no header name"));
    None
}

fn non_empty(text: &str, span: Span, message: &str, problems: &mut Problems) -> Option<()> {
    if text.is_empty() {
        problems.error(span, message);
        return None;
    }
    Some(())
}
