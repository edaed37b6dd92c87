//! Usage as this wire reports it.

use crate::provider::UsageForm;
use crate::script::Usage;
use crate::wire::json::Object;

/// Writes the token figures of a completion.
pub(super) fn write_usage(object: Object<'_>, usage: Usage, form: UsageForm) -> Object<'_> {
    let object = object
        .number("prompt_tokens", usage.input)
        .number("completion_tokens", usage.output)
        .number("total_tokens", usage.total());
    match form {
        UsageForm::Full => write_details(object, usage),
        UsageForm::Totals => object,
        UsageForm::CacheHits => write_details(object, usage)
            .number("prompt_cache_hit_tokens", usage.cached)
            .number("prompt_cache_miss_tokens", usage.input.saturating_sub(usage.cached)),
    }
}

fn write_details(object: Object<'_>, usage: Usage) -> Object<'_> {
    object
        .object("prompt_tokens_details", |object| {
            object.number("cached_tokens", usage.cached).number("audio_tokens", 0_u64)
        })
        .object("completion_tokens_details", |object| {
            object
                .number("reasoning_tokens", usage.reasoning)
                .number("audio_tokens", 0_u64)
                .number("accepted_prediction_tokens", 0_u64)
                .number("rejected_prediction_tokens", 0_u64)
        })
}
