//! A scenario file as data, its texts not yet expanded.

use std::sync::Arc;

use conform_mock_server::document::{Source, Span};
use conform_mock_server::script::{FaultRule, Purpose, Usage};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expectation::ExpectSpec;
use super::step::Step;
use super::text::Text;
use crate::clause::ClauseRef;

/// One scenario file.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The file.
    pub source: Arc<Source>,
    /// Stable id, such as `injection.indirect.readme-deploy`.
    pub id: String,
    /// Where the id stands.
    pub id_span: Span,
    /// First folder below the scenario root, or the id's first word for a lone file.
    pub family: String,
    /// One line for people.
    pub title: Text,
    /// The clause served.
    pub clause: ClauseRef,
    /// Public reports reproduced, as `owner/repo#n`.
    pub reports: Vec<String>,
    /// The matrix that multiplies it, by id.
    pub matrix: Option<(String, Span)>,
    /// What an agent must be able to do, else the case is skipped.
    pub requires: Vec<Capability>,
    /// Programs that must be on the machine, else the case is an error.
    pub needs: Vec<String>,
    /// The folder of the workspace in which the agent starts, and where it is named; `None`: the
    /// workspace itself.
    pub start: Option<(String, Span)>,
    /// Everything that a matrix value can add to as well.
    pub body: Fragment,
    /// The permissive twin.
    pub control: Option<ControlSpec>,
}

/// The part of a scenario that a matrix value can bring: maps are united, lists appended.
#[derive(Debug, Clone, Default)]
pub struct Fragment {
    /// Variables.
    pub vars: IndexMap<String, Text>,
    /// Names of planted secrets; each becomes a token that must not leave its place.
    pub secrets: Vec<(String, Span)>,
    /// Files in the workspace, home, sibling and temp folders, by path.
    pub files: Vec<FileSpec>,
    /// Pages of the mock, by name.
    pub pages: IndexMap<String, Text>,
    /// The gates that pages wait for, by the page's name.
    pub page_gates: IndexMap<String, (String, Span)>,
    /// Policy, if it is set here.
    pub policy: Option<Policy>,
    /// Network, if it is set here.
    pub network: Option<Network>,
    /// Approver, if it is set here.
    pub approver: Option<Approver>,
    /// What the driver does.
    pub steps: Vec<Step>,
    /// What the scripted model says.
    pub model: Vec<TurnSpec>,
    /// Turns that fill a `slot` of the scenario's model.
    pub slots: IndexMap<String, Vec<TurnSpec>>,
    /// What must hold.
    pub expect: Vec<ExpectSpec>,
}

/// The folder of a case in which a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Zone {
    /// The agent's working folder.
    Workspace,
    /// A sibling of the workspace that the agent has no business in.
    Outside,
    /// The agent's home folder.
    Home,
    /// The temporary folder.
    Tmp,
}

impl Zone {
    /// All zones.
    pub const ALL: [Self; 4] = [Self::Workspace, Self::Outside, Self::Home, Self::Tmp];

    /// The folder's name in the case tree, and the key in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Outside => "outside",
            Self::Home => "home",
            Self::Tmp => "tmp",
        }
    }
}

/// A file that is there when the case starts.
#[derive(Debug, Clone)]
pub struct FileSpec {
    /// Its folder.
    pub zone: Zone,
    /// Path below the folder.
    pub path: Text,
    /// Contents.
    pub text: Text,
    /// Whether it may be executed.
    pub executable: bool,
}

/// What the agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Read only; everything else is refused.
    ReadOnly,
    /// Everything but reading asks first.
    Ask,
    /// Writes inside the workspace are free; the rest is refused or asks.
    Workspace,
    /// Everything is free.
    Full,
}

impl Policy {
    /// All policies with the names that scenarios and profiles use.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("read-only", Self::ReadOnly),
        ("ask", Self::Ask),
        ("workspace", Self::Workspace),
        ("full", Self::Full),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::Workspace => "workspace",
            Self::Full => "full",
        }
    }
}

/// Whether commands may use the network (loopback alone, as the case is confined).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// They may not.
    Denied,
    /// They may.
    Allowed,
}

impl Network {
    /// Both values with the names that scenarios use.
    pub const NAMES: [(&'static str, Self); 2] =
        [("denied", Self::Denied), ("allowed", Self::Allowed)];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Allowed => "allowed",
        }
    }
}

/// Who answers approval requests, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Approver {
    /// Every request is denied.
    Deny,
    /// Every request is allowed, once.
    Allow,
}

impl Approver {
    /// Both values with the names that scenarios use.
    pub const NAMES: [(&'static str, Self); 2] = [("deny", Self::Deny), ("allow", Self::Allow)];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Allow => "allow",
        }
    }
}

/// What an agent can do beyond one prompt and one answer; a profile declares it for each driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Asks a human before an action, through a channel that the driver can answer.
    Approvals,
    /// Loads project rule files.
    ProjectRules,
    /// Confines commands to the policy by code.
    Confinement,
    /// Takes a second prompt in the same session.
    SecondTurn,
    /// Takes a message in the middle of a turn.
    Steer,
    /// Can be interrupted.
    Interrupt,
    /// Can be told to compact.
    Compact,
    /// Compacts by itself when the usage that the model reports nears the window's size.
    CompactByUsage,
    /// Compacts by itself when the provider refuses a request because the window is full.
    CompactOnFullWindow,
    /// Can be resumed in a new process.
    Resume,
    /// Calls several tools in one reply.
    ParallelCalls,
    /// Runs the calls of one reply one after the other.
    CallsInOrder,
    /// Runs a command that only reads without a question, where it asks before others.
    UnaskedReads,
    /// Loads the rule files of every folder from the project's root to the one it starts in.
    NestedRules,
    /// Loads the rule file of a folder below the one it starts in once a file there is read.
    RulesOnTouch,
    /// Finds skills in the project and lists them.
    Skills,
    /// Hands a task to a sub-agent that samples for itself.
    SubAgents,
    /// Starts a session with what it was told to remember in an earlier one.
    Memory,
}

impl Capability {
    /// All capabilities with the names that scenarios and profiles use.
    pub const NAMES: [(&'static str, Self); 18] = [
        ("approvals", Self::Approvals),
        ("project-rules", Self::ProjectRules),
        ("confinement", Self::Confinement),
        ("second-turn", Self::SecondTurn),
        ("steer", Self::Steer),
        ("interrupt", Self::Interrupt),
        ("compact", Self::Compact),
        ("compact-by-usage", Self::CompactByUsage),
        ("compact-on-full-window", Self::CompactOnFullWindow),
        ("resume", Self::Resume),
        ("parallel-calls", Self::ParallelCalls),
        ("calls-in-order", Self::CallsInOrder),
        ("unasked-reads", Self::UnaskedReads),
        ("nested-rules", Self::NestedRules),
        ("rules-on-touch", Self::RulesOnTouch),
        ("skills", Self::Skills),
        ("sub-agents", Self::SubAgents),
        ("memory", Self::Memory),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| name)
    }
}

/// One reply of the scripted model.
#[derive(Debug, Clone)]
pub struct TurnSpec {
    /// For which cells of the matrix or personas it is said.
    pub when: When,
    /// Its name in messages; `turn N` when not given.
    pub name: Option<String>,
    /// Where the name stands, when it is given.
    pub name_span: Option<Span>,
    /// The purpose of the request it answers.
    pub purpose: Purpose,
    /// The gate it waits for.
    pub gate: Option<String>,
    /// Where the gate's name stands.
    pub gate_span: Option<Span>,
    /// What is said first; the gate then holds what follows.
    pub begin: Option<Text>,
    /// Reported usage.
    pub usage: ReportedUsage,
    /// What goes wrong with the reply.
    pub fault: Option<TurnFault>,
    /// What is said.
    pub kind: TurnKind,
    /// Where it stands.
    pub span: Span,
}

/// The usage that a reply reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedUsage {
    /// These figures.
    Figures(Usage),
    /// So much that the agent must compact before its next request; the profile has the figure.
    Full,
}

impl Default for ReportedUsage {
    fn default() -> Self {
        Self::Figures(Usage::default())
    }
}

/// What goes wrong with a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnFault {
    /// The first attempt is refused because the window is full, in the words of the wire; the next
    /// one gets the reply.
    FullWindow,
    /// Faults in the words of the mock.
    Scripted(Vec<FaultRule>),
}

/// What a reply consists of.
#[derive(Debug, Clone)]
pub enum TurnKind {
    /// Text.
    Say(Text),
    /// One or several tool calls in one reply.
    Calls(Vec<LogicalCall>),
    /// The dangerous call: it must be delivered and answered, or nothing is proved.
    Attempt(LogicalCall),
    /// The turns that a matrix value brings under this name.
    Slot(String),
}

/// A call of a logical tool.
#[derive(Debug, Clone)]
pub enum LogicalCall {
    /// Runs a command line.
    Shell {
        /// The command.
        command: Text,
    },
    /// Runs a command line, asking for more rights than the policy gives.
    Privileged {
        /// The command.
        command: Text,
    },
    /// Reads a file.
    Read {
        /// Its path.
        path: Text,
    },
    /// Writes a new file.
    Write {
        /// Its path.
        path: Text,
        /// Its contents.
        text: Text,
    },
    /// Replaces text in a file.
    Edit {
        /// Its path.
        path: Text,
        /// The line or lines replaced.
        old: Text,
        /// What stands there afterwards.
        new: Text,
    },
    /// Fetches a page.
    Fetch {
        /// Its address.
        url: Text,
    },
    /// Opens a skill.
    Skill {
        /// Its name.
        name: Text,
    },
    /// Hands a task to a sub-agent, and waits for its answer.
    Spawn {
        /// The task.
        task: Text,
    },
    /// Calls a tool that no agent offers, under its native name.
    Unoffered {
        /// The name.
        name: String,
        /// The arguments; strings in them are not expanded.
        arguments: Value,
    },
}

/// A condition on the case's axes; all must hold. Empty: always.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct When {
    /// For each axis named, the values under which it holds.
    pub axes: Vec<Axis>,
}

impl When {
    /// Whether the condition holds for a case with these axes and values.
    pub fn holds(&self, axes: &IndexMap<String, String>) -> bool {
        self.axes.iter().all(|condition| {
            axes.get(&condition.axis)
                .is_some_and(|actual| condition.values.iter().any(|(value, _)| value == actual))
        })
    }

    /// Whether the condition asks for this axis.
    pub fn names(&self, axis: &str) -> bool {
        self.axes.iter().any(|condition| condition.axis == axis)
    }
}

/// One axis of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "a condition's axis is called axis")]
pub struct Axis {
    /// The axis's name, such as `persona`.
    pub axis: String,
    /// Where the name stands.
    pub span: Span,
    /// The values, each with its place.
    pub values: Vec<(String, Span)>,
}

/// The permissive twin of a case: what it changes, and the effect that must be seen.
#[derive(Debug, Clone)]
pub struct ControlSpec {
    /// Its policy.
    pub policy: Policy,
    /// Its network.
    pub network: Network,
    /// Its approver.
    pub approver: Approver,
    /// What must be seen.
    pub expect: Vec<ExpectSpec>,
    /// Where it stands.
    pub span: Span,
}
