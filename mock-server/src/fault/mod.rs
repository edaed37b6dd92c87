//! Faults: how a reply that is written becomes an answer that misbehaves.
//!
//! One way for every wire. The reply's frames are edited (`edit`), framed anew (`framing`), and laid
//! out as one row of bytes in which every place is an offset (`plan`): between two offsets stands a
//! write, at an offset a wait or the cut. The server's reply body plays the steps. A fault that
//! cannot happen to a reply, such as one at an event that there is not, is an error and never
//! nothing.

mod calls;
mod edit;
mod framing;
mod plan;
mod status;

pub(crate) use calls::with_faulty_calls;
pub(crate) use plan::{Plan, Step, plan};
pub(crate) use status::status_answer;
