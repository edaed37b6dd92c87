//! What a client offers, and what of it is agreed (RFC 6455, section 9.1; RFC 7692, section 7.1).

use std::fmt;

use http::{HeaderMap, header};

const NAME: &str = "permessage-deflate";

/// The largest window, as the logarithm of its bytes; what counts where nothing is said.
const LARGEST: u8 = 15;

/// The smallest window that the compressor has. The protocol knows a smaller one (8).
const SMALLEST: u8 = 9;

/// What both sides hold to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server::websocket) struct Agreed {
    /// The server's window, if the client limits it.
    server_window: Option<u8>,
    /// Whether the server compresses each message by itself.
    pub(super) server_forgets: bool,
    /// Whether the client does.
    pub(super) client_forgets: bool,
}

/// A header that cannot be read, for which a server must let nobody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "`sec-websocket-extensions` cannot be read: it lists extensions as RFC 6455, section 9.1 says"
)]
pub(in crate::server::websocket) struct Malformed;

impl Agreed {
    /// The server's window, as the logarithm of its bytes.
    pub(super) fn server_window(self) -> u8 {
        self.server_window.unwrap_or(LARGEST)
    }

    /// What is agreed upon an offer; `None` when it is declined, as one must be that has a
    /// parameter which is unknown, repeated or has no good value.
    fn upon(offer: &Extension) -> Option<Self> {
        if offer.name != NAME {
            return None;
        }
        let mut agreed = Self { server_window: None, server_forgets: false, client_forgets: false };
        for (index, (name, value)) in offer.parameters.iter().enumerate() {
            if offer.parameters[..index].iter().any(|(earlier, _)| earlier == name) {
                return None;
            }
            match (name.as_str(), value.as_deref()) {
                ("server_no_context_takeover", None) => agreed.server_forgets = true,
                ("client_no_context_takeover", None) => agreed.client_forgets = true,
                ("server_max_window_bits", Some(bits)) => {
                    agreed.server_window = Some(window(bits).filter(|bits| *bits >= SMALLEST)?);
                }
                // It says that the client can be told of a limit. None is needed here: whatever
                // window it takes can be read.
                ("client_max_window_bits", None) => {}
                ("client_max_window_bits", Some(bits)) => drop(window(bits)?),
                _ => return None,
            }
        }
        Some(agreed)
    }
}

/// The value of the answer's header.
impl fmt::Display for Agreed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)?;
        if self.server_forgets {
            f.write_str("; server_no_context_takeover")?;
        }
        if self.client_forgets {
            f.write_str("; client_no_context_takeover")?;
        }
        if let Some(bits) = self.server_window {
            write!(f, "; server_max_window_bits={bits}")?;
        }
        Ok(())
    }
}

/// What is agreed upon the first offer that can be taken; `None` when there is none.
///
/// # Errors
/// When the header cannot be read.
pub(in crate::server::websocket) fn negotiate(
    headers: &HeaderMap,
) -> Result<Option<Agreed>, Malformed> {
    let mut offers = Vec::new();
    // Several headers are one list.
    for value in headers.get_all(header::SEC_WEBSOCKET_EXTENSIONS) {
        offers.extend(Reader { rest: value.as_bytes() }.extensions()?);
    }
    Ok(offers.iter().find_map(Agreed::upon))
}

/// A size between 8 and 15, without zeros before it.
fn window(bits: &str) -> Option<u8> {
    let is_plain = bits.bytes().all(|byte| byte.is_ascii_digit()) && !bits.starts_with('0');
    bits.parse().ok().filter(|bits| is_plain && (8..=LARGEST).contains(bits))
}

/// An extension with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Extension {
    name: String,
    parameters: Vec<(String, Option<String>)>,
}

/// Reads a header's value from its begin.
struct Reader<'h> {
    rest: &'h [u8],
}

impl Reader<'_> {
    fn extensions(mut self) -> Result<Vec<Extension>, Malformed> {
        let mut extensions = Vec::new();
        loop {
            // An element of a list may be empty.
            while self.take(b',') {}
            if self.rest.is_empty() {
                return Ok(extensions);
            }
            extensions.push(self.extension()?);
            if !self.rest.is_empty() && !self.take(b',') {
                return Err(Malformed);
            }
        }
    }

    fn extension(&mut self) -> Result<Extension, Malformed> {
        let name = self.token()?;
        let mut parameters = Vec::new();
        while self.take(b';') {
            let name = self.token()?;
            let value = if self.take(b'=') { Some(self.value()?) } else { None };
            parameters.push((name, value));
        }
        Ok(Extension { name, parameters })
    }

    /// Takes this character, with the space around it, if it comes next.
    fn take(&mut self, wanted: u8) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let Some(rest) = self.rest.strip_prefix(&[wanted]) else { return false };
        self.rest = rest.trim_ascii_start();
        true
    }

    fn token(&mut self) -> Result<String, Malformed> {
        let end = self.rest.iter().position(|byte| !is_token(*byte)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        text(token)
    }

    /// A token, in quotes or not.
    fn value(&mut self) -> Result<String, Malformed> {
        let Some(quoted) = self.rest.strip_prefix(b"\"") else { return self.token() };
        self.rest = quoted;
        let mut value = Vec::new();
        loop {
            let (byte, rest) = self.rest.split_first().ok_or(Malformed)?;
            self.rest = rest;
            match byte {
                b'"' => return text(&value),
                b'\\' => {
                    let (escaped, rest) = self.rest.split_first().ok_or(Malformed)?;
                    self.rest = rest;
                    value.push(*escaped);
                }
                byte => value.push(*byte),
            }
        }
    }
}

/// A token as text.
fn text(token: &[u8]) -> Result<String, Malformed> {
    if token.is_empty() || !token.iter().copied().all(is_token) {
        return Err(Malformed);
    }
    Ok(token.iter().copied().map(char::from).collect())
}

/// Whether a token can have the character (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn answered(offer: &[u8]) -> Result<Option<String>, Malformed> {
        let mut headers = HeaderMap::new();
        let offer = HeaderValue::from_bytes(offer).unwrap();
        headers.insert(header::SEC_WEBSOCKET_EXTENSIONS, offer);
        Ok(negotiate(&headers)?.map(|agreed| agreed.to_string()))
    }

    #[test]
    fn an_offer_is_taken_with_what_it_demands() {
        for (offer, answer) in [
            ("permessage-deflate", "permessage-deflate"),
            (" permessage-deflate ; client_max_window_bits ", "permessage-deflate"),
            ("permessage-deflate; client_max_window_bits=8", "permessage-deflate"),
            (
                "permessage-deflate;server_no_context_takeover;client_no_context_takeover",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            ),
            (
                "permessage-deflate; server_max_window_bits = 12; client_max_window_bits=12",
                "permessage-deflate; server_max_window_bits=12",
            ),
            (
                "permessage-deflate; server_max_window_bits=\"1\\0\"",
                "permessage-deflate; server_max_window_bits=10",
            ),
            ("x-other; a=\"b\", ,permessage-deflate,", "permessage-deflate"),
            // The first that can be taken, in the client's order.
            (
                "permessage-deflate; server_max_window_bits=9, permessage-deflate",
                "permessage-deflate; server_max_window_bits=9",
            ),
            ("permessage-deflate; mode=fast, permessage-deflate", "permessage-deflate"),
            // The compressor has no window of 256 bytes.
            (
                "permessage-deflate; server_max_window_bits=8, permessage-deflate; \
                 server_no_context_takeover",
                "permessage-deflate; server_no_context_takeover",
            ),
        ] {
            assert_eq!(answered(offer.as_bytes()), Ok(Some(answer.to_owned())), "{offer}");
        }
    }

    #[test]
    fn an_offer_that_says_something_wrong_is_declined() {
        for parameters in [
            "x",
            "server_no_context_takeover=1",
            "client_no_context_takeover=true",
            "server_no_context_takeover; server_no_context_takeover",
            "client_max_window_bits; client_max_window_bits=10",
            "server_max_window_bits",
            "server_max_window_bits=7",
            "server_max_window_bits=8",
            "server_max_window_bits=16",
            "server_max_window_bits=010",
            "server_max_window_bits=+10",
            "server_max_window_bits=1e1",
            "server_max_window_bits=300",
            "client_max_window_bits=7",
            "client_max_window_bits=\"08\"",
            "Server_no_context_takeover",
        ] {
            let offer = format!("permessage-deflate; {parameters}");
            assert_eq!(answered(offer.as_bytes()), Ok(None), "{offer}");
        }
        for offer in ["", ",", "permessage-snappy", "Permessage-Deflate"] {
            assert_eq!(answered(offer.as_bytes()), Ok(None), "{offer}");
        }
    }

    #[test]
    fn what_is_no_list_of_extensions_is_an_error() {
        for offer in [
            "permessage-deflate client_max_window_bits",
            "permessage-deflate;",
            "permessage-deflate; ;",
            "permessage-deflate; a=",
            "permessage-deflate; a=\"b",
            "permessage-deflate; a=\"b\\",
            "permessage-deflate; a=\"\"",
            "permessage-deflate; a=\"b c\"",
            "permessage-deflate; a=b=c",
            "; a",
            "a/b",
        ] {
            assert_eq!(answered(offer.as_bytes()), Err(Malformed), "{offer}");
        }
    }

    #[test]
    fn several_headers_are_one_list() {
        let mut headers = HeaderMap::new();
        for offer in ["permessage-deflate; x", "permessage-deflate; client_no_context_takeover"] {
            headers.append(header::SEC_WEBSOCKET_EXTENSIONS, HeaderValue::from_static(offer));
        }
        let agreed = negotiate(&headers).unwrap().unwrap();
        assert_eq!(agreed.to_string(), "permessage-deflate; client_no_context_takeover");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            drop(Reader { rest: &bytes }.extensions());
        }

        /// Near to an offer, what is agreed is an offer itself, upon which the same is agreed.
        #[test]
        fn an_answer_can_be_offered(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                "permessage-deflate", ";", ",", "=", "\"", "\\", " ", "8", "9", "15", "a",
                "server_no_context_takeover", "client_no_context_takeover",
                "server_max_window_bits", "client_max_window_bits",
            ]), 0..12)
        ) {
            if let Ok(Some(answer)) = answered(pieces.concat().as_bytes()) {
                prop_assert_eq!(answered(answer.as_bytes()), Ok(Some(answer)));
            }
        }
    }
}
