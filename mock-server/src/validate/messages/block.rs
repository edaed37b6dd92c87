//! Content blocks.

use serde_json::Value;

use crate::validate::broken::Broken;
use crate::validate::image;
use crate::validate::subject::{Subject, list, text};

/// The most bytes of an image.
const IMAGE_BYTES: usize = 5 * 1024 * 1024;

/// The most images of a request.
const IMAGES: usize = 100;

/// A content block with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'v> {
    pub(super) message: usize,
    pub(super) index: usize,
    pub(super) value: &'v Value,
}

impl<'v> Block<'v> {
    /// The path that a message about it begins with.
    pub(super) fn path(&self) -> String {
        format!("messages.{}.content.{}", self.message, self.index)
    }

    /// Its type.
    pub(super) fn kind(&self) -> &'v str {
        text(self.value, "type").unwrap_or_default()
    }
}

/// The blocks of a message.
pub(super) fn of_message(message: usize, value: &Value) -> impl Iterator<Item = Block<'_>> {
    list(value, "content").map(move |(index, value)| Block { message, index, value })
}

/// The blocks of all messages.
pub(super) fn all<'s>(subject: &Subject<'s>) -> impl Iterator<Item = Block<'s>> + use<'s> {
    subject.list("messages").flat_map(|(index, message)| of_message(index, message))
}

/// A25: the input of a `tool_use` is an object.
pub(super) fn input_not_object(subject: &Subject<'_>) -> Option<Broken> {
    let is_wrong = |block: &Block<'_>| {
        block.kind() == "tool_use" && !block.value.get("input").is_some_and(Value::is_object)
    };
    let block = all(subject).find(is_wrong)?;
    Some(Broken::whole(format!("{}.tool_use.input: it must be an object", block.path())))
}

/// A30: an image has at most 5 MB, and a request at most 100 images.
pub(super) fn image_size(subject: &Subject<'_>) -> Option<Broken> {
    let images: Vec<_> = all(subject).filter(|block| block.kind() == "image").collect();
    let size = |block: &Block<'_>| {
        let source = block.value.get("source")?;
        text(source, "data").map(image::decoded_len)
    };
    if let Some(block) = images.iter().find(|block| size(block) > Some(IMAGE_BYTES)) {
        let path = block.path();
        return Some(Broken::whole(format!(
            "{path}.image.source.base64: image exceeds 5 MB maximum of {IMAGE_BYTES} bytes"
        )));
    }
    (images.len() > IMAGES).then(|| {
        let count = images.len();
        Broken::whole(format!("messages: there are {count} images; there may be {IMAGES}"))
    })
}
