//! All that one run is told: by its command line and by its environment.

use std::path::PathBuf;

use reqwest::{Url, header::HeaderValue};
use serde::Serialize;

use crate::{
    cli::Args,
    defect::{Defect, Defects},
    tools::ShellEnvironment,
};

/// What the agent may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Policy {
    /// Nothing that changes anything; there is nobody to ask.
    ReadOnly,
    /// Reading; everything else is asked about.
    Ask,
    /// Changes inside the workspace; everything else is asked about.
    Workspace,
    /// Everything.
    Full,
}

impl Policy {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::Workspace => "workspace",
            Self::Full => "full",
        }
    }
}

/// How the run is talked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One turn for this prompt, with nobody to approve.
    Exec(String),
    /// JSON lines on standard input.
    Dialogue,
}

/// Where the session is kept between runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// Nowhere.
    No,
    /// Written after every turn.
    Write(PathBuf),
    /// Read at the start, then written after every turn.
    Resume(PathBuf),
}

impl Keeping {
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::No => None,
            Self::Write(file) | Self::Resume(file) => Some(file),
        }
    }
}

/// A checked run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) responses_url: Url,
    /// `Bearer …`, if a key was given.
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) model: String,
    pub(crate) policy: Policy,
    pub(crate) network: bool,
    pub(crate) trusted: bool,
    pub(crate) idle_timeout_ms: u64,
    pub(crate) keeping: Keeping,
    pub(crate) mode: Mode,
    pub(crate) defects: Defects,
    /// The canonical working folder.
    pub(crate) cwd: PathBuf,
    /// `$HOME/.lab`.
    pub(crate) state: PathBuf,
    pub(crate) shell_environment: ShellEnvironment,
}

/// A run that cannot start as asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("base url `{url}` is not usable: {reason}; give one like http://127.0.0.1:8080/v1")]
    BaseUrl { url: String, reason: String },
    #[error("HOME is not set; set it to the folder that shall hold the agent's .lab folder")]
    Home,
    #[error("LAB_API_KEY cannot stand in a header: {0}; use visible ASCII characters")]
    Key(#[from] reqwest::header::InvalidHeaderValue),
    #[error("cannot tell the working folder: {0}; start the agent in a folder that exists")]
    WorkingFolder(#[source] std::io::Error),
}

impl Settings {
    /// Checks what clap has read, and takes the rest from the environment.
    pub(crate) fn gather(run: Args) -> Result<Self, SettingsError> {
        let cwd = std::env::current_dir()
            .and_then(|folder| folder.canonicalize())
            .map_err(SettingsError::WorkingFolder)?;
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        let home = cwd.join(home.ok_or(SettingsError::Home)?);
        let authorization = match std::env::var("LAB_API_KEY") {
            Ok(key) => {
                let mut value = HeaderValue::from_str(&format!("Bearer {key}"))?;
                value.set_sensitive(true);
                Some(value)
            }
            Err(_) => None,
        };
        let keeping = match (run.session_file, run.resume) {
            (None, _) => Keeping::No,
            (Some(file), false) => Keeping::Write(cwd.join(file)),
            (Some(file), true) => Keeping::Resume(cwd.join(file)),
        };
        Ok(Self {
            responses_url: responses_url(&run.base_url)?,
            authorization,
            model: run.model,
            policy: run.policy,
            network: run.network,
            trusted: !run.untrusted,
            idle_timeout_ms: run.idle_timeout_ms,
            keeping,
            mode: run.prompt.map_or(Mode::Dialogue, Mode::Exec),
            defects: run.defects.into_iter().collect::<Defects>(),
            shell_environment: ShellEnvironment::scrub(|name| std::env::var_os(name), &cwd),
            cwd,
            state: home.join(".lab"),
        })
    }

    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.defects.has(defect)
    }
}

fn responses_url(base: &str) -> Result<Url, SettingsError> {
    let bad = |reason: String| SettingsError::BaseUrl { url: base.to_owned(), reason };
    let url = format!("{}/responses", base.trim_end_matches('/'));
    let url = Url::parse(&url).map_err(|error| bad(error.to_string()))?;
    match url.scheme() {
        "http" => Ok(url),
        other => Err(bad(format!("the scheme is `{other}`, and this agent speaks http only"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_put_under_the_base() {
        let join = |base| responses_url(base).map(|url| url.to_string());
        assert_eq!(join("http://127.0.0.1:9/v1").unwrap(), "http://127.0.0.1:9/v1/responses");
        assert_eq!(join("http://127.0.0.1:9/v1/").unwrap(), "http://127.0.0.1:9/v1/responses");
    }

    #[test]
    fn another_scheme_is_refused_with_an_example() {
        let error = responses_url("https://a/v1").unwrap_err().to_string();
        assert!(
            error.contains("http only") && error.contains("http://127.0.0.1:8080/v1"),
            "{error}"
        );
        assert!(responses_url("127.0.0.1").is_err());
    }
}
