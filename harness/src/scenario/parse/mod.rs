//! From YAML nodes to scenarios, with every problem noted at its place.
//!
//! The parts that a matrix file shares with a scenario (texts, conditions, fragments, turns,
//! expectations) are methods of [`Parser`]; what a name may refer to is its [`Scope`].

mod expect;
mod fields;
mod fragment;
mod names;
mod scenario;
mod step;
mod text;
mod turn;
mod when;

use std::sync::Arc;

use conform_mock_server::document::{Diagnostic, Problems, Source};

pub(crate) use names::is_word;
pub(super) use scenario::scenario;
pub(crate) use text::{undeclared_secret, undefined_variable};
pub(crate) use turn::Slots;
pub(crate) use when::check_when;

/// The axes that exist, each with its values.
pub(crate) type AxisNames = Vec<(String, Vec<String>)>;

/// The names that a file's texts and conditions may use. `None`: a matrix may bring more names, so
/// that only the expansion can tell.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// Variables.
    pub(crate) vars: Option<Vec<String>>,
    /// Secrets.
    pub(crate) secrets: Option<Vec<String>>,
    /// Axes and their values.
    pub(crate) axes: Option<AxisNames>,
}

/// Reads one file.
#[derive(Debug)]
pub(crate) struct Parser {
    /// What is wrong so far.
    pub(crate) problems: Problems,
    /// The names that exist.
    pub(crate) scope: Scope,
}

impl Parser {
    /// A parser that has seen nothing yet and leaves all names to the expansion.
    pub(crate) fn new(source: &Arc<Source>) -> Self {
        Self { problems: Problems::new(source), scope: Scope::default() }
    }

    /// What was parsed, or all that is wrong in the order of the file.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Diagnostic>> {
        self.problems.finish(value).map_err(|mut problems| {
            problems.sort_by_key(|problem| problem.place.span.start);
            problems
        })
    }
}
