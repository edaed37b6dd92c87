//! Expands texts: variables, markers and secrets become text, folders and the address stay open.

use std::sync::Arc;

use conform_mock_server::document::{Source, Span};
use indexmap::IndexMap;

use super::findings::{Findings, Placed};
use super::late::{LatePiece, LateText};
use super::marker::{marker_token, secret_token};
use crate::scenario::{Piece, Text, undeclared_secret, undefined_variable};

/// How deep variables may stand in variables.
const DEEPEST: usize = 64;
/// How large one expanded text may become, in bytes and pieces: variables in variables grow fast.
const LARGEST: usize = 16 << 20;

/// Where a text stands, which decides what its placeholders may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spot<'s> {
    /// Text that is planted; its own origin has this name.
    Planted(&'s str),
    /// A file's path, which must be known before the case starts.
    Path,
    /// What the scripted model says.
    Model,
    /// What is expected.
    Expected,
    /// A title: no marker, no secret, nothing late.
    Title,
}

/// An expanded text and the origins whose markers it holds.
#[derive(Debug, Clone)]
pub(super) struct Filled<'a> {
    /// The text.
    pub(super) text: LateText,
    /// Each marker's origin, with the place of the placeholder.
    pub(super) marks: Vec<(String, &'a Arc<Source>, Span)>,
    /// Whether every placeholder could be expanded; if not, what follows from the rest of the text
    /// is no finding of its own.
    whole: bool,
}

impl Filled<'_> {
    /// The text, if it is whole and nothing in it is late.
    pub(super) fn into_literal(self) -> Option<String> {
        if !self.whole {
            return None;
        }
        match self.text.0.as_slice() {
            [] => Some(String::new()),
            [LatePiece::Literal(text)] => Some(text.clone()),
            _ => None,
        }
    }

    /// Whether the text is whole and nothing but white space.
    pub(super) fn is_blank(&self) -> bool {
        self.whole
            && self
                .text
                .0
                .iter()
                .all(|piece| matches!(piece, LatePiece::Literal(text) if text.trim().is_empty()))
    }
}

/// The names that a case's texts may use.
#[derive(Debug)]
pub(super) struct Filler<'a> {
    /// The case's id.
    pub(super) case: &'a str,
    /// Variables.
    pub(super) vars: IndexMap<&'a str, Placed<'a, Text>>,
    /// Declared secrets.
    pub(super) secrets: Vec<&'a str>,
}

/// One text on its way.
struct Run<'f, 'a, 's> {
    filler: &'f Filler<'a>,
    findings: &'f mut Findings,
    spot: Spot<'s>,
    filled: Filled<'a>,
    /// The variables that are being expanded, outermost first.
    stack: Vec<&'a str>,
    size: usize,
}

impl<'a> Filler<'a> {
    /// Expands a text. What is wrong goes to `findings`, and what can be expanded is.
    pub(super) fn fill(
        &self,
        text: Placed<'a, Text>,
        spot: Spot<'_>,
        findings: &mut Findings,
    ) -> Filled<'a> {
        let filled = Filled { text: LateText::default(), marks: Vec::new(), whole: true };
        let mut run = Run { filler: self, findings, spot, filled, stack: Vec::new(), size: 0 };
        run.text(text);
        run.filled
    }
}

impl<'a> Run<'_, 'a, '_> {
    fn fault(
        &mut self,
        source: &Arc<Source>,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.filled.whole = false;
        self.findings.error(source, span, message, help);
    }

    fn text(&mut self, text: Placed<'a, Text>) {
        for piece in &text.value.pieces {
            if self.size > LARGEST {
                return;
            }
            self.size += 1;
            match piece {
                Piece::Literal(literal) => self.literal(text.source, text.value.span, literal),
                Piece::Variable { name, span } => self.variable(text.source, *span, name),
                Piece::Mark { origin, span } => {
                    self.mark(text.source, *span, origin.as_deref());
                }
                Piece::Secret { name, span } => self.secret(text.source, *span, name),
                Piece::Late { variable, span } => {
                    if matches!(self.spot, Spot::Path | Spot::Title) {
                        self.fault(
                            text.source,
                            *span,
                            format!(
                                "`{}` is known only when a case starts and cannot stand here",
                                variable.placeholder()
                            ),
                            match self.spot {
                                Spot::Path => {
                                    "paths start at the folder they are listed under: \
                                     `workspace`, `outside`, `home` or `tmp`"
                                }
                                _ => "",
                            },
                        );
                        continue;
                    }
                    self.filled.text.0.push(LatePiece::Late(*variable));
                }
            }
        }
    }

    fn literal(&mut self, source: &'a Arc<Source>, span: Span, literal: &str) {
        self.size += literal.len();
        if self.size > LARGEST {
            self.fault(
                source,
                span,
                format!("this text grows beyond {} MiB", LARGEST >> 20),
                "use fewer variables inside variables",
            );
            return;
        }
        if let Some(LatePiece::Literal(last)) = self.filled.text.0.last_mut() {
            last.push_str(literal);
        } else if !literal.is_empty() {
            self.filled.text.0.push(LatePiece::Literal(literal.to_owned()));
        }
    }

    fn variable(&mut self, source: &'a Arc<Source>, span: Span, name: &str) {
        let Some((name, text)) = self.filler.vars.get_key_value(name) else {
            let (message, help) =
                undefined_variable(name, &self.filler.vars.keys().copied().collect::<Vec<_>>());
            self.fault(source, span, message, help);
            return;
        };
        if let Some(start) = self.stack.iter().position(|open| open == name) {
            let mut circle: Vec<String> =
                self.stack[start..].iter().map(|name| format!("`{name}`")).collect();
            circle.push(format!("`{name}`"));
            self.fault(
                source,
                span,
                format!("variables go in a circle: {}", circle.join(" → ")),
                "let one of them hold text of its own",
            );
            return;
        }
        if self.stack.len() == DEEPEST {
            self.fault(
                source,
                span,
                format!("variables stand more than {DEEPEST} deep in variables"),
                "use fewer variables inside variables",
            );
            return;
        }
        self.stack.push(name);
        self.text(*text);
        self.stack.pop();
    }

    fn mark(&mut self, source: &'a Arc<Source>, span: Span, origin: Option<&str>) {
        let origin = match (origin, self.spot) {
            (_, Spot::Title) => {
                let message = "a title holds no marker";
                self.fault(source, span, message, "drop the placeholder");
                return;
            }
            (Some(origin), _) | (None, Spot::Planted(origin)) => origin,
            (None, Spot::Path | Spot::Model | Spot::Expected) => {
                let spot = match self.spot {
                    Spot::Path => "a path has",
                    Spot::Model => "what the model says has",
                    _ => "an expectation has",
                };
                let message = format!("{spot} no origin of its own for `${{mark}}`");
                self.fault(source, span, message, "name it, as in `${mark:attack}`");
                return;
            }
        };
        let token = marker_token(self.filler.case, origin);
        self.literal(source, span, &token);
        self.filled.marks.push((origin.to_owned(), source, span));
    }

    fn secret(&mut self, source: &'a Arc<Source>, span: Span, name: &str) {
        if matches!(self.spot, Spot::Title) {
            let message = "a title holds no secret";
            self.fault(source, span, message, "drop the placeholder");
        } else if self.filler.secrets.contains(&name) {
            let token = secret_token(self.filler.case, name);
            self.literal(source, span, &token);
        } else {
            let (message, help) = undeclared_secret(name, &self.filler.secrets);
            self.fault(source, span, message, help);
        }
    }
}
