//! The rules of the Responses API.

pub(super) mod frame;
mod grammar;
mod input;
mod item;
mod pairing;
mod reasoning;
mod settings;
mod shape;
mod tool;

pub(super) use pairing::call_ids;
pub(super) use settings::{key, model_missing, model_unknown};

use super::broken::Check;
use super::rule::RuleId;

/// The checks, in the order in which they are made: key, model, types, tools, pairing, size.
pub(super) const CHECKS: &[Check] = &[
    (RuleId::R36, key),
    (RuleId::R21, model_missing),
    (RuleId::R22, model_unknown),
    (RuleId::R23, shape::unknown_key),
    (RuleId::R24, shape::wrong_type),
    (RuleId::R39, settings::chatgpt_backend),
    (RuleId::R27, input::missing),
    (RuleId::R28, settings::two_histories),
    (RuleId::R34, settings::metadata),
    (RuleId::R25, settings::unsupported_parameter),
    (RuleId::R26, settings::unsupported_value),
    (RuleId::R19, settings::output_format),
    (RuleId::R10, item::unknown_role),
    (RuleId::P1, item::developer),
    (RuleId::P3, item::late_system),
    (RuleId::R11, item::unknown_type),
    (RuleId::R12, item::wrong_part),
    (RuleId::R14, item::long_id),
    (RuleId::R13, item::wrong_prefix),
    (RuleId::R9, reasoning::without_summary),
    (RuleId::R38, item::compaction_trigger),
    (RuleId::P2, tool::type_not_taken),
    (RuleId::R15, tool::bad_name),
    (RuleId::R16, tool::duplicate),
    (RuleId::R18, tool::not_object),
    (RuleId::R17, tool::not_closed),
    (RuleId::R20, tool::bad_grammar),
    (RuleId::R32, tool::choice),
    (RuleId::R29, pairing::unknown_previous),
    (RuleId::R3, pairing::duplicate_item),
    (RuleId::R4, pairing::duplicate_call),
    (RuleId::R30, pairing::previous_call_unanswered),
    (RuleId::R1, pairing::call_unanswered),
    (RuleId::R2, pairing::output_uncalled),
    (RuleId::R7, reasoning::not_persisted),
    (RuleId::R8, reasoning::not_ours),
    (RuleId::R5, reasoning::leads_nowhere),
    (RuleId::R6, reasoning::left_out),
    (RuleId::R33, item::bad_image),
    (RuleId::R31, input::overflow),
];
