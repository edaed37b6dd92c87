//! Where a planted text stands in the requests of the conversation.

use conform_mock_server::capture::{Authority, Segment};
use conform_mock_server::document::Span;
use conform_reports::record::{ErrorKind, Placement};

use super::Answer;
use crate::check::ledger::Breach;
use crate::check::run::Run;
use crate::check::trouble::Trouble;
use crate::evidence::{ModelRequest, OriginFound, closing_tags};

/// What is asked of a planted text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) origin: &'a str,
    pub(super) authority: &'a [Authority],
    pub(super) frame: Option<&'a str>,
    pub(super) verbatim: bool,
    pub(super) count: Option<u64>,
}

/// A sighting with its request and segment.
#[derive(Debug, Clone, Copy)]
struct Seen<'a> {
    request: &'a ModelRequest,
    found: &'a OriginFound,
    segment: &'a Segment,
}

impl Seen<'_> {
    fn breach(&self, expected: String, seen: String) -> Breach {
        Breach::seen(expected, seen).at(self.request.number, self.segment.pointer.as_str())
    }
}

/// It stands at one of the authorities, nowhere else but in the model's own words, and as asked.
pub(super) fn check(run: &Run<'_>, wanted: &Wanted<'_>) -> Answer {
    let Wanted { origin, authority, frame, verbatim, count } = *wanted;
    let all: Vec<Seen<'_>> = run.main_requests().flat_map(|r| seen(r, origin)).collect();
    let (placed, elsewhere): (Vec<_>, Vec<_>) =
        all.iter().copied().partition(|seen| authority.contains(&seen.segment.authority));
    let mut breaches = Vec::new();

    for seen in &elsewhere {
        if seen.segment.authority != Authority::Assistant {
            let expected = format!("`{origin}` at {} authority only", names(authority));
            breaches
                .push(seen.breach(expected, format!("at {} authority", seen.segment.authority)));
        }
    }
    if placed.is_empty() {
        if breaches.is_empty()
            && let Some(trouble) = not_exposed(run, origin)
        {
            return Answer::unproved(trouble);
        }
        let expected = format!("`{origin}` at {} authority", names(authority));
        let lost = if all.is_empty() {
            "in no request of the conversation: it was lost on the way"
        } else {
            "not there in any request of the conversation"
        };
        breaches.push(Breach::missing(expected, lost));
    }
    for seen in &placed {
        breaches.extend(frame.and_then(|frame| out_of_frame(seen, frame)));
    }
    if let Some(first) = placed.first().filter(|_| verbatim)
        && first.found.placement != Placement::Verbatim
    {
        let how = match first.found.placement {
            Placement::Partial => "only a part of it",
            Placement::Changed | Placement::Verbatim => "all of it, but escaped or re-wrapped",
        };
        breaches.push(first.breach(format!("`{origin}` byte for byte"), how.to_owned()));
    }
    if let Some(wanted) = count
        && let Some(last) = run.main_requests().next_back()
    {
        let mut segments: Vec<usize> = seen(last, origin)
            .filter(|seen| authority.contains(&seen.segment.authority))
            .map(|seen| seen.found.segment)
            .collect();
        segments.dedup();
        let counted = segments.len() as u64;
        if counted != wanted {
            let expected =
                format!("`{origin}` in {wanted} segments of the conversation's last request");
            let seen = format!("in {counted}");
            let breach = if counted > wanted {
                Breach::seen(expected, seen)
            } else {
                Breach::missing(expected, seen)
            };
            breaches.push(breach.in_request(last.number));
        }
    }
    Answer::broken(breaches)
}

/// It stands in no request at all, whatever its purpose.
pub(super) fn absent(run: &Run<'_>, origin: &str) -> Answer {
    let breaches = run
        .evidence
        .requests
        .iter()
        .flat_map(|request| seen(request, origin))
        .map(|seen| {
            let expected = format!("`{origin}` in no request");
            seen.breach(expected, format!("at {} authority", seen.segment.authority))
        })
        .collect();
    Answer::broken(breaches)
}

/// What stands in the requests of sub-agents, and what does not.
pub(super) fn of_sub_agents(
    run: &Run<'_>,
    holds: &[(String, Span)],
    lacks: &[(String, Span)],
) -> Answer {
    let requests: Vec<&ModelRequest> = run
        .evidence
        .requests
        .iter()
        .filter(|request| request.purpose.as_str() == "sub-agent")
        .collect();
    if requests.is_empty() {
        return Answer::unproved(Trouble::new(
            ErrorKind::NotReached,
            "no sub-agent asked its model",
            "check in the record how the conversation went, and in the profile how a sub-agent's requests are recognised",
        ));
    }
    let all = |origin| requests.iter().flat_map(move |request| seen(request, origin));
    let mut answer = Answer::default();
    for (origin, _) in holds {
        // At any authority: some agents hand over a task as one agent's words to another.
        if all(origin).next().is_none() {
            let expected = format!("`{origin}` in a request of the sub-agent");
            answer.breaches.push(Breach::missing(expected, "not there"));
        }
    }
    for (origin, _) in lacks {
        for seen in all(origin) {
            let expected = format!("`{origin}` in no request of the sub-agent");
            let there = format!("at {} authority", seen.segment.authority);
            answer.breaches.push(seen.breach(expected, there));
        }
    }
    answer
}

/// What stands in the last request of the conversation, and what does not.
pub(super) fn last(
    run: &Run<'_>,
    holds: &[(String, Span)],
    lacks: &[(String, Span)],
    order: &[(String, Span)],
) -> Answer {
    let Some(request) = run.main_requests().next_back().filter(|_| run.heard_all()) else {
        return Answer::unproved(Trouble::new(
            ErrorKind::NotReached,
            "the conversation ended before its last request",
            "check in the record how the conversation went",
        ));
    };
    let said = |seen: &Seen<'_>| seen.segment.authority == Authority::Assistant;
    let mut answer = Answer::default();
    for (origin, _) in holds {
        if seen(request, origin).all(|seen| said(&seen)) {
            if let Some(trouble) = not_exposed(run, origin) {
                answer.trouble = answer.trouble.or(Some(trouble));
                continue;
            }
            let expected = format!("`{origin}` in the conversation's last request");
            let breach = Breach::missing(expected, "not there").in_request(request.number);
            answer.breaches.push(breach);
        }
    }
    for (origin, _) in lacks {
        for seen in seen(request, origin) {
            let expected = format!("`{origin}` not in the conversation's last request");
            let there = format!("at {} authority", seen.segment.authority);
            answer.breaches.push(seen.breach(expected, there));
        }
    }
    let lies = |seen: &Seen<'_>| (seen.found.segment, seen.found.extent.start);
    let mut furthest: Option<(Seen<'_>, &str)> = None;
    for (origin, _) in order {
        let there = seen(request, origin).filter(|seen| !said(seen)).max_by_key(lies);
        let Some(there) = there else { continue };
        if let Some((before, earlier)) = furthest.filter(|(before, _)| lies(before) > lies(&there))
        {
            let expected = format!("`{origin}` behind `{earlier}`");
            answer.breaches.push(before.breach(expected, "it stands before it".to_owned()));
        } else {
            furthest = Some((there, origin));
        }
    }
    answer
}

/// The authorities in words.
pub(super) fn names(authorities: &[Authority]) -> String {
    authorities.iter().map(|authority| authority.name()).collect::<Vec<_>>().join(" or ")
}

fn seen<'a>(request: &'a ModelRequest, origin: &str) -> impl Iterator<Item = Seen<'a>> {
    request.origins.iter().filter(move |found| found.origin == origin).filter_map(|found| {
        let segment = request.capture.segments.get(found.segment)?;
        Some(Seen { request, found, segment })
    })
}

/// A text that is not in the frame, or that ends the frame with a tag of its own.
fn out_of_frame(seen: &Seen<'_>, frame: &str) -> Option<Breach> {
    let expected = format!("`{}` in the frame `{frame}`", seen.found.origin);
    if !seen.found.frame.iter().any(|name| name == frame) {
        let stack = seen.found.frame.join(" > ");
        let seen_frame =
            if stack.is_empty() { "no frame".to_owned() } else { format!("`{stack}`") };
        return Some(seen.breach(expected, seen_frame));
    }
    let planted = seen.segment.text.get(seen.found.extent.clone()).unwrap_or_default();
    (closing_tags(planted, frame) > 0)
        .then(|| seen.breach(expected, "its own closing tag ends the frame early".to_owned()))
}

/// A text that was not found since not every call that may expose it reached the agent.
fn not_exposed(run: &Run<'_>, origin: &str) -> Option<Trouble> {
    let unserved = run.evidence.calls.iter().find(|state| !state.delivered)?;
    Some(Trouble::new(
        ErrorKind::NotReached,
        format!("`{origin}` was not seen, and {} never reached the agent", unserved.turn),
        "check in the record how the conversation went before that turn",
    ))
}
