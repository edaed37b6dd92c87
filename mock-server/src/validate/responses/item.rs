//! Input items, each by itself.

use serde_json::Value;

use crate::validate::broken::Broken;
use crate::validate::image;
use crate::validate::subject::{Subject, list, text};

const ROLES: [&str; 4] = ["assistant", "system", "developer", "user"];

/// The types of input items and, where the service makes their ids, how those begin.
const TYPES: [(&str, &[&str]); 34] = [
    ("message", &["msg_"]),
    ("reasoning", &["rs_"]),
    ("function_call", &["fc_"]),
    ("function_call_output", &["fco_", "fc_"]),
    ("custom_tool_call", &["ctc_"]),
    ("custom_tool_call_output", &["ctco_", "ctc_"]),
    ("local_shell_call", &["lsh_"]),
    ("local_shell_call_output", &[]),
    ("shell_call", &["sh_"]),
    ("shell_call_output", &[]),
    ("apply_patch_call", &["apc_"]),
    ("apply_patch_call_output", &[]),
    ("web_search_call", &["ws_"]),
    ("tool_search_call", &["tsc_"]),
    ("tool_search_output", &["tso_"]),
    ("additional_tools", &["at_"]),
    ("configuration_update", &[]),
    ("compaction", &["cmp_"]),
    ("compaction_summary", &["cmp_"]),
    ("compaction_trigger", &[]),
    ("context_compaction", &[]),
    ("agent_message", &[]),
    ("item_reference", &[]),
    ("program", &[]),
    ("program_output", &[]),
    ("image_generation_call", &["ig_"]),
    ("file_search_call", &["fs_"]),
    ("computer_call", &["cu_"]),
    ("computer_call_output", &[]),
    ("code_interpreter_call", &["ci_"]),
    ("mcp_list_tools", &["mcpl_"]),
    ("mcp_approval_request", &["mcpr_"]),
    ("mcp_approval_response", &[]),
    ("mcp_call", &["mcp_"]),
];

/// The most characters of an id.
const ID_LIMIT: usize = 64;

/// The type of an item: a message and a reference may leave it out.
pub(super) fn item_type(item: &Value) -> Option<&str> {
    match item.get("type") {
        Some(Value::String(name)) => Some(name),
        None if item.get("role").is_some() => Some("message"),
        None if item.get("id").is_some() => Some("item_reference"),
        Some(_) | None => None,
    }
}

/// R10: a message has a role that the service knows.
pub(super) fn unknown_role(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("input").find_map(|(index, item)| {
        let param = format!("input[{index}].role");
        match item.get("role") {
            Some(Value::String(role)) if ROLES.contains(&role.as_str()) => None,
            Some(Value::String(role)) => Some(Broken::at(
                param,
                format!(
                    "invalid value '{role}': a message is of 'assistant', 'system', 'developer' or \
                     'user'"
                ),
            )),
            Some(_) => Some(Broken::at(param, "a role must be a string")),
            None if item_type(item) == Some("message") => {
                Some(Broken::at(param, "a message needs a role"))
            }
            None => None,
        }
    })
}

/// P1: no message has the role `developer`.
pub(super) fn developer(subject: &Subject<'_>) -> Option<Broken> {
    let is_developer = |item: &Value| {
        item_type(item) == Some("message") && text(item, "role") == Some("developer")
    };
    let (index, _) = subject.list("input").find(|(_, item)| is_developer(item))?;
    Some(Broken::at(
        format!("input[{index}].role"),
        "this server has no role 'developer': use 'system'",
    ))
}

/// P3: system text is in `instructions` or in the first item, and in one place alone.
pub(super) fn late_system(subject: &Subject<'_>) -> Option<Broken> {
    let is_system = |item: &Value| matches!(text(item, "role"), Some("system" | "developer"));
    let first_allowed = usize::from(subject.text("instructions").is_none_or(str::is_empty));
    let mut systems = subject.list("input").filter(|(_, item)| is_system(item));
    systems.find(|(index, _)| *index >= first_allowed)?;
    Some(Broken::whole("the system message must be the first, and there can be no second"))
}

/// R11: an item has a type that the service knows.
pub(super) fn unknown_type(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("input").find_map(|(index, item)| {
        let param = format!("input[{index}].type");
        match item_type(item) {
            Some(name) if TYPES.iter().any(|(known, _)| *known == name) => None,
            Some(name) => {
                Some(Broken::at(param, format!("invalid value '{name}': no input item has it")))
            }
            None => Some(Broken::at(param, "an input item needs a type")),
        }
    })
}

/// R12: a content part fits the role of its message.
pub(super) fn wrong_part(subject: &Subject<'_>) -> Option<Broken> {
    let messages = subject.list("input").filter(|(_, item)| item_type(item) == Some("message"));
    messages.into_iter().find_map(|(index, item)| {
        let fits: &[&str] = match text(item, "role") {
            Some("assistant") => &["output_text", "refusal"],
            Some("user" | "system" | "developer") => {
                &["input_text", "input_image", "input_file", "input_audio"]
            }
            // A role of which nothing is known is another rule's.
            _ => return None,
        };
        list(item, "content").find_map(|(place, part)| {
            let kind = text(part, "type").unwrap_or_default();
            (!fits.contains(&kind)).then(|| {
                let fitting = fits.join("', '");
                Broken::at(
                    format!("input[{index}].content[{place}]"),
                    format!("invalid value '{kind}': here a part is one of '{fitting}'"),
                )
            })
        })
    })
}

/// R13: the id of an item begins with the prefix of its type.
pub(super) fn wrong_prefix(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("input").find_map(|(index, item)| {
        let (kind, id) = (item_type(item)?, text(item, "id")?);
        let (_, prefixes) = TYPES.iter().find(|(known, _)| *known == kind)?;
        let begins = |prefix: &&str| id.starts_with(*prefix);
        let expected = prefixes.first()?;
        (!prefixes.iter().any(begins)).then(|| {
            Broken::at(
                format!("input[{index}].id"),
                format!("invalid id '{id}': that of a {kind} begins with '{expected}'"),
            )
        })
    })
}

/// R14: ids and call ids have at most 64 characters.
pub(super) fn long_id(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("input").find_map(|(index, item)| {
        ["call_id", "id"].into_iter().find_map(|name| {
            let length = text(item, name)?.chars().count();
            (length > ID_LIMIT).then(|| {
                Broken::at(
                    format!("input[{index}].{name}"),
                    format!("'{name}' has {length} characters; it may have {ID_LIMIT}"),
                )
            })
        })
    })
}

/// R33: the data of an image is an image.
pub(super) fn bad_image(subject: &Subject<'_>) -> Option<Broken> {
    let parts = subject.list("input").flat_map(|(_, item)| {
        list(item, "content").chain(list(item, "output")).map(|(_, part)| part)
    });
    let mut images = parts.filter(|part| text(part, "type") == Some("input_image"));
    let problem = images.find_map(|part| image::problem(text(part, "image_url")?))?;
    // Clients look for the first sentence, and leave the image out then.
    Some(Broken::at(
        "input",
        format!("The image data you provided does not represent a valid image. Here {problem}."),
    ))
}

/// R38: there is at most one compaction trigger, and it is the last item.
pub(super) fn compaction_trigger(subject: &Subject<'_>) -> Option<Broken> {
    let count = subject.list("input").count();
    let is_trigger = |item: &Value| item_type(item) == Some("compaction_trigger");
    // A second trigger has one before it that is not the last item.
    let mut triggers = subject.list("input").filter(|(_, item)| is_trigger(item));
    triggers.find(|(index, _)| index + 1 != count)?;
    Some(Broken::at("input", "a compaction trigger must be the last item, and the only one"))
}
