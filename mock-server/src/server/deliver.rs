//! From a reply to an answer, with the fault that belongs to it.

use http::request::Parts;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};

use super::answer::{error, faultless, reply_head, scripted_headers, set_header};
use super::delivery::Tracker;
use super::hangup::HangUp;
use super::reply_body::ReplyBody;
use super::state::State;
use super::steps::{Steps, wait};
use crate::fault::{self, Plan};
use crate::journal::{Applied, Outcome};
use crate::script::{Fault, Form, Point, Reply, StatusFault};
use crate::wire::{self, ApiError, Ids, Request, Unfit, Written};

/// A reply on its way.
#[derive(Debug)]
pub(super) struct Given<'g> {
    pub(super) reply: &'g Reply,
    /// The turn's label, or what a side reply is called.
    pub(super) label: &'g str,
    pub(super) ids: Ids,
    pub(super) applied: Option<&'g Applied>,
}

/// Gives the reply.
pub(super) async fn deliver(
    state: &State,
    head: &Parts,
    request: Request<'_>,
    given: Given<'_>,
    tracker: Tracker,
) -> (Response<ReplyBody>, Tracker) {
    let answer = match given.applied {
        None => wire::write(&request, given.reply, given.ids)
            .map(|written| Some(faultless(request.wire(), given.reply, given.ids, written))),
        Some(Applied { fault: Fault { status: Some(status), .. }, .. }) => {
            wait_at_start(state, given.applied).await;
            Ok(Some(status_fault(status, request, given.ids)))
        }
        Some(Applied { fault, .. }) => faulty(state, head, request, &given, fault).await,
    };
    match answer {
        Ok(Some(response)) => (response, tracker),
        Ok(None) => {
            tracker.cut();
            // The connection ends under it.
            std::future::pending().await
        }
        Err(unfit) => cannot(state, request, given.label, &unfit, tracker),
    }
}

/// The answer with its fault; `None` when the connection ends before its head.
async fn faulty(
    state: &State,
    head: &Parts,
    request: Request<'_>,
    given: &Given<'_>,
    fault: &Fault,
) -> Result<Option<Response<ReplyBody>>, Unfit> {
    let request = match fault.form {
        None => request,
        Some(form) => request.answered_as_stream(form == Form::Stream),
    };
    let wire = request.wire();
    let reply = fault::with_faulty_calls(given.reply, &fault.calls, wire, given.ids)?;
    let written = wire::write(&request, &reply, given.ids)?;
    let is_stream = matches!(written, Written::Stream(_));
    let Plan { no_head, length, steps, end, .. } = fault::plan(fault, written)?;
    wait_at_start(state, given.applied).await;
    // Every connection of this server has one.
    let hang_up = head.extensions.get::<HangUp>().cloned().unwrap_or_default();
    if let Some(how) = no_head {
        hang_up.ask(how);
        return Ok(None);
    }
    let body = ReplyBody::steps(Steps::new(steps, length, end, state.gates.clone(), hang_up));
    let mut response = reply_head(wire, &reply, given.ids, is_stream, body);
    if let Some(content_type) = &fault.content_type {
        set_header(response.headers_mut(), header::CONTENT_TYPE, content_type);
    }
    Ok(Some(response))
}

async fn wait_at_start(state: &State, applied: Option<&Applied>) {
    let pauses = applied.into_iter().flat_map(|applied| &applied.fault.pauses);
    for (_, pause) in pauses.filter(|(point, _)| *point == Point::Start) {
        wait(pause.clone(), state.gates.clone()).await;
    }
}

fn status_fault(fault: &StatusFault, request: Request<'_>, ids: Ids) -> Response<ReplyBody> {
    let wire = request.wire();
    let answer = fault::status_answer(fault, wire.envelope(), &ids.request());
    let mut response = Response::new(ReplyBody::whole(answer.body));
    // Checked when the script was read or the server started.
    *response.status_mut() =
        StatusCode::from_u16(fault.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    for (name, value) in wire::reply_headers(wire, ids) {
        set_header(headers, HeaderName::from_static(name), &value);
    }
    scripted_headers(headers, &fault.headers);
    response
}

/// The answer when the reply, or its fault, does not fit the request. The turn is taken.
fn cannot(
    state: &State,
    request: Request<'_>,
    label: &str,
    unfit: &Unfit,
    tracker: Tracker,
) -> (Response<ReplyBody>, Tracker) {
    let outcome = Outcome::Unfit { turn: label.to_owned(), reason: unfit.to_string() };
    state.journal.set_outcome(tracker.exchange(), outcome);
    let refusal = ApiError::script_mismatch(format!("`{label}` cannot be given: {unfit}"));
    (error(&refusal, request.wire().envelope(), tracker.exchange()), tracker)
}
