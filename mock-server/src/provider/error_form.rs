//! How an error looks.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::Provider;
use crate::validate::{Refusal, RuleId};
use crate::wire::Wire;

/// The form of an error's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorForm {
    /// `{"error":{message,type,param,code}}`: the official one of Responses and Chat.
    Openai,
    /// `{"type":"error","error":{type,message},"request_id"}`: the official one of Messages.
    Anthropic,
    /// `{"detail":message}`.
    Detail,
    /// `{"detail":[{type,loc,msg}]}`: servers that validate with a model of the request.
    DetailList,
    /// `{"error":message}`.
    Text,
    /// `{"object":"error",message,type,param,code}` with the status as code.
    Object,
    /// `{"error":{code,message,type}}` with the status as code.
    StatusCode,
}

/// The body of a refusal.
pub(crate) fn refusal_body(
    provider: Option<&Provider>,
    wire: Wire,
    refusal: &Refusal,
    request_id: &str,
) -> Bytes {
    let own = match wire {
        // The backend that has this rule has no other form.
        _ if refusal.rule == RuleId::R39 => ErrorForm::Detail,
        Wire::Responses | Wire::Chat => ErrorForm::Openai,
        Wire::Messages => ErrorForm::Anthropic,
    };
    let form = provider.and_then(|provider| provider.errors.form).unwrap_or(own);
    Bytes::from(form.body(refusal, request_id).to_string())
}

impl ErrorForm {
    fn body(self, refusal: &Refusal, request_id: &str) -> Value {
        let Refusal { status, kind, code, param, message, .. } = refusal;
        match self {
            Self::Openai => json!({
                "error": {"message": message, "type": kind, "param": param, "code": code},
            }),
            Self::Anthropic => json!({
                "type": "error",
                "error": {"type": kind, "message": message},
                "request_id": request_id,
            }),
            Self::Detail => json!({"detail": message}),
            Self::DetailList => json!({
                "detail": [{"type": "value_error", "loc": location(param.as_deref()), "msg": message}],
            }),
            Self::Text => json!({"error": message}),
            Self::Object => json!({
                "object": "error",
                "message": message,
                "type": kind,
                "param": param,
                "code": status,
            }),
            Self::StatusCode => {
                json!({"error": {"code": status, "message": message, "type": kind}})
            }
        }
    }
}

/// `messages[2].role` as the path of a model's field.
fn location(param: Option<&str>) -> Vec<Value> {
    let steps = param.unwrap_or_default().split(['.', '[', ']']).filter(|step| !step.is_empty());
    let step = |step: &str| step.parse::<u64>().map_or_else(|_| json!(step), |index| json!(index));
    std::iter::once(json!("body")).chain(steps.map(step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_a_body_of_its_own() {
        let refusal = Refusal {
            rule: RuleId::C8,
            status: 422,
            kind: "invalid_request_error".into(),
            code: None,
            param: Some("messages[2].role".into()),
            message: "No developer.".into(),
        };
        let forms = [
            ErrorForm::Openai,
            ErrorForm::Anthropic,
            ErrorForm::Detail,
            ErrorForm::DetailList,
            ErrorForm::Text,
            ErrorForm::Object,
            ErrorForm::StatusCode,
        ];
        let bodies = forms.map(|form| format!("{form:?}: {}", form.body(&refusal, "req_1")));
        insta::assert_snapshot!(bodies.join("\n"));
    }
}
