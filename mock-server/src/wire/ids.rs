//! The ids of one reply: made from the turn's place in the script, never from time or chance, so
//! that a side request coming earlier or later changes no other reply.

use std::borrow::Cow;
use std::fmt;

use super::Wire;
use crate::script::{Call, Item, Reply};

/// Makes the ids of one reply. Each has the form `prefix_rest`: some clients drop ids that have
/// not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ids {
    /// The reply of a scripted turn.
    Turn {
        /// Index of the turn in the script.
        turn: usize,
        /// How often it has been given before.
        repeat: u64,
    },
    /// The default reply to a side request.
    Side {
        /// Which purpose, counted over the script's rules from 1.
        purpose: usize,
        /// Which request of this purpose, from 1.
        count: u64,
    },
}

impl Ids {
    /// The id of the response.
    pub(crate) fn response(self, wire: Wire) -> String {
        match wire {
            Wire::Responses => format!("resp_{self}"),
            Wire::Chat => format!("chatcmpl-{self}"),
            Wire::Messages => format!("msg_{self}"),
        }
    }

    /// The id sent as `x-request-id`.
    pub(crate) fn request(self) -> String {
        format!("req_{self}")
    }

    /// The id of the output item at `index`.
    pub(crate) fn item(self, prefix: &str, index: usize) -> String {
        format!("{prefix}_{self}_{}", index + 1)
    }

    /// The call id of the call at `index`.
    pub(crate) fn call(self, wire: Wire, call: &Call, index: usize) -> Cow<'_, str> {
        self.call_id(wire, call.call_id.as_deref(), index)
    }

    /// The call id of the item at `index`: the scripted one, or one that is counted.
    pub(crate) fn call_id(self, wire: Wire, scripted: Option<&str>, index: usize) -> Cow<'_, str> {
        let prefix = match wire {
            Wire::Responses | Wire::Chat => "call",
            Wire::Messages => "toolu",
        };
        match scripted {
            Some(scripted) => Cow::Borrowed(scripted),
            None => Cow::Owned(self.item(prefix, index)),
        }
    }

    /// The call ids of all calls of a reply, in order.
    pub(crate) fn calls(self, wire: Wire, reply: &Reply) -> Vec<String> {
        let call_id = |(index, item): (usize, &Item)| match item {
            Item::Call(call) => Some(self.call(wire, call, index).into_owned()),
            Item::LocalShell(call) => {
                Some(self.call_id(wire, call.call_id.as_deref(), index).into_owned())
            }
            Item::Message { .. }
            | Item::Parts { .. }
            | Item::WebSearch(_)
            | Item::Reasoning { .. }
            | Item::Compaction { .. }
            | Item::Raw(_) => None,
        };
        reply.items.iter().enumerate().filter_map(call_id).collect()
    }
}

impl fmt::Display for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Turn { turn, repeat: 0 } => write!(f, "{}", turn + 1),
            Self::Turn { turn, repeat } => write!(f, "{}r{repeat}", turn + 1),
            Self::Side { purpose, count } => write!(f, "s{purpose}n{count}"),
        }
    }
}
