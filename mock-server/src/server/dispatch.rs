//! From a request to the session that answers it, or to the control API.

use http::{Request, Response, StatusCode};
use http_body_util::Either;
use hyper::body::Incoming;

use super::answer::{answer, error, record};
use super::control::{self, LiveBody};
use super::delivery::Endings;
use super::reply_body::ReplyBody;
use super::request_body;
use super::sessions::{Choice, Sessions};
use super::state::BODY_LIMIT;
use crate::journal::Route;
use crate::wire::{ApiError, Envelope};

/// The body of any answer: that of a reply, or a feed of the control API.
pub(super) type AnswerBody = Either<ReplyBody, LiveBody>;

/// Answers a request. `endings` are those of its connection.
pub(super) async fn dispatch(
    sessions: &Sessions,
    mut request: Request<Incoming>,
    endings: Endings,
) -> Response<AnswerBody> {
    if let Some(control) = &sessions.control
        && let Some(path) = control::path(request.uri().path()).map(str::to_owned)
    {
        return control::answer(sessions, control, &path, request).await;
    }
    let session = match sessions.choose(request.uri(), request.headers()) {
        Choice::Session(session, None) => session,
        Choice::Session(session, Some(uri)) => {
            *request.uri_mut() = uri;
            session
        }
        Choice::Unknown { name } => {
            return unknown_session(sessions, request, &name).await.map(Either::Left);
        }
    };
    let run = session.run();
    let envelope = Envelope::asked_for(request.headers());
    let response = tokio::select! {
        response = answer(&run.state, request, endings) => response,
        () = run.over() => {
            let message = format!(
                "the session `{}` was started afresh or taken away before this request was \
                 answered; send it again",
                session.key()
            );
            let refusal = ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, message);
            error(&refusal.code("conform_session_ended"), envelope, 0)
        }
    };
    response.map(Either::Left)
}

/// A request for a session that does not exist: noted in the default session, so that it cannot
/// pass unseen.
async fn unknown_session(
    sessions: &Sessions,
    request: Request<Incoming>,
    name: &str,
) -> Response<ReplyBody> {
    let (head, body) = request.into_parts();
    let body = request_body::read(body, &head.headers, BODY_LIMIT).await;
    let number = record(&sessions.default_state(), &head, body.bytes, Route::Unknown);
    let message = format!(
        "there is no session `{name}`; load a script for it first (PUT \
         /__conform/sessions/{name}/script)"
    );
    let refusal = ApiError::with_status(StatusCode::NOT_FOUND, message);
    error(&refusal.code("conform_unknown_session"), Envelope::asked_for(&head.headers), number)
}
