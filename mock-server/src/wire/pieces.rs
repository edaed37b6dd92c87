//! How text is cut for a stream: always the same way, so that the bytes are the same too.

/// Text is sent in pieces of at most so many characters.
const PIECE: usize = 24;

/// Cuts text into pieces of [`PIECE`] characters; the last may be shorter, none is empty.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(end, _)| end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
