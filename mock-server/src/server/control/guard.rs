//! Who may use the control API.

use std::fmt;
use std::str::FromStr;

use http::{HeaderMap, header};

use crate::server::sessions::bearer_value;

/// The header that carries the token where `authorization` is taken by something else.
const TOKEN_HEADER: &str = "x-conform-token";

/// The secret that opens the control API: at least 8 visible ASCII characters. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token has at least 8 visible ASCII characters and no spaces")]
pub struct BadToken;

impl FromStr for Token {
    type Err = BadToken;

    fn from_str(text: &str) -> Result<Self, BadToken> {
        if text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(Self(text.to_owned()));
        }
        Err(BadToken)
    }
}

impl Token {
    /// Whether a request carries this token.
    pub(super) fn is_sent(&self, headers: &HeaderMap) -> bool {
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = value(header::AUTHORIZATION.as_str()).and_then(bearer_value);
        [bearer, value(TOKEN_HEADER)].into_iter().flatten().any(|sent| self.is(sent))
    }

    /// Compares without stopping at the first difference, which would tell how much was right.
    fn is(&self, sent: &str) -> bool {
        let (ours, sent) = (self.0.as_bytes(), sent.as_bytes());
        let differences = ours.iter().zip(sent).fold(0, |found, (a, b)| found | (a ^ b));
        ours.len() == sent.len() && differences == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let token: Token = "very-secret".parse().unwrap();
        assert_eq!(format!("{token:?}"), "Token([redacted])");
    }

    #[test]
    fn only_the_whole_token_opens() {
        let token: Token = "very-secret".parse().unwrap();
        assert!(token.is("very-secret"));
        for wrong in ["", "very-secre", "very-secret1", "Very-secret"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        for bad in ["", "short", "with a space", "ümlaut-token"] {
            assert_eq!(bad.parse::<Token>(), Err(BadToken));
        }
    }
}
