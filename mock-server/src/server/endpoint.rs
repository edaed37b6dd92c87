//! Which endpoint a request is for.

use http::Method;

use crate::wire::Wire;

/// An endpoint, as method and path name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint<'p> {
    /// A model endpoint, under any prefix.
    Model(Wire),
    /// `GET` or `HEAD` of `/page/NAME`.
    Page(&'p str),
    /// Anything to `/sink/NAME`.
    Sink(&'p str),
    /// A path that exists under the allowed methods only.
    WrongMethod {
        /// As the `allow` header lists them.
        allow: &'static str,
    },
    /// No such path.
    Unknown,
}

impl<'p> Endpoint<'p> {
    /// The endpoint of a request. Names are compared as they stand in the path, undecoded.
    pub(super) fn of(method: &Method, path: &'p str) -> Self {
        if let Some(name) = path.strip_prefix("/page/") {
            return match *method {
                Method::GET | Method::HEAD => Self::Page(name),
                _ => Self::WrongMethod { allow: "GET, HEAD" },
            };
        }
        if let Some(name) = path.strip_prefix("/sink/") {
            return Self::Sink(name);
        }
        if path.ends_with("/responses") {
            return match *method {
                Method::POST => Self::Model(Wire::Responses),
                _ => Self::WrongMethod { allow: "POST" },
            };
        }
        Self::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_endpoints_stand_under_any_prefix() {
        for path in ["/responses", "/v1/responses", "/backend-api/codex/responses"] {
            assert_eq!(Endpoint::of(&Method::POST, path), Endpoint::Model(Wire::Responses));
            assert_eq!(Endpoint::of(&Method::GET, path), Endpoint::WrongMethod { allow: "POST" });
        }
    }

    #[test]
    fn a_sink_takes_any_path_and_method() {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            assert_eq!(Endpoint::of(&method, "/sink/a/responses"), Endpoint::Sink("a/responses"));
        }
    }

    #[test]
    fn pages_are_read_only_and_the_rest_is_unknown() {
        assert_eq!(Endpoint::of(&Method::HEAD, "/page/a"), Endpoint::Page("a"));
        let read_only = Endpoint::WrongMethod { allow: "GET, HEAD" };
        assert_eq!(Endpoint::of(&Method::POST, "/page/a"), read_only);
        for path in ["/", "/v1/models", "/v1/responses/compact", "/pages/a", "/v1/noresponses"] {
            assert_eq!(Endpoint::of(&Method::POST, path), Endpoint::Unknown, "{path}");
        }
    }
}
