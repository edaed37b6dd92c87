//! What only some compatible servers demand, beside what the tables of the wires have for them.

use super::super::rule::Level::Named;
use super::super::rule::{Rule, RuleId};
use super::row;
use crate::wire::Wire;

/// The rules, in the order of their ids.
pub(super) const RULES: [Rule; 4] = [
    row(
        RuleId::P1,
        Wire::Responses,
        Named,
        400,
        "invalid_request_error",
        None,
        Some("input[n].role"),
        "No input message has the role `developer`.",
    ),
    row(
        RuleId::P2,
        Wire::Responses,
        Named,
        400,
        "invalid_request_error",
        None,
        Some("tools[n].type"),
        "Every tool has a type that the server takes, mostly `function` alone.",
    ),
    row(
        RuleId::P3,
        Wire::Responses,
        Named,
        400,
        "invalid_request_error",
        None,
        None,
        "System text is in `instructions` or in the first item, and in one place alone.",
    ),
    row(
        RuleId::P4,
        Wire::Chat,
        Named,
        400,
        "invalid_request_error",
        None,
        Some("messages[n].reasoning_content"),
        "An assistant message with calls brings back the reasoning that led to them, as long as no later user message ended the loop.",
    ),
];
