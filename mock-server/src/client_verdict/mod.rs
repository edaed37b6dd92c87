//! What the journal says of the client: does it wait when it is told to, does it stop when it
//! should, does it notice that a reply was cut, does it answer each call once?
//!
//! [`grade`] reads the journal alone. Each [`Misstep`] names the exchanges that show it, how grave
//! it is, and says in one sentence what happened; [`Thresholds`] holds the figures.
//!
//! Two requests ask the same question when they have the same purpose and the same texts, calls
//! and results at the same authorities, whatever the wire and whatever else stands in the body. An
//! attempt that fails (a status from 400, or a reply that was cut) and is followed by the same
//! question was tried again.
//!
//! Times are those at which requests had arrived. An answer comes after its request, so a client
//! that waits as long as it is asked to can never seem to have come too early.

mod attempt;
mod history;
mod model;
mod retry;
mod stream;
mod transport;

#[cfg(test)]
mod tests;

pub use model::{ClientVerdict, Kind, Misstep, Severity, Thresholds};

use crate::journal::Exchange;
use attempt::{Attempt, chains};

/// Grades the client by what the journal holds.
pub fn grade(exchanges: &[Exchange], thresholds: &Thresholds) -> ClientVerdict {
    let attempts: Vec<Attempt<'_>> = exchanges.iter().filter_map(Attempt::of).collect();
    let chains = chains(&attempts);
    let mut missteps = Vec::new();
    for chain in &chains {
        missteps.extend(retry::retry_after_ignored(chain, thresholds));
        missteps.extend(retry::non_retryable_retried(chain, thresholds));
        missteps.extend(retry::retry_storm(chain, thresholds));
        missteps.extend(retry::no_backoff(chain, thresholds));
        missteps.extend(transport::full_prompt_twice(chain));
    }
    missteps.extend(stream::truncated_accepted(&attempts));
    missteps.extend(history::orphan_results(&attempts));
    missteps.extend(history::double_execution(&attempts));
    missteps.sort_by(|one, other| (&one.exchanges, one.kind).cmp(&(&other.exchanges, other.kind)));
    ClientVerdict { missteps }
}
