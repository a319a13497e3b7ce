//! The folder whose files may be changed, and the place for what a commit must remember.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::digest::{Digest, hex};
use crate::fs;
use crate::reason::{Kind, Reason};

/// A folder whose files may be changed, and the folder that holds the lock and the journal of its commits.
///
/// Everything that commits to one folder should open it the same way: two workspaces that are nested, or that have
/// different state folders, do not wait for each other. (Their commits are still checked file by file, so that neither
/// overwrites what the other wrote; they may refuse each other.)
///
/// Cheap to clone. Opening reads the file system once and writes nothing.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
    state: PathBuf,
    lock_wait: Duration,
}

impl Workspace {
    /// Opens the folder `root`, with the state folder where the user's programs keep state:
    /// `$XDG_STATE_HOME/terret/` and a hash of the workspace's real path, or `~/.local/state/terret/` if the variable
    /// is unset, empty or relative.
    ///
    /// # Errors
    ///
    /// If `root` does not exist or is not a folder, or if no home folder is known.
    pub fn open(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = real_folder(root.as_ref())?;
        let base = std::env::var_os("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| std::env::home_dir().map(|home| home.join(".local/state")))
            .ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor a home folder is set"))?;
        let name =
            hex(&Digest::of(std::os::unix::ffi::OsStrExt::as_bytes(root.as_os_str())).0[..16]);
        Ok(Self {
            state: base.join("terret").join(name),
            root,
            lock_wait: LOCK_WAIT,
        })
    }

    /// Opens the folder `root` with a state folder of the caller's choice, which belongs to this workspace alone. It
    /// need not exist; it is made when something is first committed.
    ///
    /// # Errors
    ///
    /// If `root` does not exist or is not a folder, or if `state` is relative and there is no working directory.
    pub fn with_state_dir(root: impl AsRef<Path>, state: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self {
            root: real_folder(root.as_ref())?,
            state: std::path::absolute(state)?,
            lock_wait: LOCK_WAIT,
        })
    }

    /// How long a commit waits for another one of this workspace before it gives up with
    /// [`CommitErrorKind::Locked`](crate::CommitErrorKind::Locked). Ten seconds unless set; zero does not wait.
    #[must_use]
    pub fn lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// The folder, with every symbolic link resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the lock and the journal are.
    #[must_use]
    pub fn state_dir(&self) -> &Path {
        &self.state
    }

    pub(crate) fn longest_lock_wait(&self) -> Duration {
        self.lock_wait
    }

    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        // Trailing slashes and `.` go; `..` stays, since what it means depends on links.
        self.root.join(path).components().collect()
    }

    /// `path` as messages show it: relative to the workspace where that is possible.
    pub(crate) fn shown(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }

    /// Where `path` really leads, be there something or not.
    pub(crate) fn resolve(&self, path: &Path) -> Result<Resolved, Unresolved> {
        let given = self.absolute(path);
        match fs::canonicalize(&given) {
            Ok(real) => {
                self.check_inside(&real)?;
                if real == self.root {
                    return Err(Unresolved::Reason(Reason::NotRegular(Kind::Folder)));
                }
                Ok(Resolved { real, exists: true })
            }
            Err(error) if is_missing(&error) => self.resolve_missing(&given),
            Err(error) => Err(Unresolved::Io(error)),
        }
    }

    /// The real path that a file created at `given` would get: that of the deepest folder there is, and the rest.
    fn resolve_missing(&self, given: &Path) -> Result<Resolved, Unresolved> {
        let mut head = given;
        let mut tail = Vec::new();
        let base = loop {
            // A name that leads nowhere though something stands there is a link to nothing.
            match fs::stat(head) {
                Ok(Some(metadata)) if metadata.is_symlink() => {
                    let link = self.shown(head);
                    return Err(Unresolved::Reason(Reason::BrokenLink { link }));
                }
                Err(error) if !is_missing(&error) => return Err(Unresolved::Io(error)),
                _ => {}
            }
            let Some(Component::Normal(name)) = head.components().next_back() else {
                // `missing/..`: the system finds nothing there either.
                return Err(Unresolved::Io(io::ErrorKind::NotFound.into()));
            };
            tail.push(name);
            head = head.parent().unwrap_or(Path::new("/"));
            match fs::canonicalize(head) {
                Ok(base) => break base,
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(Unresolved::Io(error)),
            }
        };
        self.check_inside(&base)?;
        if !fs::stat(&base)
            .map_err(Unresolved::Io)?
            .is_some_and(|metadata| metadata.is_dir())
        {
            return Err(Unresolved::Reason(Reason::NotAFolder {
                folder: self.shown(&base),
            }));
        }
        let real = tail.iter().rev().fold(base, |path, name| path.join(name));
        Ok(Resolved {
            real,
            exists: false,
        })
    }

    fn check_inside(&self, real: &Path) -> Result<(), Unresolved> {
        if real.starts_with(&self.root) {
            return Ok(());
        }
        Err(Unresolved::Reason(Reason::OutsideWorkspace {
            resolved: real.to_owned(),
        }))
    }
}

const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Where a path leads, inside the workspace.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) real: PathBuf,
    pub(crate) exists: bool,
}

#[derive(Debug)]
pub(crate) enum Unresolved {
    Reason(Reason),
    Io(io::Error),
}

pub(crate) fn is_missing(error: &io::Error) -> bool {
    // The second: a file where a folder was expected, which has nothing below it.
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn real_folder(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}
