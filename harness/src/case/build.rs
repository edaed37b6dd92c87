//! Builds one case out of its merged layers.

use conform_reports::record::{Location, VariantName};
use indexmap::{IndexMap, IndexSet};

use super::expectation::Judge;
use super::fill::Filler;
use super::findings::{Findings, Placed};
use super::marker::{marker_token, secret_token};
use super::merge::{Merged, merge};
use super::model::{Case, CaseTurn, Expectation, Origin, Secret, Variant};
use super::plan::{Plan, control_additions};
use super::plant::Planter;
use super::steps::needed;
use crate::scenario::{
    Approver, Capability, ControlSpec, ExpectSpec, Network, Policy, ReportedUsage, Scenario,
};

/// Builds a case. What is wrong goes to `findings`; the case is then not fit to run.
pub(super) fn build(scenario: &Scenario, plan: &Plan<'_>, findings: &mut Findings) -> Case {
    let merged = merge(plan, findings);
    let Merged { vars, secrets, .. } = &merged;
    let filler = Filler { case: &plan.id, vars: vars.clone(), secrets: secrets.clone() };
    let mut planter = Planter { filler, findings, origins: IndexMap::new() };
    let title = planter.title(scenario, plan);
    let files = planter.files(&merged.files);
    planter.check_start(scenario, &files);
    let pages = planter.pages(&merged.pages);
    let steps = planter.steps(scenario, plan, &merged.steps);
    let turns = planter.turns(&merged.turns);
    planter.check_answers(scenario, &steps, &merged.turns);
    planter.check_moments(&merged, plan, &turns, &steps);
    let page_gates = merged.page_gates.iter();
    let page_gates =
        page_gates.map(|(name, (_, gate, _))| ((*name).to_owned(), (*gate).to_owned())).collect();
    let Planter { filler, origins, .. } = planter;
    let mut judge = Judge {
        filler: &filler,
        findings,
        origins: &origins,
        turns: &turns,
        files: &files,
        clause: plan.clause,
    };
    let expect = judge.expectations(&merged.expect);
    judge.check_main(scenario, &merged.expect);
    let control = control(scenario, plan, &turns, &mut judge);
    let origins = origins.into_iter().map(|(name, planted)| Origin {
        token: marker_token(&plan.id, &name),
        name,
        planted,
    });
    let secrets = merged
        .secrets
        .iter()
        .map(|name| Secret { name: (*name).to_owned(), token: secret_token(&plan.id, name) })
        .collect();
    let main = Variant {
        name: VariantName::Main,
        files: files.clone(),
        pages,
        page_gates,
        policy: merged.policy.unwrap_or(Policy::Workspace),
        network: merged.network.unwrap_or(Network::Denied),
        approver: merged.approver.unwrap_or(Approver::Deny),
        start: scenario.start.as_ref().map(|(folder, _)| folder.clone()),
        steps,
        turns: turns.clone(),
        expect,
    };
    let control = control.map(|(spec, expect)| Variant {
        name: VariantName::Control,
        policy: spec.policy,
        network: spec.network,
        approver: spec.approver,
        expect,
        ..main.clone()
    });
    Case {
        id: plan.id.clone(),
        title,
        family: scenario.family.clone(),
        location: Location { file: scenario.source.name().to_owned(), line: scenario.id_span.line },
        clause: plan.clause,
        reports: scenario.reports.clone(),
        axes: plan.axes.clone(),
        disposition: plan.matrix.as_ref().map(|part| part.name.to_owned()),
        requires: requirements(scenario, plan, &main),
        needs: needs(scenario, plan),
        origins: origins.collect(),
        secrets,
        main,
        control,
    }
}

fn requirements(scenario: &Scenario, plan: &Plan<'_>, main: &Variant) -> Vec<Capability> {
    let mut all: IndexSet<_> = scenario.requires.iter().copied().collect();
    if let Some(part) = &plan.matrix {
        all.extend(part.values.iter().flat_map(|value| value.requires.iter().copied()));
        all.extend(part.disposition.requires.iter().copied());
    }
    all.extend(needed(&main.steps));
    if main.turns.iter().any(|turn| turn.usage == ReportedUsage::Full) {
        all.insert(Capability::CompactByUsage);
    }
    all.into_iter().collect()
}

fn needs(scenario: &Scenario, plan: &Plan<'_>) -> Vec<String> {
    let mut all: IndexSet<_> = scenario.needs.iter().cloned().collect();
    if let Some(part) = &plan.matrix {
        all.extend(part.values.iter().flat_map(|value| value.needs.iter().cloned()));
    }
    all.into_iter().collect()
}

/// The control twin's settings and expectations, for a case with an attempt.
fn control<'s>(
    scenario: &'s Scenario,
    plan: &Plan<'s>,
    turns: &[CaseTurn],
    judge: &mut Judge<'_, 's>,
) -> Option<(&'s ControlSpec, Vec<Expectation>)> {
    let of_disposition = plan
        .matrix
        .as_ref()
        .and_then(|part| Some((part.source, part.disposition.control.as_ref()?)));
    if !turns.iter().any(|turn| turn.attempt) {
        // A disposition with a control denies something; a scenario's control is for those of its
        // cases that attempt something.
        if let Some((source, spec)) = of_disposition {
            judge.findings.error(
                source,
                spec.span,
                "the control of this disposition has nothing to show: a cell has no attempt",
                "give the cell another disposition, or let its model make an `attempt`",
            );
        }
        return None;
    }
    let own = scenario.control.as_ref().map(|control| (&scenario.source, control));
    let Some((source, spec)) = of_disposition.or(own) else {
        judge.no_control(scenario, plan);
        return None;
    };
    let mut specs: Vec<Placed<'_, ExpectSpec>> =
        spec.expect.iter().map(|expect| Placed::new(source, expect)).collect();
    specs.extend(control_additions(plan));
    specs.retain(|expect| expect.value.when.holds(&plan.axes));
    if specs.is_empty() {
        judge.findings.error(
            source,
            spec.span,
            "this control shows nothing: it expects no effect",
            "expect the effect of the attempt under `expect`, such as \
             `- files: {created: [deployed.txt]}`",
        );
    }
    Some((spec, judge.expectations(&specs)))
}
