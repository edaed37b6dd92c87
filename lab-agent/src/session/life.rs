//! The life of a session: opened, talked to, closed.

use super::delegate::Parent;
use super::store::{self, StoreError};
use crate::{
    approval::Approvals,
    defect::Defect,
    dialogue::{Command, Inbox},
    events::{Event, EventError, Events},
    history::History,
    policy::Rulebook,
    request::{self, Frame},
    rules::{self, Rules, RulesError},
    settings::{Keeping, Mode, Settings},
    tools::Shell,
    wire::{Client, ClientError},
    workspace::{PathError, Workspace},
};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The turn completed, or the dialogue was closed.
    Completed,
    /// The turn failed.
    Failed,
}

/// The session cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error(transparent)]
    Event(#[from] EventError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error("the agent's own folder cannot be placed: {0}; check HOME and the session file's path")]
    OwnFiles(#[from] PathError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot write a request as JSON: {0}")]
    Body(#[from] serde_json::Error),
}

impl SessionError {
    /// 2 where the run was asked for what cannot be, 1 where it broke on the way.
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::Rules(_) | Self::OwnFiles(_) | Self::Store(StoreError::Load { .. }) => 2,
            Self::Event(_) | Self::Client(_) | Self::Body(_) | Self::Store(_) => 1,
        }
    }
}

/// Runs one session in the mode that the settings say.
pub(crate) async fn run(settings: Settings) -> Result<Ending, SessionError> {
    let inbox = match &settings.mode {
        Mode::Exec(_) => Inbox::silent(),
        Mode::Dialogue => Inbox::stdin(),
    };
    let mut session = Session::open(settings, inbox, Events::to_stdout())?;
    match session.settings.mode.clone() {
        Mode::Exec(prompt) => session.turn(&prompt).await,
        Mode::Dialogue => session.converse().await,
    }
}

/// The state of a session between and within turns.
pub(super) struct Session {
    pub(super) settings: Settings,
    pub(super) id: String,
    pub(super) rules: Rules,
    pub(super) history: History,
    /// What waits while a sub-agent works; the history is the sub-agent's then.
    pub(super) parent: Option<Parent>,
    pub(super) workspace: Workspace,
    pub(super) rulebook: Rulebook,
    pub(super) approvals: Approvals,
    pub(super) shell: Shell,
    pub(super) client: Client,
    pub(super) inbox: Inbox,
    pub(super) events: Events,
    pub(super) turns: u64,
    /// Bodies built so far; a retry sends the same body again.
    pub(super) bodies: u64,
    /// Requests put on the wire so far, retries included.
    pub(super) requests: u64,
    /// Tokens of the history, as the last reply reported them.
    pub(super) tokens: u64,
}

impl Session {
    fn open(settings: Settings, inbox: Inbox, events: Events) -> Result<Self, SessionError> {
        let rules = rules::load(&settings.cwd, settings.trusted, &settings.defects)?;
        let mut own_files: Vec<_> = rules.files.iter().map(|rule| rule.file.clone()).collect();
        own_files.extend(settings.keeping.file().cloned());
        let (id, mut history) = match &settings.keeping {
            Keeping::Resume(file) => store::load(file)?,
            Keeping::No | Keeping::Write(_) => (session_id(&settings), History::default()),
        };
        let resumed = matches!(settings.keeping, Keeping::Resume(_));
        if !(resumed && settings.has(Defect::StaleRulesOnResume)) {
            history.renew_context(request::context(&settings, &rules));
        }
        let mut session = Self {
            workspace: Workspace::new(
                settings.cwd.clone(),
                &settings.state,
                &own_files,
                &settings.defects,
            )?,
            rulebook: Rulebook {
                policy: settings.policy,
                network: settings.network,
                defects: settings.defects.clone(),
            },
            shell: Shell::new(settings.cwd.clone(), settings.shell_environment.clone()),
            client: Client::new(&settings)?,
            approvals: Approvals::default(),
            settings,
            id,
            rules,
            history,
            parent: None,
            inbox,
            events,
            turns: 0,
            bodies: 0,
            requests: 0,
            tokens: 0,
        };
        session.announce(resumed)?;
        Ok(session)
    }

    fn announce(&mut self, resumed: bool) -> Result<(), EventError> {
        let loaded: Vec<String> = self.rules.files.iter().map(|rule| rule.shown.clone()).collect();
        self.events.emit(&Event::SessionStarted {
            session: &self.id,
            resumed,
            model: &self.settings.model,
            policy: self.settings.policy,
            network: self.settings.network,
            rules: &loaded,
            rules_ignored: &self.rules.ignored,
        })
    }

    async fn converse(&mut self) -> Result<Ending, SessionError> {
        loop {
            match self.inbox.command(&mut self.events).await? {
                Command::Prompt(text) => {
                    // In a dialogue a failed turn is told by its event; the session goes on.
                    self.turn(&text).await?;
                }
                // The dialogue hears by an event how it went.
                Command::Compact => drop(self.compact(false).await?),
                Command::Close => {
                    self.events.emit(&Event::SessionClosed)?;
                    return Ok(Ending::Completed);
                }
            }
        }
    }

    pub(super) fn frame(&self) -> Frame<'_> {
        Frame {
            settings: &self.settings,
            rules: &self.rules,
            session: &self.id,
            for_sub_agent: self.parent.is_some(),
        }
    }

    /// Writes the session down. What a sub-agent knows is no part of it.
    pub(super) fn keep(&self) -> Result<(), StoreError> {
        match self.settings.keeping.file() {
            Some(file) if self.parent.is_none() => store::save(file, &self.id, &self.history),
            Some(_) | None => Ok(()),
        }
    }
}

/// A name for the session that the same folder and prompt always give: FNV-1a, 64 bits.
fn session_id(settings: &Settings) -> String {
    let prompt = match &settings.mode {
        Mode::Exec(prompt) => prompt.as_str(),
        Mode::Dialogue => "",
    };
    let folder = settings.cwd.as_os_str().as_encoded_bytes();
    let bytes = folder.iter().chain(&[0]).chain(prompt.as_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("lab-{hash:016x}")
}
