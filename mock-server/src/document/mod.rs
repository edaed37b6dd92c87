//! YAML documents with the place of every key and value, and errors that point at them.
//!
//! A loader walks the [`Node`] tree and collects every [`Diagnostic`] it finds, so that one look
//! at a file reports all that is wrong with it and not just the first thing.

mod diagnostic;
mod node;
mod reader;
mod suggest;

pub use diagnostic::{Diagnostic, Place, Severity, Source, render};
pub use node::{Key, Node, NodeKind, Span, parse};
pub use reader::{Fields, Problems};
pub use suggest::{did_you_mean, one_of};
