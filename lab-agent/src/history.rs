//! The history of a session: wire items, each with where it came from.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where an item came from. The wire's role says who speaks; this says why the item is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Origin {
    /// Permissions, project rules and environment: made anew at start, resume and compaction.
    Context,
    /// A prompt or steer of the user.
    User,
    /// An output item of the model, as it came.
    Model,
    /// The result of a call.
    Result,
    /// The summary of a compacted history.
    Summary,
}

/// One item of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) origin: Origin,
    pub(crate) item: Value,
}

impl Entry {
    pub(crate) fn new(origin: Origin, item: Value) -> Self {
        Self { origin, item }
    }
}

/// Everything that the next request is made of, apart from instructions and tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct History {
    entries: Vec<Entry>,
    /// Every call id of the session, also of calls that a compaction has taken out.
    seen_calls: BTreeSet<String>,
}

impl History {
    /// The items in order, as `input` wants them.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().map(|entry| &entry.item)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn push(&mut self, origin: Origin, item: Value) {
        self.entries.push(Entry::new(origin, item));
    }

    pub(crate) fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.entries.extend(entries);
    }

    /// Notes a call id; false if the session has seen it before.
    pub(crate) fn note_call(&mut self, call_id: &str) -> bool {
        self.seen_calls.insert(call_id.to_owned())
    }

    /// Appends text to the last entry if that is a result: the defect `steer-in-result`.
    pub(crate) fn append_to_last_result(&mut self, text: &str) -> bool {
        if let Some(Entry { origin: Origin::Result, item }) = self.entries.last_mut()
            && let Some(Value::String(output)) = item.get_mut("output")
        {
            output.push('\n');
            output.push_str(text);
            return true;
        }
        false
    }

    /// Puts fresh context messages in front, in place of the old ones.
    pub(crate) fn renew_context(&mut self, context: Vec<Entry>) {
        let rest = std::mem::take(&mut self.entries);
        self.entries = context;
        self.entries.extend(rest.into_iter().filter(|entry| entry.origin != Origin::Context));
    }

    /// Keeps what the user said, with fresh context before and the summary after it. A prompt that
    /// is still `open` stays behind the summary.
    pub(crate) fn compact(&mut self, context: Vec<Entry>, summary: Value, open: bool) {
        self.renew_context(context);
        self.entries.retain(|entry| matches!(entry.origin, Origin::Context | Origin::User));
        let last_is_user = self.entries.last().is_some_and(|entry| entry.origin == Origin::User);
        let at = self.entries.len() - usize::from(open && last_is_user);
        self.entries.insert(at, Entry::new(Origin::Summary, summary));
    }

    /// Forgets all before the last thing that the user said, but the context: the defect
    /// `truncates-full-window`.
    pub(crate) fn truncate(&mut self) {
        let last = self.entries.iter().rposition(|entry| entry.origin == Origin::User);
        let mut at = 0;
        self.entries.retain(|entry| {
            at += 1;
            entry.origin == Origin::Context || last.is_some_and(|last| at > last)
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn history(entries: &[(Origin, &str)]) -> History {
        let mut history = History::default();
        for (origin, item) in entries {
            history.push(*origin, json!(item));
        }
        history
    }

    #[test]
    fn compaction_keeps_what_the_user_said_and_one_summary() {
        let mut history = history(&[
            (Origin::Context, "old rules"),
            (Origin::User, "first"),
            (Origin::Summary, "older summary"),
            (Origin::Model, "call"),
            (Origin::Result, "result"),
            (Origin::User, "second"),
        ]);
        history.note_call("c1");
        history.compact(
            vec![Entry::new(Origin::Context, json!("new rules"))],
            json!("summary"),
            false,
        );
        let items: Vec<&Value> = history.items().collect();
        assert_eq!(items, ["new rules", "first", "second", "summary"]);
        assert!(!history.note_call("c1"));
    }

    #[test]
    fn an_open_prompt_stays_last() {
        let mut history =
            history(&[(Origin::User, "first"), (Origin::Model, "answer"), (Origin::User, "open")]);
        let mut cut = history.clone();
        history.compact(Vec::new(), json!("summary"), true);
        assert_eq!(history.items().collect::<Vec<_>>(), ["first", "summary", "open"]);
        cut.truncate();
        assert_eq!(cut.items().collect::<Vec<_>>(), ["open"]);
    }

    #[test]
    fn fresh_context_replaces_the_old_in_front() {
        let mut history = history(&[(Origin::Context, "old"), (Origin::User, "prompt")]);
        history.renew_context(vec![Entry::new(Origin::Context, json!("new"))]);
        assert_eq!(history.items().collect::<Vec<_>>(), ["new", "prompt"]);
    }
}
