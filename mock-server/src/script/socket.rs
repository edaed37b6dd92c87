//! What a script says of `WebSocket` connections: how each is let in, and what goes wrong on it.

/// One `WebSocket` connection. Connections are counted over the server in the order in which
/// clients ask for them; one that the script does not describe is let in and has no faults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connection {
    /// How the upgrade request is answered.
    pub handshake: Handshake,
    /// What goes wrong afterwards.
    pub faults: Vec<SocketFault>,
}

/// How an upgrade request is answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handshake {
    /// The gate that must be open before any answer: until then the client hangs.
    pub gate: Option<String>,
    /// Additional headers of the answer, such as `x-codex-turn-state` or `x-models-etag`.
    pub headers: Vec<(String, String)>,
    /// The refusal, unless the client is let in.
    pub refusal: Option<Refusal>,
    /// Whether messages are compressed.
    pub compression: Compression,
}

/// Whether messages are compressed (`permessage-deflate`, RFC 7692).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compression {
    /// Where the client offers it in a way that can be agreed.
    #[default]
    Offered,
    /// Never: what the client offers is declined.
    Declined,
}

/// An upgrade request that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status, 400 to 599.
    pub status: u16,
    /// The error's code.
    pub code: Option<String>,
    /// The error's message; one that names the status when absent.
    pub message: Option<String>,
}

impl Refusal {
    /// The error's type, which goes by the status.
    pub(crate) fn kind(&self) -> &'static str {
        if self.status >= 500 { "server_error" } else { "invalid_request_error" }
    }
}

/// One thing that goes wrong on a connection.
///
/// A fault that keeps a reply from its end (an error, a close, a drop, whatever says `stop`) gives
/// the reply's turn back: the next request of its purpose gets the turn again, with new ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketFault {
    /// In which response of the connection.
    pub response: FaultTarget,
    /// After how many of the response's events; 0 is before the first.
    pub after_event: usize,
    /// What.
    pub kind: SocketFaultKind,
}

/// Which response of a connection a fault belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultTarget {
    /// The one with this number, from 1; only responses that take a reply are counted.
    Reply(u64),
    /// The first warm-up.
    WarmUp,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketFaultKind {
    /// The server closes the connection with a close frame.
    Close {
        /// Close code (RFC 6455, section 7.4).
        code: u16,
        /// Reason, at most 123 bytes.
        reason: String,
    },
    /// The server drops the connection without a close frame.
    Drop,
    /// The next event goes out in a binary frame.
    Binary {
        /// Whether the response ends there; otherwise it goes on as if nothing were wrong.
        stop: bool,
    },
    /// An error frame ends the response; the connection stays.
    Error(ErrorFrame),
    /// A text frame of exactly this text goes between the events.
    Send {
        /// The text, which need not be JSON.
        text: String,
        /// Whether the response ends there; otherwise it goes on as if nothing were wrong.
        stop: bool,
    },
    /// A ping goes between the events.
    Ping,
    /// The response waits until a gate is open.
    Hold {
        /// The gate.
        gate: String,
    },
}

/// An error frame: `{"type":"error","status","error":{type,code,message},"headers"}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorFrame {
    /// Status; without one, the frame has none, which some clients ignore.
    pub status: Option<u16>,
    /// The error's type; `invalid_request_error` when absent.
    pub kind: Option<String>,
    /// The error's code.
    pub code: Option<String>,
    /// The error's message.
    pub message: String,
    /// The frame's `headers`.
    pub headers: Vec<(String, String)>,
}

/// Whether a close frame may carry the code: 1005, 1006 and 1015 stand for what happened without
/// one (RFC 6455, section 7.4.1).
pub(crate) fn is_close_code(code: u64) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// The longest reason of a close frame, in bytes (RFC 6455, section 5.5).
pub(crate) const CLOSE_REASON: usize = 123;
