//! What the scripted model says: turns, the rules that route requests to them, pages.

mod compose;
mod load;
mod model;

pub use load::load;
pub use model::{
    Call, CallPayload, Condition, Guard, Item, Page, Purpose, PurposeRule, Reply, Script, Turn,
    Usage, WhenExhausted,
};
