//! Which agents must be on the machine.

use std::str::FromStr;

use conform::run::SubjectName;

/// Which of the agents named must be there for the run to come to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Require {
    /// Each of them.
    All,
    /// One of them.
    Any,
    /// These.
    Named(Vec<SubjectName>),
}

impl FromStr for Require {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            "any" => Ok(Self::Any),
            names => {
                let names: Result<_, _> = names.split(',').map(str::parse).collect();
                names.map(Self::Named).map_err(|error| format!("{error}, or all, or any"))
            }
        }
    }
}

impl Require {
    /// Looks whether each agent required is one of those under test.
    pub(super) fn check(&self, named: &[SubjectName]) -> anyhow::Result<()> {
        let Self::Named(required) = self else { return Ok(()) };
        for name in required {
            if !named.iter().any(|other| stands_for(name, other)) {
                anyhow::bail!(
                    "`--require {name}` names none of the agents under test; add `--agent {name}`"
                );
            }
        }
        Ok(())
    }

    /// Whether this one of the agents under test must be there.
    pub(super) fn counts(&self, named: &SubjectName) -> bool {
        match self {
            Self::All => true,
            Self::Any => false,
            Self::Named(required) => required.iter().any(|name| stands_for(name, named)),
        }
    }
}

/// Without a version, a name stands for the agent in every version.
fn stands_for(required: &SubjectName, named: &SubjectName) -> bool {
    required.agent == named.agent
        && (required.version.is_none() || required.version == named.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> SubjectName {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_counts_with_its_version_or_in_all() {
        let require: Require = "codex,pi@1.6.0".parse().unwrap();
        assert!(require.counts(&name("codex")) && require.counts(&name("codex@0.171.0")));
        assert!(require.counts(&name("pi@1.6.0")) && !require.counts(&name("pi@1.5.0")));
        assert!(!require.counts(&name("lab")));
        assert!(Require::All.counts(&name("lab")) && !Require::Any.counts(&name("lab")));
    }

    #[test]
    fn what_is_required_must_be_under_test() {
        let require: Require = "codex".parse().unwrap();
        assert!(require.check(&[name("lab"), name("codex@0.171.0")]).is_ok());
        let error = require.check(&[name("lab")]).unwrap_err().to_string();
        assert!(error.contains("add `--agent codex`"), "{error}");
        assert!(Require::All.check(&[]).is_ok() && Require::Any.check(&[]).is_ok());
    }

    #[test]
    fn words_and_lists_are_told_apart() {
        assert_eq!("all".parse(), Ok(Require::All));
        assert_eq!("any".parse(), Ok(Require::Any));
        assert_eq!("a,b@1".parse(), Ok(Require::Named(vec![name("a"), name("b@1")])));
        for text in ["", "a,", "a@"] {
            assert!(text.parse::<Require>().unwrap_err().ends_with(", or all, or any"));
        }
    }
}
