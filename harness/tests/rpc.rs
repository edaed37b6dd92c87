//! The rpc driver with a small shell script in the agent's place.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod fake_agent;

use conform::driver::{Action, Context, Driver, DriverError, DriverKind, Interjections, Taken};
use conform::driver::{Dialogue, TurnOutcome};
use conform::scenario::Approver;
use serde_json::{Value, json};
use tokio::time::Instant;

use fake_agent::{Agent, SHORT, failed, keeper, said};

/// What a script may use. `hear` shows a line on standard error; `grant N` and `refuse N` answer a
/// request; `say TEXT REASON` is a message of the model; `settle ABORTED` ends a turn; `ask TITLE`
/// asks for a confirmation and shows the answer; `wait_for_end` is for the end of input.
const PRELUDE: &str = r#"
hear() { read -r line; printf '%s\n' "$line" >&2; }
grant() { echo "{\"type\":\"response\",\"id\":\"$1\",\"success\":true}"; }
refuse() { echo "{\"type\":\"response\",\"id\":\"$1\",\"success\":false,\"error\":\"no\"}"; }
say() { echo "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"stopReason\":\"$2\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}}"; }
settle() { echo "{\"type\":\"agent_settled\",\"aborted\":$1}"; }
ask() {
    echo "{\"type\":\"extension_ui_request\",\"id\":\"u1\",\"method\":\"confirm\",\"title\":\"$1\",\"message\":\"{\\\"id\\\":\\\"c1\\\",\\\"tool\\\":\\\"bash\\\",\\\"input\\\":{\\\"command\\\":\\\"ls\\\"}}\"}"
    hear
}
wait_for_end() { while read -r line; do printf '%s\n' "$line" >&2; done; }
"#;

impl Agent {
    fn rpc(script: &str) -> Self {
        Self::new(DriverKind::Rpc, &format!("{PRELUDE}{script}"))
    }
}

/// The lines that the script showed on standard error.
fn shown(dialogue: &Dialogue) -> Vec<Value> {
    dialogue.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn one_process_takes_every_prompt() {
    let script = "hear; grant 1; say 'I look.' toolUse; say one stop; settle false
        hear; grant 2; say two stop; settle false; wait_for_end";
    let (outcomes, dialogue) = Agent::rpc(script).drive(&["first", "a \"b\"\n"]).await;
    let outcomes: Vec<TurnOutcome> = outcomes.into_iter().map(Result::unwrap).collect();
    assert_eq!(outcomes, [said("one"), said("two")]);
    assert_eq!(dialogue.turns, outcomes);
    let prompt = |id: &str, text: &str| json!({"type": "prompt", "id": id, "message": text});
    assert_eq!(shown(&dialogue), [prompt("1", "first"), prompt("2", "a \"b\"\n")]);
}

#[tokio::test]
async fn the_approver_answers_what_the_extension_asks() {
    for approver in [Approver::Allow, Approver::Deny] {
        let script = "hear; grant 1; ask conform; say done stop; settle false; wait_for_end";
        let mut agent = Agent::rpc(script);
        agent.approver = approver;
        let (outcome, dialogue) = agent.drive_once().await;
        assert_eq!(outcome, said("done"));
        let approval = &dialogue.approvals[0];
        assert_eq!(approval.call_id.as_deref(), Some("c1"));
        assert_eq!(approval.action, "bash {\"command\":\"ls\"}");
        let allowed = approver == Approver::Allow;
        assert_eq!(approval.allowed, allowed);
        let answer = json!({"type": "extension_ui_response", "id": "u1", "confirmed": allowed});
        assert_eq!(shown(&dialogue)[1], answer);
    }
    // Another extension's question is nobody's to answer.
    let script = "hear; grant 1; ask other; say done stop; settle false; wait_for_end";
    let (_, dialogue) = Agent::rpc(script).drive_once().await;
    assert_eq!((dialogue.unanswered, dialogue.approvals.len()), (vec!["confirm".to_owned()], 0));
}

#[tokio::test]
async fn a_turn_that_was_stopped_refused_or_cut_is_no_success() {
    let cases = [
        ("grant 1; say x error; settle false; wait_for_end", false),
        ("grant 1; say x stop; settle true; wait_for_end", false),
        ("grant 1; settle false; wait_for_end", false),
        ("refuse 1; wait_for_end", false),
        ("grant 1; exit 3", false),
        ("grant 1; say x stop; settle false; wait_for_end", true),
    ];
    for (script, succeeded) in cases {
        let (outcome, _) = Agent::rpc(&format!("hear; {script}")).drive_once().await;
        assert_eq!(outcome.succeeded, succeeded, "{script}");
    }
    let mut silent = Agent::rpc("hear; wait_for_end");
    silent.time = SHORT;
    let (outcome, dialogue) = silent.drive_once().await;
    assert_eq!((outcome, dialogue.timed_out), (failed(), true));
}

#[tokio::test]
async fn garbage_is_an_error() {
    let early = r#"{"type":"agent_settled","aborted":false}"#;
    for line in ["hello", "{}", r#"{"type":"response"}"#, r#"{"type":"response","id":"1"}"#, early]
    {
        let script = format!("hear; echo '{line}'; wait_for_end");
        let (outcomes, _) = Agent::rpc(&script).drive(&["x"]).await;
        assert!(matches!(outcomes[0], Err(DriverError::Output { .. })), "{line}");
    }
}

/// Says it in a turn; what became of it, of the turn, and the lines sent.
async fn said_meanwhile(script: &str, action: Action) -> (Option<Taken>, TurnOutcome, Vec<Value>) {
    let agent = Agent::rpc(script);
    let (keeper, _listener) = keeper().await;
    let context = Context {
        keeper: &keeper,
        launch: agent.launch(),
        approver: agent.approver,
        deadline: Instant::now() + agent.time,
        limits: agent.limits,
    };
    let mut driver = Driver::open(DriverKind::Rpc, context).await.unwrap();
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
    (taken, outcome, shown(&dialogue))
}

#[tokio::test]
async fn a_steer_is_taken_when_it_is_granted() {
    let steer = || Action::Steer("now".to_owned());
    let script = "hear; grant 1; hear; grant 2; say one stop; settle false; wait_for_end";
    let (taken, outcome, sent) = said_meanwhile(script, steer()).await;
    assert_eq!((taken, outcome), (Some(Taken::Yes), said("one")));
    assert_eq!(sent[1], json!({"type": "steer", "id": "2", "message": "now"}));
    let script = "hear; grant 1; hear; refuse 2; say one stop; settle false; wait_for_end";
    let (taken, _, _) = said_meanwhile(script, steer()).await;
    assert_eq!(taken, Some(Taken::Refused("no".to_owned())));
}

#[tokio::test]
async fn an_interrupt_is_taken_when_the_turn_was_stopped() {
    // The answer may come before its effect or behind it.
    for end in ["grant 2; settle true", "settle true; grant 2"] {
        let script = format!("hear; grant 1; hear; {end}; wait_for_end");
        let (taken, outcome, sent) = said_meanwhile(&script, Action::Interrupt).await;
        assert_eq!((taken, outcome), (Some(Taken::Yes), failed()), "{end}");
        assert_eq!(sent[1], json!({"type": "abort", "id": "2"}));
    }
    let script = "hear; grant 1; hear; say one stop; settle false; grant 2; wait_for_end";
    let (taken, outcome, _) = said_meanwhile(script, Action::Interrupt).await;
    assert_eq!((taken, outcome), (None, said("one")));
}

#[tokio::test]
async fn a_compaction_is_over_with_its_answer() {
    for (answer, done) in [("grant 2", true), ("refuse 2", false)] {
        let script =
            format!("hear; grant 1; say one stop; settle false; hear; {answer}; wait_for_end");
        let agent = Agent::rpc(&script);
        let (keeper, _listener) = keeper().await;
        let context = Context {
            keeper: &keeper,
            launch: agent.launch(),
            approver: agent.approver,
            deadline: Instant::now() + agent.time,
            limits: agent.limits,
        };
        let mut driver = Driver::open(DriverKind::Rpc, context).await.unwrap();
        driver.prompt("first", &mut Interjections::none()).await.unwrap();
        assert_eq!(driver.compact().await.unwrap().succeeded, done);
        driver.close().await.unwrap();
        keeper.end().await.unwrap();
    }
}
