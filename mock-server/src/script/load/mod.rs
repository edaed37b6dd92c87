//! Reads a script from its YAML form.

mod condition;
mod ending;
mod fault;
mod item;
mod page;
mod purpose;
mod reply;
mod socket;
mod turn;
mod validation;

pub use fault::faults;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use indexmap::IndexMap;

use super::model::{Script, WhenExhausted};
use crate::document::{Diagnostic, Fields, Node, Problems, Source, parse};
use crate::validate::Validation;

/// Reads a script. The crate's documentation shows the form.
///
/// # Errors
/// All that is wrong with the document, in its order.
pub fn load(source: &Arc<Source>) -> Result<Script, Vec<Diagnostic>> {
    let node = parse(source).map_err(|syntax| vec![*syntax])?;
    let mut problems = Problems::new(source);
    let script = Fields::of(&node, "the script", &mut problems)
        .and_then(|fields| script(fields, &mut problems));
    problems.finish(script).map_err(|mut found| {
        found.sort_by_key(|diagnostic| diagnostic.place.span.start);
        found
    })
}

fn script(mut fields: Fields<'_>, problems: &mut Problems) -> Option<Script> {
    let rules = fields.optional("purposes");
    let purposes = field(rules, Vec::new(), |node| purpose::rules(node, problems));
    // The names are needed to check those that turns use, even if a rule is wrong otherwise.
    let known = rules.map_or_else(Vec::new, purpose::names);
    let turns =
        fields.required("turns", problems).and_then(|node| turn::turns(node, &known, problems));
    let side_replies = field(fields.optional("side_replies"), IndexMap::new(), |node| {
        purpose::side_replies(node, &known, problems)
    });
    let pages =
        field(fields.optional("pages"), IndexMap::new(), |node| page::pages(node, problems));
    let connections = field(fields.optional("connections"), Vec::new(), |node| {
        socket::connections(node, problems)
    });
    let when_exhausted =
        field(fields.optional("when_exhausted"), WhenExhausted::default(), |node| {
            let choices =
                [("refuse", WhenExhausted::Refuse), ("repeat-last", WhenExhausted::RepeatLast)];
            problems.choice(node, "`when_exhausted`", &choices)
        });
    let validation = field(fields.optional("validation"), Validation::default(), |node| {
        validation::validation(node, problems)
    });
    let provider = field(fields.optional("provider"), None, |node| {
        validation::provider(node, problems).map(Some)
    });
    fields.finish(problems);
    Some(Script {
        turns: turns?,
        purposes: purposes?,
        side_replies: side_replies?,
        pages: pages?,
        connections: connections?,
        when_exhausted: when_exhausted?,
        validation: validation?,
        provider: provider?,
    })
}

/// Reads every item of a list, so that all that is wrong is found.
fn each<'n, T>(
    items: &'n [Node],
    mut read: impl FnMut(usize, &'n Node) -> Option<T>,
) -> Option<Vec<T>> {
    let read: Vec<_> = items.iter().enumerate().map(|(index, item)| read(index, item)).collect();
    read.into_iter().collect()
}

/// A field that may be absent: its value then, or what is read.
fn field<'n, T>(
    node: Option<&'n Node>,
    absent: T,
    read: impl FnOnce(&'n Node) -> Option<T>,
) -> Option<T> {
    node.map_or(Some(absent), read)
}
