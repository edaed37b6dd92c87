//! What an agent documents about authority and frames.

use conform_mock_server::capture::Authority;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema::AuthorityName;

/// What an agent documents.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Contract {
    /// Names of project rule files.
    #[serde(default)]
    pub rule_files: Vec<String>,
    /// The authority at which project rules stand.
    #[serde(default)]
    #[schemars(with = "Option<AuthorityName>")]
    pub rules_authority: Option<Authority>,
    /// The innermost frame around project rules.
    #[serde(default)]
    pub rules_frame: Option<String>,
    /// The input tokens that a reply must report for the agent to compact before its next request,
    /// with the window and the limit that the profile's files set; for the capability
    /// `compact-by-usage`.
    #[serde(default)]
    pub full_usage: Option<u64>,
    /// Whether high-authority instructions stand in the `instructions` field or as messages.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The highest authority at which the names and descriptions of skills are listed.
    #[serde(default)]
    #[schemars(with = "Option<AuthorityName>")]
    pub skills_listed_at: Option<Authority>,
    /// The highest authority at which the text of an opened skill stands; as data when not given.
    #[serde(default)]
    #[schemars(with = "Option<AuthorityName>")]
    pub skills_opened_at: Option<Authority>,
    /// The highest authority at which memories of earlier sessions stand; as data when not given.
    #[serde(default)]
    #[schemars(with = "Option<AuthorityName>")]
    pub memory_at: Option<Authority>,
}

impl Contract {
    /// What would end the frame around project rules; empty where none is documented.
    pub fn rules_close(&self) -> String {
        match self.rules_frame.as_deref() {
            // A fence ends as it begins.
            Some(fence) if fence.starts_with('`') => fence.to_owned(),
            Some(tag) => format!("</{tag}>"),
            None => String::new(),
        }
    }
}
