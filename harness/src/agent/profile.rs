//! A profile: all that is known about one agent, as data.

use std::collections::BTreeMap;

use conform_mock_server::capture::Authority;
use conform_mock_server::document::did_you_mean;
use conform_mock_server::wire::Wire;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

pub use self::acp::{AcpCompact, AcpPolicy, AcpSteer, AcpWords};
use super::template::{TemplateError, render};
use crate::driver::DriverKind;
use crate::scenario::{Capability, Network, Policy, ResultClass};

/// All that is known about one agent (`agents/NAME.toml`).
///
/// Texts named *template* may hold `${name}` and `${name|filter}`; the names are listed at each
/// field. Filters: `json` (a JSON string literal with its quotes), `toml` (a TOML basic string with its quotes), `sh`
/// (one shell word), `prefix:TEXT` (puts `TEXT` before every line).
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    /// Version of this format; 1.
    pub schema: u32,
    /// The name used with `--agent`.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// Where the agent comes from.
    pub install: Install,
    /// The versions that this profile was tried with, newest first; the first is the default.
    pub versions: Vec<String>,
    /// Ways to talk to it, the preferred one first.
    pub drivers: Vec<Launch>,
    /// Environment of every process: names and templates (`home`, `tmp`, `workspace`, `mock`,
    /// `api_key`, `path`). Nothing else is inherited.
    #[serde(default)]
    pub environment: IndexMap<String, String>,
    /// Whether commands keep the `PATH` they are given, so that a stand-in for `curl` is found on a
    /// machine that has none. (A login shell sets its own.)
    #[serde(default)]
    pub stand_ins: bool,
    /// Files that are written before the agent starts.
    #[serde(default)]
    pub files: Vec<ConfigFile>,
    /// How each wire is chosen: values for the templates.
    #[serde(default)]
    pub wire: IndexMap<Wire, WireLowering>,
    /// How each policy is expressed; a policy that is missing is one the agent does not have.
    pub policy: IndexMap<PolicyName, PolicyLowering>,
    /// Logical tools and the native calls that stand for them.
    pub tools: IndexMap<String, ToolLowering>,
    /// How side requests are recognised.
    #[serde(default)]
    pub purposes: Vec<PurposeRecognition>,
    /// What the agent documents about authority and frames.
    #[serde(default)]
    pub contract: Contract,
    /// Paths in the case tree (globs) that are the agent's own state and never judged.
    #[serde(default)]
    pub own_state: Vec<String>,
    /// How the results of each class read: regular expressions.
    #[serde(default)]
    pub results: IndexMap<ResultClass, Vec<String>>,
    /// Results that say that the agent's own sandbox could not be set up on this machine (regular
    /// expressions): nothing can be said about containment then.
    #[serde(default)]
    pub broken_confinement: Vec<String>,
    /// Values that differ from run to run, and what stands for them in hashes and comparisons.
    #[serde(default)]
    pub normalise: Vec<Normalisation>,
}

/// A policy, as a key of a table.
pub type PolicyName = Policy;

/// Where an agent comes from.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "source")]
pub enum Install {
    /// Built into conform.
    BuiltIn,
    /// A package of the npm registry.
    Npm {
        /// Package name.
        package: String,
        /// The executable, relative to the installation folder; may hold `*` for one path part.
        executable: String,
        /// A program that the package brings compressed with Brotli (RFC 7932), relative to the
        /// installation folder; it is unpacked beside itself, without the ending `.br`.
        #[serde(default)]
        unpack: Option<String>,
        /// The version of the private Node.js that runs it; `None`: it runs by itself.
        #[serde(default)]
        node: Option<String>,
    },
    /// A package of the Python index, in a virtual environment of its own.
    Pip {
        /// Package name.
        package: String,
        /// Versions of Python that will do, such as `3.11`, the best first.
        python: Vec<String>,
        /// Further requirements, each with its version, such as `anthropic==0.87.0`.
        #[serde(default)]
        with: Vec<String>,
        /// The script, relative to the virtual environment, such as `bin/hermes`.
        executable: String,
    },
    /// A program already on the machine.
    Path {
        /// Its path, or a name to be found on `PATH`.
        executable: String,
    },
}

/// How a driver starts the agent.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Launch {
    /// Which driver.
    pub driver: DriverKind,
    /// The wires that the agent can speak when started so, the preferred one first.
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
#[derive(Debug, Clone, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LineRule {
    /// JSON pointers and the strings they must hold.
    #[serde(rename = "where")]
    pub matches: BTreeMap<String, String>,
    /// JSON pointer to the text.
    pub text: String,
}

/// A line of JSON output.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LineMatch {
    /// JSON pointers and the strings they must hold.
    #[serde(rename = "where")]
    pub matches: BTreeMap<String, String>,
}

/// A file written before the agent starts.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ConfigFile {
    /// Path in the case tree, such as `home/.codex/config.toml`.
    pub path: String,
    /// Contents, a template (`mock`, `workspace`, `home`, `tmp`, `api_key`, `policy`, and whatever
    /// the policy's `values` define).
    pub text: String,
}

/// How a wire is chosen.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WireLowering {
    /// Values for the templates of arguments, environment and configuration files; each wire of the
    /// profile has the same names. They are templates themselves (`mock`).
    #[serde(default)]
    pub values: IndexMap<String, String>,
}

/// How a policy is expressed.
#[derive(Debug, Clone, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Write nothing.
    ReadOnly,
    /// Write below the workspace.
    WorkspaceWrite,
    /// Everything.
    DangerFullAccess,
}

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

/// How a side request is recognised; all conditions must hold.
#[derive(Debug, Clone, Deserialize, Serialize)]
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

/// What an agent documents.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Contract {
    /// Names of project rule files.
    #[serde(default)]
    pub rule_files: Vec<String>,
    /// The authority at which project rules stand.
    #[serde(default)]
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
}

/// A value that differs from run to run.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Normalisation {
    /// A regular expression.
    pub pattern: String,
    /// What stands for each match, such as `<uuid>`.
    pub with: String,
}

/// What is wrong with a profile beyond its form.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A format of another time.
    #[error("`schema = {found}` is not known to this version of conform; it reads schema 1")]
    Schema {
        /// The schema found.
        found: u32,
    },
    /// An empty list that must not be empty.
    #[error("`{field}` is empty; name at least one")]
    Empty {
        /// The field.
        field: &'static str,
    },
    /// A tool with both arguments and input, or neither.
    #[error("`tools.{tool}` needs either `arguments` or `input`")]
    ToolForm {
        /// The logical tool.
        tool: String,
    },
    /// A policy for a driver that cannot express it.
    #[error(
        "`policy.{policy}` is for the driver `{driver}`, which needs a place in `drivers` of the profile and of the policy, and for `app-server` and `acp` a table of that name"
    )]
    PolicyDriver {
        /// The policy.
        policy: &'static str,
        /// The driver.
        driver: &'static str,
    },
    /// A logical tool that no scenario can call.
    #[error("`tools.{tool}` is not a logical tool: {help}")]
    UnknownTool {
        /// The name.
        tool: String,
        /// The next step.
        help: String,
    },
    /// A capability without the figure that it needs.
    #[error(
        "a driver has the capability `compact-by-usage`, which needs the figure `full-usage` in `[contract]`; add it"
    )]
    FullUsage,
    /// A template that cannot be filled.
    #[error("`{field}`: {source}")]
    Template {
        /// The field.
        field: String,
        /// What is wrong.
        source: TemplateError,
    },
}

/// The logical tools and the names of their arguments.
pub const LOGICAL_TOOLS: [(&str, &[&str]); 6] = [
    ("shell", &["command"]),
    ("privileged", &["command"]),
    ("read", &["path"]),
    ("write", &["path", "text"]),
    ("edit", &["path", "old", "new"]),
    ("fetch", &["url"]),
];

impl Profile {
    /// Looks for what the form cannot show: empty lists, templates that cannot be filled.
    ///
    /// # Errors
    /// The first thing found.
    pub fn validate(&self) -> Result<(), ProfileError> {
        if self.schema != 1 {
            return Err(ProfileError::Schema { found: self.schema });
        }
        if self.versions.is_empty() {
            return Err(ProfileError::Empty { field: "versions" });
        }
        if self.drivers.is_empty() {
            return Err(ProfileError::Empty { field: "drivers" });
        }
        if self.drivers.iter().any(|launch| launch.wires.is_empty()) {
            return Err(ProfileError::Empty { field: "drivers.wires" });
        }
        let by_usage = |launch: &Launch| launch.capabilities.contains(&Capability::CompactByUsage);
        if self.contract.full_usage.is_none() && self.drivers.iter().any(by_usage) {
            return Err(ProfileError::FullUsage);
        }
        self.validate_policies()?;
        self.validate_tools()?;
        self.validate_templates()
    }

    /// The version used when none is asked for.
    pub fn default_version(&self) -> &str {
        self.versions.first().map_or("", String::as_str)
    }

    /// A policy for a driver that is not there is a slip that would only show as skipped cases.
    fn validate_policies(&self) -> Result<(), ProfileError> {
        for (policy, lowering) in &self.policy {
            let tables = [
                lowering.app_server.as_ref().map(|_| DriverKind::AppServer),
                lowering.acp.as_ref().map(|_| DriverKind::Acp),
            ];
            let tables = tables.into_iter().flatten();
            for driver in lowering.drivers.iter().flatten().copied().chain(tables) {
                let is_there = self.drivers.iter().any(|launch| launch.driver == driver);
                if !is_there || !lowering.is_for(driver) {
                    let (policy, driver) = (policy.name(), driver.name());
                    return Err(ProfileError::PolicyDriver { policy, driver });
                }
            }
        }
        Ok(())
    }

    fn validate_tools(&self) -> Result<(), ProfileError> {
        for (tool, lowering) in &self.tools {
            let Some((_, arguments)) = LOGICAL_TOOLS.iter().find(|(name, _)| name == tool) else {
                let help = did_you_mean(tool, LOGICAL_TOOLS.iter().map(|(name, _)| *name));
                return Err(ProfileError::UnknownTool { tool: tool.clone(), help });
            };
            if lowering.arguments.is_empty() == lowering.input.is_none() {
                return Err(ProfileError::ToolForm { tool: tool.clone() });
            }
            let values: Vec<_> = arguments.iter().map(|name| (*name, String::new())).collect();
            let mut texts: Vec<&str> = lowering.input.iter().map(String::as_str).collect();
            lowering.arguments.values().for_each(|value| strings(value, &mut texts));
            for text in texts {
                check_template(&format!("tools.{tool}"), text, values.as_slice())?;
            }
        }
        Ok(())
    }

    fn validate_templates(&self) -> Result<(), ProfileError> {
        for launch in &self.drivers {
            for wire in &launch.wires {
                self.validate_launch(launch, *wire)?;
            }
        }
        Ok(())
    }

    fn validate_launch(&self, launch: &Launch, wire: Wire) -> Result<(), ProfileError> {
        let places = ["mock", "workspace", "outside", "home", "tmp", "api_key", "path"];
        let chosen: Vec<&str> = match self.wire.get(&wire) {
            Some(lowering) => lowering.values.keys().map(String::as_str).collect(),
            None => Vec::new(),
        };
        let with = |more: &[&'static str]| -> Vec<(&str, String)> {
            let names = places.iter().chain(more).chain(&chosen);
            names.map(|name| (*name, String::new())).collect()
        };
        let field = |field: &str| format!("{field} over {wire}");
        for (name, text) in self.wire.get(&wire).into_iter().flat_map(|lowering| &lowering.values) {
            let values: &[(&str, String)] = &[("mock", String::new())];
            check_template(&format!("wire.{wire}.values.{name}"), text, values)?;
        }
        for (name, text) in &self.environment {
            check_template(&field(&format!("environment.{name}")), text, with(&[]).as_slice())?;
        }
        for text in launch.arguments.iter().chain(launch.resume.iter().flatten()) {
            let values = with(&["prompt", "policy"]);
            check_template(&field("drivers.arguments"), text, values.as_slice())?;
        }
        for (name, text) in launch.acp.templates() {
            let values = AcpSteer::VALUES.map(|name| (name, String::new()));
            check_template(&format!("drivers.acp.{name}"), text, values.as_slice())?;
        }
        for (policy, lowering) in &self.policy {
            for file in &self.files {
                let mut values = with(&["policy"]);
                values.extend(lowering.values.keys().map(|name| (name.as_str(), String::new())));
                let field = field(&format!("files, {} under policy {}", file.path, policy.name()));
                check_template(&field, &file.text, values.as_slice())?;
            }
        }
        Ok(())
    }
}

fn check_template(
    field: &str,
    template: &str,
    values: &[(&str, String)],
) -> Result<(), ProfileError> {
    render(template, values)
        .map(drop)
        .map_err(|source| ProfileError::Template { field: field.to_owned(), source })
}

fn strings<'v>(value: &'v toml::Value, found: &mut Vec<&'v str>) {
    match value {
        toml::Value::String(text) => found.push(text),
        toml::Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        toml::Value::Table(table) => table.values().for_each(|item| strings(item, found)),
        _ => {}
    }
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

mod acp;
#[cfg(test)]
mod tests;
