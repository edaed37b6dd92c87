//! One request: passed on, and its reply written down.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

use super::cassette::{Cassette, Entry};
use super::read;
use super::scrub::{Credentials, Scrubber};
use super::tee::{End, Tee};
use super::upstream::Upstream;
use crate::server::{decoded, model_wire};
use crate::wire::Wire;

/// The largest reply read, once its content coding is undone.
const REPLY_LIMIT: usize = 64 * 1024 * 1024;

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

/// Passes a request on and its answer back.
pub(super) async fn forward(
    recorder: Arc<Recorder>,
    mut request: Request<Incoming>,
) -> Response<PassedBody> {
    if asks_for_websocket(request.headers()) {
        // Clients that can take a reply as events do so after this status.
        let message = "WebSocket is not recorded; have the client use HTTP";
        let status = StatusCode::UPGRADE_REQUIRED;
        return refuse(status, "conform_websocket_not_recorded", message);
    }
    let Some(uri) = recorder.upstream.uri_of(request.uri()) else {
        let message = format!(
            "{} is not under {}/, so it is not passed on; give the client the recorder's own base \
             URL",
            request.uri().path(),
            recorder.upstream.path()
        );
        return refuse(StatusCode::NOT_FOUND, "conform_outside_upstream", &message);
    };
    let mut note = Note::new(&recorder, &request);
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    drop_hop_by_hop(headers);
    headers.remove(header::HOST);
    // What is to be written down must be read: no coding is asked for.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    match recorder.client.request(request).await {
        Ok(response) => {
            let (mut head, body) = response.into_parts();
            drop_hop_by_hop(&mut head.headers);
            note.answered(head.status, &head.headers);
            Response::from_parts(head, Either::Left(Tee::new(body, |end| note.ended(end))))
        }
        Err(error) => {
            note.gap("the service could not be reached");
            let message = format!("{} could not be reached: {}", recorder.upstream, told(&error));
            refuse(StatusCode::BAD_GATEWAY, "conform_upstream_unreachable", &message)
        }
    }
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

/// What is to be written down for one request. Dropped without a word, it says so.
struct Note {
    recorder: Arc<Recorder>,
    number: u64,
    about: String,
    wire: Option<Wire>,
    credentials: Credentials,
    status: StatusCode,
    headers: HeaderMap,
    is_done: bool,
}

impl Note {
    fn new(recorder: &Arc<Recorder>, request: &Request<Incoming>) -> Self {
        let (method, path) = (request.method(), request.uri().path());
        Self {
            number: recorder.cassette.arrive(),
            recorder: Arc::clone(recorder),
            about: format!("{method} {path}"),
            wire: model_wire(method, path),
            credentials: Credentials::of(request.headers()),
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            is_done: false,
        }
    }

    fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        self.status = status;
        for value in headers.get_all(header::CONTENT_ENCODING) {
            self.headers.append(header::CONTENT_ENCODING, value.clone());
        }
    }

    fn ended(mut self, end: End) {
        let Some(wire) = self.wire else { return self.finish(Entry::Nothing) };
        if !self.status.is_success() {
            let reason = format!("the service answered with status {}", self.status.as_u16());
            return self.gap(&reason);
        }
        let read = match end {
            End::Lost(reason) => Err(reason.to_owned()),
            End::Whole(bytes) => decoded(Bytes::from(bytes), &self.headers, REPLY_LIMIT)
                .and_then(|bytes| read::read(wire, &bytes)),
        };
        match read {
            Ok(read::Read { reply, left_out }) => {
                let reply = self.recorder.scrubber.reply(&reply, &self.credentials);
                let about = self.about.clone();
                self.finish(Entry::Turn { about, reply, left_out });
            }
            Err(reason) => self.gap(&reason),
        }
    }

    fn gap(&mut self, reason: &str) {
        let (about, reason) = (self.about.clone(), reason.to_owned());
        let is_model = self.wire.is_some();
        self.finish(if is_model { Entry::Gap { about, reason } } else { Entry::Nothing });
    }

    fn finish(&mut self, entry: Entry) {
        if !std::mem::replace(&mut self.is_done, true) {
            self.recorder.cassette.finish(self.number, entry);
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.gap("the client went away before it was answered");
    }
}
