//! Turns.

use super::{condition, each, ending, fault, field, item, purpose, reply};
use crate::document::{Fields, Node, Problems};
use crate::script::model::{Purpose, Reply, Turn};

/// Reads `turns`.
pub(super) fn turns(
    node: &Node,
    known_purposes: &[String],
    problems: &mut Problems,
) -> Option<Vec<Turn>> {
    let items = problems.list(node, "`turns`")?;
    let mut names: Vec<String> = Vec::new();
    each(items, |index, item| {
        let mut fields = Fields::of(item, "a turn", problems)?;
        let span = fields.optional("name").unwrap_or(item).span;
        let turn = turn(index, &mut fields, known_purposes, problems);
        fields.finish(problems);
        let turn = turn?;
        // Messages and the journal name turns by their label.
        if names.contains(&turn.label) {
            problems.error(span, format!("another turn is called `{}` already", turn.label));
        }
        names.push(turn.label.clone());
        Some(turn)
    })
}

fn turn(
    index: usize,
    fields: &mut Fields<'_>,
    known_purposes: &[String],
    problems: &mut Problems,
) -> Option<Turn> {
    let label = field(fields.optional("name"), format!("turn {}", index + 1), |node| {
        problems.text(node, "a turn's name")
    });
    let purpose = field(fields.optional("purpose"), Purpose::main(), |node| {
        let name = problems.text(node, "a turn's purpose")?;
        purpose::named(&name, node.span, known_purposes, problems)
    });
    let gate =
        field(fields.optional("gate"), None, |node| problems.text(node, "a gate's name").map(Some));
    let guards = field(fields.optional("request"), Vec::new(), |node| {
        let items = problems.list(node, "`request`")?;
        each(items, |_, item| condition::guard(item, problems))
    });
    let items = reply::items(fields, problems);
    let ending = ending::ending(fields.optional("ending"), problems);
    let end_turn = field(fields.optional("end_turn"), None, |node| {
        problems.boolean(node, "`end_turn`").map(Some)
    });
    let extra_events = field(fields.optional("extra_events"), Vec::new(), |node| {
        item::extra_events(node, problems)
    });
    let faults = field(fields.optional("fault"), Vec::new(), |node| fault::faults(node, problems));
    let usage = reply::usage(fields.optional("usage"), problems);
    let headers = reply::headers(fields.optional("headers"), problems);
    Some(Turn {
        label: label?,
        purpose: purpose?,
        guards: guards?,
        gate: gate?,
        faults: faults?,
        reply: Reply {
            items: items?,
            ending: ending?,
            usage: usage?,
            headers: headers?,
            end_turn: end_turn?,
            extra_events: extra_events?,
        },
    })
}
