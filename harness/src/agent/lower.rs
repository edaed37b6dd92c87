//! Lowering: a case's logical calls become the native calls of one agent.

use conform_mock_server::script::{
    Attempts, Call, CallPayload, Condition, ErrorBody, Event, Fault, FaultRule, Item, Page, Pause,
    Point, Purpose, PurposeRule, Reply, Script, StatusFault, Turn, Usage, WhenExhausted,
};
use conform_mock_server::validate::Validation;
use conform_mock_server::wire::Wire;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::profile::{Profile, ToolLowering};
use super::template::{TemplateError, Values, render};
use crate::case::{CaseCall, CaseTurn, CaseTurnKind, LateText, Places, Variant};
use crate::scenario::{ReportedUsage, TurnFault};

/// A call that the profile cannot express.
#[derive(Debug, thiserror::Error)]
pub enum LowerError {
    /// The profile has no such tool.
    #[error(
        "the profile `{profile}` does not say how to call `{tool}`; add `[tools.{tool}]` to it"
    )]
    UnknownTool {
        /// The profile.
        profile: String,
        /// The logical tool.
        tool: String,
    },
    /// The profile has no figure that makes the agent compact.
    #[error(
        "the profile `{profile}` does not say what usage makes the agent compact; add `full-usage` to its `[contract]`"
    )]
    FullUsage {
        /// The profile.
        profile: String,
    },
    /// A call that takes several replies is one of several calls.
    #[error(
        "the profile `{profile}` has `{tool}` take more than one reply, so nothing can be called beside it; give it a turn of its own"
    )]
    NotAlone {
        /// The profile.
        profile: String,
        /// The logical tool.
        tool: String,
    },
    /// A template of the profile is wrong.
    #[error("the profile `{profile}`, tool `{tool}`: {source}")]
    Template {
        /// The profile.
        profile: String,
        /// The logical tool.
        tool: String,
        /// What is wrong.
        source: TemplateError,
    },
}

/// The script of one run, and what its turns stand for.
#[derive(Debug)]
pub struct Lowered {
    /// The variant's turns in the agent's native vocabulary.
    pub script: Script,
    /// For each turn of the script, the variant's turn that it stands for.
    pub turns: Vec<usize>,
}

/// Lowers the turns of one run.
///
/// # Errors
/// When the profile cannot express a call.
pub fn script(
    variant: &Variant,
    profile: &Profile,
    wire: Wire,
    places: &Places,
) -> Result<Lowered, LowerError> {
    let (mut turns, mut stand_for) = (Vec::new(), Vec::new());
    for (index, turn) in variant.turns.iter().enumerate() {
        turns.push(lower_turn(turn, profile, wire, places)?);
        turns.extend(followers(turn, profile, places)?);
        stand_for.resize(turns.len(), index);
    }
    let pages = variant.pages.iter().map(|(name, body)| {
        let content_type = "text/plain; charset=utf-8".to_owned();
        let gate = variant.page_gates.get(name).cloned();
        (name.clone(), Page { content_type, body: body.resolve(places), gate })
    });
    let script = Script {
        purposes: purposes(profile),
        side_replies: side_replies(profile, &turns),
        turns,
        pages: pages.collect(),
        connections: Vec::new(),
        when_exhausted: WhenExhausted::Refuse,
        // The case judges the requests itself: a refusal would hide what comes after.
        validation: Validation::none(),
        provider: None,
    };
    Ok(Lowered { script, turns: stand_for })
}

fn lower_turn(
    turn: &CaseTurn,
    profile: &Profile,
    wire: Wire,
    places: &Places,
) -> Result<Turn, LowerError> {
    let said: Vec<Item> = match &turn.kind {
        CaseTurnKind::Say(text) => {
            vec![Item::Message { text: text.resolve(places), phase: None }]
        }
        CaseTurnKind::Calls(calls) => calls
            .iter()
            .map(|call| lower_call(call, profile, places).map(Item::Call))
            .collect::<Result<_, _>>()?,
    };
    let begin = turn.begin.iter();
    let begin = begin.map(|text| Item::Message { text: text.resolve(places), phase: None });
    let items = begin.chain(said).collect();
    let (gate, held) = match (&turn.gate, &turn.begin) {
        (Some(gate), Some(_)) => (None, Some(held_after_first(wire, gate))),
        (gate, _) => (gate.clone(), None),
    };
    let usage = reported(turn.usage, profile)?;
    let faults = turn.fault.iter().flat_map(|fault| lower_fault(fault, wire));
    let reply = Reply { items, usage, ..Reply::default() };
    Ok(Turn { gate, faults: faults.chain(held).collect(), ..said_by(turn, reply) })
}

/// The turns that finish what a turn's call begins.
fn followers(turn: &CaseTurn, profile: &Profile, places: &Places) -> Result<Vec<Turn>, LowerError> {
    let CaseTurnKind::Calls(calls) = &turn.kind else { return Ok(Vec::new()) };
    let mut followers = Vec::new();
    for call in calls {
        let CaseCall::Logical { tool, arguments } = call else { continue };
        let mut next = lowering(profile, tool)?.then.as_deref();
        if next.is_some() && calls.len() > 1 {
            let (profile, tool) = (profile.name.clone(), (*tool).to_owned());
            return Err(LowerError::NotAlone { profile, tool });
        }
        while let Some(lowering) = next {
            let call = native_call(lowering, &Arguments { arguments, places })
                .map_err(|source| template(profile, tool, source))?;
            let usage = reported(turn.usage, profile)?;
            let reply = Reply { items: vec![Item::Call(call)], usage, ..Reply::default() };
            followers.push(said_by(turn, reply));
            next = lowering.then.as_deref();
        }
    }
    Ok(followers)
}

/// A turn of the script that stands for a turn of the case, and waits for nothing.
fn said_by(turn: &CaseTurn, reply: Reply) -> Turn {
    Turn {
        label: turn.name.clone(),
        purpose: turn.purpose.clone(),
        guards: Vec::new(),
        gate: None,
        faults: Vec::new(),
        reply,
    }
}

fn reported(usage: ReportedUsage, profile: &Profile) -> Result<Usage, LowerError> {
    match usage {
        ReportedUsage::Figures(figures) => Ok(figures),
        ReportedUsage::Full => match profile.contract.full_usage {
            Some(input) => Ok(Usage { input, ..Usage::default() }),
            None => Err(LowerError::FullUsage { profile: profile.name.clone() }),
        },
    }
}

fn lower_fault(fault: &TurnFault, wire: Wire) -> Vec<FaultRule> {
    match fault {
        TurnFault::Scripted(rules) => rules.clone(),
        TurnFault::FullWindow => {
            let fault = Fault { status: Some(full_window(wire)), ..Fault::default() };
            vec![FaultRule { attempts: Attempts::First(1), fault }]
        }
    }
}

/// How an API refuses a request that its window cannot hold: with a code of its own on the Responses
/// and Chat wires, and on Messages with words that clients look for.
fn full_window(wire: Wire) -> StatusFault {
    let (code, message, param) = match wire {
        Wire::Responses | Wire::ResponsesWs => (
            Some("context_length_exceeded"),
            "Your input exceeds the context window of this model.",
            Some("input"),
        ),
        Wire::Chat => (
            Some("context_length_exceeded"),
            "This model's maximum context length is 200000 tokens, but the messages hold 210000.",
            Some("messages"),
        ),
        Wire::Messages => (None, "prompt is too long: 210000 tokens > 200000 maximum", None),
    };
    let body = ErrorBody::Error {
        kind: None,
        code: code.map(str::to_owned),
        message: Some(message.to_owned()),
        param: param.map(str::to_owned),
    };
    StatusFault { code: 400, body, headers: Vec::new() }
}

/// A reply that waits for a gate once its first item is whole.
fn held_after_first(wire: Wire, gate: &str) -> FaultRule {
    let whole = match wire {
        Wire::Responses | Wire::ResponsesWs => Event::Named("response.output_item.done".to_owned()),
        Wire::Messages => Event::Named("content_block_stop".to_owned()),
        // The role, then the first piece of the text.
        Wire::Chat => Event::Number(2),
    };
    let pauses = vec![(Point::After(whole), Pause::Gate(gate.to_owned()))];
    FaultRule { attempts: Attempts::Every, fault: Fault { pauses, ..Fault::default() } }
}

fn lower_call(call: &CaseCall, profile: &Profile, places: &Places) -> Result<Call, LowerError> {
    match call {
        CaseCall::Unoffered { name, arguments } => {
            let payload = match arguments {
                Value::Object(map) => CallPayload::Arguments(map.clone()),
                other => CallPayload::RawArguments(other.to_string()),
            };
            let name = name.clone();
            Ok(Call { name, namespace: None, payload, call_id: None, must_be_offered: false })
        }
        CaseCall::Logical { tool, arguments } => {
            native_call(lowering(profile, tool)?, &Arguments { arguments, places })
                .map_err(|source| template(profile, tool, source))
        }
    }
}

fn lowering<'p>(profile: &'p Profile, tool: &str) -> Result<&'p ToolLowering, LowerError> {
    let unknown =
        || LowerError::UnknownTool { profile: profile.name.clone(), tool: tool.to_owned() };
    profile.tools.get(tool).ok_or_else(unknown)
}

fn template(profile: &Profile, tool: &str, source: TemplateError) -> LowerError {
    LowerError::Template { profile: profile.name.clone(), tool: tool.to_owned(), source }
}

fn native_call<V: Values>(lowering: &ToolLowering, values: &V) -> Result<Call, TemplateError> {
    Ok(Call {
        name: lowering.native.clone(),
        namespace: lowering.namespace.clone(),
        payload: payload(lowering, values)?,
        call_id: None,
        must_be_offered: true,
    })
}

fn payload<V: Values>(lowering: &ToolLowering, values: &V) -> Result<CallPayload, TemplateError> {
    if let Some(input) = &lowering.input {
        return render(input, values).map(CallPayload::Input);
    }
    let mut arguments = Map::new();
    for (name, value) in &lowering.arguments {
        arguments.insert(name.clone(), fill(value, values)?);
    }
    Ok(CallPayload::Arguments(arguments))
}

/// A profile's value as JSON, every string in it filled as a template.
fn fill<V: Values>(value: &toml::Value, values: &V) -> Result<Value, TemplateError> {
    Ok(match value {
        toml::Value::String(template) => Value::from(render(template, values)?),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Float(number) => Value::from(*number),
        toml::Value::Boolean(truth) => Value::from(*truth),
        toml::Value::Datetime(time) => Value::from(time.to_string()),
        toml::Value::Array(items) => {
            items.iter().map(|item| fill(item, values)).collect::<Result<_, _>>()?
        }
        toml::Value::Table(table) => table
            .iter()
            .map(|(key, item)| Ok((key.clone(), fill(item, values)?)))
            .collect::<Result<Map<_, _>, TemplateError>>()?
            .into(),
    })
}

/// The arguments of a logical call as template values.
struct Arguments<'a> {
    arguments: &'a IndexMap<&'static str, LateText>,
    places: &'a Places,
}

impl Values for Arguments<'_> {
    fn value(&self, name: &str) -> Option<String> {
        self.arguments.get(name).map(|text| text.resolve(self.places))
    }

    fn names(&self) -> Vec<String> {
        self.arguments.keys().map(|name| (*name).to_owned()).collect()
    }
}

fn purposes(profile: &Profile) -> Vec<PurposeRule> {
    let rule = |recognition: &super::profile::PurposeRecognition| {
        let mut all = Vec::new();
        if let Some((name, contains)) = &recognition.header {
            all.push(Condition::Header { name: name.clone(), contains: contains.clone() });
        }
        for (pointer, value) in &recognition.equals {
            all.push(Condition::Equals { pointer: pointer.clone(), value: value.clone() });
        }
        for (pointer, text) in &recognition.contains {
            all.push(Condition::Contains { pointer: pointer.clone(), text: text.clone() });
        }
        for pointer in &recognition.absent {
            all.push(Condition::Absent { pointer: pointer.clone() });
        }
        for text in &recognition.body {
            all.push(Condition::BodyContains { text: text.clone() });
        }
        PurposeRule { purpose: Purpose::new(&recognition.purpose), all }
    };
    profile.purposes.iter().map(rule).collect()
}

/// What a side request gets that has no turn of its own: what the last turn of its purpose says,
/// so that an agent that asks for a second summary gets the same one; else the profile's reply. An
/// empty text is not said again: some agents would ask for ever.
fn side_replies(profile: &Profile, turns: &[Turn]) -> IndexMap<Purpose, Reply> {
    let usual = |text: &str| Reply {
        items: vec![Item::Message { text: text.to_owned(), phase: None }],
        ..Reply::default()
    };
    let replies = profile.purposes.iter().map(|recognition| {
        let purpose = Purpose::new(&recognition.purpose);
        let scripted = turns.iter().rfind(|turn| turn.purpose == purpose && says_something(turn));
        let reply = scripted.map_or_else(|| usual(&recognition.reply), |turn| turn.reply.clone());
        (purpose, reply)
    });
    replies.collect()
}

fn says_something(turn: &Turn) -> bool {
    turn.reply.items.iter().any(|item| match item {
        Item::Message { text, .. } => !text.trim().is_empty(),
        _ => true,
    })
}

#[cfg(test)]
mod tests;
