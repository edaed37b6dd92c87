//! What a reply puts into a client's hands, and a strict server recognises when it comes back.

use super::{Ids, Wire, messages, responses};
use crate::script::{Item, Reply};

/// An item as the client gets it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Minted {
    /// Its id, where the wire gives items one.
    pub(crate) id: Option<String>,
    /// Whether it is reasoning.
    pub(crate) is_reasoning: bool,
    /// Its encrypted content.
    pub(crate) opaque: Option<String>,
    /// Signed thinking: the signature, then the text.
    pub(crate) signed: Option<(String, String)>,
}

/// The items of a reply as a client gets them on a wire.
pub(crate) fn minted(wire: Wire, reply: &Reply, ids: Ids) -> Vec<Minted> {
    match wire {
        Wire::Responses => responses::minted(reply, ids),
        Wire::Messages => messages::minted(reply, ids),
        Wire::Chat => {
            let is_reasoning = |item: &Item| matches!(item, Item::Reasoning { .. });
            let items = reply.items.iter();
            items
                .map(|item| Minted { is_reasoning: is_reasoning(item), ..Minted::default() })
                .collect()
        }
    }
}
