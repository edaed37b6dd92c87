//! A refused request.

use serde::{Deserialize, Serialize};

use super::broken::{Broken, Code};
use super::rule::RuleId;

/// Why a request was refused, and what the client was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The rule that it broke.
    pub rule: RuleId,
    /// HTTP status.
    pub status: u16,
    /// The error's `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The error's `code`.
    pub code: Option<String>,
    /// The request field.
    pub param: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

impl Refusal {
    /// The refusal of a request that breaks a rule, as the rule has it.
    pub(super) fn of(rule: RuleId, broken: Broken) -> Self {
        let data = rule.rule();
        let code = match broken.code {
            Code::Own => data.code,
            Code::Other(code) => code,
        };
        Self {
            rule,
            status: data.status,
            kind: data.kind.to_owned(),
            code: code.map(str::to_owned),
            param: broken.param,
            message: broken.message,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rule {}: {}", self.rule, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Outcome;

    #[test]
    fn a_refusal_in_a_journal_is_read_as_it_was_written() {
        let refused =
            Outcome::Refused(Refusal::of(RuleId::R9, Broken::at("input[0].summary", "x")));
        let written = serde_json::to_string(&refused).unwrap();
        assert_eq!(
            written,
            r#"{"kind":"refused","rule":"R9","status":400,"type":"invalid_request_error","code":"missing_required_parameter","param":"input[0].summary","message":"x"}"#
        );
        assert_eq!(serde_json::from_str::<Outcome>(&written).unwrap(), refused);
    }
}
