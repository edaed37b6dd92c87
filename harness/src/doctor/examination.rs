//! What the doctor found.

use std::collections::BTreeMap;

use conform_mock_server::capture::Authority;
use conform_reports::record::{CaseRecord, RequestRecord, VariantName, Verdict};
use serde::Serialize;

use super::cases::Question;
use crate::agent::profile::{Contract, Profile};

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
    pub rules: Option<RulesFound>,
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

/// Where project rules stood in the first request that held them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RulesFound {
    /// The authority.
    pub authority: String,
    /// Whether they stand in the base text: what speaks first for the application.
    pub in_base: bool,
    /// The markup around them, the outermost first.
    pub frame: Vec<String>,
}

impl Examination {
    /// Whether all that could be asked works.
    pub fn all_works(&self) -> bool {
        let answers = self.launches.iter().flat_map(|launch| &launch.answers);
        answers.into_iter().all(|(_, answer)| !matches!(answer, Answer::Fails { .. }))
    }
}

impl LaunchExamination {
    /// Offered tools that no logical tool stands for.
    pub fn unused(&self) -> Vec<&str> {
        let used = |tool: &String| self.lowered.iter().any(|(_, native)| native == tool);
        self.offered.iter().filter(|tool| !used(tool)).map(String::as_str).collect()
    }

    /// Takes note of a finished case.
    pub(super) fn note(&mut self, question: Question, record: &CaseRecord, profile: &Profile) {
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
        let mut answer = answer(&record.verdict);
        if question == Question::Rules {
            self.rules = requests.iter().find_map(rules);
            if let (Answer::Works, Some(found)) = (&answer, &self.rules) {
                answer = held_against(&profile.contract, found);
            }
        }
        self.answers.push((question, answer));
    }
}

fn answer(verdict: &Verdict) -> Answer {
    let fails = |kind: String, message: String, help: String| Answer::Fails { kind, message, help };
    match verdict {
        Verdict::Pass => Answer::Works,
        Verdict::Skip { reason } => Answer::NotAsked { why: reason.clone() },
        Verdict::Error { kind, message, help } => {
            fails(kind.to_string(), message.clone(), help.clone())
        }
        Verdict::Fail { findings } | Verdict::Known { findings, .. } => {
            let texts: Vec<String> = findings
                .iter()
                .map(|found| {
                    format!("{}: expected {}, seen {}", found.clause, found.expected, found.seen)
                })
                .collect();
            let help = "`conform run` with the scenarios of this clause shows the evidence";
            fails("clause broken".to_owned(), texts.join("; "), help.to_owned())
        }
        Verdict::Flaky { verdicts } => {
            let help = "examine it again; a machine under load can be the reason";
            fails("flaky".to_owned(), verdicts.join(", "), help.to_owned())
        }
    }
}

/// Where the planted rules stand in a request.
fn rules(request: &RequestRecord) -> Option<RulesFound> {
    let high = [Authority::Developer, Authority::System, Authority::Instructions];
    let is_high = |authority: &str| high.iter().any(|known| known.name() == authority);
    let mut segments = request.segments.iter().filter(|segment| segment.characters > 0);
    let base = segments.find(|segment| is_high(&segment.authority));
    request.segments.iter().find_map(|segment| {
        let seen = segment.origins.iter().find(|seen| seen.origin == "AGENTS.md")?;
        Some(RulesFound {
            authority: segment.authority.clone(),
            in_base: base.is_some_and(|base| base.pointer == segment.pointer),
            frame: seen.frame.clone(),
        })
    })
}

/// Whether the rules stand where the contract says; what it does not say is not held against them.
fn held_against(contract: &Contract, found: &RulesFound) -> Answer {
    let mut drift = Vec::new();
    if let Some(documented) = contract.rules_authority
        && documented.name() != found.authority
        // On a wire without that field, the base text is the first message of a high role.
        && !(documented == Authority::Instructions && found.in_base)
    {
        drift.push(format!(
            "project rules stand at the authority `{}`, and `contract.rules-authority` says `{}`",
            found.authority,
            documented.name()
        ));
    }
    if let Some(frame) = &contract.rules_frame
        && !found.frame.contains(frame)
    {
        let around = match found.frame.as_slice() {
            [] => "no frame".to_owned(),
            frames => format!("`{}`", frames.join("` in `")),
        };
        drift.push(format!(
            "project rules stand in {around}, and `contract.rules-frame` says `{frame}`"
        ));
    }
    if drift.is_empty() {
        return Answer::Works;
    }
    Answer::Fails {
        kind: "profile drift".to_owned(),
        message: drift.join("; "),
        help: "see what the agent's documentation says of this version, and correct the profile's \
               [contract] if it is that"
            .to_owned(),
    }
}
