//! What a script says of validation and provider, and what is the same with any.

use conform_mock_server::document::Source;
use conform_mock_server::journal::Route;
use conform_mock_server::script::{Reply, Script, load};
use conform_mock_server::server::MockServer;
use conform_mock_server::validate::{Base, RuleId, Rules, Validation};

use crate::case::refusal;

fn read(text: &str) -> Result<Script, String> {
    load(&Source::new("script.yaml", text))
        .map_err(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

#[test]
fn rules_and_facts_are_read() {
    let script = read(
        "turns: []
validation:
  strict: true
  on: [C8]
  off: [R12, A13]
  keys: [right]
  models:
    m: {window: 1000, efforts: [low], thinking: [adaptive], prefill: false}
  model: {max_output: 5}
provider: openai",
    )
    .unwrap();
    let Validation { base, on, off, service } = &script.validation;
    assert_eq!(
        (*base, on, off),
        (Some(Base::Strict), &vec![RuleId::C8], &vec![RuleId::R12, RuleId::A13],)
    );
    assert_eq!(service.keys, ["right"]);
    assert_eq!(service.models["m"].window, Some(1000));
    assert_eq!(service.models["m"].efforts, Some(vec!["low".to_owned()]));
    assert_eq!(service.model.max_output, Some(5));
    assert_eq!(script.provider.unwrap().name, "openai");
}

#[test]
fn a_set_of_rules_is_named_in_a_word() {
    for (word, rules) in
        [("none", Rules::none()), ("lenient", Rules::lenient()), ("strict", Rules::strict())]
    {
        let script = read(&format!("turns: []\nvalidation: {word}")).unwrap();
        assert_eq!(script.validation.rules(None), rules, "{word}");
    }
    assert_eq!(read("turns: []").unwrap().validation.rules(None), Rules::lenient());
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    insta::assert_snapshot!(
        read(
            "turns: []
validation:
  strict: maybe
  on: [r12, R99, C8]
  off: [C8, R35]
  keys: right
  models:
    m: {windows: 1000, reasoning: 3}
  lenient: true
provider: opnai
"
        )
        .unwrap_err()
    );
    insta::assert_snapshot!(
        ["hard", "{on: [C8, A1], off: [A1]}"]
            .map(|validation| read(&format!("turns: []\nvalidation: {validation}")).unwrap_err())
            .join("---\n")
    );
}

#[tokio::test]
async fn syntax_and_place_are_checked_always() {
    let script = Script::of([Reply::say("Well.")]);
    let validation = Validation::none();
    let server = MockServer::builder(script).validation(validation).start().await.unwrap();
    let post = |path: &str| {
        let url = format!("{}{path}", server.base_url());
        reqwest::Client::new().post(url).body("{").send()
    };
    // R35.
    for path in ["/responses", "/chat/completions", "/messages"] {
        let answer = post(path).await.unwrap();
        assert_eq!(answer.status(), 400, "{path}");
        assert_eq!(refusal(&server).unwrap().rule, RuleId::R35, "{path}");
    }
    // R37.
    let answer = post("/respond").await.unwrap();
    let rule = RuleId::R37.rule();
    assert_eq!(answer.status(), rule.status);
    let error: serde_json::Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    assert_eq!(error["error"]["code"].as_str(), rule.code);
    assert_eq!(error["error"]["type"], rule.kind);
    assert_eq!(server.journal().snapshot().pop().unwrap().route, Route::Unknown);
    assert_eq!(server.unused_turns().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_told_when_the_script_is_verified() {
    let server = MockServer::builder(Script::of([])).start().await.unwrap();
    let url = format!("{}/responses", server.base_url());
    let body = r#"{"input": "Hello"}"#;
    reqwest::Client::new().post(url).body(body).send().await.unwrap();
    assert_eq!(
        server.verify().unwrap_err().to_string(),
        "1 thing does not fit the script:\n- request 1 was refused by rule R21: missing required \
         parameter: 'model'"
    );
}

#[tokio::test]
async fn a_lenient_server_takes_what_a_strict_one_refuses() {
    let body = r#"{"model": "m", "input": [{"type": "function_call_output", "call_id": "a", "output": ""}]}"#;
    for (validation, status) in [(Validation::default(), 200), (Validation::strict(), 400)] {
        let script = Script::of([Reply::say("Well.")]);
        let server = MockServer::builder(script).validation(validation).start().await.unwrap();
        let url = format!("{}/responses", server.base_url());
        let answer = reqwest::Client::new().post(url).body(body).send().await.unwrap();
        assert_eq!(answer.status(), status);
    }
}
