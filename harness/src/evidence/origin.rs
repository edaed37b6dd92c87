//! Finding planted texts in the segments of a request, by their tokens.

use std::cell::OnceCell;
use std::ops::Range;

use conform_mock_server::capture::{Capture, Segment};
use conform_reports::record::Placement;

use super::frame::{frames_around, opening_tags};
use super::model::OriginFound;
use super::reading::{Placed, readings};
use crate::case::{Origin, Places};

/// An origin with its planted texts as they are in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planted {
    name: String,
    token: String,
    texts: Vec<String>,
}

impl Planted {
    /// The origin in the run with these places.
    pub(super) fn resolve(origin: &Origin, places: &Places) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for (_, text) in &origin.planted {
            // Runtimes trim the end of what they read.
            let text = text.resolve(places).trim_end().to_owned();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        Self { name: origin.name.clone(), token: origin.token.clone(), texts }
    }
}

/// Every sighting of every origin: one for each time that a planted text stands in a segment.
pub(super) fn find_origins(capture: &Capture, planted: &[Planted]) -> Vec<OriginFound> {
    let mut found = Vec::new();
    for (index, segment) in capture.segments.iter().enumerate() {
        for origin in planted {
            found.extend(sightings(segment, index, origin));
        }
    }
    found
}

fn sightings(segment: &Segment, index: usize, origin: &Planted) -> Vec<OriginFound> {
    let text = &segment.text;
    let read: OnceCell<Vec<Vec<Placed>>> = OnceCell::new();
    let mut found: Vec<OriginFound> = Vec::new();
    for (start, token) in text.match_indices(&origin.token) {
        let token = start..start + token.len();
        // A text that was planted with its token in it twice is still one sighting.
        if found.iter().any(|earlier| earlier.extent.contains(&start)) {
            continue;
        }
        let place = Place::verbatim(text, &token, origin).unwrap_or_else(|| {
            Place::changed(read.get_or_init(|| readings(text).collect()), &token, origin)
        });
        let mut frame = frames_around(text, &place.extent);
        for name in opening_tags(&place.missed_head) {
            if let Some(at) = frame.iter().rposition(|frame| frame == name) {
                frame.remove(at);
            }
        }
        found.push(OriginFound {
            origin: origin.name.clone(),
            segment: index,
            extent: place.extent,
            frame,
            placement: place.placement,
        });
    }
    found
}

/// Where a planted text lies around one token.
#[derive(Debug)]
struct Place {
    extent: Range<usize>,
    placement: Placement,
    /// The part of the planted text before the extent that was not recognised: markup in it may
    /// still stand in the segment, and is no frame.
    missed_head: String,
}

impl Place {
    /// The planted text byte for byte.
    fn verbatim(text: &str, token: &Range<usize>, origin: &Planted) -> Option<Self> {
        for planted in origin.texts.iter().filter(|planted| planted.contains(&origin.token)) {
            for (inner, _) in planted.match_indices(&origin.token) {
                let whole = token
                    .start
                    .checked_sub(inner)
                    .map(|start| start..start + planted.len())
                    .filter(|extent| text.get(extent.clone()) == Some(planted));
                if let Some(extent) = whole {
                    let missed_head = String::new();
                    return Some(Self { extent, placement: Placement::Verbatim, missed_head });
                }
            }
        }
        None
    }

    /// The planted text after escaping, numbering, quoting or re-wrapping; else as much of it as
    /// can be recognised around the token.
    fn changed(readings: &[Vec<Placed>], token: &Range<usize>, origin: &Planted) -> Self {
        let mut best: Option<(usize, Self)> = None;
        for reading in readings {
            let at = reading.partition_point(|(_, range)| range.start < token.start);
            if reading.get(at).is_none_or(|(_, range)| range.start != token.start) {
                continue;
            }
            for planted in &origin.texts {
                for (inner, _) in planted.match_indices(&origin.token) {
                    let aligned = Aligned::around(reading, at, planted, inner);
                    let place = aligned.place(planted);
                    if place.placement == Placement::Changed {
                        return place;
                    }
                    if best.as_ref().is_none_or(|(length, _)| aligned.length > *length) {
                        best = Some((aligned.length, place));
                    }
                }
            }
        }
        best.map_or_else(
            || Self {
                extent: token.clone(),
                placement: Placement::Partial,
                missed_head: String::new(),
            },
            |(_, place)| place,
        )
    }
}

/// A reading and a planted text laid over each other at their tokens, white space aside.
#[derive(Debug)]
struct Aligned {
    extent: Range<usize>,
    /// Characters of the planted text that match.
    length: usize,
    /// Bytes at the start of the planted text that do not.
    missed_head: usize,
    whole: bool,
}

impl Aligned {
    /// `at` is the token's place in the reading, `inner` its place in the planted text.
    fn around(reading: &[Placed], at: usize, planted: &str, inner: usize) -> Self {
        let solid = |(c, _): &&Placed| !c.is_whitespace();
        let mut length = 0;
        let mut whole = true;

        let mut start = reading.get(at).map_or(0, |(_, range)| range.start);
        let mut missed_head = 0;
        let mut behind = reading[..at].iter().rev().filter(solid);
        for (place, c) in planted[..inner].char_indices().rev().filter(|(_, c)| !c.is_whitespace())
        {
            match behind.next() {
                Some((found, range)) if *found == c => {
                    start = range.start;
                    length += 1;
                }
                _ => {
                    missed_head = place + c.len_utf8();
                    whole = false;
                    break;
                }
            }
        }

        let mut end = start;
        let mut ahead = reading[at..].iter().filter(solid);
        for c in planted[inner..].chars().filter(|c| !c.is_whitespace()) {
            match ahead.next() {
                Some((found, range)) if *found == c => {
                    end = range.end;
                    length += 1;
                }
                _ => {
                    whole = false;
                    break;
                }
            }
        }
        Self { extent: start..end, length, missed_head, whole }
    }

    fn place(&self, planted: &str) -> Place {
        Place {
            extent: self.extent.clone(),
            placement: if self.whole { Placement::Changed } else { Placement::Partial },
            missed_head: planted[..self.missed_head].to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
