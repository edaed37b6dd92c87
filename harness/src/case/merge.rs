//! Puts the layers of a case together: lists are appended, maps united, a matrix value wins over
//! the scenario, and two matrix values that contradict each other are an error.

use std::sync::Arc;

use conform_mock_server::document::{Source, Span};
use indexmap::IndexMap;
use indexmap::map::Entry;

use super::findings::{Findings, Placed};
use super::plan::{Layer, Plan};
use crate::scenario::{
    Approver, ExpectSpec, FileSpec, Fragment, Network, Policy, Step, Text, TurnKind, TurnSpec,
};

/// The parts of one case, not yet expanded.
#[derive(Debug, Default)]
pub(super) struct Merged<'a> {
    /// Variables.
    pub(super) vars: IndexMap<&'a str, Placed<'a, Text>>,
    /// Names of secrets.
    pub(super) secrets: Vec<&'a str>,
    /// Files, each with the layer that brings it; two layers may bring the same path.
    pub(super) files: Vec<(Layer<'a>, &'a FileSpec)>,
    /// Pages.
    pub(super) pages: IndexMap<&'a str, Placed<'a, Text>>,
    /// The gates that pages wait for.
    pub(super) page_gates: IndexMap<&'a str, (&'a Arc<Source>, &'a str, Span)>,
    /// Policy.
    pub(super) policy: Option<Policy>,
    /// Network.
    pub(super) network: Option<Network>,
    /// Approver.
    pub(super) approver: Option<Approver>,
    /// Steps.
    pub(super) steps: Vec<Placed<'a, Step>>,
    /// Turns whose condition holds, slots filled.
    pub(super) turns: Vec<Placed<'a, TurnSpec>>,
    /// Expectations whose condition holds: the scenario's, the values', the disposition's.
    pub(super) expect: Vec<Placed<'a, ExpectSpec>>,
}

/// Merges the layers of a case.
pub(super) fn merge<'a>(plan: &Plan<'a>, findings: &mut Findings) -> Merged<'a> {
    let mut merged = Merged {
        vars: texts(plan, "variable", findings, |fragment| &fragment.vars),
        pages: texts(plan, "page", findings, |fragment| &fragment.pages),
        policy: setting(plan, "policy", findings, |body| body.policy, Policy::name),
        network: setting(plan, "network", findings, |body| body.network, Network::name),
        approver: setting(plan, "approver", findings, |body| body.approver, Approver::name),
        ..Merged::default()
    };
    for layer in &plan.layers {
        let (source, body) = (layer.source, layer.fragment);
        for (name, _) in &body.secrets {
            if !merged.secrets.contains(&name.as_str()) {
                merged.secrets.push(name);
            }
        }
        // With a page that a later layer brings, its gate comes or goes.
        for name in body.pages.keys() {
            match body.page_gates.get(name) {
                Some((gate, span)) => merged.page_gates.insert(name, (source, gate, *span)),
                None => merged.page_gates.shift_remove(name.as_str()),
            };
        }
        merged.files.extend(body.files.iter().map(|file| (*layer, file)));
        merged.steps.extend(body.steps.iter().map(|step| Placed::new(source, step)));
        merged.expect.extend(body.expect.iter().map(|expect| Placed::new(source, expect)));
        merged.turns.extend(turns(plan, *layer));
    }
    if let Some(part) = &plan.matrix {
        let expect = part.disposition.expect.iter();
        merged.expect.extend(expect.map(|expect| Placed::new(part.source, expect)));
    }
    merged.expect.retain(|expect| expect.value.when.holds(&plan.axes));
    merged
}

/// The turns of a layer that are said in this case, with those that fill its slots in their place.
fn turns<'a>(plan: &Plan<'a>, layer: Layer<'a>) -> Vec<Placed<'a, TurnSpec>> {
    let said = |turn: &&TurnSpec| turn.when.holds(&plan.axes);
    let mut turns = Vec::new();
    for turn in layer.fragment.model.iter().filter(said) {
        let TurnKind::Slot(name) = &turn.kind else {
            turns.push(Placed::new(layer.source, turn));
            continue;
        };
        for filler in &plan.layers {
            let fill = filler.fragment.slots.get(name).into_iter().flatten().filter(said);
            turns.extend(fill.map(|turn| Placed::new(filler.source, turn)));
        }
    }
    turns
}

fn texts<'a>(
    plan: &Plan<'a>,
    what: &str,
    findings: &mut Findings,
    pick: impl Fn(&'a Fragment) -> &'a IndexMap<String, Text>,
) -> IndexMap<&'a str, Placed<'a, Text>> {
    let mut united: IndexMap<&str, (Placed<'a, Text>, Layer<'a>)> = IndexMap::new();
    for layer in &plan.layers {
        for (name, text) in pick(layer.fragment) {
            let text = Placed::new(layer.source, text);
            match united.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert((text, *layer));
                }
                Entry::Occupied(mut entry) => {
                    if let Some(values) = both_values(&entry.get().1, layer) {
                        findings.error(
                            text.source,
                            text.value.span,
                            format!("{values} both bring the {what} `{name}`"),
                            "let one of them bring it, or give it two names",
                        );
                    }
                    entry.insert((text, *layer));
                }
            }
        }
    }
    united.into_iter().map(|(name, (text, _))| (name, text)).collect()
}

fn setting<T: Copy + PartialEq>(
    plan: &Plan<'_>,
    what: &str,
    findings: &mut Findings,
    pick: impl Fn(&Fragment) -> Option<T>,
    name: impl Fn(T) -> &'static str,
) -> Option<T> {
    let mut chosen: Option<(T, Layer<'_>)> = None;
    for layer in &plan.layers {
        let Some(value) = pick(layer.fragment) else { continue };
        if let Some((earlier, from)) = &chosen
            && *earlier != value
            && let Some(values) = both_values(from, layer)
            && let Some((_, at)) = layer.value
        {
            findings.error(
                layer.source,
                at.span,
                format!(
                    "{values} contradict each other: {what} is `{}` and `{}`",
                    name(*earlier),
                    name(value)
                ),
                format!("let one axis alone set the {what}, or exclude the cell"),
            );
        }
        chosen = Some((value, *layer));
    }
    chosen.map(|(value, _)| value)
}

/// Names both layers, if both are matrix values: then neither is meant to win.
pub(super) fn both_values(first: &Layer<'_>, second: &Layer<'_>) -> Option<String> {
    let (axis, value) = first.value?;
    let (other_axis, other) = second.value?;
    Some(format!("`{axis}: {}` and `{other_axis}: {}`", value.name, other.name))
}
