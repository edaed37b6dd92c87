//! The cases that wait, and how many of each agent may run at once.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::subject::Subject;
use crate::case::Case;

/// The share of the memory that is free which the runs of one agent may take together; the rest is
/// for the other agents and for whatever else the machine does.
const SHARE: u64 = 2;

/// Cases that wait for a worker.
#[derive(Debug)]
pub(super) struct Work {
    state: Mutex<State>,
    /// A case has ended, so that another of its agent may begin.
    freed: Notify,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<(usize, Case)>,
    /// How many cases of each subject run.
    running: Vec<usize>,
    /// How many may.
    most: Vec<usize>,
}

/// A case that a worker has taken. Its place is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) subject: usize,
    pub(super) case: Case,
    work: Arc<Work>,
}

impl Work {
    /// Every case for every subject. `memory` is what the machine has free, in MiB; `None`: not
    /// known, so that nothing is held back.
    pub(super) fn new(subjects: &[Arc<Subject>], cases: &[Case], memory: Option<u64>) -> Self {
        let waiting = (0..subjects.len())
            .flat_map(|subject| cases.iter().cloned().map(move |case| (subject, case)))
            .collect();
        let most = subjects.iter().map(|subject| at_once(subject.profile.memory, memory)).collect();
        let state = State { waiting, running: vec![0; subjects.len()], most };
        Self { state: Mutex::new(state), freed: Notify::new() }
    }

    /// The next case whose agent may run once more; waits for one. `None`: no case is left.
    pub(super) async fn take(self: &Arc<Self>) -> Option<Taken> {
        loop {
            let mut freed = pin!(self.freed.notified());
            // Before the look, so that no case can end unseen in between.
            freed.as_mut().enable();
            {
                let mut state = self.lock();
                if state.waiting.is_empty() {
                    return None;
                }
                if let Some((subject, case)) = state.take() {
                    return Some(Taken { subject, case, work: Arc::clone(self) });
                }
            }
            freed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each step leaves the counts as they are to be.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<(usize, Case)> {
        let State { waiting, running, most } = self;
        let may = |subject: usize| running.get(subject) < most.get(subject);
        let place = waiting.iter().position(|(subject, _)| may(*subject))?;
        let (subject, case) = waiting.remove(place)?;
        if let Some(count) = running.get_mut(subject) {
            *count += 1;
        }
        Some((subject, case))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(count) = self.work.lock().running.get_mut(self.subject) {
            *count -= 1;
        }
        self.work.freed.notify_waiters();
    }
}

/// How many runs of an agent that takes so many MiB the free memory bears: one at least.
fn at_once(one: Option<u64>, free: Option<u64>) -> usize {
    let (Some(one), Some(free)) = (one, free) else { return usize::MAX };
    let most = free / SHARE / one.max(1);
    usize::try_from(most).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::fixture;

    fn subject(memory: Option<u64>) -> Arc<Subject> {
        let profile = crate::agent::profile::Profile { memory, ..fixture::profile() };
        Arc::new(Subject {
            profile,
            version: "1".to_owned(),
            executable: "agent".into(),
            interpreter: None,
            wire: None,
            defects: Vec::new(),
        })
    }

    #[test]
    fn memory_bears_so_many() {
        assert_eq!(at_once(Some(400), Some(8000)), 10);
        assert_eq!(at_once(Some(400), Some(500)), 1, "one at least");
        assert_eq!(at_once(None, Some(500)), usize::MAX);
        assert_eq!(at_once(Some(400), None), usize::MAX);
        assert_eq!(at_once(Some(0), Some(500)), 250);
    }

    #[tokio::test]
    async fn a_heavy_agent_waits_for_its_own_and_lets_others_by() {
        let (heavy, light) = (subject(Some(400)), subject(Some(10)));
        let cases = [fixture::case(), fixture::case()];
        let work = Arc::new(Work::new(&[heavy, light], &cases, Some(900)));
        let first = work.take().await.expect("a case");
        let second = work.take().await.expect("a case");
        let third = work.take().await.expect("a case");
        assert_eq!((first.subject, second.subject, third.subject), (0, 1, 1));

        // What is left is the heavy one's, and waits.
        let mut waiting = taking(Arc::clone(&work));
        tokio::task::yield_now().await;
        drop(second);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        let fourth = (&mut waiting).await.expect("a task").expect("a case");
        assert_eq!(fourth.subject, 0);
        assert!(work.take().await.is_none());
    }

    fn taking(work: Arc<Work>) -> tokio::task::JoinHandle<Option<Taken>> {
        tokio::spawn(async move { work.take().await })
    }
}
