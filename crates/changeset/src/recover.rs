//! Mends what a crash has left of a commit.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{CommitError, CommitErrorKind, While as _, count};
use crate::fs;
use crate::journal::{self, Found, State};
use crate::lock::Lock;
use crate::plan::Plan;
use crate::undo;
use crate::workspace::Workspace;

/// What became of a commit that was cut short.
#[derive(Clone, Debug)]
pub struct Recovery {
    outcome: Outcome,
    files: Vec<PathBuf>,
    left: Vec<Left>,
    journal: Option<PathBuf>,
}

/// To which end a commit that was cut short was brought.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Its files are as they were before it.
    RolledBack,
    /// Every file was in place already, so it counts as committed.
    RolledForward,
    /// Its journal can't be used, so nothing was touched.
    Unreadable {
        /// What is wrong with it.
        why: String,
    },
}

impl Recovery {
    /// To which end the commit was brought; but for what is [left](Self::left).
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The files of the commit, relative to the workspace. Empty if the journal can't be used.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The files that could not be brought to that end.
    #[must_use]
    pub fn left(&self) -> &[Left] {
        &self.left
    }

    /// Where the journal is, if it is kept because something is [left](Self::left) or it can't be used.
    ///
    /// If a call of the system failed, or another version wrote the journal, it is where it was: the next call that
    /// wants to write tries again. Otherwise it was moved aside under a name of its own, for a person to look at, and
    /// later commits go ahead.
    #[must_use]
    pub fn journal(&self) -> Option<&Path> {
        self.journal.as_deref()
    }

    /// Whether nothing is left to be done.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.journal.is_none()
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = count(self.files.len(), "file");
        match &self.outcome {
            Outcome::RolledBack => write!(
                f,
                "an earlier commit of {files} was cut short and has been rolled back"
            )?,
            Outcome::RolledForward => write!(
                f,
                "an earlier commit of {files} was cut short when it was all but done"
            )?,
            Outcome::Unreadable { why } => {
                write!(f, "the journal of an earlier commit can't be used: {why}")?
            }
        }
        for file in &self.files {
            write!(f, "\n  {}", file.display())?;
        }
        if !self.left.is_empty() {
            write!(f, "\nbut for {}:", count(self.left.len(), "path"))?;
            for left in &self.left {
                write!(f, "\n  {left}")?;
            }
        }
        if let Some(journal) = &self.journal {
            write!(f, "\nits journal is kept at {}", journal.display())?;
        }
        Ok(())
    }
}

/// A file or folder that is not as it should be after a commit was undone or cleaned up. Nothing of it was destroyed.
#[derive(Clone, Debug)]
pub struct Left {
    path: PathBuf,
    kept: Option<PathBuf>,
    why: String,
    again: bool,
}

impl Left {
    /// A state that only a person can judge.
    pub(crate) fn unknown(path: &Path, kept: Option<&Path>, why: &str) -> Self {
        Self {
            path: path.to_owned(),
            kept: kept.map(Path::to_owned),
            why: why.to_owned(),
            again: false,
        }
    }

    /// A call that failed and may be tried again.
    pub(crate) fn failed(path: &Path, what: &str, error: &io::Error) -> Self {
        Self {
            path: path.to_owned(),
            kept: None,
            why: format!("{what}: {error}"),
            again: true,
        }
    }

    /// A journal that may not say what it should.
    pub(crate) fn unfinished(journal: &Path, cause: &CommitErrorKind) -> Self {
        let why = match cause {
            CommitErrorKind::Io(failure) => failure.to_string(),
            cause => cause.to_string(),
        };
        Self {
            path: journal.to_owned(),
            kept: None,
            why,
            again: true,
        }
    }

    /// The file or folder, absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The hidden file that holds the content which should, or might, be in its place.
    #[must_use]
    pub fn kept(&self) -> Option<&Path> {
        self.kept.as_deref()
    }

    /// What is wrong, in words.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)?;
        if let Some(kept) = &self.kept {
            write!(f, "; its other content is kept at {}", kept.display())?;
        }
        Ok(())
    }
}

impl Workspace {
    /// Mends what a crash has left of a commit of this workspace: rolls it back or, if every file was in place already,
    /// forward. `None` if there is nothing to mend.
    ///
    /// [`ChangeSet::commit`](crate::ChangeSet::commit) begins with this. A host calls it before it lets anything else
    /// write to the workspace. It waits for a commit that is running, during which `cancel` is honoured; what it has
    /// begun it ends.
    ///
    /// # Errors
    ///
    /// [`CommitErrorKind::Locked`], [`CommitErrorKind::Cancelled`], or [`CommitErrorKind::Io`] if the journal can't be
    /// looked for. What can't be mended is no error but part of the [`Recovery`].
    pub fn recover(&self, cancel: &dyn Fn() -> bool) -> Result<Option<Recovery>, CommitError> {
        let fail = |kind| CommitError::new(kind, None);
        let journal = journal::path(self.state_dir());
        // Without a journal there is nothing to wait for, and no reason to make the state folder.
        if fs::stat(&journal)
            .during("looking for", &journal)
            .map_err(fail)?
            .is_none()
        {
            return Ok(None);
        }
        let _lock = Lock::take(self, cancel).map_err(fail)?;
        under_lock(self).map_err(fail)
    }
}

/// Recovers, for a caller that holds the lock.
pub(crate) fn under_lock(workspace: &Workspace) -> Result<Option<Recovery>, CommitErrorKind> {
    let folder = workspace.state_dir();
    let path = journal::path(folder);
    let (plan, state) = match journal::find(folder, workspace.root())
        .during("reading the journal", &path)?
    {
        Found::Nothing => return Ok(None),
        Found::Read(plan, state) => (plan, state),
        Found::Damaged(why) => {
            let journal = journal::set_aside(folder).during("moving aside the journal", &path)?;
            return Ok(Some(unreadable(why, journal)));
        }
        Found::Foreign => {
            let why = "another version of this program wrote it; let that one finish".to_owned();
            return Ok(Some(unreadable(why, path)));
        }
    };
    let forward = state == State::Committed
        || state == State::Prepared
            && undo::is_all_in_place(&plan).during("looking at the files of", &path)?;
    let (outcome, left) = if forward {
        (Outcome::RolledForward, undo::roll_forward(&plan))
    } else {
        (Outcome::RolledBack, undo::roll_back(&plan, state))
    };
    let (left, journal) = finish(folder, left);
    Ok(Some(Recovery {
        outcome,
        files: files(&plan),
        left,
        journal,
    }))
}

fn unreadable(why: String, journal: PathBuf) -> Recovery {
    Recovery {
        outcome: Outcome::Unreadable { why },
        files: Vec::new(),
        left: Vec::new(),
        journal: Some(journal),
    }
}

/// Ends a commit that was undone or cleaned up: the journal goes, or is kept for the next try, or for a person. Returns
/// where it is if it is kept.
pub(crate) fn finish(folder: &Path, mut left: Vec<Left>) -> (Vec<Left>, Option<PathBuf>) {
    let path = journal::path(folder);
    if left.iter().any(|left| left.again) {
        return (left, Some(path));
    }
    let ended = if left.is_empty() {
        journal::remove(folder).map(|()| None)
    } else {
        journal::set_aside(folder).map(Some)
    };
    match ended {
        Ok(journal) => (left, journal),
        Err(error) => {
            left.push(Left::failed(&path, "removing it failed", &error));
            (left, Some(path))
        }
    }
}

fn files(plan: &Plan) -> Vec<PathBuf> {
    plan.members
        .iter()
        .map(|member| {
            member
                .target
                .strip_prefix(&plan.root)
                .unwrap_or(&member.target)
                .to_owned()
        })
        .collect()
}
