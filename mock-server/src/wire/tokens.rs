//! Counting tokens without a tokenizer.

use serde_json::Value;

use super::Wire;
use crate::capture::capture;

/// Characters that make one token.
const CHARACTERS: usize = 4;

/// How many tokens a request is said to have: one for every four characters, or part of them, of
/// all its texts and tool definitions, and never less than one.
///
/// It depends on the texts alone, not on the order of keys or the spelling of the JSON.
pub(crate) fn count_tokens(wire: Wire, body: &Value) -> usize {
    let segments = capture(wire, body).segments;
    let characters: usize = segments.iter().map(|segment| segment.text.chars().count()).sum();
    characters.div_ceil(CHARACTERS).max(1)
}
