//! Offered tools.

use std::collections::HashSet;

use serde_json::Value;

use super::grammar;
use crate::capture;
use crate::validate::broken::Broken;
use crate::validate::name::{self, NameProblem};
use crate::validate::schema;
use crate::validate::subject::{Subject, list, text};

/// The most characters of a tool's name.
const NAME_LIMIT: usize = 128;

/// All definitions with their places, those of a namespace after the namespace itself.
fn all<'s>(subject: &Subject<'s>) -> impl Iterator<Item = (String, &'s Value)> {
    subject.list("tools").flat_map(|(index, tool)| {
        let place = format!("tools[{index}]");
        let inner = list(tool, "tools").map({
            let place = place.clone();
            move |(index, tool)| (format!("{place}.tools[{index}]"), tool)
        });
        std::iter::once((place, tool)).chain(inner).collect::<Vec<_>>()
    })
}

fn functions<'s>(subject: &Subject<'s>) -> impl Iterator<Item = (String, &'s Value)> {
    all(subject).filter(|(_, tool)| text(tool, "type") == Some("function"))
}

/// P2: every tool has a type that the server takes.
pub(super) fn type_not_taken(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("tools").find_map(|(index, tool)| {
        let kind = text(tool, "type").unwrap_or_default();
        (!subject.service.takes_tool(kind)).then(|| {
            Broken::at(
                format!("tools[{index}].type"),
                format!("this server does not take tools of the type '{kind}'"),
            )
        })
    })
}

/// R15: a tool name has the right characters, and not too many.
pub(super) fn bad_name(subject: &Subject<'_>) -> Option<Broken> {
    all(subject).find_map(|(place, tool)| {
        let name = text(tool, "name")?;
        let problem = name::problem(name, NAME_LIMIT)?;
        let broken = Broken::at(format!("{place}.name"), problem.in_words(name, NAME_LIMIT));
        Some(match problem {
            NameProblem::Pattern => broken,
            NameProblem::Length => broken.code(Some("string_above_max_length")),
        })
    })
}

/// R16: no two tools have the same name, inside a namespace or outside.
pub(super) fn duplicate(subject: &Subject<'_>) -> Option<Broken> {
    let twice = |tools: &mut dyn Iterator<Item = (usize, &Value)>| {
        let mut seen = HashSet::new();
        tools
            .filter_map(|(_, tool)| text(tool, "name").map(str::to_owned))
            .find(|name| !seen.insert(name.clone()))
    };
    let name = twice(&mut subject.list("tools"))
        .or_else(|| subject.list("tools").find_map(|(_, tool)| twice(&mut list(tool, "tools"))))?;
    Some(Broken::at("tools", format!("two tools are called '{name}': each needs its own name")))
}

/// R18: the parameters of a function are an object schema.
pub(super) fn not_object(subject: &Subject<'_>) -> Option<Broken> {
    functions(subject).find_map(|(place, tool)| {
        let parameters = tool.get("parameters").filter(|schema| !schema.is_null())?;
        Some(bad_schema(&place, tool, &schema::not_object(parameters)?))
    })
}

/// R17: in a strict function every object closes itself and requires all of its properties.
pub(super) fn not_closed(subject: &Subject<'_>) -> Option<Broken> {
    functions(subject).find_map(|(place, tool)| {
        if tool.get("strict") != Some(&Value::Bool(true)) {
            return None;
        }
        Some(bad_schema(&place, tool, &schema::not_closed(tool.get("parameters")?)?))
    })
}

fn bad_schema(place: &str, tool: &Value, problem: &str) -> Broken {
    let name = text(tool, "name").unwrap_or_default();
    let message = format!("Invalid schema for function '{name}': {problem}");
    Broken::at(format!("{place}.parameters"), message)
}

/// R20: the grammar of a free-form tool can be read.
pub(super) fn bad_grammar(subject: &Subject<'_>) -> Option<Broken> {
    all(subject).find_map(|(place, tool)| {
        let format = tool.get("format").filter(|_| text(tool, "type") == Some("custom"))?;
        let problem = grammar::problem(format)?;
        Some(Broken::at(format!("{place}.format"), problem))
    })
}

/// R32: the tool choice names a tool that is offered.
pub(super) fn choice(subject: &Subject<'_>) -> Option<Broken> {
    let choice = subject.field("tool_choice").filter(|choice| choice.is_object())?;
    let offered = capture::offered_tools(subject.wire, subject.json);
    let is_offered = |choice: &Value| {
        !matches!(text(choice, "type"), Some("function" | "custom"))
            || offered.iter().any(|tool| Some(tool.name.as_str()) == text(choice, "name"))
    };
    let mut chosen = std::iter::once(choice).chain(list(choice, "tools").map(|(_, tool)| tool));
    let absent = chosen.find(|choice| !is_offered(choice))?;
    let name = text(absent, "name").unwrap_or_default();
    Some(Broken::at("tool_choice", format!("the chosen tool '{name}' is not among 'tools'")))
}
