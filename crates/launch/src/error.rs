//! What can go wrong with a program.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program could not be started, or not be ended.
#[derive(Debug)]
pub struct Error {
    program: String,
    kind: ErrorKind,
}

/// Why a program could not be started, or not be ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such program, neither at its path nor on the `PATH` of its environment.
    NotFound,
    /// It is there, and what it is run by is not: the interpreter that its first line names, or its dynamic loader.
    NoInterpreter,
    /// The folder that it was to run in does not exist, or is no folder.
    NoFolder(PathBuf),
    /// A path has no name inside the enclosure.
    Outside {
        /// The path of the host.
        path: PathBuf,
        /// How the enclosure calls itself.
        enclosure: String,
    },
    /// The system refused.
    Io(io::Error),
    /// It was not done in time, and was killed with all that it had started.
    TimedOut {
        /// How long it ran.
        after: Duration,
        /// The end of its standard error.
        stderr: String,
    },
    /// It was killed, and is still there: the kernel waits for something on its behalf (a device, a network file
    /// system), or it belongs to another user. Its guard goes on trying.
    NotKilled {
        /// The number of its process.
        id: u32,
    },
}

impl Error {
    pub(crate) fn new(program: &OsStr, kind: ErrorKind) -> Self {
        let name = Path::new(program).file_name().unwrap_or(program);
        Self {
            program: name.to_string_lossy().into_owned(),
            kind,
        }
    }

    /// The program's file name.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.program)?;
        match &self.kind {
            ErrorKind::NotFound => {
                f.write_str("was not found: install it, or add its folder to PATH")
            }
            ErrorKind::NoInterpreter => f.write_str(
                "could not be started: what runs it does not exist, the interpreter that its first line names or its \
                 dynamic loader; install it again",
            ),
            ErrorKind::NoFolder(folder) => {
                write!(f, "could not be started in {}: no such folder", folder.display())
            }
            ErrorKind::Outside { path, enclosure } => {
                write!(
                    f,
                    "could not be started in {enclosure}: {} has no name there; run it in a folder that is mapped into it",
                    path.display()
                )
            }
            ErrorKind::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                write!(f, "could not be started: {error}; is it executable?")
            }
            ErrorKind::Io(error) => write!(f, "could not be started: {error}"),
            ErrorKind::TimedOut { after, stderr } => {
                write!(f, "was not done after {after:.1?} and was killed")?;
                match stderr.as_str() {
                    "" => Ok(()),
                    stderr => write!(f, "; its last words:\n{stderr}"),
                }
            }
            ErrorKind::NotKilled { id } => {
                write!(f, "was killed and is still there (process {id})")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}
