//! Which endpoint a request is for.

use http::Method;

use crate::journal::StoredAction;
use crate::wire::Wire;

/// An endpoint, as method and path name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint<'p> {
    /// A model endpoint, under any prefix.
    Model(Wire),
    /// `GET` or `HEAD` of the list of models, under any prefix.
    Models,
    /// `GET` or `HEAD` of one model by its id, under any prefix.
    ModelById(&'p str),
    /// Where tokens of a Messages request are counted, under any prefix.
    CountTokens,
    /// A response that was served before, under any prefix.
    Stored {
        /// Its id.
        id: &'p str,
        action: StoredAction,
    },
    /// Where tokens of a Responses request are counted, under any prefix.
    InputTokens,
    /// Where a history is compacted, under any prefix.
    Compact,
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
            return Self::Page(name).read_by(method);
        }
        if let Some(name) = path.strip_prefix("/sink/") {
            return Self::Sink(name);
        }
        for (end, wire) in MODEL_PATHS {
            if path.ends_with(end) {
                return Self::Model(wire).posted_by(method);
            }
        }
        if path.ends_with("/messages/count_tokens") {
            return Self::CountTokens.posted_by(method);
        }
        if let Some((_, rest)) = path.rsplit_once("/responses/") {
            return Self::below_responses(method, rest);
        }
        if path.ends_with("/models") {
            return Self::Models.read_by(method);
        }
        match path.split_once("/models/") {
            Some((_, id)) if !id.is_empty() => Self::ModelById(id).read_by(method),
            _ => Self::Unknown,
        }
    }

    /// The endpoint of what follows `/responses/` in a path.
    fn below_responses(method: &Method, rest: &'p str) -> Self {
        let stored = |id, action| Self::Stored { id, action };
        match rest.split_once('/') {
            None if rest == "input_tokens" => Self::InputTokens.posted_by(method),
            None if rest == "compact" => Self::Compact.posted_by(method),
            None if rest.is_empty() => Self::Unknown,
            None => match *method {
                Method::GET | Method::HEAD => stored(rest, StoredAction::Read),
                Method::DELETE => stored(rest, StoredAction::Delete),
                _ => Self::WrongMethod { allow: "GET, HEAD, DELETE" },
            },
            Some((id, "cancel")) => stored(id, StoredAction::Cancel).posted_by(method),
            Some((id, "input_items")) => stored(id, StoredAction::InputItems).read_by(method),
            Some(_) => Self::Unknown,
        }
    }

    fn posted_by(self, method: &Method) -> Self {
        if *method == Method::POST { self } else { Self::WrongMethod { allow: "POST" } }
    }

    fn read_by(self, method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD => self,
            _ => Self::WrongMethod { allow: "GET, HEAD" },
        }
    }
}

/// The wire of a request to a model endpoint; `None` for any other request.
pub(crate) fn model_wire(method: &Method, path: &str) -> Option<Wire> {
    match Endpoint::of(method, path) {
        Endpoint::Model(wire) => Some(wire),
        _ => None,
    }
}

/// How the paths of the model endpoints end.
const MODEL_PATHS: [(&str, Wire); 3] = [
    ("/responses", Wire::Responses),
    ("/chat/completions", Wire::Chat),
    ("/messages", Wire::Messages),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_endpoints_stand_under_any_prefix() {
        for (end, wire) in MODEL_PATHS {
            for prefix in ["", "/v1", "/backend-api/codex", "/models/v1"] {
                let path = format!("{prefix}{end}");
                assert_eq!(Endpoint::of(&Method::POST, &path), Endpoint::Model(wire), "{path}");
                let wrong = Endpoint::WrongMethod { allow: "POST" };
                assert_eq!(Endpoint::of(&Method::GET, &path), wrong, "{path}");
            }
        }
    }

    #[test]
    fn lookups_stand_under_any_prefix() {
        let read_only = Endpoint::WrongMethod { allow: "GET, HEAD" };
        for path in ["/models", "/v1/models", "/api/v1/models"] {
            assert_eq!(Endpoint::of(&Method::GET, path), Endpoint::Models);
            assert_eq!(Endpoint::of(&Method::POST, path), read_only);
        }
        for id in ["m", "vendor/m", "m:free"] {
            let path = format!("/v1/models/{id}");
            assert_eq!(Endpoint::of(&Method::HEAD, &path), Endpoint::ModelById(id));
            assert_eq!(Endpoint::of(&Method::DELETE, &path), read_only);
        }
        let count = "/v1/messages/count_tokens";
        assert_eq!(Endpoint::of(&Method::POST, count), Endpoint::CountTokens);
        assert_eq!(Endpoint::of(&Method::GET, count), Endpoint::WrongMethod { allow: "POST" });
    }

    #[test]
    fn what_was_served_stands_below_the_responses() {
        let stored = |action| Endpoint::Stored { id: "resp_1", action };
        for (method, end, endpoint) in [
            (Method::GET, "resp_1", stored(StoredAction::Read)),
            (Method::DELETE, "resp_1", stored(StoredAction::Delete)),
            (Method::POST, "resp_1/cancel", stored(StoredAction::Cancel)),
            (Method::GET, "resp_1/input_items", stored(StoredAction::InputItems)),
            (Method::POST, "input_tokens", Endpoint::InputTokens),
            (Method::POST, "compact", Endpoint::Compact),
            (Method::GET, "compact", Endpoint::WrongMethod { allow: "POST" }),
            (Method::POST, "resp_1", Endpoint::WrongMethod { allow: "GET, HEAD, DELETE" }),
        ] {
            let path = format!("/any/v1/responses/{end}");
            assert_eq!(Endpoint::of(&method, &path), endpoint, "{method} {path}");
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
        for path in [
            "/",
            "/v1/models/",
            "/v1/responses/",
            "/v1/responses/a/b",
            "/pages/a",
            "/v1/noresponses",
        ] {
            assert_eq!(Endpoint::of(&Method::POST, path), Endpoint::Unknown, "{path}");
        }
    }
}
