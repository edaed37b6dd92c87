//! Waits and cuts.

use std::time::Duration;

use super::{one_or_many, place};
use crate::document::{Fields, Node, NodeKind, Problems};
use crate::script::fault::{Cut, CutHow, Pace, Pause, Point};
use crate::script::load::{each, field};

/// Takes `delay`, `wait` and `stall`, each one map or a list of maps.
pub(super) fn pauses(
    fields: &mut Fields<'_>,
    problems: &mut Problems,
) -> Option<Vec<(Point, Pause)>> {
    let mut all = Some(Vec::new());
    for (name, read) in KINDS {
        let Some(node) = fields.optional(name) else { continue };
        let pauses = each(one_or_many(node), |_, node| pause(node, name, read, problems));
        all = all.zip(pauses).map(|(mut all, pauses)| {
            all.extend(pauses);
            all
        });
    }
    all
}

type Read = fn(&mut Fields<'_>, &mut Problems) -> Option<Pause>;

const KINDS: [(&str, Read); 3] = [("delay", delay), ("wait", wait), ("stall", stall)];

fn pause(
    node: &Node,
    name: &'static str,
    read: Read,
    problems: &mut Problems,
) -> Option<(Point, Pause)> {
    if name == "delay" && matches!(node.kind, NodeKind::Int(_)) {
        return Some((Point::Start, Pause::For(milliseconds(node, "`delay`", problems)?)));
    }
    if name == "delay" && !matches!(node.kind, NodeKind::Map(_)) {
        problems.wrong_kind(node, "`delay`", "a number of milliseconds, or a map");
        return None;
    }
    let what = format!("`{name}`");
    let mut fields = Fields::of(node, &what, problems)?;
    let point = place::point(&mut fields, problems);
    let pause = read(&mut fields, problems);
    fields.finish(problems);
    Some((point?, pause?))
}

fn delay(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Pause> {
    let node = fields.required("ms", problems)?;
    milliseconds(node, "`ms`", problems).map(Pause::For)
}

fn wait(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Pause> {
    let node = fields.required("gate", problems)?;
    problems.text(node, "a gate's name").map(Pause::Gate)
}

fn stall(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Pause> {
    field(fields.optional("until"), Pause::Forever, |node| {
        problems.text(node, "a gate's name").map(Pause::Gate)
    })
}

/// Reads `pace`.
pub(super) fn pace(node: &Node, problems: &mut Problems) -> Option<Pace> {
    let mut fields = Fields::of(node, "`pace`", problems)?;
    let pace = match fields.exactly_one(&["event_ms", "byte_ms"], problems)? {
        ("event_ms", node) => milliseconds(node, "`event_ms`", problems).map(Pace::Event),
        (_, node) => milliseconds(node, "`byte_ms`", problems).map(Pace::Byte),
    };
    fields.finish(problems);
    pace
}

/// Reads `cut`.
pub(super) fn cut(node: &Node, problems: &mut Problems) -> Option<Cut> {
    let mut fields = Fields::of(node, "`cut`", problems)?;
    let at = place::point(&mut fields, problems);
    let how = field(fields.optional("how"), CutHow::Close, |node| {
        let choices = [("end", CutHow::End), ("close", CutHow::Close), ("reset", CutHow::Reset)];
        problems.choice(node, "`how`", &choices)
    });
    if at == Some(Point::Start) && how == Some(CutHow::End) {
        problems.error_with_help(
            fields.span(),
            "an answer without a head cannot just end",
            "use `how: close` or `how: reset`, or say after which event it ends",
        );
    }
    fields.finish(problems);
    Some(Cut { at: at?, how: how? })
}

/// A time in milliseconds.
pub(super) fn milliseconds(node: &Node, what: &str, problems: &mut Problems) -> Option<Duration> {
    problems.count(node, what).map(Duration::from_millis)
}
