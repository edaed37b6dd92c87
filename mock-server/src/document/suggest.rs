//! "Did you mean": the nearest of the names that would have been right.

/// A help text naming the closest candidate, or all of them when none is close and they are few.
pub fn did_you_mean(wrong: &str, candidates: impl IntoIterator<Item: AsRef<str>>) -> String {
    let candidates: Vec<_> = candidates.into_iter().collect();
    let nearest = candidates
        .iter()
        .map(AsRef::as_ref)
        .map(|candidate| (strsim::damerau_levenshtein(wrong, candidate), candidate))
        .min();
    match nearest {
        Some((distance, candidate)) if distance <= (wrong.chars().count() / 3).max(1) => {
            format!("did you mean `{candidate}`?")
        }
        _ => one_of(candidates),
    }
}

/// A help text that lists the names that would have been right.
pub fn one_of(candidates: impl IntoIterator<Item: AsRef<str>>) -> String {
    let names: Vec<String> =
        candidates.into_iter().map(|candidate| format!("`{}`", candidate.as_ref())).collect();
    match names.as_slice() {
        [] => "nothing is defined here".to_owned(),
        [only] => format!("the only one here is {only}"),
        names => format!("it is one of {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_named_and_a_far_one_lists_all() {
        let names = ["workspace", "policy", "steps"];
        assert_eq!(did_you_mean("wrokspace", names), "did you mean `workspace`?");
        assert_eq!(did_you_mean("zzz", names), "it is one of `workspace`, `policy`, `steps`");
        assert_eq!(did_you_mean("zzz", [""; 0]), "nothing is defined here");
    }
}
