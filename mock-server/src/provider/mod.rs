//! Server personalities: what official and compatible services do differently, as data.
//!
//! A [`Provider`] is a set of validation rules and a few habits: which wires it speaks, how its
//! errors look, which headers it sends, which roles it loses without a word, which tools it takes,
//! what its call ids look like and what its usage reports. Each is one TOML file under
//! `providers/`, built into the library; [`Provider::parse`] reads one of your own.
//!
//! A script names one with `provider: NAME`, a test with
//! [`Builder::provider`](crate::server::Builder::provider). What the script says under
//! `validation` goes before what the provider says.

mod builtin;
mod drop;
mod error_form;
mod habit;
mod schema;

pub(crate) use error_form::refusal_body;
pub(crate) use habit::with_call_ids;

pub use error_form::ErrorForm;
pub use habit::{CallIds, UsageForm};
pub use schema::{Override, Provider, ProviderError};
