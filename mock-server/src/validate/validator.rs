//! The validator of one server: its rules, what is known of the service, what it gave.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use serde_json::Value;

use super::broken::{Broken, Check};
use super::memory::{Given, Memory};
use super::refusal::Refusal;
use super::rule::RuleId;
use super::service::Service;
use super::set::Rules;
use super::subject::Subject;
use super::{chat, messages, responses};
use crate::script::Reply;
use crate::wire::{self, Ids, Wire};

/// The rules that ask what this server gave.
const ABOUT_REPLIES: [RuleId; 3] = [RuleId::R2, RuleId::R29, RuleId::R30];

/// The rules that ask what the items of its replies were.
const ABOUT_ITEMS: [RuleId; 6] =
    [RuleId::R6, RuleId::R8, RuleId::A15, RuleId::A16, RuleId::A17, RuleId::P4];

/// Refuses requests that break a rule.
#[derive(Debug)]
pub(crate) struct Validator {
    rules: Rules,
    service: Service,
    memory: Mutex<Memory>,
}

impl Validator {
    /// A validator that has seen nothing.
    pub(crate) fn new(rules: Rules, service: Service) -> Self {
        Self { rules, service, memory: Mutex::default() }
    }

    /// The refusal of a body that is no JSON; `cause` is the whole message.
    pub(crate) fn not_json(&self, wire: Wire, headers: &HeaderMap, cause: &str) -> Refusal {
        // The key is looked at by a layer that has no need to read the body.
        let nothing = Value::Object(serde_json::Map::new());
        let unauthorised = self.first(wire, headers, &nothing, |rule| {
            matches!(rule, RuleId::R36 | RuleId::A33 | RuleId::A32)
        });
        unauthorised.unwrap_or_else(|| Refusal::of(RuleId::R35, Broken::whole(cause)))
    }

    /// The first rule that a request breaks, if it breaks one.
    pub(crate) fn check(&self, wire: Wire, headers: &HeaderMap, json: &Value) -> Option<Refusal> {
        self.first(wire, headers, json, |_| true)
    }

    fn first(
        &self,
        wire: Wire,
        headers: &HeaderMap,
        json: &Value,
        which: impl Fn(RuleId) -> bool,
    ) -> Option<Refusal> {
        // A body of another kind has no fields to look at; it is refused when it is read.
        let Value::Object(body) = json else { return None };
        let memory = self.memory();
        let service = &self.service;
        let subject = Subject { wire, headers, json, body, service, memory: &memory };
        let on = checks(wire).iter().filter(|(rule, _)| self.rules.contains(*rule) && which(*rule));
        on.into_iter().find_map(|(rule, check)| Some(Refusal::of(*rule, check(&subject)?)))
    }

    /// Remembers a reply, as far as the rules that are on ask about it.
    pub(crate) fn remember(&self, wire: Wire, json: &Value, reply: &Reply, ids: Ids) {
        let asks = |rules: &[RuleId]| rules.iter().any(|rule| self.rules.contains(*rule));
        let about_items = asks(&ABOUT_ITEMS);
        if !about_items && (wire != Wire::Responses || !asks(&ABOUT_REPLIES)) {
            return;
        }
        let text = |name: &str| json.get(name).and_then(Value::as_str);
        self.memory().remember(Given {
            id: ids.response(wire),
            previous: text("previous_response_id").map(str::to_owned),
            is_stored: json.get("store") != Some(&Value::Bool(false)),
            calls: ids.calls(wire, reply),
            input_calls: responses::call_ids(json),
            minted: if about_items { wire::minted(wire, reply, ids) } else { Vec::new() },
        });
    }

    /// A client deleted a response: no later request may name it.
    pub(crate) fn forget(&self, id: &str) {
        self.memory().forget(id);
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // What is remembered is read entry by entry, so a panic leaves nothing that misleads.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The checks of a wire, in the order in which they are made.
fn checks(wire: Wire) -> &'static [Check] {
    match wire {
        Wire::Responses | Wire::ResponsesWs => responses::CHECKS,
        Wire::Chat => chat::CHECKS,
        Wire::Messages => messages::CHECKS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Level;

    #[test]
    fn every_rule_is_checked_where_it_belongs() {
        // These are not about the body of a request over HTTP.
        let elsewhere = [RuleId::R35, RuleId::R37, RuleId::R40, RuleId::R41];
        let all: Vec<RuleId> = [Wire::Responses, Wire::Chat, Wire::Messages]
            .into_iter()
            .flat_map(|wire| checks(wire).iter().map(|(rule, _)| *rule))
            .collect();
        for id in RuleId::ALL.iter().filter(|id| !elsewhere.contains(id)) {
            let expected = usize::from(id.rule().level != Level::Always);
            assert!(all.iter().filter(|checked| *checked == id).count() >= expected, "{id}");
        }
    }
}
