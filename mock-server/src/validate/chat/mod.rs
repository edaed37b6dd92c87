//! The rules of the Chat Completions API, and of servers compatible with it.

mod content;
mod pairing;
mod role;
mod settings;
mod tool;

use super::broken::Check;
use super::responses::{key, model_missing, model_unknown};
use super::rule::RuleId;

/// The checks, in the order in which they are made: key, model, types, tools, pairing, size.
pub(super) const CHECKS: &[Check] = &[
    (RuleId::R36, key),
    (RuleId::R21, model_missing),
    (RuleId::R22, model_unknown),
    (RuleId::C5, settings::no_messages),
    (RuleId::C7, role::unknown),
    (RuleId::C8, role::developer),
    (RuleId::C9, role::late_system),
    (RuleId::C10, role::not_alternating),
    (RuleId::C6, content::missing),
    (RuleId::C18, content::image),
    (RuleId::C12, settings::old_limit),
    (RuleId::C13, settings::stream_options),
    (RuleId::C16, tool::empty_list),
    (RuleId::C14, settings::without_tools),
    (RuleId::C15, tool::type_not_taken),
    (RuleId::C11, tool::bad_name),
    (RuleId::C1, pairing::unanswered),
    (RuleId::C4, pairing::interrupted),
    (RuleId::C2, pairing::uncalled),
    (RuleId::C3, pairing::wrong_id),
    (RuleId::P4, pairing::reasoning_left_out),
    (RuleId::C19, content::arguments),
    (RuleId::C17, settings::overflow),
];
