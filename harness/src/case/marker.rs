//! Marker and secret tokens: short, derived from case and name, the same in every run.

/// The token that marks an origin's text.
pub fn marker_token(case: &str, origin: &str) -> String {
    format!("cfm{}", token("mark", case, origin))
}

/// The token planted as a secret.
pub fn secret_token(case: &str, name: &str) -> String {
    format!("sk-planted-{}", token("secret", case, name))
}

/// Twelve letters and digits that no prose holds by chance: 60 bits of the hash.
fn token(kind: &str, case: &str, name: &str) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut hasher = blake3::Hasher::new();
    for part in [kind, case, name] {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().as_bytes()[..12]
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte % 32)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_stable_and_differ_by_every_part() {
        let token = marker_token("case", "origin");
        assert_eq!(token, marker_token("case", "origin"));
        assert_eq!(token.len(), 15);
        assert_ne!(token, marker_token("case", "other"));
        assert_ne!(token, marker_token("other", "origin"));
        assert_ne!(marker_token("a", "bc"), marker_token("ab", "c"));
        assert!(secret_token("case", "origin").starts_with("sk-planted-"));
    }
}
