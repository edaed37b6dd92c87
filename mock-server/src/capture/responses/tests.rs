//! Requests and their segments.

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::capture::testing;

/// A capture, one line a segment.
fn shown(body: &Value) -> String {
    testing::shown(&capture(body))
}

#[test]
fn messages_carry_the_authority_of_their_role() {
    assert_snapshot!(shown(&json!({
        "instructions": "Be brief.",
        "input": [
            {"role": "system", "content": "plain"},
            {"type": "message", "role": "developer", "content": [
                {"type": "input_text", "text": "one"},
                {"type": "input_text", "text": ""},
            ]},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "auto"},
                {"type": "input_image", "file_id": "file_1", "image_url": null},
                {"type": "input_file", "file_data": "data:text/plain,x", "filename": "x"},
            ]},
            {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": [
                {"type": "output_text", "text": "said", "annotations": []},
                {"type": "refusal", "refusal": "no"},
            ]},
            {"id": "msg_0"},
            {"type": "item_reference", "id": "msg_0"},
        ],
    })));
}

#[test]
fn a_message_that_says_nothing_is_seen() {
    assert_snapshot!(shown(&json!({"input": [
        {"type": "message", "role": "developer", "content": []},
    ]})), @r#"/input/0/content Text of developer, message, item 0, role developer: """#);
}

#[test]
fn a_plain_input_is_one_user_message() {
    assert_snapshot!(shown(&json!({"instructions": "", "input": "Hello"})), @r#"
    /instructions Text of instructions, instructions: ""
    /input Text of user, input, item 0: "Hello"
    "#);
}

#[test]
fn calls_and_results_keep_their_ids() {
    assert_snapshot!(shown(&json!({"input": [
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{\"a\":1}"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
        {"type": "function_call_output", "call_id": "c1", "output": [
            {"type": "input_text", "text": "part"},
            {"type": "input_image", "image_url": "https://x/y.png"},
        ]},
        {"type": "function_call_output", "call_id": "", "output": []},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "***"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"},
        {"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "call_id": "c3", "output": "files"},
        {"type": "shell_call", "call_id": "c4", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c4", "output": [
            {"stdout": "out", "stderr": "err", "outcome": {"type": "exit", "exit_code": 0}},
        ]},
        {"type": "apply_patch_call", "call_id": "c5", "operation": {"type": "delete_file", "path": "x"}},
        {"type": "apply_patch_call_output", "call_id": "c5", "status": "completed"},
        {"type": "computer_call", "call_id": "c6", "action": {"type": "click"}},
        {"type": "computer_call_output", "call_id": "c6", "output": {
            "type": "computer_screenshot", "image_url": "data:image/png;base64,AA",
        }},
        {"type": "program", "call_id": "c7", "code": "1 + 1"},
        {"type": "program_output", "call_id": "c7", "result": "2"},
        {"type": "tool_search_call", "call_id": "c8", "arguments": {"query": "q"}},
        {"type": "tool_search_output", "call_id": "c8", "tools": []},
    ]})));
}

#[test]
fn the_models_own_items_are_data() {
    assert_snapshot!(shown(&json!({"input": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}],
         "content": [{"type": "reasoning_text", "text": "c"}], "encrypted_content": "e"},
        {"type": "reasoning", "summary": [], "content": null, "encrypted_content": null},
        {"type": "compaction", "encrypted_content": "packed"},
        {"type": "agent_message", "author": "/root/a", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "q"}},
        {"type": "configuration_update", "reasoning": {"effort": "low"}},
        {"type": "compaction_trigger"},
    ]})));
}

#[test]
fn tools_are_offered_at_the_top_and_in_items() {
    let body = json!({
        "input": [{"type": "additional_tools", "role": "developer", "tools": [
            {"type": "namespace", "name": "functions", "description": "grouped", "tools": [
                {"type": "custom", "name": "exec", "description": "runs",
                 "format": {"type": "text"}},
            ]},
        ]}],
        "tools": [
            {"type": "function", "name": "f", "description": "does f",
             "parameters": {"type": "object", "properties": {}}},
            {"type": "function", "name": "bare", "parameters": null},
            {"type": "web_search", "external_web_access": true},
            {"type": "local_shell"},
        ],
    });
    assert_snapshot!(shown(&body));
    assert_eq!(offered_tools(&body), capture(&body).tools);
}

#[test]
fn what_the_wire_does_not_define_is_listed_and_its_text_is_kept() {
    assert_snapshot!(shown(&json!({
        "instructions": ["a list"],
        "input": [
            {"role": "tool", "content": "a role of another wire"},
            {"type": "message", "content": "no role"},
            {"role": 7, "content": "a number for a role"},
            {"type": "instruction", "role": "system", "content": "a made-up type"},
            {"type": "blob", "data": "x"},
            {"type": 3},
            {"content": "neither type nor role"},
            "a bare string",
            {"role": "user", "content": [
                {"type": "text", "text": "a part of another wire"},
                {"type": "video", "text": "a made-up part"},
                {"text": "no type"},
                {"type": "input_image"},
                {"type": "input_text", "text": 5},
                "bare",
            ]},
            {"role": "user"},
            {"role": "user", "content": {"an": "object"}},
            {"type": "function_call", "name": "f", "arguments": {"a": 1}},
            {"type": "function_call", "name": "f", "call_id": "c"},
            {"type": "function_call_output", "call_id": "c"},
            {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "only"}]},
            {"type": "reasoning", "summary": [{"type": "input_text", "text": "wrong part"}]},
            {"type": "compaction", "encrypted_content": 1},
            {"type": "additional_tools", "role": "robot"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "nested as on another wire"}},
            {"type": "gadget", "name": "made-up"},
            {"name": "no type"},
            {"type": "namespace", "name": "n"},
        ],
    })));
    assert_snapshot!(shown(&json!({"input": 1, "tools": {}})), @r#"
    unknown /input "(a number)"
    unknown /tools "(an object)"
    "#);
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = [
        "message",
        "user",
        "developer",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
        "reasoning",
        "compaction",
        "additional_tools",
        "tool_search_output",
        "input_text",
        "input_image",
        "refusal",
        "summary_text",
        "function",
        "namespace",
        "custom",
        "a/b~c",
    ];
    // `type` is there more often: without it, nothing else is looked at.
    let keys = [
        "type",
        "type",
        "type",
        "type",
        "role",
        "content",
        "text",
        "refusal",
        "image_url",
        "summary",
        "encrypted_content",
        "call_id",
        "name",
        "arguments",
        "input",
        "output",
        "stdout",
        "stderr",
        "tools",
        "description",
        "parameters",
        "format",
    ];
    testing::json_of(&words, &keys)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever a request holds: every pointer leads somewhere, and a string there is the text.
    #[test]
    fn pointers_lead_to_the_text(
        instructions in any_json(),
        items in proptest::collection::vec(any_json(), 0..4),
        tools in any_json(),
    ) {
        let body = json!({"instructions": instructions, "input": items, "tools": [tools]});
        let capture = capture(&body);
        testing::pointers_lead_to_the_text(&body, &capture)?;
        prop_assert_eq!(offered_tools(&body), capture.tools);
    }
}
