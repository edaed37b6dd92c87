//! What the scripted model says: turns, the rules that route requests to them, pages.

mod compose;
mod ending;
mod fault;
mod header;
mod item;
mod load;
mod model;
mod socket;
mod write;

pub use ending::{Ending, ErrorForm, Failure};
pub use fault::{
    Attempts, CallFault, Cut, CutHow, Edit, ErrorBody, Event, EventLine, Fault, FaultRule, Form,
    Framing, Insert, Inserted, LineEnding, Pace, Pause, Point, Split, StatusFault,
};
pub(crate) use header::header_problem;
pub use item::{ExtraEvent, LocalShell, Part, SearchResult, WebSearch};
pub use load::{faults, load};
pub use model::{
    Call, CallPayload, Condition, Guard, Item, Page, Purpose, PurposeRule, Reply, Script, Turn,
    Usage, WhenExhausted,
};
pub use socket::{
    Compression, Connection, ErrorFrame, FaultTarget, Handshake, Refusal, SocketFault,
    SocketFaultKind,
};
pub(crate) use write::{connection_of, turn_of};
