//! Faults.

mod edit;
mod place;
mod status;
mod timing;

pub(super) use place::event;
pub(super) use status::code as status_code;

use super::{each, field};
use crate::document::{Fields, Node, NodeKind, Problems, Span};
use crate::script::fault::{
    Attempts, CallFault, EventLine, Fault, FaultRule, Form, Framing, LineEnding, Pace, Point, Split,
};

/// Reads `fault`: one rule, or a list of rules of which the first for an attempt applies. `None`:
/// something is wrong with it, and `problems` says what.
pub fn faults(node: &Node, problems: &mut Problems) -> Option<Vec<FaultRule>> {
    let nodes = one_or_many(node);
    let rules = each(nodes, |_, node| rule(node, problems))?;
    for (rule, next) in rules.iter().zip(nodes.iter().skip(1)) {
        if rule.attempts == Attempts::Every {
            let message = "no attempt is left for this fault: the one before it has all of them";
            let help = "give that one `first` or `attempts`";
            problems.error_with_help(next.span, message, help);
        }
    }
    Some(rules)
}

fn rule(node: &Node, problems: &mut Problems) -> Option<FaultRule> {
    let mut fields = Fields::of(node, "a fault", problems)?;
    let attempts = attempts(&mut fields, problems);
    let fault = fault(&mut fields, problems);
    fields.finish(problems);
    let fault = fault?;
    if fault == Fault::default() {
        problems.error(node.span, "this fault does nothing");
    }
    Some(FaultRule { attempts: attempts?, fault })
}

fn attempts(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Attempts> {
    let from_one = |node: &Node, what: &str, problems: &mut Problems| {
        let number = problems.count(node, what)?;
        if number == 0 {
            problems.error(node.span, "attempts are counted from 1");
        }
        Some(number)
    };
    let first = field(fields.optional("first"), Attempts::Every, |node| {
        from_one(node, "`first`", problems).map(Attempts::First)
    });
    let Some(node) = fields.optional("attempts") else { return first };
    if fields.optional("first").is_some() {
        let place = fields.key_span("attempts").unwrap_or(node.span);
        problems.error(place, "`first` and `attempts` cannot stand together");
    }
    let items = problems.list(node, "`attempts`")?;
    if items.is_empty() {
        problems.error(node.span, "`attempts` names no attempt");
    }
    each(items, |_, node| from_one(node, "an attempt", problems)).map(Attempts::Only)
}

fn fault(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Fault> {
    let status =
        field(fields.optional("status"), None, |node| status::status(node, problems).map(Some));
    let form = field(fields.optional("form"), None, |node| {
        let choices = [("object", Form::Object), ("stream", Form::Stream)];
        problems.choice(node, "`form`", &choices).map(Some)
    });
    let content_type = field(fields.optional("content_type"), None, |node| {
        let text = problems.text(node, "`content_type`")?;
        if http::HeaderValue::from_str(&text).is_err() {
            problems.error(node.span, "this is no header value");
        }
        Some(Some(text))
    });
    let calls = calls(fields, problems);
    let edits = edit::edits(fields, problems);
    let pauses = timing::pauses(fields, problems);
    let pace = field(fields.optional("pace"), None, |node| timing::pace(node, problems).map(Some));
    let framing = framing(fields, problems);
    let cut = field(fields.optional("cut"), None, |node| timing::cut(node, problems).map(Some));
    let fault = Fault {
        status: status?,
        form: form?,
        content_type: content_type?,
        calls: calls?,
        edits: edits?,
        framing: framing?,
        pauses: pauses?,
        pace: pace?,
        cut: cut?,
    };
    check(&fault, fields, problems);
    Some(fault)
}

/// What cannot stand together.
fn check(fault: &Fault, fields: &mut Fields<'_>, problems: &mut Problems) {
    let place = |fields: &Fields<'_>, key: &str| -> Span {
        fields.key_span(key).unwrap_or_else(|| fields.span())
    };
    if fault.status.is_some() {
        let only_waits = Fault {
            status: fault.status.clone(),
            pauses: fault
                .pauses
                .iter()
                .filter(|(point, _)| *point == Point::Start)
                .cloned()
                .collect(),
            ..Fault::default()
        };
        if *fault != only_waits {
            problems.error_with_help(
                place(fields, "status"),
                "`status` answers in the place of the reply, so nothing else can be done to it",
                "beside it, only `delay`, `wait` and `stall` before the first byte can stand",
            );
        }
    }
    if matches!(fault.pace, Some(Pace::Byte(_))) && fault.framing.split != Split::Events {
        let message = "`pace` by byte has a write for each byte, so `split` cannot stand beside it";
        problems.error(place(fields, "split"), message);
    }
    if fault.framing.split == Split::CrLf && fault.framing.line_ending != LineEnding::CrLf {
        problems.error_with_help(
            place(fields, "split"),
            "there is no CR LF to split",
            "add `line_ending: crlf`",
        );
    }
}

fn calls(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<CallFault> {
    let same_ids = field(fields.optional("same_call_ids"), false, |node| {
        problems.boolean(node, "`same_call_ids`")
    });
    let cut_arguments = field(fields.optional("cut_arguments"), None, |node| {
        size(node, "`cut_arguments`", problems).map(Some)
    });
    Some(CallFault { same_ids: same_ids?, cut_arguments: cut_arguments? })
}

fn framing(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Framing> {
    let line_ending = field(fields.optional("line_ending"), LineEnding::default(), |node| {
        let choices = [("lf", LineEnding::Lf), ("crlf", LineEnding::CrLf), ("cr", LineEnding::Cr)];
        problems.choice(node, "`line_ending`", &choices)
    });
    let event_line = field(fields.optional("event_line"), EventLine::default(), |node| {
        let choices = [
            ("first", EventLine::First),
            ("last", EventLine::Last),
            ("omitted", EventLine::Omitted),
        ];
        problems.choice(node, "`event_line`", &choices)
    });
    let two_data_lines = field(fields.optional("two_data_lines"), false, |node| {
        problems.boolean(node, "`two_data_lines`")
    });
    let split = field(fields.optional("split"), Split::default(), |node| split(node, problems));
    Some(Framing {
        line_ending: line_ending?,
        event_line: event_line?,
        two_data_lines: two_data_lines?,
        split: split?,
    })
}

fn split(node: &Node, problems: &mut Problems) -> Option<Split> {
    if !matches!(node.kind, NodeKind::Map(_)) {
        let choices = [("events", 0), ("characters", 1), ("crlf", 2), ("lines", 3), ("nowhere", 4)];
        return problems.choice(node, "`split`", &choices).map(|choice| match choice {
            0 => Split::Events,
            1 => Split::Characters,
            2 => Split::CrLf,
            3 => Split::Lines,
            _ => Split::Nowhere,
        });
    }
    let mut fields = Fields::of(node, "`split`", problems)?;
    let split = match fields.exactly_one(&["every", "at"], problems)? {
        ("every", node) => {
            let size = size(node, "`every`", problems)?;
            if size == 0 {
                problems.error(node.span, "a write has one byte at least");
            }
            Some(Split::Every(size))
        }
        (_, node) => {
            let offsets = problems.list(node, "`at`")?;
            each(offsets, |_, node| problems.count(node, "a byte")).map(Split::At)
        }
    };
    fields.finish(problems);
    split
}

/// A number of things in memory.
fn size(node: &Node, what: &str, problems: &mut Problems) -> Option<usize> {
    let number = problems.count(node, what)?;
    let size = usize::try_from(number);
    if size.is_err() {
        problems.error(node.span, format!("{what} is too large"));
    }
    size.ok()
}

/// The items of a list, or the one thing that stands in its place.
fn one_or_many(node: &Node) -> &[Node] {
    match &node.kind {
        NodeKind::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}
