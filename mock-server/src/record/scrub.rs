//! Taking secrets out of what is written down.

use std::collections::BTreeSet;

use http::{HeaderMap, header};
use regex::{NoExpand, Regex};
use serde_json::{Map, Value};

use crate::script::{Call, CallPayload, Ending, Failure, Handshake, Item, Part, Refusal, Reply};

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";

/// What keys, tokens and the names of accounts look like.
const PATTERNS: [&str; 11] = [
    r"\bsk-[A-Za-z0-9_-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bxox[a-z]-[A-Za-z0-9-]{10,}",
    r"\bAKIA[0-9A-Z]{16}\b",
    r"\bAIza[0-9A-Za-z_-]{35}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{16,}",
    r"\b(?:org-|user-)[A-Za-z0-9]{16,}",
    r"\bproj_[A-Za-z0-9]{16,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----",
];

/// Request headers that say who the client is. Their values are taken out of replies.
const PERSONAL: [&str; 10] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "openai-organization",
    "openai-project",
    "chatgpt-account-id",
    "x-goog-api-key",
    "anthropic-organization-id",
];

/// A value shorter than this is not looked for: it would be found in ordinary words.
const SHORTEST: usize = 8;

/// Finds secrets by what they look like.
#[derive(Debug, Clone)]
pub struct Scrubber {
    patterns: Vec<Regex>,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no pattern for secrets: {reason}")]
pub struct BadPattern {
    pattern: String,
    reason: String,
}

impl Scrubber {
    /// The usual keys and tokens, and what these regular expressions find.
    ///
    /// # Errors
    /// The first expression that is none, or that finds an empty text.
    pub fn with(more: &[&str]) -> Result<Self, BadPattern> {
        let compile = |pattern: &str| {
            let bad = |reason: String| BadPattern { pattern: pattern.to_owned(), reason };
            let regex = Regex::new(pattern).map_err(|error| bad(error.to_string()))?;
            if regex.is_match("") {
                return Err(bad("it is found in every text".to_owned()));
            }
            Ok(regex)
        };
        let patterns =
            PATTERNS.iter().chain(more).copied().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { patterns })
    }

    /// A text without the secrets in it.
    pub(super) fn text(&self, text: &str, credentials: &Credentials) -> String {
        let mut clean = text.to_owned();
        for credential in &credentials.values {
            clean = clean.replace(credential, REDACTED);
        }
        for pattern in &self.patterns {
            clean = pattern.replace_all(&clean, NoExpand(REDACTED)).into_owned();
        }
        clean
    }

    /// A handshake without the secrets in it. A header with a secret is left out: its value would
    /// mean something else.
    pub(super) fn handshake(&self, handshake: &Handshake, credentials: &Credentials) -> Handshake {
        let text = |text: &String| self.text(text, credentials);
        let headers = handshake.headers.iter().filter(|(_, value)| text(value) == *value);
        let refusal = handshake.refusal.as_ref().map(|refusal| Refusal {
            status: refusal.status,
            code: refusal.code.as_ref().map(text),
            message: refusal.message.as_ref().map(text),
        });
        Handshake { headers: headers.cloned().collect(), refusal, ..handshake.clone() }
    }

    /// A reply without the secrets in it, whatever field they stand in.
    pub(super) fn reply(&self, reply: &Reply, credentials: &Credentials) -> Reply {
        let text = |text: &str| self.text(text, credentials);
        let mut clean = reply.clone();
        for (_, value) in &mut clean.headers {
            *value = text(value);
        }
        for item in &mut clean.items {
            match item {
                Item::Message { text: said, phase: _ } => *said = text(said),
                Item::Reasoning { summary, content, encrypted_content } => {
                    for part in summary.iter_mut().chain(content).chain(encrypted_content) {
                        *part = text(part);
                    }
                }
                Item::Call(call) => clean_call(call, &text),
                Item::Parts { parts, phase: _ } => {
                    for part in parts {
                        clean_part(part, &text);
                    }
                }
                Item::LocalShell(call) => {
                    for word in call.command.iter_mut().chain(&mut call.call_id) {
                        *word = text(word);
                    }
                    call.more = clean_map(&call.more, &text);
                }
                Item::WebSearch(search) => {
                    search.query = text(&search.query);
                    for result in &mut search.results {
                        result.url = text(&result.url);
                        result.title = text(&result.title);
                    }
                }
                Item::Compaction { encrypted_content } => {
                    if let Some(content) = encrypted_content {
                        *content = text(content);
                    }
                }
                Item::Raw(item) => *item = clean_map(item, &text),
            }
        }
        clean.ending = clean_ending(&clean.ending, &text);
        for event in &mut clean.extra_events {
            event.fields = clean_map(&event.fields, &text);
        }
        clean
    }
}

fn clean_part(part: &mut Part, text: &impl Fn(&str) -> String) {
    match part {
        Part::Text { text: said, annotations } => {
            *said = text(said);
            for annotation in annotations {
                *annotation = clean_value(annotation, text);
            }
        }
        Part::Refusal(said) => *said = text(said),
    }
}

fn clean_ending(ending: &Ending, text: &impl Fn(&str) -> String) -> Ending {
    let clean = |failure: &Failure| Failure {
        code: text(&failure.code),
        message: text(&failure.message),
        kind: failure.kind.as_deref().map(text),
        unfinished: failure.unfinished,
    };
    match ending {
        Ending::Complete | Ending::Length | Ending::Filtered => ending.clone(),
        Ending::Reason(reason) => Ending::Reason(text(reason)),
        Ending::StopSequence(sequence) => Ending::StopSequence(text(sequence)),
        Ending::Failed(failure) => Ending::Failed(clean(failure)),
        Ending::Error { failure, form } => Ending::Error { failure: clean(failure), form: *form },
    }
}

fn clean_call(call: &mut Call, text: &impl Fn(&str) -> String) {
    call.name = text(&call.name);
    for name in call.namespace.iter_mut().chain(&mut call.call_id) {
        *name = text(name);
    }
    match &mut call.payload {
        CallPayload::Arguments(map) => *map = clean_map(map, text),
        CallPayload::RawArguments(raw) | CallPayload::Input(raw) => *raw = text(raw),
    }
}

fn clean_map(map: &Map<String, Value>, text: &impl Fn(&str) -> String) -> Map<String, Value> {
    map.iter().map(|(key, value)| (text(key), clean_value(value, text))).collect()
}

fn clean_value(value: &Value, text: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(string) => Value::String(text(string)),
        Value::Array(items) => items.iter().map(|item| clean_value(item, text)).collect(),
        Value::Object(map) => Value::Object(clean_map(map, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// What a request says of who sent it. Held in memory until its reply is written down.
#[derive(Clone, Default)]
pub(super) struct Credentials {
    values: BTreeSet<String>,
}

impl Credentials {
    /// The values of a request's personal headers, and the token or the cookies within them.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut values = BTreeSet::new();
        for name in PERSONAL {
            for value in headers.get_all(name) {
                let Ok(value) = value.to_str() else { continue };
                let parts: Vec<&str> = if name == header::COOKIE.as_str() {
                    let cookies = value.split(';');
                    cookies.filter_map(|cookie| Some(cookie.split_once('=')?.1)).collect()
                } else {
                    value.split_whitespace().collect()
                };
                let long = parts.into_iter().map(str::trim).filter(|part| part.len() >= SHORTEST);
                values.extend(long.map(str::to_owned));
            }
        }
        Self { values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        Scrubber::with(&[r"employee-\d+"]).unwrap().text(text, &Credentials::default())
    }

    #[test]
    fn keys_and_tokens_are_found_by_their_looks() {
        for secret in [
            "sk-proj-abcdefghijklmnop1234",
            "sk-ant-api03-abcdefghijklmnop_1234",
            "ghp_abcdefghijklmnopqrstuvwx",
            "github_pat_abcdefghijklmnopqrstuvwx",
            "xoxb-1234567890-abc",
            "AKIAABCDEFGHIJKLMNOP",
            "AIzaabcdefghijklmnopqrstuvwxyz123456789",
            "eyJhbGciOiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl",
            "Bearer abcdefghijklmnop",
            "org-abcdefghijklmnop",
            "proj_abcdefghijklmnop",
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
            "employee-42",
        ] {
            assert_eq!(clean(&format!("a {secret} b")), "a [redacted] b");
        }
    }

    #[test]
    fn ordinary_words_stay() {
        let text = "Ask-me about task-runner-for-everything, sk-short, bearer of news, org-chart.";
        assert_eq!(clean(text), text);
    }

    #[test]
    fn the_client_s_own_credentials_are_found_whatever_they_look_like() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "Bearer my own key-1".parse().unwrap());
        headers.insert("x-api-key", "plain-looking".parse().unwrap());
        headers.insert("cookie", "a=1; session=looks-like-text".parse().unwrap());
        headers.insert("openai-organization", "the-acme-company".parse().unwrap());
        let credentials = Credentials::of(&headers);
        let text = "plain-looking, looks-like-text and the-acme-company; my key";
        let clean = Scrubber::with(&[]).unwrap().text(text, &credentials);
        assert_eq!(clean, "[redacted], [redacted] and [redacted]; my key");
    }

    #[test]
    fn a_pattern_that_finds_everything_is_refused() {
        for pattern in ["(", "a*"] {
            assert!(Scrubber::with(&[pattern]).is_err(), "{pattern}");
        }
    }
}
