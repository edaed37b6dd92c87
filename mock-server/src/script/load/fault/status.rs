//! HTTP errors.

use crate::document::{Fields, Node, NodeKind, Problems};
use crate::script::fault::{ErrorBody, StatusFault};
use crate::script::load::{field, reply};

/// Reads `status`: a number, or a map for more than that.
pub(super) fn status(node: &Node, problems: &mut Problems) -> Option<StatusFault> {
    if matches!(node.kind, NodeKind::Int(_)) {
        let code = code(node, problems)?;
        return Some(StatusFault { code, body: usual(), headers: Vec::new() });
    }
    let mut fields = Fields::of(node, "`status`", problems)?;
    let code = fields.required("code", problems).and_then(|node| code(node, problems));
    let body = body(&mut fields, problems);
    let mut headers = Some(Vec::new());
    for (key, name) in [("retry_after", "retry-after"), ("retry_after_ms", "retry-after-ms")] {
        if let Some(node) = fields.optional(key) {
            let value = seconds_or_date(node, key, problems);
            headers = headers.zip(value).map(|(mut headers, value)| {
                headers.push((name.to_owned(), value));
                headers
            });
        }
    }
    let more = reply::headers(fields.optional("headers"), problems);
    fields.finish(problems);
    let headers = headers?.into_iter().chain(more?).collect();
    Some(StatusFault { code: code?, body: body?, headers })
}

/// Reads the status of an error.
pub(in crate::script::load) fn code(node: &Node, problems: &mut Problems) -> Option<u16> {
    let number = problems.count(node, "a status")?;
    let code = u16::try_from(number).ok().filter(|code| (400..600).contains(code));
    if code.is_none() {
        problems.error(node.span, "the status of an error is 400 to 599");
    }
    code
}

fn body(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ErrorBody> {
    let found = ["error", "json", "text"].map(|name| fields.optional(name).is_some());
    if !found.contains(&true) {
        return Some(usual());
    }
    match fields.exactly_one(&["error", "json", "text"], problems)? {
        ("error", node) => error(node, problems),
        ("json", node) => problems.json(node, "`json`").map(ErrorBody::Json),
        (_, node) => problems.text(node, "`text`").map(ErrorBody::Text),
    }
}

fn error(node: &Node, problems: &mut Problems) -> Option<ErrorBody> {
    let mut fields = Fields::of(node, "`error`", problems)?;
    let mut text = |name: &'static str| {
        field(fields.optional(name), None, |node| {
            problems.text(node, &format!("`{name}`")).map(Some)
        })
    };
    let (kind, code, message, param) = (text("type"), text("code"), text("message"), text("param"));
    fields.finish(problems);
    Some(ErrorBody::Error { kind: kind?, code: code?, message: message?, param: param? })
}

fn usual() -> ErrorBody {
    ErrorBody::Error { kind: None, code: None, message: None, param: None }
}

/// A number, or any text such as a date: clients must cope with both.
fn seconds_or_date(node: &Node, key: &str, problems: &mut Problems) -> Option<String> {
    match &node.kind {
        NodeKind::Int(number) => Some(number.to_string()),
        NodeKind::Float(number) => Some(number.to_string()),
        NodeKind::Text(text) if http::HeaderValue::from_str(text).is_ok() => Some(text.clone()),
        _ => {
            problems.wrong_kind(node, &format!("`{key}`"), "a number or a header's text");
            None
        }
    }
}
