//! What a profile says about how policies are expressed.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acp::AcpPolicy;
use crate::driver::DriverKind;
use crate::scenario::Network;

/// How a policy is expressed.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PolicyLowering {
    /// Arguments that stand for `${policy}`.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Further arguments when commands may use the network; `None`: the network cannot be granted
    /// under this policy.
    #[serde(default)]
    pub network: Option<Vec<String>>,
    /// Values for the templates of configuration files.
    #[serde(default)]
    pub values: IndexMap<String, String>,
    /// The only drivers that can express the policy; `None`: all can.
    #[serde(default)]
    pub drivers: Option<Vec<DriverKind>>,
    /// How the driver `app-server` opens its thread; without it, that driver cannot express the
    /// policy.
    #[serde(default)]
    pub app_server: Option<AppServerPolicy>,
    /// How the driver `acp` starts the agent and opens its session; without it, that driver cannot
    /// express the policy.
    #[serde(default)]
    pub acp: Option<AcpPolicy>,
}

/// How an app-server's thread is opened under a policy (the parameters of `thread/start`).
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AppServerPolicy {
    /// When the agent asks.
    pub approval_policy: ApprovalPolicy,
    /// The sandbox of commands that run without being asked about.
    pub sandbox: SandboxMode,
    /// Configuration that overrides the agent's own files: dotted keys and values.
    #[serde(default)]
    pub config: serde_json::Map<String, serde_json::Value>,
    /// Further configuration when commands may use the network; `None`: the network cannot be
    /// granted under this policy.
    #[serde(default)]
    pub network: Option<serde_json::Map<String, serde_json::Value>>,
}

/// When an app-server asks; the names are those of its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// When the model asks to leave the sandbox, and before a patch that the sandbox forbids.
    OnRequest,
    /// Before every command that is not known to be harmless.
    Untrusted,
    /// Never: what would need a question is refused.
    Never,
}

/// What an app-server lets commands do; the names are those of its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Write nothing.
    ReadOnly,
    /// Write below the workspace.
    WorkspaceWrite,
    /// Everything.
    DangerFullAccess,
}

impl PolicyLowering {
    /// Whether a driver can express the policy.
    pub(crate) fn is_for(&self, driver: DriverKind) -> bool {
        let listed = self.drivers.as_ref().is_none_or(|drivers| drivers.contains(&driver));
        listed
            && match driver {
                DriverKind::AppServer => self.app_server.is_some(),
                DriverKind::Acp => self.acp.is_some(),
                DriverKind::Exec | DriverKind::Jsonl | DriverKind::StreamJson | DriverKind::Rpc => {
                    true
                }
            }
    }

    /// Whether a driver can give commands the network, or keep it from them, under the policy.
    pub(crate) fn can_set(&self, network: Network, driver: DriverKind) -> bool {
        match (network, driver) {
            (Network::Denied, _) => true,
            (
                Network::Allowed,
                DriverKind::Exec | DriverKind::Jsonl | DriverKind::StreamJson | DriverKind::Rpc,
            ) => self.network.is_some(),
            (Network::Allowed, DriverKind::AppServer) => {
                self.app_server.as_ref().is_some_and(|policy| policy.network.is_some())
            }
            (Network::Allowed, DriverKind::Acp) => {
                self.acp.as_ref().is_some_and(|policy| policy.network.is_some())
            }
        }
    }
}
