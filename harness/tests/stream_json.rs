//! The stream-json driver with a small shell script in the agent's place.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod fake_agent;

use conform::driver::{Action, Context, Driver, DriverError, DriverKind, Interjections, Taken};
use conform::driver::{Dialogue, TurnOutcome};
use conform::scenario::Approver;
use serde_json::{Value, json};
use tokio::time::Instant;

use fake_agent::{Agent, SHORT, failed, keeper, said};

/// What a script may use. `hear` shows a line on standard error; `end TEXT` ends a turn; `ask ID
/// CALL` asks for a permission and shows the answer; `respond SUBTYPE` answers the driver's first
/// request; `repeat TEXT` repeats a message of the user; `wait_for_end` is for the end of input.
const PRELUDE: &str = r#"
hear() { read -r line; printf '%s\n' "$line" >&2; }
end() { echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"$1\"}"; }
ask() {
    echo "{\"type\":\"control_request\",\"request_id\":\"$1\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"Bash\",\"tool_use_id\":\"$2\",\"input\":{\"command\":\"ls\"}}}"
    hear
}
respond() { echo "{\"type\":\"control_response\",\"response\":{\"subtype\":\"$1\",\"request_id\":\"conform-1\",\"error\":\"no\"}}"; }
repeat() { echo "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}}"; }
wait_for_end() { while read -r line; do printf '%s\n' "$line" >&2; done; }
"#;

impl Agent {
    fn stream_json(script: &str) -> Self {
        Self::new(DriverKind::StreamJson, &format!("{PRELUDE}{script}"))
    }
}

/// The lines that the script showed on standard error.
fn shown(dialogue: &Dialogue) -> Vec<Value> {
    dialogue.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn one_process_takes_every_prompt() {
    let script = "hear; echo '{\"type\":\"system\"}'; end one; hear; end two; wait_for_end";
    let (outcomes, dialogue) = Agent::stream_json(script).drive(&["first", "a \"b\"\n"]).await;
    let outcomes: Vec<TurnOutcome> = outcomes.into_iter().map(Result::unwrap).collect();
    assert_eq!(outcomes, [said("one"), said("two")]);
    assert_eq!(dialogue.turns, outcomes);
    let user = |text: &str| json!({"role": "user", "content": text});
    let sent: Vec<Value> =
        shown(&dialogue).into_iter().map(|line| line["message"].clone()).collect();
    assert_eq!(sent, [user("first"), user("a \"b\"\n")]);
}

#[tokio::test]
async fn the_approver_answers_what_is_asked() {
    for (approver, behavior) in [(Approver::Allow, "allow"), (Approver::Deny, "deny")] {
        let mut agent = Agent::stream_json("hear; ask r7 call_1; end done; wait_for_end");
        agent.approver = approver;
        let (outcome, dialogue) = agent.drive_once().await;
        assert_eq!(outcome, said("done"));
        let approval = &dialogue.approvals[0];
        assert_eq!(approval.call_id.as_deref(), Some("call_1"));
        assert_eq!(approval.action, "Bash {\"command\":\"ls\"}");
        assert_eq!(approval.allowed, approver == Approver::Allow);
        let answer = &shown(&dialogue)[1]["response"];
        assert_eq!(answer["request_id"], "r7");
        assert_eq!(answer["response"]["behavior"], behavior);
        if approver == Approver::Allow {
            assert_eq!(answer["response"]["updatedInput"], json!({"command": "ls"}));
        }
    }
}

#[tokio::test]
async fn a_question_that_is_not_known_is_refused_and_noted() {
    let question =
        r#"echo '{"type":"control_request","request_id":1,"request":{"subtype":"hook_callback"}}'"#;
    let script = format!("hear; {question}; hear; end done; wait_for_end");
    let (_, dialogue) = Agent::stream_json(&script).drive_once().await;
    assert_eq!(dialogue.unanswered, ["hook_callback"]);
    assert_eq!(shown(&dialogue)[1]["response"]["subtype"], "error");
}

#[tokio::test]
async fn what_is_no_result_is_no_success() {
    let error = r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"x"}'"#;
    let stopped = r#"echo '{"type":"result","subtype":"error_during_execution","is_error":false}'"#;
    for line in [error, stopped] {
        let script = format!("hear; {line}; wait_for_end");
        let (outcome, _) = Agent::stream_json(&script).drive_once().await;
        assert!(!outcome.succeeded, "{line}");
    }
    let (outcome, _) = Agent::stream_json("hear; exit 3").drive_once().await;
    assert_eq!(outcome, failed());
    let mut silent = Agent::stream_json("hear; wait_for_end");
    silent.time = SHORT;
    let (outcome, dialogue) = silent.drive_once().await;
    assert_eq!((outcome, dialogue.timed_out), (failed(), true));
}

#[tokio::test]
async fn garbage_is_an_error() {
    for line in ["hello", "{}", r#"{"type":"result"}"#, r#"{"type":"control_request"}"#] {
        let script = format!("hear; echo '{line}'; wait_for_end");
        let (outcomes, _) = Agent::stream_json(&script).drive(&["x"]).await;
        assert!(matches!(outcomes[0], Err(DriverError::Output { .. })), "{line}");
    }
}

/// Says it in a turn; what became of it, of the turn, and the dialogue.
async fn said_meanwhile(script: &str, action: Action) -> (Option<Taken>, TurnOutcome, Dialogue) {
    let agent = Agent::stream_json(script);
    let (keeper, _listener) = keeper().await;
    let context = Context {
        keeper: &keeper,
        launch: agent.launch(),
        approver: agent.approver,
        deadline: Instant::now() + agent.time,
        limits: agent.limits,
    };
    let mut driver = Driver::open(DriverKind::StreamJson, context).await.unwrap();
    let (interjector, mut interjections) = Interjections::channel();
    let (outcome, taken) = tokio::join!(
        async {
            let outcome = driver.prompt("first", &mut interjections).await.unwrap();
            drop(interjections);
            outcome
        },
        interjector.say(action)
    );
    let dialogue = driver.close().await.unwrap();
    keeper.end().await.unwrap();
    (taken, outcome, dialogue)
}

#[tokio::test]
async fn a_steer_is_taken_when_the_question_behind_it_is_answered() {
    let steer = || Action::Steer("now".to_owned());
    // It is worked on in this turn.
    let script = "hear; hear; hear; respond error; repeat now; end one; wait_for_end";
    let (taken, outcome, dialogue) = said_meanwhile(script, steer()).await;
    assert_eq!((taken, outcome), (Some(Taken::Yes), said("one")));
    let sent = shown(&dialogue);
    assert_eq!(sent[1]["message"]["content"], "now");
    assert_eq!(sent[2]["request_id"], "conform-1");

    // It gets a turn of its own, and that one's result counts.
    let script = "hear; hear; hear; respond success; end one; repeat now; end two; wait_for_end";
    let (taken, outcome, _) = said_meanwhile(script, steer()).await;
    assert_eq!((taken, outcome), (Some(Taken::Yes), said("two")));
}

#[tokio::test]
async fn an_interrupt_is_taken_or_refused() {
    let stopped = r#"echo '{"type":"result","subtype":"error_during_execution","is_error":true}'"#;
    let script = format!("hear; hear; respond success; {stopped}; wait_for_end");
    let (taken, outcome, dialogue) = said_meanwhile(&script, Action::Interrupt).await;
    assert_eq!((taken, outcome), (Some(Taken::Yes), failed()));
    assert_eq!(shown(&dialogue)[1]["request"], json!({"subtype": "interrupt"}));

    let script = "hear; hear; respond error; end one; wait_for_end";
    let (taken, outcome, _) = said_meanwhile(script, Action::Interrupt).await;
    assert_eq!((taken, outcome), (Some(Taken::Refused("no".to_owned())), said("one")));
}

#[tokio::test]
async fn a_compaction_is_done_when_its_boundary_was_seen() {
    let boundary = r#"echo '{"type":"system","subtype":"compact_boundary"}'"#;
    for (line, done) in [(boundary, true), (":", false)] {
        let script = format!("hear; end one; hear; {line}; end ''; wait_for_end");
        let agent = Agent::stream_json(&script);
        let (keeper, _listener) = keeper().await;
        let context = Context {
            keeper: &keeper,
            launch: agent.launch(),
            approver: agent.approver,
            deadline: Instant::now() + agent.time,
            limits: agent.limits,
        };
        let mut driver = Driver::open(DriverKind::StreamJson, context).await.unwrap();
        driver.prompt("first", &mut Interjections::none()).await.unwrap();
        assert_eq!(driver.compact().await.unwrap().succeeded, done);
        let dialogue = driver.close().await.unwrap();
        keeper.end().await.unwrap();
        assert_eq!(shown(&dialogue)[1]["message"]["content"], "/compact");
    }
}
