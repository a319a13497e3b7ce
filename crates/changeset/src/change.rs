//! A set of changes, as the state of files that it would bring about.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capture::Captured;
use crate::error::{StageError, StageErrorKind};
use crate::reason::Reason;
use crate::workspace::Workspace;

/// Changes of files of one workspace, to be shown, checked and committed together.
///
/// The set is kept as the state that it would bring about, so changes may build on each other: a file may be created
/// and then edited, or edited and then renamed. One file is one member, by whatever paths it is reached. What would
/// lose a change is refused as it is added: two different results [edited](Self::edit) from the same capture, a file
/// created or renamed to where one is.
///
/// Adding reads the file system at most once a file, writes nothing, and leaves the set as it was if it fails.
#[derive(Clone, Debug)]
pub struct ChangeSet {
    pub(crate) workspace: Workspace,
    /// By real path, in whose order a commit puts files in place.
    pub(crate) slots: BTreeMap<PathBuf, Slot>,
    identities: HashMap<(u64, u64), PathBuf>,
}

/// One path on disk: what was found there, and what shall be there.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// The paths by which callers reached it; each must still lead here at commit.
    pub(crate) given: Vec<PathBuf>,
    pub(crate) shown: PathBuf,
    /// `None`: nothing was there.
    pub(crate) captured: Option<Captured>,
    /// `None`: nothing shall be there.
    pub(crate) planned: Option<Planned>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) bytes: Arc<[u8]>,
    /// The real path of the captured file that this one is, under whatever name: its owner, mode and attributes.
    pub(crate) origin: Option<PathBuf>,
}

/// What happens to a file, and its bytes before and after.
pub(crate) struct Described<'a> {
    pub(crate) change: FileChange,
    pub(crate) old: &'a [u8],
    pub(crate) new: &'a [u8],
    /// Whether its owner may run it.
    pub(crate) executable: bool,
}

impl Slot {
    pub(crate) fn is_changed(&self, real: &Path) -> bool {
        match (&self.captured, &self.planned) {
            (None, None) => false,
            (Some(captured), Some(planned)) => {
                captured.bytes != planned.bytes
                    || planned
                        .origin
                        .as_deref()
                        .is_some_and(|origin| origin != real)
            }
            _ => true,
        }
    }
}

impl ChangeSet {
    /// An empty set.
    #[must_use]
    pub fn new(workspace: &Workspace) -> Self {
        Self {
            workspace: workspace.clone(),
            slots: BTreeMap::new(),
            identities: HashMap::new(),
        }
    }

    /// The workspace whose files the set changes.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Gives a captured file new bytes.
    ///
    /// # Errors
    ///
    /// [`StageErrorKind::Conflict`] if the set has other bytes for this file, has deleted or renamed it, or holds an
    /// earlier capture of it that differs. [`StageErrorKind::Refused`] if the capture is of another workspace.
    pub fn edit(
        &mut self,
        captured: &Captured,
        new: impl Into<Arc<[u8]>>,
    ) -> Result<(), StageError> {
        let new = new.into();
        let fail = |kind| StageError::new(captured.shown.clone(), kind);
        if !captured.real.starts_with(self.workspace.root()) {
            let resolved = captured.real.clone();
            return Err(fail(StageErrorKind::Refused(Reason::OutsideWorkspace {
                resolved,
            })));
        }
        let real = self.hold(captured);
        let slot = self.slots.get_mut(&real).expect("a held file has a slot");
        let (Some(held), Some(planned)) = (&slot.captured, &mut slot.planned) else {
            return Err(fail(StageErrorKind::Conflict));
        };
        let same_base = held.bytes == captured.bytes && held.mode == captured.mode;
        let untouched = planned.bytes == held.bytes && planned.origin.as_ref() == Some(&real);
        if !same_base || !(untouched || planned.bytes == new) {
            return Err(fail(StageErrorKind::Conflict));
        }
        planned.bytes = new;
        Ok(())
    }

    /// The bytes that the set would leave at `path`: those on disk, captured by this call, if it has not changed them.
    ///
    /// # Errors
    ///
    /// As [`Workspace::capture`]; a file that the set has deleted or renamed is missing.
    pub fn read(&mut self, path: impl AsRef<Path>) -> Result<Arc<[u8]>, StageError> {
        let path = path.as_ref();
        let real = self.present(path)?;
        let slot = &self.slots[&real];
        match &slot.planned {
            Some(planned) => Ok(planned.bytes.clone()),
            None => Err(self.failure(path, StageErrorKind::Missing)),
        }
    }

    /// Gives the file at `path`, as the set would leave it, new bytes in place of those that [`read`](Self::read)
    /// returns. For changes that build on each other; a change made from a capture is better an [`edit`](Self::edit),
    /// which notices a second one.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn write(
        &mut self,
        path: impl AsRef<Path>,
        new: impl Into<Arc<[u8]>>,
    ) -> Result<(), StageError> {
        let path = path.as_ref();
        let real = self.present(path)?;
        match self
            .slots
            .get_mut(&real)
            .and_then(|slot| slot.planned.as_mut())
        {
            Some(planned) => planned.bytes = new.into(),
            None => return Err(self.failure(path, StageErrorKind::Missing)),
        }
        Ok(())
    }

    /// Whether a file would be at `path`. Reads the file if the set does not know it yet.
    ///
    /// # Errors
    ///
    /// As [`Workspace::capture`], but for what is missing.
    pub fn exists(&mut self, path: impl AsRef<Path>) -> Result<bool, StageError> {
        match self.read(path) {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), StageErrorKind::Missing) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates a file. Folders that are missing on the way are made at commit.
    ///
    /// Where the set has deleted a file, the new one takes over its mode and attributes.
    ///
    /// # Errors
    ///
    /// [`StageErrorKind::Exists`] if anything is there, [`StageErrorKind::Refused`] if the path leads out of the
    /// workspace, [`StageErrorKind::Io`] if that can't be found out.
    pub fn create(
        &mut self,
        path: impl AsRef<Path>,
        bytes: impl Into<Arc<[u8]>>,
    ) -> Result<(), StageError> {
        let real = self.absent(path.as_ref())?;
        self.slots
            .get_mut(&real)
            .expect("a free path has a slot")
            .planned = Some(Planned {
            bytes: bytes.into(),
            origin: None,
        });
        Ok(())
    }

    /// Deletes the file at `path`. The folder stays, even if it is empty then.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn delete(&mut self, path: impl AsRef<Path>) -> Result<(), StageError> {
        self.take(path.as_ref()).map(drop)
    }

    /// Renames the file at `from`, as the set would leave it, to `to`, where nothing may be.
    ///
    /// The file under the new name has the bytes, owner, mode and attributes of the old one, but is a new inode. Folders
    /// are not renamed; a caller renames the files in them.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read) for `from` and as [`create`](Self::create) for `to`.
    pub fn rename(
        &mut self,
        from: impl AsRef<Path>,
        to: impl AsRef<Path>,
    ) -> Result<(), StageError> {
        let from = from.as_ref();
        self.read(from)?;
        let real = self.absent(to.as_ref())?;
        let planned = self.take(from)?;
        self.slots
            .get_mut(&real)
            .expect("a free path has a slot")
            .planned = Some(planned);
        Ok(())
    }

    /// The files that a commit would change, in the order of their real paths. A file that was only read, or whose
    /// change came to nothing, is not among them.
    #[must_use]
    pub fn files(&self) -> Vec<FileChange> {
        self.changed()
            .filter_map(|(real, slot)| Some(self.describe(real, slot)?.change))
            .collect()
    }

    /// Whether a commit would change nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed().next().is_none()
    }

    pub(crate) fn changed(&self) -> impl Iterator<Item = (&PathBuf, &Slot)> {
        self.slots
            .iter()
            .filter(|(real, slot)| slot.is_changed(real))
    }

    /// What happens to a slot; `None` for the old name of a renamed file, which is told by the new one.
    pub(crate) fn describe<'a>(&'a self, real: &Path, slot: &'a Slot) -> Option<Described<'a>> {
        let captured = slot.captured.as_ref();
        let (change, was, new): (_, Option<&Captured>, &[u8]) = match &slot.planned {
            None if self.is_moved(real) => return None,
            None => (Change::Deleted, captured, &[]),
            // Where another file was created under the old name, this one is told as a copy of it would be.
            Some(Planned {
                bytes,
                origin: Some(origin),
            }) if origin != real && self.has_left(origin) => {
                let source = &self.slots[origin];
                let was = source.captured.as_ref();
                let edited = was.is_none_or(|was| was.bytes != *bytes);
                (
                    Change::Renamed {
                        from: source.shown.clone(),
                        edited,
                    },
                    was,
                    bytes,
                )
            }
            Some(Planned { bytes, .. }) if captured.is_some() => (Change::Edited, captured, bytes),
            Some(Planned { bytes, .. }) => (Change::Created, None, bytes),
        };
        Some(Described {
            change: FileChange {
                path: slot.shown.clone(),
                change,
            },
            old: was.map_or(&[], |was| &was.bytes),
            new,
            executable: was.is_some_and(|was| was.mode & 0o100 != 0),
        })
    }

    /// Whether at the path of this captured file there would be nothing, or another captured file.
    fn has_left(&self, real: &Path) -> bool {
        match &self.slots[real].planned {
            None => true,
            Some(planned) => planned
                .origin
                .as_deref()
                .is_some_and(|origin| origin != real),
        }
    }

    /// Whether the captured file of this path would be elsewhere.
    fn is_moved(&self, real: &Path) -> bool {
        self.slots.iter().any(|(other, slot)| {
            other != real
                && slot
                    .planned
                    .as_ref()
                    .is_some_and(|planned| planned.origin.as_deref() == Some(real))
        })
    }

    /// Takes the file at `path` away, for it to be elsewhere or nowhere.
    fn take(&mut self, path: &Path) -> Result<Planned, StageError> {
        let real = self.present(path)?;
        let planned = self
            .slots
            .get_mut(&real)
            .and_then(|slot| slot.planned.take());
        planned.ok_or_else(|| self.failure(path, StageErrorKind::Missing))
    }

    /// The slot of a file that is in the set, or on disk, where it is captured.
    fn present(&mut self, path: &Path) -> Result<PathBuf, StageError> {
        let resolved = self
            .workspace
            .resolve(path)
            .map_err(|unresolved| self.failure(path, unresolved.into()))?;
        if self.slots.contains_key(&resolved.real) {
            self.add_given(&resolved.real, path);
            return Ok(resolved.real);
        }
        let captured = self.workspace.capture(path)?;
        Ok(self.hold(&captured))
    }

    /// The slot of a path at which the set would leave nothing.
    fn absent(&mut self, path: &Path) -> Result<PathBuf, StageError> {
        let resolved = self
            .workspace
            .resolve(path)
            .map_err(|unresolved| self.failure(path, unresolved.into()))?;
        if let Some(slot) = self.slots.get(&resolved.real) {
            if slot.planned.is_some() {
                return Err(self.failure(path, StageErrorKind::Exists));
            }
            self.add_given(&resolved.real, path);
            return Ok(resolved.real);
        }
        if resolved.exists {
            return Err(self.failure(path, StageErrorKind::Exists));
        }
        let given = self.workspace.absolute(path);
        let slot = Slot {
            shown: self.workspace.shown(&given),
            given: vec![given],
            captured: None,
            planned: None,
        };
        self.slots.insert(resolved.real.clone(), slot);
        Ok(resolved.real)
    }

    /// Makes a captured file known to the set, under the real path that it is first known by.
    fn hold(&mut self, captured: &Captured) -> PathBuf {
        // On a file system that ignores case, two real paths may be one file.
        let known = if self.slots.contains_key(&captured.real) {
            Some(captured.real.clone())
        } else {
            self.identities
                .get(&captured.identity)
                .filter(|real| same_but_for_case(real, &captured.real))
                .cloned()
        };
        if let Some(real) = known {
            self.add_given(&real, &captured.given);
            return real;
        }
        let real = captured.real.clone();
        self.identities.insert(captured.identity, real.clone());
        let planned = Planned {
            bytes: captured.bytes.clone(),
            origin: Some(real.clone()),
        };
        let slot = Slot {
            given: vec![captured.given.clone()],
            shown: captured.shown.clone(),
            captured: Some(captured.clone()),
            planned: Some(planned),
        };
        self.slots.insert(real.clone(), slot);
        real
    }

    fn add_given(&mut self, real: &Path, path: &Path) {
        let given = self.workspace.absolute(path);
        if let Some(slot) = self.slots.get_mut(real)
            && !slot.given.contains(&given)
        {
            slot.given.push(given);
        }
    }

    fn failure(&self, path: &Path, kind: StageErrorKind) -> StageError {
        StageError::new(self.workspace.shown(&self.workspace.absolute(path)), kind)
    }
}

/// Whether two paths may be one name on a file system that ignores case. Hard links, which also share an inode, seldom
/// look like this, and are refused at commit.
pub(crate) fn same_but_for_case(a: &Path, b: &Path) -> bool {
    a.to_string_lossy().to_lowercase() == b.to_string_lossy().to_lowercase()
}

/// What a set does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    path: PathBuf,
    change: Change,
}

impl FileChange {
    /// The file, relative to the workspace where possible; the new name of a renamed one.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What happens to it.
    #[must_use]
    pub fn change(&self) -> &Change {
        &self.change
    }
}

impl fmt::Display for FileChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.change {
            Change::Edited => write!(f, "{path} (edited)"),
            Change::Created => write!(f, "{path} (created)"),
            Change::Deleted => write!(f, "{path} (deleted)"),
            Change::Renamed {
                from,
                edited: false,
            } => write!(f, "{path} (renamed from {})", from.display()),
            Change::Renamed { from, edited: true } => {
                write!(f, "{path} (renamed from {}, edited)", from.display())
            }
        }
    }
}

/// The kind of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It gets other bytes.
    Edited,
    /// It is new.
    Created,
    /// It goes.
    Deleted,
    /// It gets this name.
    Renamed {
        /// The name that it had, relative to the workspace where possible.
        from: PathBuf,
        /// Whether it gets other bytes too.
        edited: bool,
    },
}
