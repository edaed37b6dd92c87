//! Invariants: what holds in every request of every case, asked for or not.

mod authority;
mod frame;
mod instructions;
pub(super) mod pairing;
mod prefix;
mod rules;
mod secret;
mod unknown;

use super::ledger::{Breach, Ledger, Question};
use super::run::Run;
use crate::clause::ClauseRef;

/// One invariant.
struct Invariant {
    clause: &'static str,
    check: &'static str,
    breaches: fn(&Run<'_>) -> Vec<Breach>,
}

/// An invariant serves a clause that is not in the catalogue.
#[derive(Debug, thiserror::Error)]
#[error("the invariant `{check}` serves `{clause}`, which is not in the catalogue of clauses")]
pub(super) struct MissingClause {
    clause: &'static str,
    check: &'static str,
}

const INVARIANTS: [Invariant; 11] = [
    Invariant {
        clause: "role.result-pairing",
        check: "calls and results pair",
        breaches: pairing::breaches,
    },
    Invariant {
        clause: "role.unknown-never-dropped",
        check: "every role and type is known",
        breaches: unknown::breaches,
    },
    Invariant {
        clause: "prompt.three-parts",
        check: "no high-authority text is empty",
        breaches: instructions::empty,
    },
    Invariant {
        clause: "prompt.instructions-every-request",
        check: "the instructions stand in every request",
        breaches: instructions::absent,
    },
    Invariant {
        clause: "role.no-promotion",
        check: "no planted text speaks for the application",
        breaches: authority::promoted,
    },
    Invariant {
        clause: "role.not-a-user",
        check: "no data stands as the user's words",
        breaches: authority::as_user,
    },
    Invariant {
        clause: "prompt.three-parts",
        check: "project rules stand apart from the base text",
        breaches: rules::welded,
    },
    Invariant {
        clause: "prompt.rules-once-marked",
        check: "project rules stand once, marked, where documented",
        breaches: rules::misplaced,
    },
    Invariant {
        clause: "role.frame-holds",
        check: "no planted tag ends a frame",
        breaches: frame::broken,
    },
    Invariant {
        clause: "injection.no-silent-exfiltration",
        check: "no secret leaves its place",
        breaches: secret::breaches,
    },
    Invariant {
        clause: "prompt.cache-prefix-stable",
        check: "each request extends the one before it",
        breaches: prefix::unstable,
    },
];

/// Asks every invariant of a run.
pub(super) fn check(run: &Run<'_>, ledger: &mut Ledger) -> Result<(), MissingClause> {
    for Invariant { clause, check, breaches } in INVARIANTS {
        let clause = ClauseRef::find(clause).ok_or(MissingClause { clause, check })?;
        let question = Question {
            check: check.to_owned(),
            clause,
            location: run.case.location.clone(),
            variant: run.variant.name,
        };
        ledger.answer(&question, breaches(run));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
