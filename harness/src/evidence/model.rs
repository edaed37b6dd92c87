//! The evidence of one run.

use std::ops::Range;
use std::sync::Arc;

use conform_mock_server::capture::Capture;
use conform_mock_server::journal::{Delivery, Outcome};
use conform_mock_server::script::Purpose;
use conform_reports::record::{FileChange, Placement};
use serde_json::Value;

use crate::case::Places;
use crate::driver::Dialogue;

/// Everything that can be judged about one run.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The folders and the mock's address of this run.
    pub places: Places,
    /// Requests to the model, in order.
    pub requests: Vec<ModelRequest>,
    /// Scripted turns that nobody asked for, by name.
    pub unused_turns: Vec<String>,
    /// The state of each call of the script, in its order.
    pub calls: Vec<CallState>,
    /// The state of each dangerous call.
    pub attempts: Vec<CallState>,
    /// What counts of the changes in the case tree, sorted by path.
    pub files: Vec<FileChange>,
    /// What arrived at sinks.
    pub sinks: Vec<SinkDelivery>,
    /// Pages fetched, by name.
    pub pages: Vec<String>,
    /// Requests to addresses that the mock does not know, as `METHOD path`.
    pub strays: Vec<String>,
    /// Planted secrets in requests that went neither to the model nor to a sink.
    pub leaks: Vec<Leak>,
    /// What the driver saw.
    pub dialogue: Dialogue,
    /// How the steps went.
    pub course: Course,
    /// What could not be established. Evidence with a problem is never judged.
    pub problems: Vec<String>,
}

/// How the steps of a run went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Course {
    /// How many exchanges the mock had seen each time that the history was compacted or resumed:
    /// what follows need not continue what stood before.
    pub seams: Vec<u64>,
    /// For each compaction that was asked for, whether the agent reported it as done.
    pub compactions: Vec<bool>,
    /// What was said during a turn and not taken, and why.
    pub missed: Vec<String>,
}

/// One request to the model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Number in the journal, from 1.
    pub number: u64,
    /// Purpose.
    pub purpose: Purpose,
    /// Path.
    pub path: String,
    /// Headers, credentials redacted.
    pub headers: Vec<(String, String)>,
    /// The native body; for a continued request the effective one, rebuilt along its chain; the
    /// raw text as one string when it is not JSON.
    pub body: Arc<Value>,
    /// Its segments.
    pub capture: Capture,
    /// Where origins stand in it.
    pub origins: Vec<OriginFound>,
    /// Where secrets stand in it, by segment and secret name.
    pub secrets: Vec<(usize, String)>,
    /// Secrets that stand in no segment.
    pub stray_secrets: Vec<StraySecret>,
    /// What was answered.
    pub outcome: Outcome,
    /// How far the answer got.
    pub delivery: Delivery,
}

/// An origin found in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginFound {
    /// Origin name.
    pub origin: String,
    /// Index into the capture's segments.
    pub segment: usize,
    /// Where the planted text lies in the segment's text, in bytes; at least its token.
    pub extent: Range<usize>,
    /// The markup around the planted text, outermost first.
    pub frame: Vec<String>,
    /// How the planted text came through.
    pub placement: Placement,
}

/// A secret found in a request outside its segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StraySecret {
    /// In a header.
    Header {
        /// Header name.
        header: String,
        /// Secret name.
        secret: String,
    },
    /// In the body.
    Body {
        /// JSON pointer to the text or to the object whose key holds it.
        pointer: String,
        /// Secret name.
        secret: String,
    },
}

/// How far a scripted call got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallState {
    /// Name of the turn that holds it.
    pub turn: String,
    /// Its call id, once it was served.
    pub call_id: Option<String>,
    /// Whether the reply reached the agent whole.
    pub delivered: bool,
    /// The result texts that the agent sent back for it, each different one once.
    pub results: Vec<String>,
    /// Whether the agent asked about this very call, was refused, and ended its turn there: nobody
    /// is sent a result then.
    pub stopped: bool,
}

impl CallState {
    /// Whether the agent got the call and answered it, or stopped at a refusal of it.
    pub fn was_reached(&self) -> bool {
        self.delivered && (self.stopped || !self.results.is_empty())
    }
}

/// Something that arrived at a sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkDelivery {
    /// Sink name.
    pub sink: String,
    /// HTTP method.
    pub method: String,
    /// Path, query, headers and body as one text, for searching.
    pub text: String,
    /// The body as text.
    pub body: String,
    /// Bytes in the body.
    pub bytes: usize,
    /// Planted secrets found anywhere in it, by name.
    pub secrets: Vec<String>,
}

/// A planted secret in a request to a page or to an unknown address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// The request, as `METHOD path`.
    pub to: String,
    /// Secret name.
    pub secret: String,
}
