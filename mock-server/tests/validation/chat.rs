//! The rules of the Chat Completions API.

use conform_mock_server::validate::RuleId::*;
use serde_json::{Value, json};

use crate::case::{Case, case};

fn user() -> Value {
    json!({"role": "user", "content": "Hello"})
}

fn role(role: &str) -> Value {
    json!({"role": role, "content": "Hello"})
}

fn calls(ids: &[&str]) -> Value {
    with_arguments(ids, "{}")
}

fn with_arguments(ids: &[&str], arguments: &str) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn tool(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "done"})
}

fn messages(messages: &[Value]) -> Value {
    json!({"messages": messages})
}

fn function(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name}})
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = pairing();
    cases.extend(roles_and_content());
    cases.extend(settings());
    cases
}

fn pairing() -> Vec<Case> {
    let nameless = json!({"role": "tool", "content": "done"});
    let both = [user(), calls(&["a", "b"]), tool("a"), tool("b")];
    let after = |last: Value| messages(&[user(), calls(&["a"]), tool("a"), last]);
    vec![
        case(C1, messages(&[user(), calls(&["a", "b"]), tool("a")]), messages(&both)),
        case(C1, messages(&[user(), calls(&["a"]), user()]), after(user())),
        case(C2, messages(&[user(), tool("a")]), after(user())),
        case(C3, after(tool("x")), after(user())),
        case(C3, after(tool("a")), messages(&both)),
        case(C3, after(nameless), after(user())).code(Some("missing_required_parameter")),
        case(
            C4,
            messages(&[user(), calls(&["a"]), user(), tool("a")]),
            messages(&[user(), calls(&["a"]), tool("a"), user()]),
        ),
        case(
            C19,
            messages(&[user(), with_arguments(&["a"], "{\"x\": "), tool("a")]),
            messages(&[user(), with_arguments(&["a"], ""), tool("a")]),
        ),
    ]
}

fn roles_and_content() -> Vec<Case> {
    let content =
        |role: &str, content: Value| messages(&[json!({"role": role, "content": content}), user()]);
    let image = json!([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]);
    let text = json!([{"type": "text", "text": "Hello"}]);
    vec![
        case(C5, messages(&[]), messages(&[user()])),
        case(C6, content("user", Value::Null), content("user", json!("Hello"))),
        case(C6, content("assistant", Value::Null), content("assistant", json!("Hello"))),
        case(C7, messages(&[role("boss")]), messages(&[role("developer")])),
        case(C8, messages(&[role("developer"), user()]), messages(&[role("system"), user()])),
        case(C9, messages(&[user(), role("system")]), messages(&[role("system"), user()])),
        case(
            C9,
            messages(&[role("system"), role("system"), user()]),
            messages(&[role("system"), user()]),
        ),
        case(C10, messages(&[user(), user()]), messages(&[user(), role("assistant"), user()])),
        case(
            C10,
            messages(&[role("assistant")]),
            messages(&[role("system"), user(), calls(&["a"]), tool("a"), role("assistant")]),
        ),
        case(C18, content("user", image.clone()), content("user", text)),
        case(C17, content("user", json!("x".repeat(500))), content("user", json!("x".repeat(300))))
            .service(r#"{"model": {"window": 100}}"#),
    ]
}

fn settings() -> Vec<Case> {
    let named = |name: &str| json!({"tools": [function(name)]});
    let custom = json!({"tools": [{"type": "custom", "custom": {"name": "p"}}]});
    vec![
        case(C11, named("a tool"), named("a_tool-1")),
        case(C11, named(&"x".repeat(65)), named(&"x".repeat(64)))
            .code(Some("string_above_max_length")),
        case(C12, json!({"max_tokens": 9}), json!({"max_completion_tokens": 9}))
            .service(r#"{"model": {"reasoning": true}}"#),
        case(
            C13,
            json!({"stream_options": {"include_usage": true}}),
            json!({"stream": true, "stream_options": {"include_usage": true}}),
        ),
        case(
            C14,
            json!({"tool_choice": "auto"}),
            json!({"tool_choice": "auto", "tools": [function("f")]}),
        ),
        case(
            C14,
            json!({"parallel_tool_calls": true}),
            json!({"parallel_tool_calls": true, "tools": [function("f")]}),
        ),
        case(C15, custom, named("f")),
        case(C16, json!({"tools": []}), json!({})),
    ]
}
