//! Usage as this wire reports it: cached input is counted apart.

use serde::Serialize;

use crate::script::Usage;

/// Token figures of a message.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct UsageView {
    #[serde(flatten)]
    counts: Counts,
    cache_creation: CacheCreation,
    service_tier: &'static str,
}

/// The figures that grow while a message is written.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Counts {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct OutputDetails {
    thinking_tokens: u64,
}

impl Counts {
    /// The figures of a whole reply.
    pub(super) fn of(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input.saturating_sub(usage.cached),
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: usage.cached.min(usage.input),
            output_tokens: usage.output,
            output_tokens_details: OutputDetails { thinking_tokens: usage.reasoning },
        }
    }
}

impl UsageView {
    /// At the start of a stream one token of output is counted, if there will be any.
    pub(super) fn started(usage: Usage) -> Self {
        Self::finished(Usage { output: usage.output.min(1), reasoning: 0, ..usage })
    }

    /// At the end.
    pub(super) fn finished(usage: Usage) -> Self {
        Self {
            counts: Counts::of(usage),
            cache_creation: CacheCreation {
                ephemeral_5m_input_tokens: 0,
                ephemeral_1h_input_tokens: 0,
            },
            service_tier: "standard",
        }
    }
}
