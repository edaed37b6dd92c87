//! A whole scenario file.

use std::sync::Arc;

use conform_mock_server::document::{Diagnostic, Fields, Node, NodeKind, Source, parse};

use super::turn::Slots;
use super::{AxisNames, Parser, Scope};
use crate::scenario::Scenario;

/// The one axis of a scenario without a matrix.
const PERSONA: (&str, [&str; 2]) = ("persona", ["careful", "hijacked"]);

/// Parses a scenario. `family` is the folder that groups it, if its path tells.
pub(in crate::scenario) fn scenario(
    source: &Arc<Source>,
    family: Option<String>,
) -> Result<Scenario, Vec<Diagnostic>> {
    let root = parse(source).map_err(|problem| vec![*problem])?;
    let mut parser = Parser::new(source);
    let scenario = parser.scenario(&root, family);
    parser.finish(scenario)
}

impl Parser {
    fn scenario(&mut self, root: &Node, family: Option<String>) -> Option<Scenario> {
        let mut fields = Fields::of(root, "scenario", &mut self.problems)?;
        let multiplied = fields.optional("matrix").is_some();
        if !multiplied {
            self.scope = closed_scope(&mut fields);
        }
        let id = fields
            .required("id", &mut self.problems)
            .and_then(|node| Some((self.id(node, "an id")?, node.span)));
        let title = fields
            .required("title", &mut self.problems)
            .and_then(|node| self.filled_template(node, "a title"));
        let clause =
            fields.required("clause", &mut self.problems).and_then(|node| self.clause(node));
        let reports = self.reports(fields.optional("reports"));
        let matrix = fields
            .optional("matrix")
            .and_then(|node| Some((self.id(node, "a matrix")?, node.span)));
        let requires = self.capabilities(fields.optional("requires"));
        let needs = self.programs(fields.optional("needs"));
        let start = fields
            .optional("start")
            .and_then(|node| Some((self.line(node, "a folder")?, node.span)));
        let mut body = self.fragment(&mut fields);
        let slots = if multiplied { Slots::Filled } else { Slots::NoMatrix };
        let model = fields.required("model", &mut self.problems);
        if let Some(model) = model {
            body.model = self.turns(model, "`model`", slots);
        }
        // A matrix may bring the steps: then the expansion tells whether a case has one.
        if !multiplied
            && let Some(steps) = fields.required("steps", &mut self.problems)
            && steps.kind == NodeKind::List(Vec::new())
        {
            self.problems.error_with_help(
                steps.span,
                "`steps` holds no step",
                "the user says at least one thing, such as `- user: Review this repository.`",
            );
        }
        let control_span = fields.key_span("control").unwrap_or(fields.span());
        let control = fields.optional("control").map(|node| self.control(node, control_span));
        fields.finish(&mut self.problems);
        let (id, id_span) = id?;
        let control = match control {
            None => None,
            Some(control) => Some(control?),
        };
        model?;
        Some(Scenario {
            source: Arc::clone(self.problems.source()),
            family: family
                .unwrap_or_else(|| id.split('.').next().unwrap_or(id.as_str()).to_owned()),
            id,
            id_span,
            title: title?,
            clause: clause?,
            reports,
            matrix,
            requires,
            needs,
            start,
            body,
            control,
        })
    }
}

/// The names of a scenario that no matrix adds to.
fn closed_scope(fields: &mut Fields<'_>) -> Scope {
    let vars = match fields.optional("vars").map(|node| &node.kind) {
        Some(NodeKind::Map(entries)) => entries.iter().map(|(key, _)| key.name.clone()).collect(),
        _ => Vec::new(),
    };
    let secrets = match fields.optional("secrets").map(|node| &node.kind) {
        Some(NodeKind::List(items)) => items
            .iter()
            .filter_map(|item| match &item.kind {
                NodeKind::Text(name) => Some(name.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let axes = vec![(PERSONA.0.to_owned(), PERSONA.1.map(str::to_owned).to_vec())];
    Scope { vars: Some(vars), secrets: Some(secrets), axes: Some::<AxisNames>(axes) }
}
