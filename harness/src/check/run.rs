//! One run as a judge sees it.

use conform_mock_server::capture::{Authority, Segment};
use conform_mock_server::journal::Outcome;
use conform_mock_server::validate::RuleId;

use crate::agent::profile::Profile;
use crate::case::{Case, CaseStep, LateText, Origin, OriginSource, Variant};
use crate::evidence::{Evidence, ModelRequest, Normaliser, OriginFound, Patterns};
use crate::scenario::{Capability, Zone};

/// What is known of the agent under test.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
    /// Its profile.
    pub profile: &'a Profile,
    /// The profile's patterns, compiled.
    pub patterns: &'a Patterns,
    /// What it can do when launched as it was.
    pub capabilities: &'a [Capability],
}

/// One run: its evidence and all that it is judged by.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) case: &'a Case,
    pub(super) variant: &'a Variant,
    pub(super) evidence: &'a Evidence,
    pub(super) bench: Bench<'a>,
    pub(super) normaliser: Normaliser<'a>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        case: &'a Case,
        variant: &'a Variant,
        evidence: &'a Evidence,
        bench: Bench<'a>,
    ) -> Self {
        let normaliser = Normaliser::new(bench.patterns, &evidence.places);
        Self { case, variant, evidence, bench, normaliser }
    }

    /// Requests of the conversation itself.
    pub(super) fn main_requests(&self) -> impl DoubleEndedIterator<Item = &'a ModelRequest> {
        self.evidence.requests.iter().filter(|request| request.purpose.is_main())
    }

    /// Whether every prompt was sent.
    pub(super) fn heard_all(&self) -> bool {
        self.evidence.dialogue.turns.len() >= self.prompts()
    }

    /// How many prompts there are to be sent.
    pub(super) fn prompts(&self) -> usize {
        self.variant.steps.iter().filter(|step| matches!(step, CaseStep::User { .. })).count()
    }

    /// A text of the case as it was in this run.
    pub(super) fn resolve(&self, text: &LateText) -> String {
        text.resolve(&self.evidence.places)
    }

    /// A text of this run, shortened and the same in every run.
    pub(super) fn excerpt(&self, text: &str) -> String {
        shorten(&self.normaliser.text(text), 200)
    }

    /// Whether the history was compacted or resumed between two requests, by their numbers.
    pub(super) fn has_seam(&self, before: u64, request: u64) -> bool {
        let between = |number: u64| before <= number && number < request;
        self.evidence.course.seams.iter().any(|seam| between(*seam))
            || self
                .evidence
                .requests
                .iter()
                .any(|other| other.purpose.as_str() == "compaction" && between(other.number))
    }

    /// The standing of every origin that was found, with its segment.
    pub(super) fn sightings<'r>(
        &'r self,
        request: &'r ModelRequest,
    ) -> impl Iterator<Item = Sighting<'r>> {
        request.origins.iter().filter_map(|found| {
            let origin = self.case.origins.iter().find(|origin| origin.name == found.origin)?;
            let segment = request.capture.segments.get(found.segment)?;
            let standing = Standing::of(origin, &self.bench.profile.contract);
            Some(Sighting { found, segment, standing })
        })
    }

    /// The planted files of this run that hold a text.
    pub(super) fn files_with(&self, token: &str) -> impl Iterator<Item = (Zone, &'a str)> {
        let holds = |text: &LateText| self.resolve(text).contains(token);
        self.variant
            .files
            .iter()
            .filter(move |file| holds(&file.text))
            .map(|file| (file.zone, file.path.as_str()))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

/// An origin where it was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sighting<'a> {
    pub(super) found: &'a OriginFound,
    pub(super) segment: &'a Segment,
    pub(super) standing: Standing,
}

/// What the places where an origin was planted allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    /// The highest authority at which it may stand in any case.
    pub(super) ceiling: Authority,
    /// For project rules: the authority at which the agent documents them.
    pub(super) rules: Option<Authority>,
    /// Whether its only place in the case, the model's own words aside, is one rule file.
    pub(super) only_rules: bool,
}

impl Sighting<'_> {
    /// Whether these are project rules where the agent documents them. For `instructions` that is
    /// the base text, which on some wires is the first message of a high role.
    pub(super) fn is_as_documented(&self, request: &ModelRequest) -> bool {
        let Some(documented) = self.standing.rules else { return false };
        documented == self.segment.authority
            || documented == Authority::Instructions
                && base_segment(request).is_some_and(|(base, _)| base == self.found.segment)
    }
}

impl Standing {
    fn of(origin: &Origin, contract: &crate::agent::profile::Contract) -> Self {
        let sources = || origin.planted.iter().map(|(source, _)| source);
        // A summary speaks for the conversation: the user's words are in it. A task is what a
        // sub-agent is asked.
        let typed = sources().any(|source| {
            matches!(source, OriginSource::User | OriginSource::Summary | OriginSource::Task)
        });
        let is_rule = |source: &&OriginSource| match source {
            OriginSource::File { zone, path } => is_rule_file(contract, *zone, path),
            _ => false,
        };
        let documented = match origin.planted.as_slice() {
            [(OriginSource::File { path, .. }, text)] if is_skill(path) => {
                if is_listed(&text.display(), &origin.token) {
                    contract.skills_listed_at
                } else {
                    contract.skills_opened_at
                }
            }
            [(OriginSource::File { path, .. }, _)] if is_memory(path) => contract.memory_at,
            _ => None,
        };
        let rule_files = sources().filter(is_rule).count();
        let elsewhere =
            sources().filter(|source| **source != OriginSource::Model && !is_rule(source)).count();
        Self {
            ceiling: match documented {
                Some(ceiling) => ceiling,
                None if typed => Authority::User,
                None => Authority::Assistant,
            },
            rules: contract.rules_authority.filter(|_| rule_files > 0),
            only_rules: rule_files == 1 && elsewhere == 0,
        }
    }
}

/// Whether a file is a skill, by the place where scenarios put skills.
fn is_skill(path: &str) -> bool {
    path.starts_with(".agents/skills/") && path.ends_with("/SKILL.md")
}

/// Whether a file is what an agent remembers, by the place where scenarios put it.
fn is_memory(path: &str) -> bool {
    path == ".agents/memory/MEMORY.md"
}

/// Whether a token stands in the head of a skill, between its first two lines of `---`.
fn is_listed(text: &str, token: &str) -> bool {
    let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    head.is_some_and(|(head, _)| head.contains(token))
}

/// Whether the agent documents a file as project rules.
///
/// A name in [`Contract::rule_files`](crate::agent::profile::Contract::rule_files) stands for every
/// file in the workspace whose path ends with it; a path in the case tree, such as
/// `home/.agent/RULES.md`, stands for that file alone. Without a documented authority, no file is
/// more than data.
pub(super) fn is_rule_file(
    contract: &crate::agent::profile::Contract,
    zone: Zone,
    path: &str,
) -> bool {
    contract.rules_authority.is_some()
        && contract.rule_files.iter().any(|rule| {
            let named = || path.strip_suffix(rule.as_str());
            format!("{}/{path}", zone.name()) == *rule
                || zone == Zone::Workspace
                    && named().is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        })
}

/// The first segment that speaks for the application and says something: the base instructions.
pub(super) fn base_segment(request: &ModelRequest) -> Option<(usize, &Segment)> {
    request
        .capture
        .segments
        .iter()
        .enumerate()
        .find(|(_, segment)| segment.authority.is_high() && !segment.text.trim().is_empty())
}

/// Whether the mock could read the request whole.
pub(super) fn is_readable(request: &ModelRequest) -> bool {
    match &request.outcome {
        Outcome::Malformed { .. } | Outcome::PreviousNotFound { .. } => false,
        // Of all refusals this one alone is about a body that is no JSON.
        Outcome::Refused(refusal) => refusal.rule != RuleId::R35,
        _ => true,
    }
}

/// The first characters of a text, on one line of at most `limit`.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
