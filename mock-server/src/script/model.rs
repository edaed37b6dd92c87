//! The script as data: what every wire module reads and every loader produces.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ending::Ending;
use super::fault::FaultRule;
use super::item::{ExtraEvent, LocalShell, Part, WebSearch};
use super::socket::Connection;
use crate::provider::Provider;
use crate::validate::Validation;

/// Everything one mock server says to one agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// The scripted replies, in order. Each purpose has a queue of its own: a title request never
    /// takes a reply meant for the main conversation.
    pub turns: Vec<Turn>,
    /// How a request's purpose is recognised; the first rule that matches wins, and a request that
    /// matches none is [`Purpose::main`].
    pub purposes: Vec<PurposeRule>,
    /// The reply to a side request that has no scripted turn left. A main request without a turn
    /// is never answered from here.
    pub side_replies: IndexMap<Purpose, Reply>,
    /// Pages served under `/page/NAME`.
    pub pages: IndexMap<String, Page>,
    /// What is scripted for the first `WebSocket` connections, in the order in which clients ask
    /// for them.
    pub connections: Vec<Connection>,
    /// What a main request gets when no turn is left.
    pub when_exhausted: WhenExhausted,
    /// Which rules a request must keep.
    pub validation: Validation,
    /// The service that is played; the official one of each wire when absent.
    pub provider: Option<Provider>,
}

/// What a main request gets when no turn is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenExhausted {
    /// An error, and [`Outcome::Unscripted`](crate::journal::Outcome::Unscripted) in the journal.
    #[default]
    Refuse,
    /// The last main turn again, with new ids: for load tests and for trying a client by hand.
    RepeatLast,
}

/// What a request is for: `main`, or a side request such as `summary` or `title`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Purpose(String);

impl Purpose {
    /// The conversation itself.
    pub fn main() -> Self {
        Self("main".to_owned())
    }

    /// A purpose by its name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name as profiles and scripts write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the main conversation.
    pub fn is_main(&self) -> bool {
        self.0 == "main"
    }
}

impl Default for Purpose {
    fn default() -> Self {
        Self::main()
    }
}

impl std::fmt::Display for Purpose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request that meets every condition has this purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct PurposeRule {
    /// The purpose given to a matching request.
    pub purpose: Purpose,
    /// All of these must hold.
    pub all: Vec<Condition>,
}

/// A fact about a request, asked without reading prose where it can be helped.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The header exists and its value contains the text (an empty text asks for presence alone).
    Header {
        /// Header name, compared without case.
        name: String,
        /// Text that the value must contain.
        contains: String,
    },
    /// The value at a JSON pointer (RFC 6901) of the body equals this one.
    Equals {
        /// JSON pointer into the request body.
        pointer: String,
        /// The value it must hold.
        value: Value,
    },
    /// The string at a JSON pointer of the body contains the text.
    Contains {
        /// JSON pointer into the request body.
        pointer: String,
        /// Text that the string must contain.
        text: String,
    },
    /// Nothing stands at the JSON pointer.
    Absent {
        /// JSON pointer into the request body.
        pointer: String,
    },
    /// The request body, as text, contains the text anywhere.
    BodyContains {
        /// Text looked for.
        text: String,
    },
}

/// One scripted reply and when it may be given.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The name used in messages and the journal, such as `turn 2` or `hijack`.
    pub label: String,
    /// Which queue it stands in.
    pub purpose: Purpose,
    /// What the request must look like; a request that breaks a guard is refused, recorded, and
    /// the turn stays unused.
    pub guards: Vec<Guard>,
    /// The gate that must be open before the reply starts.
    pub gate: Option<String>,
    /// How the server misbehaves with this turn; the first rule for an attempt applies.
    pub faults: Vec<FaultRule>,
    /// What is said.
    pub reply: Reply,
}

/// A condition on the request that a turn answers, with a name for messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    /// The condition.
    pub condition: Condition,
    /// Whether the condition must hold (`true`) or must not (`false`).
    pub holds: bool,
}

/// One model reply: items in order, and what it reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The output items, in order.
    pub items: Vec<Item>,
    /// Why it ends.
    pub ending: Ending,
    /// Reported usage.
    pub usage: Usage,
    /// Additional response headers, such as a turn-state token.
    pub headers: Vec<(String, String)>,
    /// `end_turn` of the finished response, which some Responses servers add: `false` has the
    /// client ask again at once.
    pub end_turn: Option<bool>,
    /// Events that only some Responses servers send, such as `codex.rate_limits`.
    pub extra_events: Vec<ExtraEvent>,
}

/// One output item, in no wire's own terms.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Assistant text.
    Message {
        /// The whole text.
        text: String,
        /// `commentary` or `final_answer`, where a wire has phases.
        phase: Option<String>,
    },
    /// Assistant content of several parts, with annotations or refusals.
    Parts {
        /// The parts, in order.
        parts: Vec<Part>,
        /// `commentary` or `final_answer`, where a wire has phases.
        phase: Option<String>,
    },
    /// A tool call.
    Call(Call),
    /// A call of the shell tool that some models have built in.
    LocalShell(LocalShell),
    /// A search that the server made itself.
    WebSearch(WebSearch),
    /// A reasoning item.
    Reasoning {
        /// Summary texts.
        summary: Vec<String>,
        /// The reasoning itself, as open models show it.
        content: Vec<String>,
        /// The opaque content that a client must replay intact.
        encrypted_content: Option<String>,
    },
    /// The history so far in opaque form.
    Compaction {
        /// The opaque content; an id's like when absent.
        encrypted_content: Option<String>,
    },
    /// An item of the wire itself, sent as it stands: for what this model does not know.
    Raw(Map<String, Value>),
}

/// A tool call as the model would make it, in the agent's native vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Native tool name.
    pub name: String,
    /// Namespace, where the wire groups tools.
    pub namespace: Option<String>,
    /// Arguments or free-form input.
    pub payload: CallPayload,
    /// The call id; a counter's value when absent.
    pub call_id: Option<String>,
    /// Whether the request must offer this tool; if it does not, the reply is withheld and the
    /// journal says so, since the script no longer fits the agent.
    pub must_be_offered: bool,
}

/// What a call carries.
#[derive(Debug, Clone, PartialEq)]
pub enum CallPayload {
    /// JSON arguments of a function tool.
    Arguments(Map<String, Value>),
    /// Arguments sent as exactly this text, which need not be JSON.
    RawArguments(String),
    /// Input of a free-form (custom) tool.
    Input(String),
}

/// Token figures a reply reports; scripted, since agents compact by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: u64,
    /// Of these, tokens read from the cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// Of these, reasoning tokens.
    pub reasoning: u64,
}

impl Usage {
    /// Input plus output.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, cached: 0, output: 20, reasoning: 0 }
    }
}

/// A page served to whatever fetches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Media type, such as `text/html; charset=utf-8`.
    pub content_type: String,
    /// The body, byte for byte.
    pub body: String,
    /// The gate that must be open before it is served.
    pub gate: Option<String>,
}
