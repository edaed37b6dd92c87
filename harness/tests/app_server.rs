//! The app-server driver with a small shell script in the agent's place.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod fake_agent;

use conform::agent::profile::{ApprovalPolicy, SandboxMode};
use conform::driver::{
    Action, Context, Driver, DriverError, DriverKind, Interjections, Limits, Taken, ThreadSettings,
    TurnOutcome,
};
use conform::sandbox::Keeper;
use conform::scenario::Approver;
use conform_reports::record::Exit;
use serde_json::{Value, json};
use tokio::time::Instant;

use fake_agent::{Agent, LONG, SHORT, failed, keeper, said};

/// What a script may use. `open` is the handshake; `turn N` takes the prompt that is request N and
/// starts the turn uN; `note METHOD FIELDS` tells something about that turn; `ask ID METHOD FIELDS`
/// asks, and shows the answer on standard error; `wait_for_end` is for the end of standard input.
const PRELUDE: &str = r#"
open() {
    read -r line; printf '%s\n' "$line" >&2; echo '{"id":1,"result":{"userAgent":"fake"}}'
    echo '{"method":"configWarning","params":{"summary":"none"},"emittedAtMs":1}'
    read -r line; printf '%s\n' "$line" >&2
    read -r line; printf '%s\n' "$line" >&2; echo '{"id":2,"result":{"thread":{"id":"t1"}}}'
}
turn() {
    n=$1; read -r line; printf '%s\n' "$line" >&2
    echo "{\"id\":$n,\"result\":{\"turn\":{\"id\":\"u$n\",\"status\":\"inProgress\"}}}"
    note turn/started "\"turn\":{\"id\":\"u$n\"}"
}
note() { echo "{\"method\":\"$1\",\"params\":{\"threadId\":\"t1\",\"turnId\":\"u$n\",$2}}"; }
say() { note item/completed "\"item\":{\"type\":\"agentMessage\",\"id\":\"m\",\"text\":\"$1\"}"; }
done_as() { note turn/completed "\"turn\":{\"id\":\"u$n\",\"status\":\"$1\"}"; }
ask() {
    echo "{\"method\":\"$2\",\"id\":$1,\"params\":{\"threadId\":\"t1\",\"turnId\":\"u$n\",$3}}"
    read -r answer; printf '%s\n' "$answer" >&2
}
wait_for_end() { while read -r line; do printf '%s\n' "$line" >&2; done; }
"#;

impl Agent {
    fn app_server(script: &str) -> Self {
        let mut agent = Self::new(DriverKind::AppServer, &format!("{PRELUDE}{script}"));
        agent.thread = Some(ThreadSettings {
            approval_policy: ApprovalPolicy::OnRequest,
            sandbox: SandboxMode::WorkspaceWrite,
            config: serde_json::Map::new(),
        });
        agent
    }

    async fn open<'k>(&self, keeper: &'k Keeper) -> Driver<'k> {
        let context = Context {
            keeper,
            launch: self.launch(),
            approver: self.approver,
            deadline: Instant::now() + self.time,
            limits: self.limits,
        };
        Driver::open(self.kind, context).await.unwrap()
    }
}

/// The lines that the script showed on standard error.
fn shown(stderr: &str) -> Vec<Value> {
    stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn one_thread_takes_every_prompt() {
    let script = "open
        turn 3; say first; say 'one: ok'; done_as completed
        turn 4; say 'two: ok'; done_as completed
        wait_for_end; exit 5";
    let mut agent = Agent::app_server(script);
    let settings = agent.thread.as_mut().unwrap();
    settings.config.insert("sandbox_workspace_write.network_access".into(), true.into());
    let (outcomes, dialogue) = agent.drive(&["one", "a \"b\"\n"]).await;
    let outcomes: Vec<TurnOutcome> = outcomes.into_iter().map(Result::unwrap).collect();
    assert_eq!(outcomes, [said("one: ok"), said("two: ok")]);
    assert_eq!(dialogue.turns, outcomes);
    assert_eq!(dialogue.exit, Exit::Status { status: 5 });
    assert!(!dialogue.timed_out && dialogue.unanswered.is_empty());

    let mut sent = shown(&dialogue.stderr);
    assert_eq!(sent[0]["params"]["clientInfo"]["name"], "conform");
    sent[0]["params"] = json!("client");
    let prompt = |id: u8, text: &str| {
        let input = json!([{"type": "text", "text": text}]);
        json!({"id": id, "method": "turn/start", "params": {"threadId": "t1", "input": input}})
    };
    let expected = [
        json!({"id": 1, "method": "initialize", "params": "client"}),
        json!({"method": "initialized"}),
        json!({"id": 2, "method": "thread/start", "params": {
            "cwd": "/",
            "approvalPolicy": "on-request",
            "sandbox": "workspace-write",
            "config": {"sandbox_workspace_write.network_access": true},
        }}),
        prompt(3, "one"),
        prompt(4, "a \"b\"\n"),
    ];
    assert_eq!(sent, expected);
}

/// Asks four times, as the agent does, and shows the answers.
const ASKS: &str = r#"open; turn 3
    item() { note item/started "\"item\":{$1}"; }
    item '"type":"commandExecution","id":"c1","command":"sh x"'
    ask 0 item/commandExecution/requestApproval '"itemId":"c1","startedAtMs":1,"command":"sh x"'
    item '"type":"fileChange","id":"c2","changes":[{"path":"/w/f","kind":{"type":"add"},"diff":"x"}]'
    ask 1 item/fileChange/requestApproval '"itemId":"c2","startedAtMs":2,"reason":null'
    ask '"x"' item/permissions/requestApproval '"itemId":"c3","permissions":{"network":{"enabled":true}}'
    ask 3 mcpServer/elicitation/request '"message":"May I?"'
    say asked; done_as completed; wait_for_end"#;

#[tokio::test]
async fn approvals_get_the_approvers_answer() {
    let network = r#"{"network":{"enabled":true}}"#;
    for (approver, allowed, word, granted) in
        [(Approver::Deny, false, "decline", "{}"), (Approver::Allow, true, "accept", network)]
    {
        let mut agent = Agent::app_server(ASKS);
        agent.approver = approver;
        let (outcome, dialogue) = agent.drive_once().await;
        assert_eq!(outcome, said("asked"));
        let granted: Value = serde_json::from_str(granted).unwrap();
        let mut elicited = json!({"action": word});
        if allowed {
            elicited["content"] = json!({});
        }
        let answers = [
            json!({"id": 0, "result": {"decision": word}}),
            json!({"id": 1, "result": {"decision": word}}),
            json!({"id": "x", "result": {"permissions": granted, "scope": "turn"}}),
            json!({"id": 3, "result": elicited}),
        ];
        assert_eq!(shown(&dialogue.stderr)[4..], answers);
        let seen: Vec<_> = dialogue
            .approvals
            .iter()
            .map(|one| (one.call_id.as_deref(), one.action.as_str(), one.allowed))
            .collect();
        let expected = [
            (Some("c1"), "sh x", allowed),
            (Some("c2"), "add /w/f", allowed),
            (Some("c3"), network, allowed),
            (None, "May I?", allowed),
        ];
        assert_eq!(seen, expected);
        assert!(dialogue.unanswered.is_empty());
    }
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_and_kept() {
    let script = "open; turn 3; ask 7 account/future/question '\"a\":1'
        say done; done_as completed; wait_for_end";
    let mut agent = Agent::app_server(script);
    agent.approver = Approver::Allow;
    let (outcome, dialogue) = agent.drive_once().await;
    assert_eq!(outcome, said("done"));
    assert_eq!(dialogue.unanswered, ["account/future/question"]);
    assert!(dialogue.approvals.is_empty());
    let answer = &shown(&dialogue.stderr)[4];
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32601)));
    assert_eq!(answer.get("result"), None);
}

#[tokio::test]
async fn a_question_after_the_end_is_not_allowed() {
    let script = "open; turn 3; done_as completed; wait_for_end
        ask 0 item/commandExecution/requestApproval '\"itemId\":\"c1\",\"command\":\"sh x\"'";
    let mut agent = Agent::app_server(script);
    agent.approver = Approver::Allow;
    let (_, dialogue) = agent.drive_once().await;
    assert_eq!(dialogue.approvals.len(), 1);
    assert!(!dialogue.approvals[0].allowed, "nobody heard an answer");
}

#[tokio::test]
async fn a_turn_that_did_not_complete_is_no_success() {
    for status in ["failed", "interrupted"] {
        let script = format!("open; turn 3; say half; done_as {status}; wait_for_end");
        let (outcome, dialogue) = Agent::app_server(&script).drive_once().await;
        let half = TurnOutcome { succeeded: false, final_text: Some("half".to_owned()) };
        assert_eq!(outcome, half);
        assert_eq!(dialogue.exit, Exit::Status { status: 0 });
    }
}

#[tokio::test]
async fn what_other_threads_and_turns_say_is_not_the_final_text() {
    let script = r#"open; turn 3; say ours
        other() { echo "{\"method\":\"$1\",\"params\":{\"threadId\":\"$2\",\"turnId\":\"$3\",$4}}"; }
        other item/completed t2 u3 '"item":{"type":"agentMessage","text":"child"}'
        other item/completed t1 u2 '"item":{"type":"agentMessage","text":"late"}'
        other turn/started t2 u9 '"turn":{"id":"u9"}'
        other turn/completed t2 u3 '"turn":{"id":"u3","status":"failed"}'
        note item/completed '"item":{"type":"reasoning","text":"thought"}'
        done_as completed; wait_for_end"#;
    let (outcome, _) = Agent::app_server(script).drive_once().await;
    assert_eq!(outcome, said("ours"));
}

#[tokio::test]
async fn an_agent_that_ends_has_failed_its_turns() {
    let crash = |before: &str, end: &str| format!("{before}\n{end}");
    for (script, expected) in [
        (crash("", "exit 3"), Exit::Status { status: 3 }),
        (crash("read -r line", "kill -ABRT $$"), Exit::Signal { signal: 6 }),
        (crash("open", "exit 0"), Exit::Status { status: 0 }),
        (crash("open; turn 3", "exit 4"), Exit::Status { status: 4 }),
        (crash("open; turn 3; say half", "kill -SEGV $$"), Exit::Signal { signal: 11 }),
    ] {
        let (outcomes, dialogue) = Agent::app_server(&script).drive(&["one", "two"]).await;
        for outcome in outcomes {
            assert_eq!(outcome.unwrap(), failed(), "{script}");
        }
        assert_eq!(dialogue.exit, expected);
        assert_eq!(dialogue.turns, [failed(), failed()]);
        assert!(!dialogue.timed_out);
    }
}

#[tokio::test]
async fn garbage_is_named() {
    for (garbage, problem) in [
        ("echo 'warning: careful'".to_owned(), "not JSON"),
        (format!("echo {}", "x".repeat(500)), "not JSON"),
        ("echo '{\"type\":\"turn.completed\"}'".to_owned(), "neither a request"),
        ("echo '{\"id\":9}'".to_owned(), "neither `result`"),
        ("echo '{\"id\":3,\"result\":{}}'".to_owned(), "no open request"),
        ("n=8; done_as completed".to_owned(), "not started"),
        ("note turn/started '\"turn\":{\"id\":\"u8\"}'".to_owned(), "nobody asked for"),
        ("done_as inProgress".to_owned(), "`status`"),
    ] {
        let script = format!("open; turn 3; {garbage}; wait_for_end");
        let (mut outcomes, dialogue) = Agent::app_server(&script).drive(&["one"]).await;
        let error = outcomes.remove(0).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, DriverError::Output { .. }), "{text}");
        assert!(text.contains(problem) && text.len() < 500, "{text}");
        assert_eq!(dialogue.turns, [failed()]);
        assert_eq!(dialogue.exit, Exit::Status { status: 0 });
    }
}

#[tokio::test]
async fn a_second_word_about_a_turn_is_not_the_next_turns() {
    let script = "open; turn 3; done_as completed; done_as completed
        turn 4; done_as completed; wait_for_end";
    let (outcomes, _) = Agent::app_server(script).drive(&["one", "two"]).await;
    assert!(outcomes[0].as_ref().unwrap().succeeded);
    assert!(matches!(outcomes[1], Err(DriverError::Output { .. })));
}

#[tokio::test]
async fn a_refused_request_says_which() {
    let refused = "'{\"id\":2,\"error\":{\"code\":-32600,\"message\":\"no such policy\"}}'";
    let script = format!(
        "read -r line; echo '{{\"id\":1,\"result\":{{}}}}'; read -r line; read -r line
        echo {refused}; wait_for_end"
    );
    let (mut outcomes, dialogue) = Agent::app_server(&script).drive(&["one"]).await;
    let error = outcomes.remove(0).unwrap_err();
    assert!(matches!(error, DriverError::Refused { method: "thread/start", .. }), "{error}");
    assert!(error.to_string().contains("no such policy"), "{error}");
    assert_eq!(dialogue.turns, [failed()]);
}

#[tokio::test]
async fn time_ends_silence() {
    // In the turn, in the handshake, and while an answer is awaited.
    for before in ["open; turn 3; say half", "", "open; read -r prompt"] {
        let mut agent = Agent::app_server(&format!("{before}\nsleep 1000"));
        agent.time = SHORT;
        let (outcomes, dialogue) = agent.drive(&["one", "two"]).await;
        for outcome in outcomes {
            assert_eq!(outcome.unwrap(), failed());
        }
        assert!(dialogue.timed_out);
        assert_eq!(dialogue.exit, Exit::Killed);
    }
}

#[tokio::test]
async fn an_agent_that_does_not_end_is_killed() {
    let script = "open; turn 3; done_as completed; wait_for_end; exec sleep 1000";
    let mut agent = Agent::app_server(script);
    agent.limits.closing = SHORT;
    let (outcome, dialogue) = agent.drive_once().await;
    assert!(outcome.succeeded && !dialogue.timed_out);
    assert_eq!(dialogue.exit, Exit::Killed);
}

#[tokio::test]
async fn a_policy_that_says_nothing_about_the_thread_is_refused() {
    let (keeper, _listener) = keeper().await;
    let mut agent = Agent::app_server("open");
    agent.thread = None;
    let context = Context {
        keeper: &keeper,
        launch: agent.launch(),
        approver: Approver::Deny,
        deadline: Instant::now() + LONG,
        limits: Limits::default(),
    };
    let error = Driver::open(DriverKind::AppServer, context).await.unwrap_err();
    assert!(matches!(error, DriverError::NoThreadSettings), "{error}");
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn what_is_said_in_a_turn_is_answered_in_it() {
    // The turn goes on until the steer is answered, and ends by the interrupt.
    let script = "open; turn 3
        read -r line; printf '%s\\n' \"$line\" >&2; echo '{\"id\":4,\"result\":{\"turnId\":\"u3\"}}'
        read -r line; printf '%s\\n' \"$line\" >&2
        done_as interrupted; echo '{\"id\":5,\"result\":{}}'
        turn 6; done_as completed; wait_for_end";
    let (keeper, _listener) = keeper().await;
    let agent = Agent::app_server(script);
    let mut driver = agent.open(&keeper).await;
    let (interjector, mut interjections) = Interjections::channel();
    let (outcome, (steered, stopped)) =
        tokio::join!(driver.prompt("one", &mut interjections), async {
            let steered = interjector.say(Action::Steer("more".into())).await;
            (steered, interjector.say(Action::Interrupt).await)
        });
    assert_eq!(outcome.unwrap(), failed());
    assert_eq!((steered, stopped), (Some(Taken::Yes), Some(Taken::Yes)));
    // The answer came behind the end of the turn, and is not taken for the next one's.
    assert!(driver.prompt("two", &mut Interjections::none()).await.unwrap().succeeded);
    let dialogue = driver.close().await.unwrap();
    keeper.end().await.unwrap();
    let sent = shown(&dialogue.stderr);
    assert_eq!(
        sent[4..6],
        [
            json!({"id": 4, "method": "turn/steer", "params": {
                "threadId": "t1",
                "expectedTurnId": "u3",
                "input": [{"type": "text", "text": "more"}],
            }}),
            json!({"id": 5, "method": "turn/interrupt", "params": {"threadId": "t1", "turnId": "u3"}}),
        ]
    );
}

#[tokio::test]
async fn a_refused_steer_is_told_in_the_agents_words() {
    let script = "open; turn 3; read -r line
        echo '{\"id\":4,\"error\":{\"code\":-1,\"message\":\"not now\"}}'
        done_as completed; wait_for_end";
    let (keeper, _listener) = keeper().await;
    let agent = Agent::app_server(script);
    let mut driver = agent.open(&keeper).await;
    let (interjector, mut interjections) = Interjections::channel();
    let (outcome, steered) = tokio::join!(
        driver.prompt("one", &mut interjections),
        interjector.say(Action::Steer("more".into()))
    );
    assert!(outcome.unwrap().succeeded);
    assert_eq!(steered, Some(Taken::Refused("not now".into())));
    driver.close().await.unwrap();
    keeper.end().await.unwrap();
}

#[tokio::test]
async fn a_compaction_is_a_turn_and_a_new_process_opens_the_thread_again() {
    let script = "open; turn 3; done_as completed
        read -r line; printf '%s\\n' \"$line\" >&2; echo '{\"id\":4,\"result\":{}}'
        n=4; note turn/started '\"turn\":{\"id\":\"u4\"}'; done_as completed; wait_for_end";
    // The ids go on in the second process.
    let script = format!(
        "if mkdir seen 2>/dev/null; then {script}; else
        for id in 5 6; do read -r line; printf '%s\\n' \"$line\" >&2
        echo \"{{\\\"id\\\":$id,\\\"result\\\":{{\\\"thread\\\":{{\\\"id\\\":\\\"t1\\\"}}}}}}\"
        [ $id = 5 ] && {{ read -r line; printf '%s\\n' \"$line\" >&2; }}; done
        turn 7; done_as completed; wait_for_end; fi"
    );
    let folder = tempfile::tempdir().unwrap();
    let (keeper, _listener) = keeper().await;
    let agent = Agent::app_server(&format!("cd {}; {script}", folder.path().display()));
    let mut driver = agent.open(&keeper).await;
    assert!(driver.prompt("one", &mut Interjections::none()).await.unwrap().succeeded);
    assert!(driver.compact().await.unwrap().succeeded);
    driver.resume().await.unwrap();
    assert!(driver.prompt("two", &mut Interjections::none()).await.unwrap().succeeded);
    let dialogue = driver.close().await.unwrap();
    keeper.end().await.unwrap();
    assert_eq!(dialogue.turns.len(), 2);
    let sent = shown(&dialogue.stderr);
    assert_eq!(
        sent[4],
        json!({"id": 4, "method": "thread/compact/start", "params": {"threadId": "t1"}})
    );
    let resumed = sent.iter().find(|line| line["method"] == "thread/resume").unwrap();
    assert_eq!(resumed["params"]["threadId"], "t1");
    assert_eq!(resumed["params"]["sandbox"], "workspace-write");
}
