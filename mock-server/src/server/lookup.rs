//! Questions about the service: they take no turn and wait for no gate.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

use super::answer::{error, json, parse, record};
use super::reply_body::ReplyBody;
use super::request_body::RequestBody;
use super::state::State;
use crate::journal::{Lookup, Route};
use crate::wire::{self, ApiError, Envelope, Wire};

/// Answers with the list of models; with Codex's own, if its version is in the query.
pub(super) fn models(state: &State, head: &Parts, body: RequestBody) -> Response<ReplyBody> {
    record(state, head, body.bytes, Route::Lookup(Lookup::Models));
    let asks_as_codex = head.uri.query().is_some_and(|query| {
        query.split('&').any(|pair| pair.split('=').next() == Some("client_version"))
    });
    let ids: Vec<&str> = state.service.models.keys().map(String::as_str).collect();
    let mut response = json(if asks_as_codex {
        wire::codex_model_list()
    } else {
        wire::model_list(Envelope::asked_for(&head.headers), &ids)
    });
    response.headers_mut().insert(header::ETAG, HeaderValue::from_static(wire::MODELS_ETAG));
    response
}

/// Answers with one model.
pub(super) fn model(
    state: &State,
    head: &Parts,
    body: RequestBody,
    id: &str,
) -> Response<ReplyBody> {
    let number =
        record(state, head, body.bytes, Route::Lookup(Lookup::Model { id: id.to_owned() }));
    if !state.service.has(id) {
        let message = format!("The model '{id}' does not exist");
        let refusal = ApiError::with_status(StatusCode::NOT_FOUND, message).code("model_not_found");
        return error(&refusal, Envelope::asked_for(&head.headers), number);
    }
    json(wire::model(Envelope::asked_for(&head.headers), id))
}

/// Answers with the number of tokens that a Messages request is said to have.
pub(super) fn count_tokens(state: &State, head: &Parts, body: RequestBody) -> Response<ReplyBody> {
    let parsed = parse(&body);
    let number = record(state, head, body.bytes, Route::Lookup(Lookup::CountTokens));
    let request = match parsed {
        Ok(request) if request.is_object() => request,
        Ok(_) => {
            let refusal = ApiError::bad_request("the request body must be a JSON object");
            return error(&refusal, Envelope::Anthropic, number);
        }
        Err(refusal) => return error(&refusal, Envelope::Anthropic, number),
    };
    let tokens = wire::count_tokens(Wire::Messages, &request);
    json(Bytes::from(json!({"input_tokens": tokens}).to_string()))
}
