//! What is wrong with a scenario's cases, each thing once.

use std::collections::HashSet;
use std::sync::Arc;

use conform_mock_server::document::{Diagnostic, Place, Source, Span};

/// A part of a document and the document it stands in: a case is made of parts of a scenario and
/// of a matrix.
#[derive(Debug)]
pub(super) struct Placed<'a, T> {
    /// The document.
    pub(super) source: &'a Arc<Source>,
    /// The part.
    pub(super) value: &'a T,
}

impl<'a, T> Placed<'a, T> {
    /// A part of a document.
    pub(super) fn new(source: &'a Arc<Source>, value: &'a T) -> Self {
        Self { source, value }
    }
}

impl<T> Clone for Placed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Placed<'_, T> {}

/// The diagnostics of an expansion. A thing that is wrong in many cases is reported for the first.
#[derive(Debug, Default)]
pub(super) struct Findings {
    found: Vec<Diagnostic>,
    seen: HashSet<(String, usize, String)>,
    case: Option<String>,
}

impl Findings {
    /// From here on, findings are about this case. `None`: about the scenario as a whole.
    pub(super) fn enter(&mut self, case: Option<&str>) {
        self.case = case.map(str::to_owned);
    }

    /// Notes an error. `help` may be empty.
    pub(super) fn error(
        &mut self,
        source: &Arc<Source>,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (message, mut help) = (message.into(), help.into());
        if !self.seen.insert((source.name().to_owned(), span.start, message.clone())) {
            return;
        }
        if let Some(case) = &self.case {
            let seen = format!("seen in case `{case}`");
            help = if help.is_empty() { seen } else { format!("{help} ({seen})") };
        }
        let mut diagnostic = Diagnostic::error(Place::new(source, span), message);
        diagnostic.help = Some(help).filter(|help| !help.is_empty());
        self.found.push(diagnostic);
    }

    /// Notes a finished diagnostic about the scenario as a whole.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Whether nothing is wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The value, or all that is wrong: first with the scenario, then with the matrix, each in the
    /// order of its file.
    pub(super) fn finish<T>(
        mut self,
        value: T,
        scenario: &Arc<Source>,
    ) -> Result<T, Vec<Diagnostic>> {
        if self.found.is_empty() {
            return Ok(value);
        }
        self.found
            .sort_by_key(|one| (one.place.source.name() != scenario.name(), one.place.span.start));
        Err(self.found)
    }
}
