use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::*;
use crate::record::{Finding, Severity, Tally};
use crate::sample;

fn xml_of(cases: &[CaseRecord], run: &RunFinished, gate: Gate) -> String {
    let header = Header { cases: run.tally.total(), ..sample::header() };
    let mut xml = Vec::new();
    write(cases, &header, run, gate, &mut xml).unwrap();
    String::from_utf8(xml).unwrap()
}

fn run(cases: &[CaseRecord]) -> RunFinished {
    RunFinished {
        interrupted: false,
        tally: Tally::of(cases),
        stale: Vec::new(),
        not_run: Vec::new(),
        duration_ms: 0,
    }
}

/// What a parser sees: the elements in order, the attributes and all character data.
#[derive(Debug, Default)]
struct Parsed {
    elements: Vec<String>,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Parsed {
    fn count(&self, element: &str) -> usize {
        self.elements.iter().filter(|name| *name == element).count()
    }
}

/// Parses a document to its end, and checks each character against XML 1.0, section 2.2.
fn parse(xml: &str) -> Parsed {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    let forbidden: Vec<_> = xml.chars().filter(|&c| !allowed(c)).collect();
    assert!(forbidden.is_empty(), "{forbidden:?} in {xml:?}");
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut parsed, mut depth) = (Parsed::default(), 0_usize);
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(element) | Event::Empty(element) => {
                depth += usize::from(matches!(event, Event::Start(_)));
                parsed.elements.push(element.name().as_ref().to_owned());
                for attribute in element.attributes() {
                    let attribute = attribute.unwrap();
                    let key = attribute.key.as_ref().to_owned();
                    let value = quick_xml::escape::unescape(&attribute.value).unwrap().into_owned();
                    parsed.attributes.push((key, value));
                }
            }
            Event::End(_) => depth -= 1,
            Event::CData(data) => parsed.text.push_str(data),
            Event::Decl(_) => {}
            Event::Eof => break,
            other => panic!("{other:?} has no business in {xml}"),
        }
    }
    assert_eq!(depth, 0, "{xml}");
    parsed
}

#[test]
fn every_verdict() {
    let xml = xml_of(&sample::cases(), &sample::finished(), Gate::default());
    parse(&xml);
    insta::assert_snapshot!(xml.replace("><", ">\n<"));
}

#[test]
fn the_report_is_green_exactly_where_the_gate_holds() {
    for case in sample::cases() {
        let cases = [case];
        for severity in [Severity::Must, Severity::Should] {
            let gate = Gate { severity };
            for run in [
                run(&cases),
                RunFinished { interrupted: true, ..run(&cases) },
                RunFinished { stale: vec!["a.b".to_owned()], ..run(&cases) },
            ] {
                let parsed = parse(&xml_of(&cases, &run, gate));
                let green = parsed.count("failure") + parsed.count("error") == 0;
                let holds = gate.decide(1, &run).exit_status() == 0;
                assert_eq!(green, holds, "{:?} {run:?}", cases[0].verdict);
            }
        }
    }
}

#[test]
fn an_empty_selection_is_not_green() {
    let parsed = parse(&xml_of(&[], &run(&[]), Gate::default()));
    assert_eq!(parsed.count("error"), 1, "{parsed:?}");
}

#[test]
fn cases_without_a_verdict_are_an_error() {
    let header = Header { cases: 5, ..sample::header() };
    let cases = [sample::passing("a.b")];
    let mut xml = Vec::new();
    write(&cases, &header, &run(&cases), Gate::default(), &mut xml).unwrap();
    let parsed = parse(&String::from_utf8(xml).unwrap());
    let message = ("message".to_owned(), "4 of 5 selected cases have no verdict".to_owned());
    assert!(parsed.attributes.contains(&message), "{parsed:?}");
}

#[test]
fn a_start_that_is_no_time_is_refused() {
    let header = Header { started: "yesterday".to_owned(), ..sample::header() };
    let error = write(&[], &header, &run(&[]), Gate::default(), Vec::new()).unwrap_err();
    assert!(error.to_string().contains("`yesterday`"), "{error}");
}

#[test]
fn a_duration_out_of_a_damaged_record_does_no_harm() {
    let mut cases = sample::cases();
    for timing in cases.iter_mut().filter_map(|case| case.timing.as_mut()) {
        timing.duration_ms = u64::MAX;
    }
    parse(&xml_of(&cases, &run(&cases), Gate::default()));
}

proptest! {
    #[test]
    fn any_text_gives_valid_xml_that_shows_it(
        text in prop_oneof![any::<String>(), "[\\]>&<\"'\u{0}\u{1b}\u{fffe}a\n]{0,20}"],
    ) {
        let finding = Finding {
            clause: text.clone(),
            expected: format!("{text}é"),
            seen: format!("1\n{text}\n2"),
            ..sample::finding()
        };
        let mut case = sample::passing(&text);
        case.title.clone_from(&text);
        case.location.file.clone_from(&text);
        case.agent.name.clone_from(&text);
        case.verdict = Verdict::Fail { findings: vec![finding] };
        let cases = [case];
        let run = RunFinished { stale: vec![text.clone()], ..run(&cases) };
        let parsed = parse(&xml_of(&cases, &run, Gate::default()));
        prop_assert_eq!(parsed.count("testcase"), 2);
        prop_assert_eq!(parsed.count("failure"), 2);
        let file = ("file".to_owned(), name(&text));
        prop_assert!(parsed.attributes.contains(&file), "{:?}", parsed);
        let block = case_block(&cases[0], &Styles::plain()).unwrap();
        prop_assert_eq!(parsed.text, block.replace("]]>", "]] >"));
    }
}
