//! How a reply ends.

/// Why a reply ends.
///
/// | ending | Responses | Chat Completions | Messages |
/// | --- | --- | --- | --- |
/// | complete | `response.completed` | `stop`, `tool_calls` | `end_turn`, `tool_use` |
/// | length | `response.incomplete`, `max_output_tokens` | `length` | `max_tokens` |
/// | filtered | `response.incomplete`, `content_filter` | `content_filter` | `refusal` |
/// | reason | `response.incomplete` with the reason | the finish reason | the stop reason |
/// | stop sequence | cannot be carried | `stop` | `stop_sequence` |
/// | failed | `response.failed` | an `error` chunk | an `error` event |
/// | error | an `error` event | an `error` chunk | an `error` event |
///
/// On the last two wires, a reply that is no stream cannot fail after it has begun, and an `error`
/// event needs a stream on the first too: such a request is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ending {
    /// The model has said all it wants to say, or waits for the results of its calls.
    #[default]
    Complete,
    /// It reached the limit of output tokens: the last item is cut short.
    Length,
    /// It was stopped for what it says.
    Filtered,
    /// It stopped early for a reason in the wire's own word, such as `steered` or `pause_turn`.
    Reason(String),
    /// It wrote this stop sequence, which is not part of its text.
    StopSequence(String),
    /// It failed on the way, with the response as it was by then.
    Failed(Failure),
    /// An error broke the stream off.
    Error {
        /// What went wrong.
        failure: Failure,
        /// The form of the event on the Responses wire.
        form: ErrorForm,
    },
}

/// What went wrong with a reply after it had begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// The code that clients act on. The Messages wire has none.
    pub code: String,
    /// The text for people.
    pub message: String,
    /// The error's type; `server_error`, or `api_error` on the Messages wire, when absent.
    pub kind: Option<String>,
    /// Whether the last item stays without its end: its start and its pieces are all that is sent.
    pub unfinished: bool,
}

/// The two forms of an `error` event on the Responses wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ErrorForm {
    /// `code`, `message` and `param` beside the type: the public API.
    #[default]
    Flat,
    /// An `error` object, with the HTTP status that it would have been.
    Nested {
        /// That status, if it is given.
        status: Option<u16>,
    },
}

impl Ending {
    /// What went wrong, for an ending that is a failure.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed(failure) | Self::Error { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// Whether the last item stays without its end.
    pub(crate) fn leaves_unfinished(&self) -> bool {
        self.failure().is_some_and(|failure| failure.unfinished)
    }

    /// Whether the last item is cut short.
    pub(crate) fn cuts_short(&self) -> bool {
        matches!(self, Self::Length | Self::Filtered | Self::Reason(_))
    }
}
