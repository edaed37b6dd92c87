//! What a profile says about the native calls that stand for logical tools.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The logical tools and the names of their arguments.
pub const LOGICAL_TOOLS: [(&str, &[&str]); 6] = [
    ("shell", &["command"]),
    ("privileged", &["command"]),
    ("read", &["path"]),
    ("write", &["path", "text"]),
    ("edit", &["path", "old", "new"]),
    ("fetch", &["url"]),
];

/// A native call that stands for a logical tool.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ToolLowering {
    /// Native tool name.
    pub native: String,
    /// Arguments: each a template with the logical tool's own argument names, or a fixed JSON
    /// value of another type.
    #[serde(default)]
    pub arguments: IndexMap<String, toml::Value>,
    /// Free-form input instead of arguments: a template.
    #[serde(default)]
    pub input: Option<String>,
}
