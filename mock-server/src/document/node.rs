//! The tree of a YAML document in which every key and value knows where it stands.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::diagnostic::{Diagnostic, Place, Source};

/// A range of bytes in the source, with the line and column (from 1) of its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Byte offset of the first byte.
    pub start: usize,
    /// Length in bytes.
    pub len: usize,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte in characters, from 1.
    pub column: usize,
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of YAML values that documents here use.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order written.
    Map(Vec<(Key, Node)>),
}

/// A map's key and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key's text.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

impl NodeKind {
    /// The kind's name, as messages use it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

/// Parses one YAML document.
///
/// # Errors
/// The place and reason of the first syntax error: nothing after it can be trusted.
pub fn parse(source: &Arc<Source>) -> Result<Node, Box<Diagnostic>> {
    // A repeated key is let through, so that the reader can report it with all else that is wrong.
    // Words such as `no` and `y` are text, as YAML 1.2 has it.
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        strict_booleans: true,
    };
    serde_saphyr::from_str_with_options::<Spanned<Tree>>(source.text(), options)
        .map(|tree| tree.value.into_node(&tree.referenced, source.text()))
        .map_err(|error| Box::new(syntax_error(source, &error)))
}

fn syntax_error(source: &Arc<Source>, error: &serde_saphyr::Error) -> Diagnostic {
    let span = error.location().map(|location| span_of(&location, source.text()));
    // The library's own text ends with the location, which the caret shows already.
    let text = error.without_snippet().to_string();
    let text =
        text.split(" at line ").next().unwrap_or(&text).trim_end_matches([':', ',']).to_owned();
    Diagnostic::error(Place::new(source, span.unwrap_or_default()), text)
}

/// What the parser hands over; turned into a [`Node`] once the span of the value is known.
enum Tree {
    Scalar(NodeKind),
    List(Vec<Spanned<Tree>>),
    Map(Vec<(Spanned<String>, Spanned<Tree>)>),
}

impl Tree {
    fn into_node(self, location: &serde_saphyr::Location, text: &str) -> Node {
        let kind = match self {
            Self::Scalar(kind) => kind,
            Self::List(items) => NodeKind::List(
                items
                    .into_iter()
                    .map(|item| item.value.into_node(&item.referenced, text))
                    .collect(),
            ),
            Self::Map(entries) => NodeKind::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| {
                        let key = Key { span: span_of(&key.referenced, text), name: key.value };
                        (key, value.value.into_node(&value.referenced, text))
                    })
                    .collect(),
            ),
        };
        Node { kind, span: span_of(location, text) }
    }
}

fn span_of(location: &serde_saphyr::Location, text: &str) -> Span {
    let to_usize = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (line, column) = (to_usize(location.line()), to_usize(location.column()));
    let span = location.span();
    let start = span.byte_offset().map_or(text.len(), to_usize).min(text.len());
    let len = span.byte_len().map_or(0, to_usize).min(text.len() - start);
    Span { start, len, line, column }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar, a list or a map")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar(NodeKind::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Scalar(NodeKind::Null))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Scalar(NodeKind::Bool(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Scalar(NodeKind::Int(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Tree, E> {
        match i64::try_from(value) {
            Ok(value) => Ok(Tree::Scalar(NodeKind::Int(value))),
            Err(_) => {
                Err(E::custom(format!("{value} is too large; numbers go up to {}", i64::MAX)))
            }
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Scalar(NodeKind::Float(value)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Scalar(NodeKind::Text(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Tree::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Arc<Source> {
        Source::new("test.yaml", text)
    }

    #[test]
    fn keys_and_values_know_their_place() {
        let node = parse(&source("id: x\nsteps:\n  - user: Hé\n")).unwrap();
        let NodeKind::Map(entries) = node.kind else { panic!("a map") };
        assert_eq!((entries[1].0.span.line, entries[1].0.span.column), (2, 1));
        let NodeKind::List(steps) = &entries[1].1.kind else { panic!("a list") };
        let NodeKind::Map(step) = &steps[0].kind else { panic!("a map") };
        assert_eq!((step[0].1.span.line, step[0].1.span.column), (3, 11));
        assert_eq!(step[0].1.kind, NodeKind::Text("Hé".to_owned()));
    }

    #[test]
    fn scalars_keep_their_kind() {
        let node = parse(&source("[1, 1.5, true, ~, '1', text, no]")).unwrap();
        let NodeKind::List(items) = node.kind else { panic!("a list") };
        let kinds: Vec<_> = items.into_iter().map(|item| item.kind).collect();
        assert_eq!(
            kinds,
            [
                NodeKind::Int(1),
                NodeKind::Float(1.5),
                NodeKind::Bool(true),
                NodeKind::Null,
                NodeKind::Text("1".to_owned()),
                NodeKind::Text("text".to_owned()),
                NodeKind::Text("no".to_owned()),
            ]
        );
    }

    #[test]
    fn a_repeated_key_is_kept_for_the_reader() {
        let node = parse(&source("a: 1\na: 2\n")).unwrap();
        let NodeKind::Map(entries) = node.kind else { panic!("a map") };
        assert_eq!(entries.len(), 2);
    }

    #[test]
    fn a_syntax_error_has_a_place() {
        let error = parse(&source("id: x\nsteps: [a\n")).unwrap_err();
        assert!(error.place.span.line >= 2, "{error:?}");
    }
}
