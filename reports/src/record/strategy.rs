//! Arbitrary records for property tests.

use indexmap::IndexMap;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z\"\\\\\n\r\u{0}\u{2028}é]{0,12}"]
}

fn count() -> impl Strategy<Value = usize> {
    prop_oneof![0_usize..4, Just(usize::MAX)]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..4, Just(u64::MAX)]
}

fn location() -> impl Strategy<Value = Location> {
    (text(), count()).prop_map(|(file, line)| Location { file, line })
}

fn variant() -> impl Strategy<Value = VariantName> {
    select(vec![VariantName::Main, VariantName::Control])
}

fn agent() -> impl Strategy<Value = AgentRef> {
    (text(), text(), text(), text(), vec(text(), 0..2)).prop_map(
        |(name, version, driver, wire, defects)| AgentRef { name, version, driver, wire, defects },
    )
}

fn finding() -> impl Strategy<Value = Finding> {
    let severity = select(vec![Severity::Info, Severity::Should, Severity::Must]);
    let layer = select(vec![Layer::Discovery, Layer::ToolValidation, Layer::Recovery]);
    (
        (text(), severity, layer, text(), variant()),
        (text(), text(), location(), option::of(number()), option::of(text())),
    )
        .prop_map(
            |(
                (clause, severity, layer, check, variant),
                (expected, seen, location, request, pointer),
            )| Finding {
                clause,
                severity,
                layer,
                check,
                variant,
                expected,
                seen,
                location,
                request,
                pointer,
            },
        )
}

fn verdict() -> impl Strategy<Value = Verdict> {
    let kind = select(vec![ErrorKind::Start, ErrorKind::NotReached, ErrorKind::Prerequisite]);
    prop_oneof![
        Just(Verdict::Pass),
        vec(finding(), 1..3).prop_map(|findings| Verdict::Fail { findings }),
        (vec(finding(), 1..2), text())
            .prop_map(|(findings, reason)| Verdict::Known { findings, reason }),
        (kind, text(), text()).prop_map(|(kind, message, help)| Verdict::Error {
            kind,
            message,
            help
        }),
        text().prop_map(|reason| Verdict::Skip { reason }),
        vec(text(), 2..4).prop_map(|verdicts| Verdict::Flaky { verdicts }),
    ]
}

fn segment() -> impl Strategy<Value = SegmentRecord> {
    let placement = select(vec![Placement::Verbatim, Placement::Changed, Placement::Partial]);
    let sighting = (text(), vec(text(), 0..2), placement)
        .prop_map(|(origin, frame, placement)| OriginSighting { origin, frame, placement });
    (text(), text(), option::of(text()), vec(sighting, 0..2), count()).prop_map(
        |(pointer, role, call_id, origins, characters)| SegmentRecord {
            pointer,
            native_type: role.clone(),
            authority: role.clone(),
            hash: role.clone(),
            role,
            call_id,
            origins,
            characters,
        },
    )
}

fn request() -> impl Strategy<Value = RequestRecord> {
    let tokens = (number(), number(), number()).prop_map(|(input, cached, output)| Tokens {
        input,
        cached,
        output,
    });
    (number(), text(), vec(segment(), 0..2), option::of(text()), option::of(tokens)).prop_map(
        |(number, purpose, segments, body, tokens)| RequestRecord {
            number,
            wire: purpose.clone(),
            path: purpose.clone(),
            answer: purpose.clone(),
            tools: vec![purpose.clone()],
            hash: purpose.clone(),
            purpose,
            segments,
            body,
            tokens,
        },
    )
}

fn evidence() -> impl Strategy<Value = RunEvidence> {
    let exit = prop_oneof![
        Just(Exit::Unknown),
        any::<i32>().prop_map(|status| Exit::Status { status }),
        any::<i32>().prop_map(|signal| Exit::Signal { signal }),
        Just(Exit::Killed),
    ];
    let kind = select(vec![FileChangeKind::Created, FileChangeKind::Deleted]);
    let change = (text(), kind).prop_map(|(path, change)| FileChange { path, change });
    let sink = (text(), count()).prop_map(|(sink, bytes)| SinkRecord {
        method: sink.clone(),
        secrets: vec![sink.clone()],
        sink,
        bytes,
    });
    let approval = (option::of(text()), text()).prop_map(|(call_id, action)| ApprovalRecord {
        call_id,
        decision: action.clone(),
        action,
    });
    (
        vec(request(), 0..2),
        vec(approval, 0..2),
        vec(change, 0..2),
        vec(sink, 0..2),
        (vec(text(), 0..2), vec(text(), 0..2), option::of(text())),
        exit,
    )
        .prop_map(|(requests, approvals, files, sinks, (pages, strays, final_text), exit)| {
            RunEvidence {
                requests,
                approvals,
                files,
                sinks,
                leftovers: strays.clone(),
                policy: String::new(),
                pages,
                strays,
                exit,
                final_text,
            }
        })
}

pub(super) fn case() -> impl Strategy<Value = CaseRecord> {
    let check = (text(), variant()).prop_map(|(check, variant)| CheckRecord {
        clause: check.clone(),
        check,
        variant,
        result: CheckResult::Broken,
    });
    let metrics = (count(), count(), count())
        .prop_map(|(attempted, executed, approvals)| Metrics { attempted, executed, approvals });
    let timing = (number(), number())
        .prop_map(|(started_ms, duration_ms)| Timing { started_ms, duration_ms });
    let maps = (vec((text(), text()), 0..3), vec((variant(), evidence()), 0..2));
    (
        (text(), text(), location(), text(), agent(), vec(text(), 0..2)),
        (maps, option::of(text()), verdict(), vec(check, 0..2), metrics, option::of(timing)),
    )
        .prop_map(
            |(
                (case, family, location, clause, agent, reports),
                ((axes, evidence), disposition, verdict, checks, metrics, timing),
            )| CaseRecord {
                title: clause.clone(),
                axes: IndexMap::from_iter(axes),
                evidence: IndexMap::from_iter(evidence),
                case,
                family,
                location,
                clause,
                reports,
                agent,
                disposition,
                verdict,
                checks,
                metrics,
                timing,
            },
        )
}

pub(super) fn header() -> impl Strategy<Value = Header> {
    (text(), vec(agent(), 0..3), vec(text(), 0..2), count(), count()).prop_map(
        |(started, agents, selection, cases, jobs)| Header {
            schema: SCHEMA,
            conform: started.clone(),
            isolation: started.clone(),
            started,
            agents,
            selection,
            cases,
            jobs,
        },
    )
}

pub(super) fn finished() -> impl Strategy<Value = RunFinished> {
    let not_run = (text(), text(), any::<bool>()).prop_map(|(agent, why, required)| NotRun {
        agent,
        why,
        required,
    });
    (any::<bool>(), count(), vec(text(), 0..3), vec(not_run, 0..2), number()).prop_map(
        |(interrupted, pass, stale, not_run, duration_ms)| RunFinished {
            interrupted,
            tally: Tally { pass, ..Tally::default() },
            stale,
            not_run,
            duration_ms,
        },
    )
}
