//! Baselines: the known gaps of one agent version (`agents/baselines/NAME-VERSION.toml`).

use conform_reports::record::{CaseRecord, Finding, Verdict};
use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};

/// The file as it is written.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    agent: String,
    version: String,
    #[serde(default)]
    known: Vec<Entry>,
}

/// One known gap: in these cases this clause is broken.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// A case id, or a glob over case ids.
    pub case: String,
    /// The clause broken there.
    pub clause: String,
    /// What is the matter, in a sentence.
    pub reason: String,
    /// How it was seen.
    pub evidence: String,
}

/// A baseline that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Not of this form. The text has place and caret.
    #[error("{path} is not a baseline: {message}")]
    Invalid {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// Of another agent or version.
    #[error("{path} is the baseline of {found}, not of {wanted}; mend `agent` and `version` in it")]
    Other {
        /// The file.
        path: String,
        /// What it is of.
        found: String,
        /// What was asked for.
        wanted: String,
    },
}

/// The known gaps of one agent version, and which of them were met in this run.
#[derive(Debug, Default)]
pub struct Baseline {
    entries: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    entry: Entry,
    cases: GlobMatcher,
    /// A case of this entry ran to a verdict.
    ran: bool,
    /// A case of this entry broke the clause.
    met: bool,
}

impl Known {
    fn is_for_several(&self) -> bool {
        self.entry.case.contains(['*', '?', '[', '{'])
    }
}

impl Baseline {
    /// Reads a baseline; `path` is for messages.
    ///
    /// # Errors
    /// When the text is no baseline, or one of another agent or version.
    pub fn parse(
        path: &str,
        text: &str,
        agent: &str,
        version: &str,
    ) -> Result<Self, BaselineError> {
        let (baseline, file) = Self::read(path, text)?;
        if (file.agent.as_str(), file.version.as_str()) != (agent, version) {
            return Err(BaselineError::Other {
                path: path.to_owned(),
                found: format!("{}@{}", file.agent, file.version),
                wanted: format!("{agent}@{version}"),
            });
        }
        Ok(baseline)
    }

    /// Looks whether a text is a baseline of any agent; `path` is for messages.
    ///
    /// # Errors
    /// When it is none.
    pub fn check(path: &str, text: &str) -> Result<(), BaselineError> {
        Self::read(path, text).map(drop)
    }

    fn read(path: &str, text: &str) -> Result<(Self, File), BaselineError> {
        let invalid = |message: String| BaselineError::Invalid { path: path.to_owned(), message };
        let file: File = toml::from_str(text).map_err(|error| invalid(error.to_string()))?;
        if file.schema != 1 {
            return Err(invalid(format!(
                "`schema = {}` is not known; this is schema 1",
                file.schema
            )));
        }
        let mut entries = Vec::new();
        for entry in &file.known {
            if crate::clause::ClauseRef::find(&entry.clause).is_none() {
                return Err(invalid(format!("`{}` is not a clause", entry.clause)));
            }
            let glob = Glob::new(&entry.case).map_err(|error| invalid(error.to_string()))?;
            let cases = glob.compile_matcher();
            entries.push(Known { entry: entry.clone(), cases, ran: false, met: false });
        }
        Ok((Self { entries }, file))
    }

    /// Turns a fail into `known` when every one of its findings is in the baseline, and notes
    /// which entries were met.
    pub fn apply(&mut self, case: &mut CaseRecord) {
        let ran = matches!(case.verdict, Verdict::Pass | Verdict::Fail { .. });
        let mut reasons: Vec<&str> = Vec::new();
        let mut covered = vec![false; case.verdict.findings().len()];
        for known in &mut self.entries {
            if !known.cases.is_match(&case.case) {
                continue;
            }
            known.ran |= ran;
            for (finding, covered) in case.verdict.findings().iter().zip(&mut covered) {
                if finding.clause == known.entry.clause {
                    *covered = true;
                    known.met = true;
                    if !reasons.contains(&known.entry.reason.as_str()) {
                        reasons.push(&known.entry.reason);
                    }
                }
            }
        }
        if let Verdict::Fail { findings } = &case.verdict
            && covered.iter().all(|covered| *covered)
        {
            let findings: Vec<Finding> = findings.clone();
            case.verdict = Verdict::Known { findings, reason: reasons.join("; ") };
        }
    }

    /// Entries whose cases ran, none of which broke the clause any more. Of a run that left cases
    /// out (`partly`), an entry for several cases is none: those left out may be the ones.
    pub fn stale(&self, partly: bool) -> Vec<String> {
        self.entries
            .iter()
            .filter(|known| known.ran && !known.met)
            .filter(|known| !partly || !known.is_for_several())
            .map(|known| format!("{} ({})", known.entry.case, known.entry.clause))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conform_reports::record::{AgentRef, Layer, Location, Metrics, Severity, VariantName};

    const TEXT: &str = r#"
schema = 1
agent = "lab"
version = "1"
[[known]]
case = "family.*"
clause = "role.no-promotion"
reason = "It promotes."
evidence = "request 2"
"#;

    fn baseline() -> Baseline {
        Baseline::parse("b.toml", TEXT, "lab", "1").unwrap()
    }

    fn case(id: &str, clauses: &[&str]) -> CaseRecord {
        let location = Location { file: "f.yaml".to_owned(), line: 1 };
        let findings: Vec<Finding> = clauses
            .iter()
            .map(|clause| Finding {
                clause: (*clause).to_owned(),
                severity: Severity::Must,
                layer: Layer::Assembly,
                check: "check".to_owned(),
                variant: VariantName::Main,
                expected: String::new(),
                seen: String::new(),
                location: location.clone(),
                request: None,
                pointer: None,
            })
            .collect();
        let verdict = if findings.is_empty() { Verdict::Pass } else { Verdict::Fail { findings } };
        CaseRecord {
            case: id.to_owned(),
            title: String::new(),
            family: "family".to_owned(),
            location,
            clause: "role.no-promotion".to_owned(),
            reports: Vec::new(),
            agent: AgentRef {
                name: "lab".to_owned(),
                version: "1".to_owned(),
                driver: "exec".to_owned(),
                wire: "responses".to_owned(),
                defects: Vec::new(),
            },
            axes: indexmap::IndexMap::new(),
            disposition: None,
            verdict,
            checks: Vec::new(),
            metrics: Metrics::default(),
            evidence: indexmap::IndexMap::new(),
            timing: None,
        }
    }

    #[test]
    fn a_fail_is_known_only_when_every_finding_is() {
        let mut baseline = baseline();
        let mut known = case("family.one", &["role.no-promotion"]);
        baseline.apply(&mut known);
        assert_eq!(known.verdict.word(), "known");
        let mut new = case("family.two", &["role.no-promotion", "role.not-a-user"]);
        baseline.apply(&mut new);
        assert_eq!(new.verdict.word(), "fail");
        let mut elsewhere = case("other.one", &["role.no-promotion"]);
        baseline.apply(&mut elsewhere);
        assert_eq!(elsewhere.verdict.word(), "fail");
        assert!(baseline.stale(false).is_empty());
    }

    #[test]
    fn an_entry_is_stale_only_when_its_case_ran_and_held() {
        let mut unmet = baseline();
        assert!(unmet.stale(false).is_empty(), "nothing ran");
        let mut skipped = case("family.one", &[]);
        skipped.verdict = Verdict::Skip { reason: String::new() };
        unmet.apply(&mut skipped);
        assert!(unmet.stale(false).is_empty(), "a skipped case proves nothing");
        unmet.apply(&mut case("family.one", &[]));
        assert_eq!(unmet.stale(false), ["family.* (role.no-promotion)"]);
        assert!(unmet.stale(true).is_empty(), "the cases left out may break it");
        let text = TEXT.replace("family.*", "family.one");
        let mut exact = Baseline::parse("b.toml", &text, "lab", "1").unwrap();
        exact.apply(&mut case("family.one", &[]));
        assert_eq!(exact.stale(true), ["family.one (role.no-promotion)"]);
    }

    #[test]
    fn another_version_or_an_unknown_clause_is_refused() {
        let error = Baseline::parse("b.toml", TEXT, "lab", "2").unwrap_err().to_string();
        assert!(error.contains("lab@1, not of lab@2"), "{error}");
        let text = TEXT.replace("role.no-promotion", "role.none");
        let error = Baseline::parse("b.toml", &text, "lab", "1").unwrap_err().to_string();
        assert!(error.contains("`role.none` is not a clause"), "{error}");
    }
}
