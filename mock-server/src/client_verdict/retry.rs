//! When, and how often, a client comes again.

use std::time::Duration;

use super::attempt::{Attempt, Chain, retries};
use super::model::{Kind, Misstep, Thresholds};

/// Statuses that tell a client that the same request will be refused again.
const FOR_GOOD: [u16; 10] = [400, 401, 402, 403, 404, 405, 410, 413, 415, 422];

impl Misstep {
    pub(super) fn new(kind: Kind, exchanges: Vec<u64>, says: String) -> Self {
        Self { kind, severity: kind.severity(), exchanges, says }
    }
}

/// It came again before the time that it was told to wait.
pub(super) fn retry_after_ignored(chain: &Chain<'_, '_>, thresholds: &Thresholds) -> Vec<Misstep> {
    let too_early = |(failed, again): (&Attempt<'_>, &Attempt<'_>)| {
        let asked = failed.retry_after().filter(|asked| *asked <= thresholds.longest_wait)?;
        let waited = again.received.saturating_sub(failed.received);
        (waited < asked).then(|| {
            let says = format!(
                "it was asked to wait {} ms and came again after {} ms",
                asked.as_millis(),
                waited.as_millis()
            );
            Misstep::new(Kind::RetryAfterIgnored, vec![failed.number, again.number], says)
        })
    };
    retries(chain).filter_map(too_early).collect()
}

/// It sent a request again that was refused for good.
pub(super) fn non_retryable_retried(
    chain: &Chain<'_, '_>,
    thresholds: &Thresholds,
) -> Option<Misstep> {
    let mut renewals = 0;
    let again = |(failed, _): &(&Attempt<'_>, &Attempt<'_>)| match failed.status() {
        401 => {
            renewals += 1;
            renewals > thresholds.key_renewals
        }
        status => FOR_GOOD.contains(&status),
    };
    let (failed, again) = retries(chain).find(again)?;
    let status = failed.status();
    let says = format!("a request refused with {status} was sent again as it was");
    Some(Misstep::new(Kind::NonRetryableRetried, vec![failed.number, again.number], says))
}

/// It sent one request again and again.
pub(super) fn retry_storm(chain: &Chain<'_, '_>, thresholds: &Thresholds) -> Option<Misstep> {
    let run = longest_failing_run(chain);
    (run.len() > thresholds.attempts).then(|| {
        let says = format!(
            "one question was asked {} times, and {} times are enough",
            run.len(),
            thresholds.attempts
        );
        Misstep::new(Kind::RetryStorm, run.iter().map(|attempt| attempt.number).collect(), says)
    })
}

/// It came again at once, several times. Waits that the server asked for are not looked at.
pub(super) fn no_backoff(chain: &Chain<'_, '_>, thresholds: &Thresholds) -> Option<Misstep> {
    let mut run: Vec<u64> = Vec::new();
    let mut longest: Duration = Duration::ZERO;
    for (failed, again) in retries(chain) {
        let waited = again.received.saturating_sub(failed.received);
        if failed.retry_after().is_some() || waited >= thresholds.shortest_wait {
            run.clear();
            longest = Duration::ZERO;
            continue;
        }
        if run.last() != Some(&failed.number) {
            run = vec![failed.number];
            longest = Duration::ZERO;
        }
        run.push(again.number);
        longest = longest.max(waited);
        if run.len() > thresholds.short_waits {
            let says = format!(
                "after {} failures in a row it never waited longer than {} ms",
                thresholds.short_waits,
                longest.as_millis()
            );
            return Some(Misstep::new(Kind::NoBackoff, run, says));
        }
    }
    None
}

/// The longest run of attempts in which all but the last failed.
fn longest_failing_run<'c, 'a, 'e>(chain: &'c Chain<'a, 'e>) -> &'c [&'a Attempt<'e>] {
    chain
        .split_inclusive(|attempt| !attempt.has_failed())
        .max_by_key(|run| run.len())
        .unwrap_or_default()
}
