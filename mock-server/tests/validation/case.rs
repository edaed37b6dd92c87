//! A case: what breaks one rule, and what does not.

use conform_mock_server::journal::{Outcome, Route};
use conform_mock_server::script::{Reply, Script};
use conform_mock_server::server::MockServer;
use conform_mock_server::validate::{Refusal, RuleId, Service, Validation};
use conform_mock_server::wire::Wire;
use serde_json::{Map, Value, json};

/// One rule, with a request that breaks it and one that does not.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) rule: RuleId,
    /// Where it is sent, if not to the wire of the rule.
    pub(crate) wire: Wire,
    pub(crate) service: Service,
    /// Requests sent before, and what they are answered.
    pub(crate) before: Vec<(Value, Reply)>,
    pub(crate) breaks: Request,
    pub(crate) passes: Request,
    /// The code of the refusal.
    pub(crate) code: Code,
}

/// The code of a refusal: the rule's, or the one of a special case.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Code {
    Own,
    Other(Option<&'static str>),
}

/// A request: what it adds to the least one of its wire (null takes away), and its headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) more: Value,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
}

/// A case on the wire of its rule, with the version header where the wire has one.
pub(crate) fn case(rule: RuleId, breaks: Value, passes: Value) -> Case {
    let wire = rule.rule().wire;
    let version = ("anthropic-version", "2023-06-01");
    let headers = if wire == Wire::Messages { vec![version] } else { Vec::new() };
    let request = |more| Request { more, headers: headers.clone() };
    Case {
        rule,
        wire,
        service: Service::default(),
        before: Vec::new(),
        breaks: request(breaks),
        passes: request(passes),
        code: Code::Own,
    }
}

impl Case {
    /// With facts about the service, as a provider's file has them.
    pub(crate) fn service(self, service: &str) -> Self {
        Self { service: serde_json::from_str(service).expect("facts"), ..self }
    }

    /// With a request that is sent before, and its answer.
    pub(crate) fn before(mut self, request: Value, reply: Reply) -> Self {
        self.before.push((request, reply));
        self
    }

    /// With another code than the rule's own.
    pub(crate) fn code(self, code: Option<&'static str>) -> Self {
        Self { code: Code::Other(code), ..self }
    }

    /// With headers that break the rule, and others that do not.
    pub(crate) fn headers(
        mut self,
        breaks: &[(&'static str, &'static str)],
        passes: &[(&'static str, &'static str)],
    ) -> Self {
        self.breaks.headers = breaks.to_vec();
        self.passes.headers = passes.to_vec();
        self
    }

    fn strict(&self) -> Validation {
        let (on, service) = (vec![self.rule], self.service.clone());
        Validation { on, service, ..Validation::strict() }
    }

    /// A server that has answered what comes before, and has one turn left.
    async fn server(&self, validation: Validation) -> MockServer {
        let replies = self.before.iter().map(|(_, reply)| reply.clone());
        let script = Script::of(replies.chain([Reply::say("Well.")]));
        let server = MockServer::builder(script).validation(validation).start().await.unwrap();
        for (more, _) in &self.before {
            let headers = self.passes.headers.clone();
            let request = Request { more: more.clone(), headers };
            let (status, answer) = self.send(&server, &request).await;
            assert_eq!(status, 200, "{}: what comes before: {answer}", self.rule);
        }
        server
    }

    async fn send(&self, server: &MockServer, request: &Request) -> (u16, Value) {
        let (path, least) = match self.wire {
            Wire::Chat => (
                "/chat/completions",
                json!({"model": "m", "messages": [{"role": "user", "content": "Hello"}]}),
            ),
            Wire::Messages => (
                "/messages",
                json!({
                    "model": "m",
                    "max_tokens": 4096,
                    "messages": [{"role": "user", "content": "Hello"}],
                }),
            ),
            Wire::Responses => ("/responses", json!({"model": "m", "input": "Hello"})),
        };
        let Value::Object(mut body) = least else { panic!("an object") };
        merge(&mut body, &request.more);
        let mut post = reqwest::Client::new()
            .post(format!("{}{path}", server.base_url()))
            .body(Value::Object(body).to_string());
        for (name, value) in &request.headers {
            post = post.header(*name, *value);
        }
        let answer = post.send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        // A stream of events is no JSON, and no refusal.
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(crate) async fn is_refused(&self) {
        let id = self.rule;
        let server = self.server(self.strict()).await;
        let (status, answer) = self.send(&server, &self.breaks).await;
        let rule = id.rule();
        assert_eq!(status, rule.status, "{id}: {answer}");
        let refusal = refusal(&server).unwrap_or_else(|| panic!("{id}: {answer}"));
        assert_eq!(refusal.rule, id, "{answer}");
        let code = match self.code {
            Code::Own => rule.code,
            Code::Other(code) => code,
        };
        assert_eq!(refusal.code.as_deref(), code, "{id}");
        assert!(fits(rule.param, refusal.param.as_deref()), "{id}: {:?}", refusal.param);
        // What the journal says is what the client got.
        let Refusal { kind, code, param, message, .. } = refusal;
        assert_eq!(kind, rule.kind, "{id}");
        let expected = match (id, self.wire) {
            (RuleId::R39, _) => json!({"detail": message}),
            (_, Wire::Messages) => json!({
                "type": "error",
                "error": {"type": kind, "message": message},
                "request_id": answer["request_id"],
            }),
            _ => json!({
                "error": {"message": message, "type": kind, "param": param, "code": code},
            }),
        };
        assert_eq!(answer, expected, "{id}");
    }

    pub(crate) async fn breaks_nothing_else(&self) {
        // Without its model a request cannot be answered, rule or not.
        if self.rule == RuleId::R21 {
            return;
        }
        let mut validation = self.strict();
        validation.on.clear();
        validation.off.push(self.rule);
        let server = self.server(validation).await;
        let (status, answer) = self.send(&server, &self.breaks).await;
        assert_eq!(status, 200, "without {}: {answer}", self.rule);
    }

    pub(crate) async fn neighbour_passes(&self) {
        let server = self.server(self.strict()).await;
        self.send(&server, &self.breaks).await;
        assert_eq!(server.unused_turns().len(), 1, "{}: it took the turn", self.rule);
        let (status, answer) = self.send(&server, &self.passes).await;
        assert_eq!(status, 200, "{}: {answer}", self.rule);
        assert_eq!(server.unused_turns(), [], "{}", self.rule);
    }
}

/// Sets the fields of `more`; null takes a field away.
fn merge(body: &mut Map<String, Value>, more: &Value) {
    for (key, value) in more.as_object().into_iter().flatten() {
        if value.is_null() {
            body.shift_remove(key);
        } else {
            body.insert(key.clone(), value.clone());
        }
    }
}

/// The refusal of the last request.
pub(crate) fn refusal(server: &MockServer) -> Option<Refusal> {
    let exchanges = server.journal().snapshot();
    match &exchanges.last()?.route {
        Route::Model(model) => match &model.outcome {
            Outcome::Refused(refusal) => Some(refusal.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a field is one that the pattern of a rule stands for.
fn fits(pattern: Option<&str>, field: Option<&str>) -> bool {
    let (Some(pattern), Some(field)) = (pattern, field) else { return pattern == field };
    let mut plain = String::new();
    for c in field.chars() {
        match c {
            '0'..='9' if plain.ends_with(['[', 'n']) => {
                if !plain.ends_with('n') {
                    plain.push('n');
                }
            }
            c => plain.push(c),
        }
    }
    match pattern.split_once('*') {
        Some((start, _)) => plain.starts_with(start) && plain.len() > start.len(),
        None => plain == pattern,
    }
}
