//! One-turn runs: events, exit status, requests, transport.

use serde_json::{Value, json};

use crate::support::{
    Answer, Ended, Folder, Server, agent, call, calls, event, events, items, message, output,
    paired, run, said, say, shell,
};

fn types(ended: &Ended) -> Vec<&str> {
    ended.events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn a_turn_with_a_tool_call_runs_to_its_final_answer() {
    let folder = Folder::new();
    folder.file("README.md", "hello\n");
    let server = Server::start(vec![
        calls(vec![call("c1", "read", &json!({ "path": "README.md" }))]),
        say("It says hello."),
    ]);
    let ended = run(agent(&folder, &server, "read-only", &["What does the README say?"]));

    assert_eq!(ended.status, 0);
    assert_eq!(
        types(&ended),
        [
            "session.started",
            "turn.started",
            "request.sent",
            "tool.started",
            "tool.completed",
            "request.sent",
            "message",
            "turn.completed"
        ]
    );
    assert_eq!(ended.of("turn.completed")[0]["final"], "It says hello.");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(output(&requests[1], "c1"), Some("ok\nhello\n"));
    assert!(paired(&requests[1]));
    assert!(server.received()[0].headers.to_lowercase().contains("authorization: bearer test-key"));
}

#[test]
fn the_same_run_sends_the_same_bytes_and_each_request_extends_the_last() {
    let folder = Folder::new();
    let script = || {
        Server::start(vec![
            Answer::Items(vec![
                json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "zzz" }),
                message("Looking."),
                shell("c1", "pwd"),
                shell("c2", "exit 3"),
            ]),
            say("done"),
        ])
    };
    let (first, second) = (script(), script());
    run(agent(&folder, &first, "ask", &["go"]));
    run(agent(&folder, &second, "ask", &["go"]));
    let raw = |server: &Server| -> Vec<Vec<u8>> {
        server.received().into_iter().map(|request| request.raw).collect()
    };
    assert_eq!(raw(&first), raw(&second));
    let raw = raw(&first);
    assert!(raw[1].starts_with(raw[0].strip_suffix(b"]}").unwrap()));

    let request = &first.requests()[1];
    let kinds: Vec<&str> = request["input"].as_array().unwrap()[3..]
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "reasoning",
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output"
        ]
    );
    assert_eq!(items(request, "reasoning")[0]["encrypted_content"], "zzz");
    assert_eq!(output(request, "c2"), Some("error: command failed\nexit status 3\n"));
}

#[test]
fn without_an_approver_a_gated_action_is_denied_and_leaves_nothing() {
    let folder = Folder::new();
    let server = Server::start(vec![calls(vec![shell("c1", "touch made")]), say("denied")]);
    let ended = run(agent(&folder, &server, "ask", &["go"]));
    assert_eq!(ended.status, 0);
    assert!(!folder.has("made"));
    let asked = ended.of("approval.requested");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["action"], json!({ "command": "touch made" }));
    assert_eq!(ended.of("approval.decided")[0]["by"], "no-approver");
    assert_eq!(ended.of("tool.completed")[0]["status"], "denied");
    assert_eq!(output(&server.requests()[1], "c1"), Some("denied: no approver"));
}

#[test]
fn bad_calls_are_answered_with_errors() {
    let folder = Folder::new();
    let mut broken = shell("c2", "touch made");
    broken["arguments"] = json!("{\"command\": \"touch made\"");
    let server = Server::start(vec![
        calls(vec![call("c1", "exec", &json!({ "command": "touch made" })), broken]),
        say("done"),
    ]);
    run(agent(&folder, &server, "full", &["go"]));
    let request = &server.requests()[1];
    assert_eq!(output(request, "c1"), Some("error: tool not offered: exec"));
    assert!(output(request, "c2").unwrap().starts_with("error: bad arguments for shell: "));
    assert!(!folder.has("made"));
}

#[test]
fn server_errors_and_cut_streams_are_retried_with_the_same_bytes() {
    let folder = Folder::new();
    let whole = events(&[shell("c1", "echo x >> effect")]);
    let cut = whole[..whole.find("event: response.completed").unwrap()].to_owned();
    let server = Server::start(vec![
        Answer::Status { code: 503, headers: "retry-after: 0\r\n", body: "busy" },
        Answer::Raw(cut),
        Answer::Raw(whole),
        say("done"),
    ]);
    let ended = run(agent(&folder, &server, "full", &["go"]));
    assert_eq!(ended.status, 0);
    assert_eq!(folder.text("effect"), "x\n");
    let received = server.received();
    assert_eq!(received.len(), 4);
    assert!(received[0].raw == received[1].raw && received[1].raw == received[2].raw);
    let sent: Vec<(&Value, &Value)> =
        ended.of("request.sent").iter().map(|event| (&event["n"], &event["attempt"])).collect();
    assert_eq!(json!(sent), json!([[1, 1], [2, 2], [3, 3], [4, 1]]));
}

#[test]
fn failures_end_the_turn_after_bounded_attempts() {
    let busy = || Answer::Status { code: 500, headers: "", body: "down" };
    let incomplete = event(&json!({
        "type": "response.incomplete",
        "response": { "incomplete_details": { "reason": "max_output_tokens" } },
    }));
    let cases: Vec<(Vec<Answer>, usize, &str)> = vec![
        (vec![busy(), busy(), busy(), busy()], 3, "the server answered 500"),
        (
            vec![Answer::Status { code: 400, headers: "", body: "bad" }, say("no")],
            1,
            "the server answered 400 Bad Request: bad",
        ),
        (vec![Answer::Raw(incomplete), say("no")], 1, "the reply is incomplete: max_output_tokens"),
        (
            vec![
                Answer::Raw(String::new()),
                Answer::Raw(String::new()),
                Answer::Raw(String::new()),
            ],
            3,
            "the stream ended before its terminal event",
        ),
    ];
    for (answers, attempts, error) in cases {
        let folder = Folder::new();
        let server = Server::start(answers);
        let ended = run(agent(&folder, &server, "full", &["go"]));
        assert_eq!(ended.status, 1, "{error}");
        assert_eq!(server.requests().len(), attempts, "{error}");
        let told = ended.of("turn.failed")[0]["error"].as_str().unwrap();
        assert!(told.starts_with(error), "{told}");
    }
}

#[test]
fn an_odd_stream_is_read_like_a_plain_one() {
    let folder = Folder::new();
    let odd = events(&[message("é ✓")])
        .replace('\n', "\r\n")
        .replace("event: response.completed", ": ping\r\n\r\nid: 3\r\nevent: response.completed");
    let server = Server::start(vec![Answer::Raw(odd)]);
    let ended = run(agent(&folder, &server, "ask", &["go"]));
    assert_eq!(ended.of("turn.completed")[0]["final"], "é ✓");
}

#[test]
fn an_unknown_item_is_reported_and_replayed() {
    let folder = Folder::new();
    let odd =
        json!({ "type": "web_search_call", "id": "ws_1", "status": "completed", "extra": [1] });
    let server =
        Server::start(vec![Answer::Items(vec![odd.clone(), shell("c1", "pwd")]), say("done")]);
    let ended = run(agent(&folder, &server, "ask", &["go"]));
    assert_eq!(ended.of("item.unknown")[0]["item_type"], "web_search_call");
    assert_eq!(items(&server.requests()[1], "web_search_call"), [&odd]);
}

#[test]
fn bad_usage_ends_with_two_before_any_request() {
    let folder = Folder::new();
    let server = Server::start(vec![]);
    for more in [
        &[][..],
        &["--dialogue", "prompt"],
        &["--defect", "none-such", "go"],
        &["--resume", "go"],
        &["--resume", "--session-file", "none.json", "go"],
    ] {
        assert_eq!(run(agent(&folder, &server, "ask", more)).status, 2, "{more:?}");
    }
    assert_eq!(run(agent(&folder, &server, "sometimes", &["go"])).status, 2);
    assert!(server.received().is_empty());
}

#[test]
fn the_defects_are_listed_as_json() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lab-agent"));
    let output = command.arg("--list-defects").output().unwrap();
    assert!(output.status.success());
    let cards: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(cards.len(), conform_lab_agent::Defect::ALL.len());
    for card in cards {
        for key in ["name", "breaks", "layer", "title"] {
            assert!(card[key].as_str().is_some_and(|text| !text.is_empty()), "{card}");
        }
    }
}

#[test]
fn a_resumed_session_goes_on_with_fresh_rules_and_the_policy_given_anew() {
    let folder = Folder::new();
    folder.file("AGENTS.md", "old rules\n");
    let kept = folder.base().join("home/session.json").display().to_string();
    let first = Server::start(vec![calls(vec![shell("c1", "touch made")]), say("one")]);
    run(agent(&folder, &first, "full", &["--session-file", &kept, "first"]));
    assert!(folder.has("made"));

    folder.file("AGENTS.md", "new rules\n");
    let second = Server::start(vec![calls(vec![shell("c2", "touch again")]), say("two")]);
    let ended =
        run(agent(&folder, &second, "ask", &["--session-file", &kept, "--resume", "second"]));
    assert_eq!(ended.of("session.started")[0]["resumed"], true);
    assert!(!folder.has("again"));
    let request = &second.requests()[0];
    let text = request.to_string();
    assert!(text.contains("new rules") && !text.contains("old rules"));
    assert!(said(request, "developer")[0].contains("policy=\"ask\""));
    assert!(said(request, "user").ends_with(&["first", "second"]));
    assert!(paired(request));
    assert_eq!(request["prompt_cache_key"], first.requests()[0]["prompt_cache_key"]);
}
