//! All sessions of a server, and which of them a request belongs to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::header::AUTHORIZATION;
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};
use indexmap::IndexMap;

use super::builder::StartError;
use super::control::Control;
use super::session::{Session, SessionKey};
use super::state::State;
use crate::gate::Gates;
use crate::journal::JournalLimits;
use crate::script::Script;

/// The header by which a request names its session.
pub(super) const SESSION_HEADER: &str = "x-conform-session";

/// The start of a path by which a request names its session: the key comes next.
const SESSION_PREFIX: &str = "/s/";

/// All sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    url: String,
    limits: JournalLimits,
    default: Session,
    others: Mutex<IndexMap<SessionKey, Session>>,
    pub(super) control: Option<Control>,
}

/// The session that a request belongs to.
#[derive(Debug)]
pub(super) enum Choice {
    /// This one. The URI has lost the prefix that named it, if there was one.
    Session(Session, Option<Uri>),
    /// The request names a session that does not exist.
    Unknown {
        /// The name, as it was sent.
        name: String,
    },
}

impl Sessions {
    /// The sessions of a server at its start: the default one alone.
    pub(super) fn new(
        url: String,
        state: Arc<State>,
        limits: JournalLimits,
        control: Option<Control>,
    ) -> Self {
        let key = SessionKey::default_session();
        let default = Session::new(key, url.clone(), limits.clone(), state);
        Self { url, limits, default, others: Mutex::default(), control }
    }

    /// All sessions: the default one first, the others as they were made.
    pub(super) fn all(&self) -> Vec<Session> {
        let others = self.others();
        std::iter::once(&self.default).chain(others.values()).cloned().collect()
    }

    /// What the default session plays now.
    pub(super) fn default_state(&self) -> Arc<State> {
        self.default.state()
    }

    /// A session by its key.
    pub(super) fn get(&self, key: &SessionKey) -> Option<Session> {
        if key == self.default.key() {
            return Some(self.default.clone());
        }
        self.others().get(key).cloned()
    }

    /// Makes a session, or has the one with this key play another script. Tells whether it was
    /// made.
    ///
    /// # Errors
    /// When the script holds something that cannot be sent; nothing changes then.
    pub(super) fn load(
        &self,
        key: SessionKey,
        script: Script,
    ) -> Result<(Session, bool), StartError> {
        if key == *self.default.key() {
            self.default.load(script)?;
            return Ok((self.default.clone(), false));
        }
        let mut others = self.others();
        if let Some(session) = others.get(&key) {
            session.load(script)?;
            return Ok((session.clone(), false));
        }
        let state = State::new(script, Gates::default(), self.limits.clone())?;
        let (url, limits) = (self.url.clone(), self.limits.clone());
        let session = Session::new(key.clone(), url, limits, Arc::new(state));
        others.insert(key, session.clone());
        Ok((session, true))
    }

    /// Takes a session away; `None` when it does not exist or is the default one, which stays.
    pub(super) fn remove(&self, key: &SessionKey) -> Option<Session> {
        let session = self.others().shift_remove(key)?;
        session.end();
        Some(session)
    }

    /// The session of a request: the one that its path names, else the one that its header names,
    /// else the one whose key it sends as its API key, else the default one.
    pub(super) fn choose(&self, uri: &Uri, headers: &HeaderMap) -> Choice {
        if let Some((name, rest)) = named_in_path(uri) {
            return match self.named(name) {
                Some(session) => Choice::Session(session, Some(rest)),
                None => Choice::Unknown { name: name.to_owned() },
            };
        }
        if let Some(value) = headers.get(SESSION_HEADER) {
            let name = String::from_utf8_lossy(value.as_bytes());
            return match self.named(&name) {
                Some(session) => Choice::Session(session, None),
                None => Choice::Unknown { name: name.into_owned() },
            };
        }
        let others = self.others();
        let by_key = if others.is_empty() {
            None
        } else {
            // Any other API key is one that the client was given for its own sake.
            api_keys(headers).find_map(|key| others.get(&key.parse::<SessionKey>().ok()?))
        };
        Choice::Session(by_key.unwrap_or(&self.default).clone(), None)
    }

    fn named(&self, name: &str) -> Option<Session> {
        self.get(&name.parse().ok()?)
    }

    fn others(&self) -> MutexGuard<'_, IndexMap<SessionKey, Session>> {
        // Each change is one call of the map's, so a panic leaves it whole.
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session's name in a path, and the URI without it.
fn named_in_path(uri: &Uri) -> Option<(&str, Uri)> {
    let after = uri.path().strip_prefix(SESSION_PREFIX)?;
    let (name, rest) = after.split_once('/')?;
    let mut rest = format!("/{rest}");
    if let Some(query) = uri.query() {
        rest.push('?');
        rest.push_str(query);
    }
    // A part of a valid path that begins with a slash is a valid path.
    let rest = PathAndQuery::try_from(rest).ok()?;
    Some((name, Uri::from(rest)))
}

/// The API keys that a request carries, in the ways of the wires.
fn api_keys(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(bearer_value);
    let named = ["x-api-key", "api-key"].into_iter();
    bearer
        .into_iter()
        .chain(named.filter_map(|name| headers.get(name).and_then(|value| value.to_str().ok())))
}

/// The token of an `authorization` header of the bearer scheme.
pub(super) fn bearer_value(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_loses_the_name_and_nothing_else() {
        let uri: Uri = "/s/a-1/v1/responses?x=/s/b/&y".parse().unwrap();
        let (name, rest) = named_in_path(&uri).unwrap();
        assert_eq!((name, rest.to_string().as_str()), ("a-1", "/v1/responses?x=/s/b/&y"));
        for path in ["/v1/s/a/responses", "/s/a", "/sink/a/b", "/"] {
            assert!(named_in_path(&path.parse().unwrap()).is_none(), "{path}");
        }
    }

    #[test]
    fn a_bearer_value_is_read_whatever_the_scheme_s_case() {
        assert_eq!(bearer_value("Bearer abc"), Some("abc"));
        assert_eq!(bearer_value("bearer  abc "), Some("abc"));
        assert_eq!(bearer_value("Basic abc"), None);
        assert_eq!(bearer_value("abc"), None);
    }
}
