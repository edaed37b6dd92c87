//! The protocols a model can be spoken to in.

mod error;
mod ids;
mod json;
pub(crate) mod responses;
mod sse;

pub(crate) use error::ApiError;
pub(crate) use ids::Ids;

use serde::{Deserialize, Serialize};

/// A wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// `OpenAI` Responses over HTTP, answered as server-sent events.
    Responses,
}

impl Wire {
    /// The name used in profiles and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Responses => "responses",
        }
    }
}

impl std::fmt::Display for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
