//! A server that is measured: a process that says on its first line where it listens.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A server that runs.
pub struct Server {
    child: Child,
    /// Its process.
    pub id: u32,
    /// The line that it printed when it was ready.
    pub said: String,
}

impl Server {
    /// Starts it and waits for its line.
    pub async fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let id = child.id().context("the server runs")?;
        let output = child.stdout.take().context("the server's output")?;
        let said = BufReader::new(output).lines().next_line().await?;
        Ok(Self { child, id, said: said.context("the server ended before it was ready")? })
    }

    /// Kills it and waits for its end.
    pub async fn end(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Processor time so far, user and system, from `/proc` in ticks of 10 ms.
    pub fn processor_time(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id))?;
        // The name before this may hold spaces; user and system time are fields 14 and 15.
        let fields: Vec<&str> =
            stat.rsplit_once(") ").context("a name")?.1.split_whitespace().collect();
        let ticks = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Resident memory now, in MiB.
    pub fn resident(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib / 1024.0)
    }
}

/// The middle value.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The lowest and the highest value.
pub fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}
