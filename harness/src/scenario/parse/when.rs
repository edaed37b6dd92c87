//! Conditions on the axes of a case.

use conform_mock_server::document::{
    Diagnostic, Node, NodeKind, Place, Source, Span, did_you_mean,
};
use std::sync::Arc;

use super::{AxisNames, Parser};
use crate::scenario::{When, model::Axis};

impl Parser {
    /// A `when` that may be absent: `{axis: value}` or `{axis: [value, value]}`.
    pub(crate) fn when(&mut self, node: Option<&Node>) -> When {
        let Some(node) = node else { return When::default() };
        let Some(entries) = self.problems.map(node, "`when`") else { return When::default() };
        if entries.is_empty() {
            self.problems.error(node.span, "`when` names no axis");
        }
        let mut when = When::default();
        for (key, value) in entries {
            let mut values: Vec<(String, Span)> = Vec::new();
            let items = match &value.kind {
                NodeKind::List(items) => items.as_slice(),
                _ => std::slice::from_ref(value),
            };
            if items.is_empty() {
                self.problems.error(value.span, format!("`{}` names no value", key.name));
            }
            for item in items {
                let Some(text) = self.problems.text(item, "a value of an axis") else { continue };
                if values.iter().any(|(earlier, _)| *earlier == text) {
                    self.twice(item, &text);
                }
                values.push((text, item.span));
            }
            when.axes.push(Axis { axis: key.name.clone(), span: key.span, values });
        }
        if let Some(axes) = &self.scope.axes {
            for problem in check_when(&when, axes, self.problems.source()) {
                self.problems.push(problem);
            }
        }
        when
    }
}

/// What a condition names that does not exist.
pub(crate) fn check_when(when: &When, axes: &AxisNames, source: &Arc<Source>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for condition in &when.axes {
        let Some((_, known)) = axes.iter().find(|(name, _)| *name == condition.axis) else {
            let names = axes.iter().map(|(name, _)| name.as_str());
            found.push(
                Diagnostic::error(
                    Place::new(source, condition.span),
                    format!("unknown axis `{}`", condition.axis),
                )
                .with_help(did_you_mean(&condition.axis, names)),
            );
            continue;
        };
        for (value, span) in &condition.values {
            if !known.contains(value) {
                found.push(
                    Diagnostic::error(
                        Place::new(source, *span),
                        format!("axis `{}` has no value `{value}`", condition.axis),
                    )
                    .with_help(did_you_mean(value, known.iter().map(String::as_str))),
                );
            }
        }
    }
    found
}
