//! What is wrong with a document, where, and what to do about it.

use std::fmt::Write as _;
use std::sync::Arc;

use super::node::Span;

/// A document's name and text.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
}

impl Source {
    /// A document by the name that messages use (a path as the user gave it) and its text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into() })
    }

    /// The name that messages use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A place in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The document.
    pub source: Arc<Source>,
    /// Where in it.
    pub span: Span,
}

impl Place {
    /// A place.
    pub fn new(source: &Arc<Source>, span: Span) -> Self {
        Self { source: Arc::clone(source), span }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.span.line {
            0 => f.write_str(self.source.name()),
            line => write!(f, "{}:{line}:{}", self.source.name(), self.span.column),
        }
    }
}

/// Whether the document can be used in spite of the diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Warning,
    /// The document cannot be used.
    Error,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What, as a fragment that starts in lower case.
    pub message: String,
    /// The next step, if there is one to name.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, place, message: message.into(), help: None }
    }

    /// A warning.
    pub fn warning(place: Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, place, message: message.into(), help: None }
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&render(self))
    }
}

impl std::error::Error for Diagnostic {}

/// Draws a diagnostic as plain text: the message, the place, the line with a caret, the help.
pub fn render(diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let span = diagnostic.place.span;
    let mut out = format!("{level}: {}\n", diagnostic.message);
    let number = span.line.to_string();
    let gutter = " ".repeat(number.len());
    let _ = writeln!(out, "{gutter}--> {}", diagnostic.place);
    if let Some(line) =
        span.line.checked_sub(1).and_then(|index| diagnostic.place.source.text().lines().nth(index))
    {
        let before = span.column.saturating_sub(1);
        let rest = line.chars().count().saturating_sub(before);
        // The span may cover several lines; the caret stays on the first.
        let marked = diagnostic
            .place
            .source
            .text()
            .get(span.start..span.start + span.len)
            .and_then(|text| text.lines().next())
            .map_or(1, |text| text.trim_end().chars().count())
            .clamp(1, rest.max(1));
        let indent: String =
            line.chars().take(before).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let _ = writeln!(out, "{gutter} |\n{number} | {line}");
        let _ = writeln!(out, "{gutter} | {indent}{}", "^".repeat(marked));
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "{gutter} = help: {help}");
    }
    out
}
