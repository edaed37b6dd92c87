//! The lab agent: a small reference coding agent that honours every clause it is judged by, and
//! breaks one of them on request.
//!
//! It is a real process with a real HTTP client, so a harness can be tried on it as on any agent:
//! without a defect every check must hold, and with `--defect NAME` the check for that clause must
//! fail. It shares no code with the harness or its mock server. A defect is a small fault in the
//! code path that does the work; `--list-defects` prints the catalogue as JSON.
//!
//! # Running it
//!
//! ```text
//! lab-agent --base-url http://127.0.0.1:PORT/v1 --model M --policy read-only|ask|workspace|full
//!           [--network] [--untrusted] [--defect NAME]... [--session-file FILE [--resume]]
//!           ( PROMPT | --dialogue )
//! ```
//!
//! The workspace is the current folder; `$HOME/.lab` is the agent's own state folder. `LAB_API_KEY`
//! is sent as a bearer token if it is set. Requests go to `POST {base-url}/responses` as the
//! [Responses API](https://platform.openai.com/docs/api-reference/responses) describes it, streamed
//! and not stored, each with the whole history. With PROMPT one turn runs and nobody can approve.
//!
//! Exit status: 0 the turn completed (in dialogue: the session was closed), 1 it failed, 2 the run
//! could not start as asked.
//!
//! # The JSON-lines dialogue
//!
//! Both directions are one JSON object a line, in UTF-8. Another agent may adopt this dialogue to
//! be driven the same way.
//!
//! ## Input, with `--dialogue`
//!
//! | message | meaning |
//! |---|---|
//! | `{"type":"prompt","text"}` | run a turn; while one runs, the prompt waits for its end |
//! | `{"type":"approval","id","decision"}` | decide the open approval request with this id: `allow` (once), `allow_session` (this exact action until the process ends) or `deny` |
//! | `{"type":"steer","text"}` | say something into the running turn; it stands in the next request, after all results |
//! | `{"type":"interrupt"}` | stop the running turn at once |
//! | `{"type":"compact"}` | replace the history by a summary; while a turn runs, this waits for its end |
//! | `{"type":"close"}` | say nothing more: what waits is still done, an open approval counts as denied, then the session closes. The end of the input means the same |
//!
//! Anything else, also an unknown field, is answered by an `error` event and changes nothing.
//!
//! ## Output, in both modes
//!
//! | event | fields | when |
//! |---|---|---|
//! | `session.started` | `session`, `resumed`, `model`, `policy`, `network`, `rules` (paths in order), `rules_ignored` (path and reason) | once, first |
//! | `turn.started` | `turn` (from 1) | a prompt is taken up |
//! | `request.sent` | `n` (from 1, retries included), `attempt` (from 1 for each request) | just before bytes go out |
//! | `message` | `text` | the model said something, after its stream was whole |
//! | `tool.started` | `call_id`, `name` | a call is taken up, before it is judged |
//! | `approval.requested` | `id`, `call_id`, `tool`, `action`, `reason` | the call waits; `action` is the real command, or path, resolved `target` and `bytes` |
//! | `approval.decided` | `id`, `decision`, `by`: `user`, `no-approver` or `interrupt` | before anything of the call happens |
//! | `tool.completed` | `call_id`, `status`: `ok`, `error`, `denied`, `timeout` or `interrupted` | the call has its result |
//! | `call.ignored` | `call_id`, `reason` | the model repeated a call id; the call neither runs nor enters the history |
//! | `item.unknown` | `item_type` | the model sent an item of a type that is replayed but not understood |
//! | `steer.accepted` | `text` | the steer will stand in the next request |
//! | `turn.completed` | `final` (text of the last message) | the turn is over |
//! | `turn.interrupted` | | the turn is over, and what it started has been killed |
//! | `turn.failed` | `error` | the turn is over |
//! | `compacted` | `summary` | the history is replaced |
//! | `compaction.failed` | `error` | the history is as it was |
//! | `error` | `error` | a line of input was not understood or came at the wrong time |
//! | `session.closed` | | dialogue only, last |

mod approval;
mod cli;
mod defect;
mod dialogue;
mod events;
mod frames;
mod history;
mod memory;
mod policy;
mod readonly;
mod request;
mod rules;
mod session;
mod settings;
mod skills;
mod tools;
mod wire;
mod workspace;

pub use cli::main;
pub use defect::{Card, Defect, Layer, UnknownDefect};
