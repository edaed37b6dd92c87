//! Questions about responses that were served before, and the two endpoints beside them.
//!
//! The shapes follow the public API reference of `OpenAI` Responses. None takes a turn.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

use super::answer::{error, json as json_answer, parse, record};
use super::reply_body::ReplyBody;
use super::request_body::RequestBody;
use super::state::State;
use super::store::Stored;
use crate::journal::{Lookup, Route, StoredAction};
use crate::wire::{self, ApiError, Envelope, Request, Wire};

/// Answers a question about one response.
pub(super) fn stored(
    state: &State,
    head: &Parts,
    body: RequestBody,
    id: &str,
    action: StoredAction,
) -> Response<ReplyBody> {
    let route = Route::Lookup(Lookup::Stored { id: id.to_owned(), action });
    let number = record(state, head, body.bytes, route);
    let Some(found) = state.store.get(id) else {
        let message = format!("no response with the id `{id}` is stored");
        let refusal = ApiError::with_status(StatusCode::NOT_FOUND, message);
        return error(&refusal, Envelope::OpenAi, number);
    };
    let answer = match action {
        StoredAction::Read => read(state, &found, head.uri.query().unwrap_or_default()),
        StoredAction::Delete => {
            state.store.delete(id);
            state.validator.forget(id);
            Ok(text(&json!({"id": id, "object": "response", "deleted": true})))
        }
        StoredAction::Cancel => cancel(state, &found, id),
        StoredAction::InputItems => {
            input_items(&found, head.uri.query().unwrap_or_default()).map(|list| text(&list))
        }
    };
    answer.unwrap_or_else(|refusal| error(&refusal, Envelope::OpenAi, number))
}

/// The response as one object, or what is left of its events.
fn read(state: &State, found: &Stored, query: &str) -> Result<Response<ReplyBody>, ApiError> {
    let request = Request::read(Wire::Responses, &found.sent)?.with_usage(state.usage());
    let reply = &*found.reply(&state.script);
    if parameter(query, "stream") != Some("true") {
        return Ok(json_answer(object(found, wire::response_object(&request, reply, found.ids))));
    }
    let after = match parameter(query, "starting_after") {
        None => 0,
        // The number of the first event is 0.
        Some(number) => {
            number.parse::<usize>().map(|number| number.saturating_add(1)).map_err(|_| {
                ApiError::bad_request("`starting_after` is the sequence number of an event")
                    .param("starting_after")
            })?
        }
    };
    let frames = wire::response_events(&request, reply, found.ids)
        .map_err(|unfit| ApiError::bad_request(unfit.to_string()))?;
    let mut response = Response::new(ReplyBody::frames(frames.into_iter().skip(after).collect()));
    let content_type = HeaderValue::from_static("text/event-stream; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    Ok(response)
}

fn cancel(state: &State, found: &Stored, id: &str) -> Result<Response<ReplyBody>, ApiError> {
    if found.sent.get("background") != Some(&Value::Bool(true)) {
        return Err(ApiError::bad_request(
            "only a response that was made with `background: true` can be cancelled",
        ));
    }
    state.store.cancel(id);
    let mut found = found.clone();
    found.is_cancelled = true;
    read(state, &found, "")
}

/// The object with the status that it has by now.
fn object(found: &Stored, whole: Bytes) -> Bytes {
    if !found.is_cancelled {
        return whole;
    }
    match serde_json::from_slice::<Value>(&whole) {
        Ok(mut object) => {
            object["status"] = json!("cancelled");
            Bytes::from(object.to_string())
        }
        Err(_) => whole,
    }
}

/// One page of the items that the request brought.
fn input_items(found: &Stored, query: &str) -> Result<Value, ApiError> {
    let limit = match parameter(query, "limit") {
        None => 20,
        Some(limit) => {
            limit.parse().ok().filter(|limit| (1..=100).contains(limit)).ok_or_else(|| {
                ApiError::bad_request("`limit` is a number from 1 to 100").param("limit")
            })?
        }
    };
    let mut items = wire::input_items(&found.sent, &found.ids.to_string());
    match parameter(query, "order") {
        None | Some("desc") => items.reverse(),
        Some("asc") => {}
        Some(_) => return Err(ApiError::bad_request("`order` is asc or desc").param("order")),
    }
    if let Some(after) = parameter(query, "after") {
        let place = items.iter().position(|item| item["id"] == after).ok_or_else(|| {
            ApiError::bad_request(format!("no item has the id `{after}`")).param("after")
        })?;
        items.drain(..=place);
    }
    let has_more = items.len() > limit;
    items.truncate(limit);
    let id = |item: Option<&Value>| item.map_or(Value::Null, |item| item["id"].clone());
    Ok(json!({
        "object": "list",
        "first_id": id(items.first()),
        "last_id": id(items.last()),
        "has_more": has_more,
        "data": items,
    }))
}

/// Answers with the number of tokens that a Responses request is said to have.
pub(super) fn input_tokens(state: &State, head: &Parts, body: RequestBody) -> Response<ReplyBody> {
    let parsed = object_in(&body);
    let number = record(state, head, body.bytes, Route::Lookup(Lookup::InputTokens));
    match parsed {
        Ok(request) => text(&json!({
            "object": "response.input_tokens",
            "input_tokens": wire::count_tokens(Wire::Responses, &request),
        })),
        Err(refusal) => error(&refusal, Envelope::OpenAi, number),
    }
}

/// Answers with a compacted history: what the user said, and the rest in opaque form.
pub(super) fn compact(state: &State, head: &Parts, body: RequestBody) -> Response<ReplyBody> {
    let parsed = object_in(&body);
    let number = record(state, head, body.bytes, Route::Lookup(Lookup::Compact));
    match parsed.and_then(|request| compacted(state, &request)) {
        Ok(object) => text(&object),
        Err(refusal) => error(&refusal, Envelope::OpenAi, number),
    }
}

fn compacted(state: &State, request: &Value) -> Result<Value, ApiError> {
    Request::read(Wire::Responses, request)?;
    let mut history = vec![request.clone()];
    let mut previous = named_before(request);
    let mut chain: Vec<Arc<Value>> = Vec::new();
    while let Some(id) = previous {
        // A client can name an id before it is given, and so make a ring.
        let is_new = |found: &Stored| !chain.iter().any(|seen| Arc::ptr_eq(seen, &found.sent));
        let found = state.store.get(&id).filter(is_new).ok_or_else(|| {
            ApiError::bad_request(format!("no response with the id `{id}` is stored"))
                .param("previous_response_id")
                .code("previous_response_not_found")
        })?;
        previous = named_before(&found.sent);
        chain.push(found.sent);
    }
    history.splice(0..0, chain.iter().rev().map(|request| Value::clone(request)));
    let count = state.compactions.fetch_add(1, Ordering::Relaxed) + 1;
    let mut output: Vec<Value> = Vec::new();
    for (index, request) in history.iter().enumerate() {
        let items = wire::input_items(request, &format!("c{count}n{}", index + 1));
        output.extend(items.into_iter().filter(|item| item["role"] == "user"));
    }
    output.push(json!({
        "type": "compaction",
        "id": format!("cmp_c{count}"),
        "encrypted_content": format!("opaque_c{count}"),
    }));
    let input = wire::count_tokens(Wire::Responses, request) as u64;
    Ok(wire::compaction_object(&format!("resp_c{count}"), &output, input))
}

fn named_before(request: &Value) -> Option<String> {
    request.get("previous_response_id").and_then(Value::as_str).map(str::to_owned)
}

fn object_in(body: &RequestBody) -> Result<Value, ApiError> {
    match parse(body)? {
        request @ Value::Object(_) => Ok(request),
        _ => Err(ApiError::bad_request("the request body must be a JSON object")),
    }
}

fn text(json: &Value) -> Response<ReplyBody> {
    json_answer(Bytes::from(json.to_string()))
}

/// A parameter of a query, as it stands there.
fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}
