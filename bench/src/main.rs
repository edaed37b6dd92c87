//! The mock server beside a bare axum server that writes the same bytes event by event.
//!
//! Both run as a process of their own, started anew for each round, and take turns in one run:
//! only the ratio of two rounds next to each other means something on a shared machine.

use std::time::Duration;

use anyhow::{Result, ensure};
use conform_bench::load::{self, Transport};
use conform_bench::process::{Server, median, range};
use conform_bench::servers;
use tokio::process::Command;

/// How many connections send requests at once.
const LEVELS: [usize; 3] = [1, 32, 256];
/// Rounds of each server at each level, after one that is not counted.
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(1000);

/// The share of the bare server's requests a second that the mock must reach.
fn bar(transport: Transport) -> f64 {
    match transport {
        Transport::Sse => 0.9,
        Transport::Socket => 0.8,
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("mock") => servers::mock().await,
        Some("bare") => servers::bare().await,
        Some(transport) => compare(&[transport.parse()?]).await,
        None => compare(&[Transport::Sse, Transport::Socket]).await,
    }
}

async fn compare(transports: &[Transport]) -> Result<()> {
    let mut below = Vec::new();
    for &transport in transports {
        if !compare_over(transport).await? {
            below.push(format!("{} is below its bar of {}", transport.name(), bar(transport)));
        }
    }
    ensure!(below.is_empty(), "{}", below.join("; "));
    Ok(())
}

/// Whether the bar is met at each level.
async fn compare_over(transport: Transport) -> Result<bool> {
    println!("{:<11}  requests a second            processor time a request", transport.name());
    println!("connections  bare   mock   ratio (range)       bare    mock    ratio");
    let mut below = false;
    for connections in LEVELS {
        let mut rounds = Vec::new();
        for round in 0..=ROUNDS {
            // Each goes first in every other round.
            let (bare, mock) = if round % 2 == 0 {
                let bare = measure("bare", transport, connections).await?;
                (bare, measure("mock", transport, connections).await?)
            } else {
                let mock = measure("mock", transport, connections).await?;
                (measure("bare", transport, connections).await?, mock)
            };
            if round > 0 {
                rounds.push((bare, mock));
            }
        }
        let rate = median(rounds.iter().map(|(bare, mock)| mock.rate / bare.rate));
        let (lowest, highest) = range(rounds.iter().map(|(bare, mock)| mock.rate / bare.rate));
        let cpu = median(rounds.iter().map(|(bare, mock)| mock.cpu / bare.cpu));
        println!(
            "{connections:>11}  {:>5.0}  {:>5.0}  {rate:.2} ({lowest:.2} - {highest:.2})  \
             {:>4.0} us {:>4.0} us  {cpu:.2}",
            median(rounds.iter().map(|(bare, _)| bare.rate)),
            median(rounds.iter().map(|(_, mock)| mock.rate)),
            median(rounds.iter().map(|(bare, _)| bare.cpu)),
            median(rounds.iter().map(|(_, mock)| mock.cpu)),
        );
        below |= rate < bar(transport);
    }
    Ok(!below)
}

/// What one round of one server shows.
struct Measured {
    /// Requests a second.
    rate: f64,
    /// Microseconds of processor time that the server used for each, user and system.
    cpu: f64,
}

async fn measure(server: &str, transport: Transport, connections: usize) -> Result<Measured> {
    let server = Server::start(Command::new(std::env::current_exe()?).arg(server)).await?;
    let before = server.processor_time()?;
    let load = load::run(&server.said, transport, connections, ROUND).await?;
    let used = server.processor_time()? - before;
    server.end().await?;
    Ok(Measured {
        rate: load.requests / load.seconds,
        cpu: used.as_secs_f64() * 1e6 / load.requests,
    })
}
