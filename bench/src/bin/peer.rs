//! The mock server beside aimock, a mock of the same kind from the npm registry, and beside the
//! bare server, which shows what any server that writes event by event can reach at most.
//!
//! `cargo run --release --bin peer`, after `npm ci` in the folder `aimock`. The three take turns.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use conform_bench::load::{self, Transport};
use conform_bench::process::{Server, median, range};
use conform_bench::servers;
use tokio::process::Command;

const CONNECTIONS: usize = 32;
/// Rounds of each server, after one that is not counted.
const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_secs(2);
/// The mock must answer so many times as many requests a second.
const BAR: f64 = 8.0;

#[tokio::main]
async fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("mock") => return servers::mock().await,
        Some("bare") => return servers::bare().await,
        Some(other) => bail!("unknown argument `{other}`; run without any to compare"),
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("aimock");
    ensure!(folder.join("node_modules").is_dir(), "run `npm ci` in {} first", folder.display());
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let mut rates = [0.0; 3];
        for turn in 0..3 {
            let which = (round + turn) % 3;
            let mut command = match which {
                0 => own("mock")?,
                1 => own("bare")?,
                _ => peer(&folder),
            };
            rates[which] = measure(&mut command).await?;
        }
        if round > 0 {
            rounds.push(rates);
        }
    }
    let rate = |which: usize| median(rounds.iter().map(|rates| rates[which]));
    println!("requests a second over {CONNECTIONS} connections, and the ratio to aimock");
    println!("aimock  {:>6.0}", rate(2));
    for (which, name) in ["mock", "bare"].into_iter().enumerate() {
        let ratios = || rounds.iter().map(|rates| rates[which] / rates[2]);
        let (lowest, highest) = range(ratios());
        let ratio = median(ratios());
        println!("{name:<6}  {:>6.0}  {ratio:.2} ({lowest:.2} - {highest:.2})", rate(which));
    }
    let ratio = median(rounds.iter().map(|rates| rates[0] / rates[2]));
    if ratio < BAR {
        bail!("below the bar of {BAR}");
    }
    Ok(())
}

fn own(server: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(server);
    Ok(command)
}

fn peer(folder: &Path) -> Command {
    let mut command = Command::new("node");
    command.arg("serve.mjs").current_dir(folder);
    command
}

/// Requests a second.
async fn measure(command: &mut Command) -> Result<f64> {
    let server = Server::start(command).await?;
    let load = load::run(&server.said, Transport::Sse, CONNECTIONS, ROUND).await?;
    server.end().await?;
    Ok(load.requests / load.seconds)
}
