//! Where faults fall among the events.

use proptest::prelude::*;

use super::*;
use crate::script::ErrorFrame;

fn fault(after_event: usize, kind: SocketFaultKind) -> SocketFault {
    SocketFault { response: FaultTarget::Reply(1), after_event, kind }
}

fn planned(events: usize, faults: &[SocketFault]) -> Vec<Step<'_>> {
    let events = (0..events).map(|event| Bytes::from(format!("{{\"event\":{event}}}"))).collect();
    steps(events, FaultTarget::Reply(1), faults, SocketFrames::new(None))
}

fn kind() -> impl Strategy<Value = SocketFaultKind> {
    prop_oneof![
        Just(SocketFaultKind::Close { code: 1000, reason: String::new() }),
        Just(SocketFaultKind::Drop),
        Just(SocketFaultKind::Error(ErrorFrame::default())),
        Just(SocketFaultKind::Ping),
        any::<bool>().prop_map(|stop| SocketFaultKind::Binary { stop }),
        any::<bool>().prop_map(|stop| SocketFaultKind::Send { text: "?".to_owned(), stop }),
        Just(SocketFaultKind::Hold { gate: "g".to_owned() }),
    ]
}

#[test]
fn a_binary_frame_holds_the_next_event_and_there_is_none_after_the_last() {
    let faults = [fault(1, SocketFaultKind::Binary { stop: false })];
    let actions: Vec<_> = planned(2, &faults).into_iter().map(|step| step.action).collect();
    let event = |number| Bytes::from(format!("{{\"event\":{number}}}"));
    assert_eq!(actions, [Action::Text(event(0)), Action::Binary(event(1))]);
    assert!(planned(1, &faults).iter().all(|step| step.fault.is_none()));
}

#[test]
fn faults_of_other_responses_are_left_alone() {
    let faults = [SocketFault { response: FaultTarget::WarmUp, ..fault(0, SocketFaultKind::Drop) }];
    assert_eq!(planned(3, &faults).len(), 3);
}

proptest! {
    /// Events keep their order, none is lost before the end, and nothing follows an end.
    #[test]
    fn events_stay_in_order_up_to_the_first_end(
        events in 0..6_usize,
        faults in proptest::collection::vec((0..8_usize, kind()), 0..5),
    ) {
        let faults: Vec<_> = faults.into_iter().map(|(place, kind)| fault(place, kind)).collect();
        let steps = planned(events, &faults);
        let sent: Vec<_> = steps
            .iter()
            .filter_map(|step| match &step.action {
                Action::Text(frame) | Action::Binary(frame) if frame.starts_with(b"{\"event") => {
                    Some(frame.clone())
                }
                _ => None,
            })
            .collect();
        for (number, frame) in sent.iter().enumerate() {
            prop_assert_eq!(frame, &format!("{{\"event\":{number}}}"));
        }
        let ends = |step: &Step<'_>| step.is_cut || step.action.ends_connection();
        prop_assert!(steps.iter().rev().skip(1).all(|step| !ends(step)));
        if !steps.last().is_some_and(|step| step.is_cut) {
            prop_assert_eq!(sent.len(), events);
        }
    }
}
