//! Requests and their segments.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::capture::testing;

fn shown(body: &Value) -> String {
    testing::shown(&capture(body))
}

#[test]
fn messages_carry_the_authority_of_their_role() {
    assert_snapshot!(shown(&json!({"messages": [
        {"role": "system", "content": "S"},
        {"role": "developer", "content": [{"type": "text", "text": "D"}]},
        {"role": "user", "name": "ann", "content": "U"},
        {"role": "user", "content": [
            {"type": "text", "text": "one"},
            {"type": "text", "text": ""},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "auto"}},
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
            {"type": "file", "file": {"file_id": "file_1", "filename": "x"}},
        ]},
        {"role": "assistant", "content": "A", "model_id": "of one client alone"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "said"},
            {"type": "refusal", "refusal": "no"},
        ]},
        {"role": "assistant", "content": null, "refusal": "never"},
        {"role": "assistant", "audio": {"id": "audio_1"}},
    ]})));
}

/// The turn of a coding agent: reasoning, two calls in one message, their results, a reminder.
#[test]
fn each_call_and_each_result_is_an_item() {
    let body = json!({
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": null, "reasoning_content": "think", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
                {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": "***"}},
                {"id": "c3", "function": {"name": "untyped", "arguments": ""}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "name": "read", "content": "text"},
            {"role": "tool", "tool_call_id": "c2", "content": [
                {"type": "text", "text": "part"},
                {"type": "text", "text": "other"},
            ]},
            {"role": "tool", "tool_call_id": "c3", "content": []},
            {"role": "user", "content": "<reminder>R</reminder>"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "read", "description": "reads",
             "parameters": {"type": "object"}, "strict": false}},
            {"type": "custom", "custom": {"name": "patch", "description": "patches",
             "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "s: x"}}}},
            {"type": "function", "function": {"name": "bare"}},
        ],
    });
    assert_snapshot!(shown(&body));
    assert_eq!(offered_tools(&body), capture(&body).tools);
}

#[test]
fn older_functions_are_found_by_their_name() {
    assert_snapshot!(shown(&json!({
        "messages": [
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "done"},
            {"role": "function", "name": "g", "content": null},
        ],
        "functions": [{"name": "f", "description": "does f", "parameters": {}}],
    })));
}

#[test]
fn reasoning_comes_back_in_the_forms_of_several_servers() {
    assert_snapshot!(shown(&json!({"messages": [
        {"role": "assistant", "content": "", "reasoning": "R", "reasoning_details": [
            {"type": "reasoning.text", "text": "T", "signature": "sig", "index": 0},
            {"type": "reasoning.text", "signature": "sig"},
            {"type": "reasoning.summary", "summary": "S"},
            {"type": "reasoning.encrypted", "data": "E"},
            {"type": "reasoning.dream", "data": "made-up"},
        ]},
    ]})));
}

#[test]
fn what_the_wire_does_not_define_is_listed_and_its_text_is_kept() {
    assert_snapshot!(shown(&json!({
        "messages": [
            {"role": "robot", "content": "a made-up role"},
            {"content": "no role"},
            {"role": 7, "content": "a number for a role"},
            "a bare string",
            {"role": "user"},
            {"role": "user", "content": null},
            {"role": "user", "content": {"an": "object"}, "reasoning_content": "not a user's"},
            {"role": "user", "content": [
                {"type": "input_text", "text": "a part of another wire"},
                {"text": "no type"},
                {"type": "image_url"},
                {"type": "text", "text": 5},
                "bare",
            ]},
            {"role": "assistant"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c1", "type": "gadget", "gadget": {}},
                {"id": "c2", "type": "function"},
                {"type": "function", "function": {"name": "f"}},
                {"id": "c4", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}},
                {"id": "c5"},
                {"id": "c6", "type": 3},
                "bare",
            ]},
            {"role": "assistant", "content": "", "tool_calls": "none", "reasoning_details": 1},
            {"role": "tool", "content": "no id"},
            {"role": "tool", "tool_call_id": "c1"},
            {"role": "tool", "tool_call_id": "c1", "content": null},
        ],
        "tools": [
            {"type": "function", "name": "flat as on another wire"},
            {"type": "function", "function": {"description": "no name"}},
            {"type": "web_search"},
            {"name": "no type"},
        ],
        "functions": {},
    })));
    assert_snapshot!(shown(&json!({"messages": "Hello", "tools": 1})), @r#"
    unknown /messages "(a string)"
    unknown /tools "(a number)"
    "#);
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = [
        "system",
        "developer",
        "user",
        "assistant",
        "tool",
        "function",
        "custom",
        "text",
        "refusal",
        "image_url",
        "input_audio",
        "file",
        "reasoning.text",
        "reasoning.summary",
        "reasoning.encrypted",
        "a/b~c",
    ];
    // Without a role or a type, little else is looked at.
    let keys = [
        "role",
        "role",
        "role",
        "type",
        "type",
        "type",
        "content",
        "content",
        "text",
        "refusal",
        "tool_calls",
        "function_call",
        "function",
        "custom",
        "arguments",
        "input",
        "id",
        "tool_call_id",
        "name",
        "reasoning_content",
        "reasoning_details",
        "image_url",
        "url",
        "file",
        "file_id",
        "description",
        "parameters",
    ];
    testing::json_of(&words, &keys)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever a request holds: every pointer leads somewhere, and a string there is the text.
    #[test]
    fn pointers_lead_to_the_text(
        messages in proptest::collection::vec(any_json(), 0..4),
        tools in proptest::collection::vec(any_json(), 0..2),
        functions in any_json(),
    ) {
        let body = json!({"messages": messages, "tools": tools, "functions": functions});
        let capture = capture(&body);
        testing::pointers_lead_to_the_text(&body, &capture)?;
        prop_assert_eq!(offered_tools(&body), capture.tools);
    }
}
