//! The control API: what a test in any language needs to lead the server, under one prefix.
//!
//! | request under `/__conform/` | answer |
//! | --- | --- |
//! | `GET sessions` | all sessions and their counts |
//! | `GET sessions/KEY` | one of them |
//! | `DELETE sessions/KEY` | 204; the default session stays |
//! | `PUT sessions/KEY/script` | makes the session, or has it play another script; YAML or JSON |
//! | `POST sessions/KEY/reset` | the same script from its start |
//! | `GET sessions/KEY/gates` | the gates that the script names or that were opened |
//! | `POST sessions/KEY/gates/NAME` | opens a gate |
//! | `GET sessions/KEY/journal` | a page of the journal: `?after=NUMBER&limit=COUNT` |
//! | `GET sessions/KEY/journal/NUMBER` | one exchange |
//! | `GET sessions/KEY/journal/NUMBER/body` | its body, byte for byte |
//! | `GET sessions/KEY/journal/live` | server-sent events: each exchange, each change of delivery |
//! | `GET sessions/KEY/verdict` | whether what happened fits the script |
//!
//! No request here is noted in a journal.

mod error;
mod guard;
mod live;
mod load;
mod path;
mod view;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Either;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::dispatch::AnswerBody;
use super::reply_body::ReplyBody;
use super::request_body;
use super::session::{Session, SessionKey};
use super::sessions::Sessions;
use crate::journal::Exchange;
use error::ControlError;
use path::{Query, Resource};

pub use guard::{BadToken, Token};
pub(super) use live::LiveBody;

/// What comes before every path of the control API.
const PREFIX: &str = "/__conform/";

/// The largest script taken.
const SCRIPT_LIMIT: usize = 8 * 1024 * 1024;

type ClientVerdict = Arc<dyn Fn(&[Exchange]) -> Value + Send + Sync>;

/// How the control API is offered.
///
/// Who may use it can read every request, whatever it holds, and change every reply.
#[derive(Clone)]
pub struct Control {
    token: Option<Token>,
    client_verdict: Option<ClientVerdict>,
}

impl Control {
    /// Open to all who reach the server: for loopback.
    pub fn open() -> Self {
        Self { token: None, client_verdict: None }
    }

    /// Open to those who send the token, as `authorization: Bearer TOKEN` or as
    /// `x-conform-token: TOKEN`. Model endpoints, pages and sinks ask for none.
    pub fn guarded(token: Token) -> Self {
        Self { token: Some(token), client_verdict: None }
    }

    /// Adds a verdict on the client to that on the script: what `judge` makes of the exchanges
    /// stands under `client` in the answer.
    #[must_use]
    pub fn client_verdict(
        self,
        judge: impl Fn(&[Exchange]) -> Value + Send + Sync + 'static,
    ) -> Self {
        Self { client_verdict: Some(Arc::new(judge)), ..self }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("token", &self.token)
            .field("client_verdict", &self.client_verdict.is_some())
            .finish()
    }
}

/// The path within the control API, if a path belongs to it.
pub(super) fn path(path: &str) -> Option<&str> {
    path.strip_prefix(PREFIX)
}

/// Answers a request of the control API.
pub(super) async fn answer(
    sessions: &Sessions,
    control: &Control,
    path: &str,
    request: Request<Incoming>,
) -> Response<AnswerBody> {
    let (head, body) = request.into_parts();
    // A body that is not read would be taken for the next request.
    let body = request_body::read(body, &head.headers, SCRIPT_LIMIT).await;
    let result = match &control.token {
        Some(token) if !token.is_sent(&head.headers) => Err(ControlError::unauthorized()),
        _ => match body.problem {
            Some(problem) => Err(ControlError::bad_body(&problem)),
            None => respond(sessions, control, path, &head, &body.bytes),
        },
    };
    result.unwrap_or_else(|error| error.to_response())
}

fn respond(
    sessions: &Sessions,
    control: &Control,
    path: &str,
    head: &Parts,
    body: &Bytes,
) -> Result<Response<AnswerBody>, ControlError> {
    let resource = Resource::of(path)?;
    let method = &head.method;
    let query = Query::of(head.uri.query())?;
    let found = |key: &SessionKey| sessions.get(key).ok_or_else(|| ControlError::no_session(key));
    match (&resource, method) {
        (Resource::Sessions, &Method::GET) => {
            let all: Vec<Value> = sessions.all().iter().map(view::session).collect();
            Ok(json_answer(StatusCode::OK, &json!({"sessions": all})))
        }
        (Resource::Session(key), &Method::GET) => {
            Ok(json_answer(StatusCode::OK, &view::session(&found(key)?)))
        }
        (Resource::Session(key), &Method::DELETE) => remove(sessions, key),
        (Resource::Script(key), &Method::PUT) => {
            let (session, made) = load::load(sessions, key.clone(), body)?;
            let status = if made { StatusCode::CREATED } else { StatusCode::OK };
            Ok(json_answer(status, &view::session(&session)))
        }
        (Resource::Reset(key), &Method::POST) => {
            let session = found(key)?;
            session.reset();
            Ok(json_answer(StatusCode::OK, &view::session(&session)))
        }
        (Resource::Gates(key), &Method::GET) => {
            Ok(json_answer(StatusCode::OK, &view::gates(&found(key)?)))
        }
        (Resource::Gate(key, name), &Method::POST) => {
            let session = found(key)?;
            session.gates().open(name);
            Ok(json_answer(StatusCode::OK, &view::gates(&session)))
        }
        (Resource::Journal(key), &Method::GET) => {
            let page = view::journal(&found(key)?, query.after.unwrap_or(0), query.limit);
            Ok(json_answer(StatusCode::OK, &page))
        }
        (Resource::Exchange(key, number), &Method::GET) => {
            let exchange = exchange(&found(key)?, *number)?;
            Ok(json_answer(StatusCode::OK, &view::exchange(&exchange)))
        }
        (Resource::Body(key, number), &Method::GET) => {
            let exchange = exchange(&found(key)?, *number)?;
            Ok(whole(StatusCode::OK, "application/octet-stream", exchange.body))
        }
        (Resource::Live(key), &Method::GET) => {
            let after = query.after.or_else(|| live::last_event(&head.headers)).unwrap_or(0);
            Ok(live::feed(&found(key)?, after))
        }
        (Resource::Verdict(key), &Method::GET) => {
            let verdict = view::verdict(&found(key)?, control.client_verdict.as_ref());
            Ok(json_answer(StatusCode::OK, &verdict))
        }
        _ => Err(ControlError::wrong_method(method, path, resource.allowed())),
    }
}

fn remove(sessions: &Sessions, key: &SessionKey) -> Result<Response<AnswerBody>, ControlError> {
    if *key == SessionKey::default_session() {
        return Err(ControlError::default_stays());
    }
    sessions.remove(key).ok_or_else(|| ControlError::no_session(key))?;
    let mut response = Response::new(Either::Left(ReplyBody::whole(Bytes::new())));
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

fn exchange(session: &Session, number: u64) -> Result<Exchange, ControlError> {
    match session.journal().get(number) {
        Ok(Some(exchange)) => Ok(exchange),
        Ok(None) => Err(ControlError::no_exchange(session.key(), number)),
        Err(missing) => Err(ControlError::missing(&missing)),
    }
}

fn json_answer(status: StatusCode, value: &Value) -> Response<AnswerBody> {
    whole(status, "application/json", Bytes::from(value.to_string()))
}

fn whole(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<AnswerBody> {
    let mut response = Response::new(Either::Left(ReplyBody::whole(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
