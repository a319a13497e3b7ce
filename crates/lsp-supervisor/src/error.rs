//! Why there is no answer about code.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no answer about code.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
}

/// Why there is no answer about code.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be read.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file holds something else than text, or too much of it.
    NoText {
        /// Which.
        path: PathBuf,
        /// Why it is not sent to a server.
        why: String,
    },
    /// The server did not begin.
    NotStarted {
        /// Its name.
        server: String,
        /// Why, with its own words.
        why: String,
    },
    /// The server has ended, or the connection to it has.
    Ended {
        /// Its name.
        server: String,
        /// Why.
        why: String,
    },
    /// The server did not answer in time.
    TimedOut {
        /// Its name.
        server: String,
        /// What was asked.
        method: String,
        /// How long it was waited for.
        after: Duration,
        /// What it was working on.
        task: Option<String>,
    },
    /// The server does not offer what was asked.
    Unsupported {
        /// Its name.
        server: String,
        /// What was asked.
        method: String,
        /// What it does offer.
        offers: Vec<String>,
    },
    /// The server says that it cannot.
    Refused {
        /// Its name.
        server: String,
        /// Its words.
        why: String,
    },
}

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self { kind }
    }

    /// Whether the server has ended.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self.kind, ErrorKind::Ended { .. })
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::File { path, error } => write!(f, "{}: {error}", path.display()),
            ErrorKind::NoText { path, why } => write!(f, "{}: {why}", path.display()),
            ErrorKind::NotStarted { server, why } => write!(f, "{server} did not start: {why}"),
            ErrorKind::Ended { server, why } => write!(f, "{server} has ended: {why}"),
            ErrorKind::TimedOut {
                server,
                method,
                after,
                task,
            } => {
                write!(f, "{server} did not answer `{method}` within {after:.1?}")?;
                match task {
                    Some(task) => write!(f, "; it is at work on {task}: ask again later"),
                    None => f.write_str(": ask again, or restart it by `reload`"),
                }
            }
            ErrorKind::Unsupported {
                server,
                method,
                offers,
            } => write!(
                f,
                "{server} does not offer `{method}`; it offers {}",
                if offers.is_empty() {
                    "nothing that could be asked".to_owned()
                } else {
                    offers.join(", ")
                }
            ),
            ErrorKind::Refused { server, why } => write!(f, "{server}: {why}"),
        }
    }
}

impl std::error::Error for Error {}
