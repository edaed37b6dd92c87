//! Normalising: what stands for values that differ from run to run.

use std::collections::BTreeSet;
use std::path::Path;

use regex::{NoExpand, Regex};
use serde_json::{Map, Value};

use super::tree::OwnState;
use crate::agent::profile::Profile;
use crate::case::Places;
use crate::scenario::{ResultClass, Zone};

/// The patterns of a profile, compiled once for all of its cases.
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    own_state: OwnState,
    replacements: Vec<(Regex, String)>,
    results: Vec<(ResultClass, Regex)>,
    broken_confinement: Vec<Regex>,
}

/// A pattern of a profile is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "profile {profile}: {field} holds `{pattern}`, which is no {what}: {why}; correct it there"
)]
pub struct PatternError {
    profile: String,
    field: &'static str,
    what: &'static str,
    pattern: String,
    why: String,
}

impl Patterns {
    /// Compiles what a profile says about own state and volatile values.
    ///
    /// # Errors
    /// The first pattern that does not compile, with the profile's name.
    pub fn compile(profile: &Profile) -> Result<Self, PatternError> {
        let fail = |field, what, pattern: &str, why: String| PatternError {
            profile: profile.name.clone(),
            field,
            what,
            pattern: pattern.to_owned(),
            why,
        };
        let own_state = OwnState::compile(&profile.own_state)
            .map_err(|(pattern, why)| fail("own-state", "glob", &pattern, why))?;
        let mut replacements = Vec::new();
        for rule in &profile.normalise {
            let regex = Regex::new(&rule.pattern).map_err(|error| {
                fail(
                    "normalise",
                    "regular expression",
                    &rule.pattern,
                    last_line(&error.to_string()),
                )
            })?;
            if regex.is_match("") {
                let why = "it matches the empty text".to_owned();
                return Err(fail("normalise", "pattern of a value", &rule.pattern, why));
            }
            replacements.push((regex, rule.with.clone()));
        }
        let regex = |field, pattern: &String| {
            Regex::new(pattern).map_err(|error| {
                fail(field, "regular expression", pattern, last_line(&error.to_string()))
            })
        };
        let mut results = Vec::new();
        for (class, patterns) in &profile.results {
            for pattern in patterns {
                results.push((*class, regex("results", pattern)?));
            }
        }
        let broken_confinement = profile
            .broken_confinement
            .iter()
            .map(|pattern| regex("broken-confinement", pattern))
            .collect::<Result<_, _>>()?;
        Ok(Self { own_state, replacements, results, broken_confinement })
    }

    /// Whether the profile says how results of this class read.
    pub fn knows_class(&self, class: ResultClass) -> bool {
        self.results.iter().any(|(known, _)| *known == class)
    }

    /// The classes as which a result reads; more than one means that they are not told apart.
    pub fn classes(&self, result: &str) -> Vec<ResultClass> {
        let mut classes: Vec<ResultClass> = Vec::new();
        for (class, pattern) in &self.results {
            if pattern.is_match(result) && !classes.contains(class) {
                classes.push(*class);
            }
        }
        classes
    }

    /// Whether a result says that the agent's own confinement could not be set up.
    pub fn is_broken_confinement(&self, result: &str) -> bool {
        self.broken_confinement.iter().any(|pattern| pattern.is_match(result))
    }

    /// The agent's own state.
    pub fn own_state(&self) -> &OwnState {
        &self.own_state
    }
}

/// The library draws the pattern again over several lines; its last line says why.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Replaces what differs between two runs of a case: first the mock's address and the case's
/// folders, then what the profile names, in its order. Replacements are literal texts.
#[derive(Debug, Clone)]
pub struct Normaliser<'a> {
    patterns: &'a Patterns,
    places: Vec<(String, &'static str)>,
}

impl<'a> Normaliser<'a> {
    /// The normaliser of the run with these places.
    pub fn new(patterns: &'a Patterns, places: &Places) -> Self {
        let mut known = Vec::new();
        if let Some((_, address)) = places.mock.split_once("://") {
            if let Some((_, port)) = address.rsplit_once(':') {
                known.push((format!("localhost:{port}"), "<mock>"));
            }
            known.push((address.to_owned(), "<mock>"));
        }
        let folders = [
            (Zone::Workspace, &places.workspace, "<workspace>"),
            (Zone::Outside, &places.outside, "<outside>"),
            (Zone::Home, &places.home, "<home>"),
            (Zone::Tmp, &places.tmp, "<tmp>"),
        ];
        for (_, folder, name) in folders {
            known.extend(spellings(folder).into_iter().map(|path| (path, name)));
        }
        if let Some(root) = places.workspace.parent() {
            known.extend(spellings(root).into_iter().map(|path| (path, "<case>")));
            // Agents turn paths into names by replacing the slashes; the case folder's own name
            // stays recognisable in them.
            let name = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with("conform-") {
                known.push((name.to_owned(), "<case>"));
            }
        }
        // The longer first, so that a folder is not taken for the folder that holds it.
        known.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        Self { patterns, places: known }
    }

    /// A text without what differs from run to run.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (place, name) in &self.places {
            if text.contains(place.as_str()) {
                text = replace_whole(&text, place, name);
            }
        }
        for (pattern, with) in &self.patterns.replacements {
            if pattern.is_match(&text) {
                text = pattern.replace_all(&text, NoExpand(with)).into_owned();
            }
        }
        text
    }

    /// A JSON value without what differs from run to run, in its texts and its keys. Keys that
    /// become the same are numbered.
    pub fn json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            Value::Object(map) => {
                let mut out = Map::new();
                for (key, item) in map {
                    let plain = self.text(key);
                    let mut key = plain.clone();
                    let mut count = 1;
                    while out.contains_key(&key) {
                        count += 1;
                        key = format!("{plain}#{count}");
                    }
                    out.insert(key, self.json(item));
                }
                Value::Object(out)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

/// A folder's path as given and with its links resolved.
fn spellings(folder: &Path) -> BTreeSet<String> {
    let resolved = std::fs::canonicalize(folder).ok();
    std::iter::once(folder.to_path_buf())
        .chain(resolved)
        .map(|path| path.display().to_string())
        .filter(|path| path.len() > 1)
        .collect()
}

/// Replaces every occurrence that no letter or digit continues: port 4000 is not port 40001, and
/// `workspace2` is not the workspace.
fn replace_whole(text: &str, place: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(place) {
        let (before, found) = rest.split_at(at);
        let after = &found[place.len()..];
        out.push_str(before);
        let continued = after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        out.push_str(if continued { place } else { name });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::profile::Normalisation;
    use crate::check::fixture;

    fn rule(pattern: &str, with: &str) -> Normalisation {
        Normalisation { pattern: pattern.into(), with: with.into() }
    }

    #[test]
    fn places_are_named() {
        let patterns = Patterns::default();
        let places = fixture::places();
        let normaliser = Normaliser::new(&patterns, &places);
        let text = "http://127.0.0.1:40001/v1 localhost:40001 127.0.0.1:400012 \
                    /cases/conform-a1/workspace/x /cases/conform-a1/workspace2 \
                    /cases/conform-a1/home /cases/conform-a1/outside /cases/conform-a1/tmp \
                    /cases/conform-a1/x -cases-conform-a1-workspace";
        assert_eq!(
            normaliser.text(text),
            "http://<mock>/v1 <mock> 127.0.0.1:400012 <workspace>/x <case>/workspace2 <home> \
             <outside> <tmp> <case>/x -cases-<case>-workspace"
        );
    }

    #[test]
    fn rules_of_the_profile_apply_to_texts_and_keys() {
        let mut profile = fixture::profile();
        profile.normalise = vec![rule("[0-9a-f]{8}", "<id>"), rule(r"\d+\.\d+s", "<time>")];
        let patterns = Patterns::compile(&profile).expect("the patterns compile");
        let normaliser = Normaliser::new(&patterns, &fixture::places());
        let body = serde_json::json!({"00112233": "took 1.5s", "44556677": [1, null, "x"]});
        assert_eq!(
            normaliser.json(&body).to_string(),
            r#"{"<id>":"took <time>","<id>#2":[1,null,"x"]}"#
        );
    }

    #[test]
    fn a_bad_pattern_is_named_with_its_profile() {
        let mut profile = fixture::profile();
        profile.normalise = vec![rule("(", "<x>")];
        let text = Patterns::compile(&profile).expect_err("not an expression").to_string();
        assert!(text.starts_with("profile lab: normalise holds `(`"), "{text}");
        profile.normalise = vec![rule("a*", "<x>")];
        let text = Patterns::compile(&profile).expect_err("matches nothing").to_string();
        assert!(text.contains("empty text"), "{text}");
        profile.normalise.clear();
        profile.own_state = vec!["a/{b".into()];
        let text = Patterns::compile(&profile).expect_err("not a glob").to_string();
        assert!(text.starts_with("profile lab: own-state holds `a/{b`"), "{text}");
    }
}
