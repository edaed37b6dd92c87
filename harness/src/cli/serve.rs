//! `conform serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use conform_mock_server::document::Source;
use conform_mock_server::script;
use conform_mock_server::serve::{ServeOptions, serve};

use super::page::print;
use super::signals::signals;
use super::{Status, say_problems};

/// What to serve, and where.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The script, a YAML file
    #[arg(value_name = "FILE")]
    script: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub(crate) fn main(args: &ServeArgs) -> anyhow::Result<Status> {
    let name = args.script.display().to_string();
    let text = std::fs::read_to_string(&args.script).map_err(|error| {
        anyhow::anyhow!("cannot read the script {name}: {error}; check the path")
    })?;
    let script = match script::load(&Source::new(name, text)) {
        Ok(script) => script,
        Err(problems) => {
            say_problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), args.port);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let summary = runtime.block_on(async {
        // Before anyone is told that there is something to end.
        let mut end = signals()?;
        let serving = serve(ServeOptions { listen, script }).await?;
        print(&format!("{}\n", serde_json::to_string(&serving.ready())?))?;
        let shutdown = async move {
            end.recv().await;
        };
        anyhow::Ok(serving.run_until(shutdown).await)
    })?;
    anstream::eprintln!(
        "{} requests, {} answered by the script, {} turns unused, {} mismatches",
        summary.requests,
        summary.served,
        summary.unused.len(),
        summary.mismatches.len()
    );
    Ok(if summary.mismatches.is_empty() { Status::Success } else { Status::GateFails })
}
