//! What can go wrong, for callers to match on and for a model to read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::reason::{Difference, Reason};
use crate::recover::{Left, Recovery};

/// A file could not be captured, or a change not be added to a set. The set is as it was.
#[derive(Debug)]
pub struct StageError {
    path: PathBuf,
    kind: StageErrorKind,
}

/// Why a file could not be captured, or a change not be added to a set.
#[derive(Debug)]
#[non_exhaustive]
pub enum StageErrorKind {
    /// There is no such file.
    Missing,
    /// Something is there already, on disk or made by the set.
    Exists,
    /// The set holds another change of the same file, made from the same captured bytes, or a capture with other bytes.
    /// Adding this one would lose one of the two.
    Conflict,
    /// The file may not be changed.
    Refused(Reason),
    /// It could not be read.
    Io(io::Error),
}

impl StageError {
    pub(crate) fn new(path: PathBuf, kind: StageErrorKind) -> Self {
        Self { path, kind }
    }

    /// The file, relative to the workspace where possible.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &StageErrorKind {
        &self.kind
    }
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.kind {
            StageErrorKind::Missing => f.write_str("there is no such file"),
            StageErrorKind::Exists => f.write_str("it exists already"),
            StageErrorKind::Conflict => {
                f.write_str("the same set of changes changes it in another way")
            }
            StageErrorKind::Refused(reason) => reason.fmt(f),
            StageErrorKind::Io(error) => write!(f, "it could not be read: {error}"),
        }
    }
}

impl std::error::Error for StageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            StageErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// A set was not committed.
///
/// Unless the kind is [`NotRolledBack`](CommitErrorKind::NotRolledBack) the files of the set are as they were, or as
/// somebody else wrote them meanwhile. [`recovered`](Self::recovered) tells what became of an earlier commit that a
/// crash had cut short, which is mended first, whatever became of this one.
#[derive(Debug)]
pub struct CommitError {
    kind: CommitErrorKind,
    /// Boxed to keep results small.
    recovered: Option<Box<Recovery>>,
}

/// Why a set was not committed.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommitErrorKind {
    /// Files are not as captured, or may not be changed: all of them, each with its reason.
    Refused(Vec<Difference>),
    /// Another commit of this workspace held the lock for longer than
    /// [`Workspace::lock_wait`](crate::Workspace::lock_wait).
    Locked {
        /// The lock file.
        lock: PathBuf,
    },
    /// The caller cancelled before any file was put in place.
    Cancelled,
    /// A file-system call failed; what had been done was undone.
    Io(IoFailure),
    /// The commit failed, and what it had done could not be undone everywhere.
    ///
    /// Files named here are in a state that the next call that wants to write looks at again (if undoing failed), or
    /// that only a person can judge (if somebody else changed the file meanwhile). Nothing was destroyed.
    NotRolledBack {
        /// Why the commit failed.
        cause: Box<CommitErrorKind>,
        /// The files that are not as they were.
        left: Vec<Left>,
        /// The journal, which has the details. Kept.
        journal: PathBuf,
    },
    /// An earlier commit was cut short by a crash and could not be mended completely, so nothing was begun: see
    /// [`CommitError::recovered`].
    Unrecovered,
}

/// A file-system call that failed.
#[derive(Debug)]
pub struct IoFailure {
    pub(crate) doing: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) error: io::Error,
}

impl IoFailure {
    /// The file or folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the system said.
    #[must_use]
    pub fn error(&self) -> &io::Error {
        &self.error
    }
}

impl fmt::Display for IoFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} failed: {}",
            self.doing,
            self.path.display(),
            self.error
        )
    }
}

/// Adds to an I/O error what was being done, and where.
pub(crate) trait While<T> {
    fn during(self, doing: &'static str, path: &Path) -> Result<T, CommitErrorKind>;
}

impl<T> While<T> for io::Result<T> {
    fn during(self, doing: &'static str, path: &Path) -> Result<T, CommitErrorKind> {
        self.map_err(|error| {
            CommitErrorKind::Io(IoFailure {
                doing,
                path: path.to_owned(),
                error,
            })
        })
    }
}

impl CommitError {
    pub(crate) fn new(kind: CommitErrorKind, recovered: Option<Recovery>) -> Self {
        Self {
            kind,
            recovered: recovered.map(Box::new),
        }
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &CommitErrorKind {
        &self.kind
    }

    /// What became of an earlier commit that a crash had cut short, if there was one.
    #[must_use]
    pub fn recovered(&self) -> Option<&Recovery> {
        self.recovered.as_deref()
    }
}

impl fmt::Display for CommitErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(differences) => {
                write!(
                    f,
                    "nothing was written, because of {}:",
                    count(differences.len(), "file")
                )?;
                for difference in differences {
                    write!(f, "\n  {difference}")?;
                }
                Ok(())
            }
            Self::Locked { lock } => {
                write!(
                    f,
                    "nothing was written: another commit of this workspace holds {}",
                    lock.display()
                )
            }
            Self::Cancelled => f.write_str("nothing was written: the commit was cancelled"),
            Self::Io(failure) => write!(f, "nothing was written: {failure}"),
            Self::NotRolledBack {
                cause,
                left,
                journal,
            } => {
                write!(
                    f,
                    "the commit failed and could not be undone everywhere; {} left:",
                    count(left.len(), "path")
                )?;
                for left in left {
                    write!(f, "\n  {left}")?;
                }
                write!(
                    f,
                    "\nthe journal is kept at {}; the failure was: ",
                    journal.display()
                )?;
                match &**cause {
                    Self::Io(failure) => failure.fmt(f),
                    cause => cause.fmt(f),
                }
            }
            Self::Unrecovered => {
                f.write_str("nothing was written: an earlier commit must be looked at first")
            }
        }
    }
}

/// A count with its noun.
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{n} {noun}s")
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        if let Some(recovered) = &self.recovered {
            write!(f, "\n{recovered}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CommitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            CommitErrorKind::Io(failure) => Some(&failure.error),
            _ => None,
        }
    }
}
