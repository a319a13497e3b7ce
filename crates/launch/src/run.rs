//! Programs that are run to their end for what they print.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::child::{Child, Stdout};
use crate::command::{Command, Output};
use crate::error::{Error, ErrorKind};
use crate::guard::Exit;

/// How long a program may run, and how much of its output is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    time: Duration,
    bytes: usize,
}

impl Default for Limits {
    /// A minute, and 16 MiB.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(60),
            bytes: 16 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// How long it may run.
    #[must_use]
    pub fn time(mut self, limit: Duration) -> Self {
        self.time = limit;
        self
    }

    /// How many bytes of its standard output are kept: the first ones. The rest is read, so that it can end, and counted.
    #[must_use]
    pub fn bytes(mut self, limit: usize) -> Self {
        self.bytes = limit;
        self
    }
}

/// What a program that was run to its end has printed.
#[derive(Clone, Debug)]
pub struct Printed {
    exit: Exit,
    stdout: Vec<u8>,
    left_out: u64,
    stderr: String,
}

impl Printed {
    /// How it ended.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Its standard output, as far as it was kept.
    #[must_use]
    pub fn stdout(&self) -> &[u8] {
        &self.stdout
    }

    /// How many bytes of its standard output were not kept.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The end of its standard error, as text for a person.
    #[must_use]
    pub fn stderr(&self) -> &str {
        &self.stderr
    }
}

/// How many lines of its standard error an error or a result quotes.
const LINES: usize = 20;

impl Command {
    /// Runs it to its end, within `limits`. Its standard output is kept, and of its standard error the end, wherever they
    /// were to go; what it reads is up to [`stdin`](Command::stdin), and should be [`Null`](crate::Input::Null).
    ///
    /// If this future is dropped it is killed, with everything that it has started.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or is not done in time: [`TimedOut`](ErrorKind::TimedOut), after it was killed. That it
    /// fails by itself is none: see [`Printed::exit`].
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time.
    pub async fn run(&self, limits: &Limits) -> Result<Printed, Error> {
        let command = self.clone().stdout(Output::Piped).stderr(Output::TAIL);
        let mut child = command.spawn().await?;
        let output = child.take_stdout();
        let done = timeout(limits.time, to_the_end(&child, output, limits.bytes)).await;
        let tail = child.stderr_tail().map(|tail| tail.lines(LINES));
        let stderr = tail.unwrap_or_default();
        if let Ok((exit, stdout, left_out)) = done {
            return Ok(Printed {
                exit,
                stdout,
                left_out,
                stderr,
            });
        }
        // If it cannot be, its guard goes on trying; what the caller has to know is that it was late.
        let _ = child.kill().await;
        let after = limits.time;
        let kind = ErrorKind::TimedOut { after, stderr };
        Err(Error::new(self.program(), kind))
    }
}

async fn to_the_end(child: &Child, output: Option<Stdout>, limit: usize) -> (Exit, Vec<u8>, u64) {
    let (mut kept, mut left_out) = (Vec::new(), 0);
    if let Some(mut output) = output {
        let mut buffer = vec![0; 64 * 1024];
        // An error is taken for the end: there is nothing more to be had, and the exit tells the rest.
        while let Ok(count @ 1..) = output.read(&mut buffer).await {
            let keep = count.min(limit - kept.len());
            kept.extend_from_slice(&buffer[..keep]);
            left_out += (count - keep) as u64;
        }
    }
    (child.gone().await, kept, left_out)
}
