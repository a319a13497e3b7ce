//! Reading a file so that what was read is what a later change is checked against.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{StageError, StageErrorKind};
use crate::fs;
use crate::reason::{Kind, Reason};
use crate::workspace::{Unresolved, Workspace};

/// The permission bits of a mode, with set-user, set-group and sticky.
pub(crate) const MODE_BITS: u32 = 0o7777;

/// A file as it was when it was read: its bytes, its mode, and where its path led.
///
/// Cheap to clone. Times and the inode are no part of it: a file that was rewritten with the same bytes is the same.
#[derive(Clone, Debug)]
pub struct Captured {
    pub(crate) given: PathBuf,
    pub(crate) shown: PathBuf,
    pub(crate) real: PathBuf,
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) mode: u32,
    /// Device and inode; used to see that two paths are one file, never to see a change.
    pub(crate) identity: (u64, u64),
}

impl Captured {
    /// The file's bytes.
    #[must_use]
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// The path relative to the workspace where possible, as the caller gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// The path with every symbolic link resolved.
    #[must_use]
    pub fn real_path(&self) -> &Path {
        &self.real
    }

    /// The permission bits, with set-user, set-group and sticky.
    #[must_use]
    pub fn mode(&self) -> u32 {
        self.mode
    }
}

impl Workspace {
    /// Reads the file at `path` (absolute, or relative to the workspace) for a change that may follow.
    ///
    /// Symbolic links are followed, in folders and at the end, as long as they lead to a file in the workspace. All of
    /// the file is read into memory: a caller that may meet files too large for that looks at their size first.
    /// Nothing is written, locked or recovered.
    ///
    /// # Errors
    ///
    /// [`StageErrorKind::Missing`] if nothing is there, [`StageErrorKind::Refused`] if the path leads out of the
    /// workspace or not to a regular file, [`StageErrorKind::Io`] if it can't be read.
    pub fn capture(&self, path: impl AsRef<Path>) -> Result<Captured, StageError> {
        let path = path.as_ref();
        let given = self.absolute(path);
        let shown = self.shown(&given);
        let fail = |kind| StageError::new(shown.clone(), kind);
        let resolved = self
            .resolve(path)
            .map_err(|unresolved| fail(unresolved.into()))?;
        if !resolved.exists {
            return Err(fail(StageErrorKind::Missing));
        }
        match read(&resolved.real).map_err(|error| fail(StageErrorKind::Io(error)))? {
            Found::File(found) => Ok(Captured {
                given,
                real: resolved.real,
                bytes: found.bytes.into(),
                mode: found.mode,
                identity: found.identity,
                shown,
            }),
            Found::Other(kind) => Err(fail(StageErrorKind::Refused(Reason::NotRegular(kind)))),
            Found::Nothing => Err(fail(StageErrorKind::Missing)),
        }
    }
}

impl From<Unresolved> for StageErrorKind {
    fn from(unresolved: Unresolved) -> Self {
        match unresolved {
            Unresolved::Reason(reason) => Self::Refused(reason),
            Unresolved::Io(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Unresolved::Io(error) => Self::Io(error),
        }
    }
}

/// What was found at a path whose links are resolved.
pub(crate) enum Found {
    Nothing,
    Other(Kind),
    File(FoundFile),
}

pub(crate) struct FoundFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) links: u64,
    pub(crate) identity: (u64, u64),
}

/// Reads what stands at `path` itself, links not followed. Only a regular file is opened.
pub(crate) fn read(path: &Path) -> io::Result<Found> {
    match fs::stat(path)? {
        None => return Ok(Found::Nothing),
        Some(metadata) if !metadata.is_file() => {
            return Ok(Found::Other(Kind::of(metadata.file_type())));
        }
        Some(_) => {}
    }
    let mut file = match fs::open(path) {
        Ok(file) => file,
        // It went, or became a link, since the look above.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) if fs::is_link(&error) => return Ok(Found::Other(Kind::Link)),
        Err(error) => return Err(error),
    };
    let metadata = fs::stat_open(&file, path)?;
    if !metadata.is_file() {
        return Ok(Found::Other(Kind::of(metadata.file_type())));
    }
    let bytes = fs::read_all(&mut file, path)?;
    Ok(Found::File(FoundFile {
        bytes,
        mode: metadata.mode() & MODE_BITS,
        links: metadata.nlink(),
        identity: (metadata.dev(), metadata.ino()),
    }))
}
