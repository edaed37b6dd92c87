//! A scriptable mock model server for testing coding agents.
//!
//! A [`Script`](script::Script) holds the model's canned turns. [`MockServer`](server::MockServer)
//! serves them on loopback, one reply for each request, and keeps a [`Journal`](journal::Journal)
//! of everything that arrived. [`capture`] projects a received request onto segments, so that a
//! test can ask where a text landed and at what authority.
//!
//! The same script and the same requests give the same bytes: there is no clock, no random id and
//! no shared queue in which one kind of request takes another's reply.
//!
//! The road through the crate is one way: `document` (YAML with spans) → `script` → `server`
//! (routing, gates) → `wire` (event sequences) → `journal` → `capture`.
//!
//! # In a test
//!
//! ```
//! use conform_mock_server::capture::{Authority, capture};
//! use conform_mock_server::journal::Route;
//! use conform_mock_server::script::{Reply, Script};
//! use conform_mock_server::server::MockServer;
//! use serde_json::json;
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let server = MockServer::builder(Script::of([Reply::say("All is well.")])).start().await?;
//!
//! // Here a test starts the client that it is about, with `server.base_url()` as its provider.
//! let answer = reqwest::Client::new()
//!     .post(format!("{}/responses", server.base_url()))
//!     .json(&json!({
//!         "model": "any",
//!         "stream": true,
//!         "instructions": "Be brief.",
//!         "input": [{"role": "user", "content": "How is it going?"}],
//!     }))
//!     .send()
//!     .await?
//!     .text()
//!     .await?;
//! assert!(answer.contains("All is well."));
//!
//! // What did it send, and at what authority?
//! let exchanges = server.journal().snapshot();
//! let Route::Model(model) = &exchanges[0].route else { panic!("a model request") };
//! let body = model.json.as_ref().ok_or("a body")?;
//! let capture = capture(model.wire, body);
//! let authorities: Vec<_> = capture.segments.iter().map(|segment| segment.authority).collect();
//! assert_eq!(authorities, [Authority::Instructions, Authority::User]);
//! assert!(capture.unknown.is_empty());
//!
//! // Every turn was taken and delivered, and no request was left without one.
//! server.assert_finished();
//! # Ok::<_, Box<dyn std::error::Error>>(()) })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # The YAML form of a script
//!
//! [`script::load`] reads this form and reports all that is wrong with a file, each with its
//! place. Only `turns` is required.
//!
//! ```yaml
#![doc = include_str!("script/load/example.yaml")]
//! ```
//!
//! ## Further items, endings and faults
//!
//! A turn may also end early, hold items that only some wires have, and misbehave. Events are
//! counted from 1, from -1 for the last backwards, or named by their type (the first of it).
//! `docs/mock-server-faults.md` lists every key.
//!
//! ```yaml
#![doc = include_str!("script/load/faults.yaml")]
//! ```
//!
//! # What is served where
//!
//! | request | answer |
//! | --- | --- |
//! | `POST {any prefix}/responses` | the turn: events when the body has `stream: true`, else one object |
//! | `GET {any prefix}/responses` with `upgrade: websocket` | a `WebSocket`: each `response.create` gets the turn, one event a text frame |
//! | `POST {any prefix}/chat/completions` | the same over `OpenAI` Chat Completions |
//! | `POST {any prefix}/messages` | the same over `Anthropic` Messages |
//! | `POST {any prefix}/messages/count_tokens` | `input_tokens`: one for every four characters of text |
//! | `GET {any prefix}/models`, `…/models/ID` | `mock-model`, or any model by its id; `Anthropic`'s form where the request has the header `anthropic-version`, Codex's where its query has `client_version` |
//! | `GET`, `DELETE` `{any prefix}/responses/ID`, `POST …/cancel`, `GET …/input_items` | a response served before, unless its request has `store: false` |
//! | `POST {any prefix}/responses/input_tokens` | counted as for Messages |
//! | `POST {any prefix}/responses/compact` | what the user said, and one compaction item |
//! | `GET /page/NAME` | a page of the script |
//! | anything to `/sink/NAME` | 204; the journal keeps every byte |
//! | `/s/KEY/…` | any of the above, in the session `KEY` |
//! | `/__conform/…` | the control API, where [`Builder::control`](server::Builder::control) offers it |
//! | anything else | 404 or 405 in the API's error envelope |
//!
//! Only the first four take a turn.
//!
//! A request that continues an earlier response (`previous_response_id`) is routed by what it
//! stands for, the whole history, which the journal holds as
//! [`effective`](journal::ModelExchange::effective). Over a `WebSocket` the newest response of
//! each stream can be continued whatever `store` says, and a request with `generate: false` is
//! answered without output and takes no turn.
//!
//! A model request that the script has no answer for gets status 400 and the code
//! `conform_script_mismatch`; the journal says which turn was next and what did not hold.
//!
//! # Many clients, long runs, real services
//!
//! A server has one script for each [`Session`](server::Session), so that clients side by side
//! never take each other's replies. [`JournalLimits`](journal::JournalLimits) bound the memory of
//! a long run. [`record`] writes a script from what a real service says.

pub mod capture;
pub mod client_verdict;
pub mod document;
mod fault;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod gate;
pub mod journal;
pub mod provider;
pub mod record;
pub mod script;
pub mod serve;
pub mod server;
pub mod validate;
pub mod wire;
