//! The message object, at the start of a stream and as a whole reply.

use serde::Serialize;

use super::block::{Block, BlockView};
use super::usage::UsageView;
use crate::script::Usage;

/// A message as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Message<'m> {
    id: &'m str,
    r#type: &'static str,
    role: &'static str,
    model: &'m str,
    content: Vec<BlockView<'m>>,
    stop_reason: Option<&'static str>,
    stop_sequence: Option<()>,
    usage: UsageView,
}

impl<'m> Message<'m> {
    /// Nothing is written yet.
    pub(super) fn started(id: &'m str, model: &'m str, usage: Usage) -> Self {
        Self {
            id,
            r#type: "message",
            role: "assistant",
            model,
            content: Vec::new(),
            stop_reason: None,
            stop_sequence: None,
            usage: UsageView::started(usage),
        }
    }

    /// Everything is written.
    pub(super) fn finished(
        id: &'m str,
        model: &'m str,
        blocks: &'m [Block<'_>],
        usage: Usage,
    ) -> Self {
        Self {
            content: blocks.iter().map(Block::finished).collect(),
            stop_reason: Some(stop_reason(blocks)),
            usage: UsageView::finished(usage),
            ..Self::started(id, model, usage)
        }
    }
}

/// Why the model stopped.
pub(super) fn stop_reason(blocks: &[Block<'_>]) -> &'static str {
    if blocks.iter().any(Block::is_call) { "tool_use" } else { "end_turn" }
}
