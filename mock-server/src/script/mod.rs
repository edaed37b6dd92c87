//! What the scripted model says: turns, the rules that route requests to them, pages.

mod compose;
mod header;
mod load;
mod model;
mod write;

pub(crate) use header::header_problem;
pub use load::load;
pub use model::{
    Call, CallPayload, Condition, Ending, Guard, Item, Page, Purpose, PurposeRule, Reply, Script,
    Turn, Usage, WhenExhausted,
};
pub(crate) use write::turn_of;
