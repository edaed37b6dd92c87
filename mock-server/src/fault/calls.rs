//! Calls that are wrong: they share an id, or end too early.

use std::borrow::Cow;

use crate::script::{Call, CallFault, CallPayload, Item, Reply};
use crate::wire::{Ids, Unfit, Wire};

/// The reply with the calls that the fault asks for.
///
/// # Errors
/// When the reply has no such calls.
pub(crate) fn with_faulty_calls<'r>(
    reply: &'r Reply,
    fault: &CallFault,
    wire: Wire,
    ids: Ids,
) -> Result<Cow<'r, Reply>, Unfit> {
    if *fault == CallFault::default() {
        return Ok(Cow::Borrowed(reply));
    }
    let mut reply = reply.clone();
    if fault.same_ids {
        let all = ids.calls(wire, &reply);
        let [first, _, ..] = all.as_slice() else {
            return Err(Unfit::because("`same_call_ids` needs a reply with two calls"));
        };
        for item in &mut reply.items {
            match item {
                Item::Call(call) => call.call_id = Some(first.clone()),
                Item::LocalShell(call) => call.call_id = Some(first.clone()),
                _ => {}
            }
        }
    }
    if let Some(characters) = fault.cut_arguments {
        let mut cut = 0;
        for item in &mut reply.items {
            if let Item::Call(call) = item {
                cut += usize::from(shorten(call, characters));
            }
        }
        if cut == 0 {
            let reason = format!("no call has more than {characters} characters to cut");
            return Err(Unfit(reason));
        }
    }
    Ok(Cow::Owned(reply))
}

/// Cuts the payload; tells whether there was anything to cut.
fn shorten(call: &mut Call, characters: usize) -> bool {
    let text = match &call.payload {
        CallPayload::Arguments(arguments) => {
            Cow::Owned(serde_json::Value::Object(arguments.clone()).to_string())
        }
        CallPayload::RawArguments(text) | CallPayload::Input(text) => Cow::Borrowed(text.as_str()),
    };
    let Some((end, _)) = text.char_indices().nth(characters) else { return false };
    let cut = text[..end].to_owned();
    call.payload = match call.payload {
        CallPayload::Input(_) => CallPayload::Input(cut),
        CallPayload::Arguments(_) | CallPayload::RawArguments(_) => CallPayload::RawArguments(cut),
    };
    true
}
