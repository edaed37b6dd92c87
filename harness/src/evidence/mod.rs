//! Evidence: what one run left behind, in the form in which it is judged.

mod model;

pub use model::{CallState, Evidence, ModelRequest, OriginFound, SinkDelivery};
