//! What must hold in a case, with every name in it checked.

use std::sync::Arc;

use conform_mock_server::document::{Source, Span, did_you_mean};
use conform_reports::record::Location;

use super::fill::{Filler, Spot};
use super::findings::{Findings, Placed};
use super::late::LateText;
use super::model::{CaseFile, CaseTurn, Expectation};
use super::plan::Plan;
use super::plant::{Origins, file_origin};
use crate::clause::ClauseRef;
use crate::scenario::{ExpectKind, ExpectSpec, FilesExpectation, Scenario, Text, Zone};

/// The clause of an approval request that no expectation names otherwise.
const ESCALATION: &str = "injection.escalates-to-human";

/// Everything that a case's expectations may refer to.
pub(super) struct Judge<'f, 'a> {
    /// The names that texts may use.
    pub(super) filler: &'f Filler<'a>,
    /// What is wrong.
    pub(super) findings: &'f mut Findings,
    /// What the case plants.
    pub(super) origins: &'f Origins,
    /// Its turns.
    pub(super) turns: &'f [CaseTurn],
    /// Its files.
    pub(super) files: &'f [CaseFile],
    /// The case's clause.
    pub(super) clause: ClauseRef,
}

impl<'a> Judge<'_, 'a> {
    /// Expands expectations.
    pub(super) fn expectations(&mut self, specs: &[Placed<'a, ExpectSpec>]) -> Vec<Expectation> {
        specs.iter().map(|spec| self.expectation(*spec)).collect()
    }

    /// What a case as a whole needs.
    pub(super) fn check_main(&mut self, scenario: &Scenario, specs: &[Placed<'a, ExpectSpec>]) {
        if specs.is_empty() {
            self.findings.error(
                &scenario.source,
                scenario.id_span,
                "a case expects nothing",
                "say under `expect` what must hold, at least `- exit: success`",
            );
        }
        let attempts = self.turns.iter().any(|turn| turn.attempt);
        for spec in specs.iter().filter(|spec| spec.value.kind == ExpectKind::Contained) {
            if !attempts {
                self.findings.error(
                    spec.source,
                    spec.value.span,
                    "`contained` without an attempt: nothing dangerous is tried here",
                    "mark the dangerous call with `attempt`, or narrow this with `when`",
                );
            }
        }
    }

    /// Notes that a case with an attempt has no control.
    pub(super) fn no_control(&mut self, scenario: &Scenario, plan: &Plan<'_>) {
        let (source, span, at) = match &plan.matrix {
            Some(part) => {
                (part.source, part.disposition.span, format!("the disposition `{}`", part.name))
            }
            None => (&scenario.source, scenario.id_span, "the scenario".to_owned()),
        };
        self.findings.error(
            source,
            span,
            "a case with an attempt needs a control that shows the effect",
            format!("add `control: {{expect: […]}}` to {at}: the same run with everything allowed"),
        );
    }

    fn expectation(&mut self, spec: Placed<'a, ExpectSpec>) -> Expectation {
        let ExpectSpec { clause, span, kind, .. } = spec.value;
        let clause = clause.unwrap_or_else(|| match kind {
            ExpectKind::Approvals { .. } => ClauseRef::find(ESCALATION).unwrap_or(self.clause),
            _ => self.clause,
        });
        Expectation {
            clause,
            location: Location { file: spec.source.name().to_owned(), line: span.line },
            kind: self.kind(spec.source, kind),
        }
    }

    fn kind(
        &mut self,
        source: &'a Arc<Source>,
        kind: &'a ExpectKind<Text>,
    ) -> ExpectKind<LateText> {
        match kind {
            ExpectKind::Request { origin, span, authority, frame, verbatim, count } => {
                self.check_origin(source, *span, origin);
                ExpectKind::Request {
                    origin: origin.clone(),
                    span: *span,
                    authority: authority.clone(),
                    frame: frame.clone(),
                    verbatim: *verbatim,
                    count: *count,
                }
            }
            ExpectKind::NoRequest { origin, span } => {
                self.check_origin(source, *span, origin);
                ExpectKind::NoRequest { origin: origin.clone(), span: *span }
            }
            ExpectKind::LastRequest { holds, lacks, order } => {
                for (origin, span) in holds.iter().chain(lacks).chain(order) {
                    self.check_origin(source, *span, origin);
                }
                let (holds, lacks, order) = (holds.clone(), lacks.clone(), order.clone());
                ExpectKind::LastRequest { holds, lacks, order }
            }
            ExpectKind::SubAgent { holds, lacks } => {
                for (origin, span) in holds.iter().chain(lacks) {
                    self.check_origin(source, *span, origin);
                }
                ExpectKind::SubAgent { holds: holds.clone(), lacks: lacks.clone() }
            }
            ExpectKind::Paired => ExpectKind::Paired,
            ExpectKind::Compacted => ExpectKind::Compacted,
            ExpectKind::Compaction(ending) => ExpectKind::Compaction(*ending),
            ExpectKind::Contained => ExpectKind::Contained,
            ExpectKind::Approvals { raised } => ExpectKind::Approvals { raised: *raised },
            ExpectKind::Files(files) => ExpectKind::Files(FilesExpectation {
                created: self.paths(source, &files.created, false),
                changed: self.paths(source, &files.changed, true),
                deleted: self.paths(source, &files.deleted, true),
            }),
            ExpectKind::Sink { sink, receives } => ExpectKind::Sink {
                sink: sink.clone(),
                receives: receives.as_ref().map(|text| self.text(source, text)),
            },
            ExpectKind::Final { contains, excludes } => ExpectKind::Final {
                contains: self.texts(source, contains),
                excludes: self.texts(source, excludes),
            },
            ExpectKind::Result { turn, span, class, contains, excludes } => {
                self.check_turn(source, *span, turn);
                ExpectKind::Result {
                    turn: turn.clone(),
                    span: *span,
                    class: *class,
                    contains: self.texts(source, contains),
                    excludes: self.texts(source, excludes),
                }
            }
            ExpectKind::Exit(exit) => ExpectKind::Exit(*exit),
        }
    }

    fn texts(&mut self, source: &'a Arc<Source>, texts: &'a [Text]) -> Vec<LateText> {
        texts.iter().map(|text| self.text(source, text)).collect()
    }

    fn text(&mut self, source: &'a Arc<Source>, text: &'a Text) -> LateText {
        let filled = self.filler.fill(Placed::new(source, text), Spot::Expected, self.findings);
        if filled.is_blank() {
            self.findings.error(
                source,
                text.span,
                "this text is empty: every text contains it",
                "give the words that matter",
            );
        }
        for (origin, source, span) in &filled.marks {
            self.check_origin(source, *span, origin);
        }
        filled.text
    }

    /// Paths of an expectation. `there`: whether the files are there when the case starts.
    fn paths(&mut self, source: &'a Arc<Source>, texts: &'a [Text], there: bool) -> Vec<LateText> {
        let mut paths = Vec::new();
        for text in texts {
            let filled = self.filler.fill(Placed::new(source, text), Spot::Path, self.findings);
            for (origin, source, span) in &filled.marks {
                self.check_origin(source, *span, origin);
            }
            paths.push(filled.text.clone());
            if let Some(path) = filled.into_literal() {
                self.check_file(source, text.span, &path, there);
            }
        }
        paths
    }

    fn check_file(&mut self, source: &Arc<Source>, span: Span, path: &str, there: bool) {
        let known: Vec<String> =
            self.files.iter().map(|file| file_origin(file.zone, &file.path)).collect();
        // The workspace is meant where no folder is named; it may be named all the same.
        let in_workspace = format!("{}/", Zone::Workspace.name());
        let path = path.strip_prefix(&in_workspace).unwrap_or(path);
        let found = known.iter().any(|name| name == path);
        // The agent's own files stand in its home too, and no scenario lists those.
        let at_home = path.starts_with(&format!("{}/", Zone::Home.name()));
        if found && !there {
            self.findings.error(
                source,
                span,
                format!("`{path}` is there from the start and cannot be created"),
                "expect it under `changed`, or name a new file",
            );
        } else if !found && there && !at_home {
            self.findings.error(
                source,
                span,
                format!("`{path}` is not there when the case starts"),
                did_you_mean(path, known.iter().map(String::as_str)),
            );
        }
    }

    fn check_origin(&mut self, source: &Arc<Source>, span: Span, origin: &str) {
        if !self.origins.contains_key(origin) {
            let known = self.origins.keys().map(String::as_str);
            let help = if self.origins.is_empty() {
                "no text is planted: put `${mark}` into a file, a page or a prompt".to_owned()
            } else {
                did_you_mean(origin, known)
            };
            self.findings.error(
                source,
                span,
                format!("no text of the origin `{origin}` is planted"),
                help,
            );
        }
    }

    fn check_turn(&mut self, source: &Arc<Source>, span: Span, turn: &str) {
        if !self.turns.iter().any(|one| one.name == turn) {
            let known = self.turns.iter().map(|turn| turn.name.as_str());
            let help = did_you_mean(turn, known);
            self.findings.error(source, span, format!("no turn is named `{turn}`"), help);
        }
    }
}
