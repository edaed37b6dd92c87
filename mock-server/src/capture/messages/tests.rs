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
fn the_system_prompt_and_messages_carry_the_authority_of_their_role() {
    assert_snapshot!(shown(&json!({"system": "S", "messages": [{"role": "user", "content": "U"}]})), @r#"
    /system Text of system, system, role system: "S"
    /messages/0/content Text of user, message, item 0, role user: "U"
    "#);
    assert_snapshot!(shown(&json!({
        "system": [
            {"type": "text", "text": "S1"},
            {"type": "text", "text": "S2", "cache_control": {"type": "ephemeral"}},
        ],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "<reminder>R</reminder>"},
                {"type": "text", "text": "U", "cache_control": {"type": "ephemeral"}},
            ]},
            {"role": "system", "content": "between"},
            {"role": "assistant", "content": "A"},
            {"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
                {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
                {"type": "document", "title": "T", "context": "C",
                 "source": {"type": "text", "media_type": "text/plain", "data": "D"}},
                {"type": "document", "source": {"type": "content", "content": [
                    {"type": "text", "text": "in a document"},
                ]}},
                {"type": "document", "source": {"type": "content", "content": "plain"}},
                {"type": "search_result", "title": "T", "source": "https://x", "content": [
                    {"type": "text", "text": "found"},
                ]},
                {"type": "container_upload", "file_id": "file_1"},
            ]},
        ],
    })));
}

/// The turn of a coding agent: thinking, two calls in one message, their results in the next, a
/// steer beside them.
#[test]
fn each_call_and_each_result_is_an_item() {
    let body = json!({
        "system": "S",
        "messages": [
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "think", "signature": "sig"},
                {"type": "redacted_thinking", "data": "opaque"},
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}},
                {"type": "tool_use", "id": "t2", "name": "Bash", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "text"},
                {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": [
                    {"type": "text", "text": "part"},
                    {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
                    {"type": "tool_reference", "tool_name": "Grep"},
                ]},
                {"type": "text", "text": "steer"},
            ]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t3", "name": "Write", "input": {}},
                {"type": "tool_use", "id": "t4", "name": "Write", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t3", "is_error": false},
                {"type": "tool_result", "tool_use_id": "t4", "content": []},
            ]},
        ],
        "tools": [
            {"name": "Read", "description": "reads", "input_schema": {"type": "object"}},
            {"type": "custom", "name": "Bash", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        ],
    });
    assert_snapshot!(shown(&body));
    assert_eq!(offered_tools(&body), capture(&body).tools);
}

#[test]
fn what_the_server_ran_stands_in_the_assistants_message_but_is_data() {
    assert_snapshot!(shown(&json!({"messages": [
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [
                {"type": "web_search_result", "url": "https://x", "title": "T", "encrypted_content": "E"},
            ]},
            {"type": "mcp_tool_use", "id": "s2", "name": "m", "server_name": "s", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "s2", "is_error": false, "content": [
                {"type": "text", "text": "answer"},
            ]},
            {"type": "compaction", "content": "summary", "encrypted_content": "E"},
            {"type": "compaction", "content": null},
        ]},
    ]})));
}

#[test]
fn what_the_wire_does_not_define_is_listed_and_its_text_is_kept() {
    assert_snapshot!(shown(&json!({
        "system": [{"type": "note", "text": "a made-up block"}, "bare"],
        "messages": [
            {"role": "tool", "content": "a role of another wire"},
            {"role": "developer", "content": [{"type": "text", "text": "another"}]},
            {"content": "no role"},
            {"role": 7, "content": "a number for a role"},
            "a bare string",
            {"role": "user"},
            {"role": "user", "content": null},
            {"role": "user", "content": {"an": "object"}},
            {"role": "user", "content": [
                {"type": "input_text", "text": "a part of another wire"},
                {"text": "no type"},
                {"type": "image", "source": {}},
                {"type": "text", "text": 5},
                "bare",
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}},
                {"type": "tool_result", "content": "no id"},
                {"type": "tool_result", "tool_use_id": "t1", "content": {"an": "object"}},
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "video"}]},
            ]},
            {"role": "assistant", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "in the wrong message"},
                {"type": "tool_use", "id": "t2", "name": "Bash"},
                {"type": "tool_use", "name": "Bash", "input": "text"},
                {"type": "thinking"},
                {"type": "web_search_tool_result", "tool_use_id": "s1"},
            ]},
            {"role": "system", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "here"}]},
        ],
        "tools": [
            {"type": "gadget", "name": "made-up"},
            {"description": "no name"},
            {"type": 3},
            "bare",
        ],
    })));
    assert_snapshot!(shown(&json!({"system": 1, "messages": "Hello", "tools": {}})), @r#"
    /system Text of system, system, role system: "1"
    unknown /system "(a number)"
    unknown /messages "(a string)"
    unknown /tools "(an object)"
    "#);
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = [
        "system",
        "user",
        "assistant",
        "text",
        "image",
        "document",
        "search_result",
        "tool_use",
        "tool_result",
        "server_tool_use",
        "web_search_tool_result",
        "mcp_tool_result",
        "thinking",
        "redacted_thinking",
        "compaction",
        "tool_reference",
        "custom",
        "bash_20250124",
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
        "content",
        "text",
        "source",
        "data",
        "url",
        "title",
        "context",
        "thinking",
        "signature",
        "id",
        "tool_use_id",
        "name",
        "input",
        "is_error",
        "encrypted_content",
        "description",
        "input_schema",
    ];
    testing::json_of(&words, &keys)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever a request holds: every pointer leads somewhere, and a string there is the text.
    #[test]
    fn pointers_lead_to_the_text(
        system in any_json(),
        messages in proptest::collection::vec(any_json(), 0..4),
        tools in proptest::collection::vec(any_json(), 0..2),
    ) {
        let body = json!({"system": system, "messages": messages, "tools": tools});
        let capture = capture(&body);
        testing::pointers_lead_to_the_text(&body, &capture)?;
        prop_assert_eq!(offered_tools(&body), capture.tools);
    }
}
