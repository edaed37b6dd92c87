//! One interface to all drivers.

use super::acp::Acp;
use super::app_server::AppServer;
use super::context::{Context, DriverError};
use super::dialogue::{Dialogue, DriverKind, TurnOutcome};
use super::exec::Exec;
use super::interjection::Interjections;
use super::jsonl::Jsonl;
use super::rpc::Rpc;
use super::stream_json::StreamJson;

/// A conversation with an agent.
#[derive(Debug)]
pub enum Driver<'a> {
    /// One process for each prompt.
    Exec(Box<Exec<'a>>),
    /// One process that speaks JSON lines.
    Jsonl(Box<Jsonl<'a>>),
    /// One process that speaks the app-server protocol.
    AppServer(Box<AppServer<'a>>),
    /// One process that speaks the Agent Client Protocol.
    Acp(Box<Acp<'a>>),
    /// One process that speaks Claude Code's stream-json.
    StreamJson(Box<StreamJson<'a>>),
    /// One process that speaks Pi's rpc.
    Rpc(Box<Rpc<'a>>),
}

impl<'a> Driver<'a> {
    /// Opens the conversation; what is driven by dialogue is started now.
    ///
    /// # Errors
    /// When the agent cannot be started, or the launch lacks what the driver needs.
    pub async fn open(kind: DriverKind, context: Context<'a>) -> Result<Self, DriverError> {
        Ok(match kind {
            DriverKind::Exec => Self::Exec(Box::new(Exec::open(context)?)),
            DriverKind::Jsonl => Self::Jsonl(Box::new(Jsonl::open(context).await?)),
            DriverKind::AppServer => Self::AppServer(Box::new(AppServer::open(context).await?)),
            DriverKind::Acp => Self::Acp(Box::new(Acp::open(context).await?)),
            DriverKind::StreamJson => Self::StreamJson(Box::new(StreamJson::open(context).await?)),
            DriverKind::Rpc => Self::Rpc(Box::new(Rpc::open(context).await?)),
        })
    }

    /// Sends a prompt and waits until its turn is over: by the agent's word, its end, or the
    /// deadline. An agent that ended or ran out of time has not succeeded; later prompts to it
    /// fail at once. Meanwhile what is interjected is passed on; a driver that cannot do that never
    /// takes it.
    ///
    /// # Errors
    /// When the agent cannot be started, or what it says cannot be read. The conversation can
    /// still be closed.
    pub async fn prompt(
        &mut self,
        text: &str,
        interjections: &mut Interjections,
    ) -> Result<TurnOutcome, DriverError> {
        match self {
            Self::Exec(driver) => driver.prompt(text).await,
            Self::Jsonl(driver) => driver.prompt(text, interjections).await,
            Self::AppServer(driver) => driver.prompt(text, interjections).await,
            Self::Acp(driver) => driver.prompt(text, interjections).await,
            Self::StreamJson(driver) => driver.prompt(text, interjections).await,
            Self::Rpc(driver) => driver.prompt(text, interjections).await,
        }
    }

    /// Tells the agent to compact its history, and waits until it has, or says that it failed.
    ///
    /// # Errors
    /// As for a prompt; and when the driver has no way to say it.
    pub async fn compact(&mut self) -> Result<TurnOutcome, DriverError> {
        match self {
            Self::Exec(_) => Err(DriverError::Cannot { driver: "exec", action: "compact" }),
            Self::Jsonl(driver) => driver.compact().await,
            Self::AppServer(driver) => driver.compact().await,
            Self::Acp(driver) => driver.compact().await,
            Self::StreamJson(driver) => driver.compact().await,
            Self::Rpc(driver) => driver.compact().await,
        }
    }

    /// Ends the agent's process and goes on with the same session in a new one.
    ///
    /// # Errors
    /// As for a prompt; and when the driver has no way to do it.
    pub async fn resume(&mut self) -> Result<(), DriverError> {
        match self {
            Self::Exec(driver) => driver.resume(),
            Self::Jsonl(driver) => driver.resume().await,
            Self::AppServer(driver) => driver.resume().await,
            Self::Acp(driver) => driver.resume().await,
            Self::StreamJson(driver) => driver.resume().await,
            Self::Rpc(driver) => driver.resume().await,
        }
    }

    /// Whether the agent can take no further prompt: it ended, or ran out of time.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Exec(driver) => driver.is_over(),
            Self::Jsonl(driver) => driver.is_over(),
            Self::AppServer(driver) => driver.is_over(),
            Self::Acp(driver) => driver.is_over(),
            Self::StreamJson(driver) => driver.is_over(),
            Self::Rpc(driver) => driver.is_over(),
        }
    }

    /// Ends the conversation and every process of it; says what was seen.
    ///
    /// # Errors
    /// When processes cannot be killed, or the keeper is gone.
    pub async fn close(self) -> Result<Dialogue, DriverError> {
        match self {
            Self::Exec(driver) => driver.close().await,
            Self::Jsonl(driver) => driver.close().await,
            Self::AppServer(driver) => driver.close().await,
            Self::Acp(driver) => driver.close().await,
            Self::StreamJson(driver) => driver.close().await,
            Self::Rpc(driver) => driver.close().await,
        }
    }
}
