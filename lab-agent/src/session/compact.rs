//! Compaction: the history gives way to a summary, or stays as it was.

use super::{
    life::{Session, SessionError},
    turn::Sampled,
};
use crate::{
    defect::Defect,
    events::Event,
    request::{self, Purpose},
    rules,
    wire::{Heard, Reply, hear},
};

impl Session {
    /// Asks for a summary and puts it in the place of what it sums up. Permissions, rules and
    /// environment come anew from their sources; what the user said is kept word for word, and a
    /// prompt that is still `open` stays last. The inner error says why the history stays as it was.
    pub(super) async fn compact(&mut self, open: bool) -> Result<Result<(), String>, SessionError> {
        let summary = match self.sample(Purpose::Summary).await? {
            Sampled::Reply(reply) => {
                summary_of(&reply, self.settings.has(Defect::EmptySummaryAccepted))
            }
            Sampled::Interrupted => Err("interrupted by the user".to_owned()),
            Sampled::Failed(error) | Sampled::Full(error) => Err(error),
        };
        let renewed = summary.and_then(|summary| {
            rules::load(&self.settings.cwd, self.settings.trusted, &self.settings.defects)
                .map(|rules| (summary, rules))
                .map_err(|error| error.to_string())
        });
        match renewed {
            Ok((summary, rules)) => {
                self.rules = rules;
                let context = request::context(&self.settings, &self.rules);
                let item = request::summary(&summary, &self.settings.defects);
                self.history.compact(context, item, open);
                self.tokens = 0;
                self.keep()?;
                self.events.emit(&Event::Compacted { summary: &summary })?;
                Ok(Ok(()))
            }
            Err(error) => {
                self.events.emit(&Event::CompactionFailed { error: &error })?;
                Ok(Err(error))
            }
        }
    }
}

/// The text of a reply that is a summary and nothing else.
fn summary_of(reply: &Reply, empty_is_fine: bool) -> Result<String, String> {
    let mut texts = Vec::new();
    for item in &reply.items {
        match hear(item).map_err(|error| error.to_string())? {
            Heard::Message(text) => texts.push(text),
            Heard::Call(call) => {
                return Err(format!("the model called {} in place of a summary", call.name));
            }
            Heard::Reasoning | Heard::Unknown(_) => {}
        }
    }
    let text = texts.join("\n");
    if text.trim().is_empty() && !empty_is_fine {
        return Err("the summary is empty".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(text: &str) -> Reply {
        let part = json!({ "type": "output_text", "text": text });
        Reply {
            items: vec![json!({ "type": "message", "role": "assistant", "content": [part] })],
            tokens: 0,
        }
    }

    #[test]
    fn only_text_is_a_summary() {
        assert_eq!(summary_of(&reply("done"), false).unwrap(), "done");
        assert_eq!(summary_of(&reply(" \n"), false).unwrap_err(), "the summary is empty");
        assert_eq!(summary_of(&Reply::default(), false).unwrap_err(), "the summary is empty");
        assert_eq!(summary_of(&reply(""), true).unwrap(), "");
        let mut calling = reply("text");
        calling.items.push(
            json!({ "type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}" }),
        );
        assert!(summary_of(&calling, false).unwrap_err().contains("called shell"));
    }
}
