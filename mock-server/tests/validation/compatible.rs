//! The rules of compatible servers.

use conform_mock_server::script::{Call, CallPayload, Item, Reply};
use conform_mock_server::validate::RuleId::*;
use serde_json::{Value, json};

use crate::case::{Case, case};
use crate::responses::user;

pub(crate) fn cases() -> Vec<Case> {
    let role = |role: &str| json!({"role": role, "content": "Be brief."});
    let input = |items: &[Value]| json!({"input": items});
    let named = |items: &[Value]| json!({"input": items, "instructions": "Be brief."});
    let tool = |kind: &str| json!({"tools": [{"type": kind, "name": "f"}]});
    let looped = |reasoning: Option<&str>| {
        let mut message = json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        ]});
        if let Some(text) = reasoning {
            message["reasoning_content"] = json!(text);
        }
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "done"});
        json!({"messages": [{"role": "user", "content": "Hello"}, message, result]})
    };
    let ended = || {
        let mut body = looped(None);
        let last = [json!({"role": "assistant", "content": "Hi"}), user()];
        body["messages"].as_array_mut().unwrap().extend(last);
        body
    };
    vec![
        case(P1, input(&[role("developer"), user()]), input(&[role("system"), user()])),
        case(P2, tool("custom"), tool("function")),
        case(
            P2,
            json!({"tools": [{"type": "namespace", "name": "n", "tools": []}]}),
            tool("custom"),
        )
        .service(r#"{"tool_types": ["function", "custom"]}"#),
        case(P3, input(&[user(), role("system")]), input(&[role("system"), user()])),
        case(P3, named(&[role("system"), user()]), named(&[user()])),
        case(P4, looped(None), looped(Some("Hm."))).before(json!({}), reasoned()),
        case(P4, looped(None), ended()).before(json!({}), reasoned()),
    ]
}

/// A reply that reasons, then calls `f` with the id `a`.
fn reasoned() -> Reply {
    let reasoning = Item::Reasoning {
        summary: vec!["Hm.".to_owned()],
        content: Vec::new(),
        encrypted_content: None,
    };
    let call = Call::new("f", CallPayload::RawArguments("{}".to_owned()));
    let (call_id, must_be_offered) = (Some("a".to_owned()), false);
    Reply::of([reasoning, Item::Call(Call { call_id, must_be_offered, ..call })])
}
