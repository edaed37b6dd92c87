//! Messages that a client sends over a WebSocket (R40, R41).

use serde_json::Value;

use crate::validate::broken::Broken;
use crate::validate::refusal::Refusal;
use crate::validate::rule::RuleId;
use crate::validate::set::Rules;
use crate::validate::subject::text;

/// A client's message, with what its connection is doing.
#[derive(Debug, Clone, Copy)]
pub struct FrameQuestion<'f> {
    /// The message's text.
    pub message: &'f str,
    /// Whether a response is being written on the connection.
    pub is_busy: bool,
}

/// The types of messages that the service knows.
const TYPES: [&str; 2] = ["response.create", "response.processed"];

/// The refusal of a client's message on a WebSocket connection, for an error frame, if one of the
/// rules R40 and R41 is on and broken. The rules about the request inside are the same as over
/// HTTP.
pub fn refused_frame(rules: Rules, question: FrameQuestion<'_>) -> Option<Refusal> {
    let json = serde_json::from_str::<Value>(question.message);
    if rules.contains(RuleId::R40)
        && let Some(broken) = unusable(json.as_ref().map_err(ToString::to_string))
    {
        return Some(Refusal::of(RuleId::R40, broken));
    }
    let creates = json.is_ok_and(|json| text(&json, "type") == Some("response.create"));
    (rules.contains(RuleId::R41) && question.is_busy && creates).then(|| {
        let message = "a response is being written on this connection: wait for its end";
        Refusal::of(RuleId::R41, Broken::whole(message))
    })
}

fn unusable(json: Result<&Value, String>) -> Option<Broken> {
    let json = match json {
        Ok(json) => json,
        Err(cause) => return Some(Broken::whole(format!("the message is no JSON: {cause}"))),
    };
    match text(json, "type") {
        Some(known) if TYPES.contains(&known) => {}
        Some(other) => return Some(Broken::at("type", format!("unknown message type '{other}'"))),
        None => return Some(Broken::at("type", "a message needs a 'type'")),
    }
    (json.get("background") == Some(&Value::Bool(true)))
        .then(|| Broken::at("background", "background work cannot be asked for over a WebSocket"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(rules: Rules, message: &str, is_busy: bool) -> Option<(RuleId, Option<String>)> {
        refused_frame(rules, FrameQuestion { message, is_busy })
            .map(|refusal| (refusal.rule, refusal.param))
    }

    #[test]
    fn a_message_is_json_of_a_known_type_without_background_work() {
        let broken = |message: &str| refused(Rules::lenient(), message, false);
        assert_eq!(broken("{"), Some((RuleId::R40, None)));
        assert_eq!(broken("{}"), Some((RuleId::R40, Some("type".into()))));
        assert_eq!(broken(r#"{"type":"ping"}"#), Some((RuleId::R40, Some("type".into()))));
        let background = r#"{"type":"response.create","background":true}"#;
        assert_eq!(broken(background), Some((RuleId::R40, Some("background".into()))));
        assert_eq!(broken(r#"{"type":"response.create"}"#), None);
        assert_eq!(refused(Rules::none(), "{", false), None);
    }

    #[test]
    fn one_response_at_a_time_is_asked_for_where_the_rule_is_on() {
        let create = r#"{"type":"response.create"}"#;
        let rules = Rules::none().with(RuleId::R41);
        assert_eq!(refused(rules, create, true), Some((RuleId::R41, None)));
        assert_eq!(refused(rules, create, false), None);
        assert_eq!(refused(rules, r#"{"type":"response.processed"}"#, true), None);
        assert_eq!(refused(Rules::strict(), create, true), None, "services queue them");
    }
}
