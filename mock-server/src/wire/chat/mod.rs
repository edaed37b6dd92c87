//! The Chat Completions wire: writing a reply as chunks or as one object.
//!
//! The shapes follow the public API reference of `OpenAI` Chat Completions, with
//! `reasoning_content` as `DeepSeek`, Qwen, Kimi and vLLM have it.
//!
//! The wire has one message where a reply may have many items: texts are put together with a blank
//! line between them, and so are reasoning and refusals; annotations stand as they are scripted. What it has no place for is not sent: opaque reasoning
//! content, phases and namespaces.

mod completion;
mod message;
mod stream;
mod usage;

pub(super) use completion::whole;
pub(super) use stream::stream;
