//! A program that runs, and how it is ended.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::error::{Error, ErrorKind};
use crate::guard::{Control, Exit, Order, Signal, Started, State};
use crate::tail::Tail;

/// A program that was started by [`Command::spawn`](crate::Command::spawn).
///
/// It lives at most as long as this value: dropped, it is killed with everything that it has started, at once and without
/// a runtime. [`stop`](Self::stop) is the polite way.
#[derive(Debug)]
pub struct Child {
    program: OsString,
    id: u32,
    input: Arc<Mutex<InputPipe>>,
    input_taken: bool,
    output: Option<Stdout>,
    error_output: Option<Stdout>,
    stdout: Option<Tail>,
    stderr: Option<Tail>,
    control: Control,
    state: watch::Receiver<State>,
}

impl Child {
    pub(crate) fn new(
        program: &OsStr,
        started: Started,
        stdout: Option<Tail>,
        stderr: Option<Tail>,
    ) -> io::Result<Self> {
        let Started {
            id,
            stdin,
            stdout: output,
            stderr: error_output,
            control,
            state,
        } = started;
        let stdin = stdin.map(OwnedFd::from).map(pipe::Sender::from_owned_fd);
        let reader = |fd| pipe::Receiver::from_owned_fd(fd).map(Stdout);
        Ok(Self {
            program: program.to_owned(),
            id,
            input_taken: stdin.is_none(),
            input: Arc::new(Mutex::new(InputPipe {
                pipe: stdin.transpose()?,
                writer: None,
            })),
            output: output.map(reader).transpose()?,
            error_output: error_output.map(reader).transpose()?,
            stdout,
            stderr,
            control,
            state,
        })
    }

    /// The number of its process, which is also that of its session and group. It says nothing once the child has ended:
    /// signals go through [`signal`](Self::signal), which never reaches another process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How many bytes of memory it and what it has started hold together, as far as they are in its session: pages that they
    /// share are counted for each. Absent where the system does not tell (`/proc` of Linux does), or it has ended.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        self.exit().is_none().then(|| session_memory(self.id))?
    }

    /// Its standard input, once, if it is [piped](crate::Input::Piped). Dropping what this gives closes it.
    pub fn take_stdin(&mut self) -> Option<Stdin> {
        let taken = std::mem::replace(&mut self.input_taken, true);
        (!taken).then(|| Stdin(Arc::clone(&self.input)))
    }

    /// Its standard output, once, if it is [piped](crate::Output::Piped).
    pub fn take_stdout(&mut self) -> Option<Stdout> {
        self.output.take()
    }

    /// Its standard error, once, if it is [piped](crate::Output::Piped).
    pub fn take_stderr(&mut self) -> Option<Stdout> {
        self.error_output.take()
    }

    /// The end of its standard output, if that is [drained](crate::Output::Drained).
    #[must_use]
    pub fn stdout_tail(&self) -> Option<&Tail> {
        self.stdout.as_ref()
    }

    /// The end of its standard error, if that is [drained](crate::Output::Drained).
    #[must_use]
    pub fn stderr_tail(&self) -> Option<&Tail> {
        self.stderr.as_ref()
    }

    /// Sends a signal to its process group; nothing happens if it has ended.
    pub fn signal(&self, signal: Signal) {
        self.control.order(Order::Signal(signal));
    }

    /// How it ended, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        match *self.state.borrow() {
            State::Running => None,
            State::Exited(exit) | State::Gone(exit) => Some(exit),
        }
    }

    /// A future for when the program has ended. What it had written to a drained stream until then is in the tail.
    ///
    /// The future borrows nothing, and may be dropped and asked for again.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + use<> {
        reached(self.state.clone(), |state| match state {
            State::Running => None,
            State::Exited(exit) | State::Gone(exit) => Some(exit),
        })
    }

    /// A future for when nothing is left: the program has ended, and so has everything that it had started. That may be
    /// later than the [end](Self::exited) where the system cannot kill a process at once.
    ///
    /// The future borrows nothing, and may be dropped and asked for again.
    pub fn gone(&self) -> impl Future<Output = Exit> + Send + use<> {
        reached(self.state.clone(), |state| match state {
            State::Running | State::Exited(_) => None,
            State::Gone(exit) => Some(exit),
        })
    }

    /// How it ended, in words, with the last `lines` lines of its standard error: for an error that tells why nothing
    /// came back. `None` while it runs.
    #[must_use]
    pub fn last_words(&self, lines: usize) -> Option<String> {
        let program = OsStr::to_string_lossy(&self.program);
        let said = self.stderr.as_ref().map(|tail| tail.lines(lines));
        let exit = self.exit()?;
        Some(match said.as_deref() {
            None | Some("") => format!("`{program}` {exit}"),
            Some(said) => format!("`{program}` {exit}; its last words:\n{said}"),
        })
    }

    /// Ends it, step by step:
    ///
    /// 1. `ask` runs, which asks by the program's own protocol;
    /// 2. its standard input is closed, whoever holds it: many programs clean up then what nobody else can;
    /// 3. its group is asked to terminate;
    /// 4. it is killed, with its group and every descendant.
    ///
    /// Each step begins when the one before has had its time, and none begins once the program has ended. Whatever it has
    /// started and left behind is killed then, and its status collected. That `ask` ends, by success or not, ends the
    /// first step.
    ///
    /// If this future is dropped the child stays as far as it was brought, and in the guard of this value.
    ///
    /// # Errors
    ///
    /// [`NotKilled`](ErrorKind::NotKilled) if something is left when the time of the last step is over.
    pub async fn stop(
        &mut self,
        ask: impl Future<Output = ()>,
        ladder: &Ladder,
    ) -> Result<Stopped, Error> {
        let rung = self.climb(ask, ladder).await;
        let exit = self.await_gone(ladder.kill).await?;
        Ok(Stopped { exit, rung })
    }

    /// Kills it at once, with its group and every descendant, and waits for that as long as the last step of the default
    /// [`Ladder`] takes.
    ///
    /// # Errors
    ///
    /// [`NotKilled`](ErrorKind::NotKilled) if something is left then.
    pub async fn kill(&mut self) -> Result<Exit, Error> {
        self.control.order(Order::Sweep);
        self.await_gone(Ladder::default().kill).await
    }

    async fn climb(&mut self, ask: impl Future<Output = ()>, ladder: &Ladder) -> Rung {
        let mut exited = std::pin::pin!(self.exited());
        if self.exit().is_some() {
            return Rung::Ended;
        }
        let asked = async {
            tokio::select! {
                biased;
                _ = &mut exited => true,
                () = ask => false,
            }
        };
        if timeout(ladder.ask, asked).await == Ok(true) {
            return Rung::Asked;
        }
        close(&self.input);
        if timeout(ladder.close, &mut exited).await.is_ok() {
            return Rung::Closed;
        }
        self.signal(Signal::Terminate);
        if timeout(ladder.terminate, &mut exited).await.is_ok() {
            return Rung::Terminated;
        }
        self.control.order(Order::Sweep);
        Rung::Killed
    }

    async fn await_gone(&self, limit: Duration) -> Result<Exit, Error> {
        let gone = timeout(limit, self.gone()).await;
        gone.map_err(|_| Error::new(&self.program, ErrorKind::NotKilled { id: self.id }))
    }
}

/// Waits for a state. The thread that sends it outlives the child.
async fn reached<T: Copy>(
    mut state: watch::Receiver<State>,
    wanted: impl Fn(State) -> Option<T> + Send + 'static,
) -> T {
    loop {
        if let Some(found) = wanted(*state.borrow_and_update()) {
            return found;
        }
        if state.changed().await.is_err() {
            // The last thing that the thread does is to say that the child is gone, so that this is not reached.
            std::future::pending::<()>().await;
        }
    }
}

/// How long each step of [`Child::stop`] may take.
///
/// ```
/// use std::time::Duration;
/// use terret_launch::Ladder;
///
/// let patient = Ladder::default().close(Duration::from_secs(10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    ask: Duration,
    close: Duration,
    terminate: Duration,
    kill: Duration,
}

impl Default for Ladder {
    /// 2 seconds to be asked, 1 after the end of its input, 1 to terminate, 5 to be gone.
    fn default() -> Self {
        Self {
            ask: Duration::from_secs(2),
            close: Duration::from_secs(1),
            terminate: Duration::from_secs(1),
            kill: Duration::from_secs(5),
        }
    }
}

impl Ladder {
    /// How long asking may take.
    #[must_use]
    pub fn ask(mut self, limit: Duration) -> Self {
        self.ask = limit;
        self
    }

    /// How long it may go on after the end of its input.
    #[must_use]
    pub fn close(mut self, limit: Duration) -> Self {
        self.close = limit;
        self
    }

    /// How long it may go on after it was asked to terminate.
    #[must_use]
    pub fn terminate(mut self, limit: Duration) -> Self {
        self.terminate = limit;
        self
    }

    /// How long it may take until nothing is left once it has ended or was killed.
    #[must_use]
    pub fn kill(mut self, limit: Duration) -> Self {
        self.kill = limit;
        self
    }

    /// What all of it may take.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.ask + self.close + self.terminate + self.kill
    }
}

/// How a child was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    exit: Exit,
    rung: Rung,
}

impl Stopped {
    /// How it ended.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Which step it took.
    #[must_use]
    pub fn rung(&self) -> Rung {
        self.rung
    }
}

/// The steps of [`Child::stop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rung {
    /// It had ended already.
    Ended,
    /// It ended while it was asked.
    Asked,
    /// It ended when its input did.
    Closed,
    /// It ended when it was asked to terminate.
    Terminated,
    /// It was killed.
    Killed,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "it had ended",
            Self::Asked => "it ended when asked",
            Self::Closed => "it ended with its input",
            Self::Terminated => "it was terminated",
            Self::Killed => "it was killed",
        })
    }
}

/// The standard input of a child. Closed when it is dropped or shut down, or when [`Child::stop`] comes to that.
#[derive(Debug)]
pub struct Stdin(Arc<Mutex<InputPipe>>);

/// Shared, so that a child's input can be closed while something is stuck writing to it.
#[derive(Debug)]
struct InputPipe {
    pipe: Option<pipe::Sender>,
    writer: Option<Waker>,
}

fn lock(input: &Mutex<InputPipe>) -> MutexGuard<'_, InputPipe> {
    // Nothing is left half done while it is held.
    input.lock().unwrap_or_else(PoisonError::into_inner)
}

fn close(input: &Mutex<InputPipe>) {
    let mut input = lock(input);
    let pipe = input.pipe.take();
    let writer = input.writer.take();
    drop(input);
    drop(pipe);
    if let Some(writer) = writer {
        writer.wake();
    }
}

impl Stdin {
    fn with_pipe<T>(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut pipe::Sender>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut input = lock(&self.0);
        let Some(pipe) = &mut input.pipe else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let written = write(Pin::new(pipe), context);
        if written.is_pending() {
            input.writer = Some(context.waker().clone());
        }
        written
    }
}

impl AsyncWrite for Stdin {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with_pipe(context, |pipe, context| pipe.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A pipe has no buffer on this side.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        close(&self.0);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        close(&self.0);
    }
}

/// The standard output or error of a child, to be read by the caller.
#[derive(Debug)]
pub struct Stdout(pipe::Receiver);

impl AsyncRead for Stdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}
/// The resident memory of the processes of a session, in bytes.
fn session_memory(session: u32) -> Option<u64> {
    let pages = std::fs::read_dir("/proc").ok()?.filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        // The name of the program comes in parentheses, and may hold anything.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        // `state ppid pgrp session`, and the resident pages eighteen fields on (proc_pid_stat(5)).
        let is_of = fields.nth(3)?.parse() == Ok(session);
        let pages: u64 = fields.nth(17)?.parse().ok()?;
        is_of.then_some(pages)
    });
    let pages: u64 = pages.sum();
    let size = u64::try_from(rustix::param::page_size()).ok()?;
    (pages > 0).then(|| pages * size)
}
