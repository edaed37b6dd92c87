//! The mock server beside a bare axum server that writes the same bytes event by event.
//!
//! Both run as a process of their own, started anew for each round, and take turns in one run:
//! only the ratio of two rounds next to each other means something on a shared machine.

mod load;
mod servers;

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// How many connections send requests at once.
const LEVELS: [usize; 3] = [1, 32, 256];
/// Rounds of each server at each level, after one that is not counted.
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(1000);
/// The mock must reach this share of the bare server's requests a second.
const BAR: f64 = 0.9;

#[tokio::main]
async fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        None => compare().await,
        Some("mock") => servers::mock().await,
        Some("bare") => servers::bare().await,
        Some(other) => bail!("unknown argument `{other}`; run without any to compare"),
    }
}

async fn compare() -> Result<()> {
    println!("             requests a second            processor time a request");
    println!("connections  bare   mock   ratio (range)       bare    mock    ratio");
    let mut below = false;
    for connections in LEVELS {
        let mut rounds = Vec::new();
        for round in 0..=ROUNDS {
            // Each goes first in every other round.
            let (bare, mock) = if round % 2 == 0 {
                let bare = measure("bare", connections).await?;
                (bare, measure("mock", connections).await?)
            } else {
                let mock = measure("mock", connections).await?;
                (measure("bare", connections).await?, mock)
            };
            if round > 0 {
                rounds.push((bare, mock));
            }
        }
        let rate = median(rounds.iter().map(|(bare, mock)| mock.rate / bare.rate));
        let ratios = rounds.iter().map(|(bare, mock)| mock.rate / bare.rate);
        let (lowest, highest) = ratios
            .fold((f64::INFINITY, 0.0_f64), |(lowest, highest), ratio| {
                (lowest.min(ratio), highest.max(ratio))
            });
        let cpu = median(rounds.iter().map(|(bare, mock)| mock.cpu / bare.cpu));
        println!(
            "{connections:>11}  {:>5.0}  {:>5.0}  {rate:.2} ({lowest:.2} - {highest:.2})  \
             {:>4.0} us {:>4.0} us  {cpu:.2}",
            median(rounds.iter().map(|(bare, _)| bare.rate)),
            median(rounds.iter().map(|(_, mock)| mock.rate)),
            median(rounds.iter().map(|(bare, _)| bare.cpu)),
            median(rounds.iter().map(|(_, mock)| mock.cpu)),
        );
        below |= rate < BAR;
    }
    if below {
        bail!("below the bar of {BAR}");
    }
    Ok(())
}

/// What one round of one server shows.
struct Measured {
    /// Requests a second.
    rate: f64,
    /// Microseconds of processor time that the server used for each, user and system.
    cpu: f64,
}

async fn measure(server: &str, connections: usize) -> Result<Measured> {
    let (mut child, address) = start(server).await?;
    let id = child.id().context("the server runs")?;
    let before = processor_time(id)?;
    let load = load::run(&address, connections, ROUND).await?;
    let used = processor_time(id)? - before;
    child.kill().await?;
    Ok(Measured {
        rate: load.requests / load.seconds,
        cpu: used.as_secs_f64() * 1e6 / load.requests,
    })
}

/// The processor time of a process, from `/proc` in ticks of 10 ms.
fn processor_time(process: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name before this may hold spaces; user and system time are fields 14 and 15.
    let fields: Vec<&str> =
        stat.rsplit_once(") ").context("a name")?.1.split_whitespace().collect();
    let ticks = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(Duration::from_millis(ticks * 10))
}

async fn start(server: &str) -> Result<(Child, String)> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(server)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = child.stdout.take().context("the server's output")?;
    let address = BufReader::new(output).lines().next_line().await?;
    Ok((child, address.context("the server ended before it said where it listens")?))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
