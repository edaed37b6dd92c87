//! The drivers with small shell scripts in the agent's place.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod fake_agent;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use conform::driver::{
    Context, Driver, DriverError, DriverKind, Interjections, Limits, ResolvedLaunch, TurnOutcome,
};
use conform::scenario::Approver;
use conform_reports::record::Exit;
use tokio::time::Instant;

use fake_agent::{Agent, LONG, SHORT, failed, keeper, said};

impl Agent {
    fn exec(script: &str) -> Self {
        Self::new(DriverKind::Exec, script)
    }

    /// A script that speaks the dialogue; `$P` reads a line, `say TYPE [MORE]` writes an event.
    fn jsonl(script: &str) -> Self {
        let prelude = "say() { echo \"{\\\"type\\\":\\\"$1\\\"$2}\"; }\n";
        Self::new(DriverKind::Jsonl, &format!("{prelude}{script}"))
    }
}

mod exec {
    use super::*;

    #[tokio::test]
    async fn each_prompt_is_a_process_of_its_own() {
        let script = "echo \"$$ $1\"; echo warned >&2; cat";
        let (outcomes, dialogue) = Agent::exec(script).drive(&["one two", "$(three)"]).await;
        let texts: Vec<String> =
            outcomes.into_iter().map(|outcome| outcome.unwrap().final_text.unwrap()).collect();
        let (first, second) =
            (texts[0].split_once(' ').unwrap(), texts[1].split_once(' ').unwrap());
        assert_ne!(first.0, second.0);
        assert_eq!((first.1, second.1), ("one two", "$(three)"));
        assert_eq!(dialogue.stderr, "warned\nwarned\n");
        assert_eq!(dialogue.stdout, format!("{}\n{}\n", texts[0], texts[1]));
        assert_eq!(dialogue.exit, Exit::Status { status: 0 });
        assert_eq!(dialogue.turns.len(), 2);
    }

    #[tokio::test]
    async fn a_crash_is_no_success() {
        let (outcome, dialogue) = Agent::exec("echo half; kill -SEGV $$").drive_once().await;
        assert!(!outcome.succeeded);
        assert_eq!(dialogue.exit, Exit::Signal { signal: 11 });
        let (outcome, dialogue) = Agent::exec("exit 7").drive_once().await;
        assert_eq!(outcome, failed());
        assert_eq!(dialogue.exit, Exit::Status { status: 7 });
    }

    #[tokio::test]
    async fn time_ends_a_hang_and_all_that_came_of_it() {
        let mut agent = Agent::exec("echo half; (setsid sleep 1000 &); sleep 1000");
        agent.time = SHORT;
        let (outcomes, dialogue) = agent.drive(&["one", "two"]).await;
        assert!(!outcomes[0].as_ref().unwrap().succeeded);
        assert_eq!(outcomes[1].as_ref().unwrap(), &failed());
        assert!(dialogue.timed_out);
        assert_eq!(dialogue.exit, Exit::Killed);
        assert_eq!(dialogue.stdout, "half\n");
        assert_eq!(dialogue.leftovers, ["sleep"]);
    }

    #[tokio::test]
    async fn a_child_that_holds_the_output_does_not_hold_the_driver() {
        let (outcome, dialogue) = Agent::exec("sleep 1000 & echo done").drive_once().await;
        assert_eq!(outcome, said("done"));
        assert_eq!(dialogue.leftovers, ["sleep"]);
        assert!(!dialogue.timed_out);
    }

    #[tokio::test]
    async fn a_process_that_closed_its_output_is_waited_for() {
        let script =
            "echo said; exec >&- 2>&-; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; exit 5";
        let (outcome, dialogue) = Agent::exec(script).drive_once().await;
        assert_eq!(outcome.final_text.as_deref(), Some("said"));
        assert_eq!(dialogue.exit, Exit::Status { status: 5 });
    }

    #[tokio::test]
    async fn huge_output_is_read_to_its_end_and_kept_in_part() {
        let line = r#"{"type":"item","text":"last"}"#;
        let script = format!(
            "head -c 3000000 /dev/zero | tr '\\0' x >&2; head -c 3000000 /dev/zero | tr '\\0' '\\n'; printf '{line}'"
        );
        let mut agent = Agent::exec(&script);
        agent.limits.output = 1000;
        agent.output = toml::from_str(
            "format = 'jsonl'\n[final-text]\nwhere = { '/type' = 'item' }\ntext = '/text'\n",
        )
        .unwrap();
        let (outcome, dialogue) = agent.drive_once().await;
        assert_eq!(outcome, said("last"));
        assert!(dialogue.stderr.ends_with("x\n[conform: 2999000 more bytes were not kept]\n"));
        assert!(dialogue.stdout.len() < 1100);
    }

    #[tokio::test]
    async fn what_cannot_start_says_what_to_do() {
        let (keeper, _listener) = keeper().await;
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let error = |program: PathBuf| async {
            let launch = ResolvedLaunch { program, ..Agent::exec("").launch() };
            let context = Context {
                keeper: &keeper,
                launch,
                approver: Approver::Deny,
                deadline: Instant::now() + LONG,
                limits: Limits::default(),
            };
            let mut driver = Driver::open(DriverKind::Exec, context).await.unwrap();
            driver.prompt("x", &mut Interjections::none()).await.unwrap_err()
        };
        let missing = error(folder.path().join("missing")).await;
        assert!(matches!(missing, DriverError::NotFound { .. }), "{missing}");
        let plain = error(write("plain", "text", 0o644)).await;
        assert!(matches!(plain, DriverError::NotExecutable { .. }), "{plain}");
        let directory = error(folder.path().to_owned()).await;
        assert!(matches!(directory, DriverError::NotExecutable { .. }), "{directory}");
        let interpreter = error(write("script", "#!/nowhere/sh\n", 0o755)).await;
        assert!(matches!(interpreter, DriverError::CannotStart { .. }), "{interpreter}");
        let foreign = error(write("foreign", "\u{7f}ELF not for this machine", 0o755)).await;
        assert!(matches!(foreign, DriverError::CannotStart { .. }), "{foreign}");
    }
}

mod jsonl {
    use super::*;

    #[tokio::test]
    async fn turns_follow_one_another() {
        let script = "say session.started
            while read -r line; do case $line in
              *'\"prompt\"'*) say turn.started; printf '%s\\n' \"$line\" >&2; say turn.completed ',\"final\":\"ok\"';;
              *'\"close\"'*) say session.closed; exit 0;;
            esac; done; exit 9";
        let (outcomes, dialogue) = Agent::jsonl(script).drive(&["one", "a \"b\"\n"]).await;
        for outcome in outcomes {
            assert_eq!(outcome.unwrap(), said("ok"));
        }
        let expected = "{\"type\":\"prompt\",\"text\":\"one\"}\n{\"type\":\"prompt\",\"text\":\"a \\\"b\\\"\\n\"}\n";
        assert_eq!(dialogue.stderr, expected);
        assert!(dialogue.stdout.ends_with("{\"type\":\"session.closed\"}\n"));
        assert_eq!(dialogue.exit, Exit::Status { status: 0 });
        assert_eq!(dialogue.turns, [said("ok"), said("ok")]);
        assert!(!dialogue.timed_out);
    }

    /// Asks twice and answers with the decisions it got.
    const ASKS: &str = "read -r prompt; say turn.started
        say approval.requested ',\"id\":\"a1\",\"call_id\":\"c1\",\"tool\":\"shell\",\"action\":\"rm x\"'
        read -r first
        say approval.requested ',\"id\":2,\"tool\":\"write\",\"action\":{\"path\":\"y\",\"bytes\":3}'
        read -r second; echo \"$first\" >&2; echo \"$second\" >&2
        say turn.completed; read -r close";

    #[tokio::test]
    async fn approvals_get_the_approvers_answer() {
        for (approver, allowed, word) in
            [(Approver::Deny, false, "deny"), (Approver::Allow, true, "allow")]
        {
            let mut agent = Agent::jsonl(ASKS);
            agent.approver = approver;
            let (outcome, dialogue) = agent.drive_once().await;
            assert_eq!(outcome, TurnOutcome { succeeded: true, final_text: None });
            let answers = format!(
                "{{\"type\":\"approval\",\"id\":\"a1\",\"decision\":\"{word}\"}}\n\
                {{\"type\":\"approval\",\"id\":2,\"decision\":\"{word}\"}}\n"
            );
            assert_eq!(dialogue.stderr, answers);
            let seen: Vec<_> = dialogue
                .approvals
                .iter()
                .map(|one| (one.call_id.as_deref(), one.action.as_str(), one.allowed))
                .collect();
            let second = r#"{"path":"y","bytes":3}"#;
            assert_eq!(seen, [(Some("c1"), "rm x", allowed), (None, second, allowed)]);
        }
    }

    #[tokio::test]
    async fn a_failed_turn_is_no_success() {
        for event in ["turn.failed", "turn.interrupted"] {
            let script = format!("read -r prompt; say turn.started; say {event}; read -r close");
            let (outcome, dialogue) = Agent::jsonl(&script).drive_once().await;
            assert_eq!(outcome, failed());
            assert_eq!(dialogue.exit, Exit::Status { status: 0 });
        }
    }

    #[tokio::test]
    async fn an_agent_that_ends_in_a_turn_has_failed_it() {
        for (end, expected) in [
            ("exit 0", Exit::Status { status: 0 }),
            ("exit 4", Exit::Status { status: 4 }),
            ("kill -ABRT $$", Exit::Signal { signal: 6 }),
        ] {
            let script = format!("read -r prompt; say turn.started; {end}");
            let (outcomes, dialogue) = Agent::jsonl(&script).drive(&["one", "two"]).await;
            for outcome in outcomes {
                assert_eq!(outcome.unwrap(), failed());
            }
            assert_eq!(dialogue.exit, expected);
            assert_eq!(dialogue.turns, [failed(), failed()]);
        }
        // At once, before it is told anything.
        let (outcome, dialogue) = Agent::jsonl("exit 3").drive_once().await;
        assert_eq!((outcome, dialogue.exit), (failed(), Exit::Status { status: 3 }));
    }

    #[tokio::test]
    async fn garbage_is_named() {
        let long = "x".repeat(500);
        for (line, problem) in [
            ("warning: careful".to_owned(), "not JSON"),
            (long.clone(), "not JSON"),
            ("{\"kind\":1}".to_owned(), "`type`"),
            ("{\"type\":\"approval.requested\"}".to_owned(), "`id`"),
            ("{\"type\":\"turn.completed\"}".to_owned(), "not started"),
        ] {
            let script = format!("read -r prompt; echo '{line}'; read -r close; exit 0");
            let (mut outcomes, dialogue) = Agent::jsonl(&script).drive(&["one"]).await;
            let error = outcomes.remove(0).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, DriverError::Output { .. }), "{text}");
            assert!(text.contains(problem) && text.len() < 500, "{text}");
            assert_eq!(dialogue.turns, [failed()]);
            assert_eq!(dialogue.stdout, format!("{line}\n"));
            assert_eq!(dialogue.exit, Exit::Status { status: 0 });
        }
    }

    #[tokio::test]
    async fn a_second_word_about_a_turn_is_not_the_next_turns() {
        let script = "read -r prompt; say turn.started; say turn.completed; say turn.completed
            read -r prompt; read -r close";
        let (outcomes, _) = Agent::jsonl(script).drive(&["one", "two"]).await;
        assert!(outcomes[0].as_ref().unwrap().succeeded);
        assert!(matches!(outcomes[1], Err(DriverError::Output { .. })));
    }

    #[tokio::test]
    async fn time_ends_silence() {
        let mut agent = Agent::jsonl("read -r prompt; say turn.started; sleep 1000");
        agent.time = SHORT;
        let (outcomes, dialogue) = agent.drive(&["one", "two"]).await;
        for outcome in outcomes {
            assert_eq!(outcome.unwrap(), failed());
        }
        assert!(dialogue.timed_out);
        assert_eq!(dialogue.exit, Exit::Killed);
        assert_eq!(dialogue.stdout, "{\"type\":\"turn.started\"}\n");
    }

    #[tokio::test]
    async fn an_agent_that_does_not_close_is_killed_and_nothing_is_lost() {
        let mut agent = Agent::jsonl(
            "read -r prompt; say turn.started; say turn.completed; read -r close; say closing
            (setsid sleep 1000 &); exec sleep 1000",
        );
        agent.limits.closing = SHORT;
        let (outcome, dialogue) = agent.drive_once().await;
        assert!(outcome.succeeded);
        assert!(!dialogue.timed_out);
        assert_eq!(dialogue.exit, Exit::Killed);
        assert_eq!(dialogue.leftovers, ["sleep"]);
        assert!(dialogue.stdout.ends_with("{\"type\":\"closing\"}\n"));
    }

    #[tokio::test]
    async fn output_closed_early_is_the_end_of_the_dialogue() {
        let mut agent = Agent::jsonl("read -r prompt; exec >&-; read -r close; exit 6");
        agent.limits.closing = LONG;
        let (outcome, dialogue) = agent.drive_once().await;
        assert_eq!(outcome, failed());
        assert_eq!(dialogue.exit, Exit::Status { status: 6 });
    }

    #[tokio::test]
    async fn a_child_that_holds_the_output_does_not_hold_the_driver() {
        let script = "read -r prompt; say turn.started; sleep 1000 & say turn.failed; exit 0";
        let (outcome, dialogue) = Agent::jsonl(script).drive_once().await;
        assert_eq!(outcome, failed());
        assert_eq!(dialogue.leftovers, ["sleep"]);
        assert_eq!(dialogue.exit, Exit::Status { status: 0 });
        assert!(!dialogue.timed_out);
    }

    #[tokio::test]
    async fn an_agent_that_talks_before_it_listens_does_not_block() {
        // More than a pipe holds, both ways.
        let prompt = "p".repeat(300_000);
        let script = "i=0; while [ $i -lt 4000 ]; do say filler ',\"x\":\"0123456789012345678901234567890123456789\"'
              i=$((i+1)); done
            read -r prompt; say turn.started; say turn.completed \",\\\"final\\\":\\\"${#prompt}\\\"\"; read -r close";
        let (mut outcomes, dialogue) = Agent::jsonl(script).drive(&[&prompt]).await;
        let text = outcomes.remove(0).unwrap().final_text.unwrap();
        assert_eq!(text, (prompt.len() + "{\"type\":\"prompt\",\"text\":\"\"}".len()).to_string());
        assert_eq!(dialogue.exit, Exit::Status { status: 0 });
    }
}
