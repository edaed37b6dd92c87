//! A small shell script in the agent's place, and the driver that talks to it.

use std::path::PathBuf;
use std::time::Duration;

use conform::agent::profile::OutputRule;
use conform::driver::{
    AcpSettings, Argument, Context, Dialogue, Driver, DriverError, DriverKind, Interjections,
    Limits, ResolvedLaunch, ThreadSettings, TurnOutcome,
};
use conform::sandbox::{Isolation, Keeper, KeeperOptions};
use conform::scenario::Approver;
use indexmap::IndexMap;
use tokio::time::Instant;

/// Long enough never to matter.
pub(crate) const LONG: Duration = Duration::from_secs(300);
/// The end of time where that is what is tested; long enough for what must come before it.
pub(crate) const SHORT: Duration = Duration::from_secs(2);

/// One agent: a script, and how it is driven.
pub(crate) struct Agent {
    pub(crate) kind: DriverKind,
    pub(crate) script: String,
    pub(crate) output: OutputRule,
    /// How an app-server's thread is opened.
    pub(crate) thread: Option<ThreadSettings>,
    /// How an ACP session is opened.
    pub(crate) acp: AcpSettings,
    pub(crate) approver: Approver,
    pub(crate) time: Duration,
    pub(crate) limits: Limits,
}

impl Agent {
    pub(crate) fn new(kind: DriverKind, script: &str) -> Self {
        Self {
            kind,
            script: script.to_owned(),
            output: OutputRule::Text,
            thread: None,
            acp: AcpSettings::default(),
            approver: Approver::Deny,
            time: LONG,
            limits: Limits::default(),
        }
    }

    pub(crate) fn launch(&self) -> ResolvedLaunch {
        let fixed = |text: &str| Argument::Fixed(text.to_owned());
        ResolvedLaunch {
            program: PathBuf::from("/bin/sh"),
            arguments: vec![fixed("-c"), fixed(&self.script), fixed("agent"), Argument::Prompt],
            resume: None,
            environment: IndexMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
            directory: PathBuf::from("/"),
            output: Some(self.output.clone()),
            thread: self.thread.clone(),
            acp: self.acp.clone(),
        }
    }

    /// Sends the prompts, each result noted, and closes.
    pub(crate) async fn drive(
        self,
        prompts: &[&str],
    ) -> (Vec<Result<TurnOutcome, DriverError>>, Dialogue) {
        let (keeper, _listener) = keeper().await;
        let context = Context {
            keeper: &keeper,
            launch: self.launch(),
            approver: self.approver,
            deadline: Instant::now() + self.time,
            limits: self.limits,
        };
        let mut driver = Driver::open(self.kind, context).await.unwrap();
        let mut outcomes = Vec::new();
        for prompt in prompts {
            outcomes.push(driver.prompt(prompt, &mut Interjections::none()).await);
        }
        let dialogue = driver.close().await.unwrap();
        keeper.end().await.unwrap();
        (outcomes, dialogue)
    }

    pub(crate) async fn drive_once(self) -> (TurnOutcome, Dialogue) {
        let (mut outcomes, dialogue) = self.drive(&["the prompt"]).await;
        (outcomes.remove(0).unwrap(), dialogue)
    }
}

pub(crate) async fn keeper() -> (Keeper, std::net::TcpListener) {
    let executable = Some(PathBuf::from(env!("CARGO_BIN_EXE_conform")));
    Keeper::start(KeeperOptions { isolation: Isolation::None, executable, files: None })
        .await
        .unwrap()
}

pub(crate) fn said(text: &str) -> TurnOutcome {
    TurnOutcome { succeeded: true, final_text: Some(text.to_owned()) }
}

pub(crate) fn failed() -> TurnOutcome {
    TurnOutcome { succeeded: false, final_text: None }
}
