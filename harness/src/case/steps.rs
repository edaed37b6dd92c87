//! Expands the steps, and checks that they and the model's turns fit each other.

use std::sync::Arc;

use conform_mock_server::document::{Source, Span, did_you_mean};

use super::fill::Spot;
use super::findings::Placed;
use super::late::LateText;
use super::merge::Merged;
use super::model::{CaseTurn, OriginSource};
use super::plan::Plan;
use super::plant::{Planter, check_path, file_origin};
use super::step::{CaseInterjection, CaseStep};
use crate::scenario::{
    Capability, InterjectionSpec, Moment, Said, Scenario, Step, Text, TurnKind, TurnSpec, Zone,
    numbered,
};

/// How many there were of each thing that is numbered.
#[derive(Debug, Default)]
struct Counts {
    prompts: usize,
    steers: usize,
    interrupts: usize,
}

impl<'a> Planter<'_, 'a> {
    /// The steps.
    pub(super) fn steps(
        &mut self,
        scenario: &Scenario,
        plan: &Plan<'a>,
        steps: &[Placed<'a, Step>],
    ) -> Vec<CaseStep> {
        let mut counts = Counts::default();
        let expanded: Vec<CaseStep> = steps
            .iter()
            .filter_map(|step| self.step(step.source, step.value, plan, &mut counts))
            .collect();
        if counts.prompts == 0 {
            self.findings.error(
                &scenario.source,
                scenario.id_span,
                "no step: the user says nothing",
                "add `steps: [{user: …}]`",
            );
        }
        expanded
    }

    fn step(
        &mut self,
        source: &'a Arc<Source>,
        step: &'a Step,
        plan: &Plan<'a>,
        counts: &mut Counts,
    ) -> Option<CaseStep> {
        let too_early = |span: &Span, what: &str| {
            (counts.prompts == 0).then(|| (*span, format!("nothing was said that could be {what}")))
        };
        let early = match step {
            Step::Compact(span) => too_early(span, "compacted"),
            Step::Resume(span) => too_early(span, "resumed"),
            Step::User { .. } | Step::Write { .. } => None,
        };
        if let Some((span, message)) = early {
            self.findings.error(source, span, message, "let the user say something before it");
        }
        match step {
            Step::User { text, during } => {
                counts.prompts += 1;
                let text = self.typed(source, text, &numbered("user", counts.prompts), "prompt");
                let during = during
                    .iter()
                    .filter(|spec| spec.when.holds(&plan.axes))
                    .map(|spec| self.interjection(source, spec, counts))
                    .collect();
                Some(CaseStep::User { text, during })
            }
            Step::Write { path, text } => self.written(source, path, text),
            Step::Compact(_) => Some(CaseStep::Compact),
            Step::Resume(_) => Some(CaseStep::Resume),
        }
    }

    fn interjection(
        &mut self,
        source: &'a Arc<Source>,
        spec: &'a InterjectionSpec,
        counts: &mut Counts,
    ) -> CaseInterjection {
        let (said, gate) = match &spec.said {
            Said::Steer(text) => {
                counts.steers += 1;
                let origin = numbered("steer", counts.steers);
                let text = self.typed(source, text, &origin, "steer");
                (Said::Steer(text), spec.said.gate(counts.steers))
            }
            Said::Interrupt => {
                counts.interrupts += 1;
                (Said::Interrupt, spec.said.gate(counts.interrupts))
            }
        };
        CaseInterjection { moment: spec.moment.clone(), said, gate }
    }

    /// The user's own words.
    fn typed(
        &mut self,
        source: &'a Arc<Source>,
        text: &'a Text,
        origin: &str,
        what: &str,
    ) -> LateText {
        let filled =
            self.filler.fill(Placed::new(source, text), Spot::Planted(origin), self.findings);
        if filled.is_blank() {
            self.findings.error(source, text.span, format!("this {what} is empty"), "");
        }
        self.note(&filled, &OriginSource::User);
        filled.text
    }

    fn written(
        &mut self,
        source: &'a Arc<Source>,
        path: &'a Text,
        text: &'a Text,
    ) -> Option<CaseStep> {
        let filled = self.filler.fill(Placed::new(source, path), Spot::Path, self.findings);
        let name = filled.into_literal()?;
        if let Err(reason) = check_path(&name) {
            self.findings.error(
                source,
                path.span,
                format!("`{name}` cannot be a file: {reason}"),
                "give a path below `workspace`, such as `src/main.rs`",
            );
            return None;
        }
        let zone = Zone::Workspace;
        let origin = format!("{}-2", file_origin(zone, &name));
        let place = OriginSource::File { zone, path: name.clone() };
        let text = self.plant(Placed::new(source, text), Spot::Planted(&origin), &place);
        Some(CaseStep::Write { path: name, text })
    }

    /// Each moment is one of this case and lasts until what is said is taken, and each gate opens
    /// at one.
    pub(super) fn check_moments(
        &mut self,
        merged: &Merged<'a>,
        plan: &Plan<'a>,
        turns: &[CaseTurn],
        steps: &[CaseStep],
    ) {
        let expanded = steps.iter().flat_map(|step| {
            let during = step.during();
            during.iter().enumerate().map(move |(at, said)| (said, &during[at..]))
        });
        let written = merged.steps.iter().flat_map(|step| {
            let during = match step.value {
                Step::User { during, .. } => during.as_slice(),
                _ => &[],
            };
            let said = during.iter().filter(|spec| spec.when.holds(&plan.axes));
            said.map(|spec| (step.source, spec.moment_span))
        });
        let mut gates: Vec<&str> = Vec::new();
        for ((said, rest), at) in expanded.zip(written) {
            gates.push(&said.gate);
            self.check_moment(merged, turns, (said, rest), at);
        }
        let of_turns = merged.turns.iter().filter_map(|turn| {
            Some((turn.source, turn.value.gate.as_deref()?, turn.value.gate_span?))
        });
        let of_pages = merged.page_gates.values().copied();
        for (source, gate, span) in of_turns.chain(of_pages) {
            if !gates.contains(&gate) {
                let help = if gates.is_empty() {
                    "a gate opens when the agent has taken a steer or an interrupt: say one with \
                     `during` beside a prompt"
                        .to_owned()
                } else {
                    did_you_mean(gate, gates.iter().copied())
                };
                self.findings.error(source, span, format!("nothing opens `{gate}`"), help);
            }
        }
    }

    /// `rest` is what is said from this moment on during the same turn.
    fn check_moment(
        &mut self,
        merged: &Merged<'a>,
        turns: &[CaseTurn],
        (said, rest): (&CaseInterjection, &[CaseInterjection]),
        (source, span): (&Arc<Source>, Span),
    ) {
        let holds = |gate: &str| rest.iter().any(|later| later.gate == gate);
        let (what, known, waits) = match &said.moment {
            Moment::Asked(name) => {
                let turn = turns.iter().find(|turn| turn.name == *name);
                let known: Vec<&str> = turns.iter().map(|turn| turn.name.as_str()).collect();
                let waits = turn.map(|turn| turn.gate.as_deref().is_some_and(holds));
                (format!("turn is named `{name}`"), known, waits)
            }
            Moment::Fetched(name) => {
                let gate = merged.page_gates.get(name.as_str()).map(|(_, gate, _)| *gate);
                let is_there = merged.pages.contains_key(name.as_str());
                // What stops a turn need not be waited for: the call that fetched may go on for ever.
                let waits = gate.is_some_and(holds) || said.said == Said::Interrupt;
                let known = merged.pages.keys().copied().collect();
                (format!("page is named `{name}`"), known, is_there.then_some(waits))
            }
        };
        match waits {
            Some(true) => {}
            Some(false) => self.findings.error(
                source,
                span,
                "what is said at this moment may come too late",
                format!("let the turn or page wait until it is taken: `gate: {}`", said.gate),
            ),
            None if known.is_empty() => {
                self.findings.error(source, span, format!("no {what}"), "add it");
            }
            None => self.findings.error(
                source,
                span,
                format!("no {what}"),
                did_you_mean_any(&said.moment, known),
            ),
        }
    }

    /// Each prompt's turn ends with one `say`, unless the user stops it: fewer leave the agent
    /// without an answer, more are never asked for, and a call at the end has nothing after its
    /// result. A steer may lead to one more.
    pub(super) fn check_answers(
        &mut self,
        scenario: &Scenario,
        steps: &[CaseStep],
        turns: &[Placed<'a, TurnSpec>],
    ) {
        let main: Vec<_> = turns.iter().filter(|turn| turn.value.purpose.is_main()).collect();
        let says = |turn: &&&Placed<'a, TurnSpec>| matches!(turn.value.kind, TurnKind::Say(_));
        let Some(last) = main.last() else {
            self.findings.error(
                &scenario.source,
                scenario.id_span,
                "the model says nothing in the main conversation",
                "let it end with `- say: …`",
            );
            return;
        };
        let prompts: Vec<_> =
            steps.iter().filter(|step| matches!(step, CaseStep::User { .. })).collect();
        let stopped = prompts.iter().filter(|step| step.is_interrupted()).count();
        let stopped_last = prompts.last().is_some_and(|step| step.is_interrupted());
        if !says(&last) && !stopped_last {
            self.findings.error(
                last.source,
                last.value.span,
                "the model's last turn is a call: nothing answers its result",
                "end with `- say: …`",
            );
            return;
        }
        let answers = main.iter().filter(says).count();
        let steers = steps.iter().map(|step| step.typed().count()).sum::<usize>() - prompts.len();
        let fewest = prompts.len() - stopped;
        if !(fewest..=prompts.len() + steers).contains(&answers) && !prompts.is_empty() {
            self.findings.error(
                last.source,
                last.value.span,
                format!(
                    "{} but {}",
                    counted(prompts.len(), "prompt"),
                    counted(answers, "final answer")
                ),
                "the model says one final text for each prompt, since a `say` ends its turn",
            );
        }
    }
}

/// What an agent must be able to do so that these steps can be made.
pub(super) fn needed(steps: &[CaseStep]) -> Vec<Capability> {
    let mut needed = Vec::new();
    let mut prompts = 0;
    for step in steps {
        match step {
            CaseStep::User { during, .. } => {
                prompts += 1;
                if prompts > 1 {
                    needed.push(Capability::SecondTurn);
                }
                needed.extend(during.iter().map(|one| match one.said {
                    Said::Steer(_) => Capability::Steer,
                    Said::Interrupt => Capability::Interrupt,
                }));
            }
            CaseStep::Write { .. } => {}
            CaseStep::Compact => needed.push(Capability::Compact),
            CaseStep::Resume => {
                needed.push(Capability::Resume);
                // The next prompt is the new process's first.
                prompts = 0;
            }
        }
    }
    needed
}

fn did_you_mean_any(moment: &Moment, known: Vec<&str>) -> String {
    let (Moment::Asked(name) | Moment::Fetched(name)) = moment;
    did_you_mean(name, known)
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
