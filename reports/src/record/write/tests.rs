use serde_json::json;
use tempfile::tempdir;

use super::*;
use crate::record::{Note, read};
use crate::sample;

#[test]
fn a_writer_can_be_shared_between_workers() {
    fn shared<T: Send>() {}
    shared::<std::sync::Mutex<Writer>>();
}

#[test]
fn a_record_is_never_written_over() {
    let folder = tempdir().unwrap();
    Writer::create(folder.path(), &sample::header()).unwrap();
    let before = fs::read(folder.path().join(FILE)).unwrap();
    let error = Writer::create(folder.path(), &sample::header()).unwrap_err();
    assert!(matches!(error, RecordError::Occupied { .. }), "{error}");
    assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), before);
}

#[test]
fn a_folder_that_cannot_be_made_is_named_with_the_next_step() {
    let folder = tempdir().unwrap();
    let occupied = folder.path().join("a-file");
    fs::write(&occupied, "").unwrap();
    let error = Writer::create(&occupied.join("run"), &sample::header()).unwrap_err().to_string();
    assert!(error.contains(&occupied.display().to_string()), "{error}");
    assert!(error.contains("name a folder that can be written to"), "{error}");
}

#[test]
fn each_line_is_on_disk_when_the_call_returns() {
    let folder = tempdir().unwrap();
    let mut writer = Writer::create(folder.path(), &sample::header()).unwrap();
    for (done, case) in sample::cases().iter().enumerate() {
        assert_eq!(read(folder.path()).unwrap().cases.len(), done);
        writer.case(case).unwrap();
    }
    writer.finish(&sample::finished()).unwrap();
    let record = read(folder.path()).unwrap();
    assert_eq!(record.cases, sample::cases());
    assert_eq!(record.finished, Some(sample::finished()));
    assert_eq!(record.notes, []);
}

#[test]
fn a_failing_write_is_reported_once_and_spares_what_is_there() {
    let folder = tempdir().unwrap();
    let mut writer = Writer::create(folder.path(), &sample::header()).unwrap();
    let case = sample::passing("a.first");
    writer.case(&case).unwrap();
    // A file opened for reading takes no line, as a full disk takes none.
    writer.lines = Lines::Open(File::open(writer.file()).unwrap());

    let error = writer.case(&case).unwrap_err();
    assert!(matches!(error, RecordError::Write { .. }), "{error}");
    writer.case(&case).unwrap();
    writer.finish(&sample::finished()).unwrap();
    assert_eq!(writer.body(&case.agent, "a", VariantName::Main, 1, &json!({})).unwrap(), None);
    assert_eq!(writer.lost(), 2);

    let record = read(folder.path()).unwrap();
    assert_eq!(record.cases, [case]);
    let selected = sample::header().cases;
    assert_eq!(record.notes, [Note::CutShort { finished: 1, selected }]);
}

#[test]
fn a_finished_record_takes_no_more() {
    let folder = tempdir().unwrap();
    let mut writer = Writer::create(folder.path(), &sample::header()).unwrap();
    writer.finish(&sample::finished()).unwrap();
    let error = writer.case(&sample::passing("a.late")).unwrap_err();
    assert!(matches!(error, RecordError::Finished { .. }), "{error}");
}

#[test]
fn a_body_is_found_at_the_path_returned() {
    let folder = tempdir().unwrap();
    let mut writer = Writer::create(folder.path(), &sample::header()).unwrap();
    let body = json!({"model": "m", "input": [{"role": "user", "content": "é\u{0}"}]});
    let path = writer
        .body(&sample::lab(), "role.pairing", VariantName::Control, 12, &body)
        .unwrap()
        .unwrap();
    assert_eq!(
        path,
        "bodies/lab@0.1.0+approval-ignored-dialogue-responses/role.pairing/control-012.json"
    );
    let kept: Value = serde_json::from_slice(&fs::read(folder.path().join(path)).unwrap()).unwrap();
    assert_eq!(kept, body);
}

#[test]
fn bodies_of_one_case_under_two_agents_stay_apart_and_inside_the_record() {
    let folder = tempdir().unwrap();
    let mut writer = Writer::create(folder.path(), &sample::header()).unwrap();
    let mut keep = |agent: &AgentRef, case: &str| {
        writer.body(agent, case, VariantName::Main, 1, &json!(case)).unwrap().unwrap()
    };
    let paths = [
        keep(&sample::codex(), "../../../../escape"),
        keep(&sample::lab(), "../../../../escape"),
        keep(&AgentRef { driver: "acp".to_owned(), ..sample::lab() }, "../../../../escape"),
    ];
    let root = folder.path().canonicalize().unwrap();
    let real = paths.each_ref().map(|path| root.join(path).canonicalize().unwrap());
    assert!(real.iter().all(|file| file.starts_with(&root)), "{real:?}");
    assert!(real[0] != real[1] && real[1] != real[2], "{real:?}");
}

#[test]
fn a_body_that_cannot_be_kept_is_reported_once_and_does_not_stop_the_lines() {
    let folder = tempdir().unwrap();
    let mut writer = Writer::create(folder.path(), &sample::header()).unwrap();
    fs::write(folder.path().join(BODIES), "in the way").unwrap();
    let case = sample::passing("a.case");
    let mut keep = || writer.body(&case.agent, "a", VariantName::Main, 1, &json!({}));
    assert!(matches!(keep(), Err(RecordError::Write { .. })));
    assert_eq!(keep().unwrap(), None);
    writer.case(&case).unwrap();
    assert_eq!(writer.lost(), 0);
    assert_eq!(read(folder.path()).unwrap().cases, [case]);
}
