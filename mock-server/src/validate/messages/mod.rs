//! The rules of the Messages API. Its errors name no field: their texts begin with the path.

mod block;
mod cache;
mod content;
mod message;
mod pairing;
mod settings;
mod thinking;
mod tool;

use super::broken::Check;
use super::rule::RuleId;

/// The checks, in the order in which they are made: key, model, types, tools, pairing, size.
pub(super) const CHECKS: &[Check] = &[
    (RuleId::A33, settings::key),
    (RuleId::A32, settings::version),
    (RuleId::A31, settings::model_unknown),
    (RuleId::A27, settings::unknown_key),
    (RuleId::A21, settings::max_tokens),
    (RuleId::A18, thinking::unsupported),
    (RuleId::A19, thinking::budget),
    (RuleId::A20, thinking::with_others),
    (RuleId::A9, message::role),
    (RuleId::A10, message::system_first),
    (RuleId::A11, message::system_misplaced),
    (RuleId::A7, message::first_not_user),
    (RuleId::A8, message::not_alternating),
    (RuleId::A14, message::prefill),
    (RuleId::A12, content::empty),
    (RuleId::A13, content::white_space),
    (RuleId::A25, block::input_not_object),
    (RuleId::A26, cache::breakpoints),
    (RuleId::A22, tool::bad_name),
    (RuleId::A23, tool::duplicate),
    (RuleId::A24, tool::bad_schema),
    (RuleId::A29, tool::none_defined),
    (RuleId::A4, pairing::duplicate_call),
    (RuleId::A5, pairing::duplicate_result),
    (RuleId::A6, pairing::result_not_first),
    (RuleId::A1, pairing::unanswered),
    (RuleId::A2, pairing::uncalled),
    (RuleId::A3, pairing::server_result),
    (RuleId::A17, thinking::bad_signature),
    (RuleId::A16, thinking::altered),
    (RuleId::A15, thinking::left_out),
    (RuleId::A30, block::image_size),
    (RuleId::A28, settings::overflow),
];
