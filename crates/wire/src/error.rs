//! Why a request has no answer.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::dialect::Failure;
use crate::frame::FrameError;

/// Why a request has no result.
#[derive(Clone, Debug)]
pub struct Error {
    method: String,
    kind: ErrorKind,
}

/// Why a request has no result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The peer says that it failed.
    Failed(Failure),
    /// No answer came in time. The peer was told that nobody waits any more, where the dialect has a way.
    TimedOut {
        /// How long it was waited for.
        after: Duration,
    },
    /// There is no connection any more.
    Closed(Closed),
    /// So much waits to be sent already that this was not taken: the peer reads slowly, or not at all.
    QueueFull,
    /// The parameters have no form in JSON, or the result is not what was expected. The text tells where, and holds
    /// nothing of them.
    Unexpected(String),
}

/// Why there is no connection any more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Closed {
    /// This side has closed it.
    ByUs,
    /// The other side has, between two messages.
    Ended,
    /// What came could not be read as frames, or ended in the middle of one.
    Frame(Arc<FrameError>),
    /// Nothing more could be written.
    Write(Arc<io::Error>),
    /// The peer has not read a byte for so long.
    Stalled(Duration),
    /// The peer asks, does not read the answers, and too many wait.
    Flooded,
    /// The handler panicked, or the runtime has ended.
    Abandoned,
}

impl Error {
    pub(crate) fn new(method: &str, kind: ErrorKind) -> Self {
        Self {
            method: method.to_owned(),
            kind,
        }
    }

    /// What was asked for.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.method)?;
        match &self.kind {
            ErrorKind::Failed(Failure { code, message, .. }) if message.is_empty() => {
                write!(f, "failed with code {code}")
            }
            ErrorKind::Failed(failure) => write!(f, "failed: {}", failure.message),
            ErrorKind::TimedOut { after } => write!(f, "was not answered after {after:.1?}"),
            ErrorKind::Closed(closed) => write!(f, "has no answer: {closed}"),
            ErrorKind::QueueFull => f.write_str(
                "was not sent: the peer is slow to read, and too much waits for it; try again later",
            ),
            ErrorKind::Unexpected(why) => write!(f, "does not fit: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByUs => f.write_str("the connection was closed"),
            Self::Ended => f.write_str("the peer has closed the connection"),
            Self::Frame(error) => error.fmt(f),
            Self::Write(error) => write!(f, "the peer reads no more: {error}"),
            Self::Stalled(time) => write!(f, "the peer has read nothing for {time:.1?}"),
            Self::Flooded => f.write_str("the peer asks more than it reads answers"),
            Self::Abandoned => f.write_str("whoever served the connection has gone"),
        }
    }
}
