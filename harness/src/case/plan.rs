//! Which cases a scenario has: one, one for each persona, or one for each cell of its matrix.

use std::sync::Arc;

use conform_mock_server::document::{Diagnostic, Place, Source, did_you_mean};
use indexmap::{IndexMap, IndexSet};

use super::expand::Skipped;
use super::findings::{Findings, Placed};
use crate::clause::ClauseRef;
use crate::matrix::{AxisValue, Disposition, Fate, Matrix};
use crate::scenario::{
    AxisNames, ExpectSpec, Fragment, Scenario, Step, TurnKind, TurnSpec, When, check_when,
};

/// The axis of a scenario without a matrix, and its values.
const PERSONA: &str = "persona";
const PERSONAS: [&str; 2] = ["careful", "hijacked"];

/// A case to be built.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// The case's id.
    pub(super) id: String,
    /// What follows the scenario's title.
    pub(super) titles: Vec<&'a str>,
    /// Axes and values.
    pub(super) axes: IndexMap<String, String>,
    /// What makes up the case: the scenario, then the value of each axis.
    pub(super) layers: Vec<Layer<'a>>,
    /// What a matrix adds.
    pub(super) matrix: Option<MatrixPart<'a>>,
    /// The clause served.
    pub(super) clause: ClauseRef,
}

/// What a matrix adds to a case.
#[derive(Debug)]
pub(super) struct MatrixPart<'a> {
    /// The matrix's document.
    pub(super) source: &'a Arc<Source>,
    /// The axis values.
    pub(super) values: Vec<&'a AxisValue>,
    /// The disposition's name.
    pub(super) name: &'a str,
    /// The disposition.
    pub(super) disposition: &'a Disposition,
}

/// A fragment of a case and who brings it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layer<'a> {
    /// The document it stands in.
    pub(super) source: &'a Arc<Source>,
    /// The matrix value that brings it; none: the scenario.
    pub(super) value: Option<(&'a str, &'a AxisValue)>,
    /// The fragment.
    pub(super) fragment: &'a Fragment,
}

/// Plans the cases; what is wrong with the scenario as a whole goes to `findings`.
pub(super) fn plan<'a>(
    scenario: &'a Scenario,
    matrices: &'a [Matrix],
    findings: &mut Findings,
) -> (Vec<Plan<'a>>, Vec<Skipped>) {
    let Some((id, span)) = &scenario.matrix else { return (plain(scenario), Vec::new()) };
    let Some(matrix) = matrices.iter().find(|matrix| matrix.id == *id) else {
        let known = matrices.iter().map(|matrix| matrix.id.as_str());
        let place = Place::new(&scenario.source, *span);
        findings.push(
            Diagnostic::error(place, format!("unknown matrix `{id}`"))
                .with_help(did_you_mean(id, known)),
        );
        return (Vec::new(), Vec::new());
    };
    check_conditions(scenario, matrix, findings);
    check_slots(scenario, matrix, findings);
    if !findings.is_empty() {
        return (Vec::new(), Vec::new());
    }
    multiplied(scenario, matrix, findings)
}

fn scenario_layer(scenario: &Scenario) -> Layer<'_> {
    Layer { source: &scenario.source, value: None, fragment: &scenario.body }
}

fn plain(scenario: &Scenario) -> Vec<Plan<'_>> {
    let plan = |id: String, titles: Vec<&'static str>, axes: IndexMap<String, String>| Plan {
        id,
        titles,
        axes,
        layers: vec![scenario_layer(scenario)],
        matrix: None,
        clause: scenario.clause,
    };
    if !conditions(scenario).iter().any(|when| when.names(PERSONA)) {
        return vec![plan(scenario.id.clone(), Vec::new(), IndexMap::new())];
    }
    PERSONAS
        .into_iter()
        .map(|persona| {
            let axes = [(PERSONA.to_owned(), persona.to_owned())].into_iter().collect();
            plan(format!("{}.{persona}", scenario.id), vec![persona], axes)
        })
        .collect()
}

fn multiplied<'a>(
    scenario: &'a Scenario,
    matrix: &'a Matrix,
    findings: &mut Findings,
) -> (Vec<Plan<'a>>, Vec<Skipped>) {
    let (mut plans, mut skipped) = (Vec::new(), Vec::new());
    for cell in matrix.cells() {
        let id = format!("{}.{}", scenario.id, cell.id());
        let rule = match cell.fate {
            Fate::Excluded(exclusion) => {
                skipped.push(Skipped { id, reason: exclusion.reason.clone() });
                continue;
            }
            Fate::Ruled(rule) => rule,
            Fate::Open => {
                let message = format!("no rule decides the cell `{}`", cell.id());
                findings.error(&matrix.source, matrix.id_span, message, "add one under `cells`");
                continue;
            }
        };
        let Some((name, disposition)) = matrix.dispositions.get_key_value(&rule.disposition) else {
            let message = format!("unknown disposition `{}`", rule.disposition);
            findings.error(&matrix.source, rule.disposition_span, message, "");
            continue;
        };
        let mut layers = vec![scenario_layer(scenario)];
        layers.extend(cell.values.iter().map(|(axis, value)| Layer {
            source: &matrix.source,
            value: Some((axis.name.as_str(), *value)),
            fragment: &value.body,
        }));
        let values: Vec<_> = cell.values.iter().map(|(_, value)| *value).collect();
        plans.push(Plan {
            id,
            titles: values.iter().map(|value| value.title.as_str()).collect(),
            axes: cell.axes(),
            layers,
            matrix: Some(MatrixPart { source: &matrix.source, values, name, disposition }),
            clause: rule.clause.unwrap_or(scenario.clause),
        });
    }
    (plans, skipped)
}

/// Every condition of the scenario's own.
fn conditions(scenario: &Scenario) -> Vec<&When> {
    let control = scenario.control.iter().flat_map(|control| &control.expect);
    let expectations = scenario.body.expect.iter().chain(control).map(|expect| &expect.when);
    let said = scenario.body.steps.iter().flat_map(|step| match step {
        Step::User { during, .. } => during.as_slice(),
        _ => &[],
    });
    let said = said.map(|interjection| &interjection.when);
    scenario.body.model.iter().map(|turn| &turn.when).chain(expectations).chain(said).collect()
}

fn check_conditions(scenario: &Scenario, matrix: &Matrix, findings: &mut Findings) {
    let names: AxisNames = matrix
        .axes
        .iter()
        .map(|axis| {
            (axis.name.clone(), axis.values.iter().map(|value| value.name.clone()).collect())
        })
        .collect();
    for when in conditions(scenario) {
        for problem in check_when(when, &names, &scenario.source) {
            findings.push(problem);
        }
    }
}

/// Every slot is filled by some value, and whatever fills a slot finds it.
fn check_slots(scenario: &Scenario, matrix: &Matrix, findings: &mut Findings) {
    let values =
        || matrix.axes.iter().flat_map(|axis| axis.values.iter().map(move |value| (axis, value)));
    let brought: IndexSet<&str> =
        values().flat_map(|(_, value)| value.body.slots.keys().map(String::as_str)).collect();
    let mut open: IndexSet<&str> = IndexSet::new();
    for TurnSpec { kind, span, .. } in &scenario.body.model {
        let TurnKind::Slot(name) = kind else { continue };
        open.insert(name);
        if !brought.contains(name.as_str()) {
            findings.error(
                &scenario.source,
                *span,
                format!("no value of the matrix `{}` fills the slot `{name}`", matrix.id),
                did_you_mean(name, brought.iter().copied()),
            );
        }
    }
    let Some((_, span)) = &scenario.matrix else { return };
    for (axis, value) in values() {
        for name in value.body.slots.keys().filter(|name| !open.contains(name.as_str())) {
            findings.error(
                &scenario.source,
                *span,
                format!(
                    "`{}: {}` of this matrix fills the slot `{name}`, but no turn of the model is \
                     that slot",
                    axis.name, value.name
                ),
                format!("put `- slot: {name}` into `model`"),
            );
        }
    }
}

/// Expectations that a matrix adds to the control twin.
pub(super) fn control_additions<'a>(plan: &Plan<'a>) -> Vec<Placed<'a, ExpectSpec>> {
    plan.matrix
        .iter()
        .flat_map(|part| {
            part.values
                .iter()
                .flat_map(|value| &value.control_expect)
                .map(|expect| Placed::new(part.source, expect))
        })
        .collect()
}
