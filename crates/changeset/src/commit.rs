//! Commits a set: whole, or not at all.

mod place;
mod prepare;

use std::path::Path;
use std::sync::Arc;

use crate::change::{ChangeSet, FileChange};
use crate::error::{CommitError, CommitErrorKind, While as _};
use crate::fs;
use crate::journal::{Journal, State};
use crate::lock::Lock;
use crate::plan::{Folder, Member, Names, Plan, Print, missing_folders};
use crate::reason::Difference;
use crate::recover::{self, Left, Recovery};
use crate::undo;

pub(crate) use place::move_in;

/// What a commit did.
#[derive(Debug)]
pub struct Committed {
    files: Vec<FileChange>,
    recovered: Option<Recovery>,
    left: Vec<Left>,
}

impl Committed {
    /// The files that were changed, in the order of their real paths.
    #[must_use]
    pub fn files(&self) -> &[FileChange] {
        &self.files
    }

    /// What became of an earlier commit that a crash had cut short, if there was one.
    #[must_use]
    pub fn recovered(&self) -> Option<&Recovery> {
        self.recovered.as_ref()
    }

    /// What could not be tidied up afterwards, usually nothing; the set is in place all the same. The next call that
    /// wants to write tries to remove a hidden file again, unless it is there because somebody had written to a file
    /// while it was being replaced.
    #[must_use]
    pub fn left(&self) -> &[Left] {
        &self.left
    }
}

/// The members of a commit, with what the journal does not hold.
struct Work<'a> {
    plan: Plan,
    sources: Vec<Source<'a>>,
}

/// Where a member's new file comes from, and how to call it.
struct Source<'a> {
    shown: &'a Path,
    bytes: Option<&'a Arc<[u8]>>,
    /// The file whose owner, mode and attributes the new one gets, and the mode that was captured.
    like: Option<(&'a Path, u32)>,
}

impl ChangeSet {
    /// Puts all changes in place, or none.
    ///
    /// Waits for another commit of the workspace to end, mends what a crash has left of an earlier one, verifies every
    /// file again, and only then writes. The [crate page](crate#the-promise) says what holds if that fails, or is
    /// cut short, at any point. The set stays as it is, and may be committed again after a refusal; after a success that
    /// is refused, because the files are no longer as captured.
    ///
    /// `cancel` is asked between the steps. It is honoured until the first file is put in place, and not asked after.
    /// This function blocks; call it from a thread that may.
    ///
    /// # Errors
    ///
    /// See [`CommitErrorKind`]. The set's files are as they were, unless the kind is
    /// [`NotRolledBack`](CommitErrorKind::NotRolledBack).
    pub fn commit(&self, cancel: &dyn Fn() -> bool) -> Result<Committed, CommitError> {
        let _lock =
            Lock::take(&self.workspace, cancel).map_err(|kind| CommitError::new(kind, None))?;
        let recovered =
            recover::under_lock(&self.workspace).map_err(|kind| CommitError::new(kind, None))?;
        if recovered
            .as_ref()
            .is_some_and(|recovery| !recovery.is_complete())
        {
            return Err(CommitError::new(CommitErrorKind::Unrecovered, recovered));
        }
        match self.commit_under_lock(cancel) {
            Ok(left) => Ok(Committed {
                files: self.files(),
                recovered,
                left,
            }),
            Err(kind) => Err(CommitError::new(kind, recovered)),
        }
    }

    fn commit_under_lock(&self, cancel: &dyn Fn() -> bool) -> Result<Vec<Left>, CommitErrorKind> {
        let differences = self.verify();
        if !differences.is_empty() {
            return Err(CommitErrorKind::Refused(differences));
        }
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let work = self.work()?;
        let state_dir = self.workspace.state_dir();
        check(cancel)?;
        let mut journal =
            Journal::begin(state_dir, &work.plan).during("writing the journal in", state_dir)?;

        let prepared = prepare::all(&work, cancel).and_then(|()| {
            journal
                .mark(State::Prepared)
                .during("writing the journal", journal.path())?;
            check(cancel)
        });
        if let Err(cause) = prepared {
            return Err(self.roll_back(&work.plan, State::Preparing, cause));
        }
        if let Err(cause) = place::all(&work) {
            return Err(self.roll_back(&work.plan, State::Prepared, cause));
        }
        if let Err(cause) = journal
            .mark(State::Committed)
            .during("writing the journal", journal.path())
        {
            if journal.take_back_mark().is_ok() {
                return Err(self.roll_back(&work.plan, State::Prepared, cause));
            }
            // Whether the journal says that the set is committed is unknown, so to roll back now could, after a crash,
            // look like a committed set that somebody changed. Every file is in place and durable: with nothing
            // removed, recovery comes to the same end whichever it says.
            return Ok(vec![Left::unfinished(journal.path(), &cause)]);
        }
        Ok(recover::finish(state_dir, undo::clean_up(&work.plan)).0)
    }

    /// Undoes what a failed commit has done, and says what to tell the caller.
    fn roll_back(&self, plan: &Plan, state: State, cause: CommitErrorKind) -> CommitErrorKind {
        let state_dir = self.workspace.state_dir();
        let (left, journal) = recover::finish(state_dir, undo::roll_back(plan, state));
        match journal {
            None => cause,
            Some(journal) => CommitErrorKind::NotRolledBack {
                cause: Box::new(cause),
                left,
                journal,
            },
        }
    }

    fn work(&self) -> Result<Work<'_>, CommitErrorKind> {
        let names = Names::new();
        let mut folders: Vec<Folder> = Vec::new();
        let mut members = Vec::new();
        let mut sources = Vec::new();
        for (index, (real, slot)) in self.changed().enumerate() {
            let (missing, folder) =
                missing_folders(real).during("looking at the folders of", real)?;
            for folder in missing {
                if !folders.iter().any(|known| known.0 == folder) {
                    folders.push(Folder(folder));
                }
            }
            let like = slot.planned.as_ref().and_then(|planned| {
                let origin = planned.origin.as_deref().unwrap_or(real);
                let captured = self.slots.get(origin)?.captured.as_ref()?;
                Some((origin, captured.mode))
            });
            let (incoming, outgoing) = names.of(&folder, real, index);
            members.push(Member {
                target: real.clone(),
                incoming,
                outgoing,
                old: slot
                    .captured
                    .as_ref()
                    .map(|captured| Print::of(&captured.bytes, Some(captured.mode))),
                new: slot
                    .planned
                    .as_ref()
                    .map(|planned| Print::of(&planned.bytes, like.map(|(_, mode)| mode))),
            });
            let bytes = slot.planned.as_ref().map(|planned| &planned.bytes);
            sources.push(Source {
                shown: &slot.shown,
                bytes,
                like,
            });
        }
        let plan = Plan {
            root: self.workspace.root().to_owned(),
            folders,
            members,
        };
        Ok(Work { plan, sources })
    }
}

fn check(cancel: &dyn Fn() -> bool) -> Result<(), CommitErrorKind> {
    if cancel() {
        Err(CommitErrorKind::Cancelled)
    } else {
        Ok(())
    }
}

fn refused(source: &Source<'_>, reason: crate::reason::Reason) -> CommitErrorKind {
    CommitErrorKind::Refused(vec![Difference::new(source.shown.to_owned(), reason)])
}

/// Makes durable which names are in which folders.
fn sync_folders<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<(), CommitErrorKind> {
    folders
        .into_iter()
        .try_for_each(|folder| fs::sync_folder(folder).during("syncing", folder))
}
