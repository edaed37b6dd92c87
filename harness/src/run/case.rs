//! One case from start to verdict: may it run, its own run, its control, the judgement.

use std::borrow::Cow;
use std::collections::BTreeSet;

use conform_mock_server::wire::Wire;
use conform_reports::record::{CaseRecord, ErrorKind, Metrics, RunEvidence, VariantName, Verdict};
use indexmap::IndexMap;

use super::pool::{Body, Finished, Interrupt, Kept, Options};
use super::session::{Session, SessionError};
use super::subject::Subject;
use crate::agent::profile::{Launch, Profile};
use crate::case::{Case, Variant};
use crate::check::{Bench, SkipReason, applicability, judge};
use crate::evidence::{Evidence, Normaliser, Patterns, normalised_body, run_evidence};
use crate::sandbox::CaseFolder;
use crate::scenario::Policy;

/// Runs a case as often as asked; repeats that disagree make it flaky. `None`: interrupted.
pub(super) async fn run_case(
    case: &Case,
    subject: &Subject,
    options: &Options,
    interrupt: &Interrupt,
) -> Option<Finished> {
    let case = &*with_known_policy(case, &subject.profile);
    let verdict_of = |launch, verdict| Finished::unseen(record(case, subject, launch, verdict));
    let (launch, wire) = match choose(case, subject) {
        Choice::Launch { launch, wire } => (launch, wire),
        Choice::Refused { preferred, reason } => {
            let verdict = Verdict::Skip { reason: reason.to_string() };
            return Some(verdict_of(Some(preferred), verdict));
        }
        Choice::NoDriver => {
            return Some(verdict_of(
                None,
                Verdict::Error {
                    kind: ErrorKind::ProfileDrift,
                    message: format!(
                        "the profile `{}` has no driver for this wire",
                        subject.profile.name
                    ),
                    help: "leave out --wire, or add the wire to a `[[drivers]]` table".to_owned(),
                },
            ));
        }
    };
    let error = |verdict| Some(verdict_of(Some(launch), verdict));
    if let Some(missing) = missing_program(case, &subject.path(options)) {
        return error(Verdict::Error {
            kind: ErrorKind::Prerequisite,
            message: format!("the scenario needs `{missing}`, which is not on this machine"),
            help: format!("install {missing} and run again"),
        });
    }
    let patterns = match Patterns::compile(&subject.profile) {
        Ok(patterns) => patterns,
        Err(problem) => {
            return error(Verdict::Error {
                kind: ErrorKind::ProfileDrift,
                message: problem.to_string(),
                help: "mend the profile; `conform check` looks at it".to_owned(),
            });
        }
    };
    let attempt = Attempt { case, subject, launch, wire, patterns: &patterns, options, interrupt };
    let mut first = attempt.run().await?;
    let mut verdicts = vec![outcome(&first.record.verdict)];
    for _ in 1..options.repeat {
        let again = attempt.run().await?;
        verdicts.push(outcome(&again.record.verdict));
        first.kept.extend(again.kept);
    }
    if verdicts.iter().any(|verdict| *verdict != verdicts[0]) {
        first.record.verdict = Verdict::Flaky { verdicts };
    }
    Some(first)
}

/// What repeats must agree in: the verdict's word, and which clauses are broken or what kind of
/// trouble there was.
fn outcome(verdict: &Verdict) -> String {
    let word = verdict.word();
    if let Verdict::Error { kind, .. } = verdict {
        return format!("{word} ({kind})");
    }
    let clauses: BTreeSet<&str> =
        verdict.findings().iter().map(|finding| finding.clause.as_str()).collect();
    if clauses.is_empty() {
        return word.to_owned();
    }
    format!("{word} ({})", clauses.into_iter().collect::<Vec<_>>().join(", "))
}

/// The case, under the policy `full` where the agent does not have the case's own and no policy
/// decides anything in it. It shows as much: where texts stand does not hang on what is forbidden.
fn with_known_policy<'c>(case: &'c Case, profile: &Profile) -> Cow<'c, Case> {
    let knows = |policy| profile.policy.contains_key(&policy);
    if knows(case.main.policy) || case.depends_on_policy() || !knows(Policy::Full) {
        return Cow::Borrowed(case);
    }
    let main = Variant { policy: Policy::Full, ..case.main.clone() };
    Cow::Owned(Case { main, ..case.clone() })
}

/// How a case can be put to an agent.
enum Choice<'s> {
    /// By this launch: the first of the profile that can do what the case needs.
    Launch { launch: &'s Launch, wire: Wire },
    /// Not at all; the reason is that of the preferred launch.
    Refused { preferred: &'s Launch, reason: SkipReason },
    /// The profile has no launch.
    NoDriver,
}

fn choose<'s>(case: &Case, subject: &'s Subject) -> Choice<'s> {
    let mut choice = Choice::NoDriver;
    for launch in &subject.profile.drivers {
        let Some(wire) = subject.wire(launch) else { continue };
        match (applicability(case, &subject.profile, launch), &choice) {
            (Ok(()), _) => return Choice::Launch { launch, wire },
            (Err(reason), Choice::NoDriver) => {
                choice = Choice::Refused { preferred: launch, reason };
            }
            (Err(_), _) => {}
        }
    }
    choice
}

/// A program that the case needs and that the agent would not find.
fn missing_program<'c>(case: &'c Case, path: &str) -> Option<&'c str> {
    let is_there = |program: &&String| {
        std::env::split_paths(path).any(|folder| folder.join(program).is_file())
    };
    case.needs.iter().find(|program| !is_there(program)).map(String::as_str)
}

/// One going through a case.
struct Attempt<'a> {
    case: &'a Case,
    subject: &'a Subject,
    launch: &'a Launch,
    wire: Wire,
    patterns: &'a Patterns,
    options: &'a Options,
    interrupt: &'a Interrupt,
}

impl Attempt<'_> {
    async fn run(&self) -> Option<Finished> {
        let mut kept = Vec::new();
        let finished = match self.sessions(&mut kept).await {
            Ok((main, control)) => self.finish(&main, control.as_ref()),
            Err((_, SessionError::Interrupted)) => return None,
            Err((variant, problem)) => {
                let verdict = Verdict::Error {
                    kind: problem.kind(),
                    message: format!("{variant} run: {problem}"),
                    help: problem.help().to_owned(),
                };
                Finished::unseen(record(self.case, self.subject, Some(self.launch), verdict))
            }
        };
        Some(Finished { kept, ..finished })
    }

    async fn sessions(
        &self,
        kept: &mut Vec<Kept>,
    ) -> Result<(Evidence, Option<Evidence>), (VariantName, SessionError)> {
        let main = self.session(&self.case.main, kept).await?;
        let control = match &self.case.control {
            Some(control) => Some(self.session(control, kept).await?),
            None => None,
        };
        Ok((main, control))
    }

    async fn session(
        &self,
        variant: &Variant,
        kept: &mut Vec<Kept>,
    ) -> Result<Evidence, (VariantName, SessionError)> {
        let session = Session {
            case: self.case,
            variant,
            subject: self.subject,
            launch: self.launch,
            wire: self.wire,
            patterns: self.patterns,
            options: self.options,
            interrupt: self.interrupt,
        };
        let fail = |problem: SessionError| (variant.name, problem);
        let mut folder = CaseFolder::create(&self.options.case_parent)
            .map_err(|problem| fail(problem.into()))?;
        let seen = session.run(&folder).await;
        // Nobody is told of a dropped case, so nothing of it stays.
        if self.options.keep && !matches!(seen, Err(SessionError::Interrupted)) {
            folder.keep();
            kept.push(Kept { variant: variant.name, folder: folder.root().to_owned() });
        }
        seen.map_err(fail)
    }

    fn finish(&self, main: &Evidence, control: Option<&Evidence>) -> Finished {
        let bench = Bench {
            profile: &self.subject.profile,
            patterns: self.patterns,
            capabilities: &self.launch.capabilities,
        };
        let judgement = judge(self.case, main, control, bench);
        let mut evidence: IndexMap<VariantName, RunEvidence> = IndexMap::new();
        let mut bodies = Vec::new();
        let runs = [Some((&self.case.main, main)), self.case.control.as_ref().zip(control)];
        for (variant, seen) in runs.into_iter().flatten() {
            let normaliser = Normaliser::new(self.patterns, &seen.places);
            evidence.insert(variant.name, run_evidence(seen, variant, &normaliser));
            bodies.extend(seen.requests.iter().map(|request| Body {
                variant: variant.name,
                number: request.number,
                json: normalised_body(request, &normaliser),
            }));
        }
        let record = CaseRecord {
            checks: judgement.checks,
            metrics: judgement.metrics,
            evidence,
            ..record(self.case, self.subject, Some(self.launch), judgement.verdict)
        };
        Finished { bodies, ..Finished::unseen(record) }
    }
}

/// The record of a case, without evidence.
fn record(case: &Case, subject: &Subject, launch: Option<&Launch>, verdict: Verdict) -> CaseRecord {
    CaseRecord {
        case: case.id.clone(),
        title: case.title.clone(),
        family: case.family.clone(),
        location: case.location.clone(),
        clause: case.clause.id().to_owned(),
        reports: case.reports.clone(),
        agent: subject.reference(launch),
        axes: case.axes.clone(),
        disposition: case.disposition.clone(),
        verdict,
        checks: Vec::new(),
        metrics: Metrics::default(),
        evidence: IndexMap::new(),
        timing: None,
    }
}
