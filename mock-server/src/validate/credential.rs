//! The API key of a request.

use http::{HeaderMap, header};

use super::service::Service;

/// What is wrong with the key of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyProblem {
    /// There is none.
    Missing,
    /// It is none that the service accepts.
    Wrong,
}

/// What is wrong with the key, if the service names those that it accepts.
pub(super) fn problem(headers: &HeaderMap, service: &Service) -> Option<KeyProblem> {
    if service.keys.is_empty() {
        return None;
    }
    let Some(sent) = key(headers) else { return Some(KeyProblem::Missing) };
    (!service.keys.iter().any(|accepted| accepted == sent)).then_some(KeyProblem::Wrong)
}

fn key(headers: &HeaderMap) -> Option<&str> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer =
        value(header::AUTHORIZATION.as_str()).and_then(|sent| sent.strip_prefix("Bearer "));
    bearer.or_else(|| value("x-api-key")).or_else(|| value("api-key")).filter(|key| !key.is_empty())
}
