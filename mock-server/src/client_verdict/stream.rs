//! Replies that the server cut.

use super::attempt::{Attempt, Part};
use super::model::{Kind, Misstep};
use crate::capture::Authority;
use crate::journal::Delivery;

/// It took a reply that was cut for a whole one: the next request goes on from what had come, and
/// the question was not asked again.
pub(super) fn truncated_accepted(attempts: &[Attempt<'_>]) -> Vec<Misstep> {
    let accepted = |(index, cut): (usize, &Attempt<'_>)| {
        if cut.model.delivery != Delivery::Cut || !cut.is_accepted() {
            return None;
        }
        let question: Vec<Part<'_>> = cut.question().collect();
        let mut later =
            attempts[index + 1..].iter().filter(|later| later.model.purpose == cut.model.purpose);
        let next = later.next()?;
        goes_on(next, &question).then(|| {
            let says = "the reply was cut, and its beginning stands in the next request as if it \
                        were all of it";
            let exchanges = vec![cut.number, next.number];
            Misstep::new(Kind::TruncatedStreamAccepted, exchanges, says.to_owned())
        })
    };
    attempts.iter().enumerate().filter_map(accepted).collect()
}

/// Whether a request is the question, and after it words or calls of the assistant.
fn goes_on(next: &Attempt<'_>, question: &[Part<'_>]) -> bool {
    let parts: Vec<Part<'_>> = next.question().collect();
    parts
        .strip_prefix(question)
        .and_then(<[_]>::first)
        .is_some_and(|(authority, ..)| *authority == Authority::Assistant)
}
