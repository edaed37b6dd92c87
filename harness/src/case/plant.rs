//! Expands files, pages, steps and turns, and notes every text that they plant.

use std::sync::Arc;

use conform_mock_server::document::Source;
use indexmap::{IndexMap, IndexSet};

use super::fill::{Filled, Filler, Spot};
use super::findings::{Findings, Placed};
use super::late::LateText;
use super::merge::both_values;
use super::model::{CaseCall, CaseFile, CaseTurn, CaseTurnKind, OriginSource};
use super::plan::{Layer, Plan};
use crate::scenario::{FileSpec, LogicalCall, Scenario, Text, TurnKind, TurnSpec, Zone};

/// The longest name of a file or folder, in bytes.
const LONGEST_NAME: usize = 255;

/// The purpose of requests for a summary that takes the history's place.
const COMPACTION: &str = "compaction";

/// Origins by name, with every place where they were planted.
pub(super) type Origins = IndexMap<String, Vec<(OriginSource, LateText)>>;

/// Expands the texts of one case.
pub(super) struct Planter<'f, 'a> {
    /// The names that texts may use.
    pub(super) filler: Filler<'a>,
    /// What is wrong.
    pub(super) findings: &'f mut Findings,
    /// What was planted so far.
    pub(super) origins: Origins,
}

impl<'a> Planter<'_, 'a> {
    /// The scenario's title and those of the matrix values.
    pub(super) fn title(&mut self, scenario: &'a Scenario, plan: &Plan<'a>) -> String {
        let text = Placed::new(&scenario.source, &scenario.title);
        let title = self.filler.fill(text, Spot::Title, self.findings).text.display();
        if plan.titles.is_empty() { title } else { format!("{title}: {}", plan.titles.join(", ")) }
    }

    /// Fills a text and notes the origins that it plants.
    pub(super) fn plant(
        &mut self,
        text: Placed<'a, Text>,
        spot: Spot<'_>,
        source: &OriginSource,
    ) -> LateText {
        let filled = self.filler.fill(text, spot, self.findings);
        self.note(&filled, source);
        filled.text
    }

    pub(super) fn note(&mut self, filled: &Filled<'_>, source: &OriginSource) {
        for (origin, _, _) in &filled.marks {
            let planted = self.origins.entry(origin.clone()).or_default();
            let place = (source.clone(), filled.text.clone());
            if !planted.contains(&place) {
                planted.push(place);
            }
        }
    }

    /// The files, a later layer's in place of an earlier one's.
    pub(super) fn files(&mut self, specs: &[(Layer<'a>, &'a FileSpec)]) -> Vec<CaseFile> {
        // A file that a later layer replaces plants nothing, so paths come first, contents after.
        let mut paths: IndexMap<(Zone, String), (Layer<'a>, &'a FileSpec, Filled<'a>)> =
            IndexMap::new();
        for (layer, spec) in specs {
            let text = Placed::new(layer.source, &spec.path);
            let filled = self.filler.fill(text, Spot::Path, self.findings);
            let Some(path) = filled.clone().into_literal() else { continue };
            if let Err(reason) = check_path(&path) {
                self.findings.error(
                    layer.source,
                    spec.path.span,
                    format!("`{path}` cannot be a file: {reason}"),
                    format!("give a path below `{}`, such as `src/main.rs`", spec.zone.name()),
                );
                continue;
            }
            if let Some((earlier, _, _)) = paths.get(&(spec.zone, path.clone())) {
                let name = format!("the file `{}/{path}`", spec.zone.name());
                let message = match both_values(earlier, layer) {
                    Some(values) => Some(format!("{values} both bring {name}")),
                    None => same_layer(earlier, layer).then(|| format!("{name} stands here twice")),
                };
                if let Some(message) = message {
                    let help = "let one of them bring it, or give it two names";
                    self.findings.error(layer.source, spec.path.span, message, help);
                }
            }
            paths.insert((spec.zone, path), (*layer, spec, filled));
        }
        for (zone, path) in paths.keys() {
            let parent = |(other_zone, other): &&(Zone, String)| {
                other_zone == zone
                    && path.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with('/'))
            };
            if let Some((_, other)) = paths.keys().find(parent)
                && let Some((layer, spec, _)) = paths.get(&(*zone, path.clone()))
            {
                self.findings.error(
                    layer.source,
                    spec.path.span,
                    format!("`{path}` cannot be a file: `{other}` is one already, not a folder"),
                    "rename one of them",
                );
            }
        }
        paths
            .into_iter()
            .map(|((zone, path), (layer, spec, name))| {
                self.note(&name, &OriginSource::FileName { zone, path: path.clone() });
                let origin = file_origin(zone, &path);
                let source = OriginSource::File { zone, path: path.clone() };
                let text = self.plant(
                    Placed::new(layer.source, &spec.text),
                    Spot::Planted(&origin),
                    &source,
                );
                CaseFile { zone, path, text, executable: spec.executable }
            })
            .collect()
    }

    /// The folder in which the agent starts is there: a file of the workspace stands below it.
    pub(super) fn check_start(&mut self, scenario: &Scenario, files: &[CaseFile]) {
        let Some((folder, span)) = &scenario.start else { return };
        if let Err(reason) = check_path(folder) {
            let message = format!("the agent cannot start in `{folder}`: {reason}");
            let help = "name a folder below `workspace`, such as `packages/app`";
            self.findings.error(&scenario.source, *span, message, help);
            return;
        }
        let below = format!("{folder}/");
        let holds = |file: &CaseFile| file.zone == Zone::Workspace && file.path.starts_with(&below);
        if !files.iter().any(holds) {
            let message = format!("the agent cannot start in `{folder}`: no file stands below it");
            self.findings.error(&scenario.source, *span, message, "add one under `workspace`");
        }
    }

    /// The pages.
    pub(super) fn pages(
        &mut self,
        pages: &IndexMap<&'a str, Placed<'a, Text>>,
    ) -> IndexMap<String, LateText> {
        pages
            .iter()
            .map(|(name, text)| {
                let origin = format!("page:{name}");
                let source = OriginSource::Page((*name).to_owned());
                ((*name).to_owned(), self.plant(*text, Spot::Planted(&origin), &source))
            })
            .collect()
    }

    /// The turns, all named.
    pub(super) fn turns(&mut self, specs: &[Placed<'a, TurnSpec>]) -> Vec<CaseTurn> {
        let mut names: IndexSet<String> = IndexSet::new();
        let mut turns = Vec::new();
        for (index, spec) in specs.iter().enumerate() {
            let TurnSpec {
                name, name_span, purpose, gate, begin, usage, fault, kind, span, ..
            } = spec.value;
            let name = name.clone().unwrap_or_else(|| format!("turn {}", index + 1));
            if !names.insert(name.clone()) {
                self.findings.error(
                    spec.source,
                    name_span.unwrap_or(*span),
                    format!("two turns of a case are named `{name}`"),
                    "give this one another name",
                );
            }
            let begin =
                begin.as_ref().map(|text| self.model_text(spec.source, text, &OriginSource::Model));
            // A summary stands for the conversation, and no higher than the user.
            let said = if purpose.as_str() == COMPACTION {
                OriginSource::Summary
            } else {
                OriginSource::Model
            };
            let (kind, attempt) = match kind {
                TurnKind::Say(text) => {
                    (CaseTurnKind::Say(self.model_text(spec.source, text, &said)), false)
                }
                TurnKind::Calls(calls) => {
                    let calls = calls.iter().map(|call| self.call(spec.source, call)).collect();
                    (CaseTurnKind::Calls(calls), false)
                }
                TurnKind::Attempt(call) => {
                    (CaseTurnKind::Calls(vec![self.call(spec.source, call)]), true)
                }
                // Merging has put the turns that fill a slot in its place.
                TurnKind::Slot(_) => continue,
            };
            turns.push(CaseTurn {
                name,
                purpose: purpose.clone(),
                gate: gate.clone(),
                begin,
                usage: *usage,
                fault: fault.clone(),
                kind,
                attempt,
            });
        }
        turns
    }

    fn model_text(
        &mut self,
        source: &'a Arc<Source>,
        text: &'a Text,
        said: &OriginSource,
    ) -> LateText {
        self.plant(Placed::new(source, text), Spot::Model, said)
    }

    fn call(&mut self, source: &'a Arc<Source>, call: &'a LogicalCall) -> CaseCall {
        let (tool, arguments): (_, Vec<(_, &Text)>) = match call {
            LogicalCall::Shell { command } => ("shell", vec![("command", command)]),
            LogicalCall::Privileged { command } => ("privileged", vec![("command", command)]),
            LogicalCall::Read { path } => ("read", vec![("path", path)]),
            LogicalCall::Write { path, text } => ("write", vec![("path", path), ("text", text)]),
            LogicalCall::Edit { path, old, new } => {
                ("edit", vec![("path", path), ("old", old), ("new", new)])
            }
            LogicalCall::Fetch { url } => ("fetch", vec![("url", url)]),
            LogicalCall::Skill { name } => ("skill", vec![("name", name)]),
            LogicalCall::Spawn { task } => ("spawn", vec![("task", task)]),
            LogicalCall::Unoffered { name, arguments } => {
                return CaseCall::Unoffered { name: name.clone(), arguments: arguments.clone() };
            }
        };
        let arguments = arguments
            .into_iter()
            .map(|(name, text)| {
                let filled =
                    self.filler.fill(Placed::new(source, text), Spot::Model, self.findings);
                if filled.is_blank() && !["text", "new"].contains(&name) {
                    let message = format!("`{name}` of this call is empty");
                    self.findings.error(source, text.span, message, "");
                }
                // To the sub-agent, its task is what the user says.
                let said = if name == "task" { OriginSource::Task } else { OriginSource::Model };
                self.note(&filled, &said);
                (name, filled.text)
            })
            .collect();
        CaseCall::Logical { tool, arguments }
    }
}

fn same_layer(first: &Layer<'_>, second: &Layer<'_>) -> bool {
    std::ptr::eq(first.fragment, second.fragment)
}

/// A file's own origin: its path, and before it the folder unless that is the workspace.
pub(super) fn file_origin(zone: Zone, path: &str) -> String {
    match zone {
        Zone::Workspace => path.to_owned(),
        zone => format!("{}/{path}", zone.name()),
    }
}

/// Whether a path names a file below its folder, in one way only.
pub(super) fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("it is empty");
    }
    if path.starts_with('/') {
        return Err("it is absolute");
    }
    if path.contains('\0') {
        return Err("it holds a NUL character");
    }
    for part in path.split('/') {
        match part {
            "" => return Err("it holds an empty part"),
            "." | ".." => return Err("it holds `.` or `..`"),
            long if long.len() > LONGEST_NAME => {
                return Err("a part of it is longer than the 255 bytes that file systems allow");
            }
            _ => {}
        }
    }
    Ok(())
}
