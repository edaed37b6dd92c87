//! What is to be written down for one request.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use http::header::{self, HeaderMap};

use super::cassette::Entry;
use super::forward::Recorder;
use super::read::{self, Read};
use super::scrub::Credentials;
use super::tee::End;
use crate::server::decoded;
use crate::wire::Wire;

/// The largest reply read, once its content coding is undone.
pub(super) const REPLY_LIMIT: usize = 64 * 1024 * 1024;

/// What is to be written down for one request. Dropped without a word, it says so.
pub(super) struct Note {
    pub(super) recorder: Arc<Recorder>,
    number: u64,
    pub(super) about: String,
    wire: Option<Wire>,
    pub(super) credentials: Credentials,
    status: StatusCode,
    headers: HeaderMap,
    is_done: bool,
}

impl Note {
    /// A note of a request of which nothing is known yet. `about` names it for people; `wire` is
    /// that of a request for the model.
    pub(super) fn new(
        recorder: &Arc<Recorder>,
        about: String,
        wire: Option<Wire>,
        credentials: Credentials,
    ) -> Self {
        Self {
            number: recorder.cassette.arrive(),
            recorder: Arc::clone(recorder),
            about,
            wire,
            credentials,
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            is_done: false,
        }
    }

    /// The head of the answer has come.
    pub(super) fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        self.status = status;
        for value in headers.get_all(header::CONTENT_ENCODING) {
            self.headers.append(header::CONTENT_ENCODING, value.clone());
        }
    }

    /// The body of the answer has ended.
    pub(super) fn ended(mut self, end: End) {
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
        self.read(read);
    }

    /// The reply was read, or cannot be, for this reason.
    pub(super) fn read(mut self, read: Result<Read, String>) {
        match read {
            Ok(Read { reply, left_out }) => {
                let reply = self.recorder.scrubber.reply(&reply, &self.credentials);
                let about = self.about.clone();
                self.finish(Entry::Turn { about, reply, left_out });
            }
            Err(reason) => self.gap(&reason),
        }
    }

    /// There is nothing to write down.
    pub(super) fn nothing(mut self) {
        self.finish(Entry::Nothing);
    }

    /// There is no reply, for this reason.
    pub(super) fn gap(&mut self, reason: &str) {
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
