//! Looking into frames that are written already.
//!
//! The frames are this crate's own, so their form is known: an event line, if the wire has them,
//! one data line with compact JSON, a blank line.

use bytes::Bytes;

use super::fit::Unfit;
use crate::script::Event;

/// The key of an event's number, as it stands in a frame: after the type, before all else.
const NUMBER: &[u8] = b"\",\"sequence_number\":";

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts<'f> {
    /// The event's name, on the wires that have event lines.
    pub(crate) name: Option<&'f [u8]>,
    /// The data.
    pub(crate) data: &'f [u8],
}

/// Takes a frame apart; `None` when it is no event.
pub(crate) fn parts(frame: &[u8]) -> Option<Parts<'_>> {
    let frame = frame.strip_suffix(b"\n\n")?;
    let Some(rest) = frame.strip_prefix(b"event: ") else {
        return Some(Parts { name: None, data: frame.strip_prefix(b"data: ")? });
    };
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let data = rest[end + 1..].strip_prefix(b"data: ")?;
    Some(Parts { name: Some(&rest[..end]), data })
}

/// A frame of these parts.
pub(crate) fn join(parts: Parts<'_>) -> Vec<u8> {
    let mut frame = Vec::with_capacity(parts.data.len() + 64);
    if let Some(name) = parts.name {
        frame.extend_from_slice(b"event: ");
        frame.extend_from_slice(name);
        frame.push(b'\n');
    }
    frame.extend_from_slice(b"data: ");
    frame.extend_from_slice(parts.data);
    frame.extend_from_slice(b"\n\n");
    frame
}

/// The index of an event among the frames of a reply.
///
/// # Errors
/// When there is no such event.
pub(crate) fn locate(frames: &[Bytes], event: &Event) -> Result<usize, Unfit> {
    let count = frames.len();
    let plural = if count == 1 { "event" } else { "events" };
    let index = match event {
        Event::Number(number) => {
            usize::try_from(*number).ok().and_then(|number| number.checked_sub(1))
        }
        Event::FromEnd(number) => {
            usize::try_from(*number).ok().and_then(|number| count.checked_sub(number))
        }
        Event::Named(name) => {
            let found = frames.iter().position(|frame| is_named(frame, name));
            let missing = || Unfit(format!("the reply has no event `{name}`"));
            return found.ok_or_else(missing);
        }
    };
    index.filter(|index| *index < count).ok_or_else(|| match event {
        Event::FromEnd(number) => Unfit(format!(
            "there is no event {number} from the end: the reply has {count} {plural}"
        )),
        Event::Number(number) => {
            Unfit(format!("there is no event {number}: the reply has {count} {plural}"))
        }
        Event::Named(name) => Unfit(format!("the reply has no event `{name}`")),
    })
}

fn is_named(frame: &[u8], wanted: &str) -> bool {
    let Some(Parts { name, data }) = parts(frame) else { return false };
    name.unwrap_or(data) == wanted.as_bytes()
}

/// The frame with another sequence number; `None` when it has none.
pub(crate) fn renumbered(frame: &[u8], number: impl FnOnce(u64) -> u64) -> Option<Vec<u8>> {
    let key = frame.windows(NUMBER.len()).position(|window| window == NUMBER)?;
    let start = key + NUMBER.len();
    let digits = frame[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let old = std::str::from_utf8(&frame[start..start + digits]).ok()?.parse().ok()?;
    let mut renumbered = frame[..start].to_vec();
    renumbered.extend_from_slice(number(old).to_string().as_bytes());
    renumbered.extend_from_slice(&frame[start + digits..]);
    Some(renumbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_apart_and_together() {
        for frame in [&b"event: a\ndata: {\"x\":1}\n\n"[..], b"data: [DONE]\n\n"] {
            assert_eq!(join(parts(frame).unwrap()), frame);
        }
        assert_eq!(parts(b": comment\n\n"), None);
        assert_eq!(parts(b"{}"), None);
    }

    #[test]
    fn events_are_found_by_number_place_and_name() {
        let frames: Vec<Bytes> =
            ["event: a\ndata: 1\n\n", "event: b\ndata: 2\n\n", "data: [DONE]\n\n"]
                .map(Bytes::from)
                .to_vec();
        let find = |event| locate(&frames, &event).map_err(|unfit| unfit.to_string());
        assert_eq!(find(Event::Number(1)), Ok(0));
        assert_eq!(find(Event::FromEnd(1)), Ok(2));
        assert_eq!(find(Event::FromEnd(3)), Ok(0));
        assert_eq!(find(Event::Named("b".to_owned())), Ok(1));
        assert_eq!(find(Event::Named("[DONE]".to_owned())), Ok(2));
        let missing = "there is no event 4: the reply has 3 events".to_owned();
        assert_eq!(find(Event::Number(4)), Err(missing));
        for event in [Event::Number(0), Event::FromEnd(4), Event::Named("c".to_owned())] {
            assert!(find(event).is_err());
        }
    }

    #[test]
    fn a_number_is_replaced_and_nothing_else() {
        let frame = b"event: a\ndata: {\"type\":\"a\",\"sequence_number\":9,\"x\":\"\\\",\\\"sequence_number\\\":1\"}\n\n";
        let text = String::from_utf8(renumbered(frame, |old| old + 1).unwrap()).unwrap();
        assert_eq!(text, String::from_utf8_lossy(frame).replace(":9,", ":10,"));
        assert_eq!(renumbered(b"data: {}\n\n", |old| old), None);
    }
}
