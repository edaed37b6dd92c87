//! What the tests of all wires share.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::Value;

use super::{Capture, Segment};

/// A capture, one line a segment.
pub(super) fn shown(capture: &Capture) -> String {
    let mut out = String::new();
    for segment in &capture.segments {
        let Segment {
            pointer,
            item,
            role,
            native_type,
            kind,
            authority,
            call_id,
            tool,
            is_error,
            text,
        } = segment;
        let _ = write!(out, "{pointer} {kind:?} of {authority}, {native_type}");
        if let Some(item) = item {
            let _ = write!(out, ", item {item}");
        }
        if !role.is_empty() {
            let _ = write!(out, ", role {role}");
        }
        if let Some(call_id) = call_id {
            let _ = write!(out, ", call {call_id:?}");
        }
        if let Some(tool) = tool {
            let _ = write!(out, ", tool {tool}");
        }
        if let Some(is_error) = is_error {
            let _ = write!(out, ", error {is_error}");
        }
        let _ = writeln!(out, ": {text:?}");
    }
    for tool in &capture.tools {
        let _ = writeln!(out, "offers {tool}");
    }
    for unknown in &capture.unknown {
        let _ = writeln!(out, "unknown {} {:?}", unknown.pointer, unknown.found);
    }
    out
}

/// JSON in which these words and keys are likely, so that deep places are reached. A key that is
/// named more than once is there more often.
pub(super) fn json_of(
    words: &[&'static str],
    keys: &[&'static str],
) -> impl Strategy<Value = Value> + use<> {
    let word = proptest::sample::select(words.to_vec());
    let key = proptest::sample::select(keys.to_vec());
    let leaf = prop_oneof![
        8 => word.prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<i32>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            proptest::collection::vec((key.clone(), inner), 0..6).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

/// Every pointer leads somewhere, and a string there is the text.
pub(super) fn pointers_lead_to_the_text(
    body: &Value,
    capture: &Capture,
) -> Result<(), TestCaseError> {
    for segment in &capture.segments {
        let found = body.pointer(&segment.pointer);
        prop_assert!(found.is_some(), "{} of {body}", segment.pointer);
        if let Some(Value::String(text)) = found {
            prop_assert_eq!(text, &segment.text, "{} of {}", segment.pointer, body);
        }
    }
    for unknown in &capture.unknown {
        prop_assert!(body.pointer(&unknown.pointer).is_some(), "{} of {body}", unknown.pointer);
    }
    Ok(())
}
