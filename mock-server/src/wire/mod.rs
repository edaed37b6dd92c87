//! The protocols a model can be spoken to in.

mod chat;
mod clock;
mod error;
mod fit;
pub(crate) mod frame;
mod ids;
pub(crate) mod json;
mod messages;
mod minted;
mod models;
mod pieces;
mod request;
mod responses;
mod sse;
mod tokens;
mod write;

pub(crate) use error::{ApiError, Envelope};
pub(crate) use fit::Unfit;
pub(crate) use ids::Ids;
pub(crate) use minted::{Minted, minted};
pub(crate) use models::{MODELS_ETAG, codex_model_list, model, model_list};
pub(crate) use request::Request;
pub(crate) use responses::{
    SocketFrames, compaction_object, input_items, output_items, stream as response_events,
    warm_up_reply, whole as response_object,
};
pub(crate) use tokens::count_tokens;
pub(crate) use write::{Written, reply_headers, write};

use serde::{Deserialize, Serialize};

/// A wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// `OpenAI` Responses over HTTP, answered as server-sent events.
    Responses,
    /// `OpenAI` Responses over a `WebSocket`, one event a text frame.
    ResponsesWs,
    /// `OpenAI` Chat Completions.
    Chat,
    /// `Anthropic` Messages.
    Messages,
}

impl Wire {
    /// All wires.
    pub const ALL: [Self; 4] = [Self::Responses, Self::ResponsesWs, Self::Chat, Self::Messages];

    /// The name used in profiles and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::ResponsesWs => "responses-ws",
            Self::Chat => "chat",
            Self::Messages => "messages",
        }
    }
}

impl std::fmt::Display for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
