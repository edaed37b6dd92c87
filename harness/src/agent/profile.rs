//! A profile: all that is known about one agent, as data.

mod acp;
mod changed;
mod contract;
mod driver;
mod install;
mod policy;
mod recognition;
mod schema;
#[cfg(test)]
mod tests;
mod tool;
mod validate;

use conform_mock_server::wire::Wire;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::acp::{AcpCompact, AcpPolicy, AcpSteer, AcpWords};
pub use self::changed::{OverlayError, ProfileFile, ProfileFileError};
pub use self::contract::Contract;
pub use self::driver::{Launch, LineMatch, LineRule, OutputRule};
pub use self::install::Install;
pub use self::policy::{AppServerPolicy, ApprovalPolicy, PolicyLowering, SandboxMode};
pub use self::recognition::{Normalisation, PurposeRecognition};
pub use self::schema::schema;
pub use self::tool::{LOGICAL_TOOLS, ToolLowering};
pub use self::validate::ProfileError;
use crate::scenario::{Capability, Policy, ResultClass, Zone};

/// All that is known about one agent (`agents/NAME.toml`).
///
/// Texts named *template* may hold `${name}` and `${name|filter}`; the names are listed at each
/// field. Filters: `json` (a JSON string literal with its quotes), `toml` (a TOML basic string with its quotes), `sh`
/// (one shell word), `prefix:TEXT` (puts `TEXT` before every line).
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
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
    /// How much memory one run takes with all its processes, in MiB, as measured; a machine runs no
    /// more of them at once than it bears.
    #[serde(default)]
    pub memory: Option<u64>,
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
    #[schemars(with = "IndexMap<String, WireLowering>")]
    #[schemars(extend("propertyNames" = schema::wires()))]
    pub wire: IndexMap<Wire, WireLowering>,
    /// What is switched on for cases that require a capability, and only for these: values for the
    /// templates.
    #[serde(default)]
    #[schemars(with = "IndexMap<String, Requirement>")]
    #[schemars(extend("propertyNames" = schema::one_of(&Capability::NAMES)))]
    pub required: IndexMap<Capability, Requirement>,
    /// How each policy is expressed; a policy that is missing is one the agent does not have.
    #[schemars(extend("propertyNames" = schema::one_of(&Policy::NAMES)))]
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
    #[schemars(extend("propertyNames" = schema::one_of(&ResultClass::NAMES)))]
    pub results: IndexMap<ResultClass, Vec<String>>,
    /// Results that say that the agent's own sandbox could not be set up on this machine (regular
    /// expressions): nothing can be said about containment then.
    #[serde(default)]
    pub broken_confinement: Vec<String>,
    /// Where this agent keeps what scenarios put in a common place of the workspace: that folder or
    /// file, such as `.agents/skills`, and the agent's own in the case tree, such as
    /// `workspace/.mine/skills`. What is not named stands where the scenario puts it.
    #[serde(default)]
    pub kept_in: IndexMap<String, String>,
    /// Values that differ from run to run, and what stands for them in hashes and comparisons.
    #[serde(default)]
    pub normalise: Vec<Normalisation>,
    /// What differs in other versions: each entry names its range by `before` (versions older than
    /// this one), `since` (this version and newer) or both, and holds keys of the profile that are
    /// laid over it there. Empty in a profile of one version.
    #[serde(default)]
    #[schemars(schema_with = "schema::changed")]
    pub changed: Vec<toml::Table>,
}

/// A policy, as a key of a table.
pub type PolicyName = Policy;

/// A file written before the agent starts.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ConfigFile {
    /// Path in the case tree, such as `home/.codex/config.toml`.
    pub path: String,
    /// A name of files that scenarios bring: the file is then written beside each of these, in
    /// whichever folder, and `path` starts there.
    #[serde(default)]
    pub beside: Option<String>,
    /// Contents, a template (`mock`, `workspace`, `home`, `tmp`, `api_key`, `policy`, and whatever
    /// the policy's `values` define).
    pub text: String,
}

/// How a wire is chosen.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WireLowering {
    /// Values for the templates of arguments, environment and configuration files; each wire of the
    /// profile has the same names. They are templates themselves (`mock`).
    #[serde(default)]
    pub values: IndexMap<String, String>,
}

/// Values for the templates of arguments, environment and configuration files, by whether a case
/// requires a capability. Both sides have the same names.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Requirement {
    /// For a case that requires it.
    pub values: IndexMap<String, String>,
    /// For every other case.
    pub otherwise: IndexMap<String, String>,
}

impl Profile {
    /// The version used when none is asked for.
    pub fn default_version(&self) -> &str {
        self.versions.first().map_or("", String::as_str)
    }

    /// Where a scenario's file stands for this agent: its path in the case tree.
    pub fn path_in_tree(&self, zone: Zone, path: &str) -> String {
        let moved = self.kept_in.iter().find_map(|(common, own)| {
            let rest = path.strip_prefix(common.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{own}{rest}"))
        });
        match moved {
            Some(moved) if zone == Zone::Workspace => moved,
            _ => format!("{}/{path}", zone.name()),
        }
    }
}
