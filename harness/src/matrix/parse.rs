//! From a matrix file's nodes to a matrix.

use std::sync::Arc;

use conform_mock_server::document::{
    Diagnostic, Fields, Key, Node, NodeKind, Source, did_you_mean, parse,
};
use indexmap::IndexMap;

use super::cell::Fate;
use super::model::{AxisSpec, AxisValue, CellRule, Disposition, Exclusion, Matrix};
use crate::scenario::{Parser, Slots, TurnSpec, is_word};

/// More cells than anyone runs: beyond it, a slip of the pen is likelier than a plan.
const MOST_CELLS: usize = 10_000;

/// Parses a matrix.
pub(super) fn matrix(source: &Arc<Source>) -> Result<Matrix, Vec<Diagnostic>> {
    let root = parse(source).map_err(|problem| vec![*problem])?;
    let mut parser = Parser::new(source);
    let matrix = parse_matrix(&mut parser, &root);
    if let Some(matrix) = &matrix
        && parser.problems.is_empty()
    {
        check_cells(&mut parser, matrix);
    }
    parser.finish(matrix)
}

fn parse_matrix(parser: &mut Parser, root: &Node) -> Option<Matrix> {
    let mut fields = Fields::of(root, "matrix", &mut parser.problems)?;
    let id = fields
        .required("id", &mut parser.problems)
        .and_then(|node| Some((parser.id(node, "an id")?, node.span)));
    let title = fields
        .required("title", &mut parser.problems)
        .and_then(|node| parser.line(node, "a title"));
    let axes = fields.required("axes", &mut parser.problems);
    let axes = axes.map(|node| parse_axes(parser, node)).unwrap_or_default();
    let exclusions = parser
        .items(fields.optional("exclude"), "`exclude`")
        .iter()
        .filter_map(|node| exclusion(parser, node))
        .collect();
    let dispositions_node = fields.required("dispositions", &mut parser.problems);
    let names: Vec<&str> = match dispositions_node.map(|node| &node.kind) {
        Some(NodeKind::Map(entries)) => entries.iter().map(|(key, _)| key.name.as_str()).collect(),
        _ => Vec::new(),
    };
    let cells = fields.required("cells", &mut parser.problems);
    let cells = parser
        .items(cells, "`cells`")
        .iter()
        .filter_map(|node| cell_rule(parser, node, &names))
        .collect();
    let dispositions =
        dispositions_node.map(|node| parse_dispositions(parser, node)).unwrap_or_default();
    fields.finish(&mut parser.problems);
    let (id, id_span) = id?;
    Some(Matrix {
        source: Arc::clone(parser.problems.source()),
        id,
        id_span,
        title: title?,
        axes,
        exclusions,
        cells,
        dispositions,
    })
}

fn parse_axes(parser: &mut Parser, node: &Node) -> Vec<AxisSpec> {
    let entries = parser.problems.map(node, "`axes`").unwrap_or_default();
    if entries.is_empty() && matches!(node.kind, NodeKind::Map(_)) {
        parser.problems.error(node.span, "`axes` holds no axis");
    }
    // Conditions anywhere in the file may name any axis: the names are needed first.
    let names = entries.iter().map(|(axis, values)| {
        let values = match &values.kind {
            NodeKind::Map(values) => values.iter().map(|(key, _)| key.name.clone()).collect(),
            _ => Vec::new(),
        };
        (axis.name.clone(), values)
    });
    parser.scope.axes = Some(names.collect());
    let mut axes = Vec::new();
    for (key, values) in entries {
        check_word(parser, key, "axis");
        let entries = parser.problems.map(values, "an axis").unwrap_or_default();
        if entries.is_empty() && matches!(values.kind, NodeKind::Map(_)) {
            parser.problems.error(values.span, format!("axis `{}` has no value", key.name));
        }
        let values = entries
            .iter()
            .filter_map(|(key, node)| {
                check_word(parser, key, "value");
                axis_value(parser, key, node)
            })
            .collect();
        axes.push(AxisSpec { name: key.name.clone(), span: key.span, values });
    }
    axes
}

fn axis_value(parser: &mut Parser, key: &Key, node: &Node) -> Option<AxisValue> {
    let mut fields = Fields::of(node, "axis value", &mut parser.problems)?;
    let title = fields
        .required("title", &mut parser.problems)
        .and_then(|node| parser.line(node, "a title"));
    let requires = parser.capabilities(fields.optional("requires"));
    let needs = parser.programs(fields.optional("needs"));
    let mut body = parser.fragment(&mut fields);
    body.slots = parse_slots(parser, fields.optional("slots"));
    let control_expect = parser.expectations(fields.optional("control-expect"), "`control-expect`");
    fields.finish(&mut parser.problems);
    Some(AxisValue {
        name: key.name.clone(),
        span: key.span,
        title: title?,
        requires,
        needs,
        body,
        control_expect,
    })
}

fn parse_slots(parser: &mut Parser, node: Option<&Node>) -> IndexMap<String, Vec<TurnSpec>> {
    let entries = node.and_then(|node| parser.problems.map(node, "`slots`")).unwrap_or_default();
    let mut slots = IndexMap::new();
    for (key, turns) in entries {
        check_word(parser, key, "slot");
        slots.insert(key.name.clone(), parser.turns(turns, "a slot", Slots::Nested));
    }
    slots
}

fn exclusion(parser: &mut Parser, node: &Node) -> Option<Exclusion> {
    let mut fields = Fields::of(node, "exclusion", &mut parser.problems)?;
    let when = fields.required("when", &mut parser.problems);
    let reason = fields
        .required("reason", &mut parser.problems)
        .and_then(|node| parser.line(node, "a reason"));
    let when = when.map(|node| parser.when(Some(node)));
    let span = fields.key_span("when").unwrap_or(node.span);
    fields.finish(&mut parser.problems);
    Some(Exclusion { when: when?, reason: reason?, span })
}

fn cell_rule(parser: &mut Parser, node: &Node, dispositions: &[&str]) -> Option<CellRule> {
    let mut fields = Fields::of(node, "cell rule", &mut parser.problems)?;
    let when = parser.when(fields.optional("when"));
    let disposition = fields
        .required("disposition", &mut parser.problems)
        .and_then(|node| Some((parser.problems.text(node, "a disposition")?, node.span)));
    let clause = fields.optional("clause").and_then(|node| parser.clause(node));
    let span = ["when", "disposition"].into_iter().find_map(|name| fields.key_span(name));
    let span = span.unwrap_or(node.span);
    fields.finish(&mut parser.problems);
    let (disposition, disposition_span) = disposition?;
    if !dispositions.contains(&disposition.as_str()) {
        parser.problems.error_with_help(
            disposition_span,
            format!("unknown disposition `{disposition}`"),
            did_you_mean(&disposition, dispositions.iter().copied()),
        );
    }
    Some(CellRule { when, disposition, disposition_span, clause, span })
}

fn parse_dispositions(parser: &mut Parser, node: &Node) -> IndexMap<String, Disposition> {
    let mut dispositions = IndexMap::new();
    for (key, node) in parser.problems.map(node, "`dispositions`").unwrap_or_default() {
        check_word(parser, key, "disposition");
        let Some(mut fields) = Fields::of(node, "disposition", &mut parser.problems) else {
            continue;
        };
        let title = fields
            .required("title", &mut parser.problems)
            .and_then(|node| parser.line(node, "a title"));
        let requires = parser.capabilities(fields.optional("requires"));
        let expect = parser.expectations(fields.optional("expect"), "`expect`");
        let control_span = fields.key_span("control").unwrap_or(key.span);
        let control =
            fields.optional("control").and_then(|node| parser.control(node, control_span));
        fields.finish(&mut parser.problems);
        if let Some(title) = title {
            let disposition = Disposition { title, expect, control, requires, span: key.span };
            dispositions.insert(key.name.clone(), disposition);
        }
    }
    dispositions
}

fn check_word(parser: &mut Parser, key: &Key, what: &str) {
    if !is_word(&key.name) {
        parser.problems.error_with_help(
            key.span,
            format!("`{}` cannot be the name of a {what}", key.name),
            "it is one word of a-z, 0-9 and hyphens inside it",
        );
    }
}

/// Every exclusion and rule must match a cell, every cell a rule, every disposition a rule that is
/// reached: what matches nothing guards nothing.
fn check_cells(parser: &mut Parser, matrix: &Matrix) {
    match matrix.size() {
        Some(size) if size <= MOST_CELLS => {}
        size => {
            let size = size.map_or_else(|| "too many to count".to_owned(), |n| n.to_string());
            parser.problems.error_with_help(
                matrix.axes.last().map_or(matrix.id_span, |axis| axis.span),
                format!("the axes multiply to {size} cells; the most is {MOST_CELLS}"),
                "split the matrix",
            );
            return;
        }
    }
    let cells = matrix.cells();
    let spans = |fate: &dyn Fn(Fate<'_>) -> Option<usize>| -> Vec<usize> {
        cells.iter().filter_map(|cell| fate(cell.fate)).collect()
    };
    let excluding = spans(&|fate| match fate {
        Fate::Excluded(exclusion) => Some(exclusion.span.start),
        Fate::Ruled(_) | Fate::Open => None,
    });
    for exclusion in &matrix.exclusions {
        if !excluding.contains(&exclusion.span.start) {
            let alone = cells.iter().any(|cell| exclusion.when.holds(&cell.axes()));
            parser.problems.error_with_help(
                exclusion.span,
                "this exclusion leaves out no cell",
                if alone {
                    "earlier exclusions leave out all of these; drop it"
                } else {
                    "drop it"
                },
            );
        }
    }
    let ruling = spans(&|fate| match fate {
        Fate::Ruled(rule) => Some(rule.span.start),
        Fate::Excluded(_) | Fate::Open => None,
    });
    for rule in &matrix.cells {
        if !ruling.contains(&rule.span.start) {
            parser.problems.error_with_help(
                rule.span,
                "this rule decides no cell",
                "earlier rules or exclusions take all of its cells; drop it, or move it up",
            );
        }
    }
    let open: Vec<String> = cells
        .iter()
        .filter(|cell| matches!(cell.fate, Fate::Open))
        .map(|cell| format!("`{}`", cell.id()))
        .collect();
    if let Some(first) = open.first() {
        let more = match open.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        parser.problems.error_with_help(
            matrix.id_span,
            format!("no rule decides the cell {first}{more}"),
            "add a rule under `cells`, or leave the cell out under `exclude`",
        );
    }
    if ruling.is_empty() && open.is_empty() {
        parser.problems.error(matrix.id_span, "every cell is left out");
    }
    for (name, disposition) in &matrix.dispositions {
        let used = |fate| matches!(fate, Fate::Ruled(rule) if rule.disposition == *name);
        if !cells.iter().any(|cell| used(cell.fate)) {
            parser.problems.error_with_help(
                disposition.span,
                format!("no cell has the disposition `{name}`"),
                "drop it, or name it in a rule under `cells`",
            );
        }
    }
}
