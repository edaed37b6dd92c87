//! Roles, and the order that some chat templates want them in.

use serde_json::Value;

use super::pairing::has_calls;
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, text};

const ROLES: [&str; 6] = ["system", "assistant", "user", "function", "tool", "developer"];

/// C7: a message has a role that the API knows.
pub(super) fn unknown(subject: &Subject<'_>) -> Option<Broken> {
    subject.list("messages").find_map(|(index, message)| {
        let role = text(message, "role").unwrap_or_default();
        (!ROLES.contains(&role)).then(|| {
            let known = ROLES.join("', '");
            Broken::at(
                format!("messages[{index}].role"),
                format!("invalid value '{role}': a role is one of '{known}'"),
            )
        })
    })
}

/// C8: no message has the role `developer`.
pub(super) fn developer(subject: &Subject<'_>) -> Option<Broken> {
    let is_developer = |message: &Value| text(message, "role") == Some("developer");
    let (index, _) = subject.list("messages").find(|(_, message)| is_developer(message))?;
    Some(Broken::at(
        format!("messages[{index}].role"),
        "unknown variant `developer`: this server has the roles system, user, assistant and tool",
    ))
}

/// C9: there is at most one system message, and it is the first.
pub(super) fn late_system(subject: &Subject<'_>) -> Option<Broken> {
    let is_system = |message: &Value| matches!(text(message, "role"), Some("system" | "developer"));
    subject.list("messages").skip(1).find(|(_, message)| is_system(message))?;
    Some(Broken::whole("System message must be at the beginning: the template takes one, first"))
}

/// C10: user and assistant alternate, beginning with the user. Calls and their results do not
/// count.
pub(super) fn not_alternating(subject: &Subject<'_>) -> Option<Broken> {
    let speaks = |message: &Value| match text(message, "role")? {
        "user" => Some(true),
        "assistant" if !has_calls(message) => Some(false),
        _ => None,
    };
    let mut is_user_next = true;
    for is_user in subject.list("messages").filter_map(|(_, message)| speaks(message)) {
        if is_user != is_user_next {
            return Some(Broken::whole(
                "Conversation roles must alternate: user, assistant, user, assistant, and so on",
            ));
        }
        is_user_next = !is_user;
    }
    None
}
