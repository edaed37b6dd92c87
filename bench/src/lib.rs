//! What the measurements share.

pub mod load;
pub mod process;
pub mod servers;
