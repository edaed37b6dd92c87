//! Offered tools.

use serde_json::Value;

use crate::validate::broken::Broken;
use crate::validate::name::{self, NameProblem};
use crate::validate::subject::{Subject, text};

/// The most characters of a tool's name.
const NAME_LIMIT: usize = 64;

/// C16: `tools` is left out or holds a tool.
pub(super) fn empty_list(subject: &Subject<'_>) -> Option<Broken> {
    let is_empty = subject.field("tools")?.as_array()?.is_empty();
    is_empty.then(|| Broken::at("tools", "'tools' must hold a tool, or be left out"))
}

/// C15: every tool has a type that the server takes.
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

/// C11: a tool name has the right characters, and not too many.
pub(super) fn bad_name(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("tools").find_map(|(index, tool)| {
        let kind = text(tool, "type")?;
        let name = text(tool.get(kind).filter(|tool: &&Value| tool.is_object())?, "name")?;
        let problem = name::problem(name, NAME_LIMIT)?;
        let param = format!("tools[{index}].{kind}.name");
        let broken = Broken::at(param, problem.in_words(name, NAME_LIMIT));
        Some(match problem {
            NameProblem::Pattern => broken,
            NameProblem::Length => broken.code(Some("string_above_max_length")),
        })
    })
}
