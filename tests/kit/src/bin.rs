//! Runs a binary in a known environment, with a deadline.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

/// A program to run: the binary under test, mostly.
///
/// Its environment is cleared to a known set: `PATH` as it is here, `HOME`, the `XDG_…_HOME`
/// folders and `TMPDIR` in a temporary folder of its own, `NO_COLOR`, and a fixed locale, time
/// zone and terminal. So no test reads what the person who runs it has configured, or leaves a
/// file with them.
///
/// ```
/// use terret_testkit::Bin;
///
/// let outcome = Bin::new("cat").stdin("hello").run().success();
/// assert_eq!(outcome.stdout, "hello");
/// ```
#[derive(Debug)]
pub struct Bin {
    pub(crate) program: OsString,
    args: Vec<OsString>,
    pub(crate) stdin: Vec<u8>,
    cwd: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    pub(crate) deadline: Duration,
    home: TempDir,
}

/// What a program said, and how it ended.
#[derive(Debug)]
pub struct Outcome {
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// How it ended.
    pub status: ExitStatus,
}

impl Bin {
    /// A program by its path (`env!("CARGO_BIN_EXE_…")`), or by its name on `PATH`.
    ///
    /// # Panics
    ///
    /// If no temporary folder can be made.
    #[must_use]
    pub fn new(program: impl AsRef<OsStr>) -> Bin {
        Bin {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            stdin: Vec::new(),
            cwd: None,
            env: Vec::new(),
            deadline: Duration::from_secs(60),
            home: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Bin {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Bin {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// What it reads on standard input; nothing otherwise.
    #[must_use]
    pub fn stdin(mut self, text: impl AsRef<[u8]>) -> Bin {
        text.as_ref().clone_into(&mut self.stdin);
        self
    }

    /// Where it runs; in its temporary home otherwise.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> Bin {
        self.cwd = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets a variable on top of the known set, or in place of one of it.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Bin {
        self.env
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// How long it may take; a minute otherwise.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Bin {
        self.deadline = deadline;
        self
    }

    /// Its temporary folder: `HOME` is this, `XDG_STATE_HOME` is `.local/state` in it.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Runs it to its end. It can be run again: its home stays as it was left.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or is not done by the deadline: it is killed then, together with
    /// its process group, and the message has what it wrote.
    #[must_use]
    #[track_caller]
    pub fn run(&self) -> Outcome {
        let mut child = self
            .command()
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        let end = Instant::now() + self.deadline;

        // A program that writes before it has read everything must not wait for us, nor we for it.
        let mut input = child.stdin.take().expect("piped");
        let text = self.stdin.clone();
        thread::spawn(move || {
            // A program may end without reading: that is its business.
            let _ = input.write_all(&text);
        });
        let stdout = drain(child.stdout.take().expect("piped"));
        let stderr = drain(child.stderr.take().expect("piped"));

        let status = wait_until(&mut child, end);
        // What it started may outlive it and hold its pipes.
        let done = status.is_some() & stdout.ends_by(end) & stderr.ends_by(end);
        if !done {
            kill_group(&child);
        }
        let status = match status {
            Some(status) => status,
            None => child.wait().expect("a child of ours"),
        };
        let outcome = Outcome {
            stdout: stdout.text(),
            stderr: stderr.text(),
            status,
        };
        assert!(
            done,
            "{} was not done after {:?} and was killed\n{outcome}",
            self.program.display(),
            self.deadline,
        );
        outcome
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "starts the binary under test, with its own guard"
    )]
    pub(crate) fn command(&self) -> Command {
        let home = self.home.path();
        let tmp = home.join("tmp");
        fs::create_dir_all(&tmp).expect("a folder in a temporary folder");
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(self.cwd.as_deref().unwrap_or(home))
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("XDG_STATE_HOME", home.join(".local/state"))
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_CACHE_HOME", home.join(".cache"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .env("TMPDIR", tmp)
            .env("NO_COLOR", "1")
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TERM", "dumb")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }
}

impl Outcome {
    /// Itself, if the program ended with 0.
    ///
    /// # Panics
    ///
    /// If it did not; the message has what it wrote.
    #[track_caller]
    pub fn success(self) -> Outcome {
        self.exits(0)
    }

    /// Itself, if the program ended with `code`.
    ///
    /// # Panics
    ///
    /// If it did not; the message has what it wrote.
    #[track_caller]
    pub fn exits(self, code: i32) -> Outcome {
        assert!(self.status.code() == Some(code), "not {code}, but {self}");
        self
    }

    /// Standard output as one JSON value.
    ///
    /// # Panics
    ///
    /// If it is not one.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self}"))
    }

    /// Standard output as one JSON value a line.
    ///
    /// # Panics
    ///
    /// If a line is not one.
    #[must_use]
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let read = |line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{error} in {line:?} of {self}"))
        };
        self.stdout.lines().map(read).collect()
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outcome {
            stdout,
            stderr,
            status,
        } = self;
        write!(out, "{status}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

/// A pipe that a thread empties.
#[derive(Debug)]
pub(crate) struct Drained {
    chunks: Receiver<Vec<u8>>,
    read: std::cell::RefCell<Vec<u8>>,
    /// How much of it was handed out as lines.
    taken: std::cell::Cell<usize>,
}

pub(crate) fn drain(mut pipe: impl Read + Send + 'static) -> Drained {
    let (send, chunks) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            if send.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    Drained {
        chunks,
        read: Default::default(),
        taken: Default::default(),
    }
}

impl Drained {
    /// The next line without its end, if it comes before `end`.
    pub(crate) fn line_by(&self, end: Instant) -> Option<String> {
        loop {
            let from = self.taken.get();
            let read = self.read.borrow();
            if let Some(length) = read[from..].iter().position(|byte| *byte == b'\n') {
                self.taken.set(from + length + 1);
                return Some(String::from_utf8_lossy(&read[from..from + length]).into_owned());
            }
            drop(read);
            let left = end.saturating_duration_since(Instant::now());
            let chunk = self.chunks.recv_timeout(left).ok()?;
            self.read.borrow_mut().extend(chunk);
        }
    }

    /// Whether everything up to the pipe's end came before `end`.
    pub(crate) fn ends_by(&self, end: Instant) -> bool {
        loop {
            match self
                .chunks
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(chunk) => self.read.borrow_mut().extend(chunk),
                Err(mpsc::RecvTimeoutError::Disconnected) => return true,
                Err(mpsc::RecvTimeoutError::Timeout) => return false,
            }
        }
    }

    /// What came, waiting a little for what a killed program had still written. A process that
    /// left the group may hold the pipe for good.
    pub(crate) fn text(self) -> String {
        self.ends_by(Instant::now() + Duration::from_secs(1));
        String::from_utf8_lossy(&self.read.into_inner()).into_owned()
    }
}

pub(crate) fn wait_until(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return Some(status);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

pub(crate) fn kill_group(child: &Child) {
    // The group may be gone by now, which is what we want of it.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}
