//! The rules of the Messages API.

use conform_mock_server::script::{Call, CallPayload, Item, Reply};
use conform_mock_server::validate::RuleId::*;
use serde_json::{Value, json};

use crate::case::{Case, case};

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn system() -> Value {
    json!({"role": "system", "content": "Be brief."})
}

fn blocks(role: &str, blocks: &[Value]) -> Value {
    json!({"role": role, "content": blocks})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn use_of(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "f", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn messages(messages: &[Value]) -> Value {
    json!({"messages": messages, "tools": [tool("f")]})
}

fn tool(name: &str) -> Value {
    json!({"name": name, "input_schema": {"type": "object"}})
}

fn thinking(text: &str, signature: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": signature})
}

/// The conversation in which `f` was called and answered.
fn called(call: &[Value], answer: &[Value]) -> Value {
    messages(&[user("Hello"), blocks("assistant", call), blocks("user", answer)])
}

/// A reply that thinks, then calls `f` with the id `a`.
fn thought() -> Reply {
    let (summary, encrypted_content) = (vec!["Hm.".to_owned()], Some("signed".to_owned()));
    let reasoning = Item::Reasoning { summary, content: Vec::new(), encrypted_content };
    let call = Call::new("f", CallPayload::RawArguments("{}".to_owned()));
    let (call_id, must_be_offered) = (Some("a".to_owned()), false);
    Reply::of([reasoning, Item::Call(Call { call_id, must_be_offered, ..call })])
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = pairing();
    cases.extend(roles());
    cases.extend(content());
    cases.extend(thoughts());
    cases.extend(tools());
    cases.extend(settings());
    cases
}

fn pairing() -> Vec<Case> {
    let one = || called(&[use_of("a")], &[result("a")]);
    let server_use = json!({
        "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {},
    });
    let server_result = json!({
        "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [],
    });
    let searched =
        |found: &[Value]| messages(&[user("Hello"), blocks("assistant", found), user("And?")]);
    vec![
        case(A1, called(&[use_of("a")], &[text("No.")]), one()),
        case(A1, messages(&[user("Hello"), blocks("assistant", &[use_of("a")])]), one()),
        case(A2, called(&[use_of("a")], &[result("a"), result("b")]), one()),
        case(A2, messages(&[blocks("user", &[result("a")])]), one()),
        case(
            A3,
            searched(std::slice::from_ref(&server_result)),
            searched(&[server_use, server_result]),
        ),
        case(
            A4,
            called(&[use_of("a"), use_of("a")], &[result("a")]),
            called(&[use_of("a"), use_of("b")], &[result("a"), result("b")]),
        ),
        case(A5, called(&[use_of("a")], &[result("a"), result("a")]), one()),
        case(
            A6,
            called(&[use_of("a")], &[text("So."), result("a")]),
            called(&[use_of("a")], &[result("a"), text("So.")]),
        ),
    ]
}

fn roles() -> Vec<Case> {
    vec![
        case(A7, messages(&[assistant("Hi"), user("Hello")]), messages(&[user("Hello")])),
        case(
            A8,
            messages(&[user("Hello"), user("So?")]),
            messages(&[user("Hello"), assistant("Hi"), user("So?")]),
        ),
        case(A9, messages(&[json!({"role": "tool", "content": "x"})]), messages(&[user("Hello")])),
        case(A9, messages(&[user("Hello"), system()]), messages(&[user("Hello")]))
            .service(r#"{"model": {"system_messages": false}}"#),
        case(A10, messages(&[system(), user("Hello")]), messages(&[user("Hello"), system()])),
        case(
            A11,
            messages(&[user("Hello"), assistant("Hi"), system(), user("So?")]),
            messages(&[user("Hello"), system(), assistant("Hi"), user("So?")]),
        ),
        case(
            A14,
            messages(&[user("Hello"), assistant("Hi")]),
            messages(&[user("Hello"), assistant("Hi"), user("So?")]),
        ),
    ]
}

/// The most bytes of an image.
const LIMIT: usize = 5 * 1024 * 1024;

fn content() -> Vec<Case> {
    let two = |content: Value| messages(&[json!({"role": "user", "content": content})]);
    let ending = |text: &str| messages(&[user("Hello"), assistant(text)]);
    let input = |input: Value| {
        let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": input});
        called(&[call], &[result("a")])
    };
    let marked = |count: usize, ttl: &[&str]| {
        let block = |index: usize| {
            let ttl = ttl.get(index).unwrap_or(&"5m");
            json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}})
        };
        two(json!((0..count).map(block).collect::<Vec<_>>()))
    };
    let image = |bytes: usize| {
        let source =
            json!({"type": "base64", "media_type": "image/png", "data": "A".repeat(bytes / 3 * 4)});
        two(json!([{"type": "image", "source": source}]))
    };
    vec![
        case(A12, two(json!([])), two(json!([{"type": "text", "text": "x"}]))),
        case(A12, two(json!([{"type": "text", "text": ""}])), two(json!("x"))),
        case(A12, messages(&[user("Hello"), assistant(""), user("So?")]), ending("")),
        case(A13, two(json!(" \n")), two(json!("x"))),
        case(A13, ending("Hi "), ending("Hi")),
        case(A25, input(json!("{}")), input(json!({}))),
        case(A26, marked(5, &[]), marked(4, &[])),
        case(A26, marked(2, &["5m", "1h"]), marked(2, &["1h", "5m"])),
        case(A30, image(LIMIT + 3), image(LIMIT)),
    ]
}

fn thoughts() -> Vec<Case> {
    let with = |thinking: Value, more: Value| {
        let mut body = json!({"thinking": thinking});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    let on = || json!({"type": "enabled", "budget_tokens": 1024});
    let replayed = |block: Value| {
        let mut body = called(&[block, use_of("a")], &[result("a")]);
        body["thinking"] = on();
        body
    };
    let without = || {
        let mut body = called(&[use_of("a")], &[result("a")]);
        body["thinking"] = on();
        body
    };
    let budget = |tokens: u64| with(json!({"type": "enabled", "budget_tokens": tokens}), json!({}));
    let right = || replayed(thinking("Hm.", "signed"));
    vec![
        case(A15, without(), right()).before(messages(&[user("Hello")]), thought()),
        case(A16, replayed(thinking("Hm!", "signed")), right())
            .before(messages(&[user("Hello")]), thought()),
        case(A17, replayed(thinking("Hm.", "forged")), right())
            .before(messages(&[user("Hello")]), thought()),
        case(A18, with(on(), json!({})), with(json!({"type": "adaptive"}), json!({})))
            .service(r#"{"model": {"thinking": ["adaptive"]}}"#),
        case(A18, with(json!({"type": "deep"}), json!({})), with(on(), json!({}))),
        case(A19, budget(1023), budget(1024)),
        case(A19, budget(4096), budget(4095)),
        case(A20, with(on(), json!({"temperature": 0.5})), with(on(), json!({"temperature": 1}))),
        case(A20, with(on(), json!({"top_k": 5})), json!({"top_k": 5})),
        case(
            A20,
            with(on(), json!({"tools": [tool("f")], "tool_choice": {"type": "any"}})),
            with(on(), json!({"tools": [tool("f")], "tool_choice": {"type": "auto"}})),
        ),
    ]
}

fn tools() -> Vec<Case> {
    let named = |name: &str| json!({"tools": [tool(name)]});
    let schema = |schema: Value| json!({"tools": [{"name": "f", "input_schema": schema}]});
    let mut without_tools = called(&[use_of("a")], &[result("a")]);
    without_tools["tools"] = Value::Null;
    vec![
        case(A22, named("a tool"), named("a_tool-1")),
        case(A22, named(&"x".repeat(129)), named(&"x".repeat(128))),
        case(
            A23,
            json!({"tools": [tool("f"), tool("f")]}),
            json!({"tools": [tool("f"), tool("g")]}),
        ),
        case(A24, schema(Value::Null), schema(json!({"type": "object"}))),
        case(A24, schema(json!({"type": "array"})), schema(json!({"type": "object"}))),
        case(A29, without_tools, called(&[use_of("a")], &[result("a")])),
    ]
}

fn settings() -> Vec<Case> {
    let version = ("anthropic-version", "2023-06-01");
    vec![
        case(A21, json!({"max_tokens": null}), json!({"max_tokens": 1})),
        case(A21, json!({"max_tokens": 0}), json!({"max_tokens": 1})),
        case(A21, json!({"max_tokens": 101}), json!({"max_tokens": 100}))
            .service(r#"{"model": {"max_output": 100}}"#),
        case(A27, json!({"input": "x"}), json!({"metadata": {"user_id": "u"}})),
        case(A28, messages(&[user(&"x".repeat(600))]), messages(&[user(&"x".repeat(100))]))
            .service(r#"{"model": {"window": 100}}"#),
        case(A31, json!({"model": "other"}), json!({})).service(r#"{"models": {"m": {}}}"#),
        case(A32, json!({}), json!({})).headers(&[], &[version]),
        case(A33, json!({}), json!({}))
            .service(r#"{"keys": ["right"]}"#)
            .headers(&[version, ("x-api-key", "wrong")], &[version, ("x-api-key", "right")]),
    ]
}
