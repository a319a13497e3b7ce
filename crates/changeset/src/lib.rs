//! Sets of file changes, captured, shown as a diff, and committed whole or not at all.
//!
//! A tool that changes many files at once (a rewrite across a workspace, a rename by a language server) shows what it is
//! about to do, and does it later, when somebody has agreed. By then files may have changed. This crate keeps what was
//! read, compares it again, and puts all changes in place or none: a rename that is half applied compiles in neither
//! form.
//!
//! ```
//! use terret_changeset::{ChangeSet, CommitErrorKind, DiffBounds, Reason, Workspace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (root, state) = (folder.path().join("project"), folder.path().join("state"));
//! # std::fs::create_dir(&root)?;
//! # std::fs::write(root.join("a.txt"), "one\n")?;
//! # std::fs::write(root.join("b.txt"), "b\n")?;
//! let workspace = Workspace::with_state_dir(&root, &state)?; // or `Workspace::open(&root)`
//!
//! // What is matched against is what is captured.
//! let captured = workspace.capture("a.txt")?;
//! let mut set = ChangeSet::new(&workspace);
//! set.edit(&captured, *b"two\n")?;
//! set.rename("b.txt", "sub/c.txt")?;
//! let diff = set.diff(&DiffBounds::default());
//! assert!(diff.to_string().contains("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"));
//!
//! // Somebody writes to a file meanwhile: nothing is written.
//! std::fs::write(root.join("a.txt"), "three\n")?;
//! let error = set.commit(&|| false).unwrap_err();
//! let CommitErrorKind::Refused(differences) = error.kind() else { panic!("{error}") };
//! assert!(matches!(differences[0].reason(), Reason::Changed { was: 4, now: 6 }));
//! assert!(root.join("b.txt").exists());
//!
//! // It is taken back: the same set is good again.
//! std::fs::write(root.join("a.txt"), "one\n")?;
//! let committed = set.commit(&|| false)?;
//! assert_eq!(committed.files().len(), 2);
//! assert_eq!(std::fs::read_to_string(root.join("a.txt"))?, "two\n");
//! assert_eq!(std::fs::read_to_string(root.join("sub/c.txt"))?, "b\n");
//! # Ok(())
//! # }
//! ```
//!
//! # The promise
//!
//! - **Nothing stale is written.** A commit compares bytes, kind and mode of every file with what was captured, and
//!   refuses the whole set if any differ, naming each file and how. Times and inodes do not matter.
//! - **All or nothing.** If a commit returns an error, every file is as it was, or as somebody else wrote it meanwhile.
//!   The exception has a name of its own, [`CommitErrorKind::NotRolledBack`]: undoing failed too.
//! - **After a crash too**, of the process or the machine, once [recovered](Workspace::recover): by the next commit, or
//!   by a host when it starts. Between the crash and the recovery some files may be new and others old, since no
//!   system renames several files in one step. Reading, capturing, showing and verifying never recover anything.
//! - **What somebody else writes is not lost.** Files are put in place by an exchange of two names, and then the file
//!   that came out is looked at: if it is not the captured one, everything is put back and the set is refused.
//! - **What is not changed stays**: owner, group, mode, extended attributes and access lists. Bytes are written as
//!   given; line ends, byte order marks and a missing last line feed are the caller's.
//! - **Nothing is left behind**: no temporary file after success, failure or recovery. While a commit runs, hidden
//!   files named `.name.<id>.tmp` stand beside the files that it changes.
//!
//! Refused before anything is written: a path that leads out of the workspace once links are resolved, a file that is
//! read-only, has several hard links or is not a regular file, a folder that can't be written. For the superuser, whom
//! the kernel lets write anywhere, the permission bits decide.
//!
//! # How a commit goes
//!
//! One lock file in the [state folder](Workspace::state_dir) is held from beginning to end. What an earlier crash has
//! left is mended and every file is verified. The journal is written; then each new content, to a hidden file beside
//! its target, with the owner, attributes and mode of the old one; all is synced, and the journal notes that. Then, in
//! the order of their paths, each file is exchanged with its hidden one, created under a name that must be free, or
//! moved out to a hidden name, and what came out is looked at. Folders are synced, what came out is looked at once more,
//! the journal notes the end, and the hidden files and the journal are removed.
//!
//! Recovery looks at each file that the journal names. Before the note of the end it puts the captured content back,
//! unless every file was in place already; after it, it only removes hidden files. A file that is neither as captured nor
//! as written is not touched: it is reported, with the hidden file that holds its other content. A journal that is damaged
//! is moved aside and reported, and nothing is touched.
//!
//! # Limits
//!
//! - **Linux on x86-64 is what is tested.** Other Unix systems may work; elsewhere the crate does not compile.
//! - **A program that holds a file open** from before the exchange, and writes to it after the last look, writes to a
//!   file that is about to be removed. What came out is looked at right after the exchange, after syncing, and right
//!   before it is removed; no system that this crate runs on can close what is left of that gap for it.
//! - **Without an exchange of names** (Linux file systems that lack `RENAME_EXCHANGE`, such as NFS and some FUSE ones;
//!   systems other than Linux and Apple's) the old file is moved to a hidden name, looked at, and kept until the end, and
//!   then the new one gets its name. For that moment the name is missing for readers. Where a rename can't be kept from
//!   replacing a file either, a hard link takes its place; a file system that has none of these can't be written to.
//! - **Durability is that of `fsync`** on the file system: on one that ignores it, or whose folders can't be synced, a
//!   power cut may undo the order that recovery relies on. A crash of the process alone is not affected.
//! - **Other programs know no lock of this crate.** They see single files change one after the other, each at once.
//! - **A changed or renamed file is a new inode.** What watches or holds the old one goes on with it; birth times are new;
//!   flags of the file system (`chattr`) other than extended attributes are not carried over.
//! - **Where a folder ignores case**, one file under two spellings is one member, but a rename that changes nothing but
//!   case is refused, as something exists under the new name.
//! - **A workspace that is moved** has a new default state folder, so a journal that a crash left under the old name is
//!   not found. Its hidden files stay.
//! - **All bytes are in memory**, those captured and those to be written.

#[cfg(not(unix))]
compile_error!(
    "terret-changeset exchanges and locks files in ways that only Unix has; it is tested on Linux and does not support \
     this system"
);

mod capture;
mod change;
mod commit;
mod diff;
mod digest;
mod error;
#[cfg(test)]
mod faults;
mod fs;
mod journal;
mod lock;
mod plan;
#[cfg(test)]
mod races;
mod reason;
mod recover;
mod undo;
mod verify;
mod workspace;

pub use capture::Captured;
pub use change::{Change, ChangeSet, FileChange};
pub use commit::Committed;
pub use diff::{Diff, DiffBounds, FileDiff};
pub use error::{CommitError, CommitErrorKind, IoFailure, StageError, StageErrorKind};
pub use reason::{Difference, Kind, Reason};
pub use recover::{Left, Outcome, Recovery};
pub use workspace::Workspace;
