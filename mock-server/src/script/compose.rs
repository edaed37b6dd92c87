//! Short ways to write a script in Rust.

use serde_json::{Map, Value};

use super::fault::{Attempts, Fault, FaultRule};
use super::model::{Call, CallPayload, Item, Purpose, Reply, Script, Turn};

impl Script {
    /// A script of main turns, each with no guard and no gate, labelled `turn 1`, `turn 2`, …
    pub fn of(replies: impl IntoIterator<Item = Reply>) -> Self {
        let labelled = |(index, reply)| Turn::main(format!("turn {}", index + 1), reply);
        Self { turns: replies.into_iter().enumerate().map(labelled).collect(), ..Self::default() }
    }
}

impl Turn {
    /// A main turn with no guard and no gate.
    pub fn main(label: impl Into<String>, reply: Reply) -> Self {
        Self {
            label: label.into(),
            purpose: Purpose::main(),
            guards: Vec::new(),
            gate: None,
            faults: Vec::new(),
            reply,
        }
    }

    /// A turn with faults beside those it has.
    #[must_use]
    pub fn with_fault(mut self, attempts: Attempts, fault: Fault) -> Self {
        self.faults.push(FaultRule { attempts, fault });
        self
    }
}

impl Reply {
    /// A reply that is one message.
    pub fn say(text: impl Into<String>) -> Self {
        Self::of([Item::message(text)])
    }

    /// A reply that is one call of a function tool, which the request must offer.
    pub fn call(name: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self::of([Item::Call(Call::new(name, CallPayload::Arguments(arguments)))])
    }

    /// A reply of any items, with the default usage.
    pub fn of(items: impl IntoIterator<Item = Item>) -> Self {
        Self { items: items.into_iter().collect(), ..Self::default() }
    }
}

impl Item {
    /// Assistant text without a phase.
    pub fn message(text: impl Into<String>) -> Self {
        Self::Message { text: text.into(), phase: None }
    }
}

impl Call {
    /// A call with a counted call id, of a tool that the request must offer.
    pub fn new(name: impl Into<String>, payload: CallPayload) -> Self {
        Self { name: name.into(), namespace: None, payload, call_id: None, must_be_offered: true }
    }
}
