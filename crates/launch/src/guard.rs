//! A child's guard, seen from the host: a thread that starts the child, empties its pipes, learns how it ended, and
//! collects it.
//!
//! A thread and no task, so that none of this depends on a runtime that may be busy, or gone. What really holds the child
//! is [`linux`]; [`portable`] does what other systems allow.

use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStdin, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::{oneshot, watch};

use crate::tail::Tail;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod memory;
// On Linux its tests run, and nothing else uses it.
#[cfg(any(test, not(target_os = "linux")))]
mod portable;

/// How long a program may take to end when its host is gone and its standard input with it, in milliseconds.
#[cfg(target_os = "linux")]
const HOST_GONE_EOF: i64 = 250;
/// And after it was asked to terminate.
#[cfg(target_os = "linux")]
const HOST_GONE_TERM: i64 = 250;

/// The stack of a child's thread, which does little.
const STACK: usize = 256 * 1024;

/// A signal for a child's process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signal {
    /// `SIGINT`: what Ctrl-C sends.
    Interrupt,
    /// `SIGTERM`: a wish that it ends.
    Terminate,
    /// `SIGKILL`: its end. Only the group's: [`Child::kill`](crate::Child::kill) reaches every descendant.
    Kill,
}

impl Signal {
    fn system(self) -> rustix::process::Signal {
        match self {
            Self::Interrupt => rustix::process::Signal::INT,
            Self::Terminate => rustix::process::Signal::TERM,
            Self::Kill => rustix::process::Signal::KILL,
        }
    }
}

/// What a host tells a guard, a byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// A signal for the group.
    Signal(Signal),
    /// Kill everything, then end.
    Sweep,
}

impl Order {
    const ALL: [(u8, Self); 4] = [
        (b'i', Self::Signal(Signal::Interrupt)),
        (b't', Self::Signal(Signal::Terminate)),
        (b'k', Self::Signal(Signal::Kill)),
        (b's', Self::Sweep),
    ];

    #[cfg(target_os = "linux")]
    fn from_byte(byte: u8) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == byte);
        found.map(|(_, order)| *order)
    }

    fn to_byte(self) -> u8 {
        let found = Self::ALL.iter().find(|(_, order)| *order == self);
        found.map_or(b's', |(byte, _)| *byte)
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    status: Option<ExitStatus>,
    swept: u32,
}

impl Exit {
    /// Its exit status. `None` if its guard was killed, which takes the child along.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Its exit code, if it ended by itself.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Whether it ended by itself, with 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.code() == Some(0)
    }

    /// How many processes it had left behind, which were killed. 0 until it is [gone](crate::Child::gone), and on
    /// systems other than Linux, where they are not counted.
    #[must_use]
    pub fn swept(&self) -> u32 {
        self.swept
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(status) = self.status else {
            return f.write_str("was killed together with its guard");
        };
        match (status.code(), status.signal()) {
            (Some(code), _) => write!(f, "exited with {code}"),
            (None, Some(signal)) => match name_of(signal) {
                Some(name) => write!(f, "was killed by {name}"),
                None => write!(f, "was killed by signal {signal}"),
            },
            (None, None) => write!(f, "ended with {status}"),
        }
    }
}

/// The signals that end programs often, by the names that people know.
fn name_of(signal: i32) -> Option<&'static str> {
    use rustix::process::Signal as S;
    let names = [
        (S::ABORT, "SIGABRT"),
        (S::BUS, "SIGBUS"),
        (S::FPE, "SIGFPE"),
        (S::HUP, "SIGHUP"),
        (S::ILL, "SIGILL"),
        (S::INT, "SIGINT"),
        (S::KILL, "SIGKILL"),
        (S::PIPE, "SIGPIPE"),
        (S::QUIT, "SIGQUIT"),
        (S::SEGV, "SIGSEGV"),
        (S::TERM, "SIGTERM"),
    ];
    let found = names.iter().find(|(known, _)| known.as_raw() == signal);
    found.map(|(_, name)| *name)
}

/// How far a child is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// The program has ended; what it left is being swept.
    Exited(Exit),
    /// Nothing is left of it.
    Gone(Exit),
}

/// A child that was started, as its thread hands it over.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) id: u32,
    pub(crate) stdin: Option<ChildStdin>,
    /// Those of the two that nobody drains here.
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
    pub(crate) control: Control,
    pub(crate) state: watch::Receiver<State>,
}

/// The host's end of the socket to the guard. Dropping it ends the child.
#[derive(Debug)]
pub(crate) struct Control(OwnedFd);

impl Control {
    /// A guard that is gone has no use for orders.
    pub(crate) fn order(&self, order: Order) {
        let flags = rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT;
        let _ = rustix::net::send(&self.0, &[order.to_byte()], flags);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.order(Order::Sweep);
        // Were the order lost to a socket full of others: the end is as good, if not as quick.
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Write);
    }
}

/// Where a stream that nobody reads is kept.
pub(crate) type Drain = Option<Tail>;

/// Starts what `command` makes on a thread of its own. Streams that are piped and have a tail are drained into it.
///
/// Whoever drops the receiver before the child has come through it kills the child.
pub(crate) fn start(
    command: impl Fn() -> std::process::Command + Send + 'static,
    stdout: Drain,
    stderr: Drain,
) -> oneshot::Receiver<io::Result<Started>> {
    let (hand_over, started) = oneshot::channel();
    let work = move || run(&command, stdout, stderr, hand_over);
    let thread = thread::Builder::new()
        .name("terret-child".to_owned())
        .stack_size(STACK);
    match thread.spawn(work) {
        Ok(_) => started,
        Err(error) => {
            let (failed, started) = oneshot::channel();
            // The receiver is at hand.
            let _ = failed.send(Err(error));
            started
        }
    }
}

fn run(
    command: &dyn Fn() -> std::process::Command,
    stdout: Drain,
    stderr: Drain,
    hand_over: oneshot::Sender<io::Result<Started>>,
) {
    let (mut child, socket, control, id) = match spawn_when_written(command) {
        Ok(spawned) => spawned,
        Err(error) => {
            // Whoever asked has gone.
            let _ = hand_over.send(Err(error));
            return;
        }
    };
    let (state, receiver) = watch::channel(State::Running);
    let (stdout, drained_stdout) = share(child.stdout.take().map(OwnedFd::from), stdout);
    let (stderr, drained_stderr) = share(child.stderr.take().map(OwnedFd::from), stderr);
    let started = Started {
        id,
        stdin: child.stdin.take(),
        stdout,
        stderr,
        control,
        state: receiver,
    };
    // One that nobody waits for any more is dropped here, and swept.
    drop(hand_over.send(Ok(started)));

    let mut watched = Watched {
        socket,
        pipes: [drained_stdout, drained_stderr],
    };
    let mut exit = Exit {
        status: watched.number().map(ExitStatus::from_raw),
        swept: 0,
    };
    if cfg!(target_os = "linux") {
        state.send_replace(State::Exited(exit));
        let swept = watched.number().and_then(|count| u32::try_from(count).ok());
        exit.swept = swept.unwrap_or(0);
        // The guard has ended or is about to; it is ours to collect.
        let _ = child.wait();
    } else {
        // There it is the program itself.
        exit.status = child.wait().ok();
    }
    watched.drain();
    state.send_replace(State::Gone(exit));
}

/// A program that was just installed may be open for writing for a moment: a process forked meanwhile has a copy of the
/// writer's descriptor until it executes something. So one that is busy is tried again, for half a second in all.
fn spawn_when_written(command: &dyn Fn() -> std::process::Command) -> io::Result<Spawned> {
    for pause in [1, 4, 15, 60, 120, 300] {
        match spawn(&mut command()) {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(pause));
            }
            spawned => return spawned,
        }
    }
    spawn(&mut command())
}

/// The guard, its socket twice, and the number of the program's process.
type Spawned = (std::process::Child, UnixStream, Control, u32);

#[cfg(target_os = "linux")]
fn spawn(command: &mut std::process::Command) -> io::Result<Spawned> {
    let (mut socket, inner) = UnixStream::pair()?;
    // The first three are about to become the program's own streams.
    let inner = rustix::io::fcntl_dupfd_cloexec(&inner, 3)?;
    linux::arm(command, &inner)?;
    let control = Control(OwnedFd::from(socket.try_clone()?));
    let mut child = command.spawn()?;
    drop(inner);
    let mut id = [0; 4];
    if let Err(error) = socket.read_exact(&mut id) {
        // A guard that was killed before it could say anything has taken the program along.
        let _ = child.wait();
        return Err(error);
    }
    Ok((child, socket, control, u32::from_le_bytes(id)))
}

#[cfg(not(target_os = "linux"))]
fn spawn(command: &mut std::process::Command) -> io::Result<Spawned> {
    portable::spawn(command)
}

/// A stream with a tail is drained here; another one is the caller's.
fn share(pipe: Option<OwnedFd>, tail: Drain) -> (Option<OwnedFd>, Option<Pipe>) {
    match (pipe, tail) {
        (Some(pipe), Some(tail)) => {
            // Were it to block instead, the end of the child would be seen late.
            let _ = rustix::io::ioctl_fionbio(&pipe, true);
            (None, Some(Pipe { pipe, tail }))
        }
        (pipe, _) => (pipe, None),
    }
}

struct Pipe {
    pipe: OwnedFd,
    tail: Tail,
}

/// What a child's thread waits for.
struct Watched {
    socket: UnixStream,
    pipes: [Option<Pipe>; 2],
}

impl Watched {
    /// The next number that the guard reports, or `None` if it has ended. Drains meanwhile.
    fn number(&mut self) -> Option<i32> {
        loop {
            let closed: BorrowedFd<'_> = self.socket.as_fd();
            let [first, second] = self.pipes.each_ref().map(|pipe| match pipe {
                Some(pipe) => PollFd::from_borrowed_fd(pipe.pipe.as_fd(), PollFlags::IN),
                None => PollFd::from_borrowed_fd(closed, PollFlags::empty()),
            });
            let socket = PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN);
            let mut fds = [socket, first, second];
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return None,
            }
            let reported = !fds[0].revents().is_empty();
            // First what was written before the end, so that whoever hears of the end finds the last words.
            self.drain();
            if reported {
                let mut number = [0; 4];
                return match self.socket.read_exact(&mut number) {
                    Ok(()) => Some(i32::from_le_bytes(number)),
                    Err(_) => None,
                };
            }
        }
    }

    /// Empties the pipes as far as they are filled; one that has ended is closed.
    fn drain(&mut self) {
        for place in &mut self.pipes {
            if place.as_mut().is_some_and(|pipe| !pipe.drain()) {
                *place = None;
            }
        }
    }
}

impl Pipe {
    /// Whether there may be more later.
    fn drain(&mut self) -> bool {
        let mut buffer = [0_u8; 16 * 1024];
        // Bounded, so that a flood on one stream does not keep the others waiting.
        for _ in 0..64 {
            match rustix::io::read(&self.pipe, &mut buffer) {
                Ok(count @ 1..) => self.tail.push(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_the_socket() {
        for (byte, order) in Order::ALL {
            assert_eq!(order.to_byte(), byte);
            assert_eq!(Order::from_byte(byte), Some(order));
        }
        assert_eq!(Order::from_byte(0), None);
    }

    #[test]
    fn an_end_reads_as_people_say_it() {
        let raw = |status| Exit {
            status: Some(ExitStatus::from_raw(status)),
            swept: 0,
        };
        for (exit, text) in [
            (raw(0), "exited with 0"),
            (raw(3 << 8), "exited with 3"),
            (raw(9), "was killed by SIGKILL"),
            (raw(11 | 128), "was killed by SIGSEGV"),
            (raw(40), "was killed by signal 40"),
            (
                Exit {
                    status: None,
                    swept: 0,
                },
                "was killed together with its guard",
            ),
        ] {
            assert_eq!(exit.to_string(), text);
        }
    }
}
