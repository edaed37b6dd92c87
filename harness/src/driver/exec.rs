//! The one-shot driver: a process for each prompt, its output the answer.

use conform_reports::record::Exit;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::time::timeout_at;

use super::context::{Context, DriverError};
use super::dialogue::{Dialogue, TurnOutcome};
use super::output::{OutputReader, TurnOutput};
use super::transcript::Transcript;
use crate::agent::profile::OutputRule;
use crate::sandbox::{SandboxError, Stdin};

/// The one-shot driver.
///
/// When the process has ended, whatever it left running is named and killed: a one-shot agent's
/// work is over with it, and a process that still held its output would otherwise never let the
/// output end.
#[derive(Debug)]
pub struct Exec<'a> {
    context: Context<'a>,
    rule: OutputRule,
    dialogue: Dialogue,
    stdout: Transcript,
    stderr: Transcript,
}

impl<'a> Exec<'a> {
    pub(super) fn open(context: Context<'a>) -> Result<Self, DriverError> {
        let rule = context.launch.output.clone().ok_or(DriverError::NoOutputRule)?;
        let limits = context.limits;
        Ok(Self {
            context,
            rule,
            dialogue: Dialogue::default(),
            stdout: Transcript::new(limits),
            stderr: Transcript::new(limits),
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.dialogue.timed_out
    }

    pub(super) async fn prompt(&mut self, text: &str) -> Result<TurnOutcome, DriverError> {
        if self.is_over() {
            return Ok(self.note(TurnOutcome { succeeded: false, final_text: None }));
        }
        let mut process = self.context.start(text, Stdin::Closed).await?;
        let mut reader = OutputReader::new(&self.rule, self.context.limits);
        let ended = async {
            let exit = timeout_at(self.context.deadline, process.exit.wait()).await;
            // Now, or with the time, everything ends; and with it both streams.
            let leftovers = self.context.keeper.sweep().await?;
            let (exit, timed_out) = match exit {
                Ok(exit) => (exit?, false),
                Err(_) => (process.exit.wait().await?, true),
            };
            Ok::<_, SandboxError>((exit, timed_out, leftovers))
        };
        let streams = async {
            tokio::try_join!(
                read(process.stdout, &mut reader),
                Transcript::new(self.context.limits).read(process.stderr)
            )
        };
        // Both at once: a process whose output nobody reads would never end.
        let ((exit, timed_out, leftovers), ((), stderr)) =
            tokio::try_join!(async { ended.await.map_err(DriverError::from) }, async {
                streams.await.map_err(DriverError::from)
            },)?;
        let TurnOutput { mut outcome, text, unreadable } = reader.finish(&exit);
        outcome.succeeded &= !timed_out;
        self.stdout.append(&text);
        self.stderr.append(&stderr);
        // An agent that failed may print what it likes; one that ended well must be understood.
        let ended_well = exit == Exit::Status { status: 0 };
        self.dialogue.exit = exit;
        self.dialogue.timed_out = timed_out;
        self.dialogue.leftovers.extend(leftovers);
        if let Some(line) = unreadable.filter(|_| ended_well) {
            let problem = "no line of it is a JSON event".to_owned();
            return Err(DriverError::Output { problem, line });
        }
        Ok(self.note(outcome))
    }

    /// Every later prompt goes on with the session of the first.
    pub(super) fn resume(&mut self) -> Result<(), DriverError> {
        self.context = self.context.resumed("exec")?;
        Ok(())
    }

    pub(super) async fn close(mut self) -> Result<Dialogue, DriverError> {
        // Only a turn that was cancelled half-way has left anything.
        self.dialogue.leftovers.extend(self.context.keeper.sweep().await?);
        self.dialogue.stdout = self.stdout.into_text();
        self.dialogue.stderr = self.stderr.into_text();
        Ok(self.dialogue)
    }

    fn note(&mut self, outcome: TurnOutcome) -> TurnOutcome {
        self.dialogue.turns.push(outcome.clone());
        outcome
    }
}

async fn read(mut stream: pipe::Receiver, reader: &mut OutputReader<'_>) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            count => reader.push(&buffer[..count]),
        }
    }
}
