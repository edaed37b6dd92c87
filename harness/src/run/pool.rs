//! The run as a whole: cases handed to workers, results written as they come, one interrupt.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use conform_reports::record::{CaseRecord, RunFinished, Tally, Timing, VariantName};
use tokio::sync::{mpsc, watch};

use super::baseline::Baseline;
use super::case::run_case;
use super::subject::Subject;
use super::work::Work;
use crate::case::Case;
use crate::sandbox::Isolation;

/// How a run is carried out.
#[derive(Debug, Clone)]
pub struct Options {
    /// Cases that run at once; at least 1.
    pub jobs: usize,
    /// The memory that is free, in MiB: of an agent whose profile says how much it takes, no more
    /// runs are made at once than half of this bears. `None`: not known.
    pub memory: Option<u64>,
    /// Limit for one run of the agent.
    pub time_limit: Duration,
    /// How cases are confined.
    pub isolation: Isolation,
    /// The folder below which case folders are made.
    pub case_parent: PathBuf,
    /// Whether case folders stay.
    pub keep: bool,
    /// Where agents find programs that keep to the path they are given: the system's folders, and
    /// after them the stand-ins.
    pub path_with_stand_in: String,
    /// The executable that serves as keeper: this program itself.
    pub keeper: PathBuf,
    /// How often each case runs; at least 1.
    pub repeat: usize,
    /// Whether cases were left out by a filter.
    pub filtered: bool,
}

/// A case that has come to its end, with the native request bodies seen in it.
#[derive(Debug)]
pub struct Finished {
    /// The record, before the baseline is applied.
    pub record: CaseRecord,
    /// Bodies by variant and request number, normalised.
    pub bodies: Vec<Body>,
    /// The folders that were kept, in the order in which they were made.
    pub kept: Vec<Kept>,
}

impl Finished {
    /// A case of which nothing but the record is there.
    pub(super) fn unseen(record: CaseRecord) -> Self {
        Self { record, bodies: Vec::new(), kept: Vec::new() }
    }
}

/// The folder of one run of a case, left where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Which run of the case.
    pub variant: VariantName,
    /// The folder that holds workspace, home, tmp, outside, and what the agent printed.
    pub folder: PathBuf,
}

/// A normalised request body.
#[derive(Debug)]
pub struct Body {
    /// Which run of the case.
    pub variant: VariantName,
    /// Number of the request.
    pub number: u64,
    /// The body.
    pub json: serde_json::Value,
}

/// The wish to end the run early.
#[derive(Debug, Clone)]
pub(super) struct Interrupt(watch::Receiver<bool>);

impl Interrupt {
    fn is_raised(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves when the wish is there.
    pub(super) async fn raised(&self) {
        if self.0.clone().wait_for(|interrupted| *interrupted).await.is_err() {
            // Nobody is left who could wish it.
            std::future::pending::<()>().await;
        }
    }
}

/// A run that could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A worker ended without a result.
    #[error("a worker ended without a result: {0}; this is a fault in conform")]
    Worker(String),
}

/// Runs every case against every subject, handing each finished case to `report` as it comes.
///
/// When `interrupted` turns true, no further case starts, those under way are ended and dropped,
/// and what is finished stays. When this returns, no process of any case is left.
///
/// # Errors
/// When a worker is lost.
pub async fn run(
    subjects: &[Arc<Subject>],
    cases: Vec<Case>,
    options: Options,
    baselines: &mut [Baseline],
    interrupted: watch::Receiver<bool>,
    mut report: impl FnMut(Finished),
) -> Result<RunFinished, RunError> {
    let start = Instant::now();
    let work = Arc::new(Work::new(subjects, &cases, options.memory));
    let filtered = options.filtered;
    let options = Arc::new(options);
    let (results, mut finished) = mpsc::channel::<(usize, Finished)>(64);
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..options.jobs.max(1) {
        let worker = Worker {
            subjects: subjects.to_vec(),
            work: Arc::clone(&work),
            options: Arc::clone(&options),
            interrupt: Interrupt(interrupted.clone()),
            start,
        };
        workers.spawn(worker.work(results.clone()));
    }
    drop(results);
    let mut tally = Tally::default();
    while let Some((subject, mut case)) = finished.recv().await {
        if let Some(baseline) = baselines.get_mut(subject) {
            baseline.apply(&mut case.record);
        }
        tally.add(&case.record);
        report(case);
    }
    while let Some(ended) = workers.join_next().await {
        ended.map_err(|error| RunError::Worker(error.to_string()))?;
    }
    let interrupted = *interrupted.borrow();
    let partly = interrupted || filtered;
    Ok(RunFinished {
        interrupted,
        tally,
        stale: baselines.iter().flat_map(|baseline| baseline.stale(partly)).collect(),
        not_run: Vec::new(),
        duration_ms: millis(start.elapsed()),
    })
}

struct Worker {
    subjects: Vec<Arc<Subject>>,
    work: Arc<Work>,
    options: Arc<Options>,
    interrupt: Interrupt,
    start: Instant,
}

impl Worker {
    async fn work(self, results: mpsc::Sender<(usize, Finished)>) {
        while !self.interrupt.is_raised() {
            let Some(taken) = self.work.take().await else { return };
            let Some(subject) = self.subjects.get(taken.subject) else { return };
            let began = Instant::now();
            let ran = run_case(&taken.case, subject, &self.options, &self.interrupt).await;
            let Some(mut finished) = ran else { return };
            finished.record.timing = Some(Timing {
                started_ms: millis(began.duration_since(self.start)),
                duration_ms: millis(began.elapsed()),
            });
            if results.send((taken.subject, finished)).await.is_err() {
                return;
            }
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
