//! What a profile says about an agent that speaks the Agent Client Protocol.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an agent that speaks ACP is started, and its session opened, under a policy.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AcpPolicy {
    /// Arguments that stand for `${policy}`.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The session's mode, as the agent names it; `None`: the one it opens with.
    #[serde(default)]
    pub mode: Option<String>,
    /// Further arguments when commands may use the network; `None`: the network cannot be granted
    /// under this policy.
    #[serde(default)]
    pub network: Option<Vec<String>>,
}

/// How an agent that speaks ACP is steered and told to compact: the protocol has no word for
/// either.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AcpWords {
    /// A message to the running turn.
    #[serde(default)]
    pub steer: Option<AcpSteer>,
    /// The order to compact.
    #[serde(default)]
    pub compact: Option<AcpCompact>,
}

/// How a message reaches the turn that runs.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum AcpSteer {
    /// By a further prompt: a template (`text`).
    Prompt(String),
    /// By a method of the agent's own.
    Request {
        /// The method.
        method: String,
        /// Its parameters: templates (`session`, `text`, `id`, a number of this request's own).
        params: BTreeMap<String, String>,
    },
}

/// How the history is compacted.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AcpCompact {
    /// The prompt that orders it.
    pub prompt: String,
    /// A text of the agent that says that it is done; without it, the answer to the prompt does.
    #[serde(default)]
    pub done: Option<String>,
}

impl AcpWords {
    /// The templates, each with the name of its field.
    pub(super) fn templates(&self) -> Vec<(String, &str)> {
        match &self.steer {
            None => Vec::new(),
            Some(AcpSteer::Prompt(text)) => vec![("steer.prompt".to_owned(), text)],
            Some(AcpSteer::Request { params, .. }) => {
                let named = |(name, text)| (format!("steer.request.params.{name}"), text);
                params.iter().map(|(name, text)| (name, text.as_str())).map(named).collect()
            }
        }
    }
}

impl AcpSteer {
    /// The names that its templates may hold.
    pub(crate) const VALUES: [&str; 3] = ["session", "text", "id"];
}
