//! `conform serve` as a process: how soon it answers, and how it bears a long load.
//!
//! `cargo run --release --bin serve -- CONFORM start` and
//! `cargo run --release --bin serve -- CONFORM soak [SECONDS] [CONNECTIONS]`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use conform_bench::load::{self, Connection, Transport};
use conform_bench::process::{Server, median, range};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

/// From the start of the process to the last byte of its first answer.
const START_BAR: Duration = Duration::from_millis(5);
const STARTS: usize = 31;
/// Resident memory under load, in MiB, with as many exchanges in memory as below.
const MEMORY_BAR: f64 = 25.0;
const JOURNAL: [&str; 4] = ["--journal-entries", "128", "--journal-bytes", "4194304"];
/// By how much the median of the last third of the time may be above that of the middle third.
const GROWTH: f64 = 1.05;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [conform, "start"] => start(Path::new(conform)).await,
        [conform, "soak", rest @ ..] => {
            let seconds = rest.first().map_or(Ok(60), |text| text.parse())?;
            let connections = rest.get(1).map_or(Ok(256), |text| text.parse())?;
            soak(Path::new(conform), Duration::from_secs(seconds), connections).await
        }
        _ => bail!("usage: serve CONFORM start | serve CONFORM soak [SECONDS] [CONNECTIONS]"),
    }
}

async fn start(conform: &Path) -> Result<()> {
    let script = script()?;
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let begin = Instant::now();
        let server = serve(conform, script.path(), &[]).await?;
        Connection::open(&server.address()?, Transport::Sse).await?.ask().await?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        server.0.end().await?;
    }
    let middle = median(times.iter().copied());
    let (lowest, highest) = range(times.iter().copied());
    println!("start to first answer: {middle:.1} ms ({lowest:.1} - {highest:.1}), {STARTS} starts");
    ensure!(middle <= START_BAR.as_secs_f64() * 1e3, "above the bar of {START_BAR:?}");
    Ok(())
}

async fn soak(conform: &Path, time: Duration, connections: usize) -> Result<()> {
    let script = script()?;
    let server = serve(conform, script.path(), &JOURNAL).await?;
    let address = server.address()?;
    let load = tokio::spawn({
        let address = address.clone();
        async move { load::run(&address, Transport::Sse, connections, time).await }
    });
    let mut resident = Vec::new();
    while !load.is_finished() {
        tokio::time::sleep(Duration::from_millis(500)).await;
        resident.push(server.0.resident()?);
    }
    let load = load.await??;
    let third = resident.len() / 3;
    let middle = median(resident[third..2 * third].iter().copied());
    let last = median(resident[2 * third..].iter().copied());
    let (_, highest) = range(resident.iter().copied());
    println!(
        "{:.0} requests over {connections} connections in {:.0} s, {:.0} a second; resident \
         memory: middle {middle:.1} MiB, last {last:.1} MiB, highest {highest:.1} MiB",
        load.requests,
        load.seconds,
        load.requests / load.seconds,
    );

    let session = server.ask("sessions/default").await?;
    let counted = session.pointer("/counts/exchanges").and_then(Value::as_f64);
    let counted = counted.context("the session's count of exchanges")?;
    // Each connection's first request is answered before the load is counted.
    let sent = load.requests + connections as f64;
    ensure!((counted - sent).abs() < 0.5, "{sent} requests were sent and {counted} are counted");
    for number in [1.0, (sent / 2.0).floor(), sent] {
        let exchange = server.ask(&format!("sessions/default/journal/{number}")).await?;
        let model =
            exchange.pointer("/model/json/model").or(exchange.pointer("/request/json/model"));
        ensure!(
            exchange.to_string().contains("bench") || model.is_some(),
            "exchange {number} is not kept whole: {exchange}"
        );
    }
    println!(
        "the journal holds all {sent:.0} exchanges; the first, the middle and the last were read"
    );
    ensure!(last <= middle * GROWTH, "memory grows");
    ensure!(highest <= MEMORY_BAR, "above the bar of {MEMORY_BAR} MiB");
    server.0.end().await
}

/// A script that repeats one streamed answer of 20 deltas.
fn script() -> Result<NamedTempFile> {
    let text: String = ('a'..='x').cycle().take(20 * 24).collect();
    let mut file = tempfile::Builder::new().suffix(".yaml").tempfile()?;
    writeln!(file, "when_exhausted: repeat-last\nturns:\n  - say: {text}")?;
    Ok(file)
}

/// `conform serve`, started.
struct Serve(Server);

async fn serve(conform: &Path, script: &Path, options: &[&str]) -> Result<Serve> {
    let conform: PathBuf = std::fs::canonicalize(conform)?;
    let mut command = Command::new(conform);
    command.arg("serve").arg(script).args(options).env_clear().stderr(std::process::Stdio::null());
    Ok(Serve(Server::start(&mut command).await?))
}

impl Serve {
    fn address(&self) -> Result<String> {
        let said: Value = serde_json::from_str(&self.0.said)?;
        let url = said.get("url").and_then(Value::as_str).context("its address")?;
        Ok(url.trim_start_matches("http://").to_owned())
    }

    /// Asks the control API.
    async fn ask(&self, path: &str) -> Result<Value> {
        let mut stream = TcpStream::connect(self.address()?).await?;
        let request =
            format!("GET /__conform/{path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (head, body) = answer.split_once("\r\n\r\n").context("an answer")?;
        ensure!(head.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        Ok(serde_json::from_str(body)?)
    }
}
