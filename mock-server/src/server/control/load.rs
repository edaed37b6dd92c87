//! Loading a script that came over the network.

use bytes::Bytes;
use serde_json::Value;

use super::error::ControlError;
use crate::document::{Diagnostic, Source};
use crate::script::{self, Script};
use crate::server::session::{Session, SessionKey};
use crate::server::sessions::Sessions;

/// Has a session play the script; tells whether the session was made.
pub(super) fn load(
    sessions: &Sessions,
    key: SessionKey,
    body: &Bytes,
) -> Result<(Session, bool), ControlError> {
    let text = std::str::from_utf8(body)
        .map_err(|error| ControlError::bad_request(format!("the script is not UTF-8: {error}")))?;
    let script = read(text).map_err(ControlError::bad_script)?;
    sessions.load(key, script).map_err(|error| ControlError::unsendable(&error))
}

/// Reads a script in YAML or JSON.
///
/// Most JSON is YAML as it stands. What is not (tabs before a value, characters written as two
/// escapes) is written anew first; problems then point into the script as it was written anew.
fn read(text: &str) -> Result<Script, Vec<Diagnostic>> {
    let as_sent = script::load(&Source::new("script", text));
    match serde_json::from_str::<Value>(text) {
        Ok(json) if needs_rewriting(text) => {
            script::load(&Source::new("script", format!("{json:#}")))
        }
        Ok(_) | Err(_) => as_sent,
    }
}

/// Whether JSON text may mean something else, or nothing, as YAML.
fn needs_rewriting(json: &str) -> bool {
    json.contains('\t') || json.contains("\\u")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Reply;

    #[test]
    fn json_is_taken_with_its_own_escapes_and_spaces() {
        let text = "{\n\t\"turns\": [\n\t\t{\"say\": \"\\ud83d\\ude00 a\\/b\"}\n\t]\n}";
        assert_eq!(read(text).unwrap().turns[0].reply, Reply::say("\u{1f600} a/b"));
    }

    #[test]
    fn problems_point_into_the_json_as_sent() {
        let problems = read("{\"turns\": [{\"sya\": \"x\"}]}").unwrap_err();
        let span = problems[0].place.span;
        assert_eq!((span.line, span.column), (1, 12), "{problems:?}");
    }
}
