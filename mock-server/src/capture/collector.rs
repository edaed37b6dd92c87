//! Where segments gather while a request is walked.

use serde_json::Value;

use super::segment::{Authority, Capture, OfferedTool, Segment, SegmentKind, UnknownPart};
use crate::wire::Wire;

/// What all segments of one item share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'b> {
    pub(super) item: Option<usize>,
    pub(super) role: &'b str,
    pub(super) native_type: &'b str,
    pub(super) authority: Authority,
    pub(super) call_id: Option<&'b str>,
    pub(super) tool: Option<&'b str>,
    pub(super) is_error: Option<bool>,
}

impl<'b> Origin<'b> {
    /// A top-level field.
    pub(super) fn top(field: &'b str, authority: Authority) -> Self {
        Self {
            item: None,
            role: "",
            native_type: field,
            authority,
            call_id: None,
            tool: None,
            is_error: None,
        }
    }

    /// The top-level tools.
    pub(super) fn tools() -> Self {
        Self::top("tools", Authority::ToolDefinition)
    }

    /// An input item without a role.
    pub(super) fn item(index: usize, native_type: &'b str, authority: Authority) -> Self {
        Self { item: Some(index), ..Self::top(native_type, authority) }
    }
}

/// The capture so far.
#[derive(Debug, Default)]
pub(super) struct Collector {
    segments: Vec<Segment>,
    tools: Vec<OfferedTool>,
    unknown: Vec<UnknownPart>,
    items: usize,
}

impl Collector {
    /// The next item's index, where the wire's own lists do not give it.
    pub(super) fn next_item(&mut self) -> usize {
        let index = self.items;
        self.items += 1;
        index
    }

    /// Adds a segment.
    pub(super) fn segment(
        &mut self,
        pointer: impl Into<String>,
        origin: &Origin<'_>,
        kind: SegmentKind,
        text: impl Into<String>,
    ) {
        self.segments.push(Segment {
            pointer: pointer.into(),
            item: origin.item,
            role: origin.role.to_owned(),
            native_type: origin.native_type.to_owned(),
            kind,
            authority: origin.authority,
            call_id: origin.call_id.map(str::to_owned),
            tool: origin.tool.map(str::to_owned),
            is_error: origin.is_error,
            text: text.into(),
        });
    }

    /// Adds the value at a pointer as a segment: a string as it is, anything else as compact JSON.
    pub(super) fn value(
        &mut self,
        pointer: impl Into<String>,
        origin: &Origin<'_>,
        kind: SegmentKind,
        value: &Value,
    ) {
        match value {
            Value::String(text) => self.segment(pointer, origin, kind, text),
            other => self.segment(pointer, origin, kind, other.to_string()),
        }
    }

    /// Adds an offered tool.
    pub(super) fn offer(&mut self, tools: impl IntoIterator<Item = OfferedTool>) {
        self.tools.extend(tools);
    }

    /// Notes something that the wire does not define.
    pub(super) fn unknown(&mut self, pointer: impl Into<String>, found: impl Into<String>) {
        self.unknown.push(UnknownPart { pointer: pointer.into(), found: found.into() });
    }

    /// Notes a value of a JSON type that the wire does not allow there.
    pub(super) fn wrong_type(&mut self, pointer: impl Into<String>, value: &Value) {
        self.unknown(pointer, format!("({})", json_type(value)));
    }

    /// The capture of a request that came over this wire.
    pub(super) fn finish(self, wire: Wire) -> Capture {
        let Self { segments, tools, unknown, .. } = self;
        Capture { wire, segments, tools, unknown }
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
