//! The whole reply as one object.

use bytes::Bytes;
use serde::Serialize;

use super::message::{self, Payload, ToolCall};
use super::usage::UsageView;
use crate::script::Reply;
use crate::wire::clock::CREATED_AT;
use crate::wire::{Ids, Request, Wire};

/// The backend that every completion names.
pub(super) const FINGERPRINT: &str = "fp_conform";

/// The service tier that every completion names.
pub(super) const SERVICE_TIER: &str = "default";

/// Writes the completion object.
///
/// # Errors
/// When a value cannot be written as JSON.
pub(super) fn write(request: &Request<'_>, reply: &Reply, ids: Ids) -> serde_json::Result<Bytes> {
    let parts = message::parts(reply, ids)?;
    let completion = Completion {
        id: ids.response(Wire::Chat),
        object: "chat.completion",
        created: CREATED_AT,
        model: request.model(),
        choices: [Choice {
            index: 0,
            message: Message {
                role: "assistant",
                content: message::content(&parts),
                reasoning_content: message::reasoning(&parts),
                refusal: None,
                annotations: [],
                tool_calls: message::calls(&parts).map(CallView::from).collect(),
            },
            logprobs: None,
            finish_reason: message::finish_reason(&parts),
        }],
        usage: reply.usage.into(),
        service_tier: SERVICE_TIER,
        system_fingerprint: FINGERPRINT,
    };
    serde_json::to_vec(&completion).map(Bytes::from)
}

#[derive(Serialize)]
struct Completion<'r> {
    id: String,
    object: &'static str,
    created: u64,
    model: &'r str,
    choices: [Choice<'r>; 1],
    usage: UsageView,
    service_tier: &'static str,
    system_fingerprint: &'static str,
}

#[derive(Serialize)]
struct Choice<'r> {
    index: usize,
    message: Message<'r>,
    logprobs: Option<()>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Message<'r> {
    role: &'static str,
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    refusal: Option<()>,
    annotations: [(); 0],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallView<'r>>,
}

#[derive(Serialize)]
struct CallView<'r> {
    id: &'r str,
    #[serde(flatten)]
    called: Called<'r>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Called<'r> {
    Function { function: Function<'r> },
    Custom { custom: Custom<'r> },
}

#[derive(Serialize)]
struct Function<'r> {
    name: &'r str,
    arguments: &'r str,
}

#[derive(Serialize)]
struct Custom<'r> {
    name: &'r str,
    input: &'r str,
}

impl<'r> From<&'r ToolCall<'_>> for CallView<'r> {
    fn from(call: &'r ToolCall<'_>) -> Self {
        let name = call.name;
        let called = match &call.payload {
            Payload::Arguments(arguments) => {
                Called::Function { function: Function { name, arguments } }
            }
            Payload::Input(input) => Called::Custom { custom: Custom { name, input } },
        };
        Self { id: &call.id, called }
    }
}
