//! Whether what happened fits the script.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use crate::journal::{Delivery, Exchange, Journal, Missing, ModelExchange, Outcome, Route};
use crate::validate::Refusal;

/// All that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Report {
    /// In the order of the journal; turns that nobody took come last.
    pub mismatches: Vec<Mismatch>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.mismatches.len();
        let plural = if count == 1 { "thing does" } else { "things do" };
        write!(f, "{count} {plural} not fit the script:")?;
        self.mismatches.iter().try_for_each(|mismatch| write!(f, "\n- {mismatch}"))
    }
}

/// One thing that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Mismatch {
    /// No request took the turn.
    #[error("`{label}` was never asked for")]
    Unused {
        /// Index into [`Script::turns`](crate::script::Script::turns).
        turn: usize,
        /// Its label.
        label: String,
    },
    /// The turn's fault was met, but no further attempt came.
    #[error("`{label}` was not asked for again after attempt {attempts}, which its fault spoilt")]
    NotAskedAgain {
        /// Index into [`Script::turns`](crate::script::Script::turns).
        turn: usize,
        /// Its label.
        label: String,
        /// How many requests it answered.
        attempts: u64,
    },
    /// A main request found no turn left.
    #[error("request {exchange} found no turn left")]
    Unscripted {
        /// Number in the journal.
        exchange: u64,
    },
    /// A request broke the guard of the turn that was next.
    #[error("request {exchange} did not get `{label}`: {reason}")]
    GuardFailed {
        /// Number in the journal.
        exchange: u64,
        /// The turn's label.
        label: String,
        /// What did not hold.
        reason: String,
    },
    /// A request did not offer a tool that the turn calls.
    #[error("request {exchange} did not get `{label}`: it does not offer `{tool}`")]
    NotOffered {
        /// Number in the journal.
        exchange: u64,
        /// The turn's label.
        label: String,
        /// The tool.
        tool: String,
    },
    /// A turn's reply or fault cannot answer a request.
    #[error("request {exchange} did not get `{label}`: {reason}")]
    Unfit {
        /// Number in the journal.
        exchange: u64,
        /// The turn's label.
        label: String,
        /// What does not fit.
        reason: String,
    },
    /// A request broke a rule of the service that is played.
    #[error("request {exchange} was refused by {refusal}")]
    Refused {
        /// Number in the journal.
        exchange: u64,
        /// What was broken, and what the client was told.
        refusal: Refusal,
    },
    /// A request could not be read.
    #[error("request {exchange} could not be read: {reason}")]
    Malformed {
        /// Number in the journal.
        exchange: u64,
        /// Why.
        reason: String,
    },
    /// The reply was not, or not yet, written to its end.
    #[error("request {exchange} has not got the end of `{label}`: the reply {}", match .delivery {
        Delivery::Pending => "still waits or is being written",
        Delivery::Complete => "was written",
        Delivery::Abandoned => "was abandoned by the client",
        Delivery::Cut => "was cut by the script",
    })]
    Undelivered {
        /// Number in the journal.
        exchange: u64,
        /// The turn's label.
        label: String,
        /// How far it got.
        delivery: Delivery,
    },
    /// Exchanges that nobody can look at any more: whether they fit is not known.
    #[error("{count} requests cannot be compared with the script: {first}")]
    NotKept {
        /// How many.
        count: u64,
        /// Why the first of them is missing.
        first: String,
    },
}

/// Compares the journal with the script.
///
/// # Errors
/// All that does not fit.
pub(super) fn verify(journal: &Journal, unused_turns: Vec<(usize, String)>) -> Result<(), Report> {
    let mut mismatches = Vec::new();
    let mut not_kept: Option<(u64, Missing)> = None;
    let mut attempts: HashMap<String, u64> = HashMap::new();
    for exchange in journal.iter() {
        match exchange {
            Ok(exchange) => {
                mismatches.extend(mismatch(&exchange));
                if let Some(label) = answered_by(&exchange) {
                    *attempts.entry(label.to_owned()).or_insert(0) += 1;
                }
            }
            Err(missing) => not_kept.get_or_insert((0, missing)).0 += 1,
        }
    }
    if let Some((count, first)) = not_kept {
        mismatches.push(Mismatch::NotKept { count, first: first.to_string() });
    }
    let unused = unused_turns.into_iter().map(|(turn, label)| match attempts.get(&label) {
        None => Mismatch::Unused { turn, label },
        Some(&attempts) => Mismatch::NotAskedAgain { turn, label, attempts },
    });
    mismatches.extend(unused);
    if mismatches.is_empty() { Ok(()) } else { Err(Report { mismatches }) }
}

fn mismatch(entry: &Exchange) -> Option<Mismatch> {
    let exchange = entry.number;
    let Route::Model(model) = &entry.route else { return None };
    match &model.outcome {
        Outcome::Served(served) => (!is_as_scripted(model)).then(|| {
            let (label, delivery) = (served.label.clone(), model.delivery);
            Mismatch::Undelivered { exchange, label, delivery }
        }),
        Outcome::SideDefault | Outcome::Faulted { .. } => None,
        Outcome::Unscripted => Some(Mismatch::Unscripted { exchange }),
        Outcome::GuardFailed { turn, reason } => {
            let (label, reason) = (turn.clone(), reason.clone());
            Some(Mismatch::GuardFailed { exchange, label, reason })
        }
        Outcome::NotOffered { turn, tool, .. } => {
            let (label, tool) = (turn.clone(), tool.clone());
            Some(Mismatch::NotOffered { exchange, label, tool })
        }
        Outcome::Unfit { turn, reason } => {
            let (label, reason) = (turn.clone(), reason.clone());
            Some(Mismatch::Unfit { exchange, label, reason })
        }
        Outcome::Refused(refusal) => Some(Mismatch::Refused { exchange, refusal: refusal.clone() }),
        Outcome::Malformed { reason } => {
            Some(Mismatch::Malformed { exchange, reason: reason.clone() })
        }
    }
}

/// Whether the reply got as far as the script means it to.
fn is_as_scripted(model: &ModelExchange) -> bool {
    let ends_early = model.applied.as_ref().is_some_and(|applied| applied.fault.ends_early());
    match model.delivery {
        Delivery::Complete => true,
        // A client that leaves early saw the reply as far as a fault lets it go.
        Delivery::Cut | Delivery::Abandoned => ends_early,
        Delivery::Pending => false,
    }
}

/// The label of the turn that answered a request, with its reply or with its fault.
fn answered_by(exchange: &Exchange) -> Option<&str> {
    let Route::Model(model) = &exchange.route else { return None };
    match &model.outcome {
        Outcome::Served(served) => Some(&served.label),
        Outcome::Faulted { turn } => Some(turn),
        _ => None,
    }
}
