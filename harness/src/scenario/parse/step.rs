//! The steps: prompts and what is said during them, writes, compaction, resumption.

use conform_mock_server::document::{Fields, Node, Span};

use super::Parser;
use crate::scenario::{InterjectionSpec, Moment, Said, Step, Text};

/// What a step can be.
const KINDS: [&str; 4] = ["user", "write", "compact", "resume"];
/// What can stand beside that.
const MODIFIERS: [&str; 1] = ["during"];
/// What can be said during a turn.
const SAID: [&str; 2] = ["steer", "interrupt"];
/// When.
const MOMENTS: [&str; 2] = ["when-asked", "when-fetched"];
/// All that can stand in an interjection.
const INTERJECTION: [&str; 5] = ["when", "when-asked", "when-fetched", "steer", "interrupt"];

impl Parser {
    /// One step.
    pub(super) fn step(&mut self, node: &Node) -> Option<Step> {
        let mut fields = Fields::of(node, "step", &mut self.problems)?;
        let during = fields.optional("during");
        let found = self.exactly_one(node, &mut fields, "step", (&KINDS, &MODIFIERS));
        let span = found.and_then(|(kind, _)| fields.key_span(kind)).unwrap_or(node.span);
        if let (Some((kind, _)), Some(at)) = (found, fields.key_span("during"))
            && kind != "user"
        {
            self.problems.error_with_help(
                at,
                format!("`during` cannot stand beside `{kind}`"),
                "something is said during a prompt's turn: put it beside `user`",
            );
        }
        fields.finish(&mut self.problems);
        let (kind, value) = found?;
        match kind {
            "user" => {
                let text = self.filled_template(value, "a prompt");
                let said = self.items(during, "`during`");
                let during = said.iter().filter_map(|node| self.interjection(node)).collect();
                Some(Step::User { text: text?, during })
            }
            "write" => self.written(value),
            "compact" => self.flag(value, kind).then_some(Step::Compact(span)),
            _ => self.flag(value, kind).then_some(Step::Resume(span)),
        }
    }

    fn written(&mut self, node: &Node) -> Option<Step> {
        let mut fields = Fields::of(node, "write", &mut self.problems)?;
        let path = fields
            .required("path", &mut self.problems)
            .and_then(|node| self.filled_template(node, "a path"));
        let text = fields
            .required("text", &mut self.problems)
            .and_then(|node| self.template(node, "a file's contents"));
        fields.finish(&mut self.problems);
        Some(Step::Write { path: path?, text: text? })
    }

    fn interjection(&mut self, node: &Node) -> Option<InterjectionSpec> {
        let mut fields = Fields::of(node, "interjection", &mut self.problems)?;
        let when = self.when(fields.optional("when"));
        let moment = self.exactly_one(
            node,
            &mut fields,
            "what is said during a turn",
            (&MOMENTS, &INTERJECTION),
        );
        let said = self.exactly_one(
            node,
            &mut fields,
            "what is said during a turn",
            (&SAID, &INTERJECTION),
        );
        fields.finish(&mut self.problems);
        let moment = moment.and_then(|(kind, node)| self.moment(kind, node));
        let said = said.and_then(|(kind, node)| self.said(kind, node));
        let (moment, moment_span) = moment?;
        Some(InterjectionSpec { when, moment, moment_span, said: said? })
    }

    fn moment(&mut self, kind: &str, node: &Node) -> Option<(Moment, Span)> {
        let moment = match kind {
            "when-asked" => Moment::Asked(self.line(node, "a turn's name")?),
            _ => Moment::Fetched(self.line(node, "a page's name")?),
        };
        Some((moment, node.span))
    }

    fn said(&mut self, kind: &str, node: &Node) -> Option<Said<Text>> {
        match kind {
            "steer" => self.filled_template(node, "a steer").map(Said::Steer),
            _ => self.flag(node, kind).then_some(Said::Interrupt),
        }
    }

    /// Whether the flag says `true`, the one thing that it can say.
    pub(super) fn flag(&mut self, node: &Node, name: &str) -> bool {
        match self.problems.boolean(node, &format!("`{name}`")) {
            Some(false) => {
                self.problems.error_with_help(
                    node.span,
                    format!("`{name}: false` does nothing"),
                    "leave it out",
                );
                false
            }
            Some(true) => true,
            None => false,
        }
    }
}
