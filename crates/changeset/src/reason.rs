//! Why a file stands in the way of a change, in words that can be acted on.

use std::fmt;
use std::fs::FileType;
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

/// A file that stands in the way of a change, and why.
///
/// Its `Display` is a sentence without a final full stop, such as
/// `src/a.rs: its content is not what it was when the change was staged (12 bytes then, 14 now)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    path: PathBuf,
    reason: Reason,
}

impl Difference {
    pub(crate) fn new(path: PathBuf, reason: Reason) -> Self {
        Self { path, reason }
    }

    /// The file, relative to the workspace where possible, by the path that the caller used.
    #[must_use]
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// What is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

/// What keeps a file from being changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Its bytes are not the captured ones.
    Changed {
        /// How many bytes were captured.
        was: u64,
        /// How many there are now; the same number if only their values differ.
        now: u64,
    },
    /// It is gone.
    Deleted,
    /// A symbolic link stands where the captured file was.
    ReplacedByLink,
    /// The path leads, through a symbolic link, to another file than it did.
    LinkRetargeted {
        /// Where it leads now.
        now: PathBuf,
    },
    /// Something other than a regular file stands where the captured file was.
    KindChanged(Kind),
    /// Its permission bits are not the captured ones.
    ModeChanged {
        /// The captured bits.
        was: u32,
        /// The present ones.
        now: u32,
    },
    /// Something exists where nothing did, so nothing can be created there.
    Appeared,
    /// Its owner may not write to it by its permission bits, or the system says that this process may not.
    ReadOnly,
    /// It has several names; replacing the file under one of them would cut it off from the others.
    HardLinked {
        /// How many names.
        links: u64,
    },
    /// The path leads out of the workspace.
    OutsideWorkspace {
        /// Where it leads.
        resolved: PathBuf,
    },
    /// It is not a regular file.
    NotRegular(Kind),
    /// The path goes through, or is, a symbolic link to nothing.
    BrokenLink {
        /// The link.
        link: PathBuf,
    },
    /// A part of the path that should be a folder is not.
    NotAFolder {
        /// That part.
        folder: PathBuf,
    },
    /// Files can't be put into its folder or taken out of it, by the folder's permission bits or as the system says.
    FolderNotWritable {
        /// The folder.
        folder: PathBuf,
    },
    /// It belongs to another user or group, and this process may not give a new file to them.
    OwnerNotKept,
    /// It has an extended attribute that this process may not give to a new file.
    AttributeNotKept {
        /// The attribute's name.
        name: String,
    },
    /// It could not be looked at.
    Unreadable {
        /// What the system said.
        error: String,
    },
}

impl Reason {
    /// Whether the file differs from what was captured, so that making the change anew may help. Otherwise it is one
    /// that may not be changed at all.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        match self {
            Self::Changed { .. }
            | Self::Deleted
            | Self::ReplacedByLink
            | Self::LinkRetargeted { .. }
            | Self::KindChanged(_)
            | Self::ModeChanged { .. }
            | Self::Appeared => true,
            Self::ReadOnly
            | Self::HardLinked { .. }
            | Self::OutsideWorkspace { .. }
            | Self::NotRegular(_)
            | Self::BrokenLink { .. }
            | Self::NotAFolder { .. }
            | Self::FolderNotWritable { .. }
            | Self::OwnerNotKept
            | Self::AttributeNotKept { .. }
            | Self::Unreadable { .. } => false,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { was, now } if was == now => {
                write!(
                    f,
                    "its content is not what it was when the change was staged ({was} bytes then and now)"
                )
            }
            Self::Changed { was, now } => {
                write!(
                    f,
                    "its content is not what it was when the change was staged ({was} bytes then, {now} now)"
                )
            }
            Self::Deleted => f.write_str("it has been deleted since the change was staged"),
            Self::ReplacedByLink => {
                f.write_str("it has been replaced by a symbolic link since the change was staged")
            }
            Self::LinkRetargeted { now } => {
                write!(
                    f,
                    "it leads to another file than when the change was staged: {}",
                    now.display()
                )
            }
            Self::KindChanged(kind) => write!(
                f,
                "it has been replaced by {kind} since the change was staged"
            ),
            Self::ModeChanged { was, now } => {
                write!(
                    f,
                    "its mode is not what it was when the change was staged ({was:04o} then, {now:04o} now)"
                )
            }
            Self::Appeared => f.write_str("it exists, though the change would create it"),
            Self::ReadOnly => f.write_str("it is read-only"),
            Self::HardLinked { links } => {
                write!(
                    f,
                    "it is one file with {links} names (hard links), which a change would separate"
                )
            }
            Self::OutsideWorkspace { resolved } => {
                write!(f, "it is outside the workspace, at {}", resolved.display())
            }
            Self::NotRegular(kind) => write!(f, "it is {kind}, not a regular file"),
            Self::BrokenLink { link } => {
                write!(f, "{} is a symbolic link to nothing", link.display())
            }
            Self::NotAFolder { folder } => write!(f, "{} is not a folder", folder.display()),
            Self::FolderNotWritable { folder } => {
                let folder = if folder.as_os_str().is_empty() {
                    std::path::Path::new(".")
                } else {
                    folder
                };
                write!(f, "its folder {} is read-only", folder.display())
            }
            Self::OwnerNotKept => {
                f.write_str("it belongs to another user or group, which a change would lose")
            }
            Self::AttributeNotKept { name } => {
                write!(f, "its extended attribute {name} would be lost by a change")
            }
            Self::Unreadable { error } => write!(f, "it could not be read: {error}"),
        }
    }
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl Kind {
    pub(crate) fn of(kind: FileType) -> Self {
        if kind.is_dir() {
            Self::Folder
        } else if kind.is_symlink() {
            Self::Link
        } else if kind.is_fifo() {
            Self::Pipe
        } else if kind.is_socket() {
            Self::Socket
        } else if kind.is_char_device() || kind.is_block_device() {
            Self::Device
        } else {
            Self::File
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        })
    }
}
