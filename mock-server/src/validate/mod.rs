//! Strict request validation: what a real service would refuse, the mock refuses too.
//!
//! [`Rule`] is data: an id, the wire, when it is on, and how the refusal looks. Behind each stands
//! one function that finds the first place where a request breaks it. [`Rules`] is the set that is
//! on: the lenient one holds what even a tolerant service refuses, the strict one all that the
//! official service refuses, and some rules are on only by name, since they are the ways of
//! compatible servers. The first rule broken, in the order syntax, key, model, types, tools,
//! pairing, size, is the one that is answered: real services report one error for each request.
//!
//! A rule that needs a fact which nobody stated (a model's window, the keys accepted) does not
//! hold anyone up.

mod broken;
mod chat;
mod credential;
mod image;
mod memory;
mod messages;
mod name;
mod refusal;
mod responses;
mod rule;
mod schema;
mod service;
mod set;
mod subject;
mod table;
mod validator;

pub(crate) use validator::Validator;

pub use refusal::Refusal;
pub use responses::frame::{FrameQuestion, refused_frame};
pub use rule::{Level, Rule, RuleId, UnknownRule};
pub use service::{ModelFacts, Service};
pub use set::{Base, Rules, Validation};
