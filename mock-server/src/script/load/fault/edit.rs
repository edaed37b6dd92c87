//! Changes of single events.

use super::place::event;
use super::{one_or_many, timing};
use crate::document::{Fields, Node, NodeKind, Problems};
use crate::script::fault::{Edit, Insert, Inserted};
use crate::script::load::{each, field};

/// Takes the changes from a fault; they are made in the order of this list.
pub(super) fn edits(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Vec<Edit>> {
    let kinds: [(&'static str, Read); 7] = [
        ("skip_numbers", skip_numbers),
        ("malformed", malformed),
        ("repeat", repeat),
        ("swap", swap),
        ("drop", drop_event),
        ("insert", insert),
        ("terminator", terminator),
    ];
    let mut all = Some(Vec::new());
    for (name, read) in kinds {
        let Some(node) = fields.optional(name) else { continue };
        // A pair of events is one thing.
        let nodes = if name == "swap" { std::slice::from_ref(node) } else { one_or_many(node) };
        let edits = each(nodes, |_, node| read(node, problems));
        all = all.zip(edits).map(|(mut all, edits)| {
            all.extend(edits);
            all
        });
    }
    all
}

type Read = fn(&Node, &mut Problems) -> Option<Edit>;

fn skip_numbers(node: &Node, problems: &mut Problems) -> Option<Edit> {
    let mut fields = Fields::of(node, "`skip_numbers`", problems)?;
    let from = fields.required("from", problems).and_then(|node| event(node, problems));
    let by = field(fields.optional("by"), 1, |node| positive(node, "`by`", problems));
    fields.finish(problems);
    Some(Edit::SkipNumbers { from: from?, by: by? })
}

fn malformed(node: &Node, problems: &mut Problems) -> Option<Edit> {
    if !matches!(node.kind, NodeKind::Map(_)) {
        return Some(Edit::Malformed { event: event(node, problems)?, data: None });
    }
    let mut fields = Fields::of(node, "`malformed`", problems)?;
    let event = fields.required("event", problems).and_then(|node| event(node, problems));
    let data = field(fields.optional("data"), None, |node| problems.text(node, "`data`").map(Some));
    fields.finish(problems);
    Some(Edit::Malformed { event: event?, data: data? })
}

fn repeat(node: &Node, problems: &mut Problems) -> Option<Edit> {
    if !matches!(node.kind, NodeKind::Map(_)) {
        return Some(Edit::Repeat { event: event(node, problems)?, times: 1 });
    }
    let mut fields = Fields::of(node, "`repeat`", problems)?;
    let event = fields.required("event", problems).and_then(|node| event(node, problems));
    let times = times(&mut fields, problems);
    fields.finish(problems);
    Some(Edit::Repeat { event: event?, times: times? })
}

fn swap(node: &Node, problems: &mut Problems) -> Option<Edit> {
    let events = problems.list(node, "`swap`")?;
    let [one, other] = events else {
        problems.error(node.span, "`swap` names two events");
        return None;
    };
    let (one, other) = (event(one, problems), event(other, problems));
    Some(Edit::Swap(one?, other?))
}

fn drop_event(node: &Node, problems: &mut Problems) -> Option<Edit> {
    event(node, problems).map(Edit::Drop)
}

fn insert(node: &Node, problems: &mut Problems) -> Option<Edit> {
    let mut fields = Fields::of(node, "`insert`", problems)?;
    let before =
        field(fields.optional("before_event"), None, |node| event(node, problems).map(Some));
    let what = match fields.exactly_one(&["comment", "event"], problems)? {
        ("comment", node) => {
            let text = line(node, "`comment`", problems);
            let blank_line = field(fields.optional("blank_line"), true, |node| {
                problems.boolean(node, "`blank_line`")
            });
            text.zip(blank_line).map(|(text, blank_line)| Inserted::Comment { text, blank_line })
        }
        (_, node) => inserted_event(node, problems),
    };
    let times = times(&mut fields, problems);
    let every = field(fields.optional("every_ms"), None, |node| {
        timing::milliseconds(node, "`every_ms`", problems).map(Some)
    });
    fields.finish(problems);
    Some(Edit::Insert(Insert { before: before?, what: what?, times: times?, every: every? }))
}

fn inserted_event(node: &Node, problems: &mut Problems) -> Option<Inserted> {
    let mut fields = Fields::of(node, "`event`", problems)?;
    let name =
        field(fields.optional("name"), None, |node| line(node, "`name`", problems).map(Some));
    let data = fields.required("data", problems).and_then(|node| match &node.kind {
        NodeKind::Text(text) => Some(text.clone()),
        _ => problems.json(node, "`data`").map(|json| json.to_string()),
    });
    fields.finish(problems);
    Some(Inserted::Event { name: name?, data: data? })
}

fn terminator(node: &Node, problems: &mut Problems) -> Option<Edit> {
    problems.choice(node, "`terminator`", &[("done", true), ("none", false)]).map(Edit::Terminator)
}

fn times(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<u64> {
    field(fields.optional("times"), 1, |node| positive(node, "`times`", problems))
}

fn positive(node: &Node, what: &str, problems: &mut Problems) -> Option<u64> {
    let number = problems.count(node, what)?;
    if number == 0 {
        problems.error(node.span, format!("{what} is 1 at least"));
    }
    Some(number)
}

/// Text that fits on one line.
fn line(node: &Node, what: &str, problems: &mut Problems) -> Option<String> {
    let text = problems.text(node, what)?;
    if text.contains(['\n', '\r']) {
        problems.error(node.span, format!("{what} is one line"));
    }
    Some(text)
}
