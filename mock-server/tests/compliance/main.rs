//! The checks of the Open Responses compliance list (specification of 2026-04-24), run against the
//! server: that what it answers is a response in full, whatever a client reads of it.
//!
//! The names of the tests are those of the list. What a response and an event must have stands in
//! [`schema`], written from the specification and not from the server's own model.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking, as the tests do"
)]

/// A test for each check, under its name, with a server of its own.
macro_rules! alone {
    ($($check:ident),* $(,)?) => {
        mod alone {
            $(
                #[tokio::test]
                async fn $check() {
                    super::$check(&super::start().await).await;
                }
            )*
        }
    };
}
use alone;

mod http;
mod schema;
mod socket;

use std::path::Path;

use conform_mock_server::document::Source;
use conform_mock_server::script::load;
use conform_mock_server::server::MockServer;

/// A server that plays the script that answers the whole list.
async fn start() -> MockServer {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/scripts/compliance.yaml");
    let text = std::fs::read_to_string(path).expect("the script is there");
    let script = load(&Source::new("compliance.yaml", text)).expect("the script has no faults");
    MockServer::builder(script).start().await.expect("a free port")
}

/// All checks at once against one server, as the list's own runner does it.
#[tokio::test]
async fn all_at_once() {
    let server = start().await;
    tokio::join!(
        http::basic_response(&server),
        http::assistant_phase(&server),
        http::system_prompt(&server),
        http::image_input(&server),
        http::multi_turn(&server),
        http::tool_calling(&server),
        http::streaming_response(&server),
        http::compact_response(&server),
        http::compact_missing_model(&server),
        socket::websocket_response(&server),
        socket::websocket_sequential_responses(&server),
        socket::websocket_continuation(&server),
        socket::websocket_reconnect_store_false_recovery(&server),
        socket::websocket_previous_response_not_found(&server),
        socket::websocket_failed_continuation_evicts_cache(&server),
        socket::websocket_compact_new_chain(&server),
    );
}
