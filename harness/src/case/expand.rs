//! Expands a scenario into its cases.
use super::model::Case;
use crate::matrix::Matrix;
use crate::scenario::Scenario;
use conform_mock_server::document::Diagnostic;

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
/// # Errors
/// All that is wrong.
pub fn expand(_scenario: &Scenario, _matrices: &[Matrix]) -> Result<Expansion, Vec<Diagnostic>> {
    Err(Vec::new())
}
