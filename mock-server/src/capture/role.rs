//! What a message's role grants to its text.

use serde_json::Value;

use super::collector::Collector;
use super::segment::Authority;

/// The role of a message, as sent, and what it grants.
///
/// Text under a role that the wire does not define is judged as a developer's: the safe side,
/// since a model may well obey it.
pub(super) fn of_message<'b>(
    collector: &mut Collector,
    pointer: &str,
    message: &'b Value,
    known: impl FnOnce(&str) -> Option<Authority>,
) -> (&'b str, Authority) {
    let at = format!("{pointer}/role");
    let (role, authority) = match message.get("role") {
        Some(Value::String(role)) => {
            let authority = known(role);
            if authority.is_none() {
                collector.unknown(at, role);
            }
            (role.as_str(), authority)
        }
        Some(other) => {
            collector.wrong_type(at, other);
            ("", None)
        }
        None => {
            collector.unknown(pointer, "(no role)");
            ("", None)
        }
    };
    (role, authority.unwrap_or(Authority::Developer))
}
