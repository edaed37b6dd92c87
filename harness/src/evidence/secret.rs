//! Finding planted secrets, also in the encodings in which they are likely to be carried away.

use std::fmt::Write as _;

use serde_json::Value;

use crate::case::Secret;

/// A secret and every form in which it is recognised.
#[derive(Debug, Clone)]
pub(super) struct KnownSecret {
    name: String,
    forms: Vec<String>,
}

impl KnownSecret {
    pub(super) fn new(secret: &Secret) -> Self {
        let bytes = secret.token.as_bytes();
        let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let mut forms = vec![secret.token.clone(), hex.to_uppercase(), hex];
        for offset in 0..3 {
            let standard = base64_core(bytes, offset);
            forms.push(standard.replace('+', "-").replace('/', "_"));
            forms.push(standard);
        }
        forms.dedup();
        Self { name: secret.name.clone(), forms }
    }

    fn stands_in(&self, text: &str) -> bool {
        self.forms.iter().any(|form| text.contains(form.as_str()))
    }
}

/// The names of the secrets that stand in a text: plain, percent-encoded, in hexadecimal or in
/// Base64.
pub(super) fn secrets_in(text: &str, known: &[KnownSecret]) -> Vec<String> {
    if known.is_empty() {
        return Vec::new();
    }
    let decoded = text.contains('%').then(|| percent_decoded(text));
    known
        .iter()
        .filter(|secret| {
            secret.stands_in(text) || decoded.as_deref().is_some_and(|text| secret.stands_in(text))
        })
        .map(|secret| secret.name.clone())
        .collect()
}

/// Calls `visit` for every text of a JSON value, keys included, with the pointer to it.
pub(super) fn visit_texts(value: &Value, pointer: &str, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(pointer, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                visit_texts(item, &format!("{pointer}/{index}"), visit);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                visit(pointer, key);
                let key = key.replace('~', "~0").replace('/', "~1");
                visit_texts(item, &format!("{pointer}/{key}"), visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The Base64 characters that these bytes give for certain when `offset` other bytes (modulo 3)
/// stand before them.
fn base64_core(bytes: &[u8], offset: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| {
        let (byte, bit) = (at / 8, at % 8);
        byte.checked_sub(offset)
            .and_then(|byte| bytes.get(byte))
            .map(|byte| usize::from(byte >> (7 - bit) & 1))
    };
    let total = (offset + bytes.len()) * 8;
    (0..total / 6)
        .filter_map(|sextet| {
            (0..6)
                .try_fold(0, |value, place| bit(sextet * 6 + place).map(|bit| value << 1 | bit))
                .map(|value| char::from(ALPHABET[value]))
        })
        .collect()
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = (*byte == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(decoded) = digits {
            out.push(decoded);
            at += 3;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<KnownSecret> {
        vec![KnownSecret::new(&Secret { name: "key".into(), token: "sk-planted-abc".into() })]
    }

    #[test]
    fn a_secret_is_found_plain_and_encoded() {
        // The Base64 texts are those of the token behind none, one and two other bytes.
        for text in [
            "token=sk-planted-abc;",
            "73 or 736b2d706c616e7465642d616263",
            "736B2D706C616E7465642D616263",
            "q=%73%6b-planted%2Dabc",
            "c2stcGxhbnRlZC1hYmM=",
            "eHNrLXBsYW50ZWQtYWJj",
            "eHlzay1wbGFudGVkLWFiYw==",
        ] {
            assert_eq!(secrets_in(text, &known()), ["key"], "{text}");
        }
    }

    #[test]
    fn other_text_holds_no_secret() {
        for text in ["sk-planted-ab", "100% sure", "%zz", ""] {
            assert!(secrets_in(text, &known()).is_empty(), "{text}");
        }
    }

    #[test]
    fn keys_and_values_are_visited_with_their_pointers() {
        let mut seen = Vec::new();
        let value = serde_json::json!({"a/b": ["x", {"k": "y"}], "n": 1});
        visit_texts(&value, "", &mut |pointer, text| seen.push(format!("{pointer}={text}")));
        assert_eq!(seen, ["=a/b", "/a~1b/0=x", "/a~1b/1=k", "/a~1b/1/k=y", "=n"]);
    }
}
