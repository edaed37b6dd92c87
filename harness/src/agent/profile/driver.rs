//! What a profile says about how an agent is started and driven.

use std::collections::BTreeMap;

use conform_mock_server::wire::Wire;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acp::AcpWords;
use super::schema::WireName;
use crate::driver::DriverKind;
use crate::scenario::Capability;

/// How a driver starts the agent.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Launch {
    /// Which driver.
    pub driver: DriverKind,
    /// The wires that the agent can speak when started so, the preferred one first.
    #[schemars(with = "Vec<WireName>")]
    pub wires: Vec<Wire>,
    /// Arguments, each a template (`prompt`, `mock`, `workspace`, `home`, `tmp`); the word
    /// `${policy}` alone stands for the policy's arguments, all of them.
    pub arguments: Vec<String>,
    /// The arguments of a process that goes on with the session of the last one, as templates; for
    /// the capability `resume`.
    #[serde(default)]
    pub resume: Option<Vec<String>>,
    /// How the output is read; for exec drivers.
    #[serde(default)]
    pub output: Option<OutputRule>,
    /// What the protocol does not say; for the driver `acp`.
    #[serde(default)]
    pub acp: AcpWords,
    /// What the agent can do when driven so.
    pub capabilities: Vec<Capability>,
}

/// How the final text and the success of a turn are read from standard output.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    tag = "format"
)]
pub enum OutputRule {
    /// The whole output is the final text.
    Text,
    /// JSON lines.
    Jsonl {
        /// The last line that matches holds the final text.
        final_text: LineRule,
        /// A line that matches says that the turn failed.
        failed: Option<LineMatch>,
        /// A line that matches says that the turn succeeded; without it, the exit status decides.
        succeeded: Option<LineMatch>,
    },
}

/// A line of JSON output and where its text is.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LineRule {
    /// JSON pointers and the strings they must hold.
    #[serde(rename = "where")]
    pub matches: BTreeMap<String, String>,
    /// JSON pointer to the text.
    pub text: String,
}

/// A line of JSON output.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LineMatch {
    /// JSON pointers and the strings they must hold.
    #[serde(rename = "where")]
    pub matches: BTreeMap<String, String>,
}
