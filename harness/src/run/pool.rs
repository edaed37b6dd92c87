//! The run as a whole: cases handed to workers, results written as they come, one interrupt.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use conform_reports::record::{CaseRecord, RunFinished, Tally, Timing};
use tokio::sync::{Mutex, mpsc, watch};

use super::baseline::Baseline;
use super::case::run_case;
use super::subject::Subject;
use crate::case::Case;
use crate::sandbox::Isolation;

/// How a run is carried out.
#[derive(Debug, Clone)]
pub struct Options {
    /// Cases that run at once; at least 1.
    pub jobs: usize,
    /// Limit for one run of the agent.
    pub time_limit: Duration,
    /// How cases are confined.
    pub isolation: Isolation,
    /// The folder below which case folders are made.
    pub case_parent: PathBuf,
    /// Whether case folders stay.
    pub keep: bool,
    /// The executable that serves as keeper: this program itself.
    pub keeper: PathBuf,
    /// How often each case runs; at least 1.
    pub repeat: usize,
}

/// A case that has come to its end, with the native request bodies seen in it.
#[derive(Debug)]
pub struct Finished {
    /// The record, before the baseline is applied.
    pub record: CaseRecord,
    /// Bodies by variant and request number, normalised.
    pub bodies: Vec<Body>,
}

/// A normalised request body.
#[derive(Debug)]
pub struct Body {
    /// Which run of the case.
    pub variant: conform_reports::record::VariantName,
    /// Number of the request.
    pub number: u64,
    /// The body.
    pub json: serde_json::Value,
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
/// and what is finished stays.
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
    let work: VecDeque<(usize, Case)> = (0..subjects.len())
        .flat_map(|subject| cases.iter().cloned().map(move |case| (subject, case)))
        .collect();
    let work = Arc::new(Mutex::new(work));
    let options = Arc::new(options);
    let (results, mut finished) = mpsc::channel::<(usize, Finished)>(64);
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..options.jobs.max(1) {
        let worker = Worker {
            subjects: subjects.to_vec(),
            work: Arc::clone(&work),
            options: Arc::clone(&options),
            interrupted: interrupted.clone(),
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
    Ok(RunFinished {
        interrupted: *interrupted.borrow(),
        tally,
        stale: baselines.iter().flat_map(Baseline::stale).collect(),
        duration_ms: millis(start.elapsed()),
    })
}

struct Worker {
    subjects: Vec<Arc<Subject>>,
    work: Arc<Mutex<VecDeque<(usize, Case)>>>,
    options: Arc<Options>,
    interrupted: watch::Receiver<bool>,
    start: Instant,
}

impl Worker {
    async fn work(mut self, results: mpsc::Sender<(usize, Finished)>) {
        loop {
            if *self.interrupted.borrow() {
                return;
            }
            let Some((index, case)) = self.work.lock().await.pop_front() else { return };
            let Some(subject) = self.subjects.get(index) else { return };
            let began = Instant::now();
            let mut finished = tokio::select! {
                finished = run_case(&case, subject, &self.options) => finished,
                // The case under way is dropped: its keeper ends every process of it.
                _ = self.interrupted.wait_for(|interrupted| *interrupted) => return,
            };
            finished.record.timing = Some(Timing {
                started_ms: millis(began.duration_since(self.start)),
                duration_ms: millis(began.elapsed()),
            });
            if results.send((index, finished)).await.is_err() {
                return;
            }
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
