//! The ACP driver with a small shell script in the agent's place.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod fake_agent;

use std::collections::BTreeMap;

use conform::agent::profile::{AcpCompact, AcpSteer};
use conform::driver::{
    Action, Context, Driver, DriverError, DriverKind, Interjections, Taken, TurnOutcome,
};
use conform::scenario::Approver;
use conform_reports::record::Exit;
use serde_json::{Value, json};
use tokio::time::Instant;

use fake_agent::{Agent, SHORT, failed, keeper, said};

/// What a script may use. `open` is the handshake; `hear` shows a line on standard error; `turn`
/// takes a prompt; `tell UPDATE` tells something about the session; `ask ID CALL OPTIONS` asks, and
/// shows the answer; `answer ID RESULT`; `wait_for_end` is for the end of standard input.
const PRELUDE: &str = r#"
hear() { read -r line; printf '%s\n' "$line" >&2; }
answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$1,\"result\":$2}"; }
open() {
    hear; answer 1 '{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}'
    hear; answer 2 '{"sessionId":"s1"}'
}
tell() { echo "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":$1}}"; }
say() { tell "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
call() { tell "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"$1\",\"title\":\"$2\"}"; }
end() { answer "$1" "{\"stopReason\":\"$2\"}"; }
ask() {
    echo "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"$2\"},\"options\":[$3]}}"
    hear
}
wait_for_end() { while read -r line; do printf '%s\n' "$line" >&2; done; }
"#;

const OPTIONS: &str = r#"{"optionId":"a","kind":"allow_always"},{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}"#;

impl Agent {
    fn acp(script: &str) -> Self {
        Self::new(DriverKind::Acp, &format!("{PRELUDE}{script}"))
    }
}

/// The lines that the script showed on standard error.
fn shown(stderr: &str) -> Vec<Value> {
    stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn one_session_takes_every_prompt() {
    let script = "open; hear; answer 3 null
        hear; say 'I look.'; call c1 Read; say 'one: '; say ok; end 4 end_turn
        hear; say 'two: ok'; end 5 end_turn; wait_for_end; exit 5";
    let mut agent = Agent::acp(script);
    agent.acp.mode = Some("careful".to_owned());
    let (outcomes, dialogue) = agent.drive(&["one", "a \"b\"\n"]).await;
    let outcomes: Vec<TurnOutcome> = outcomes.into_iter().map(Result::unwrap).collect();
    assert_eq!(outcomes, [said("one: ok"), said("two: ok")]);
    assert_eq!(dialogue.turns, outcomes);
    assert_eq!(dialogue.exit, Exit::Status { status: 5 });
    assert!(!dialogue.timed_out && dialogue.unanswered.is_empty());

    let mut sent = shown(&dialogue.stderr);
    let files = json!({"readTextFile": false, "writeTextFile": false});
    assert_eq!(sent[0]["params"]["clientCapabilities"], json!({"fs": files, "terminal": false}));
    sent[0]["params"] = json!("client");
    let request = |id: u8, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let prompt = |id: u8, text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        request(id, "session/prompt", json!({"sessionId": "s1", "prompt": content}))
    };
    let expected = [
        request(1, "initialize", json!("client")),
        request(2, "session/new", json!({"cwd": "/", "mcpServers": []})),
        request(3, "session/set_mode", json!({"sessionId": "s1", "modeId": "careful"})),
        prompt(4, "one"),
        prompt(5, "a \"b\"\n"),
    ];
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn approvals_get_the_approvers_answer() {
    for (approver, allowed, id) in [(Approver::Deny, false, "n"), (Approver::Allow, true, "y")] {
        let script = format!(
            "open; hear; call c1 'Write f'; ask 0 c1 '{OPTIONS}'; ask '\"x\"' c2 '{OPTIONS}'
            say done; end 3 end_turn; wait_for_end"
        );
        let mut agent = Agent::acp(&script);
        agent.approver = approver;
        let (outcome, dialogue) = agent.drive_once().await;
        assert_eq!(outcome, said("done"));
        let chosen = json!({"outcome": {"outcome": "selected", "optionId": id}});
        let answers = [
            json!({"jsonrpc": "2.0", "id": 0, "result": chosen}),
            json!({"jsonrpc": "2.0", "id": "x", "result": chosen}),
        ];
        assert_eq!(shown(&dialogue.stderr)[3..], answers);
        let seen: Vec<_> = dialogue
            .approvals
            .iter()
            .map(|one| (one.call_id.as_deref(), one.action.as_str(), one.allowed))
            .collect();
        let hidden = "an action that the agent does not show";
        assert_eq!(seen, [(Some("c1"), "Write f", allowed), (Some("c2"), hidden, allowed)]);
        assert!(dialogue.unanswered.is_empty());
    }
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_and_kept() {
    let script = r#"open; hear; ask 0 c1 '{"optionId":"a","kind":"allow_always"}'
        echo '{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"path":"/x"}}'; hear
        say done; end 3 end_turn; wait_for_end"#;
    let mut agent = Agent::acp(script);
    agent.approver = Approver::Allow;
    let (outcome, dialogue) = agent.drive_once().await;
    assert_eq!(outcome, said("done"));
    let [permission, file] = dialogue.unanswered.as_slice() else { panic!("two are kept") };
    assert!(permission.starts_with("session/request_permission without"), "{permission}");
    assert_eq!(file, "fs/read_text_file");
    assert!(!dialogue.approvals[0].allowed);
    let answers = &shown(&dialogue.stderr)[3..];
    assert_eq!(answers[0]["result"], json!({"outcome": {"outcome": "cancelled"}}));
    assert_eq!(answers[1]["error"]["code"], json!(-32601));
}

#[tokio::test]
async fn a_question_after_the_end_is_not_allowed() {
    let script = format!("open; hear; end 3 end_turn; wait_for_end; ask 0 c1 '{OPTIONS}'");
    let mut agent = Agent::acp(&script);
    agent.approver = Approver::Allow;
    let (_, dialogue) = agent.drive_once().await;
    assert_eq!(dialogue.approvals.len(), 1);
    assert!(!dialogue.approvals[0].allowed, "nobody heard an answer");
}

#[tokio::test]
async fn a_turn_that_was_stopped_or_refused_is_no_success() {
    let half = TurnOutcome { succeeded: false, final_text: Some("half".to_owned()) };
    for end in [
        "end 3 cancelled",
        "end 3 refusal",
        "end 3 max_tokens",
        r#"echo '{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no model"}}'"#,
    ] {
        let script = format!("open; hear; say half; {end}; wait_for_end");
        let (outcome, dialogue) = Agent::acp(&script).drive_once().await;
        assert_eq!(outcome, half, "{end}");
        assert_eq!(dialogue.exit, Exit::Status { status: 0 });
    }
}

#[tokio::test]
async fn what_other_sessions_say_is_not_the_final_text() {
    let script = r#"open; hear; say ours
        echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"child"}}}}'
        echo '{"jsonrpc":"2.0","method":"_own/news","params":{}}'
        tell '{"sessionUpdate":"something_new"}'; end 3 end_turn; wait_for_end"#;
    let (outcome, _) = Agent::acp(script).drive_once().await;
    assert_eq!(outcome, said("ours"));
}

#[tokio::test]
async fn an_agent_that_ends_has_failed_its_turns() {
    for (script, expected) in [
        ("exit 3", Exit::Status { status: 3 }),
        ("hear; kill -ABRT $$", Exit::Signal { signal: 6 }),
        ("open; hear; say half; exit 4", Exit::Status { status: 4 }),
    ] {
        let (outcomes, dialogue) = Agent::acp(script).drive(&["one", "two"]).await;
        for outcome in outcomes {
            assert_eq!(outcome.unwrap(), failed(), "{script}");
        }
        assert_eq!(dialogue.exit, expected);
        assert_eq!(dialogue.turns, [failed(), failed()]);
    }
}

#[tokio::test]
async fn garbage_is_named() {
    for (garbage, problem) in [
        ("echo 'warning: careful'", "not JSON"),
        ("echo '{\"id\":9}'", "neither `result`"),
        ("answer 9 '{}'", "no open request"),
        ("answer 2 '{}'", "no open request"),
        ("tell null", "without `sessionUpdate`"),
        ("end 3 done", "`stopReason`"),
        ("answer 3 null", "`stopReason`"),
    ] {
        let script = format!("open; hear; {garbage}; wait_for_end");
        let (mut outcomes, dialogue) = Agent::acp(&script).drive(&["one"]).await;
        let error = outcomes.remove(0).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, DriverError::Output { .. }), "{text}");
        assert!(text.contains(problem), "{text}");
        assert_eq!(dialogue.turns, [failed()]);
    }
}

#[tokio::test]
async fn a_handshake_that_fails_says_where() {
    let script = r#"hear; answer 1 '{"protocolVersion":2}'; wait_for_end"#;
    let (mut outcomes, _) = Agent::acp(script).drive(&["one"]).await;
    let error = outcomes.remove(0).unwrap_err();
    assert!(error.to_string().contains("another version"), "{error}");

    let script = r#"hear; answer 1 '{"protocolVersion":1}'; hear
        echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"log in first"}}'; wait_for_end"#;
    let (mut outcomes, _) = Agent::acp(script).drive(&["one"]).await;
    let error = outcomes.remove(0).unwrap_err();
    assert!(matches!(error, DriverError::Refused { method: "session/new", .. }), "{error}");
    assert!(error.to_string().contains("log in first"), "{error}");
}

#[tokio::test]
async fn time_ends_silence() {
    let mut agent = Agent::acp("open; hear; say half; sleep 1000");
    agent.time = SHORT;
    let (outcomes, dialogue) = agent.drive(&["one", "two"]).await;
    for outcome in outcomes {
        assert_eq!(outcome.unwrap(), failed());
    }
    assert!(dialogue.timed_out);
    assert_eq!(dialogue.exit, Exit::Killed);
}

/// Says it in the second turn of the agent; what became of it, of the turn, and the lines sent.
async fn said_meanwhile(agent: Agent, action: Action) -> (Option<Taken>, TurnOutcome, Vec<Value>) {
    let (keeper, _listener) = keeper().await;
    let context = Context {
        keeper: &keeper,
        launch: agent.launch(),
        approver: agent.approver,
        deadline: Instant::now() + agent.time,
        limits: agent.limits,
    };
    let mut driver = Driver::open(DriverKind::Acp, context).await.unwrap();
    // What is said before the session is open reaches nobody.
    driver.prompt("first", &mut Interjections::none()).await.unwrap();
    let (interjector, mut interjections) = Interjections::channel();
    let (outcome, taken) = tokio::join!(
        async {
            let outcome = driver.prompt("second", &mut interjections).await.unwrap();
            drop(interjections);
            outcome
        },
        interjector.say(action)
    );
    let dialogue = driver.close().await.unwrap();
    keeper.end().await.unwrap();
    (taken, outcome, shown(&dialogue.stderr))
}

#[tokio::test]
async fn an_interrupt_is_taken_when_its_turn_is_cancelled() {
    let interrupted = |reason: &str| {
        format!("open; hear; end 3 end_turn; hear; hear; end 4 {reason}; wait_for_end")
    };
    let agent = Agent::acp(&interrupted("cancelled"));
    let (taken, outcome, sent) = said_meanwhile(agent, Action::Interrupt).await;
    assert_eq!((taken, outcome), (Some(Taken::Yes), failed()));
    let cancel =
        json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}});
    assert_eq!(sent[4], cancel);

    let agent = Agent::acp(&interrupted("end_turn"));
    let (taken, outcome, _) = said_meanwhile(agent, Action::Interrupt).await;
    assert_eq!((taken, outcome.succeeded), (None, true));
}

#[tokio::test]
async fn a_steer_is_said_in_the_agents_own_words() {
    let prompt = AcpSteer::Prompt("/steer ${text}".to_owned());
    let params = [("sessionId", "${session}"), ("text", "${text}"), ("id", "${id}")];
    let params: BTreeMap<String, String> =
        params.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let request = AcpSteer::Request { method: "_own/steer".to_owned(), params };
    let by_prompt = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "/steer now"}]});
    let by_request = json!({"sessionId": "s1", "text": "now", "id": "steer-5"});
    for (words, method, params) in
        [(prompt, "session/prompt", by_prompt), (request, "_own/steer", by_request)]
    {
        for (answer, expected) in [
            ("answer 5 '{}'", Some(Taken::Yes)),
            (
                r#"echo '{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"busy"}}'"#,
                Some(Taken::Refused("busy".to_owned())),
            ),
            // The turn is over first; what comes then is no garbage.
            ("end 4 end_turn; answer 5 '{}'", None),
        ] {
            let end = if expected.is_some() { "end 4 end_turn" } else { ":" };
            let script =
                format!("open; hear; end 3 end_turn; hear; hear; {answer}; {end}; wait_for_end");
            let mut agent = Agent::acp(&script);
            agent.acp.words.steer = Some(words.clone());
            let action = Action::Steer("now".to_owned());
            let (taken, outcome, sent) = said_meanwhile(agent, action).await;
            assert_eq!((taken, outcome.succeeded), (expected, true), "{answer}");
            let steer = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
            assert_eq!(sent[4], steer);
        }
    }
}

#[tokio::test]
async fn a_compaction_in_the_background_is_waited_for() {
    let script = "open; hear; end 3 end_turn; hear; say started; end 4 end_turn; say Done.
        hear; say later; end 5 end_turn; wait_for_end";
    let mut agent = Agent::acp(script);
    let compact = AcpCompact { prompt: "/compact".to_owned(), done: Some("Done.".to_owned()) };
    agent.acp.words.compact = Some(compact);
    let (keeper, _listener) = keeper().await;
    let context = Context {
        keeper: &keeper,
        launch: agent.launch(),
        approver: agent.approver,
        deadline: Instant::now() + agent.time,
        limits: agent.limits,
    };
    let mut driver = Driver::open(DriverKind::Acp, context).await.unwrap();
    driver.prompt("first", &mut Interjections::none()).await.unwrap();
    assert_eq!(driver.compact().await.unwrap(), said("startedDone."));
    let outcome = driver.prompt("next", &mut Interjections::none()).await.unwrap();
    assert_eq!(outcome, said("later"));
    let dialogue = driver.close().await.unwrap();
    assert_eq!(dialogue.turns.len(), 2, "a compaction is no turn");
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn a_session_is_loaded_in_a_new_process() {
    let script = r#"hear; case "$line" in *'"id":1,'*) n=1;; *) n=4;; esac
        answer $n '{"protocolVersion":1,"agentCapabilities":{"loadSession":LOADS}}'
        hear; say 'what was said'; answer $((n+1)) '{"sessionId":"s1"}'
        hear; say new; end $((n+2)) end_turn; wait_for_end"#;
    for loads in [true, false] {
        let agent = Agent::acp(&script.replace("LOADS", &loads.to_string()));
        let (keeper, _listener) = keeper().await;
        let context = Context {
            keeper: &keeper,
            launch: agent.launch(),
            approver: agent.approver,
            deadline: Instant::now() + agent.time,
            limits: agent.limits,
        };
        let mut driver = Driver::open(DriverKind::Acp, context).await.unwrap();
        assert_eq!(driver.prompt("one", &mut Interjections::none()).await.unwrap(), said("new"));
        driver.resume().await.unwrap();
        let outcome = driver.prompt("two", &mut Interjections::none()).await;
        let dialogue = driver.close().await.unwrap();
        keeper.end().await.unwrap();
        if loads {
            assert_eq!(outcome.unwrap(), said("new"));
            let load = &shown(&dialogue.stderr)[4];
            assert_eq!(load["method"], "session/load");
            assert_eq!(load["params"]["sessionId"], "s1");
        } else {
            let error = outcome.unwrap_err();
            assert!(matches!(error, DriverError::Cannot { action: "resume", .. }), "{error}");
        }
    }
}
