//! `conform serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use clap::builder::PossibleValuesParser;
use conform_mock_server::document::Source;
use conform_mock_server::provider::Provider;
use conform_mock_server::script::{self, Script};
use conform_mock_server::serve::{ServeOptions, serve};
use conform_mock_server::validate::Base;

use super::{Status, say_problems};

/// What to serve, and where.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The script
    script: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Refuse every request that the official services refuse
    #[arg(long)]
    strict: bool,
    /// Play this provider, in place of the script's
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Provider::names()))]
    provider: Option<String>,
}

impl ServeArgs {
    /// Sets what the command line says of the service that is played.
    fn play(&self, script: &mut Script) {
        if self.strict {
            script.validation.base = Some(Base::Strict);
        }
        if let Some(name) = &self.provider {
            script.provider = Provider::named(name);
        }
    }
}

pub(crate) fn main(args: &ServeArgs) -> anyhow::Result<Status> {
    let name = args.script.display().to_string();
    let text = std::fs::read_to_string(&args.script)
        .with_context(|| format!("cannot read the script {name}"))?;
    let mut script = match script::load(&Source::new(name, text)) {
        Ok(script) => script,
        Err(problems) => {
            say_problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    args.play(&mut script);
    let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), args.port);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let summary = runtime.block_on(async {
        let serving = serve(ServeOptions { listen, script }).await?;
        anstream::println!("{}", serde_json::to_string(&serving.ready())?);
        let shutdown = async {
            // Without a signal handler there is no way to end but to be killed, which works too.
            let _ = tokio::signal::ctrl_c().await;
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
