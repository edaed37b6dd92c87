//! Where the real service is.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

/// The base URL of the real service, as a client would be given it, such as
/// `https://api.openai.com/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// Without a slash at its end; empty for the root.
    path: String,
}

/// Why a text is no base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no base URL ({reason}); give the one that the client would be given, such as \
     https://api.openai.com/v1"
)]
pub struct BadUpstream {
    text: String,
    reason: String,
}

impl FromStr for Upstream {
    type Err = BadUpstream;

    fn from_str(text: &str) -> Result<Self, BadUpstream> {
        let bad = |reason: &str| BadUpstream { text: text.to_owned(), reason: reason.to_owned() };
        let uri: Uri =
            text.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(bad("it needs a scheme and a host"));
        };
        if *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS {
            return Err(bad("its scheme is neither http nor https"));
        }
        if authority.as_str().contains('@') {
            // The text may hold a password, so it is not shown.
            let text = format!("{scheme}://[redacted]@{}", authority.host());
            return Err(BadUpstream { text, reason: "it holds credentials".to_owned() });
        }
        if uri.query().is_some() {
            return Err(bad("it has a query"));
        }
        Ok(Self {
            scheme: scheme.clone(),
            authority: authority.clone(),
            path: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl Upstream {
    /// Its path, which the recorder's own base URL has too: empty, or beginning with a slash.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is reached over TLS.
    pub(super) fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// Where a request to this path goes; `None` when the path is not under the base URL.
    pub(super) fn uri_of(&self, sent: &Uri) -> Option<Uri> {
        let rest = sent.path().strip_prefix(&self.path)?;
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        let path = sent.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path)
            .build()
            .ok()
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_as_it_is() {
        let upstream: Upstream = "https://api.test/v1/".parse().unwrap();
        let to = |path: &str| upstream.uri_of(&path.parse().unwrap()).map(|uri| uri.to_string());
        assert_eq!(to("/v1/responses?a=1").unwrap(), "https://api.test/v1/responses?a=1");
        assert_eq!(to("/v1").unwrap(), "https://api.test/v1");
        assert_eq!(to("/v10/responses"), None);
        assert_eq!(to("/responses"), None);
        let root: Upstream = "http://127.0.0.1:9".parse().unwrap();
        assert_eq!(
            root.uri_of(&"/a".parse().unwrap()).unwrap().to_string(),
            "http://127.0.0.1:9/a"
        );
    }

    #[test]
    fn what_is_no_base_url_is_refused_without_showing_credentials() {
        for text in ["", "api.test/v1", "/v1", "ftp://api.test", "https://api.test/?q", "ws://a"] {
            assert!(text.parse::<Upstream>().is_err(), "{text}");
        }
        let error = "https://me:hunter2@api.test".parse::<Upstream>().unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
