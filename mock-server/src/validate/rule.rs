//! Rules: what a server demands of a request, as data.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::table;
use crate::document::did_you_mean;
use crate::wire::Wire;

/// Writes the ids once, for the type and for all that walks over them.
macro_rules! rule_ids {
    ($($id:ident)*) => {
        /// The id of a rule: `R…` for Responses, `C…` for Chat Completions, `A…` for `Anthropic`
        /// Messages, `P…` for what only some compatible servers demand.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[expect(missing_docs, reason = "each rule says what it demands in `Rule::demands`")]
        pub enum RuleId { $($id),* }

        impl RuleId {
            /// All ids, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$id),*];

            /// The id as scripts write it, such as `R12`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$id => stringify!($id)),* }
            }
        }
    };
}

rule_ids! {
    R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19 R20
    R21 R22 R23 R24 R25 R26 R27 R28 R29 R30 R31 R32 R33 R34 R35 R36 R37 R38 R39 R40 R41
    C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 C11 C12 C13 C14 C15 C16 C17 C18 C19
    A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A15 A16 A17 A18 A19 A20
    A21 A22 A23 A24 A25 A26 A27 A28 A29 A30 A31 A32 A33
    P1 P2 P3 P4
}

impl RuleId {
    /// The rule.
    pub fn rule(self) -> &'static Rule {
        table::rule(self)
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is the id of no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule `{name}`; {help}")]
pub struct UnknownRule {
    /// What was written.
    pub name: String,
    /// The next step.
    pub help: String,
}

impl FromStr for RuleId {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        Self::ALL.iter().copied().find(|id| id.name() == name).ok_or_else(|| UnknownRule {
            name: name.to_owned(),
            help: match name.to_ascii_uppercase().parse::<RuleIdAsWritten>() {
                Ok(RuleIdAsWritten(id)) => did_you_mean(name, [id.name()]),
                Err(()) => "rules are R1 to R41 (Responses), C1 to C19 (Chat), A1 to A33 \
                            (Messages) and P1 to P4 (compatible servers)"
                    .to_owned(),
            },
        })
    }
}

/// An id in the right case, looked for without making another error.
struct RuleIdAsWritten(RuleId);

impl FromStr for RuleIdAsWritten {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        RuleId::ALL.iter().copied().find(|id| id.name() == name).map(Self).ok_or(())
    }
}

/// When a rule is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It cannot be turned off: without it there is nothing to answer.
    Always,
    /// On unless a script turns it off.
    Lenient,
    /// On in a strict script.
    Strict,
    /// On only where a script or a provider names it, since it is not the official service's own
    /// behaviour, or would refuse a client that is right.
    Named,
}

/// What a server demands of a request, and how it refuses one that does not comply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// The wire it belongs to.
    pub wire: Wire,
    /// When it is on.
    pub level: Level,
    /// HTTP status of the refusal.
    pub status: u16,
    /// The error's `type`.
    pub kind: &'static str,
    /// The error's `code`; some rules have another one for one of their cases.
    pub code: Option<&'static str>,
    /// The error's `param`, with `[n]` for any index; `*` stands for any name. Messages errors
    /// have none: their texts begin with the path.
    pub param: Option<&'static str>,
    /// What it demands, as a sentence.
    pub demands: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        for id in RuleId::ALL {
            assert_eq!(id.name().parse(), Ok(*id));
            assert_eq!(serde_json::to_value(id).unwrap(), id.name());
        }
    }

    #[test]
    fn an_unknown_id_says_what_would_be_right() {
        let error = |name: &str| name.parse::<RuleId>().unwrap_err().to_string();
        assert_eq!(error("r12"), "there is no rule `r12`; did you mean `R12`?");
        assert_eq!(
            error("R99"),
            "there is no rule `R99`; rules are R1 to R41 (Responses), C1 to C19 (Chat), A1 to A33 \
             (Messages) and P1 to P4 (compatible servers)"
        );
    }
}
