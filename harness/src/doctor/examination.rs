//! What the doctor found.

use std::collections::BTreeMap;

use conform_reports::record::{
    CaseRecord, ErrorKind, Finding, RequestRecord, VariantName, Verdict,
};
use serde::Serialize;

use super::cases::Question;

/// What was found about an agent, for each driver and wire.
#[derive(Debug, Clone, Serialize)]
pub struct Examination {
    /// Profile name.
    pub agent: String,
    /// Version, as installed.
    pub version: String,
    /// What is started.
    pub executable: String,
    /// What runs it, if it is a script.
    pub interpreter: Option<String>,
    /// How the agent was confined.
    pub isolation: String,
    /// The policies that the profile expresses.
    pub policies: Vec<&'static str>,
    /// Each driver with each of its wires, in the profile's order.
    pub launches: Vec<LaunchExamination>,
}

/// What was found with one driver over one wire.
#[derive(Debug, Clone, Serialize)]
pub struct LaunchExamination {
    /// The driver.
    pub driver: &'static str,
    /// The wire.
    pub wire: &'static str,
    /// What was asked, and what it came to.
    pub answers: Vec<(Question, Answer)>,
    /// Logical tools and the native tools that the profile names for them.
    pub lowered: Vec<(String, String)>,
    /// The tools that the agent offered to the model, as it names them.
    pub offered: Vec<String>,
    /// Where the project rules stood; `None`: nowhere.
    pub rules: Option<TextFound>,
    /// Where what was remembered stood; `None`: nowhere.
    pub memory: Option<TextFound>,
    /// Requests that were recognised as no part of the conversation: purposes and how many.
    pub side_requests: BTreeMap<String, usize>,
    /// Capabilities that the profile declares for this driver. They are not tried.
    pub declared: Vec<&'static str>,
}

/// What a question came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Answer {
    /// It works.
    Works,
    /// It cannot be asked of the agent.
    NotAsked {
        /// Why.
        why: String,
    },
    /// It does not work, or not as the profile says.
    Fails {
        /// What kind of trouble, such as `profile drift`.
        kind: String,
        /// What happened.
        message: String,
        /// The next step.
        help: String,
    },
}

/// Where a planted text stood in the first request that held it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextFound {
    /// The authority.
    pub authority: String,
    /// The markup around them, the outermost first.
    pub frame: Vec<String>,
}

impl Examination {
    /// Whether all that could be asked works, a plain turn among it with each driver.
    pub fn all_works(&self) -> bool {
        !self.launches.is_empty() && self.launches.iter().all(LaunchExamination::all_works)
    }
}

impl LaunchExamination {
    fn all_works(&self) -> bool {
        let nothing_fails =
            self.answers.iter().all(|(_, answer)| !matches!(answer, Answer::Fails { .. }));
        nothing_fails && self.answers.contains(&(Question::Plain, Answer::Works))
    }

    /// Offered tools that no logical tool stands for.
    pub fn unused(&self) -> Vec<&str> {
        let used = |tool: &String| self.lowered.iter().any(|(_, native)| native == tool);
        self.offered.iter().filter(|tool| !used(tool)).map(String::as_str).collect()
    }

    /// Takes note of a finished case.
    pub(super) fn note(&mut self, question: Question, record: &CaseRecord) {
        let requests = record.evidence.get(&VariantName::Main).map_or(&[][..], |run| &run.requests);
        for request in requests {
            if request.purpose == "main" {
                for tool in &request.tools {
                    if !self.offered.contains(tool) {
                        self.offered.push(tool.clone());
                    }
                }
            } else {
                *self.side_requests.entry(request.purpose.clone()).or_default() += 1;
            }
        }
        let found = |origin| requests.iter().find_map(|request| text(request, origin));
        match question {
            Question::Rules => self.rules = found("AGENTS.md"),
            Question::Memory => self.memory = found(".agents/memory/MEMORY.md"),
            Question::Plain | Question::Tool(_) => {}
        }
        self.answers.push((question, answer(question, &record.verdict)));
    }
}

fn answer(question: Question, verdict: &Verdict) -> Answer {
    let fails = |kind: String, message: String, help: String| Answer::Fails { kind, message, help };
    match verdict {
        Verdict::Pass => Answer::Works,
        Verdict::Skip { reason } => Answer::NotAsked { why: reason.clone() },
        Verdict::Error { kind, message, help } => {
            fails(kind.to_string(), message.clone(), help.clone())
        }
        Verdict::Fail { findings } | Verdict::Known { findings, .. } => {
            let said = |found: &Finding| {
                format!("expected {}, seen {} ({})", found.expected, found.seen, found.clause)
            };
            let message = findings.iter().map(said).collect::<Vec<_>>().join("; ");
            let (kind, help) = match question {
                // What is expected there is what the profile says.
                Question::Rules | Question::Memory => (
                    ErrorKind::ProfileDrift.to_string(),
                    "if the agent documents it so, correct the profile's [contract]; if not, the \
                     agent breaks this clause",
                ),
                Question::Plain | Question::Tool(_) => (
                    "clause broken".to_owned(),
                    "`conform explain CLAUSE` names the cases that show the evidence",
                ),
            };
            fails(kind, message, help.to_owned())
        }
        Verdict::Flaky { verdicts } => {
            let help = "examine it again; a machine under load can be the reason";
            fails("flaky".to_owned(), verdicts.join(", "), help.to_owned())
        }
    }
}

/// Where the planted text of a file stands in a request.
fn text(request: &RequestRecord, origin: &str) -> Option<TextFound> {
    request.segments.iter().find_map(|segment| {
        let seen = segment.origins.iter().find(|seen| seen.origin == origin)?;
        Some(TextFound { authority: segment.authority.clone(), frame: seen.frame.clone() })
    })
}
