//! The table of all rules.

mod chat;
mod compatible;
mod messages;
mod responses;

use super::rule::{Level, Rule, RuleId};
use crate::wire::Wire;

/// The rule of an id.
pub(super) fn rule(id: RuleId) -> &'static Rule {
    // The tables stand in the order of the ids, which a test makes sure of.
    let mut index = id as usize;
    for table in TABLES {
        match table.get(index) {
            Some(rule) => return rule,
            None => index -= table.len(),
        }
    }
    &responses::RULES[0]
}

const TABLES: [&[Rule]; 4] =
    [&responses::RULES, &chat::RULES, &messages::RULES, &compatible::RULES];

#[expect(clippy::too_many_arguments, reason = "one row of a table, whose columns these are")]
const fn row(
    id: RuleId,
    wire: Wire,
    level: Level,
    status: u16,
    kind: &'static str,
    code: Option<&'static str>,
    param: Option<&'static str>,
    demands: &'static str,
) -> Rule {
    Rule { id, wire, level, status, kind, code, param, demands }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_its_own_row() {
        for id in RuleId::ALL {
            assert_eq!(rule(*id).id, *id);
        }
        assert_eq!(TABLES.iter().map(|table| table.len()).sum::<usize>(), RuleId::ALL.len());
    }

    #[test]
    fn every_row_demands_something_in_a_sentence() {
        for id in RuleId::ALL {
            let demands = rule(*id).demands;
            assert!(demands.ends_with('.') && !demands.contains('\n'), "{id}: {demands}");
        }
    }
}
