//! The ids and encrypted contents of a reply.

use super::item::{Content, Output};
use crate::script::Reply;
use crate::wire::{Ids, Minted};

/// The items of a reply as a client gets them.
pub(in crate::wire) fn minted(reply: &Reply, ids: Ids) -> Vec<Minted> {
    let minted = |output: Output<'_>| {
        let (is_reasoning, opaque) = match &output.content {
            Content::Reasoning { opaque, .. } => (true, *opaque),
            Content::Compaction(opaque) => (false, Some(&**opaque)),
            _ => (false, None),
        };
        let opaque = opaque.map(str::to_owned);
        Minted { id: Some(output.id), is_reasoning, opaque, signed: None }
    };
    Output::all(reply, ids).into_iter().map(minted).collect()
}
