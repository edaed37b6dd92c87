//! Habits of a provider that change a reply.

use std::borrow::Cow;

use serde::Deserialize;

use crate::script::{Item, Reply};
use crate::wire::Ids;

/// The form of call ids that the script does not give.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallIds {
    /// A prefix and a count, such as `call_1_1`: most services.
    #[default]
    Prefixed,
    /// Exactly nine letters and digits.
    Nine,
}

/// What a reply reports of usage on Chat Completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageForm {
    /// Totals and details.
    #[default]
    Full,
    /// Totals alone.
    Totals,
    /// Totals, details, and the cached tokens once more as `prompt_cache_hit_tokens` beside
    /// `prompt_cache_miss_tokens`.
    CacheHits,
}

/// The reply with call ids of a form, where the script gives none.
pub(crate) fn with_call_ids(form: CallIds, reply: Cow<'_, Reply>, ids: Ids) -> Cow<'_, Reply> {
    let CallIds::Nine = form else { return reply };
    let is_unnamed = |item: &Item| matches!(item, Item::Call(call) if call.call_id.is_none());
    if !reply.items.iter().any(is_unnamed) {
        return reply;
    }
    let mut reply = reply.into_owned();
    for (index, item) in reply.items.iter_mut().enumerate() {
        if let Item::Call(call) = item {
            call.call_id.get_or_insert_with(|| nine(&ids.item("call", index)));
        }
    }
    Cow::Owned(reply)
}

/// Nine letters and digits that stand for a text: its FNV-1a hash in base 36.
fn nine(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut rest = hash;
    let digit = |_| {
        let digit = u32::try_from(rest % 36).unwrap_or_default();
        rest /= 36;
        char::from_digit(digit, 36).unwrap_or('0')
    };
    (0..9).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Call, CallPayload};

    fn ids(form: CallIds, turn: usize) -> Vec<Option<String>> {
        let call = |id: Option<&str>| {
            let call = Call::new("f", CallPayload::Input(String::new()));
            Item::Call(Call { call_id: id.map(str::to_owned), ..call })
        };
        let reply = Reply::of([call(None), call(Some("mine")), call(None)]);
        let shaped = with_call_ids(form, Cow::Owned(reply), Ids::Turn { turn, repeat: 0 });
        let call_id = |item: &Item| match item {
            Item::Call(call) => call.call_id.clone(),
            _ => None,
        };
        shaped.items.iter().map(call_id).collect()
    }

    #[test]
    fn nine_letters_and_digits_are_made_where_the_script_gives_no_id() {
        let made = ids(CallIds::Nine, 0);
        let is_nine = |id: &Option<String>| {
            id.as_ref().is_some_and(|id| id.len() == 9 && id.chars().all(char::is_alphanumeric))
        };
        assert!(is_nine(&made[0]) && is_nine(&made[2]), "{made:?}");
        assert_eq!(made[1].as_deref(), Some("mine"));
        assert_ne!(made[0], made[2]);
        assert_eq!(made, ids(CallIds::Nine, 0), "the same script gives the same ids");
        assert_ne!(made[0], ids(CallIds::Nine, 1)[0]);
    }

    #[test]
    fn prefixed_ids_are_left_to_the_wire() {
        assert_eq!(ids(CallIds::Prefixed, 0), [None, Some("mine".to_owned()), None]);
    }
}
