//! Segments: the neutral form in which requests of all wires are judged.

use serde::{Deserialize, Serialize};

use crate::wire::Wire;

/// What a wire's role field grants to a text.
///
/// Ordered from the least to the most: a comparison asks "does this stand above that".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Authority {
    /// A tool's result: data.
    Tool,
    /// The model's own earlier words and calls: data.
    Assistant,
    /// The user.
    User,
    /// The description of an offered tool: written by the application, read as reference.
    ToolDefinition,
    /// The developer role.
    Developer,
    /// The system role.
    System,
    /// The top-level instructions field.
    Instructions,
}

impl Authority {
    /// All authorities, from the least to the most.
    pub const ALL: [Self; 7] = [
        Self::Tool,
        Self::Assistant,
        Self::User,
        Self::ToolDefinition,
        Self::Developer,
        Self::System,
        Self::Instructions,
    ];

    /// Whether text here speaks for the application and not for the user or the world.
    pub fn is_high(self) -> bool {
        self >= Self::Developer
    }

    /// The name as scenarios write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Assistant => "assistant",
            Self::User => "user",
            Self::ToolDefinition => "tool-definition",
            Self::Developer => "developer",
            Self::System => "system",
            Self::Instructions => "instructions",
        }
    }
}

impl std::fmt::Display for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a segment is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentKind {
    /// Instructions or a message part.
    Text,
    /// A call: the text is its arguments or input.
    Call,
    /// A call's result.
    Result,
    /// Reasoning: summary text, or the opaque content.
    Reasoning,
    /// A compaction item: opaque content.
    Compaction,
    /// An offered tool's description and schema.
    ToolDefinition,
}

/// One piece of a captured request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// JSON pointer (RFC 6901) to the text in the native body.
    pub pointer: String,
    /// Index of the item it belongs to, counted over the request. A message is one item, and so is
    /// each call and each result, even where the wire puts several into one message; the parts of
    /// one item share its index. Instructions and tools have none.
    pub item: Option<usize>,
    /// Native role, as sent (empty where the wire has none, as for calls).
    pub role: String,
    /// Native type, as sent.
    pub native_type: String,
    /// What the text is part of.
    pub kind: SegmentKind,
    /// What the role grants.
    pub authority: Authority,
    /// Call id, for calls and results (may be empty, if that is what was sent).
    pub call_id: Option<String>,
    /// Tool name, for calls and tool definitions.
    pub tool: Option<String>,
    /// For results on a wire that marks failed calls: the mark, if it was sent.
    pub is_error: Option<bool>,
    /// The text itself.
    pub text: String,
}

/// A tool the request offers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OfferedTool {
    /// Namespace, where tools are grouped.
    pub namespace: Option<String>,
    /// Tool name.
    pub name: String,
}

impl std::fmt::Display for OfferedTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A role or item type that the wire does not define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPart {
    /// JSON pointer to it.
    pub pointer: String,
    /// What was found there.
    pub found: String,
}

/// A request as segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The wire it came over.
    pub wire: Wire,
    /// All segments in the order of the request: instructions, then input items, then tools.
    pub segments: Vec<Segment>,
    /// The tools offered.
    pub tools: Vec<OfferedTool>,
    /// What the wire does not define, kept so that nothing is dropped unseen.
    pub unknown: Vec<UnknownPart>,
}
