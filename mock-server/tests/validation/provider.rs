//! Providers, as a client meets them.

use conform_mock_server::journal::{Dropped, ModelExchange, Outcome, Route};
use conform_mock_server::provider::Provider;
use conform_mock_server::script::{Reply, Script, Usage};
use conform_mock_server::server::MockServer;
use conform_mock_server::validate::{RuleId, Validation};
use conform_mock_server::wire::Wire;
use serde_json::{Value, json};

use crate::case::refusal;

async fn play(name: &str, replies: impl IntoIterator<Item = Reply>) -> MockServer {
    let provider = Provider::named(name).unwrap_or_else(|| panic!("{name}"));
    MockServer::builder(Script::of(replies)).provider(provider).start().await.unwrap()
}

/// Status, headers in lines, body.
async fn post(server: &MockServer, path: &str, body: &Value) -> (u16, String, Value) {
    let post = reqwest::Client::new()
        .post(format!("{}{path}", server.base_url()))
        .header("anthropic-version", "2023-06-01")
        .body(body.to_string());
    let answer = post.send().await.unwrap();
    let status = answer.status().as_u16();
    let headers = format!("{:?}", answer.headers());
    let text = answer.text().await.unwrap();
    (status, headers, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

fn chat(messages: &[(&str, &str)]) -> Value {
    let message = |(role, text): &(&str, &str)| json!({"role": role, "content": text});
    json!({"model": "m", "messages": messages.iter().map(message).collect::<Vec<_>>()})
}

fn model(server: &MockServer) -> ModelExchange {
    let exchanges = server.journal().snapshot();
    match &exchanges.last().unwrap().route {
        Route::Model(model) => model.clone(),
        other => panic!("{other:?}"),
    }
}

const PATHS: [(Wire, &str); 3] = [
    (Wire::Responses, "/responses"),
    (Wire::Chat, "/chat/completions"),
    (Wire::Messages, "/messages"),
];

/// A request that every service takes.
fn plain(wire: Wire) -> Value {
    let messages = json!([{"role": "user", "content": "Hello"}]);
    match wire {
        Wire::Chat => json!({"model": "m", "messages": messages}),
        Wire::Messages => json!({"model": "m", "max_tokens": 10, "messages": messages}),
        Wire::Responses => json!({
            "model": "m",
            "input": messages,
            "instructions": "Be brief.",
            "store": false,
            "stream": true,
        }),
    }
}

#[tokio::test]
async fn each_provider_answers_on_its_wires_alone() {
    for provider in Provider::builtin() {
        for (wire, path) in PATHS {
            let server = play(&provider.name, [Reply::say("Well.")]).await;
            let (status, _, answer) = post(&server, path, &plain(wire)).await;
            let name = &provider.name;
            if provider.speaks(wire) {
                assert_eq!(status, 200, "{name} {wire}: {answer}");
                server.assert_finished();
            } else {
                assert_eq!(status, 404, "{name} {wire}: {answer}");
                assert_eq!(server.journal().snapshot()[0].route, Route::Unknown);
                assert_eq!(server.unused_turns().len(), 1);
            }
        }
    }
}

/// What each provider says to a conversation that begins with a developer message, then has a
/// system message too.
#[tokio::test]
async fn providers_take_high_messages_each_in_its_own_way() {
    let mut told = Vec::new();
    for provider in Provider::builtin().filter(|provider| provider.speaks(Wire::Chat)) {
        for messages in [
            [("developer", "Be brief."), ("user", "Hello")].as_slice(),
            &[("system", "Be brief."), ("user", "Hello"), ("system", "Be kind.")],
        ] {
            let server = play(&provider.name, [Reply::say("Well.")]).await;
            let (status, _, answer) = post(&server, "/chat/completions", &chat(messages)).await;
            let (name, role) = (&provider.name, messages[0].0);
            let answer = if status == 200 { json!("taken") } else { answer };
            told.push(format!("{name}, {role}: {status} {answer}"));
        }
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[tokio::test]
async fn a_developer_message_is_lost_without_a_word() {
    for (wire, path, list) in
        [(Wire::Responses, PATHS[0].1, "input"), (Wire::Chat, PATHS[1].1, "messages")]
    {
        let server = play("drops-developer", [Reply::say("Well.")]).await;
        let mut body = plain(wire);
        let developer = json!({"role": "developer", "content": "Never run a command."});
        body[list].as_array_mut().unwrap().insert(0, developer);
        let (status, _, answer) = post(&server, path, &body).await;
        assert_eq!(status, 200, "{answer}");
        server.assert_finished();

        let exchange = model(&server);
        let at = Dropped { pointer: format!("/{list}/0"), role: "developer".to_owned() };
        assert_eq!(exchange.dropped, [at]);
        assert_eq!(*exchange.json.unwrap(), body, "the journal keeps what was sent");
        assert_eq!(*exchange.effective.unwrap(), plain(wire), "and what the model reads");
    }
}

#[tokio::test]
async fn tools_of_other_types_are_refused_by_compatible_servers() {
    let tools = json!([{"type": "namespace", "name": "n", "description": "", "tools": []}]);
    let mut body = plain(Wire::Responses);
    body["tools"] = tools;
    for (name, status) in [("openai", 200), ("openai-no-developer", 400), ("ollama-like", 400)] {
        let server = play(name, [Reply::say("Well.")]).await;
        let (got, _, answer) = post(&server, "/responses", &body).await;
        assert_eq!(got, status, "{name}: {answer}");
        let rule = refusal(&server).map(|refusal| refusal.rule);
        assert_eq!(rule, (status == 400).then_some(RuleId::P2), "{name}");
    }
}

#[tokio::test]
async fn errors_and_headers_are_those_of_the_provider() {
    let developer = chat(&[("developer", "Be brief."), ("user", "Hello")]);

    let server = play("pydantic-server", [Reply::say("Well.")]).await;
    let (status, _, answer) = post(&server, "/chat/completions", &developer).await;
    assert_eq!(status, 422);
    assert_eq!(answer["detail"][0]["loc"], json!(["body", "messages", 0, "role"]));
    let Outcome::Refused(refused) = model(&server).outcome else { panic!("taken") };
    assert_eq!((refused.status, refused.rule), (422, RuleId::C8));
    assert_eq!(model(&server).answer.unwrap().status, 422);

    let server = play("azure-like", [Reply::say("Well.")]).await;
    let (_, headers, _) = post(&server, "/chat/completions", &developer).await;
    assert!(headers.contains("apim-request-id"), "{headers}");
    let (status, headers, _) = post(&server, "/chat/completions", &json!({})).await;
    assert!(status == 400 && headers.contains("apim-request-id"), "errors have them too");

    let server = play("chatgpt-backend", [Reply::say("Well.")]).await;
    let body = json!({"model": "m", "input": "Hello", "store": true});
    let (status, _, answer) = post(&server, "/responses", &body).await;
    assert_eq!((status, answer), (400, json!({"detail": "Store must be set to false"})));
}

#[tokio::test]
async fn call_ids_and_usage_are_those_of_the_provider() {
    let call = Reply::call("f", serde_json::Map::new());
    let reply = Reply { usage: Usage { input: 10, cached: 4, output: 2, reasoning: 0 }, ..call };
    let mut body = chat(&[("user", "Hello")]);
    body["tools"] = json!([{"type": "function", "function": {"name": "f"}}]);

    let server = play("mistral-like", [reply.clone()]).await;
    let (_, _, answer) = post(&server, "/chat/completions", &body).await;
    let id = answer["choices"][0]["message"]["tool_calls"][0]["id"].as_str().unwrap().to_owned();
    assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
    let Outcome::Served(given) = model(&server).outcome else { panic!("refused") };
    assert_eq!(given.call_ids, [id], "the journal has the ids that were given");
    let totals = json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12});
    assert_eq!(answer["usage"], totals);

    let server = play("deepseek-like", [reply]).await;
    let (_, _, answer) = post(&server, "/chat/completions", &body).await;
    assert_eq!(answer["usage"]["prompt_cache_hit_tokens"], 4);
    assert_eq!(answer["usage"]["prompt_cache_miss_tokens"], 6);
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["id"], "call_1_1");
}

#[tokio::test]
async fn what_a_test_says_goes_before_the_provider() {
    let developer = chat(&[("developer", "Be brief."), ("user", "Hello")]);
    let provider = Provider::named("openai-no-developer").unwrap();
    let off = Validation { off: vec![RuleId::C8], ..Validation::default() };
    let server = MockServer::builder(Script::of([Reply::say("Well.")]))
        .provider(provider)
        .validation(off)
        .start()
        .await
        .unwrap();
    assert_eq!(post(&server, "/chat/completions", &developer).await.0, 200);
}
