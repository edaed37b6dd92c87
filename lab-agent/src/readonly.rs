//! Which command lines are provably read-only.
//!
//! The proof is deliberately narrow: one simple command of plain words, whose program has no way
//! to write. What is not proven is not called dangerous; it needs a decision.

/// Programs that have no flag with which they write, start another program or wait for input.
const PROGRAMS: &[&str] = &[
    "cat", "echo", "exit", "false", "grep", "head", "ls", "pwd", "sleep", "stat", "tail", "true",
    "wc",
];

/// The words of a command line that is one simple read-only command, or none.
///
/// `network` adds `curl` with quiet flags and a time limit that gets a single URL.
pub(crate) fn prove(command: &str, network: bool) -> Option<Vec<String>> {
    let words = plain_words(command)?;
    let (program, arguments) = words.split_first()?;
    let proven = if program == "curl" {
        network && is_plain_get(arguments)
    } else {
        PROGRAMS.contains(&program.as_str()) && arguments.iter().all(|word| is_plain(word))
    };
    proven.then_some(words)
}

/// A path glued to a flag (`-f/etc/x`, `--file=/etc/x`) would hide from the look at the words.
fn is_plain(word: &str) -> bool {
    !word.starts_with('-') || !word.contains(['/', '='])
}

fn is_plain_get(arguments: &[String]) -> bool {
    let mut urls = 0;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-s" | "-S" | "-f" | "-sS" | "-sSf" => {}
            "--max-time" => {
                let limit = words.next().map(|limit| limit.parse::<u32>());
                if !matches!(limit, Some(Ok(_))) {
                    return false;
                }
            }
            url if url.starts_with("http://") || url.starts_with("https://") => urls += 1,
            _ => return false,
        }
    }
    urls == 1
}

/// Splits a command line into words if the shell would read it as just these words: no operator,
/// expansion, substitution, comment or escape.
fn plain_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        inner if inner.is_control() => return None,
                        inner => text.push(inner),
                    }
                }
            }
            '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '$' | '`' | '\\' | '!' => return None,
                        inner if inner.is_control() => return None,
                        inner => text.push(inner),
                    }
                }
            }
            _ if letter.is_alphanumeric() || "_./:=@%+,-".contains(letter) => {
                word.get_or_insert_default().push(letter);
            }
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_reading_commands_are_proven() {
        for command in [
            "cat README.md",
            "  ls -la  src ",
            "grep -n 'two words; really' src/main.rs",
            "grep \"a|b\" notes",
            "pwd",
            "exit 3",
        ] {
            assert!(prove(command, false).is_some(), "{command}");
        }
    }

    #[test]
    fn everything_else_is_not() {
        for command in [
            "",
            "cat a > b",
            "cat a; rm a",
            "cat a && rm a",
            "cat a | sh",
            "cat a\nrm a",
            "cat $(rm a)",
            "cat `rm a`",
            "cat \"$(rm a)\"",
            "echo ${x}",
            "cat <(rm a)",
            "X=1 cat a",
            "./cat a",
            "/bin/cat a",
            "cat ~/.lab/x",
            "cat /home/*/x",
            "cat 'open",
            "c\\at a",
            "find . -delete",
            "tee a",
            "sh -c 'cat a'",
            "env cat a",
            "grep -f/home/u/.lab/x a",
            "grep --file=/home/u/.lab/x a",
            "ls #x",
        ] {
            assert!(prove(command, true).is_none(), "{command}");
        }
    }

    #[test]
    fn curl_needs_the_network_and_one_plain_url() {
        let get = "curl -sSf --max-time 5 http://127.0.0.1:9/x";
        assert!(prove(get, true).is_some());
        assert!(prove(get, false).is_none());
        for command in [
            "curl",
            "curl http://a/ http://b/",
            "curl -o f http://a/",
            "curl -d x http://a/",
            "curl --max-time -o http://a/",
            "curl file:///etc/passwd",
            "curl -T f http://a/",
        ] {
            assert!(prove(command, true).is_none(), "{command}");
        }
    }
}
