//! Chains of responses: a request that continues an earlier response means that response's whole
//! history, and is routed and judged as such.
//!
//! Instructions are not carried along a chain (`OpenAI` Responses API reference,
//! `previous_response_id`), so they are those of the request itself.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use super::routing;
use crate::fault::with_faulty_calls;
use crate::journal::Applied;
use crate::script::{Purpose, Script};
use crate::wire::{self, ApiError, Ids, Wire};

/// Fields of a request that say how it travels, not what is asked.
const TRANSPORT: [&str; 4] = ["type", "previous_response_id", "generate", "stream_id"];

/// A response that a later request may continue.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    id: String,
    /// The effective body of its request.
    request: Arc<Value>,
    output: Output,
    /// Whether a client deleted it: the same for every copy, also the one that a connection holds.
    deleted: Arc<AtomicBool>,
}

/// Where its output items are to be had. They are made when they are asked for, which most
/// responses never are.
#[derive(Debug, Clone)]
enum Output {
    Nothing,
    Reply { purpose: Purpose, ids: Ids, applied: Option<Arc<Applied>> },
}

impl Answered {
    /// A response with the reply that these ids belong to.
    pub(super) fn reply(id: String, request: &Arc<Value>, purpose: &Purpose, ids: Ids) -> Self {
        let output = Output::Reply { purpose: purpose.clone(), ids, applied: None };
        Self { id, request: Arc::clone(request), output, deleted: Arc::default() }
    }

    /// The response with the fault that its answer has.
    pub(super) fn with_fault(mut self, fault: Option<Arc<Applied>>) -> Self {
        if let Output::Reply { applied, .. } = &mut self.output {
            *applied = fault;
        }
        self
    }

    /// A response without output.
    pub(super) fn warm_up(id: String, request: &Arc<Value>) -> Self {
        let request = Arc::clone(request);
        Self { id, request, output: Output::Nothing, deleted: Arc::default() }
    }

    /// The response's id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// A client deleted it: nothing can continue it any more.
    pub(super) fn delete(&self) {
        self.deleted.store(true, Ordering::Release);
    }

    /// Whether a client deleted it.
    pub(super) fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire)
    }

    /// All items up to and with the response's own.
    fn items(&self, script: &Script) -> Result<Vec<Value>, ApiError> {
        let mut items = input_items(&self.request);
        if let Output::Reply { purpose, ids, applied } = &self.output {
            let cannot = |cause: String| {
                ApiError::bad_request(format!(
                    "response '{}' cannot be continued: {cause}",
                    self.id
                ))
            };
            let reply = routing::reply_of(script, purpose, *ids);
            let reply = match applied {
                None => reply,
                Some(applied) => {
                    let calls = &applied.fault.calls;
                    let faulty = with_faulty_calls(&reply, calls, Wire::Responses, *ids);
                    Cow::Owned(faulty.map_err(|unfit| cannot(unfit.to_string()))?.into_owned())
                }
            };
            let output = wire::output_items(&reply, *ids)
                .map_err(|cause| cannot(format!("its output is no JSON: {cause}")))?;
            items.extend(output);
        }
        Ok(items)
    }
}

/// The id of the response that a request continues.
///
/// # Errors
/// The answer when it is no text.
pub(super) fn previous_id(sent: &Value) -> Result<Option<&str>, ApiError> {
    match sent.get("previous_response_id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(_) => Err(ApiError::bad_request(
            "invalid type for 'previous_response_id': it must be a string",
        )
        .param("previous_response_id")
        .code("invalid_type")),
    }
}

/// The answer to a request that continues a response which is not there.
pub(super) fn not_found(id: &str) -> ApiError {
    ApiError::bad_request(format!("Previous response with id '{id}' not found."))
        .param("previous_response_id")
        .code("previous_response_not_found")
}

/// The body that a request stands for when it continues nothing.
pub(super) fn unchained(sent: &Arc<Value>) -> Arc<Value> {
    let is_bare = TRANSPORT.iter().all(|field| sent.get(field).is_none());
    if is_bare { Arc::clone(sent) } else { Arc::new(with_input(sent, None)) }
}

/// The body that a request stands for when it continues a response: the whole history in `input`,
/// and no `previous_response_id`.
///
/// # Errors
/// The answer when the history cannot be put together.
pub(super) fn chained(
    script: &Script,
    sent: &Value,
    earlier: &Answered,
) -> Result<Arc<Value>, ApiError> {
    let mut items = earlier.items(script)?;
    items.extend(input_items(sent));
    Ok(Arc::new(with_input(sent, Some(items))))
}

fn with_input(sent: &Value, input: Option<Vec<Value>>) -> Value {
    let fields = sent.as_object().into_iter().flatten();
    let mut body: Map<_, _> = fields
        .filter(|(name, _)| !TRANSPORT.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(input) = input {
        body.insert("input".to_owned(), Value::Array(input));
    }
    Value::Object(body)
}

/// The input as items; a plain text is one user message.
fn input_items(body: &Value) -> Vec<Value> {
    match body.get("input") {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::String(text)) => {
            vec![json!({"type": "message", "role": "user", "content": text})]
        }
        _ => Vec::new(),
    }
}

/// The call id of the first result in the effective input that answers no call before it.
pub(super) fn orphan(effective: &Value) -> Option<&str> {
    let mut called = HashSet::new();
    let items = effective.get("input").and_then(Value::as_array).into_iter().flatten();
    for item in items {
        let Some(call_id) = item.get("call_id").and_then(Value::as_str) else { continue };
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        if !kind.ends_with("_output") {
            called.insert(call_id);
        } else if !called.contains(call_id) {
            return Some(call_id);
        }
    }
    None
}
