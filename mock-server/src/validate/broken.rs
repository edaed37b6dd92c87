//! Where and how a request breaks a rule.

use super::rule::RuleId;
use super::subject::Subject;

/// One place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    /// The request field, in the service's own notation.
    pub(super) param: Option<String>,
    /// What is wrong and what to do.
    pub(super) message: String,
    /// The code.
    pub(super) code: Code,
}

/// The code of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// The rule's own.
    Own,
    /// Another one, or none, for one of the rule's cases.
    Other(Option<&'static str>),
}

impl Broken {
    /// Broken at a field.
    pub(super) fn at(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: Some(param.into()), message: message.into(), code: Code::Own }
    }

    /// Broken by the request as a whole, or on a wire whose errors name no field.
    pub(super) fn whole(message: impl Into<String>) -> Self {
        Self { param: None, message: message.into(), code: Code::Own }
    }

    /// With another code than the rule's own.
    pub(super) fn code(self, code: Option<&'static str>) -> Self {
        Self { code: Code::Other(code), ..self }
    }
}

/// A rule and the function that finds the first place where it is broken.
pub(super) type Check = (RuleId, fn(&Subject<'_>) -> Option<Broken>);
