//! Evidence: what one run left behind, in the form in which it is judged.
//!
//! [`Snapshot`] sees the file tree before and after, [`collect`] joins it with the journal and the
//! dialogue into [`Evidence`], and [`run_evidence`] draws the normalised record from that.
//! [`Patterns`] holds what a profile says about own state and volatile values, compiled once.

mod collect;
mod frame;
mod model;
mod normalise;
mod origin;
mod reading;
mod record;
mod secret;
mod tree;

pub use collect::{Input, collect};
pub use frame::{closing_tags, frames_around};
pub use model::{
    CallState, Course, Evidence, Leak, ModelRequest, OriginFound, SinkDelivery, StraySecret,
};
pub use normalise::{Normaliser, PatternError, Patterns};
pub use record::{normalised_body, request_record, run_evidence};
pub use tree::{OwnState, Snapshot, TreeError, escaped_name};
