use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tempfile::tempdir;

use super::*;
use crate::record::{Writer, strategy};
use crate::sample;

/// Reads a record of this text.
fn read_text(text: impl AsRef<[u8]>) -> Result<Record, RecordError> {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join(FILE), text).unwrap();
    read(folder.path())
}

fn sample_record() -> Record {
    Record {
        header: sample::header(),
        cases: sample::cases(),
        finished: Some(sample::finished()),
        notes: Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_written_is_read(
        header in strategy::header(),
        cases in vec(strategy::case(), 0..4),
        finished in strategy::finished(),
    ) {
        let folder = tempdir().unwrap();
        let mut writer = Writer::create(folder.path(), &header).unwrap();
        for case in &cases {
            writer.case(case).unwrap();
        }
        writer.finish(&finished).unwrap();
        let record = read(folder.path()).unwrap();
        // Maps compare without order; the text has it.
        prop_assert_eq!(
            record.to_jsonl().unwrap(),
            fs::read_to_string(folder.path().join(FILE)).unwrap()
        );
        prop_assert_eq!(record, Record { header, cases, finished: Some(finished), notes: vec![] });
    }

    #[test]
    fn a_file_cut_anywhere_holds_the_first_cases(
        cases in vec(strategy::case(), 0..4),
        cut in any::<Index>(),
    ) {
        let header = Header { cases: cases.len(), ..sample::header() };
        let whole = Record {
            header,
            cases,
            finished: Some(sample::finished()),
            notes: Vec::new(),
        };
        let text = whole.to_jsonl().unwrap().into_bytes();
        let cut = cut.index(text.len());
        let first_line = text.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        match read_text(&text[..cut]) {
            Ok(record) => {
                // A line that lacks only its newline is whole.
                let lines = text[..=cut].split(|&byte| byte == b'\n').count() - 2;
                prop_assert!(cut >= first_line);
                prop_assert_eq!(&record.header, &whole.header);
                prop_assert_eq!(&record.cases, &whole.cases[..lines.min(whole.cases.len())]);
                prop_assert_eq!(record.finished.is_some(), lines > whole.cases.len());
                let torn = record.notes.iter().any(|note| matches!(note, Note::TornLine { .. }));
                prop_assert_eq!(torn, text[cut - 1] != b'\n' && text[cut] != b'\n');
            }
            Err(error) => {
                prop_assert!(cut < first_line, "{}", error);
                prop_assert!(matches!(error, RecordError::NoHeader { .. }), "{}", error);
            }
        }
    }

    #[test]
    fn the_order_in_which_cases_finish_does_not_show_once_normalised(
        (cases, shuffled) in vec(strategy::case(), 0..4)
            .prop_map(|mut cases| {
                for (number, case) in cases.iter_mut().enumerate() {
                    case.case = format!("case-{number}");
                }
                cases
            })
            .prop_flat_map(|cases| (Just(cases.clone()), Just(cases).prop_shuffle())),
    ) {
        let one = Record { cases, ..sample_record() };
        let mut other = Record { cases: shuffled, ..sample_record() };
        other.header.started = "2027-01-01T00:00:00Z".to_owned();
        other.header.jobs = 16;
        for case in &mut other.cases {
            case.timing = None;
        }
        prop_assert_eq!(
            one.normalised().to_jsonl().unwrap(),
            other.normalised().to_jsonl().unwrap()
        );
    }
}

#[test]
fn a_record_is_found_by_its_folder_and_by_its_file() {
    let folder = tempdir().unwrap();
    Writer::create(folder.path(), &sample::header()).unwrap();
    assert_eq!(read(folder.path()).unwrap(), read(&folder.path().join(FILE)).unwrap());
}

#[test]
fn a_verdict_shows_once_normalised() {
    let one = sample_record();
    let mut other = one.clone();
    other.cases[0].metrics.executed = 1;
    assert_ne!(one.normalised().to_jsonl().unwrap(), other.normalised().to_jsonl().unwrap());
}

#[test]
fn fields_of_later_versions_are_passed_over() {
    let text = sample_record().to_jsonl().unwrap();
    let later = text.replace("{\"line\":", "{\"later\":{\"a\":[1]},\"line\":");
    assert_ne!(later, text);
    assert_eq!(read_text(later).unwrap(), sample_record());
}

#[test]
fn an_unknown_schema_is_refused_with_the_version_that_can_read_it() {
    let text = sample_record().to_jsonl().unwrap();
    let later = text.replacen("\"schema\":1", "\"schema\":2", 1).replacen(
        "\"conform\":\"0.1.0\"",
        "\"conform\":\"9.9.0\",\"cases\":\"many\"",
        1,
    );
    let error = read_text(later).unwrap_err().to_string();
    assert!(error.contains("schema 2, written by conform 9.9.0"), "{error}");
    assert!(error.contains("this conform reads schema 1"), "{error}");
}

#[test]
fn a_damaged_line_is_named_and_not_passed_over() {
    let text = sample_record().to_jsonl().unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines[3] = &lines[3][..40];
    let error = read_text(lines.join("\n")).unwrap_err();
    assert!(matches!(error, RecordError::Line { line: 4, .. }), "{error}");
}

#[test]
fn lines_behind_the_last_are_refused() {
    let text = sample_record().to_jsonl().unwrap();
    let case = text.lines().nth(1).unwrap();
    let error = read_text(format!("{text}{case}\n")).unwrap_err();
    assert!(matches!(error, RecordError::OutOfPlace { kind: "case", .. }), "{error}");
    let error = read_text(format!("{text}{text}")).unwrap_err();
    assert!(matches!(error, RecordError::OutOfPlace { kind: "run-started", .. }), "{error}");
}

#[test]
fn other_files_are_not_taken_for_records() {
    for text in ["{\"a\":1}\n", "hello\n", "\u{1b}\n", "\n", "{\"line\":\"case\",\"schema\":1}\n"] {
        let error = read_text(text).unwrap_err();
        assert!(matches!(error, RecordError::NotARecord { .. }), "{text:?}: {error}");
    }
    assert!(matches!(read_text("").unwrap_err(), RecordError::NoHeader { .. }));
}

#[test]
fn a_folder_without_a_record_is_named() {
    let folder = tempdir().unwrap();
    let error = read(folder.path()).unwrap_err();
    assert!(matches!(&error, RecordError::Missing { path } if path == folder.path()), "{error}");
}

#[test]
fn a_record_cut_short_ends_as_interrupted() {
    let whole = sample_record();
    assert_eq!(whole.end(), sample::finished());
    let end = Record { finished: None, ..whole }.end();
    assert!(end.interrupted);
    assert_eq!(end.tally, sample::finished().tally);
    assert_eq!(end.duration_ms, 121_500);
}
