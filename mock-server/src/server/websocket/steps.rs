//! A response as steps: its frames, and between them what goes wrong.

#[cfg(test)]
mod tests;

use bytes::Bytes;

use crate::script::{FaultTarget, SocketFault, SocketFaultKind};
use crate::wire::SocketFrames;

/// One step of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step<'f> {
    pub(super) action: Action<'f>,
    /// The fault that it comes from, as an index into the connection's faults.
    pub(super) fault: Option<usize>,
    /// Whether the response ends here, before its last event.
    pub(super) is_cut: bool,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action<'f> {
    Text(Bytes),
    Binary(Bytes),
    Ping,
    Hold { gate: &'f str },
    Close { code: u16, reason: &'f str },
    Drop,
}

impl Action<'_> {
    /// Whether nothing can follow on the connection.
    pub(super) fn ends_connection(&self) -> bool {
        matches!(self, Self::Close { .. } | Self::Drop)
    }
}

/// The steps of a response with these frames on a connection with these faults.
pub(super) fn steps<'f>(
    events: Vec<Bytes>,
    response: FaultTarget,
    faults: &'f [SocketFault],
    frames: SocketFrames<'_>,
) -> Vec<Step<'f>> {
    let faults: Vec<_> =
        faults.iter().enumerate().filter(|(_, fault)| fault.response == response).collect();
    let mut steps = Vec::with_capacity(events.len() + faults.len());
    let whole = events.len();
    let mut events = events.into_iter();
    for place in 0.. {
        let mut binary = None;
        for (index, fault) in faults.iter().filter(|(_, fault)| fault.after_event == place) {
            let (action, is_last) = match &fault.kind {
                SocketFaultKind::Binary { stop } => {
                    binary = Some((*index, *stop));
                    continue;
                }
                SocketFaultKind::Close { code, reason } => {
                    (Action::Close { code: *code, reason }, true)
                }
                SocketFaultKind::Drop => (Action::Drop, true),
                SocketFaultKind::Error(error) => (Action::Text(frames.error(error)), true),
                SocketFaultKind::Send { text, stop } => {
                    (Action::Text(Bytes::copy_from_slice(text.as_bytes())), *stop)
                }
                SocketFaultKind::Ping => (Action::Ping, false),
                SocketFaultKind::Hold { gate } => (Action::Hold { gate }, false),
            };
            let is_cut = is_last && place < whole;
            steps.push(Step { action, fault: Some(*index), is_cut });
            if is_last {
                return steps;
            }
        }
        let Some(event) = events.next() else { break };
        match binary {
            None => {
                steps.push(Step { action: Action::Text(event), fault: None, is_cut: false });
            }
            Some((fault, is_cut)) => {
                steps.push(Step { action: Action::Binary(event), fault: Some(fault), is_cut });
                if is_cut {
                    return steps;
                }
            }
        }
    }
    steps
}
