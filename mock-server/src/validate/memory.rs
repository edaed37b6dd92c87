//! What the server gave, as far as rules ask about it.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::wire::Minted;

/// How many replies are remembered; older ones are forgotten, as services forget them too.
const LIMIT: usize = 4096;

/// The replies given so far.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    replies: HashMap<String, Given>,
    order: VecDeque<String>,
    /// For an item that came after reasoning: the id of that reasoning item.
    led_by: HashMap<String, String>,
    /// Encrypted contents given.
    opaque: HashSet<String>,
    /// For each signature given: the thinking that it signs.
    thinking: HashMap<String, String>,
    /// For each call given: whether its reply reasoned first.
    reasoned: HashMap<String, bool>,
}

/// A reply that was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    /// The response's id.
    pub(crate) id: String,
    /// The response before it, if the request named one.
    pub(crate) previous: Option<String>,
    /// Whether a later request may name it.
    pub(crate) is_stored: bool,
    /// The ids of its calls.
    pub(crate) calls: Vec<String>,
    /// The ids of the calls in the request's input.
    pub(crate) input_calls: Vec<String>,
    /// Its items, as the wire shows them; empty when no rule asks about them.
    pub(crate) minted: Vec<Minted>,
}

impl Memory {
    /// Remembers a reply.
    pub(crate) fn remember(&mut self, given: Given) {
        let reasons = given.minted.iter().any(|item| item.is_reasoning);
        let mut reasoning: Option<&str> = None;
        for item in &given.minted {
            if item.is_reasoning {
                reasoning = item.id.as_deref();
            } else if let (Some(id), Some(reasoning)) = (&item.id, reasoning.take()) {
                self.led_by.insert(id.clone(), reasoning.to_owned());
            }
            self.opaque.extend(item.opaque.clone());
            if let Some((signature, thinking)) = &item.signed {
                self.thinking.insert(signature.clone(), thinking.clone());
            }
        }
        for call in &given.calls {
            self.reasoned.insert(call.clone(), reasons);
        }
        self.order.push_back(given.id.clone());
        self.replies.insert(given.id.clone(), given);
        if self.order.len() > LIMIT {
            self.forget_oldest();
        }
    }

    /// A reply was deleted: no later request may name it. What came after it still stands on it.
    pub(crate) fn forget(&mut self, id: &str) {
        if let Some(given) = self.replies.get_mut(id) {
            given.is_stored = false;
        }
    }

    /// The reply with this id, if a request may name it.
    pub(super) fn stored(&self, id: &str) -> Option<&Given> {
        self.replies.get(id).filter(|given| given.is_stored)
    }

    /// Whether a call was made in a response or in a response before it.
    pub(super) fn was_called(&self, response: &str, call_id: &str) -> bool {
        let mut next = self.replies.get(response);
        // A chain cannot be longer than all that is remembered.
        for _ in 0..=self.replies.len() {
            let Some(given) = next else { return false };
            if given.calls.iter().chain(&given.input_calls).any(|known| known == call_id) {
                return true;
            }
            next = given.previous.as_ref().and_then(|previous| self.replies.get(previous));
        }
        false
    }

    /// The reasoning item that led to an item, if this server gave both.
    pub(super) fn led_by(&self, item: &str) -> Option<&str> {
        self.led_by.get(item).map(String::as_str)
    }

    /// Whether this server gave the encrypted content.
    pub(super) fn gave_opaque(&self, content: &str) -> bool {
        self.opaque.contains(content)
    }

    /// The thinking that a signature signs.
    pub(super) fn signed(&self, signature: &str) -> Option<&str> {
        self.thinking.get(signature).map(String::as_str)
    }

    /// Whether the reply with this call reasoned first; `None` if this server gave no such call.
    pub(super) fn reasoned(&self, call_id: &str) -> Option<bool> {
        self.reasoned.get(call_id).copied()
    }

    fn forget_oldest(&mut self) {
        let Some(given) = self.order.pop_front().and_then(|oldest| self.replies.remove(&oldest))
        else {
            return;
        };
        for item in given.minted {
            if let Some(id) = item.id {
                self.led_by.remove(&id);
            }
            // Encrypted contents are the script's own and may be given again; they stay.
            if let Some((signature, _)) = item.signed
                && !self.opaque.contains(&signature)
            {
                self.thinking.remove(&signature);
            }
        }
        for call in given.calls {
            self.reasoned.remove(&call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(number: usize) -> Given {
        Given {
            id: format!("resp_{number}"),
            previous: number.checked_sub(1).map(|before| format!("resp_{before}")),
            is_stored: true,
            calls: vec![format!("call_{number}")],
            ..Given::default()
        }
    }

    #[test]
    fn a_chain_is_followed_to_its_beginning() {
        let mut memory = Memory::default();
        (0..3).for_each(|number| memory.remember(given(number)));
        assert!(memory.was_called("resp_2", "call_0"));
        assert!(!memory.was_called("resp_1", "call_2"), "a later call is not before");
    }

    #[test]
    fn a_chain_that_runs_in_a_circle_ends() {
        let mut memory = Memory::default();
        memory.remember(Given { previous: Some("resp_0".into()), ..given(0) });
        assert!(!memory.was_called("resp_0", "call_9"));
    }

    #[test]
    fn the_oldest_replies_are_forgotten() {
        let mut memory = Memory::default();
        (0..=LIMIT).for_each(|number| memory.remember(given(number)));
        assert!(memory.stored("resp_0").is_none() && memory.stored("resp_1").is_some());
        assert_eq!((memory.reasoned("call_0"), memory.reasoned("call_1")), (None, Some(false)));
    }
}
