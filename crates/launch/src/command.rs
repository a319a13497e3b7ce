//! What to start, and the one place that starts it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use crate::child::Child;
use crate::enclosure::Enclosure;
use crate::environment::Environment;
use crate::error::{Error, ErrorKind};
use crate::guard;
use crate::tail::Tail;

/// A program with its arguments, the folder that it runs in, and its environment. All of that is explicit: nothing is
/// taken from this process, and no shell reads the arguments.
///
/// Unless told otherwise, standard input and output are pipes for the caller, and standard error is drained into a
/// [`Tail`] of 64 KiB.
///
/// ```
/// use terret_launch::{Command, Environment, Ladder};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let environment = Environment::inherited();
/// let mut child = Command::new("cat", "/", &environment).spawn().await?;
/// let (mut stdin, mut stdout) = (child.take_stdin().unwrap(), child.take_stdout().unwrap());
/// stdin.write_all(b"hello").await?;
///
/// // Nothing to ask for by a protocol: `cat` ends when its input does.
/// let stopped = child.stop(async {}, &Ladder::default()).await?;
/// assert!(stopped.exit().success());
/// let mut text = String::new();
/// stdout.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    cwd: PathBuf,
    environment: Environment,
    variables: BTreeMap<OsString, OsString>,
    stdin: Input,
    stdout: Output,
    stderr: Output,
    enclosure: Option<Arc<dyn Enclosure>>,
}

/// What a program reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// What the caller writes to [`Child::take_stdin`].
    #[default]
    Piped,
    /// Nothing: it is at its end at once.
    Null,
}

/// Where what a program writes goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// To the caller, who must read all of it: a pipe that is full stops the program.
    Piped,
    /// Into a [`Tail`] of so many bytes, all the time, whatever the caller and its runtime do.
    Drained(usize),
    /// Nowhere.
    Null,
}

impl Output {
    /// Drained into a tail of 64 KiB.
    pub const TAIL: Self = Self::Drained(64 * 1024);
}

impl Command {
    /// A program by its path, or by its name on the `PATH` of `environment`, to be run in `cwd`.
    #[must_use]
    pub fn new(
        program: impl Into<OsString>,
        cwd: impl Into<PathBuf>,
        environment: &Environment,
    ) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            environment: environment.clone(),
            variables: BTreeMap::new(),
            stdin: Input::default(),
            stdout: Output::Piped,
            stderr: Output::TAIL,
            enclosure: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable for this program. Unlike the [`Environment`], which is the host's, these go into an enclosure
    /// too.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// What it reads.
    #[must_use]
    pub fn stdin(mut self, stdin: Input) -> Self {
        self.stdin = stdin;
        self
    }

    /// Where its output goes.
    #[must_use]
    pub fn stdout(mut self, stdout: Output) -> Self {
        self.stdout = stdout;
        self
    }

    /// Where its error output goes.
    #[must_use]
    pub fn stderr(mut self, stderr: Output) -> Self {
        self.stderr = stderr;
        self
    }

    /// Runs it inside of `enclosure`. The last one counts.
    #[must_use]
    pub fn enclosed_in(mut self, enclosure: Arc<dyn Enclosure>) -> Self {
        self.enclosure = Some(enclosure);
        self
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Its arguments.
    #[must_use]
    pub fn arguments(&self) -> &[OsString] {
        &self.args
    }

    /// The folder that it runs in.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The variables that were set for it, without those of its [`Environment`].
    #[must_use]
    pub fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// Itself with another program, arguments and folder, and no variables of its own: what an [`Enclosure`] makes of it.
    #[must_use]
    pub fn wrapped(
        &self,
        program: impl Into<OsString>,
        args: Vec<OsString>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            program: program.into(),
            args,
            cwd: cwd.into(),
            variables: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// Starts it, guarded: see the [crate's page](crate) for what that means.
    ///
    /// Needs to be called within a tokio runtime with I/O, which the pipes for the caller are bound to. The child itself
    /// is not: it is watched and collected by a thread.
    ///
    /// If this future is dropped, a child that was started is killed.
    ///
    /// # Errors
    ///
    /// If there is no such program or folder, if the enclosure cannot run it there, or if the system refuses.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O.
    pub async fn spawn(&self) -> Result<Child, Error> {
        let enclosed = match &self.enclosure {
            Some(enclosure) => enclosure.enclose(self)?,
            None => self.clone(),
        };
        let tail = |output| match output {
            Output::Drained(limit) => Some(Tail::new(limit)),
            Output::Piped | Output::Null => None,
        };
        let (stdout, stderr) = (tail(enclosed.stdout), tail(enclosed.stderr));
        let system = {
            let enclosed = enclosed.clone();
            move || enclosed.system()
        };
        let receiver = guard::start(system, stdout.clone(), stderr.clone());
        // The thread says how it went, unless it could not be made to.
        let started = receiver.await.map_err(io::Error::other).flatten();
        started
            .and_then(|started| Child::new(&self.program, started, stdout, stderr))
            .map_err(|error| Error::new(&self.program, enclosed.reason(error)))
    }

    #[expect(clippy::disallowed_methods, reason = "the one door")]
    fn system(&self) -> std::process::Command {
        let output = |output| match output {
            Output::Piped | Output::Drained(_) => Stdio::piped(),
            Output::Null => Stdio::null(),
        };
        let mut command = std::process::Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.environment.iter())
            .envs(&self.variables)
            .stdin(match self.stdin {
                Input::Piped => Stdio::piped(),
                Input::Null => Stdio::null(),
            })
            .stdout(output(self.stdout))
            .stderr(output(self.stderr));
        command
    }

    /// The system does not tell a missing folder from a missing program.
    fn reason(&self, error: io::Error) -> ErrorKind {
        let missing = matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        );
        match missing {
            true if !self.cwd.is_dir() => ErrorKind::NoFolder(self.cwd.clone()),
            true if Path::new(&self.program).is_absolute()
                && Path::new(&self.program).is_file() =>
            {
                ErrorKind::NoInterpreter
            }
            true => ErrorKind::NotFound,
            false => ErrorKind::Io(error),
        }
    }
}
