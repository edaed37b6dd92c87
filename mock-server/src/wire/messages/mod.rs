//! The Messages wire: writing a reply as events or as one object.
//!
//! The shapes follow the public API reference of `Anthropic` Messages. Each item of a reply is one
//! content block:
//!
//! | item | block |
//! | --- | --- |
//! | text | `text` |
//! | parts | one `text` each; annotations are its citations, and a refusal has the stop reason say so |
//! | search | `server_tool_use` and `web_search_tool_result` |
//! | raw item | the block as it stands, whole at its start |
//! | call | `tool_use`; free-form input, which the wire does not have, stands under the key `input` |
//! | reasoning with texts | `thinking`: the texts with a blank line between them; the opaque content is the signature |
//! | reasoning without texts | `redacted_thinking` if there is opaque content, else a `thinking` block that is empty |
//!
//! A thinking block always has a signature: where none is scripted, one is made like an id. In a
//! whole message, call arguments that are no JSON stand as a string.

mod block;
mod message;
mod minted;
mod stream;
mod usage;

pub(super) use message::whole;
pub(super) use minted::minted;
pub(super) use stream::stream;
