//! The answer as steps: writes, waits, and the end.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::edit::Pieces;
use super::framing::reframed;
use crate::journal::Delivery;
use crate::script::{
    CutHow, Edit, EventLine, Fault, Framing, LineEnding, Pace, Pause, Point, Split,
};
use crate::wire::{Unfit, Written, frame};

/// One thing to do with the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// One write.
    Send(Bytes),
    /// A wait.
    Wait(Pause),
    /// The end of the connection.
    HangUp(CutHow),
}

/// How an answer is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Waits before the first byte of the head.
    pub(crate) before_head: Vec<Pause>,
    /// Whether the connection ends before that byte.
    pub(crate) no_head: Option<CutHow>,
    /// How long the head says the body is; `None` is chunked.
    pub(crate) length: Option<u64>,
    /// The body.
    pub(crate) steps: Vec<Step>,
    /// How far the answer gets when all steps are done.
    pub(crate) end: Delivery,
}

/// Plans an answer.
///
/// # Errors
/// When the fault cannot happen to it.
pub(crate) fn plan(fault: &Fault, written: Written) -> Result<Plan, Unfit> {
    let (frames, is_stream) = match written {
        Written::Stream(frames) => (frames, true),
        Written::Whole(body) => (vec![body], false),
    };
    check_form(fault, &frames, is_stream)?;
    let mut pieces = Pieces::new(frames);
    for edit in &fault.edits {
        pieces.edit(edit)?;
    }
    if is_stream {
        for piece in &mut pieces.pieces {
            piece.bytes = Bytes::from(reframed(&piece.bytes, &fault.framing));
        }
    }
    let row = Row::of(&pieces);
    row.check_splits(&fault.framing.split)?;
    let no_head = match &fault.cut {
        Some(cut) if cut.at == Point::Start => Some(cut.how),
        _ => None,
    };
    let before_head = fault
        .pauses
        .iter()
        .filter(|(point, _)| *point == Point::Start)
        .map(|(_, pause)| pause.clone())
        .collect();
    let cut = match &fault.cut {
        Some(cut) if cut.at != Point::Start => {
            let at = row.offset(&pieces, &cut.at)?;
            if cut.how == CutHow::End && at == row.bytes.len() {
                return Err(Unfit::because("nothing of the reply is left to cut off"));
            }
            Some((at, cut.how))
        }
        _ => None,
    };
    let is_ended = matches!(cut, Some((_, CutHow::End)));
    Ok(Plan {
        before_head,
        no_head,
        length: (!is_stream && !is_ended).then_some(row.bytes.len() as u64),
        steps: row.steps(&row.waits(fault, &pieces)?, &row.splits(fault), cut),
        end: if cut.is_some() { Delivery::Cut } else { Delivery::Complete },
    })
}

/// Refuses what has a meaning for a stream alone, or for event lines alone.
fn check_form(fault: &Fault, frames: &[Bytes], is_stream: bool) -> Result<(), Unfit> {
    let Framing { line_ending, event_line, two_data_lines, split } = &fault.framing;
    if !is_stream {
        let edits_events = fault.edits.iter().any(|edit| !matches!(edit, Edit::Malformed { .. }));
        let frames_lines = *line_ending != LineEnding::Lf
            || *event_line != EventLine::First
            || *two_data_lines
            || matches!(split, Split::Lines | Split::CrLf);
        if edits_events || frames_lines {
            return Err(Unfit::because("the fault is about events, but the reply is one object"));
        }
    }
    let has_names =
        frames.iter().any(|bytes| frame::parts(bytes).is_some_and(|parts| parts.name.is_some()));
    if is_stream && *event_line != EventLine::First && !has_names {
        return Err(Unfit::because("the events of this wire have no event lines"));
    }
    Ok(())
}

/// The body as one row of bytes.
struct Row {
    bytes: Bytes,
    /// Where each piece begins, and where the last ends.
    bounds: Vec<usize>,
}

impl Row {
    fn of(pieces: &Pieces) -> Self {
        let mut bytes = Vec::new();
        let mut bounds = vec![0];
        for piece in &pieces.pieces {
            bytes.extend_from_slice(&piece.bytes);
            bounds.push(bytes.len());
        }
        Self { bytes: Bytes::from(bytes), bounds }
    }

    fn offset(&self, pieces: &Pieces, point: &Point) -> Result<usize, Unfit> {
        match point {
            Point::Start | Point::AfterHead => Ok(0),
            Point::Before(event) => Ok(self.bounds[pieces.first(event)?]),
            Point::After(event) => Ok(self.bounds[pieces.last(event)? + 1]),
            Point::AfterByte(byte) => {
                let total = self.bytes.len();
                let offset = usize::try_from(*byte).ok().filter(|offset| *offset <= total);
                offset
                    .ok_or_else(|| Unfit(format!("there is no byte {byte}: the body has {total}")))
            }
        }
    }

    /// Where the server waits, and for what.
    fn waits(&self, fault: &Fault, pieces: &Pieces) -> Result<BTreeMap<usize, Vec<Pause>>, Unfit> {
        let mut waits: BTreeMap<usize, Vec<Pause>> = BTreeMap::new();
        let mut add = |offset, pause| waits.entry(offset).or_default().push(pause);
        for (bound, piece) in self.bounds.iter().zip(&pieces.pieces) {
            if let Some(wait) = piece.wait {
                add(*bound, Pause::For(wait));
            }
        }
        let total = self.bytes.len();
        match fault.pace {
            None => {}
            Some(Pace::Event(pause)) => {
                let inner = self.bounds.iter().filter(|bound| **bound > 0 && **bound < total);
                inner.for_each(|bound| add(*bound, Pause::For(pause)));
            }
            Some(Pace::Byte(pause)) => (1..total).for_each(|byte| add(byte, Pause::For(pause))),
        }
        for (point, pause) in fault.pauses.iter().filter(|(point, _)| *point != Point::Start) {
            add(self.offset(pieces, point)?, pause.clone());
        }
        Ok(waits)
    }

    fn check_splits(&self, split: &Split) -> Result<(), Unfit> {
        let Split::At(offsets) = split else { return Ok(()) };
        let total = self.bytes.len();
        let outside = |offset: &&u64| usize::try_from(**offset).map_or(true, |at| at >= total);
        match offsets.iter().find(outside) {
            Some(offset) => {
                Err(Unfit(format!("there is no byte after byte {offset}: the body has {total}")))
            }
            None => Ok(()),
        }
    }

    /// Where a write ends and another begins.
    fn splits(&self, fault: &Fault) -> BTreeSet<usize> {
        let bytes = &self.bytes;
        let between = |is_split: &dyn Fn(u8, u8) -> bool| -> Vec<usize> {
            let pairs = bytes.windows(2).enumerate();
            pairs.filter(|(_, pair)| is_split(pair[0], pair[1])).map(|(at, _)| at + 1).collect()
        };
        let inner: Vec<usize> = match &fault.framing.split {
            Split::Nowhere => return BTreeSet::new(),
            Split::Events => Vec::new(),
            Split::Every(size) => {
                let pieces = self.bounds.windows(2);
                pieces.flat_map(|bounds| (bounds[0]..bounds[1]).step_by((*size).max(1))).collect()
            }
            Split::At(offsets) => {
                offsets.iter().filter_map(|offset| usize::try_from(*offset).ok()).collect()
            }
            // The second and later bytes of a character begin with the bits 10.
            Split::Characters => between(&|_, next| next & 0b1100_0000 == 0b1000_0000),
            Split::CrLf => between(&|byte, next| byte == b'\r' && next == b'\n'),
            Split::Lines => {
                between(&|byte, next| byte == b'\n' || (byte == b'\r' && next != b'\n'))
            }
        };
        self.bounds.iter().copied().chain(inner).collect()
    }

    fn steps(
        &self,
        waits: &BTreeMap<usize, Vec<Pause>>,
        splits: &BTreeSet<usize>,
        cut: Option<(usize, CutHow)>,
    ) -> Vec<Step> {
        let total = self.bytes.len();
        let end = cut.map_or(total, |(at, _)| at);
        let offsets: BTreeSet<usize> = waits
            .keys()
            .chain(splits)
            .copied()
            .chain([0, end])
            .filter(|offset| *offset <= end)
            .collect();
        let mut steps = Vec::new();
        let mut offsets = offsets.into_iter().peekable();
        while let Some(offset) = offsets.next() {
            steps.extend(waits.get(&offset).into_iter().flatten().cloned().map(Step::Wait));
            match offsets.peek() {
                Some(next) => steps.push(Step::Send(self.bytes.slice(offset..*next))),
                None => steps.extend(hang_up(cut)),
            }
        }
        steps
    }
}

fn hang_up(cut: Option<(usize, CutHow)>) -> Option<Step> {
    match cut {
        None | Some((_, CutHow::End)) => None,
        Some((_, how)) => Some(Step::HangUp(how)),
    }
}
