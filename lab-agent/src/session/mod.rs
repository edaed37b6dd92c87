//! One session: from its start over its turns to its close.

mod act;
mod compact;
mod delegate;
mod life;
mod store;
mod turn;

pub(crate) use life::{Ending, run};
