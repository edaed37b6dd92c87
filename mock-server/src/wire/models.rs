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
