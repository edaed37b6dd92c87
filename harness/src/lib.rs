//! A deterministic conformance test harness for coding agents.
//!
//! One road leads through the crate: [`scenario`] load → [`matrix`] expand → [`case`] →
//! [`agent`] lower to native calls → [`sandbox`] and [`driver`] run → [`evidence`] collect →
//! [`check`] judge → [`run`] record.

pub mod agent;
pub mod bisect;
pub mod cache;
pub mod case;
pub mod check;
pub mod clause;
pub mod doctor;
pub mod driver;
pub mod evidence;
pub mod matrix;
pub mod run;
pub mod sandbox;
pub mod scenario;
pub mod stand_in;
pub mod suite;
