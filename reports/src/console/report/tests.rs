use super::*;
use crate::console::StatusLevel;
use crate::gate::Gate;
use crate::record::{Note, Severity, Tally};
use crate::sample;

fn options(status: StatusLevel) -> ConsoleOptions {
    ConsoleOptions {
        colour: false,
        progress: Progress::Hidden,
        status,
        gate: Gate::default(),
        record: Some("runs/1/record.jsonl".into()),
    }
}

fn report(options: ConsoleOptions, cases: &[CaseRecord], run: &RunFinished) -> String {
    let header = Header { cases: cases.len(), ..sample::header() };
    let mut console = Console::new(options, Vec::new());
    console.started(&header).unwrap();
    for case in cases {
        console.case(case).unwrap();
    }
    console.finished(run).unwrap();
    String::from_utf8(console.into_inner()).unwrap()
}

fn run(cases: &[CaseRecord]) -> RunFinished {
    RunFinished {
        interrupted: false,
        tally: Tally::of(cases),
        stale: Vec::new(),
        not_run: Vec::new(),
        duration_ms: 1_234,
    }
}

#[test]
fn every_verdict() {
    let text = report(options(StatusLevel::All), &sample::cases(), &sample::finished());
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_that_passes_is_short() {
    let cases = ["role.pairing", "role.frame"].map(sample::passing);
    insta::assert_snapshot!(report(options(StatusLevel::Notable), &cases, &run(&cases)));
}

#[test]
fn a_running_count_stands_in_front_where_asked_for() {
    let cases: Vec<_> = (0..12).map(|number| sample::passing(&format!("a.{number}"))).collect();
    let options = ConsoleOptions { progress: Progress::Count, ..options(StatusLevel::All) };
    let text = report(options, &cases, &run(&cases));
    assert!(text.contains("\n[ 1/12] PASS"), "{text}");
    assert!(text.contains("\n[12/12] PASS"), "{text}");
}

#[test]
fn the_status_level_leaves_lines_out_and_counts_nothing_less() {
    let all = report(options(StatusLevel::All), &sample::cases(), &sample::finished());
    let none = report(options(StatusLevel::None), &sample::cases(), &sample::finished());
    let end = |text: &str| text[text.find("\nTo look at").unwrap()..].to_owned();
    assert_eq!(end(&none), end(&all));
    assert!(all.contains("\nPASS "), "{all}");
    assert!(!none.contains("\nPASS ") && !none.contains("\nFAIL "), "{none}");
}

#[test]
fn colours_are_written_only_where_wanted_and_change_no_text() {
    let options = options(StatusLevel::All);
    let plain = report(options.clone(), &sample::cases(), &sample::finished());
    let coloured = ConsoleOptions { colour: true, ..options };
    let coloured = report(coloured, &sample::cases(), &sample::finished());
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert!(coloured.contains('\u{1b}'), "{coloured}");
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn what_an_agent_wrote_never_reaches_the_terminal_as_a_command() {
    let mut case = sample::cases().into_iter().nth(8).unwrap();
    assert!(case.verdict.findings()[0].seen.contains('\u{1b}'));
    case.case = "a.\u{1b}[31m\u{202e}\n".to_owned();
    case.title = "\u{1b}]0;title\u{7}".to_owned();
    case.family = "\u{1b}c".to_owned();
    let options = ConsoleOptions { colour: true, ..options(StatusLevel::All) };
    let cases = [case, sample::passing("b.c")];
    let text = report(options, &cases, &run(&cases));
    // Nothing but colours: an escape is followed by `[`, figures and semicolons, and an `m`.
    for escape in text.split('\u{1b}').skip(1) {
        let body = escape.strip_prefix('[').unwrap();
        let end = body.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap();
        assert!(body[end..].starts_with('m'), "{escape:?}");
    }
    assert!(!text.contains(['\u{202e}', '\u{7}', '\r', '\u{0}']), "{text:?}");
}

#[test]
fn the_last_line_says_what_the_exit_status_means() {
    let warn = [sample::failing(&[Severity::Should]), sample::passing("a.b")];
    let skipped = &sample::cases()[9..11];
    let should = Gate { severity: Severity::Should };
    let cut = RunFinished { interrupted: true, ..run(&warn[1..]) };
    let last = |gate: Gate, selected: usize, run: &RunFinished| {
        let options = ConsoleOptions { gate, ..options(StatusLevel::None) };
        let mut console = Console::new(options, Vec::new());
        console.started(&Header { cases: selected, ..sample::header() }).unwrap();
        console.finished(run).unwrap();
        let text = String::from_utf8(console.into_inner()).unwrap();
        text.lines().last().unwrap().to_owned()
    };
    let lines = [
        last(Gate::default(), 2, &run(&warn)),
        last(should, 2, &run(&warn)),
        last(Gate::default(), 1, &run(&warn[1..])),
        last(Gate::default(), 2, &run(skipped)),
        last(Gate::default(), 2, &run(&warn[1..])),
        last(Gate::default(), 0, &run(&[])),
        last(Gate::default(), 2, &cut),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_note_about_the_run_stands_on_its_own_line() {
    let mut console = Console::new(options(StatusLevel::All), Vec::new());
    console.note(&Note::CutShort { finished: 1, selected: 2 }).unwrap();
    let text = String::from_utf8(console.into_inner()).unwrap();
    assert_eq!(text, "note: the record was cut short: it holds 1 of 2 selected cases\n");
}

#[test]
fn many_failures_are_named_up_to_a_limit_and_counted() {
    let cases: Vec<_> = (0..NAMED_AGAIN + 3).map(|_| sample::failing(&[Severity::Must])).collect();
    let text = report(options(StatusLevel::None), &cases, &run(&cases));
    assert_eq!(text.matches("FAIL ").count(), NAMED_AGAIN, "{text}");
    assert!(text.contains("and 3 more, in the record"), "{text}");
}

#[test]
fn durations_have_the_figures_that_count() {
    let shown = [0, 49, 840, 59_949, 59_950, 61_500, 3_600_000].map(duration);
    assert_eq!(shown, ["0.0s", "0.0s", "0.8s", "59.9s", "1m00s", "1m01s", "60m00s"]);
}

#[test]
fn output_that_is_gone_is_an_error_and_no_panic() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut console = Console::new(options(StatusLevel::All), Gone);
    let error = console.started(&sample::header()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}
