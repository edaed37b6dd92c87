//! What a profile says about the native calls that stand for logical tools.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The logical tools and the names of their arguments.
pub const LOGICAL_TOOLS: [(&str, &[&str]); 8] = [
    ("shell", &["command"]),
    ("privileged", &["command"]),
    ("read", &["path"]),
    ("write", &["path", "text"]),
    ("edit", &["path", "old", "new"]),
    ("fetch", &["url"]),
    ("skill", &["name"]),
    ("spawn", &["task"]),
];

/// A native call that stands for a logical tool.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ToolLowering {
    /// Native tool name.
    pub native: String,
    /// The namespace in which the tool is offered, on a wire that has them.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Arguments: each a template with the logical tool's own argument names, or a fixed JSON
    /// value of another type.
    #[serde(default)]
    #[schemars(with = "IndexMap<String, serde_json::Value>")]
    pub arguments: IndexMap<String, toml::Value>,
    /// Free-form input instead of arguments: a template.
    #[serde(default)]
    pub input: Option<String>,
    /// The call of the next reply, for a tool that only begins what it is called for (a sub-agent
    /// that works while its parent goes on, until the parent waits for it). What comes back for it
    /// counts as the result. Such a call stands alone in its reply.
    #[serde(default)]
    pub then: Option<Box<Self>>,
}
