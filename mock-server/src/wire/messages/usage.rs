//! Usage as this wire reports it: cached input is counted apart.

use crate::script::Usage;
use crate::wire::json::Object;

/// Writes the token figures of a message.
pub(super) fn write_usage(object: Object<'_>, usage: Usage) -> Object<'_> {
    write_counts(object, usage)
        .object("cache_creation", |object| {
            object
                .number("ephemeral_5m_input_tokens", 0_u64)
                .number("ephemeral_1h_input_tokens", 0_u64)
        })
        .text("service_tier", "standard")
}

/// Writes the figures that grow while a message is written.
pub(super) fn write_counts(object: Object<'_>, usage: Usage) -> Object<'_> {
    object
        .number("input_tokens", usage.input.saturating_sub(usage.cached))
        .number("cache_creation_input_tokens", 0_u64)
        .number("cache_read_input_tokens", usage.cached.min(usage.input))
        .number("output_tokens", usage.output)
        .object("output_tokens_details", |object| object.number("thinking_tokens", usage.reasoning))
}
