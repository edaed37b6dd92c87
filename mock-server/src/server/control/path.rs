//! What a path of the control API names.

use super::error::ControlError;
use crate::server::session::SessionKey;

/// How many exchanges a page of the journal holds unless asked for another number, and at most.
const PAGE: usize = 1000;

/// A thing that the control API knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resource {
    Sessions,
    Session(SessionKey),
    Script(SessionKey),
    Reset(SessionKey),
    Gates(SessionKey),
    Gate(SessionKey, String),
    Journal(SessionKey),
    Live(SessionKey),
    Exchange(SessionKey, u64),
    Body(SessionKey, u64),
    Verdict(SessionKey),
}

impl Resource {
    /// Reads a path without the prefix.
    pub(super) fn of(path: &str) -> Result<Self, ControlError> {
        let unknown = || {
            let message =
                format!("there is nothing at /__conform/{path}; begin with /__conform/sessions");
            ControlError::not_found(message)
        };
        let mut parts = path.split('/');
        if parts.next() != Some("sessions") {
            return Err(unknown());
        }
        let Some(key) = parts.next() else { return Ok(Self::Sessions) };
        let key: SessionKey =
            key.parse().map_err(|error| ControlError::bad_request(format!("{error}")))?;
        let rest: Vec<&str> = parts.collect();
        Ok(match rest.as_slice() {
            [] => Self::Session(key),
            ["script"] => Self::Script(key),
            ["reset"] => Self::Reset(key),
            ["verdict"] => Self::Verdict(key),
            ["gates"] => Self::Gates(key),
            ["gates", name] if !name.is_empty() => Self::Gate(key, decoded(name)?),
            ["journal"] => Self::Journal(key),
            ["journal", "live"] => Self::Live(key),
            ["journal", number] => Self::Exchange(key, number.parse().map_err(|_| unknown())?),
            ["journal", number, "body"] => Self::Body(key, number.parse().map_err(|_| unknown())?),
            _ => return Err(unknown()),
        })
    }

    /// The methods it takes, as the `allow` header lists them.
    pub(super) fn allowed(&self) -> &'static str {
        match self {
            Self::Sessions
            | Self::Gates(_)
            | Self::Journal(_)
            | Self::Live(_)
            | Self::Exchange(..)
            | Self::Body(..)
            | Self::Verdict(_) => "GET",
            Self::Session(_) => "GET, DELETE",
            Self::Script(_) => "PUT",
            Self::Reset(_) | Self::Gate(..) => "POST",
        }
    }
}

/// Undoes percent-encoding: a gate's name may be any text.
fn decoded(text: &str) -> Result<String, ControlError> {
    let bad = || {
        let message = format!("`{text}` cannot be decoded; write other characters as %XX of UTF-8");
        ControlError::bad_request(message)
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2).ok_or_else(bad)?;
            let digit = |index: usize| char::from(digits[index]).to_digit(16).ok_or_else(bad);
            let byte = u8::try_from(digit(0)? * 16 + digit(1)?).map_err(|_| bad())?;
            bytes.push(byte);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

/// What a query asks of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Query {
    /// Begin after the exchange with this number.
    pub(super) after: Option<u64>,
    /// Stop after so many.
    pub(super) limit: usize,
}

impl Query {
    pub(super) fn of(query: Option<&str>) -> Result<Self, ControlError> {
        let mut read = Self { after: None, limit: PAGE };
        let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        for pair in pairs {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let bad = || {
                ControlError::bad_request(format!("`{name}` must be a number from 0: `{value}`"))
            };
            match name {
                "after" => read.after = Some(value.parse().map_err(|_| bad())?),
                "limit" => {
                    let limit: usize = value.parse().map_err(|_| bad())?;
                    read.limit = limit.clamp(1, PAGE);
                }
                _ => {
                    let message = format!("there is no `{name}`; a journal takes `after`, `limit`");
                    return Err(ControlError::bad_request(message));
                }
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_may_have_any_name() {
        let key: SessionKey = "a".parse().unwrap();
        for (path, name) in
            [("b", "b"), ("steer%20sent", "steer sent"), ("%C3%BC%2F", "ü/"), ("a+b", "a+b")]
        {
            let read = Resource::of(&format!("sessions/a/gates/{path}")).unwrap();
            assert_eq!(read, Resource::Gate(key.clone(), name.to_owned()));
        }
        for path in ["%", "%4", "%zz", "%ff"] {
            assert!(Resource::of(&format!("sessions/a/gates/{path}")).is_err(), "{path}");
        }
    }

    #[test]
    fn what_is_nothing_is_not_found() {
        for path in ["", "session", "sessions/a/b", "sessions/a/journal/x", "sessions/a/gates/"] {
            assert!(Resource::of(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_page_has_bounds() {
        let query = Query::of(Some("after=7&limit=100000")).unwrap();
        assert_eq!(query, Query { after: Some(7), limit: PAGE });
        assert_eq!(Query::of(Some("limit=0")).unwrap().limit, 1);
        for bad in ["after=-1", "limit=x", "page=2", "after"] {
            assert!(Query::of(Some(bad)).is_err(), "{bad}");
        }
    }
}
