//! One finished case, written to the record.

use conform::run::{Finished, Kept};
use conform_reports::record::{CaseRecord, RecordError, VariantName, Writer};

/// Writes one finished case to the record, its request bodies where `with_bodies` says so of it.
/// What could not be written comes back beside it.
pub(crate) fn write(
    writer: &mut Writer,
    finished: Finished,
    with_bodies: impl Fn(&CaseRecord) -> bool,
) -> (CaseRecord, Vec<Kept>, Option<RecordError>) {
    let Finished { mut record, bodies, kept } = finished;
    let mut problem = None;
    if with_bodies(&record) {
        for body in bodies {
            match writer.body(&record.agent, &record.case, body.variant, body.number, &body.json) {
                Ok(path) => attach(&mut record, body.variant, body.number, path),
                Err(error) => problem = Some(error),
            }
        }
    }
    let problem = writer.case(&record).err().or(problem);
    (record, kept, problem)
}

fn attach(record: &mut CaseRecord, variant: VariantName, number: u64, path: Option<String>) {
    let request = record
        .evidence
        .get_mut(&variant)
        .and_then(|run| run.requests.iter_mut().find(|request| request.number == number));
    if let Some(request) = request {
        request.body = path;
    }
}
