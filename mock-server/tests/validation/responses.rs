//! The rules of the Responses API.

use conform_mock_server::script::{Call, CallPayload, Item, Reply};
use conform_mock_server::validate::RuleId::*;
use serde_json::{Value, json};

use crate::case::{Case, case};

pub(crate) fn user() -> Value {
    json!({"role": "user", "content": "Hello"})
}

pub(crate) fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "done"})
}

fn input(items: &[Value]) -> Value {
    json!({"input": items})
}

fn message(id: &str) -> Value {
    json!({
        "type": "message",
        "id": id,
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
    })
}

/// Reasoning with the encrypted content of [`reasoned`].
fn reasoning(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "opaque"})
}

/// A reply that reasons, then speaks: the items `rs_1_1` and `msg_1_2`.
fn reasoned() -> Reply {
    let (summary, encrypted_content) = (Vec::new(), Some("opaque".to_owned()));
    Reply::of([
        Item::Reasoning { summary, content: Vec::new(), encrypted_content },
        Item::message("Hi"),
    ])
}

/// A reply that calls `f` with the id `call_a`.
fn called() -> Reply {
    let call = Call::new("f", CallPayload::RawArguments("{}".to_owned()));
    let (call_id, must_be_offered) = (Some("call_a".to_owned()), false);
    Reply::of([Item::Call(Call { call_id, must_be_offered, ..call })])
}

fn function(name: &str, parameters: &Value) -> Value {
    json!({"type": "function", "name": name, "parameters": parameters})
}

fn strict(parameters: &Value) -> Value {
    let mut tool = function("f", parameters);
    tool["strict"] = json!(true);
    json!({"tools": [tool]})
}

fn grammar(syntax: &str, definition: &str) -> Value {
    let format = json!({"type": "grammar", "syntax": syntax, "definition": definition});
    json!({"tools": [{"type": "custom", "name": "patch", "format": format}]})
}

fn format(schema: &Value) -> Value {
    json!({"text": {"format": {"type": "json_schema", "name": "s", "schema": schema}}})
}

fn image(data: &str) -> Value {
    let url = format!("data:image/png;base64,{data}");
    let image = json!({"type": "input_image", "detail": "auto", "image_url": url});
    input(&[json!({"role": "user", "content": [image]})])
}

const REASONS: &str = r#"{"model": {"reasoning": true, "efforts": ["low", "high"]}}"#;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = pairing();
    cases.extend(reasonings());
    cases.extend(items());
    cases.extend(tools());
    cases.extend(settings());
    cases
}

fn pairing() -> Vec<Case> {
    let custom = json!({"type": "custom_tool_call", "call_id": "a", "name": "p", "input": ""});
    let custom_output = json!({"type": "custom_tool_call_output", "call_id": "a", "output": ""});
    let chained =
        |items: &[Value], previous: &str| json!({"input": items, "previous_response_id": previous});
    vec![
        case(R1, input(&[user(), call("a")]), input(&[user(), call("a"), output("a")])),
        case(R1, input(&[custom.clone(), user()]), input(&[custom, custom_output])),
        case(R2, input(&[user(), output("a")]), input(&[user(), call("a"), output("a")])),
        case(
            R2,
            chained(&[output("call_a"), output("call_b")], "resp_1"),
            chained(&[output("call_a")], "resp_1"),
        )
        .before(json!({}), called()),
        case(
            R3,
            input(&[message("msg_a"), message("msg_a")]),
            input(&[message("msg_a"), message("msg_b")]),
        ),
        case(
            R4,
            input(&[call("a"), output("a"), output("a")]),
            input(&[call("a"), output("a"), call("b"), output("b")]),
        ),
        case(
            R4,
            input(&[call("a"), call("a"), output("a")]),
            input(&[call("a"), call("b"), output("a"), output("b")]),
        ),
        case(
            R28,
            json!({"previous_response_id": "resp_1", "conversation": "conv_1"}),
            json!({
                "previous_response_id": "resp_1",
            }),
        )
        .before(json!({}), Reply::say("Hi")),
        case(R29, chained(&[user()], "resp_9"), chained(&[user()], "resp_1"))
            .before(json!({}), Reply::say("Hi")),
        case(R29, chained(&[user()], "resp_1"), input(&[user()]))
            .before(json!({"store": false}), Reply::say("Hi")),
        case(R30, chained(&[user()], "resp_1"), chained(&[output("call_a"), user()], "resp_1"))
            .before(json!({}), called()),
    ]
}

fn reasonings() -> Vec<Case> {
    let without_content = json!({"type": "reasoning", "id": "rs_1_1", "summary": []});
    let with = |store: bool, items: &[Value]| json!({"input": items, "store": store});
    let foreign = json!({"type": "reasoning", "summary": [], "encrypted_content": "other"});
    let ours = json!({"type": "reasoning", "summary": [], "encrypted_content": "opaque"});
    let whole = [user(), reasoning("rs_1_1"), message("msg_1_2")];
    vec![
        case(R5, input(&[reasoning("rs_1_1"), user()]), input(&whole))
            .before(json!({}), reasoned()),
        case(R6, input(&[user(), message("msg_1_2")]), input(&whole)).before(json!({}), reasoned()),
        case(
            R7,
            with(false, &[without_content.clone(), message("msg_1_2")]),
            with(true, &[without_content, message("msg_1_2")]),
        )
        .before(json!({}), reasoned()),
        case(
            R7,
            with(false, &[json!({"type": "item_reference", "id": "msg_x"})]),
            with(false, &[message("msg_x")]),
        ),
        case(R8, input(&[foreign, message("msg_x")]), input(&[ours, message("msg_x")]))
            .before(json!({}), reasoned()),
        case(
            R9,
            input(&[json!({"type": "reasoning"}), message("msg_x")]),
            input(&[json!({"type": "reasoning", "summary": []}), message("msg_x")]),
        ),
    ]
}

fn items() -> Vec<Case> {
    let role = |role: &str| input(&[json!({"role": role, "content": "Hello"})]);
    let part = |role: &str, part: &str| {
        input(&[json!({"role": role, "content": [{"type": part, "text": "Hello"}]})])
    };
    let with_id = |id: &str| {
        let mut call = call("a");
        call["id"] = json!(id);
        input(&[call, output("a")])
    };
    let long = "x".repeat(65);
    let just = "x".repeat(64);
    let trigger = || json!({"type": "compaction_trigger"});
    vec![
        case(R10, role("boss"), role("developer")),
        case(
            R11,
            input(&[user(), json!({"type": "dream"})]),
            input(&[
                user(),
                json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
            ]),
        ),
        case(R12, part("assistant", "input_text"), part("assistant", "output_text")),
        case(R12, part("user", "output_text"), part("user", "input_text")),
        case(R13, with_id("call_1"), with_id("fc_1")),
        case(R14, input(&[call(&long), output(&long)]), input(&[call(&just), output(&just)])),
        case(R33, image("TWFu"), image("iVBORw0KGgo=")),
        case(R38, input(&[trigger(), user()]), input(&[user(), trigger()])),
        case(R38, input(&[user(), trigger(), trigger()]), input(&[user(), trigger()])),
    ]
}

fn tools() -> Vec<Case> {
    let named = |name: &str| json!({"tools": [function(name, &json!({}))]});
    let two = |one: &str, other: &str| json!({"tools": [function(one, &json!({})), function(other, &json!({}))]});
    let inside = |one: &str, other: &str| {
        let tools = [function(one, &json!({})), function(other, &json!({}))];
        json!({"tools": [{"type": "namespace", "name": "n", "description": "", "tools": tools}]})
    };
    let choose = |name: &str| {
        json!({
            "tools": [function("f", &json!({}))],
            "tool_choice": {"type": "function", "name": name},
        })
    };
    let open = json!({"type": "object", "properties": {}});
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let object = json!({"tools": [function("f", &open)]});
    vec![
        case(R15, named("a tool"), named("a_tool-1")),
        case(R15, named(&"x".repeat(129)), named(&"x".repeat(128)))
            .code(Some("string_above_max_length")),
        case(R16, two("f", "f"), two("f", "g")),
        case(R16, inside("f", "f"), inside("f", "g")),
        case(R17, strict(&open), strict(&closed)),
        case(R18, json!({"tools": [function("f", &json!({"type": "array"}))]}), object),
        case(R19, format(&json!({"type": "string"})), format(&open)),
        case(R20, grammar("lark", "begin: WORD"), grammar("lark", "start: WORD")),
        case(R20, grammar("regex", "(a"), grammar("regex", "(a)")),
        case(R32, choose("g"), choose("f")),
    ]
}

fn settings() -> Vec<Case> {
    let metadata = |count: usize, length: usize| {
        let pairs = (0..count).map(|index| (format!("k{index}"), json!("x".repeat(length))));
        json!({"metadata": Value::Object(pairs.collect())})
    };
    let text = |length: usize| json!({"input": "x".repeat(length)});
    let truncated = |length: usize| json!({"input": "x".repeat(length), "truncation": "auto"});
    let backend = |store: bool| json!({"store": store, "stream": true, "instructions": "Be."});
    vec![
        case(R21, json!({"model": null}), json!({})),
        case(R21, json!({"model": ""}), json!({})),
        case(R22, json!({"model": "other"}), json!({})).service(r#"{"models": {"m": {}}}"#),
        case(R23, json!({"client_metadata": {}}), json!({"metadata": {}})),
        case(R24, json!({"temperature": "hot"}), json!({"temperature": 0.5})),
        case(R24, json!({"tools": {}}), json!({"tools": []})),
        case(R25, json!({"temperature": 1}), json!({"reasoning": {"effort": "low"}}))
            .service(REASONS),
        case(R25, json!({"reasoning": {"effort": "low"}}), json!({"temperature": 1}))
            .service(r#"{"model": {"reasoning": false}}"#),
        case(
            R26,
            json!({"reasoning": {"effort": "max"}}),
            json!({"reasoning": {"effort": "high"}}),
        )
        .service(REASONS),
        case(R26, json!({"text": {"verbosity": "chatty"}}), json!({"text": {"verbosity": "low"}})),
        case(R27, json!({"input": []}), input(&[user()])),
        case(R27, json!({"input": null}), json!({"input": null, "prompt": {"id": "pmpt_1"}})),
        case(R31, text(404), text(400)).service(r#"{"model": {"window": 100}}"#),
        case(R31, text(404), truncated(404)).service(r#"{"model": {"window": 100}}"#),
        case(R34, metadata(17, 1), metadata(16, 1)).code(Some("object_above_max_properties")),
        case(R34, metadata(1, 513), metadata(1, 512)),
        case(R36, json!({}), json!({}))
            .service(r#"{"keys": ["right"]}"#)
            .headers(&[("authorization", "Bearer wrong")], &[("authorization", "Bearer right")]),
        case(R39, backend(true), backend(false)),
        case(R36, json!({}), json!({}))
            .service(r#"{"keys": ["right"]}"#)
            .headers(&[], &[("api-key", "right")])
            .code(None),
    ]
}
