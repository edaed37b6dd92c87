//! One request: passed on, and its answer passed back.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::upgrade;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

use super::cassette::Cassette;
use super::handshake::Asked;
use super::note::Note;
use super::relay::{Listener, Opening, Relay};
use super::scrub::{Credentials, Scrubber};
use super::tee::{End, Tee};
use super::upstream::Upstream;
use crate::server::model_wire;
use crate::wire::Wire;

/// Headers that are between two ends of one connection (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
];

pub(super) type PassedBody = Either<Tee, Full<Bytes>>;

/// What all requests share.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) upstream: Upstream,
    pub(super) client: Client<HttpsConnector<HttpConnector>, Incoming>,
    pub(super) scrubber: Scrubber,
    pub(super) cassette: Arc<Cassette>,
}

/// Passes a request on and its answer back. `opening` takes what is to be relayed once the
/// connection has become a `WebSocket`.
pub(super) async fn forward(
    recorder: Arc<Recorder>,
    mut request: Request<Incoming>,
    opening: &Opening,
) -> Response<PassedBody> {
    let Some(uri) = recorder.upstream.uri_of(request.uri()) else {
        let message = format!(
            "{} is not under {}/, so it is not passed on; give the client the recorder's own base \
             URL",
            request.uri().path(),
            recorder.upstream.path()
        );
        return refuse(StatusCode::NOT_FOUND, "conform_outside_upstream", &message);
    };
    let about = format!("{} {}", request.method(), request.uri().path());
    let credentials = Credentials::of(request.headers());
    let upgrading = asks_for_websocket(request.headers()).then(|| upgrade::on(&mut request));
    let wire = match &upgrading {
        // On any other path, nothing of it is for the model.
        Some(_) => request.uri().path().ends_with("/responses").then_some(Wire::ResponsesWs),
        None => model_wire(request.method(), request.uri().path()),
    };
    let note = Note::new(&recorder, about.clone(), wire, credentials.clone());
    let mut pending = if upgrading.is_some() && Asked::is_counted(request.method(), wire) {
        Pending::Handshake(Asked::new(note))
    } else {
        Pending::Request(note)
    };
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    drop_hop_by_hop(headers);
    headers.remove(header::HOST);
    // What is to be written down must be read: no coding is asked for.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if upgrading.is_some() {
        headers.remove(header::SEC_WEBSOCKET_EXTENSIONS);
        ask_for_websocket(headers);
    }
    let mut response = match recorder.client.request(request).await {
        Ok(response) => response,
        Err(error) => {
            pending.gap("the service could not be reached");
            let message = format!("{} could not be reached: {}", recorder.upstream, told(&error));
            return refuse(StatusCode::BAD_GATEWAY, "conform_upstream_unreachable", &message);
        }
    };
    if let Some(client) = upgrading
        && response.status() == StatusCode::SWITCHING_PROTOCOLS
    {
        // In the order of the service, which the removal below does not keep.
        pending.let_in(response.headers());
        let service = upgrade::on(&mut response);
        let listener = Listener::new(recorder, about, wire, credentials);
        opening.put(Relay::new(client, service, listener));
        let (mut head, _) = response.into_parts();
        drop_hop_by_hop(&mut head.headers);
        ask_for_websocket(&mut head.headers);
        // None was asked for, and what is relayed must be plain to be read.
        head.headers.remove(header::SEC_WEBSOCKET_EXTENSIONS);
        return Response::from_parts(head, Either::Right(Full::default()));
    }
    let (mut head, body) = response.into_parts();
    pending.answered(head.status, &head.headers);
    drop_hop_by_hop(&mut head.headers);
    Response::from_parts(head, Either::Left(Tee::new(body, |end| pending.ended(end))))
}

/// What is to be written down of a request.
enum Pending {
    Request(Note),
    /// It asks for a connection.
    Handshake(Asked),
}

impl Pending {
    fn let_in(self, headers: &HeaderMap) {
        match self {
            Self::Request(note) => note.nothing(),
            Self::Handshake(asked) => asked.let_in(headers),
        }
    }

    fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        match self {
            Self::Request(note) => note.answered(status, headers),
            Self::Handshake(asked) => asked.refused(status, headers),
        }
    }

    fn ended(self, end: End) {
        match self {
            Self::Request(note) => note.ended(end),
            Self::Handshake(asked) => asked.ended(end),
        }
    }

    fn gap(&mut self, reason: &str) {
        match self {
            Self::Request(note) => note.gap(reason),
            Self::Handshake(asked) => asked.gap(reason),
        }
    }
}

/// The headers of both sides that change the protocol; the others are passed on.
fn ask_for_websocket(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}

fn asks_for_websocket(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::UPGRADE).iter();
    values.filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|protocol| protocol.trim().eq_ignore_ascii_case("websocket"))
    })
}

fn drop_hop_by_hop(headers: &mut HeaderMap) {
    // The connection header may name more of them.
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
}

/// An error with its causes, which say what the client library itself does not.
fn told(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told = format!("{told}: {error}");
        cause = error.source();
    }
    told
}

fn refuse(status: StatusCode, code: &str, message: &str) -> Response<PassedBody> {
    let body =
        json!({"error": {"message": message, "type": "invalid_request_error", "code": code}});
    let mut response = Response::new(Either::Right(Full::from(body.to_string())));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}
