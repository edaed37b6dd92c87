//! The form of a provider's file.

use indexmap::IndexMap;
use serde::Deserialize;

use super::error_form::ErrorForm;
use super::habit::{CallIds, UsageForm};
use crate::script::header_problem;
use crate::validate::{Base, Refusal, RuleId, Rules, Service};
use crate::wire::Wire;

/// A server personality.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Its name, such as `openai`.
    pub name: String,
    /// What it is like, in one sentence.
    pub summary: String,
    /// The wires it speaks; on others there is nothing at the path.
    pub wires: Vec<Wire>,
    /// Its validation.
    pub rules: ProviderRules,
    /// Facts about it.
    #[serde(default)]
    pub service: Service,
    /// How its errors look.
    #[serde(default)]
    pub errors: Errors,
    /// Headers sent with every answer of a model endpoint.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// Roles whose messages it loses: it answers 200, and the model never reads them.
    #[serde(default)]
    pub drops_roles: Vec<String>,
    /// The form of its call ids, where the script gives none.
    #[serde(default)]
    pub call_ids: CallIds,
    /// What it reports of usage (Chat Completions).
    #[serde(default)]
    pub usage: UsageForm,
}

/// The rules of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderRules {
    /// The set to start from.
    pub base: Base,
    /// Rules turned on beside it.
    #[serde(default)]
    pub on: Vec<RuleId>,
    /// Rules turned off in it.
    #[serde(default)]
    pub off: Vec<RuleId>,
}

/// How a provider's errors look.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// The form of the body; the wire's own when absent.
    pub form: Option<ErrorForm>,
    /// What is different for some rules.
    #[serde(default)]
    pub rules: IndexMap<RuleId, Override>,
}

/// What a provider says in place of a rule's own refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Override {
    /// HTTP status.
    pub status: Option<u16>,
    /// The error's `type`.
    pub kind: Option<String>,
    /// The error's `code`.
    pub code: Option<String>,
    /// Its text.
    pub message: Option<String>,
}

/// Why a provider's file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// It is no TOML, or not in the form of a provider.
    #[error("not the description of a provider: {0}")]
    Form(#[from] Box<toml::de::Error>),
    /// A header cannot be sent.
    #[error("provider `{provider}` sets the header `{header}`: {reason}")]
    Header {
        /// The provider's name.
        provider: String,
        /// The header's name.
        header: String,
        /// Why it cannot be sent.
        reason: &'static str,
    },
    /// A status is none.
    #[error("provider `{provider}` answers rule {rule} with {status}; it must be 400 to 599")]
    Status {
        /// The provider's name.
        provider: String,
        /// The rule.
        rule: RuleId,
        /// The status.
        status: u16,
    },
}

impl Provider {
    /// Reads a provider from its TOML form.
    ///
    /// # Errors
    /// When the text is not in the form of a provider, or says what cannot be sent.
    pub fn parse(text: &str) -> Result<Self, ProviderError> {
        let provider: Self = toml::from_str(text).map_err(Box::new)?;
        for (header, value) in &provider.headers {
            if let Some(reason) = header_problem(header, value) {
                let (provider, header) = (provider.name.clone(), header.clone());
                return Err(ProviderError::Header { provider, header, reason });
            }
        }
        for (rule, said) in &provider.errors.rules {
            if let Some(status) = said.status.filter(|status| !(400..600).contains(status)) {
                let provider = provider.name.clone();
                return Err(ProviderError::Status { provider, rule: *rule, status });
            }
        }
        Ok(provider)
    }

    /// The rules that are on.
    pub fn rules(&self) -> Rules {
        let ProviderRules { base, on, off } = &self.rules;
        let on = on.iter().fold(base.rules(), |rules, rule| rules.with(*rule));
        off.iter().fold(on, |rules, rule| rules.without(*rule))
    }

    /// Whether it speaks a wire.
    pub fn speaks(&self, wire: Wire) -> bool {
        self.wires.contains(&wire)
    }

    /// The refusal as this provider words it.
    pub(crate) fn worded(&self, refusal: Refusal) -> Refusal {
        let Some(said) = self.errors.rules.get(&refusal.rule) else { return refusal };
        let said = said.clone();
        Refusal {
            status: said.status.unwrap_or(refusal.status),
            kind: said.kind.unwrap_or(refusal.kind),
            code: said.code.or(refusal.code),
            message: said.message.unwrap_or(refusal.message),
            ..refusal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str =
        "name = \"x\"\nsummary = \"X.\"\nwires = [\"chat\"]\n[rules]\nbase = \"none\"\n";

    fn refused(more: &str) -> String {
        Provider::parse(&format!("{LEAST}{more}")).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_in_the_form_is_refused() {
        assert!(Provider::parse(LEAST).is_ok());
        assert!(refused("strict = true\n").contains("unknown field `strict`"));
        assert!(refused("on = [\"C99\"]\n").contains("unknown variant `C99`"));
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        assert_eq!(
            refused("[headers]\nconnection = \"close\"\n"),
            "provider `x` sets the header `connection`: the server itself sets it, since it frames \
             the answer"
        );
        assert_eq!(
            refused("[errors.rules.C8]\nstatus = 200\n"),
            "provider `x` answers rule C8 with 200; it must be 400 to 599"
        );
    }

    #[test]
    fn a_refusal_is_worded_as_the_provider_does() {
        let more = "[errors.rules.C8]\nstatus = 422\nmessage = \"No.\"\n";
        let provider = Provider::parse(&format!("{LEAST}{more}")).unwrap();
        let refusal = Refusal {
            rule: RuleId::C8,
            status: 400,
            kind: "invalid_request_error".into(),
            code: None,
            param: Some("messages[0].role".into()),
            message: "long".into(),
        };
        let worded = provider.worded(refusal.clone());
        let expected = Refusal { status: 422, message: "No.".into(), ..refusal.clone() };
        assert_eq!(worded, expected);
        let other = Refusal { rule: RuleId::C7, ..refusal };
        assert_eq!(provider.worded(other.clone()), other);
    }
}
