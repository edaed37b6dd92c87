//! The case at one version: installed, run, recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use conform::agent::install::{Installed, Store};
use conform::agent::profile::ProfileFile;
use conform::bisect::Judgement;
use conform::case::Case;
use conform::run::{Baseline, Finished, Subject};
use conform_mock_server::wire::Wire;
use conform_reports::record::{CaseRecord, Header, SCHEMA, Writer, now};
use semver::Version;
use tokio::sync::watch;

use crate::cli::run::{Prepared, subject, write};

/// What all trials have in common.
pub(super) struct Bench {
    pub(super) store: Store,
    /// The agent in all its versions.
    pub(super) profile: ProfileFile,
    pub(super) case: Case,
    pub(super) wire: Option<Wire>,
    pub(super) prepared: Prepared,
    /// Where the records go, one folder for each version.
    pub(super) folder: PathBuf,
    pub(super) interrupted: watch::Receiver<bool>,
}

/// What a version came to.
pub(super) enum Trial {
    /// There is a verdict on it.
    Judged(Box<Judged>),
    /// Nothing can be said about it, for this reason.
    NoVerdict(String),
    /// The caller wished to end before there was one.
    Interrupted,
}

/// A verdict on one version.
pub(super) struct Judged {
    pub(super) judgement: Judgement,
    pub(super) record: CaseRecord,
}

impl Bench {
    /// Tries one version.
    ///
    /// # Errors
    /// When the record cannot be written, or a worker is lost.
    pub(super) async fn attempt(&self, version: &Version) -> anyhow::Result<Trial> {
        let subject = match tokio::task::block_in_place(|| self.install(version)) {
            // What npm or pip was doing was interrupted with this process.
            _ if self.is_interrupted() => return Ok(Trial::Interrupted),
            Ok(subject) => Arc::new(subject),
            Err(why) => return Ok(Trial::NoVerdict(why)),
        };
        let mut writer = Writer::create(&self.record(version), &self.header(&subject))?;
        let mut finished = None;
        let end = conform::run::run(
            &[subject],
            vec![self.case.clone()],
            self.prepared.options.clone(),
            &mut [Baseline::default()],
            self.interrupted.clone(),
            |case: Finished| finished = Some(case),
        )
        .await?;
        let Some(finished) = finished else {
            writer.finish(&end)?;
            return Ok(Trial::Interrupted);
        };
        let (record, _, problem) = write(&mut writer, finished, |_| true);
        problem.map_or(Ok(()), Err)?;
        writer.finish(&end)?;
        Ok(match Judgement::of(&record.verdict) {
            Ok(judgement) => Trial::Judged(Box::new(Judged { judgement, record })),
            Err(why) => Trial::NoVerdict(why.to_string()),
        })
    }

    /// The folder of a version's record.
    pub(super) fn record(&self, version: &Version) -> PathBuf {
        self.folder.join(Path::new(&version.to_string()))
    }

    fn is_interrupted(&self) -> bool {
        *self.interrupted.borrow()
    }

    fn install(&self, version: &Version) -> Result<Subject, String> {
        let text = version.to_string();
        let profile = self.profile.at(Some(&text));
        let installed = self.store.install(profile, Some(&text), &mut |step| {
            anstream::eprintln!("{}@{version}: {step}", profile.name);
        });
        let installed = installed
            .and_then(|found: Installed| found.verify().map(|()| found))
            .map_err(|error| format!("it cannot be installed: {error}"))?;
        Ok(Subject { wire: self.wire, ..subject(profile.clone(), installed) })
    }

    fn header(&self, subject: &Subject) -> Header {
        Header {
            schema: SCHEMA,
            conform: env!("CARGO_PKG_VERSION").to_owned(),
            started: now(),
            agents: vec![subject.reference(subject.profile.drivers.first())],
            selection: vec![self.case.location.file.clone()],
            cases: 1,
            isolation: self.prepared.isolation.clone(),
            jobs: self.prepared.options.jobs,
        }
    }
}
