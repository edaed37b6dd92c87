//! The verdict as data.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// All that the client did wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ClientVerdict {
    /// In the order of the first exchange that shows each.
    pub missteps: Vec<Misstep>,
}

impl ClientVerdict {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.missteps.is_empty()
    }

    /// The missteps that are at least this grave.
    pub fn at_least(&self, severity: Severity) -> impl Iterator<Item = &Misstep> {
        self.missteps.iter().filter(move |misstep| misstep.severity >= severity)
    }
}

impl fmt::Display for ClientVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("nothing to say against the client");
        }
        for (index, misstep) in self.missteps.iter().enumerate() {
            let line_end = if index == 0 { "" } else { "\n" };
            write!(f, "{line_end}{misstep}")?;
        }
        Ok(())
    }
}

/// One thing that the client did wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Misstep {
    /// What kind of thing.
    pub kind: Kind,
    /// How grave it is.
    pub severity: Severity,
    /// The exchanges that show it, by their numbers in the journal.
    pub exchanges: Vec<u64>,
    /// What happened, in one sentence.
    pub says: String,
}

impl fmt::Display for Misstep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exchanges: Vec<String> = self.exchanges.iter().map(u64::to_string).collect();
        let (severity, kind) = (self.severity.name(), self.kind.name());
        write!(f, "{severity} {kind} (requests {}): {}", exchanges.join(", "), self.says)
    }
}

/// What a client can do wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It came again before the time that `retry-after` names.
    RetryAfterIgnored,
    /// It sent a request again that was refused for good.
    NonRetryableRetried,
    /// It sent one request again and again.
    RetryStorm,
    /// It came again at once, several times.
    NoBackoff,
    /// It took a reply that was cut for a whole one.
    TruncatedStreamAccepted,
    /// It sent a result of a call that nobody made.
    OrphanResults,
    /// It answered one call twice, or with two results.
    DoubleExecutionSuspected,
    /// It sent one whole prompt over two wires, though the first had been accepted.
    FullPromptOverTwoTransports,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::RetryAfterIgnored,
        Self::NonRetryableRetried,
        Self::RetryStorm,
        Self::NoBackoff,
        Self::TruncatedStreamAccepted,
        Self::OrphanResults,
        Self::DoubleExecutionSuspected,
        Self::FullPromptOverTwoTransports,
    ];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::RetryAfterIgnored => "retry-after-ignored",
            Self::NonRetryableRetried => "non-retryable-retried",
            Self::RetryStorm => "retry-storm",
            Self::NoBackoff => "no-backoff",
            Self::TruncatedStreamAccepted => "truncated-stream-accepted",
            Self::OrphanResults => "orphan-results",
            Self::DoubleExecutionSuspected => "double-execution-suspected",
            Self::FullPromptOverTwoTransports => "full-prompt-over-two-transports",
        }
    }

    /// How grave it is, where nothing makes it less so.
    pub fn severity(self) -> Severity {
        match self {
            Self::RetryAfterIgnored
            | Self::NonRetryableRetried
            | Self::TruncatedStreamAccepted
            | Self::OrphanResults => Severity::Must,
            Self::RetryStorm | Self::NoBackoff | Self::DoubleExecutionSuspected => Severity::Should,
            Self::FullPromptOverTwoTransports => Severity::Info,
        }
    }
}

/// How grave a misstep is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// A client should not do it.
    Should,
    /// A client must not do it.
    Must,
}

impl Severity {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Should => "should",
            Self::Must => "must",
        }
    }
}

/// The figures by which the client is graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// The longest wait that a client can be asked for; common clients use a wait of their own
    /// when they are asked for more. 60 s.
    pub longest_wait: Duration,
    /// How often a request that was refused for its key (401) may be sent again, since a client may
    /// have got a new key. Once.
    pub key_renewals: usize,
    /// How many attempts one question may take. 10: two layers of two retries each make 9.
    pub attempts: usize,
    /// How many waits between failed attempts, all too short, show that there is no backoff. 2: one
    /// attempt at once is common, and harmless.
    pub short_waits: usize,
    /// The shortest wait that counts as one. 100 ms.
    pub shortest_wait: Duration,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            longest_wait: Duration::from_secs(60),
            key_renewals: 1,
            attempts: 10,
            short_waits: 2,
            shortest_wait: Duration::from_millis(100),
        }
    }
}
