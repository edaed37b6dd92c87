//! What all `WebSocket` connections of a server share.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::script::Script;
use crate::server::Mismatch;

/// How many connections were asked for, and which faults came about.
#[derive(Debug, Default)]
pub(in crate::server) struct Sockets {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    asked: u64,
    /// Connection and index of the fault.
    faults: HashSet<(u64, usize)>,
}

impl Sockets {
    /// The number of the next connection, from 1.
    pub(super) fn next(&self) -> u64 {
        let mut inner = self.lock();
        inner.asked += 1;
        inner.asked
    }

    /// Notes that a fault came about.
    pub(super) fn came_about(&self, connection: u64, fault: usize) {
        self.lock().faults.insert((connection, fault));
    }

    /// What the script says of connections and did not come about.
    pub(in crate::server) fn unused(&self, script: &Script) -> Vec<Mismatch> {
        let inner = self.lock();
        let mut unused = Vec::new();
        for (number, connection) in (1..).zip(&script.connections) {
            if number > inner.asked {
                unused.push(Mismatch::UnusedConnection { connection: number });
                continue;
            }
            let faults = (0..connection.faults.len())
                .filter(|fault| !inner.faults.contains(&(number, *fault)))
                .map(|fault| Mismatch::UnusedFault { connection: number, fault: fault + 1 });
            unused.extend(faults);
        }
        unused
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Each change is one addition, so a panic leaves it whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
