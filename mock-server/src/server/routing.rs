//! Which reply a request gets: its purpose, then the next turn of that purpose's queue.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;

use super::matching::{InWords, Question};
use crate::capture::OfferedTool;
use crate::journal::{Applied, Outcome, Served};
use crate::provider::{CallIds, with_call_ids};
use crate::script::{
    Call, Fault, Guard, Item, Purpose, PurposeRule, Reply, Script, Turn, WhenExhausted,
};
use crate::wire::{self, ApiError, Ids, Wire};

/// What a side request is told when neither a turn nor a side reply is scripted for it.
static SIDE_DEFAULT: LazyLock<Reply> = LazyLock::new(|| Reply::say("Done."));

/// The turns not yet given, one queue for each purpose.
///
/// One request is routed at a time, so no two take the same turn.
#[derive(Debug)]
pub(super) struct Queues {
    waiting: IndexMap<Purpose, VecDeque<usize>>,
    last_main: Option<usize>,
    /// How often each turn has been given, with a fault or without.
    given: Vec<u64>,
    /// How many default replies each side purpose got.
    side_counts: IndexMap<Purpose, u64>,
}

/// How a request is to be answered.
#[derive(Debug)]
pub(super) struct Routed<'s> {
    pub(super) purpose: Purpose,
    pub(super) outcome: Outcome,
    pub(super) plan: Plan<'s>,
}

/// The answer.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each request, on its stack")]
pub(super) enum Plan<'s> {
    /// A reply, once its gate is open, with the fault that it has.
    Reply {
        reply: Cow<'s, Reply>,
        label: Cow<'s, str>,
        gate: Option<&'s str>,
        ids: Ids,
        applied: Option<Arc<Applied>>,
    },
    /// An error.
    Refuse(ApiError),
}

impl Plan<'_> {
    /// The fault that the answer has.
    pub(super) fn applied(&self) -> Option<Arc<Applied>> {
        match self {
            Self::Reply { applied, .. } => applied.clone(),
            Self::Refuse(_) => None,
        }
    }
}

impl Queues {
    /// All turns of the script, waiting.
    pub(super) fn new(script: &Script) -> Self {
        let mut waiting: IndexMap<Purpose, VecDeque<usize>> = IndexMap::new();
        for (index, turn) in script.turns.iter().enumerate() {
            waiting.entry(turn.purpose.clone()).or_default().push_back(index);
        }
        let last_main = script.turns.iter().rposition(|turn| turn.purpose.is_main());
        // Every purpose that a request can have is named by a rule, so its place here is fixed.
        let side_counts = script.purposes.iter().map(|rule| (rule.purpose.clone(), 0)).collect();
        let given = vec![0; script.turns.len()];
        Self { waiting, last_main, given, side_counts }
    }

    /// Decides the answer to a request and takes its turn.
    pub(super) fn route<'s>(
        &mut self,
        script: &'s Script,
        question: &Question<'_>,
        offered: impl FnOnce() -> Vec<OfferedTool>,
    ) -> Routed<'s> {
        let purpose = purpose(script, question);
        let form = call_id_form(script);
        let (outcome, plan) = match self.next(script, &purpose) {
            Some((index, ids)) => {
                let turn = &script.turns[index];
                if let Some((outcome, error)) = refusal(turn, question, offered) {
                    (outcome, Plan::Refuse(error))
                } else {
                    let applied = self.take(&purpose, index, turn);
                    given(turn, index, ids, question.wire, (form, applied))
                }
            }
            None if purpose.is_main() => (
                Outcome::Unscripted,
                Plan::Refuse(ApiError::script_mismatch(
                    "the script has no turn left for this request; add a turn, or a purpose rule \
                     if it is a side request",
                )),
            ),
            None => {
                let reply = side_reply(script, &purpose);
                let ids = self.side_ids(&purpose);
                let label = Cow::Owned(format!("the side reply of {purpose}"));
                let reply = with_call_ids(form, Cow::Borrowed(reply), ids);
                let plan = Plan::Reply { reply, label, gate: None, ids, applied: None };
                (Outcome::SideDefault, plan)
            }
        };
        Routed { purpose, outcome, plan }
    }

    /// The turns that wait, in the order of the script.
    pub(super) fn unused(&self) -> Vec<usize> {
        let mut unused: Vec<usize> = self.waiting.values().flatten().copied().collect();
        unused.sort_unstable();
        unused
    }

    /// The turn that a request of this purpose would get.
    fn next(&self, script: &Script, purpose: &Purpose) -> Option<(usize, Ids)> {
        let waiting = self.waiting.get(purpose).and_then(VecDeque::front).copied();
        let repeated = self
            .last_main
            .filter(|_| purpose.is_main() && script.when_exhausted == WhenExhausted::RepeatLast);
        let turn = waiting.or(repeated)?;
        Some((turn, Ids::Turn { turn, repeat: self.given[turn] }))
    }

    /// Puts a turn back in front of its queue: a scripted fault kept its reply from the client.
    pub(super) fn give_back(&mut self, purpose: &Purpose, turn: usize) {
        let waiting = self.waiting.entry(purpose.clone()).or_default();
        if !waiting.contains(&turn) {
            waiting.push_front(turn);
        }
    }

    /// Takes a turn, unless its fault says that there will be another attempt.
    fn take(&mut self, purpose: &Purpose, index: usize, turn: &Turn) -> Option<Arc<Applied>> {
        self.given[index] += 1;
        let attempt = self.given[index];
        let rule = turn.faults.iter().find(|rule| rule.attempts.contains(attempt));
        if !rule.is_some_and(|rule| rule.attempts.keeps_turn())
            && let Some(waiting) = self.waiting.get_mut(purpose)
        {
            // Empty when the last turn is repeated.
            waiting.pop_front();
        }
        rule.map(|rule| Arc::new(Applied { attempt, fault: rule.fault.clone() }))
    }

    fn side_ids(&mut self, purpose: &Purpose) -> Ids {
        let entry = self.side_counts.entry(purpose.clone());
        let place = entry.index() + 1;
        let count = entry.or_insert(0);
        *count += 1;
        Ids::Side { purpose: place, count: *count }
    }
}

/// The reply that these ids were given to, with its call ids as they are sent.
pub(super) fn reply_of<'s>(script: &'s Script, purpose: &Purpose, ids: Ids) -> Cow<'s, Reply> {
    let reply = match ids {
        Ids::Turn { turn, .. } => Cow::Borrowed(&script.turns[turn].reply),
        Ids::Side { .. } => Cow::Borrowed(side_reply(script, purpose)),
        Ids::WarmUp { .. } => Cow::Owned(wire::warm_up_reply()),
    };
    with_call_ids(call_id_form(script), reply, ids)
}

fn side_reply<'s>(script: &'s Script, purpose: &Purpose) -> &'s Reply {
    script.side_replies.get(purpose).unwrap_or(&*SIDE_DEFAULT)
}

/// How the provider writes call ids.
fn call_id_form(script: &Script) -> CallIds {
    script.provider.as_ref().map_or(CallIds::default(), |played| played.call_ids)
}

/// A turn that was taken.
fn given(
    turn: &Turn,
    index: usize,
    ids: Ids,
    wire: Wire,
    (form, applied): (CallIds, Option<Arc<Applied>>),
) -> (Outcome, Plan<'_>) {
    let reply = with_call_ids(form, Cow::Borrowed(&turn.reply), ids);
    let fault = applied.as_ref().map(|applied| &applied.fault);
    let outcome = if fault.is_some_and(|fault| fault.status.is_some()) {
        Outcome::Faulted { turn: turn.label.clone() }
    } else {
        Outcome::Served(Served {
            turn: index,
            label: turn.label.clone(),
            response_id: ids.response(wire),
            call_ids: call_ids(&reply, ids, wire, fault),
        })
    };
    let (label, gate) = (Cow::Borrowed(turn.label.as_str()), turn.gate.as_deref());
    (outcome, Plan::Reply { reply, label, gate, ids, applied })
}

/// The call ids as they are sent.
fn call_ids(reply: &Reply, ids: Ids, wire: Wire, fault: Option<&Fault>) -> Vec<String> {
    let mut call_ids = ids.calls(wire, reply);
    if fault.is_some_and(|fault| fault.calls.same_ids)
        && let Some(first) = call_ids.first().cloned()
    {
        call_ids.fill(first);
    }
    call_ids
}

/// What a request is for.
pub(super) fn purpose(script: &Script, question: &Question<'_>) -> Purpose {
    let matches = |rule: &&PurposeRule| rule.all.iter().all(|condition| question.meets(condition));
    script.purposes.iter().find(matches).map_or_else(Purpose::main, |rule| rule.purpose.clone())
}

/// Why the turn cannot answer this request, if it cannot.
fn refusal(
    turn: &Turn,
    question: &Question<'_>,
    offered: impl FnOnce() -> Vec<OfferedTool>,
) -> Option<(Outcome, ApiError)> {
    let label = &turn.label;
    if let Some(guard) = turn.guards.iter().find(|guard| !guard_holds(guard, question)) {
        let reason = broken(guard);
        let error = ApiError::script_mismatch(format!("`{label}` is next, but {reason}"));
        return Some((Outcome::GuardFailed { turn: label.clone(), reason }, error));
    }
    let needed: Vec<&Call> = turn.reply.items.iter().filter_map(must_be_offered).collect();
    if needed.is_empty() {
        return None;
    }
    let offered = offered();
    let absent = needed.into_iter().find(|call| !offered.iter().any(|tool| tool.is_for(call)))?;
    let tool = OfferedTool { namespace: absent.namespace.clone(), name: absent.name.clone() };
    let tool = tool.to_string();
    let offered: Vec<String> = offered.iter().map(ToString::to_string).collect();
    let listed = if offered.is_empty() { "no tool".to_owned() } else { offered.join(", ") };
    let error = ApiError::script_mismatch(format!(
        "`{label}` calls `{tool}`, but the request offers {listed}"
    ));
    Some((Outcome::NotOffered { turn: label.clone(), tool, offered }, error))
}

fn guard_holds(guard: &Guard, question: &Question<'_>) -> bool {
    question.meets(&guard.condition) == guard.holds
}

fn broken(guard: &Guard) -> String {
    let condition = InWords(&guard.condition);
    if guard.holds {
        format!("the request breaks its guard: {condition}")
    } else {
        format!("the request breaks its guard: not that {condition}")
    }
}

fn must_be_offered(item: &Item) -> Option<&Call> {
    match item {
        Item::Call(call) if call.must_be_offered => Some(call),
        _ => None,
    }
}

impl OfferedTool {
    /// Whether a call is a call of this tool: the names and the namespaces are the same.
    fn is_for(&self, call: &Call) -> bool {
        self.name == call.name && self.namespace == call.namespace
    }
}
