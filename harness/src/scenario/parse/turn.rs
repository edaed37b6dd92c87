//! The scripted model's turns and calls.

use conform_mock_server::document::{Fields, Node, NodeKind, Span, did_you_mean, one_of};
use conform_mock_server::script::{Purpose, Usage, faults};
use serde_json::{Map, Number, Value};

use super::Parser;
use crate::scenario::{LogicalCall, ReportedUsage, TurnFault, TurnKind, TurnSpec};

/// What a turn can be.
const KINDS: [&str; 5] = ["say", "call", "calls", "attempt", "slot"];
/// What can stand beside that.
const MODIFIERS: [&str; 7] = ["when", "name", "purpose", "gate", "begin", "usage", "fault"];
/// The logical tools.
const TOOLS: [&str; 9] =
    ["shell", "privileged", "read", "write", "edit", "fetch", "skill", "spawn", "unoffered"];

/// Whether a list of turns may hold a `slot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slots {
    /// It may: the scenario has a matrix.
    Filled,
    /// It may not: the scenario has no matrix that could fill one.
    NoMatrix,
    /// It may not: these turns fill a slot themselves.
    Nested,
}

impl Parser {
    /// A list of turns.
    pub(crate) fn turns(&mut self, node: &Node, what: &str, slots: Slots) -> Vec<TurnSpec> {
        let Some(items) = self.problems.list(node, what) else { return Vec::new() };
        if items.is_empty() {
            self.problems.error_with_help(
                node.span,
                format!("{what} holds no turn"),
                "the model says at least one thing, such as `- say: Done.`",
            );
        }
        items.iter().filter_map(|item| self.turn(item, slots)).collect()
    }

    fn turn(&mut self, node: &Node, slots: Slots) -> Option<TurnSpec> {
        let mut fields = Fields::of(node, "turn", &mut self.problems)?;
        let when = self.when(fields.optional("when"));
        let name = fields
            .optional("name")
            .and_then(|node| Some((self.line(node, "a turn's name")?, node.span)));
        let purpose = fields.optional("purpose").and_then(|node| self.word(node, "purpose"));
        let gate =
            fields.optional("gate").and_then(|node| Some((self.word(node, "gate")?, node.span)));
        let begin = fields
            .optional("begin")
            .and_then(|node| self.filled_template(node, "what is said first"));
        let usage = fields.optional("usage").map(|node| self.reported(node));
        let fault = fields.optional("fault").and_then(|node| self.fault(node));
        if let (Some(_), Some((_, gate))) = (&fault, &gate) {
            self.problems.error_with_help(
                *gate,
                "a turn with a fault cannot wait for a gate",
                "let another turn wait, or have the fault itself wait with `pause`",
            );
        }
        let found = self.exactly_one(node, &mut fields, "turn", (&KINDS, &MODIFIERS));
        let kind = found.and_then(|(kind, value)| self.turn_kind(kind, value, slots));
        let span = found.and_then(|(kind, _)| fields.key_span(kind)).unwrap_or(node.span);
        let (name, name_span) = name.unzip();
        let (gate, gate_span) = gate.unzip();
        if let Some(TurnKind::Slot(_)) = kind {
            for modifier in MODIFIERS.into_iter().filter(|name| *name != "when") {
                if let Some(span) = fields.key_span(modifier) {
                    self.problems.error_with_help(
                        span,
                        format!("`{modifier}` cannot stand beside `slot`"),
                        "set it at the turns that fill the slot",
                    );
                }
            }
        }
        fields.finish(&mut self.problems);
        Some(TurnSpec {
            when,
            name,
            name_span,
            purpose: purpose.map_or_else(Purpose::main, Purpose::new),
            gate,
            gate_span,
            begin,
            usage: usage.unwrap_or_default(),
            fault,
            kind: kind?,
            span,
        })
    }

    fn turn_kind(&mut self, kind: &str, node: &Node, slots: Slots) -> Option<TurnKind> {
        match kind {
            "say" => self.template(node, "what the model says").map(TurnKind::Say),
            "call" => self.call(node).map(|call| TurnKind::Calls(vec![call])),
            "attempt" => self.call(node).map(TurnKind::Attempt),
            "calls" => {
                let items = self.problems.list(node, "`calls`")?;
                if items.is_empty() {
                    self.problems.error(node.span, "`calls` holds no call");
                    return None;
                }
                let calls: Vec<_> = items.iter().filter_map(|item| self.call(item)).collect();
                Some(TurnKind::Calls(calls))
            }
            _ => {
                let name = self.word(node, "slot")?;
                match slots {
                    Slots::Filled => return Some(TurnKind::Slot(name)),
                    Slots::NoMatrix => self.problems.error_with_help(
                        node.span,
                        format!("nothing can fill the slot `{name}`: the scenario has no matrix"),
                        "name one with `matrix: …`, or write the turns here",
                    ),
                    Slots::Nested => self.problems.error_with_help(
                        node.span,
                        "a slot cannot be filled with another slot",
                        "write the turns here",
                    ),
                }
                None
            }
        }
    }

    fn call(&mut self, node: &Node) -> Option<LogicalCall> {
        let entries = self.problems.map(node, "a call")?;
        let [(tool, value)] = entries else {
            let message = format!("a call names one tool, but this names {}", entries.len());
            let help = if entries.is_empty() {
                one_of(TOOLS)
            } else {
                "several calls in one reply are written `calls: [{…}, {…}]`".to_owned()
            };
            self.problems.error_with_help(node.span, message, help);
            return None;
        };
        match tool.name.as_str() {
            "shell" => {
                let command = self.filled_template(value, "a command")?;
                Some(LogicalCall::Shell { command })
            }
            "privileged" => {
                let command = self.filled_template(value, "a command")?;
                Some(LogicalCall::Privileged { command })
            }
            "read" => Some(LogicalCall::Read { path: self.filled_template(value, "a path")? }),
            "fetch" => Some(LogicalCall::Fetch { url: self.filled_template(value, "an address")? }),
            "skill" => Some(LogicalCall::Skill { name: self.filled_template(value, "a skill")? }),
            "spawn" => Some(LogicalCall::Spawn { task: self.filled_template(value, "a task")? }),
            "write" => self.write(value),
            "edit" => self.edit(value),
            "unoffered" => self.unoffered(value),
            other => {
                self.problems.error_with_help(
                    tool.span,
                    format!("unknown logical tool `{other}`"),
                    did_you_mean(other, TOOLS),
                );
                None
            }
        }
    }

    fn write(&mut self, node: &Node) -> Option<LogicalCall> {
        let mut fields = Fields::of(node, "write", &mut self.problems)?;
        let path = fields
            .required("path", &mut self.problems)
            .and_then(|node| self.filled_template(node, "a path"));
        let text = fields
            .required("text", &mut self.problems)
            .and_then(|node| self.template(node, "the text written"));
        fields.finish(&mut self.problems);
        Some(LogicalCall::Write { path: path?, text: text? })
    }

    fn edit(&mut self, node: &Node) -> Option<LogicalCall> {
        let mut fields = Fields::of(node, "edit", &mut self.problems)?;
        let path = fields
            .required("path", &mut self.problems)
            .and_then(|node| self.filled_template(node, "a path"));
        let old = fields
            .required("old", &mut self.problems)
            .and_then(|node| self.filled_template(node, "the text replaced"));
        let new = fields
            .required("new", &mut self.problems)
            .and_then(|node| self.template(node, "the new text"));
        fields.finish(&mut self.problems);
        Some(LogicalCall::Edit { path: path?, old: old?, new: new? })
    }

    fn unoffered(&mut self, node: &Node) -> Option<LogicalCall> {
        let mut fields = Fields::of(node, "unoffered", &mut self.problems)?;
        let name = fields
            .required("name", &mut self.problems)
            .and_then(|node| self.line(node, "a tool's name"));
        let arguments = match fields.optional("arguments") {
            None => Value::Object(Map::new()),
            Some(node) => {
                self.problems.map(node, "`arguments`")?;
                json(node)
            }
        };
        fields.finish(&mut self.problems);
        Some(LogicalCall::Unoffered { name: name?, arguments })
    }

    fn reported(&mut self, node: &Node) -> ReportedUsage {
        match &node.kind {
            NodeKind::Text(text) if text == "full" => ReportedUsage::Full,
            NodeKind::Text(text) => {
                self.problems.error_with_help(
                    node.span,
                    format!("`{text}` is no usage"),
                    "write `full` or figures, such as `{input: 100, output: 20}`",
                );
                ReportedUsage::default()
            }
            _ => ReportedUsage::Figures(self.usage(node)),
        }
    }

    /// A logical fault by its name, or faults in the words of the mock.
    fn fault(&mut self, node: &Node) -> Option<TurnFault> {
        if let NodeKind::Text(_) = &node.kind {
            let found = self.problems.choice(node, "fault", &[("full-window", ())]);
            return found.map(|()| TurnFault::FullWindow);
        }
        faults(node, &mut self.problems).map(TurnFault::Scripted)
    }

    fn usage(&mut self, node: &Node) -> Usage {
        let mut usage = Usage::default();
        let Some(mut fields) = Fields::of(node, "usage", &mut self.problems) else { return usage };
        for (name, field) in [
            ("input", &mut usage.input),
            ("cached", &mut usage.cached),
            ("output", &mut usage.output),
            ("reasoning", &mut usage.reasoning),
        ] {
            if let Some(count) =
                fields.optional(name).and_then(|node| self.problems.count(node, "a token count"))
            {
                *field = count;
            }
        }
        fields.finish(&mut self.problems);
        for (part, whole, names) in [
            (usage.cached, usage.input, ("cached", "input")),
            (usage.reasoning, usage.output, ("reasoning", "output")),
        ] {
            if part > whole {
                self.problems.error(
                    value_span(node, names.0),
                    format!(
                        "`{}` is a part of `{}` ({whole}) and cannot exceed it",
                        names.0, names.1
                    ),
                );
            }
        }
        usage
    }
}

fn value_span(node: &Node, name: &str) -> Span {
    let NodeKind::Map(entries) = &node.kind else { return node.span };
    entries.iter().find(|(key, _)| key.name == name).map_or(node.span, |(_, value)| value.span)
}

/// The node as JSON.
fn json(node: &Node) -> Value {
    match &node.kind {
        NodeKind::Null => Value::Null,
        NodeKind::Bool(value) => Value::Bool(*value),
        NodeKind::Int(value) => Value::from(*value),
        // JSON has no infinity and no NaN; they become null as in JavaScript.
        NodeKind::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        NodeKind::Text(text) => Value::String(text.clone()),
        NodeKind::List(items) => Value::Array(items.iter().map(json).collect()),
        NodeKind::Map(entries) => Value::Object(
            entries.iter().map(|(key, value)| (key.name.clone(), json(value))).collect(),
        ),
    }
}
