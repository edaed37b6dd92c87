//! Texts and their placeholders.

use conform_mock_server::document::{Node, Span, did_you_mean};

use super::Parser;
use crate::scenario::{LateVariable, Piece, Text};

/// What is said where a name could have been meant for the shell or another template language.
const LITERAL: &str = "a literal `${` is written `$${`";

impl Parser {
    /// The node's text with its placeholders.
    pub(crate) fn template(&mut self, node: &Node, what: &str) -> Option<Text> {
        let text = self.problems.text(node, what)?;
        Some(self.template_at(&text, node.span))
    }

    /// The same, and it must not be blank.
    pub(super) fn filled_template(&mut self, node: &Node, what: &str) -> Option<Text> {
        let text = self.template(node, what)?;
        let blank = |piece: &Piece| matches!(piece, Piece::Literal(text) if text.trim().is_empty());
        if text.pieces.iter().all(blank) {
            self.problems.error(node.span, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    /// One text or a list of texts.
    pub(super) fn templates(&mut self, node: Option<&Node>, what: &str) -> Vec<Text> {
        use conform_mock_server::document::NodeKind;
        match node {
            None => Vec::new(),
            Some(Node { kind: NodeKind::List(items), .. }) => {
                items.iter().filter_map(|item| self.template(item, what)).collect()
            }
            Some(node) => self.template(node, what).into_iter().collect(),
        }
    }

    /// Parses a text that stands at `span`.
    pub(super) fn template_at(&mut self, text: &str, span: Span) -> Text {
        let source = std::sync::Arc::clone(self.problems.source());
        let mut finder = Finder::new(source.text(), span);
        let mut pieces = Vec::new();
        let mut literal = String::new();
        for token in scan(text) {
            match token {
                Token::Literal(part) => literal.push_str(part),
                Token::Escape => {
                    finder.find("$${");
                    literal.push_str("${");
                }
                Token::Open(rest) => {
                    let span = finder.find(rest);
                    self.problems.error_with_help(
                        span,
                        "this `${` is never closed",
                        format!("a placeholder ends with `}}` on the same line; {LITERAL}"),
                    );
                }
                Token::Placeholder { whole, body } => {
                    let span = finder.find(whole);
                    if let Some(piece) = self.placeholder(body, span) {
                        if !literal.is_empty() {
                            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                        }
                        pieces.push(piece);
                    }
                }
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Text { pieces, span }
    }

    fn placeholder(&mut self, body: &str, span: Span) -> Option<Piece> {
        match parse_placeholder(body, span) {
            Err((message, help)) => {
                self.problems.error_with_help(span, message, help);
                None
            }
            Ok(piece) => {
                self.check_name(&piece);
                Some(piece)
            }
        }
    }

    /// Whether the variable or secret exists, where that is known already.
    fn check_name(&mut self, piece: &Piece) {
        let (span, (message, help)) = match piece {
            Piece::Variable { name, span } => {
                let Some(known) = unknown(self.scope.vars.as_ref(), name) else { return };
                (*span, undefined_variable(name, &known))
            }
            Piece::Secret { name, span } => {
                let Some(known) = unknown(self.scope.secrets.as_ref(), name) else { return };
                (*span, undeclared_secret(name, &known))
            }
            Piece::Literal(_) | Piece::Mark { .. } | Piece::Late { .. } => return,
        };
        self.problems.error_with_help(span, message, help);
    }
}

/// The known names, if the name is not among them.
fn unknown<'k>(known: Option<&'k Vec<String>>, name: &str) -> Option<Vec<&'k str>> {
    let known = known.filter(|known| !known.iter().any(|one| one == name))?;
    Some(known.iter().map(String::as_str).collect())
}

/// Message and help for a variable that does not exist.
pub(crate) fn undefined_variable(name: &str, vars: &[&str]) -> (String, String) {
    let known =
        vars.iter().copied().chain(LateVariable::NAMES.map(|(name, _)| name)).chain(["mark"]);
    let mut help = did_you_mean(name, known);
    if !help.starts_with("did you mean") {
        help = format!("{help}; {LITERAL}");
    }
    (format!("undefined variable `{name}`"), help)
}

/// Message and help for a secret that is not declared.
pub(crate) fn undeclared_secret(name: &str, secrets: &[&str]) -> (String, String) {
    let help = if secrets.is_empty() {
        format!("declare it: `secrets: [{name}]`")
    } else {
        did_you_mean(name, secrets.iter().copied())
    };
    (format!("undeclared secret `{name}`"), help)
}

/// Whether a variable may have this name.
pub(super) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Whether a name means something of its own and cannot be a variable's.
pub(super) fn is_reserved(name: &str) -> bool {
    ["mark", "secret"].contains(&name) || LateVariable::NAMES.iter().any(|(late, _)| *late == name)
}

fn parse_placeholder(body: &str, span: Span) -> Result<Piece, (String, String)> {
    if let Some((_, late)) = LateVariable::NAMES.iter().find(|(name, _)| *name == body) {
        return Ok(Piece::Late { variable: *late, span });
    }
    match body.split_once(':') {
        None if body == "mark" => Ok(Piece::Mark { origin: None, span }),
        None if body == "secret" => Err((
            "this names no secret".to_owned(),
            "name it, as in `${secret:deploy-key}`".to_owned(),
        )),
        None if is_variable_name(body) => Ok(Piece::Variable { name: body.to_owned(), span }),
        Some(("mark", origin)) if is_origin_name(origin) => {
            Ok(Piece::Mark { origin: Some(origin.to_owned()), span })
        }
        Some(("secret", name)) if super::is_word(name) => {
            Ok(Piece::Secret { name: name.to_owned(), span })
        }
        _ => Err((
            format!("`${{{body}}}` is no placeholder"),
            format!(
                "write `${{name}}` for a variable, `${{mark}}`, `${{mark:ORIGIN}}` or \
                 `${{secret:NAME}}`; {LITERAL}"
            ),
        )),
    }
}

fn is_origin_name(name: &str) -> bool {
    !name.is_empty()
        && name.trim() == name
        && !name.contains(|c: char| c.is_control() || "${".contains(c))
}

/// A stretch of a text.
#[derive(Debug, PartialEq, Eq)]
enum Token<'t> {
    Literal(&'t str),
    /// `$${`.
    Escape,
    /// `${body}`.
    Placeholder {
        whole: &'t str,
        body: &'t str,
    },
    /// `${` that is not closed on its line.
    Open(&'t str),
}

fn scan(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            tokens.push(Token::Literal(&rest[..at - 1]));
            tokens.push(Token::Escape);
            rest = &rest[at + 2..];
            continue;
        }
        tokens.push(Token::Literal(&rest[..at]));
        let inner = &rest[at + 2..];
        match inner.find(['}', '\n']) {
            Some(end) if inner[end..].starts_with('}') => {
                tokens.push(Token::Placeholder {
                    whole: &rest[at..at + end + 3],
                    body: &inner[..end],
                });
                rest = &inner[end + 1..];
            }
            _ => {
                tokens.push(Token::Open(&rest[at..at + 2]));
                rest = inner;
            }
        }
    }
    tokens.push(Token::Literal(rest));
    tokens.retain(|token| *token != Token::Literal(""));
    tokens
}

/// Finds the places of placeholders inside a scalar. YAML may have changed the text around them
/// (quotes, escapes, folding, indentation), so each is looked for after the one before it; one
/// that cannot be found gets the place of the whole scalar.
struct Finder<'s> {
    source: &'s str,
    scalar: Span,
    next: usize,
}

impl<'s> Finder<'s> {
    fn new(source: &'s str, scalar: Span) -> Self {
        Self { source, scalar, next: scalar.start }
    }

    fn find(&mut self, literal: &str) -> Span {
        let end = self.scalar.start.saturating_add(self.scalar.len);
        let Some(at) = self.source.get(self.next..end).and_then(|range| range.find(literal)) else {
            return self.scalar;
        };
        let start = self.next + at;
        self.next = start + literal.len();
        let before = self.source.get(self.scalar.start..start).unwrap_or_default();
        let (line, column) = match before.rsplit_once('\n') {
            None => (self.scalar.line, self.scalar.column + before.chars().count()),
            Some((lines, last)) => {
                (self.scalar.line + lines.matches('\n').count() + 1, last.chars().count() + 1)
            }
        };
        Span { start, len: literal.len(), line, column }
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
