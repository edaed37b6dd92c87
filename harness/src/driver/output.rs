//! Reading the final text and the success of a turn from standard output.

use std::collections::BTreeMap;

use conform_reports::record::Exit;
use serde_json::Value;

use super::context::{Limits, shortened};
use super::dialogue::TurnOutcome;
use super::transcript::{Lines, Transcript};
use crate::agent::profile::OutputRule;

/// Reads one turn's output as it comes, so that a final line counts however much stood before it.
#[derive(Debug)]
pub(super) struct OutputReader<'a> {
    rule: &'a OutputRule,
    text: Transcript,
    lines: Lines,
    final_text: Option<String>,
    failed: bool,
    succeeded: bool,
    events: usize,
    garbage: Option<String>,
}

/// What was read of one turn.
#[derive(Debug)]
pub(super) struct TurnOutput {
    /// The outcome.
    pub(super) outcome: TurnOutcome,
    /// Everything that was written.
    pub(super) text: Transcript,
    /// The first line, shortened, where not one line of the output was an event.
    pub(super) unreadable: Option<String>,
}

impl<'a> OutputReader<'a> {
    /// Nothing read yet.
    pub(super) fn new(rule: &'a OutputRule, limits: Limits) -> Self {
        Self {
            rule,
            text: Transcript::new(limits),
            lines: Lines::new(limits),
            final_text: None,
            failed: false,
            succeeded: false,
            events: 0,
            garbage: None,
        }
    }

    /// Adds what was written.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.text.push(bytes);
        if matches!(self.rule, OutputRule::Jsonl { .. }) {
            self.lines.push(bytes);
            while let Some(line) = self.lines.next() {
                self.read_line(&line);
            }
        }
    }

    /// The outcome of the turn, whose process ended so.
    pub(super) fn finish(mut self, exit: &Exit) -> TurnOutput {
        if let Some(line) = self.lines.rest() {
            self.read_line(&line);
        }
        let ended_well = *exit == Exit::Status { status: 0 };
        let outcome = match self.rule {
            OutputRule::Text => {
                let text = String::from_utf8_lossy(self.text.kept());
                let text = text.trim_end_matches(['\r', '\n']);
                TurnOutcome {
                    succeeded: ended_well,
                    final_text: Some(text.to_owned()).filter(|text| !text.trim().is_empty()),
                }
            }
            OutputRule::Jsonl { succeeded, .. } => TurnOutcome {
                succeeded: !self.failed
                    && if succeeded.is_some() { self.succeeded } else { ended_well },
                final_text: self.final_text,
            },
        };
        let unreadable = self.garbage.filter(|_| self.events == 0);
        TurnOutput { outcome, text: self.text, unreadable }
    }

    /// A line that is not JSON says nothing: agents write warnings between their events.
    fn read_line(&mut self, line: &[u8]) {
        let OutputRule::Jsonl { final_text, failed, succeeded } = self.rule else { return };
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            self.garbage.get_or_insert_with(|| shortened(line));
            return;
        };
        self.events += 1;
        if matches(&final_text.matches, &value)
            && let Some(text) = value.pointer(&final_text.text).and_then(Value::as_str)
        {
            self.final_text = Some(text.to_owned());
        }
        self.failed |= failed.as_ref().is_some_and(|rule| matches(&rule.matches, &value));
        self.succeeded |= succeeded.as_ref().is_some_and(|rule| matches(&rule.matches, &value));
    }
}

fn matches(rule: &BTreeMap<String, String>, value: &Value) -> bool {
    rule.iter().all(|(pointer, expected)| {
        value.pointer(pointer).and_then(Value::as_str) == Some(expected.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jsonl(succeeded: bool) -> OutputRule {
        let succeeded = if succeeded { "succeeded.where = { '/type' = 'done' }" } else { "" };
        let text = format!(
            "format = 'jsonl'\n\
            failed.where = {{ '/type' = 'failed' }}\n{succeeded}\n\
            [final-text]\n\
            where = {{ '/type' = 'item', '/item/kind' = 'message' }}\n\
            text = '/item/text'\n"
        );
        toml::from_str(&text).unwrap()
    }

    fn read(rule: &OutputRule, output: &str, status: i32) -> (bool, Option<String>) {
        let mut reader = OutputReader::new(rule, Limits { output: 200, ..Limits::default() });
        for part in output.as_bytes().chunks(7) {
            reader.push(part);
        }
        let TurnOutput { outcome, .. } = reader.finish(&Exit::Status { status });
        (outcome.succeeded, outcome.final_text)
    }

    const FIRST: &str = r#"{"type":"item","item":{"kind":"message","text":"one"}}"#;
    const OTHER: &str = r#"{"type":"item","item":{"kind":"tool","text":"no"}}"#;
    const LAST: &str = r#"{"type":"item","item":{"kind":"message","text":"two"}}"#;

    #[test]
    fn the_last_matching_line_counts() {
        let output = format!("{FIRST}\n{OTHER}\n{LAST}\n{OTHER}\n");
        assert_eq!(read(&jsonl(false), &output, 0), (true, Some("two".to_owned())));
    }

    #[test]
    fn garbage_is_passed_over_and_gives_no_text() {
        let output = format!("warning: {{\n{FIRST}\n[1,\n\u{fffd}\nnull\n");
        assert_eq!(read(&jsonl(false), &output, 0), (true, Some("one".to_owned())));
        assert_eq!(read(&jsonl(false), "garbage\n{\n", 0), (true, None));
        assert_eq!(read(&jsonl(false), "", 1), (false, None));
    }

    #[test]
    fn output_without_a_single_event_is_unreadable() {
        let unreadable = |output: &str| {
            let rule = jsonl(false);
            let mut reader = OutputReader::new(&rule, Limits::default());
            reader.push(output.as_bytes());
            reader.finish(&Exit::Status { status: 0 }).unreadable
        };
        assert_eq!(unreadable("<html>\n{\n").as_deref(), Some("<html>"));
        assert_eq!(unreadable("warning\n{}\n"), None);
        assert_eq!(unreadable(""), None, "silence is no garbage");
    }

    #[test]
    fn the_last_line_needs_no_end_and_may_stand_after_the_limit() {
        let output = format!("{}{LAST}", "{\"filler\":true}\n".repeat(100));
        assert_eq!(read(&jsonl(false), &output, 0), (true, Some("two".to_owned())));
    }

    #[test]
    fn success_is_what_the_rule_says() {
        let (done, failed) = ("{\"type\":\"done\"}\n", "{\"type\":\"failed\"}\n");
        assert!(read(&jsonl(true), done, 0).0);
        assert!(!read(&jsonl(true), "", 0).0, "no line says so");
        assert!(!read(&jsonl(true), &format!("{failed}{done}"), 0).0);
        assert!(!read(&jsonl(false), failed, 0).0);
        assert!(!read(&jsonl(false), "", 2).0);
    }

    #[test]
    fn plain_text_is_taken_whole() {
        let text = OutputRule::Text;
        assert_eq!(read(&text, "one\ntwo\n\n", 0), (true, Some("one\ntwo".to_owned())));
        assert_eq!(read(&text, "said\n", 3), (false, Some("said".to_owned())));
        assert_eq!(read(&text, " \n", 0), (true, None));
    }
}
