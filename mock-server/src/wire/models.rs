//! The models that the server says it has.
//!
//! The shapes are those of the `OpenAI` and the `Anthropic` model endpoints. The list holds one
//! model; asked for another by its id, the server has that too, since a script answers any model.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Envelope;
use super::clock::{CREATED_AT, CREATED_AT_TEXT};

/// The id of the model that the list names.
const LISTED: &str = "mock-model";

/// The list of models.
///
/// `ids` are the models that the service names; when there is none, one model is made up.
pub(crate) fn model_list(envelope: Envelope, ids: &[&str]) -> Bytes {
    let ids = if ids.is_empty() { &[LISTED] } else { ids };
    let listed: Vec<Value> = ids.iter().map(|id| model_object(envelope, id)).collect();
    let list = match envelope {
        Envelope::OpenAi => json!({"object": "list", "data": listed}),
        Envelope::Anthropic => json!({
            "data": listed,
            "has_more": false,
            "first_id": ids.first(),
            "last_id": ids.last(),
        }),
    };
    Bytes::from(list.to_string())
}

/// The entity tag of the lists: they never change.
pub(crate) const MODELS_ETAG: &str = "\"conform-models-1\"";

/// The list of models as Codex asks for it: with what it must know of each.
pub(crate) fn codex_model_list() -> Bytes {
    let effort = |effort: &str| json!({"effort": effort, "description": effort});
    let listed = json!({
        "slug": LISTED,
        "display_name": LISTED,
        "description": null,
        "default_reasoning_level": "medium",
        "supported_reasoning_levels": [effort("low"), effort("medium"), effort("high")],
        "shell_type": "shell_command",
        "visibility": "list",
        "supported_in_api": true,
        "priority": 1,
        "availability_nux": null,
        "upgrade": null,
        "base_instructions": "You are a coding agent.",
        "supports_reasoning_summaries": true,
        "default_reasoning_summary": "auto",
        "support_verbosity": false,
        "default_verbosity": null,
        "apply_patch_tool_type": "freeform",
        "truncation_policy": {"mode": "bytes", "limit": 10_000},
        "supports_parallel_tool_calls": true,
        "context_window": 272_000,
        "experimental_supported_tools": [],
        "input_modalities": ["text", "image"],
    });
    Bytes::from(json!({"models": [listed]}).to_string())
}

/// One model.
pub(crate) fn model(envelope: Envelope, id: &str) -> Bytes {
    Bytes::from(model_object(envelope, id).to_string())
}

fn model_object(envelope: Envelope, id: &str) -> Value {
    match envelope {
        Envelope::OpenAi => json!({
            "id": id,
            "object": "model",
            "created": CREATED_AT,
            "owned_by": "conform",
        }),
        Envelope::Anthropic => json!({
            "type": "model",
            "id": id,
            "display_name": id,
            "created_at": CREATED_AT_TEXT,
            "lifecycle": "active",
        }),
    }
}
