//! Roles and their order.

use serde_json::Value;

use super::block;
use crate::validate::broken::Broken;
use crate::validate::subject::{Subject, text};

/// The messages with their roles.
fn roles<'s>(subject: &Subject<'s>) -> Vec<(usize, &'s str, &'s Value)> {
    let role = |(index, message)| (index, text(message, "role").unwrap_or_default(), message);
    subject.list("messages").map(role).collect()
}

/// A9: a message is the user's, the assistant's or, where the model takes it, the system's.
pub(super) fn role(subject: &Subject<'_>) -> Option<Broken> {
    let takes_system = subject.facts().system_messages != Some(false);
    let (index, role, _) = roles(subject).into_iter().find(|(_, role, _)| match *role {
        "user" | "assistant" => false,
        "system" => !takes_system,
        _ => true,
    })?;
    Some(Broken::whole(format!(
        "messages[{index}].role must be either 'user' or 'assistant', and it is '{role}'"
    )))
}

/// A10: the first message is not a system message.
pub(super) fn system_first(subject: &Subject<'_>) -> Option<Broken> {
    let (_, role, _) = *roles(subject).first()?;
    (role == "system")
        .then(|| Broken::whole("messages.0: the first system prompt goes into 'system'"))
}

/// A11: a system message stands right after a user message, or an assistant message that ends with
/// the result of a server tool, and before an assistant message or the end.
pub(super) fn system_misplaced(subject: &Subject<'_>) -> Option<Broken> {
    let roles = roles(subject);
    let is_placed = |place: usize| {
        let fits_before = match roles[..place].last() {
            Some((index, "assistant", message)) => block::of_message(*index, message)
                .last()
                .is_some_and(|block| block.kind().ends_with("_tool_result")),
            // That it is the first is another rule's.
            None | Some((_, "user", _)) => true,
            Some(_) => false,
        };
        fits_before && matches!(roles.get(place + 1), None | Some((_, "assistant", _)))
    };
    let place = (1..roles.len()).find(|place| roles[*place].1 == "system" && !is_placed(*place))?;
    Some(Broken::whole(format!(
        "messages.{place}: a system message must come right after a user message, and be last or \
         before an assistant message"
    )))
}

/// A7: the first message is the user's.
pub(super) fn first_not_user(subject: &Subject<'_>) -> Option<Broken> {
    let (_, role, _) = *roles(subject).first()?;
    (role == "assistant")
        .then(|| Broken::whole("messages: the first message must use the \"user\" role"))
}

/// A8: user and assistant alternate.
pub(super) fn not_alternating(subject: &Subject<'_>) -> Option<Broken> {
    let roles = roles(subject);
    let pair = roles.windows(2).find(|pair| pair[0].1 == pair[1].1)?;
    let role = pair[1].1;
    Some(Broken::whole(format!(
        "messages: roles must alternate between \"user\" and \"assistant\", but there are two \
         \"{role}\" roles in a row"
    )))
}

/// A14: the conversation does not end with an assistant message.
pub(super) fn prefill(subject: &Subject<'_>) -> Option<Broken> {
    let (_, role, _) = *roles(subject).last()?;
    (role == "assistant" && subject.facts().prefill != Some(true)).then(|| {
        Broken::whole(
            "this model does not go on with an assistant message: the conversation must end with a \
             user message",
        )
    })
}
