//! A case: everything known before it runs.

use conform_mock_server::script::Purpose;
use conform_reports::record::{Location, VariantName};
use indexmap::IndexMap;
use serde_json::Value;

use super::late::LateText;
use super::step::CaseStep;
use crate::clause::ClauseRef;
use crate::scenario::{
    Approver, Capability, ExpectKind, Network, Policy, ReportedUsage, TurnFault, Zone,
};

/// One scenario in one cell.
#[derive(Debug, Clone)]
pub struct Case {
    /// Stable id: the scenario's id and the values of its axes, joined by dots.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// The family.
    pub family: String,
    /// Where the scenario stands.
    pub location: Location,
    /// The clause served.
    pub clause: ClauseRef,
    /// Public reports reproduced.
    pub reports: Vec<String>,
    /// Axes and their values, persona included.
    pub axes: IndexMap<String, String>,
    /// The expected disposition, for a matrix case.
    pub disposition: Option<String>,
    /// What the agent must be able to do.
    pub requires: Vec<Capability>,
    /// Programs that must be on the machine.
    pub needs: Vec<String>,
    /// Planted texts.
    pub origins: Vec<Origin>,
    /// Planted secrets.
    pub secrets: Vec<Secret>,
    /// The case's own run.
    pub main: Variant,
    /// Its permissive twin.
    pub control: Option<Variant>,
}

impl Case {
    /// Whether the policy decides anything in it: something is attempted, a twin with another policy
    /// is compared with it, or somebody is to be asked.
    pub fn depends_on_policy(&self) -> bool {
        self.control.is_some()
            || self.main.turns.iter().any(|turn| turn.attempt)
            || self
                .main
                .expect
                .iter()
                .any(|expected| matches!(expected.kind, ExpectKind::Approvals { raised: 1.. }))
    }
}

/// A planted text, found again by its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Its name.
    pub name: String,
    /// Its token.
    pub token: String,
    /// The places where it was planted, each with the whole text planted there.
    pub planted: Vec<(OriginSource, LateText)>,
}

/// Where a text was planted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OriginSource {
    /// In the user's own words.
    User,
    /// In a file's contents.
    File {
        /// Its folder.
        zone: Zone,
        /// Its path below the folder.
        path: String,
    },
    /// In a file's name.
    FileName {
        /// Its folder.
        zone: Zone,
        /// Its path below the folder.
        path: String,
    },
    /// In a page.
    Page(String),
    /// In the scripted model's own words or calls.
    Model,
    /// In the task that the scripted model hands to a sub-agent.
    Task,
    /// In the scripted model's summary of the conversation.
    Summary,
}

/// A planted secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its name.
    pub name: String,
    /// Its token.
    pub token: String,
}

/// One run of a case.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Which.
    pub name: VariantName,
    /// Files that are there at the start.
    pub files: Vec<CaseFile>,
    /// Pages of the mock, by name.
    pub pages: IndexMap<String, LateText>,
    /// The gates that pages wait for, by the page's name.
    pub page_gates: IndexMap<String, String>,
    /// Policy.
    pub policy: Policy,
    /// Network.
    pub network: Network,
    /// Approver.
    pub approver: Approver,
    /// The folder of the workspace in which the agent starts; `None`: the workspace itself.
    pub start: Option<String>,
    /// What the user and the harness do.
    pub steps: Vec<CaseStep>,
    /// What the scripted model says.
    pub turns: Vec<CaseTurn>,
    /// What must hold.
    pub expect: Vec<Expectation>,
}

/// A file that is there at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFile {
    /// Its folder.
    pub zone: Zone,
    /// Its path below the folder.
    pub path: String,
    /// Contents.
    pub text: LateText,
    /// Whether it may be executed.
    pub executable: bool,
}

/// One reply of the scripted model.
#[derive(Debug, Clone)]
pub struct CaseTurn {
    /// Its name, unique in the case.
    pub name: String,
    /// The purpose of the request it answers.
    pub purpose: Purpose,
    /// The gate it waits for.
    pub gate: Option<String>,
    /// What is said first; the gate then holds what follows.
    pub begin: Option<LateText>,
    /// Reported usage.
    pub usage: ReportedUsage,
    /// What goes wrong with the reply.
    pub fault: Option<TurnFault>,
    /// What is said.
    pub kind: CaseTurnKind,
    /// Whether it is the dangerous call that must be delivered and answered.
    pub attempt: bool,
}

/// What a reply consists of.
#[derive(Debug, Clone)]
pub enum CaseTurnKind {
    /// Text.
    Say(LateText),
    /// Tool calls.
    Calls(Vec<CaseCall>),
}

/// A call of a logical tool.
#[derive(Debug, Clone)]
pub enum CaseCall {
    /// A logical tool with its arguments by name, in the words that profiles lower.
    Logical {
        /// `shell`, `privileged`, `read`, `write`, `edit`, `fetch`, `skill` or `spawn`.
        tool: &'static str,
        /// Arguments: `command`; `path`; `path`, `text`; `path`, `old`, `new`; `url`; `name`; `task`.
        arguments: IndexMap<&'static str, LateText>,
    },
    /// A tool that no agent offers, under its native name.
    Unoffered {
        /// The name.
        name: String,
        /// The arguments.
        arguments: Value,
    },
}

/// One expectation of a case.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The clause it serves.
    pub clause: ClauseRef,
    /// The line that asks for it.
    pub location: Location,
    /// What is expected.
    pub kind: ExpectKind<LateText>,
}
