//! Walking a document's maps: each field taken once, what is left over is an error.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::diagnostic::{Diagnostic, Place, Source};
use super::node::{Key, Node, NodeKind, Span};
use super::suggest::{did_you_mean, one_of};

/// The diagnostics collected while a document is read.
#[derive(Debug)]
pub struct Problems {
    source: Arc<Source>,
    found: Vec<Diagnostic>,
}

impl Problems {
    /// No problems yet.
    pub fn new(source: &Arc<Source>) -> Self {
        Self { source: Arc::clone(source), found: Vec::new() }
    }

    /// The document being read.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// A place in this document.
    pub fn place(&self, span: Span) -> Place {
        Place::new(&self.source, span)
    }

    /// Notes an error.
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        let diagnostic = Diagnostic::error(self.place(span), message);
        self.push(diagnostic);
    }

    /// Notes an error with the next step.
    pub fn error_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::error(self.place(span), message).with_help(help);
        self.push(diagnostic);
    }

    /// Notes any diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// The value when nothing was found, otherwise all that was found.
    ///
    /// # Errors
    /// The diagnostics; `value` is dropped, since something in it is wrong.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Diagnostic>> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => Err(self.found),
        }
    }

    /// Whether nothing was found so far.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// A wrong kind of value.
    pub fn wrong_kind(&mut self, node: &Node, what: &str, wanted: &str) {
        let found = node.kind.name();
        self.error(node.span, format!("{what} is {wanted}, but this is {found}"));
    }

    /// The node's text.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        if let NodeKind::Text(text) = &node.kind {
            return Some(text.clone());
        }
        self.wrong_kind(node, what, "text");
        None
    }

    /// The node's truth value.
    pub fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        if let NodeKind::Bool(value) = node.kind {
            return Some(value);
        }
        self.wrong_kind(node, what, "true or false");
        None
    }

    /// The node's whole, non-negative number.
    pub fn count(&mut self, node: &Node, what: &str) -> Option<u64> {
        if let NodeKind::Int(value) = node.kind {
            if let Ok(value) = u64::try_from(value) {
                return Some(value);
            }
            self.error(node.span, format!("{what} cannot be negative"));
            return None;
        }
        self.wrong_kind(node, what, "a whole number");
        None
    }

    /// The node as JSON.
    pub fn json(&mut self, node: &Node, what: &str) -> Option<Value> {
        match &node.kind {
            NodeKind::Null => Some(Value::Null),
            NodeKind::Bool(value) => Some(Value::Bool(*value)),
            NodeKind::Int(value) => Some(Value::from(*value)),
            NodeKind::Float(value) => {
                let number = serde_json::Number::from_f64(*value).map(Value::Number);
                if number.is_none() {
                    self.error(
                        node.span,
                        format!("{what} cannot hold {value}: JSON has no such number"),
                    );
                }
                number
            }
            NodeKind::Text(text) => Some(Value::String(text.clone())),
            // Every element is looked at, so that all that is wrong is found.
            NodeKind::List(items) => {
                let items: Vec<_> = items.iter().map(|item| self.json(item, what)).collect();
                items.into_iter().collect::<Option<Vec<_>>>().map(Value::Array)
            }
            NodeKind::Map(_) => self.json_map(node, what).map(Value::Object),
        }
    }

    /// The node as a JSON object.
    pub fn json_map(&mut self, node: &Node, what: &str) -> Option<Map<String, Value>> {
        let entries = self.map(node, what)?;
        let entries: Vec<_> = entries
            .iter()
            .map(|(key, value)| Some((key.name.clone(), self.json(value, what)?)))
            .collect();
        entries.into_iter().collect()
    }

    /// The node's items.
    pub fn list<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        if let NodeKind::List(items) = &node.kind {
            return Some(items);
        }
        self.wrong_kind(node, what, "a list");
        None
    }

    /// The node's entries; a repeated key is an error.
    pub fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [(Key, Node)]> {
        let NodeKind::Map(entries) = &node.kind else {
            self.wrong_kind(node, what, "a map");
            return None;
        };
        for (index, (key, _)) in entries.iter().enumerate() {
            if entries[..index].iter().any(|(earlier, _)| earlier.name == key.name) {
                self.error(key.span, format!("`{}` stands here twice", key.name));
            }
        }
        Some(entries)
    }

    /// The node's text as one of the named values.
    pub fn choice<T: Copy>(&mut self, node: &Node, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(node, what)?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names = choices.iter().map(|(name, _)| *name);
        self.error_with_help(
            node.span,
            format!("unknown {what} `{text}`"),
            did_you_mean(&text, names),
        );
        None
    }
}

/// The fields of one map, taken one by one.
#[derive(Debug)]
pub struct Fields<'n> {
    what: &'n str,
    span: Span,
    entries: &'n [(Key, Node)],
    known: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// The fields of a map, which messages call `what`.
    pub fn of(node: &'n Node, what: &'n str, problems: &mut Problems) -> Option<Self> {
        let entries = problems.map(node, what)?;
        Some(Self { what, span: node.span, entries, known: Vec::new() })
    }

    /// The place of the whole map.
    pub fn span(&self) -> Span {
        self.span
    }

    /// A field that may be absent. `null` counts as absent.
    pub fn optional(&mut self, name: &'static str) -> Option<&'n Node> {
        self.entry(name).map(|(_, node)| node).filter(|node| node.kind != NodeKind::Null)
    }

    /// A field that must be there.
    pub fn required(&mut self, name: &'static str, problems: &mut Problems) -> Option<&'n Node> {
        let found = self.optional(name);
        if found.is_none() {
            problems.error(self.span, format!("{} needs `{name}`", self.what));
        }
        found
    }

    /// The key's place, for a field that is there.
    pub fn key_span(&self, name: &str) -> Option<Span> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(key, _)| key.span)
    }

    /// Exactly one of several fields: which, and its value.
    pub fn exactly_one(
        &mut self,
        names: &[&'static str],
        problems: &mut Problems,
    ) -> Option<(&'static str, &'n Node)> {
        let found: Vec<_> = names
            .iter()
            .filter_map(|name| self.entry(name).map(|(_, node)| (*name, node)))
            .collect();
        match found.as_slice() {
            [one] => Some(*one),
            [] => {
                let message = format!("{} says nothing to do", self.what);
                problems.error_with_help(self.span, message, one_of(names.iter().copied()));
                None
            }
            [(first, _), (second, node), ..] => {
                let message = format!("`{first}` and `{second}` cannot stand together");
                problems.error(self.key_span(second).unwrap_or(node.span), message);
                None
            }
        }
    }

    /// Ends the reading: every field that was not asked for is an unknown key.
    pub fn finish(self, problems: &mut Problems) {
        for (key, _) in self.entries {
            if !self.known.contains(&key.name.as_str()) {
                problems.error_with_help(
                    key.span,
                    format!("unknown key `{}` in {}", key.name, self.what),
                    did_you_mean(&key.name, self.known.iter().copied()),
                );
            }
        }
    }

    fn entry(&mut self, name: &'static str) -> Option<&'n (Key, Node)> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        self.entries.iter().find(|(key, _)| key.name == name)
    }
}
