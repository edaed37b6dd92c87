//! From one request to its answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use serde_json::Value;

use super::chain::{self, Answered};
use super::deliver::{Given, deliver};
use super::delivery::{Endings, Tracker};
use super::endpoint::Endpoint;
use super::lookup;
use super::matching::Question;
use super::reply_body::ReplyBody;
use super::request_body::{self, BodyProblem, RequestBody};
use super::routing::{self, Plan, Routed};
use super::session::Run;
use super::state::{BODY_LIMIT, State};
use super::store::Stored;
use super::stored;
use super::websocket::{self, Opening};
use crate::capture;
use crate::journal::{
    Answer, Applied, Delivery, Effective, Exchange, ModelExchange, Outcome, Route,
};
use crate::provider::refusal_body;
use crate::script::{Purpose, Reply};
use crate::validate::Refusal;
use crate::wire::{self, ApiError, Envelope, Ids, Wire, Written};

/// Reads a request to its end, notes it in the journal and answers it.
///
/// `endings` are those of its connection. Where the answer opens a `WebSocket`, what is to be served
/// on it is left in `opening`.
pub(super) async fn answer(
    run: &Run,
    request: Request<Incoming>,
    endings: Endings,
    opening: &Opening,
) -> Response<ReplyBody> {
    let state = &*run.state;
    if websocket::is_upgrade(&request) && state.speaks(Wire::Responses) {
        return websocket::upgrade(run, request, opening).await;
    }
    let (head, body) = request.into_parts();
    let body = request_body::read(body, &head.headers, BODY_LIMIT).await;
    let path = head.uri.path();
    match Endpoint::of(&head.method, path) {
        Endpoint::Model(wire) if state.speaks(wire) => {
            let (mut response, tracker) = model(state, &head, body, wire).await;
            begin(state, &mut response, tracker.exchange());
            response.map(|body| body.tracked(tracker, endings))
        }
        Endpoint::Models => lookup::models(state, &head, body),
        Endpoint::ModelById(id) => lookup::model(state, &head, body, id),
        Endpoint::CountTokens => lookup::count_tokens(state, &head, body),
        Endpoint::Stored { id, action } => stored::stored(state, &head, body, id, action),
        Endpoint::InputTokens => stored::input_tokens(state, &head, body),
        Endpoint::Compact => stored::compact(state, &head, body),
        Endpoint::Page(name) => page(state, &head, body, name).await,
        Endpoint::Sink(name) => sink(state, &head, body, name),
        Endpoint::WrongMethod { allow } => {
            let number = record(state, &head, body.bytes, Route::Unknown);
            let message = format!("{path} does not take {}; it takes {allow}", head.method);
            let refusal = ApiError::with_status(StatusCode::METHOD_NOT_ALLOWED, message)
                .code("method_not_supported");
            let mut response = error(&refusal, Envelope::asked_for(&head.headers), number);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
            response
        }
        Endpoint::Model(_) | Endpoint::Unknown => {
            let number = record(state, &head, body.bytes, Route::Unknown);
            let message = format!("there is nothing at {} {path}", head.method);
            let refusal = ApiError::with_status(StatusCode::NOT_FOUND, message).code("unknown_url");
            error(&refusal, Envelope::asked_for(&head.headers), number)
        }
    }
}

async fn page(state: &State, head: &Parts, body: RequestBody, name: &str) -> Response<ReplyBody> {
    let page = state.script.pages.get(name);
    let route = Route::Page { name: name.to_owned(), found: page.is_some() };
    let number = record(state, head, body.bytes, route);
    let Some(page) = page else {
        let message = format!("the script has no page `{name}`");
        let refusal = ApiError::with_status(StatusCode::NOT_FOUND, message).code("unknown_url");
        return error(&refusal, Envelope::OpenAi, number);
    };
    if let Some(gate) = &page.gate {
        state.gates.wait(gate).await;
    }
    let mut response = Response::new(ReplyBody::whole(Bytes::from(page.body.clone())));
    set_header(response.headers_mut(), header::CONTENT_TYPE, &page.content_type);
    response
}

fn sink(state: &State, head: &Parts, body: RequestBody, name: &str) -> Response<ReplyBody> {
    let number = record(state, head, body.bytes, Route::Sink { name: name.to_owned() });
    if let Some(problem) = body.problem.filter(BodyProblem::is_cut_short) {
        return error(&problem.to_error(), Envelope::OpenAi, number);
    }
    let mut response = Response::new(ReplyBody::whole(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// The answer of a model endpoint, and what follows it in the journal.
async fn model(
    state: &State,
    head: &Parts,
    body: RequestBody,
    wire: Wire,
) -> (Response<ReplyBody>, Tracker) {
    let json = match parse(&body) {
        Ok(json) => Arc::new(json),
        // What cannot be decoded is no question of the body's own syntax.
        Err(refusal) if body.problem.is_some() => {
            return malformed(state, head, body.bytes, wire, None, &refusal);
        }
        Err(refusal) => {
            let refusal = state.validator.not_json(wire, &head.headers, &refusal.message);
            return invalid(state, head, body.bytes, wire, None, refusal);
        }
    };
    if let Some(refusal) = state.validator.check(wire, &head.headers, &json) {
        return invalid(state, head, body.bytes, wire, Some(json), refusal);
    }
    let request = match wire::Request::read(wire, &json) {
        Ok(request) => request.with_usage(state.usage()),
        Err(refusal) => {
            return malformed(state, head, body.bytes, wire, Some(Arc::clone(&json)), &refusal);
        }
    };
    let asked = Asked {
        wire,
        connection: None,
        received: state.started.elapsed(),
        body: &body.bytes,
        sent: &json,
        effective: effective(state, wire, &json),
    };
    let Taken { purpose, plan, tracker } = route(state, head, &asked);
    match plan {
        Plan::Refuse(refusal) => (error(&refusal, wire.envelope(), tracker.exchange()), tracker),
        Plan::Reply { reply, label, gate, ids, applied } => {
            if let Some(gate) = gate {
                // Dropped here when the client goes away, and the tracker with it.
                state.gates.wait(gate).await;
            }
            let is_faulted = applied.as_ref().is_some_and(|applied| applied.fault.status.is_some());
            if wire == Wire::Responses && !is_faulted {
                let id = ids.response(wire);
                let answered = asked.answered(id.clone(), &purpose, ids, applied.clone());
                state.store.keep(&id, asked.stored(purpose, ids, answered));
            }
            let given = Given { reply: &reply, label: &label, ids, applied: applied.as_deref() };
            deliver(state, head, request, given, tracker).await
        }
    }
}

/// What a request over HTTP stands for. One that continues an unknown response is answered all the
/// same: only its history cannot be told.
fn effective(state: &State, wire: Wire, sent: &Value) -> Effective {
    if wire != Wire::Responses {
        return Effective::AsSent;
    }
    match chain::previous_id(sent) {
        Ok(None) => Effective::AsSent,
        Ok(Some(id)) => {
            let earlier = state.store.answered(id);
            let body =
                earlier.and_then(|earlier| chain::chained(&state.script, sent, &earlier).ok());
            body.map_or(Effective::Unknown, Effective::Rebuilt)
        }
        Err(_) => Effective::Unknown,
    }
}

/// A model request that can be routed.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) wire: Wire,
    /// The `WebSocket` connection, if it came over one.
    pub(super) connection: Option<u64>,
    /// When it came, since the server's start.
    pub(super) received: Duration,
    pub(super) body: &'a Bytes,
    pub(super) sent: &'a Arc<Value>,
    pub(super) effective: Effective,
}

/// A request that was routed and stands in the journal.
#[derive(Debug)]
pub(super) struct Taken<'s> {
    pub(super) purpose: Purpose,
    pub(super) plan: Plan<'s>,
    pub(super) tracker: Tracker,
}

impl Asked<'_> {
    /// The body that it stands for, if that can be told.
    pub(super) fn effective(&self) -> Option<&Arc<Value>> {
        match &self.effective {
            Effective::AsSent => Some(self.sent),
            Effective::Rebuilt(body) => Some(body),
            Effective::Unknown => None,
        }
    }

    /// The request as conditions see it.
    pub(super) fn question<'a>(&'a self, head: &'a Parts) -> Question<'a> {
        Question {
            wire: self.wire,
            headers: &head.headers,
            body: self.body,
            json: self.effective().unwrap_or(self.sent),
            sent: self.sent,
        }
    }

    /// The body that rules are about, and the wire that they belong to. Over HTTP they are about
    /// the body as sent. A message on a `WebSocket` has fields that only steer it, so there they
    /// are about the body that it stands for.
    pub(super) fn validated(&self) -> (Wire, &Arc<Value>) {
        match self.wire {
            Wire::ResponsesWs => (Wire::Responses, self.effective().unwrap_or(self.sent)),
            wire => (wire, self.sent),
        }
    }

    /// What is remembered of the answer, if it can be told what it stands for.
    fn answered(
        &self,
        id: String,
        purpose: &Purpose,
        ids: Ids,
        applied: Option<Arc<Applied>>,
    ) -> Option<Answered> {
        // What a client makes of changed events is not known.
        let is_known = applied.as_ref().is_none_or(|applied| applied.fault.edits.is_empty());
        let effective = self.effective().filter(|_| is_known)?;
        Some(Answered::reply(id, effective, purpose, ids).with_fault(applied))
    }

    /// The response that these ids belong to, as the store keeps it.
    pub(super) fn stored(&self, purpose: Purpose, ids: Ids, answered: Option<Answered>) -> Stored {
        let sent = Arc::clone(self.sent);
        Stored { sent, purpose, ids, answered, is_cancelled: false }
    }

    /// The journal's entry.
    pub(super) fn entry(
        &self,
        state: &State,
        head: &Parts,
        purpose: Purpose,
        outcome: Outcome,
    ) -> Exchange {
        let (json, effective) = (Some(Arc::clone(self.sent)), self.effective.clone());
        let model = model_exchange(state, self.wire, purpose, json, effective, outcome);
        let route = Route::Model(ModelExchange { connection: self.connection, ..model });
        Exchange { received: self.received, ..exchange(state, head, self.body.clone(), route) }
    }
}

/// Routes a request and notes it in the journal, in one step: the journal's order is the order in
/// which turns were taken.
pub(super) fn route<'s>(state: &'s State, head: &Parts, asked: &Asked<'_>) -> Taken<'s> {
    let question = asked.question(head);
    let mut queues = state.queues();
    let Routed { purpose, outcome, plan } = queues
        .route(&state.script, &question, || capture::offered_tools(asked.wire, question.json));
    let (outcome, plan) = match asked.connection {
        Some(_) => without_fault(outcome, plan),
        None => (outcome, plan),
    };
    // An HTTP error in the place of the reply gives nothing.
    if let Plan::Reply { reply, ids, applied, .. } = &plan
        && applied.as_ref().is_none_or(|applied| applied.fault.status.is_none())
    {
        let (wire, body) = asked.validated();
        state.validator.remember(wire, body, reply, *ids);
    }
    let mut entry = asked.entry(state, head, purpose.clone(), outcome);
    if let Route::Model(model) = &mut entry.route {
        model.applied = plan.applied();
    }
    let number = state.journal.append(entry);
    drop(queues);
    Taken { purpose, plan, tracker: Tracker::new(&state.journal, number) }
}

/// Refuses a turn that has a fault of its own: over a `WebSocket` it is the connection that has
/// faults, and none is passed over in silence.
fn without_fault(outcome: Outcome, plan: Plan<'_>) -> (Outcome, Plan<'_>) {
    let Plan::Reply { label, applied: Some(_), .. } = plan else { return (outcome, plan) };
    let reason = "a turn's `fault` is for answers over HTTP, and the request came over a \
                  WebSocket; describe what goes wrong there in `connections`";
    let refusal = ApiError::script_mismatch(format!("`{label}` cannot be given: {reason}"));
    let outcome = Outcome::Unfit { turn: label.into_owned(), reason: reason.to_owned() };
    (outcome, Plan::Refuse(refusal))
}

fn malformed(
    state: &State,
    head: &Parts,
    body: Bytes,
    wire: Wire,
    json: Option<Arc<Value>>,
    refusal: &ApiError,
) -> (Response<ReplyBody>, Tracker) {
    let outcome = Outcome::Malformed { reason: refusal.message.clone() };
    let purpose = Purpose::main();
    let route =
        Route::Model(model_exchange(state, wire, purpose, json, Effective::AsSent, outcome));
    let number = record(state, head, body, route);
    let tracker = Tracker::new(&state.journal, number);
    (error(refusal, wire.envelope(), number), tracker)
}

/// Refuses a request that breaks a rule: it takes no turn.
fn invalid(
    state: &State,
    head: &Parts,
    body: Bytes,
    wire: Wire,
    json: Option<Arc<Value>>,
    refusal: Refusal,
) -> (Response<ReplyBody>, Tracker) {
    let played = state.script.provider.as_ref();
    let refusal = worded(state, refusal);
    let effective = json.as_ref().map_or(Effective::AsSent, |json| effective(state, wire, json));
    let purpose = json.as_ref().map_or_else(Purpose::main, |json| {
        let effective = match &effective {
            Effective::Rebuilt(body) => body,
            Effective::AsSent | Effective::Unknown => json,
        };
        let headers = &head.headers;
        let question = Question { wire, headers, body: &body, json: effective, sent: json };
        routing::purpose(&state.script, &question)
    });
    let outcome = Outcome::Refused(refusal.clone());
    let route = Route::Model(model_exchange(state, wire, purpose, json, effective, outcome));
    let number = record(state, head, body, route);
    let request_id = format!("req_e{number}");
    let mut response = self::json(refusal_body(played, wire, &refusal, &request_id));
    *response.status_mut() =
        StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    if wire.envelope() == Envelope::Anthropic {
        set_header(response.headers_mut(), HeaderName::from_static("request-id"), &request_id);
    }
    (response, Tracker::new(&state.journal, number))
}

/// The refusal as the provider words it.
pub(super) fn worded(state: &State, refusal: Refusal) -> Refusal {
    match &state.script.provider {
        Some(provider) => provider.worded(refusal),
        None => refusal,
    }
}

/// The model part of an exchange over HTTP that is not yet answered.
pub(super) fn model_exchange(
    state: &State,
    wire: Wire,
    purpose: Purpose,
    json: Option<Arc<Value>>,
    effective: Effective,
    outcome: Outcome,
) -> ModelExchange {
    let mut model = ModelExchange {
        wire,
        purpose,
        json,
        effective,
        connection: None,
        read: None,
        dropped: Vec::new(),
        outcome,
        answer: None,
        delivery: Delivery::Pending,
        applied: None,
    };
    if let Some(body) = model.effective().map(Arc::clone) {
        let (read, dropped) = match &state.script.provider {
            Some(provider) => provider.read(&body),
            None => (body, Vec::new()),
        };
        (model.read, model.dropped) = (Some(read), dropped);
    }
    model
}

pub(super) fn parse(body: &RequestBody) -> Result<Value, ApiError> {
    if let Some(problem) = &body.problem {
        return Err(problem.to_error());
    }
    serde_json::from_slice(&body.bytes).map_err(|cause| {
        ApiError::bad_request(format!("the request body cannot be parsed as JSON: {cause}"))
    })
}

/// The reply as an HTTP answer.
pub(super) fn faultless(
    wire: Wire,
    reply: &Reply,
    ids: Ids,
    written: Written,
) -> Response<ReplyBody> {
    let is_stream = matches!(written, Written::Stream(_));
    let body = match written {
        Written::Stream(frames) => ReplyBody::frames(frames),
        Written::Whole(bytes) => ReplyBody::whole(bytes),
    };
    reply_head(wire, reply, ids, is_stream, body)
}

/// A body with the head that a reply has.
pub(super) fn reply_head(
    wire: Wire,
    reply: &Reply,
    ids: Ids,
    is_stream: bool,
    body: ReplyBody,
) -> Response<ReplyBody> {
    let content_type =
        if is_stream { "text/event-stream; charset=utf-8" } else { "application/json" };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    for (name, value) in wire::reply_headers(wire, ids) {
        set_header(headers, HeaderName::from_static(name), &value);
    }
    scripted_headers(headers, &reply.headers);
    response
}

/// Sets the reply's own headers: the first of a name replaces what the server would send, later
/// ones are added to it.
pub(super) fn scripted_headers(headers: &mut HeaderMap, scripted: &[(String, String)]) {
    for (index, (name, value)) in scripted.iter().enumerate() {
        // Both were checked when the server started.
        let (Ok(header), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        else {
            continue;
        };
        let repeated =
            scripted[..index].iter().any(|(earlier, _)| earlier.eq_ignore_ascii_case(name));
        if repeated {
            headers.append(header, value);
        } else {
            headers.insert(header, value);
        }
    }
}

/// An error as the answer to the exchange with this number.
pub(super) fn error(refusal: &ApiError, envelope: Envelope, exchange: u64) -> Response<ReplyBody> {
    // No turn was taken, so there is no reply to name the request after.
    let request_id = format!("req_e{exchange}");
    let mut response = json(refusal.to_json(envelope, &request_id));
    *response.status_mut() = refusal.status;
    if envelope == Envelope::Anthropic {
        set_header(response.headers_mut(), HeaderName::from_static("request-id"), &request_id);
    }
    response
}

/// A JSON body as an answer.
pub(super) fn json(body: Bytes) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(body));
    let content_type = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// Notes in the journal how the answer of an exchange begins, and adds what the provider sends
/// with every answer.
fn begin(state: &State, response: &mut Response<ReplyBody>, exchange: u64) {
    provider_headers(response.headers_mut(), state);
    let answer =
        Answer { status: response.status().as_u16(), retry_after: retry_after(response.headers()) };
    state.journal.set_answer(exchange, answer);
}

/// How long the answer asks the client to wait; a date in `retry-after` is not read.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    let milliseconds = number("retry-after-ms").map(Duration::from_millis);
    milliseconds.or_else(|| number("retry-after").map(Duration::from_secs))
}

/// Sets the headers that the provider sends with every answer, where the answer has none of them.
fn provider_headers(headers: &mut HeaderMap, state: &State) {
    let sent = state.script.provider.iter().flat_map(|provider| &provider.headers);
    for (name, value) in sent {
        // Both were checked when the provider was read.
        let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        else {
            continue;
        };
        headers.entry(name).or_insert(value);
    }
}

pub(super) fn set_header(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // Values come from ids or were checked when the server started, so they are always valid.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

pub(super) fn record(state: &State, head: &Parts, body: Bytes, route: Route) -> u64 {
    state.journal.append(exchange(state, head, body, route))
}

/// The journal's entry for a request; its number is given when it is added.
pub(super) fn exchange(state: &State, head: &Parts, body: Bytes, route: Route) -> Exchange {
    Exchange {
        number: 0,
        received: state.started.elapsed(),
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        headers: recorded_headers(&head.headers),
        body,
        route,
    }
}

/// Headers that carry credentials: their values never reach the journal.
const CREDENTIALS: [HeaderName; 5] = [
    header::AUTHORIZATION,
    header::COOKIE,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
];

fn recorded_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let recorded = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = if CREDENTIALS.contains(name) {
            "[redacted]".to_owned()
        } else {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        (name.as_str().to_owned(), value)
    };
    headers.iter().map(recorded).collect()
}
