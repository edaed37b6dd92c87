//! Scripted misbehaviour: what a fault is and when it applies.
//!
//! A fault belongs to a turn and works the same way on every wire. Events are counted from 1 as
//! the faultless reply has them; a reply that is one object counts as one event, and only what has
//! a meaning for it can be done with it. Bytes are counted in the body as it is sent, without the
//! transfer coding.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A fault and the attempts it applies to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultRule {
    /// When it applies.
    pub attempts: Attempts,
    /// What happens then.
    pub fault: Fault,
}

/// Which attempts at a turn have the fault. An attempt is a request that the turn could answer.
///
/// A fault for every attempt is the turn's whole answer: the turn is taken. While a fault for some
/// attempts applies, the turn stays the next of its queue, so that the next attempt finds it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attempts {
    /// All of them.
    #[default]
    Every,
    /// The first so many.
    First(u64),
    /// These, counted from 1.
    Only(Vec<u64>),
}

impl Attempts {
    /// Whether this attempt, counted from 1, is one of them.
    pub fn contains(&self, attempt: u64) -> bool {
        match self {
            Self::Every => true,
            Self::First(count) => attempt <= *count,
            Self::Only(attempts) => attempts.contains(&attempt),
        }
    }

    /// Whether the turn waits for another attempt.
    pub fn keeps_turn(&self) -> bool {
        *self != Self::Every
    }
}

/// What goes wrong with one answer. Everything that is set happens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// An error in the place of the reply.
    pub status: Option<StatusFault>,
    /// The form of the reply, whatever the request asks for.
    pub form: Option<Form>,
    /// The content type that the head names.
    pub content_type: Option<String>,
    /// What is wrong with the calls of the reply.
    pub calls: CallFault,
    /// Changes of single events, in this order.
    pub edits: Vec<Edit>,
    /// How events are written.
    pub framing: Framing,
    /// Where the server waits; at one place, in this order.
    pub pauses: Vec<(Point, Pause)>,
    /// A pause after each event or byte.
    pub pace: Option<Pace>,
    /// Where the reply stops for good.
    pub cut: Option<Cut>,
}

/// An HTTP error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatusFault {
    /// The status, 400 to 599.
    pub code: u16,
    /// The body.
    pub body: ErrorBody,
    /// Further headers, such as `retry-after`.
    pub headers: Vec<(String, String)>,
}

/// The body of an HTTP error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorBody {
    /// The wire's own error object; what is absent has the value that goes with the status.
    Error {
        /// The type.
        kind: Option<String>,
        /// The code.
        code: Option<String>,
        /// The text for people.
        message: Option<String>,
        /// The request field that it is about.
        param: Option<String>,
    },
    /// Any JSON.
    Json(Value),
    /// Any text, sent as `text/plain` unless a header says otherwise.
    Text(String),
}

/// The form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// One JSON object.
    Object,
    /// Server-sent events.
    Stream,
}

/// What is wrong with the calls of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFault {
    /// Every call has the id of the first.
    pub same_ids: bool,
    /// Every payload ends after so many characters.
    pub cut_arguments: Option<usize>,
}

/// An event of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// By its number, from 1.
    Number(u64),
    /// By its place from the end: 1 is the last.
    FromEnd(u64),
    /// The first event of this type; `[DONE]` is the frame that ends a Chat Completions stream.
    Named(String),
}

/// A place in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// Before the first byte of the head.
    Start,
    /// Between the head and the body.
    AfterHead,
    /// Before an event.
    Before(Event),
    /// After an event.
    After(Event),
    /// After so many bytes of the body.
    AfterByte(u64),
}

/// What ends a wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pause {
    /// Time.
    For(Duration),
    /// A gate.
    Gate(String),
    /// Nothing but the client's leaving.
    Forever,
}

/// A pause after each part of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// After each event.
    Event(Duration),
    /// After each byte, which is then a write of its own.
    Byte(Duration),
}

/// Where a reply stops, and how the client learns of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Where.
    pub at: Point,
    /// How.
    pub how: CutHow,
}

/// How a connection ends at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutHow {
    /// The HTTP body ends as if that were all; the connection stays.
    End,
    /// The connection is closed (FIN) inside the body.
    Close,
    /// The connection is reset (RST) inside the body.
    Reset,
}

/// A change of the events of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// The event is left out.
    Drop(Event),
    /// The event comes again, right after itself, so many times.
    Repeat {
        /// Which.
        event: Event,
        /// How often it comes again.
        times: u64,
    },
    /// Two events change places.
    Swap(Event, Event),
    /// The event's data is not what it should be.
    Malformed {
        /// Which.
        event: Event,
        /// The data instead; the first half of what it was when absent.
        data: Option<String>,
    },
    /// Something comes before an event.
    Insert(Insert),
    /// The sequence numbers from this event on are higher by so many.
    SkipNumbers {
        /// The first event with a higher number.
        from: Event,
        /// By how many.
        by: u64,
    },
    /// `[DONE]` ends the stream where none belongs (`true`), or does not where one does.
    Terminator(bool),
}

/// What comes before an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insert {
    /// The event; every one when absent.
    pub before: Option<Event>,
    /// What comes.
    pub what: Inserted,
    /// How often, one after the other.
    pub times: u64,
    /// How long the server waits before each.
    pub every: Option<Duration>,
}

/// What can come between events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inserted {
    /// A comment line with this text.
    Comment {
        /// The text after the colon.
        text: String,
        /// Whether a blank line follows.
        blank_line: bool,
    },
    /// An event, of no number.
    Event {
        /// The name, if there is an event line.
        name: Option<String>,
        /// The data, as it stands.
        data: String,
    },
}

/// How events are written. Nothing here changes what a parser makes of a stream, but for event
/// lines that are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Framing {
    /// What ends a line.
    pub line_ending: LineEnding,
    /// The event line.
    pub event_line: EventLine,
    /// Whether an event's data stands on two lines, where it can.
    pub two_data_lines: bool,
    /// Where events are cut into writes of their own.
    pub split: Split,
}

/// What ends a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineEnding {
    /// `\n`.
    #[default]
    Lf,
    /// `\r\n`.
    CrLf,
    /// `\r`.
    Cr,
}

/// Where the event line stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventLine {
    /// Before the data.
    #[default]
    First,
    /// After the data.
    Last,
    /// Nowhere.
    Omitted,
}

/// Where the body is cut into writes. Each event begins a write in any case, unless all is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// One write for each event.
    #[default]
    Events,
    /// One write for so many bytes, and for the rest of each event.
    Every(usize),
    /// A new write after these bytes of the body.
    At(Vec<u64>),
    /// A new write after each byte of a character but its last.
    Characters,
    /// A new write between CR and LF.
    CrLf,
    /// A new write after each line.
    Lines,
    /// The whole body is one write.
    Nowhere,
}

impl Fault {
    /// Whether the reply cannot reach its end.
    pub fn ends_early(&self) -> bool {
        self.cut.is_some() || self.pauses.iter().any(|(_, pause)| *pause == Pause::Forever)
    }
}
