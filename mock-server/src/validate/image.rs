//! Images inside a request.

/// How the bytes of an image of a known kind begin.
const BEGINNINGS: [&[u8]; 4] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF"];

/// Why the data of a `data:` URL is no image, if it is none. Other URLs are not looked at.
pub(super) fn problem(url: &str) -> Option<&'static str> {
    let data = url.strip_prefix("data:")?;
    let Some((kind, data)) = data.split_once(";base64,") else {
        return Some("a data URL of an image must be base64");
    };
    if !kind.starts_with("image/") {
        return Some("the media type is not that of an image");
    }
    match decode(data) {
        None => Some("the data is not base64"),
        Some(bytes) if BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning)) => None,
        Some(_) => Some("the data is no PNG, JPEG, GIF or WebP"),
    }
}

/// How many bytes a base64 text stands for.
pub(super) fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// The bytes of a base64 text with the standard alphabet, padded or not.
fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    if text.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for byte in group {
            bits = bits << 6 | u32::from(sextet(*byte)?);
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        assert_eq!(decode("").unwrap(), b"");
        assert_eq!(decode("TWE=").unwrap(), b"Ma");
        assert_eq!(decode("TWFu").unwrap(), b"Man");
        assert_eq!(decode("TWFuTQ").unwrap(), b"ManM");
        assert_eq!((decode("T"), decode("T-W=")), (None, None));
        assert_eq!(decoded_len("TWE="), 2);
    }

    #[test]
    fn an_image_begins_as_its_kind_does() {
        assert_eq!(problem("data:image/png;base64,iVBORw0KGgo="), None);
        assert_eq!(problem("https://example.com/a.png"), None);
        for wrong in
            ["data:image/png;base64,TWFu", "data:image/png,x", "data:text/plain;base64,TWFu"]
        {
            assert!(problem(wrong).is_some(), "{wrong}");
        }
    }
}
