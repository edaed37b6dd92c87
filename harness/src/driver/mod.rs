//! Drivers: the ways to talk to an agent.
//!
//! A [`Driver`] is opened in a [`Context`], gets prompts, and is closed; then its [`Dialogue`]
//! says what was seen. It never waits past the context's deadline, whatever the agent does.

mod acp;
mod acp_message;
mod app_server;
mod app_server_message;
mod context;
mod conversation;
mod dialogue;
mod exec;
mod interjection;
mod json_rpc;
mod jsonl;
mod output;
mod peer;
mod rpc;
mod stream_json;
mod transcript;

pub use context::{
    AcpSettings, Argument, Context, DriverError, Limits, ResolvedLaunch, ThreadSettings,
};
pub use conversation::Driver;
pub use dialogue::{Approval, Dialogue, DriverKind, TurnOutcome};
pub use interjection::{Action, Interjection, Interjections, Interjector, Taken};
