//! Events beside the items of a reply.

use bytes::Bytes;

use crate::script::ExtraEvent;
use crate::wire::fit::Unfit;
use crate::wire::frame;
use crate::wire::json::{Object, write_text, write_value};

/// Puts the events in their places and numbers all of them anew.
///
/// # Errors
/// When there is no such place.
pub(super) fn insert(frames: Vec<Bytes>, extra: &[ExtraEvent]) -> Result<Vec<Bytes>, Unfit> {
    if extra.is_empty() {
        return Ok(frames);
    }
    let mut before: Vec<Vec<Bytes>> = vec![Vec::new(); frames.len()];
    for event in extra {
        before[frame::locate(&frames, &event.before)?].push(write(event));
    }
    let in_order = frames.into_iter().zip(before).flat_map(|(frame, mut before)| {
        before.push(frame);
        before
    });
    let renumber = |(number, bytes): (u64, Bytes)| match frame::renumbered(&bytes, |_| number) {
        Some(renumbered) => Bytes::from(renumbered),
        None => bytes,
    };
    Ok((0_u64..).zip(in_order).map(renumber).collect())
}

fn write(event: &ExtraEvent) -> Bytes {
    let mut data = Vec::with_capacity(128);
    let object = Object::begin(&mut data)
        .with("type", |buffer| write_text(buffer, &event.kind))
        .number("sequence_number", 0_u64);
    event
        .fields
        .iter()
        .fold(object, |object, (key, value)| {
            object.escaped(key, |buffer| write_value(buffer, value))
        })
        .end();
    let parts = frame::Parts { name: Some(event.kind.as_bytes()), data: &data };
    Bytes::from(frame::join(parts))
}
