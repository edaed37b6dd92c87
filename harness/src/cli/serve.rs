//! `conform serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use conform_mock_server::document::Source;
use conform_mock_server::journal::JournalLimits;
use conform_mock_server::provider::Provider;
use conform_mock_server::script::{self, Script};
use conform_mock_server::serve::{ServeOptions, SessionSummary, Summary, serve};
use conform_mock_server::server::Token;
use conform_mock_server::validate::Base;

use super::page::{counted, print};
use super::signals::signals;
use super::{Status, say_problems};

/// What to serve, and where.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The script of the default session, a YAML file
    #[arg(value_name = "FILE")]
    script: PathBuf,
    /// Port; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Address to listen on; one that other machines can reach asks for --token
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Secret that the control API asks for; it does not guard the model endpoints
    #[arg(long, value_name = "TOKEN", env = "CONFORM_TOKEN", hide_env_values = true)]
    token: Option<Token>,
    /// How many requests a session's journal holds in memory
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    journal_entries: usize,
    /// How many bytes a session's journal holds in memory, about
    #[arg(long, value_name = "BYTES", default_value_t = 64 * 1024 * 1024)]
    journal_bytes: u64,
    /// Folder that takes what a journal cannot hold, until the server stops [default: the system's
    /// folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    journal_folder: Option<PathBuf>,
    /// Refuse every request that the official services refuse (the default session)
    #[arg(long)]
    strict: bool,
    /// Play this provider, in place of the script's (the default session)
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
    let text = std::fs::read_to_string(&args.script).map_err(|error| {
        anyhow::anyhow!("cannot read the script {name}: {error}; check the path")
    })?;
    let mut script = match script::load(&Source::new(name, text)) {
        Ok(script) => script,
        Err(problems) => {
            say_problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    args.play(&mut script);
    let options = ServeOptions {
        listen: SocketAddr::new(args.listen, args.port),
        script,
        token: args.token.clone(),
        journal: JournalLimits {
            entries: args.journal_entries,
            bytes: args.journal_bytes,
            spill: Some(args.journal_folder.clone().unwrap_or_else(std::env::temp_dir)),
        },
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let summary = runtime.block_on(async {
        // Before anyone is told that there is something to end.
        let mut end = signals()?;
        let serving = serve(options).await?;
        print(&format!("{}\n", serde_json::to_string(&serving.ready())?))?;
        anyhow::Ok(serving.run_until(async { end.recv().await }).await)
    })?;
    Ok(sum_up(&summary))
}

fn sum_up(summary: &Summary) -> Status {
    for session in &summary.sessions {
        let SessionSummary { key, counts, unused, mismatches } = session;
        let requests = usize::try_from(counts.exchanges).unwrap_or(usize::MAX);
        anstream::eprintln!(
            "session {key}: {}, {} answered by the script, {} unused, mismatches: {}",
            counted(requests, "request"),
            counts.served,
            counted(unused.len(), "turn"),
            mismatches.len(),
        );
        for mismatch in mismatches {
            anstream::eprintln!("- {mismatch}");
        }
    }
    if summary.sessions.iter().all(|session| session.mismatches.is_empty()) {
        Status::Success
    } else {
        Status::GateFails
    }
}
