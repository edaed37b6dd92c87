//! What a profile says about requests and values that are not the conversation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a side request is recognised; all conditions must hold.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PurposeRecognition {
    /// The purpose.
    pub purpose: String,
    /// Header name and text that its value must contain.
    #[serde(default)]
    pub header: Option<(String, String)>,
    /// JSON pointers and the values they must hold.
    #[serde(default)]
    pub equals: BTreeMap<String, serde_json::Value>,
    /// JSON pointers and the texts their strings must contain.
    #[serde(default)]
    pub contains: BTreeMap<String, String>,
    /// JSON pointers at which nothing may stand.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Texts that the body must contain, wherever.
    #[serde(default)]
    pub body: Vec<String>,
    /// What is answered when the scenario scripts nothing.
    pub reply: String,
}

/// A value that differs from run to run.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Normalisation {
    /// A regular expression.
    pub pattern: String,
    /// What stands for each match, such as `<uuid>`.
    pub with: String,
}
