//! Reading a request's body and undoing its content codings.

#[cfg(test)]
mod tests;

use std::io::{self, Read};

use bytes::Bytes;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Body;

use crate::wire::ApiError;

/// A body as far as it could be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestBody {
    /// The decoded body; with a problem, the bytes as they came, which may be cut short.
    pub(super) bytes: Bytes,
    /// What kept it from being read whole.
    pub(super) problem: Option<BodyProblem>,
}

/// Why a body could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyProblem {
    /// The connection broke or the body's framing is wrong.
    #[error("the request body broke off: {0}")]
    Broken(String),
    /// Too many bytes, encoded or decoded.
    #[error("the request body is larger than {limit} bytes")]
    TooLarge { limit: usize },
    /// The bytes are not what the header says.
    #[error("the request body is not valid {coding}: {reason}")]
    BadCoding { coding: &'static str, reason: String },
    /// A coding that this server does not know.
    #[error("content-encoding `{0}` is not supported; use zstd, gzip, deflate or none")]
    UnknownCoding(String),
}

impl BodyProblem {
    /// Whether bytes are missing, so that not even the encoded body is known whole.
    pub(super) fn is_cut_short(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::TooLarge { .. })
    }

    /// The answer.
    pub(super) fn to_error(&self) -> ApiError {
        let status = match self {
            Self::Broken(_) | Self::BadCoding { .. } => StatusCode::BAD_REQUEST,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnknownCoding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        };
        ApiError::with_status(status, self.to_string())
    }
}

/// Reads a body of at most `limit` bytes, both as sent and decoded.
pub(super) async fn read<B>(body: B, headers: &HeaderMap, limit: usize) -> RequestBody
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let (sent, problem) = receive(body, limit).await;
    if problem.is_some() {
        return RequestBody { bytes: sent.into(), problem };
    }
    match codings(headers).and_then(|codings| decode(&sent, &codings, limit)) {
        Ok(None) => RequestBody { bytes: sent.into(), problem: None },
        Ok(Some(decoded)) => RequestBody { bytes: decoded.into(), problem: None },
        Err(problem) => RequestBody { bytes: sent.into(), problem: Some(problem) },
    }
}

/// Undoes the content codings of a body that was received whole.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn decoded(sent: Bytes, headers: &HeaderMap, limit: usize) -> Result<Bytes, String> {
    let decoded = codings(headers).and_then(|codings| decode(&sent, &codings, limit));
    match decoded {
        Ok(decoded) => Ok(decoded.map_or(sent, Bytes::from)),
        Err(problem) => Err(problem.to_string()),
    }
}

async fn receive<B>(mut body: B, limit: usize) -> (Vec<u8>, Option<BodyProblem>)
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(limit).min(limit);
    // The client's word for the length is trusted for a first allocation of a modest size only.
    let mut bytes = Vec::with_capacity(expected.min(1024 * 1024));
    while let Some(frame) = body.frame().await {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => return (bytes, Some(BodyProblem::Broken(error.to_string()))),
        };
        let Some(data) = frame.data_ref() else { continue };
        let room = limit - bytes.len();
        if data.len() > room {
            bytes.extend_from_slice(&data[..room]);
            return (bytes, Some(BodyProblem::TooLarge { limit }));
        }
        bytes.extend_from_slice(data);
    }
    (bytes, None)
}

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Zstd,
    Gzip,
    Deflate,
}

/// The codings in the order in which they were applied.
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, BodyProblem> {
    let mut codings = Vec::new();
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let value = String::from_utf8_lossy(value.as_bytes());
        for name in value.split(',').map(|name| name.trim().to_ascii_lowercase()) {
            match name.as_str() {
                "" | "identity" => {}
                "zstd" => codings.push(Coding::Zstd),
                "gzip" | "x-gzip" => codings.push(Coding::Gzip),
                "deflate" => codings.push(Coding::Deflate),
                _ => return Err(BodyProblem::UnknownCoding(name)),
            }
        }
    }
    Ok(codings)
}

/// Undoes the codings, the last applied first; `None` when there are none.
fn decode(sent: &[u8], codings: &[Coding], limit: usize) -> Result<Option<Vec<u8>>, BodyProblem> {
    let mut decoded: Option<Vec<u8>> = None;
    for coding in codings.iter().rev() {
        decoded = Some(coding.decode(decoded.as_deref().unwrap_or(sent), limit)?);
    }
    Ok(decoded)
}

impl Coding {
    fn decode(self, bytes: &[u8], limit: usize) -> Result<Vec<u8>, BodyProblem> {
        let decoded = match self {
            Self::Zstd => zstd::stream::read::Decoder::with_buffer(bytes)
                .and_then(|decoder| read_limited(decoder, limit)),
            Self::Gzip => read_limited(MultiGzDecoder::new(bytes), limit),
            Self::Deflate => read_limited(ZlibDecoder::new(bytes), limit),
        };
        match decoded {
            Ok(decoded) if decoded.len() > limit => Err(BodyProblem::TooLarge { limit }),
            Ok(decoded) => Ok(decoded),
            Err(error) => {
                Err(BodyProblem::BadCoding { coding: self.name(), reason: error.to_string() })
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
        }
    }
}

/// Reads to the end, but not more than one byte beyond the limit.
fn read_limited(reader: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut decoded)?;
    Ok(decoded)
}
