//! `conform record`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use conform_mock_server::record::{RecordOptions, RecordSummary, Scrubber, Upstream, record};

use super::Status;
use super::page::{counted, print};
use super::signals::signals;

/// What to record, and where.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Base URL of the real service, as the client would be given it
    #[arg(long, value_name = "URL")]
    upstream: Upstream,
    /// The script to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Replace the script if it exists
    #[arg(long)]
    force: bool,
    /// Regular expression for one more kind of secret; may repeat
    #[arg(long, value_name = "REGEX")]
    secret: Vec<String>,
}

pub(crate) fn main(args: &RecordArgs) -> anyhow::Result<Status> {
    let patterns: Vec<&str> = args.secret.iter().map(String::as_str).collect();
    let options = RecordOptions {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, args.port)),
        upstream: args.upstream.clone(),
        out: args.out.clone(),
        replace: args.force,
        scrubber: Scrubber::with(&patterns)?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let RecordSummary { turns, missing } = runtime.block_on(async {
        // Before anyone is told that there is something to end.
        let mut end = signals()?;
        let recording = record(options).await?;
        print(&format!("{}\n", serde_json::to_string(&recording.ready())?))?;
        anyhow::Ok(recording.run_until(async { end.recv().await }).await?)
    })?;
    anstream::eprintln!("{} recorded in {}", counted(turns, "turn"), args.out.display());
    for missing in missing {
        anstream::eprintln!("warning: not in the script: {missing}");
    }
    Ok(Status::Success)
}
