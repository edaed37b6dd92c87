//! The thinking of a reply, with its signatures.

use super::block::{self, Block};
use crate::script::Reply;
use crate::wire::{Ids, Minted};

/// The blocks of a reply as a client gets them.
pub(in crate::wire) fn minted(reply: &Reply, ids: Ids) -> Vec<Minted> {
    let minted = |block: Block<'_>| match block {
        Block::Thinking { thinking, signature } => Minted {
            is_reasoning: true,
            signed: Some((signature.into_owned(), thinking)),
            ..Minted::default()
        },
        Block::RedactedThinking(data) => {
            Minted { is_reasoning: true, opaque: Some(data.to_owned()), ..Minted::default() }
        }
        _ => Minted::default(),
    };
    block::blocks(reply, ids).into_iter().map(minted).collect()
}
