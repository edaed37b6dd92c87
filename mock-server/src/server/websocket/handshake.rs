//! Upgrade requests: who is let in, and how (RFC 6455, section 4.2).

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use serde_json::json;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::conversation::Conversation;
use super::deflate::{Agreed, negotiate};
use crate::journal::{Handshake, Journal, Route, Upgrade};
use crate::script::{Compression, Refusal};
use crate::server::answer::{self, record, scripted_headers};
use crate::server::reply_body::ReplyBody;
use crate::server::session::Run;
use crate::server::state::State;
use crate::wire::{ApiError, Envelope};

/// Where the answer to an upgrade request leaves what is to be served once the connection has
/// changed its protocol.
#[derive(Debug, Clone, Default)]
pub(in crate::server) struct Opening {
    inner: Arc<Mutex<Option<(Conversation, Run)>>>,
}

impl Opening {
    /// What is to be served, if a request was let in.
    pub(in crate::server) fn take(&self) -> Option<(Conversation, Run)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, conversation: Conversation, run: Run) {
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = Some((conversation, run));
    }
}

/// Whether a request asks for a `WebSocket` on the endpoint that has one.
pub(in crate::server) fn is_upgrade<B>(request: &Request<B>) -> bool {
    request.method() == Method::GET
        && request.uri().path().ends_with("/responses")
        && lists(request.headers(), &header::UPGRADE, "websocket")
}

/// Answers an upgrade request as the script says of this connection.
pub(in crate::server) async fn upgrade(
    run: &Run,
    mut request: Request<Incoming>,
    opening: &Opening,
) -> Response<ReplyBody> {
    let state = &*run.state;
    let upgrading = hyper::upgrade::on(&mut request);
    let (head, _) = request.into_parts();
    let connection = state.sockets.next();
    let route =
        Route::Upgrade(Upgrade { connection, handshake: Handshake::Pending, extensions: None });
    let number = record(state, &head, Bytes::new(), route);
    let mut entry = Entry { journal: &state.journal, number, is_answered: false };

    let scripted = script_of(state, connection).map(|connection| &connection.handshake);
    if let Some(gate) = scripted.and_then(|scripted| scripted.gate.as_deref()) {
        // Dropped here when the client goes away, and the entry with it.
        state.gates.wait(gate).await;
    }
    let understood = accept_key(&head).and_then(|key| {
        let agreed = negotiate(&head.headers)
            .map_err(|malformed| ApiError::bad_request(malformed.to_string()))?;
        Ok((key, agreed))
    });
    let (key, agreed) = match understood {
        Ok(understood) => understood,
        Err(refusal) => {
            entry.answered(Handshake::Refused { status: refusal.status.as_u16() }, None);
            return answer::error(&refusal, Envelope::OpenAi, number);
        }
    };
    let is_declined =
        scripted.is_some_and(|scripted| scripted.compression == Compression::Declined);
    let agreed = agreed.filter(|_| !is_declined);
    let refusal = scripted.and_then(|scripted| scripted.refusal.as_ref());
    let mut response = if let Some(refusal) = refusal {
        entry.answered(Handshake::Refused { status: refusal.status }, None);
        refused(refusal)
    } else {
        entry.answered(Handshake::Accepted, agreed.map(|agreed| agreed.to_string()));
        opening.put(Conversation::new(upgrading, head, connection, agreed), run.clone());
        accepted(key, connection, agreed)
    };
    if let Some(scripted) = scripted {
        scripted_headers(response.headers_mut(), &scripted.headers);
    }
    response
}

/// What the script says of a connection.
pub(super) fn script_of(state: &State, connection: u64) -> Option<&crate::script::Connection> {
    let index = usize::try_from(connection).ok()?.checked_sub(1)?;
    state.script.connections.get(index)
}

/// The journal's entry of an upgrade request. Dropped before an answer, it was abandoned.
#[derive(Debug)]
struct Entry<'s> {
    journal: &'s Journal,
    number: u64,
    is_answered: bool,
}

impl Entry<'_> {
    fn answered(&mut self, handshake: Handshake, extensions: Option<String>) {
        self.is_answered = true;
        self.journal.set_handshake(self.number, handshake, extensions);
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.journal.set_handshake(self.number, Handshake::Abandoned, None);
        }
    }
}

/// The value that proves to the client that its request was understood.
fn accept_key(head: &Parts) -> Result<HeaderValue, ApiError> {
    if !lists(&head.headers, &header::CONNECTION, "upgrade") {
        return Err(ApiError::bad_request("the upgrade request lacks `connection: upgrade`"));
    }
    let version = head.headers.get(header::SEC_WEBSOCKET_VERSION);
    if version.is_none_or(|version| version != "13") {
        return Err(ApiError::bad_request("the upgrade request needs `sec-websocket-version: 13`"));
    }
    head.headers
        .get(header::SEC_WEBSOCKET_KEY)
        .and_then(|key| HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok())
        .ok_or_else(|| ApiError::bad_request("the upgrade request has no `sec-websocket-key`"))
}

/// The answer that changes the protocol. Subprotocols and all other extensions are declined by
/// saying nothing of them.
fn accepted(key: HeaderValue, connection: u64, agreed: Option<Agreed>) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(Bytes::new()));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, key);
    let extensions = agreed.map(|agreed| HeaderValue::from_str(&agreed.to_string()));
    if let Some(Ok(extensions)) = extensions {
        headers.insert(header::SEC_WEBSOCKET_EXTENSIONS, extensions);
    }
    if let Ok(id) = HeaderValue::from_str(&format!("req_c{connection}")) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    response
}

fn refused(refusal: &Refusal) -> Response<ReplyBody> {
    // Checked when the script was read; one made by hand may hold any number.
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    let message = refusal.message.clone();
    let body = json!({
        "error": {
            "message": message.unwrap_or_else(|| format!("the upgrade is refused with {status}")),
            "type": refusal.kind(),
            "param": null,
            "code": refusal.code,
        }
    });
    let mut response = answer::json(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    response
}

/// Whether one of the values that a header lists is this one, without regard to case.
fn lists(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|listed| listed.to_str().ok())
        .flat_map(|listed| listed.split(','))
        .any(|listed| listed.trim().eq_ignore_ascii_case(value))
}
