//! The definition of an offered tool: a name, a description and a schema.

use serde_json::Value;

use super::collector::{Collector, Origin};
use super::segment::{OfferedTool, SegmentKind};

/// The tool that a definition offers, if it has a name.
pub(super) fn offered(definition: &Value) -> Option<OfferedTool> {
    let name = name(definition)?.to_owned();
    Some(OfferedTool { namespace: None, name })
}

/// Adds a definition as one segment. One without a name is noted and kept.
pub(super) fn capture(
    collector: &mut Collector,
    pointer: &str,
    origin: &Origin<'_>,
    definition: &Value,
    schema: &str,
) {
    if let Some(name) = name(definition) {
        let origin = Origin { tool: Some(name), ..*origin };
        let text = text(definition, schema);
        collector.segment(pointer, &origin, SegmentKind::ToolDefinition, text);
    } else {
        collector.unknown(pointer, format!("({} without name)", origin.native_type));
        collector.value(pointer, origin, SegmentKind::ToolDefinition, definition);
    }
}

/// What a model reads of a tool: its description, then its schema as compact JSON.
fn text(definition: &Value, schema: &str) -> String {
    let description = definition.get("description").and_then(Value::as_str).unwrap_or_default();
    match definition.get(schema) {
        None | Some(Value::Null) => description.to_owned(),
        Some(schema) if description.is_empty() => schema.to_string(),
        Some(schema) => format!("{description}\n{schema}"),
    }
}

fn name(definition: &Value) -> Option<&str> {
    definition.get("name").and_then(Value::as_str)
}
