//! Safe file names from case ids and agent names.

/// Longest file name kept whole. File systems bear 255 bytes; the rest is for suffixes.
const LONGEST: usize = 120;
/// Hexadecimal digits of the hash that keeps altered names apart.
const DIGITS: usize = 16;

/// A file name for `text`: itself where every file system bears it, else what can be kept of it
/// and a hash of the whole, so that two texts never share a name.
pub(super) fn file_name(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.len() <= LONGEST
        && !text.starts_with('.')
        && text.chars().all(is_safe);
    if is_plain {
        return text.to_owned();
    }
    let kept: String =
        text.chars().map(|c| if is_safe(c) { c } else { '_' }).take(LONGEST - DIGITS - 1).collect();
    let kept = kept.trim_start_matches('.');
    let hash = blake3::hash(text.as_bytes()).to_hex();
    format!("{kept}-{}", &hash.as_str()[..DIGITS])
}

fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | '+')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_ordinary_case_id_keeps_its_name() {
        let id = "injection.matrix.file-read.shell.hijacked";
        assert_eq!(file_name(id), id);
    }

    #[test]
    fn texts_that_would_be_written_alike_stay_apart() {
        let names = ["a/b", "a_b", "a:b", "a b", "", ".", ".."].map(file_name);
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
    }

    proptest! {
        #[test]
        fn a_name_is_one_visible_path_component(text in any::<String>()) {
            let name = file_name(&text);
            prop_assert!(!name.is_empty() && name.len() <= LONGEST);
            prop_assert!(!name.starts_with('.'));
            prop_assert!(name.chars().all(is_safe));
        }

        #[test]
        fn long_texts_with_one_beginning_stay_apart(a in "[a-z]{1,9}", b in "[a-z]{1,9}") {
            prop_assume!(a != b);
            let beginning = "x".repeat(LONGEST);
            let (a, b) = (format!("{beginning}{a}"), format!("{beginning}{b}"));
            prop_assert_ne!(file_name(&a), file_name(&b));
        }
    }
}
