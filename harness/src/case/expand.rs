//! Expands a scenario into its cases.

use conform_mock_server::document::Diagnostic;

use super::build::build;
use super::findings::Findings;
use super::model::Case;
use super::plan::plan;
use crate::matrix::Matrix;
use crate::scenario::Scenario;

/// The cases of one scenario.
#[derive(Debug, Default)]
pub struct Expansion {
    /// The cases, in the order of the axes.
    pub cases: Vec<Case>,
    /// Cells that the matrix leaves out.
    pub skipped: Vec<Skipped>,
}

/// A cell that the matrix leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The id the case would have.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// Expands a scenario with the matrices at hand.
///
/// A scenario without a matrix is one case, or two when something in it depends on the persona. A
/// scenario with one is a case for each cell that the matrix does not leave out.
///
/// # Errors
/// All that is wrong; what is wrong in several cases alike is reported for the first of them.
pub fn expand(scenario: &Scenario, matrices: &[Matrix]) -> Result<Expansion, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let (plans, skipped) = plan(scenario, matrices, &mut findings);
    let several = plans.len() > 1;
    let mut cases = Vec::new();
    let mut attempts = false;
    for plan in &plans {
        findings.enter(several.then_some(plan.id.as_str()));
        let case = build(scenario, plan, &mut findings);
        attempts |= case.main.turns.iter().any(|turn| turn.attempt);
        cases.push(case);
    }
    findings.enter(None);
    if let Some(control) = &scenario.control
        && !attempts
        && findings.is_empty()
    {
        findings.error(
            &scenario.source,
            control.span,
            "this control never runs: no case has an attempt",
            "mark the dangerous call with `attempt` instead of `call`, or drop the control",
        );
    }
    findings.finish(Expansion { cases, skipped }, &scenario.source)
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
