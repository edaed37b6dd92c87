//! Reads `connections`: how `WebSocket` connections are let in, and what goes wrong on each.

use super::{each, field, reply};
use crate::document::{Fields, Node, NodeKind, Problems};
use crate::script::socket::{
    CLOSE_REASON, Compression, Connection, ErrorFrame, FaultTarget, Handshake, Refusal,
    SocketFault, SocketFaultKind, is_close_code,
};

/// Reads `connections`.
pub(super) fn connections(node: &Node, problems: &mut Problems) -> Option<Vec<Connection>> {
    let items = problems.list(node, "`connections`")?;
    each(items, |_, item| connection(item, problems))
}

fn connection(node: &Node, problems: &mut Problems) -> Option<Connection> {
    let mut fields = Fields::of(node, "a connection", problems)?;
    let handshake =
        field(fields.optional("handshake"), Handshake::default(), |node| handshake(node, problems));
    let at = fields.key_span("fault");
    let faults = field(fields.optional("fault"), Vec::new(), |node| faults(node, problems));
    fields.finish(problems);
    let connection = Connection { handshake: handshake?, faults: faults? };
    if let (Some(_), false, Some(at)) =
        (&connection.handshake.refusal, connection.faults.is_empty(), at)
    {
        problems.error(at, "a connection that is refused can have no fault");
    }
    Some(connection)
}

fn handshake(node: &Node, problems: &mut Problems) -> Option<Handshake> {
    let mut fields = Fields::of(node, "`handshake`", problems)?;
    let gate = optional_text(&mut fields, "gate", problems);
    let headers = reply::headers(fields.optional("headers"), problems);
    let status = field(fields.optional("status"), None, |node| {
        number(node, "`status`", 400..=599, problems).map(Some)
    });
    let code = optional_text(&mut fields, "code", problems);
    let message = optional_text(&mut fields, "message", problems);
    let compression = field(fields.optional("compression"), Compression::default(), |node| {
        let is_wanted = problems.boolean(node, "`compression`")?;
        Some(if is_wanted { Compression::Offered } else { Compression::Declined })
    });
    if let (Some(Some(_)), Some(at)) = (status, fields.key_span("compression")) {
        problems.error(at, "a connection that is refused has no compression");
    }
    for name in ["code", "message"] {
        if let (Some(None), Some(at)) = (status, fields.key_span(name)) {
            problems.error_with_help(
                at,
                format!("`{name}` belongs to a refusal"),
                "add the `status` that the upgrade is refused with",
            );
        }
    }
    fields.finish(problems);
    let (code, message) = (code?, message?);
    let refusal = status?.map(|status| Refusal { status, code, message });
    Some(Handshake { gate: gate?, headers: headers?, refusal, compression: compression? })
}

/// One fault, or a list of them.
fn faults(node: &Node, problems: &mut Problems) -> Option<Vec<SocketFault>> {
    match &node.kind {
        NodeKind::List(items) => each(items, |_, item| fault(item, problems)),
        _ => Some(vec![fault(node, problems)?]),
    }
}

const KINDS: [&str; 7] = ["close", "drop", "binary", "error", "send", "ping", "hold"];

fn fault(node: &Node, problems: &mut Problems) -> Option<SocketFault> {
    let mut fields = Fields::of(node, "a fault", problems)?;
    let chosen = fields.exactly_one(&KINDS, problems);
    fields.finish(problems);
    let (name, node) = chosen?;
    let what = format!("`{name}`");
    let mut fields = Fields::of(node, &what, problems)?;
    let response = target(&mut fields, problems);
    let after_event = fields.required("after_event", problems).and_then(|node| {
        let count = problems.count(node, "`after_event`")?;
        Some(usize::try_from(count).unwrap_or(usize::MAX))
    });
    let kind = kind(name, &mut fields, problems);
    fields.finish(problems);
    Some(SocketFault { response: response?, after_event: after_event?, kind: kind? })
}

/// Which response: a number, `warm-up`, or the first when nothing is said.
fn target(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<FaultTarget> {
    let Some(node) = fields.optional("response") else { return Some(FaultTarget::Reply(1)) };
    match &node.kind {
        NodeKind::Text(text) if text == "warm-up" => Some(FaultTarget::WarmUp),
        NodeKind::Int(number) if *number >= 1 => Some(FaultTarget::Reply(number.unsigned_abs())),
        _ => {
            problems.error(node.span, "`response` is a number from 1, or `warm-up`");
            None
        }
    }
}

fn kind(name: &str, fields: &mut Fields<'_>, problems: &mut Problems) -> Option<SocketFaultKind> {
    Some(match name {
        "close" => {
            let code =
                fields.required("code", problems).and_then(|node| close_code(node, problems));
            let reason = field(fields.optional("reason"), String::new(), |node| {
                let reason = problems.text(node, "`reason`")?;
                if reason.len() > CLOSE_REASON {
                    let message =
                        format!("a close frame has no room for more than {CLOSE_REASON} bytes");
                    problems.error(node.span, message);
                }
                Some(reason)
            });
            SocketFaultKind::Close { code: code?, reason: reason? }
        }
        "drop" => SocketFaultKind::Drop,
        "binary" => SocketFaultKind::Binary { stop: stop(fields, problems)? },
        "error" => SocketFaultKind::Error(error_frame(fields, problems)?),
        "send" => {
            let text = required_text(fields, "text", problems);
            let stop = stop(fields, problems);
            SocketFaultKind::Send { text: text?, stop: stop? }
        }
        "ping" => SocketFaultKind::Ping,
        _ => SocketFaultKind::Hold { gate: required_text(fields, "gate", problems)? },
    })
}

fn stop(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<bool> {
    field(fields.optional("stop"), false, |node| problems.boolean(node, "`stop`"))
}

fn error_frame(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ErrorFrame> {
    let status = field(fields.optional("status"), None, |node| {
        number(node, "`status`", 400..=599, problems).map(Some)
    });
    let kind = optional_text(fields, "type", problems);
    let code = optional_text(fields, "code", problems);
    let message = required_text(fields, "message", problems);
    let headers = reply::headers(fields.optional("headers"), problems);
    Some(ErrorFrame {
        status: status?,
        kind: kind?,
        code: code?,
        message: message?,
        headers: headers?,
    })
}

fn close_code(node: &Node, problems: &mut Problems) -> Option<u16> {
    let code = problems.count(node, "`code`")?;
    if is_close_code(code) {
        return u16::try_from(code).ok();
    }
    problems.error_with_help(
        node.span,
        format!("a close frame cannot carry the code {code}"),
        "use one of 1000 to 1003, 1007 to 1014, 3000 to 4999; to end a connection without a close \
         frame, use `drop`",
    );
    None
}

fn number(
    node: &Node,
    what: &str,
    range: std::ops::RangeInclusive<u16>,
    problems: &mut Problems,
) -> Option<u16> {
    let number = problems.count(node, what)?;
    if let Some(number) = u16::try_from(number).ok().filter(|number| range.contains(number)) {
        return Some(number);
    }
    problems.error(node.span, format!("{what} lies between {} and {}", range.start(), range.end()));
    None
}

#[expect(clippy::option_option, reason = "a text that is absent is no text that is wrong")]
fn optional_text(
    fields: &mut Fields<'_>,
    name: &'static str,
    problems: &mut Problems,
) -> Option<Option<String>> {
    field(fields.optional(name), None, |node| problems.text(node, &format!("`{name}`")).map(Some))
}

fn required_text(
    fields: &mut Fields<'_>,
    name: &'static str,
    problems: &mut Problems,
) -> Option<String> {
    let node = fields.required(name, problems)?;
    problems.text(node, &format!("`{name}`"))
}
