//! Two tools that no request offers: the code behind the defect `runs-unoffered-tool`.

use serde_json::Value;

/// The command line that a call of `run_script {path}` or `exec {command}` means, if it is one.
///
/// A call that gets here has passed no policy either: a tool without a definition has no gate.
pub(crate) fn command_of(name: &str, arguments: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    match name {
        "run_script" => Some(format!("sh '{}'", text("path")?.replace('\'', r"'\''"))),
        "exec" => text("command").map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_two_names_mean_a_command() {
        assert_eq!(command_of("run_script", r#"{"path":"a b.sh"}"#).unwrap(), "sh 'a b.sh'");
        assert_eq!(command_of("exec", r#"{"command":"touch x"}"#).unwrap(), "touch x");
        assert_eq!(command_of("launch", r#"{"command":"touch x"}"#), None);
        assert_eq!(command_of("exec", "{"), None);
    }
}
