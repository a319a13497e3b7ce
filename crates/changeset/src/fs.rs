//! The one door to the file system: every call that a commit makes goes through here.
//!
//! Each function is one call, named by an [`Op`]. In the tests of this crate a call can be made to fail, before or
//! after it took effect, and the process can be killed there; in any other build the door is the call itself.

use std::ffi::OsStr;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, Mode, OFlags};

#[cfg(test)]
pub(crate) mod hook;

/// Names a file-system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Access,
    Attributes,
    Canonicalize,
    ChangeMode,
    ChangeOwner,
    Create,
    Exchange,
    Link,
    Lock,
    MakeFolder,
    Open,
    Read,
    RemoveFolder,
    Rename,
    RenameNew,
    Stat,
    Sync,
    SyncFolder,
    Truncate,
    Unlink,
    Write,
}

#[cfg_attr(
    not(test),
    expect(
        unused_variables,
        reason = "only the tests' hook looks at what is called"
    )
)]
#[inline]
fn call<T>(op: Op, path: &Path, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    #[cfg(test)]
    hook::before(op, path)?;
    let value = run()?;
    #[cfg(test)]
    hook::after(op, path)?;
    Ok(value)
}

/// The path with every symbolic link resolved.
pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    call(Op::Canonicalize, path, || path.canonicalize())
}

/// What stands at `path` itself, links not followed; `None` if nothing does.
pub(crate) fn stat(path: &Path) -> io::Result<Option<Metadata>> {
    call(Op::Stat, path, || match path.symlink_metadata() {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    })
}

/// Whether this process may write to `path`, as the kernel sees it: it knows read-only mounts and foreign owners, which
/// permission bits do not show.
pub(crate) fn may_write(path: &Path, folder: bool) -> io::Result<bool> {
    let access = if folder {
        Access::WRITE_OK | Access::EXEC_OK
    } else {
        Access::WRITE_OK
    };
    call(Op::Access, path, || {
        match rustix::fs::access(path, access) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::ROFS | rustix::io::Errno::PERM) => {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    })
}

/// Opens a file for reading. A symbolic link is an error, and a pipe does not block.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    call(Op::Open, path, || {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    })
}

/// Whether opening failed because a symbolic link is there.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Opens the lock file, which is made readable by its owner alone.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    call(Op::Open, path, || {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into())
    })
}

/// Creates a file that must not exist, for its owner alone or as the process's umask has it.
pub(crate) fn create(path: &Path, private: bool) -> io::Result<File> {
    call(Op::Create, path, || {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let owner = Mode::RUSR | Mode::WUSR;
        let others = Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let mode = if private { owner } else { owner | others };
        Ok(rustix::fs::open(path, flags, mode)?.into())
    })
}

/// What is known about an open file.
pub(crate) fn stat_open(file: &File, path: &Path) -> io::Result<Metadata> {
    call(Op::Stat, path, || file.metadata())
}

/// Everything from the present position to the end of the file.
pub(crate) fn read_all(file: &mut File, path: &Path) -> io::Result<Vec<u8>> {
    call(Op::Read, path, || {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

/// Writes all of `bytes`; after an error or a crash a part of them may be there.
pub(crate) fn write_all(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Two calls in tests, so that failing and dying between them leaves a file that is written in part.
    let (first, second) = if cfg!(test) {
        bytes.split_at(bytes.len() / 2)
    } else {
        (bytes, &[][..])
    };
    call(Op::Write, path, || file.write_all(first))?;
    if !second.is_empty() {
        call(Op::Write, path, || file.write_all(second))?;
    }
    Ok(())
}

pub(crate) fn change_owner(file: &File, path: &Path, owner: u32, group: u32) -> io::Result<()> {
    call(Op::ChangeOwner, path, || {
        fchown(file, Some(owner), Some(group))
    })
}

pub(crate) fn change_mode(file: &File, path: &Path, mode: u32) -> io::Result<()> {
    call(Op::ChangeMode, path, || {
        file.set_permissions(Permissions::from_mode(mode))
    })
}

/// Gives `to` the extended attributes of `from`, and takes away an access list that its folder gave it.
///
/// Returns the name of the first attribute that could not be copied.
pub(crate) fn copy_attributes(
    from: &File,
    to: &File,
    path: &Path,
) -> io::Result<Result<(), String>> {
    use xattr::FileExt as _;
    const ACCESS_LIST: &str = "system.posix_acl_access";
    call(Op::Attributes, path, || {
        let Some(names) = supported(from.list_xattr())? else {
            return Ok(Ok(()));
        };
        let names: Vec<_> = names.collect();
        for name in &names {
            let Some(value) = from.get_xattr(name)? else {
                continue;
            };
            // A label that the system gave the new file by itself may be neither needed nor allowed to be set.
            if to.get_xattr(name)?.as_ref() == Some(&value) {
                continue;
            }
            match to.set_xattr(name, &value) {
                Ok(()) => {}
                Err(error) if is_denied(&error) => {
                    return Ok(Err(String::from_utf8_lossy(name.as_bytes()).into_owned()));
                }
                Err(error) => return Err(error),
            }
        }
        let inherited = supported(to.list_xattr())?
            .is_some_and(|mut list| list.any(|name| name == ACCESS_LIST));
        if inherited && !names.iter().any(|name| name == OsStr::new(ACCESS_LIST)) {
            to.remove_xattr(ACCESS_LIST)?;
        }
        Ok(Ok(()))
    })
}

/// `None` where the file system has no extended attributes.
fn supported<T>(listed: io::Result<T>) -> io::Result<Option<T>> {
    match listed {
        Ok(list) => Ok(Some(list)),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the system refused for want of rights or of the feature, rather than failed.
pub(crate) fn is_denied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported
    )
}

pub(crate) fn sync(file: &File, path: &Path) -> io::Result<()> {
    call(Op::Sync, path, || file.sync_all())
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    call(Op::SyncFolder, path, || {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty())?;
        match rustix::fs::fsync(folder) {
            // Some file systems can't sync a folder and say so this way; there is nothing more to ask of them.
            Ok(()) | Err(rustix::io::Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    })
}

pub(crate) fn truncate(file: &File, path: &Path, length: u64) -> io::Result<()> {
    call(Op::Truncate, path, || file.set_len(length))
}

/// Exchanges two names in one step; `Unsupported` where the system or the file system can't.
pub(crate) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    call(Op::Exchange, b, || rename_with(a, b, Flag::Exchange))
}

/// Renames, and takes the place of whatever stood at `to`.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    call(Op::Rename, from, || std::fs::rename(from, to))
}

/// Renames to a name that must not exist; `Unsupported` where the system or the file system can't promise that.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    call(Op::RenameNew, to, || rename_with(from, to, Flag::NoReplace))
}

/// Gives a file a second name, which must not exist.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    call(Op::Link, to, || std::fs::hard_link(from, to))
}

enum Flag {
    Exchange,
    NoReplace,
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_with(from: &Path, to: &Path, flag: Flag) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    let flag = match flag {
        Flag::Exchange => RenameFlags::EXCHANGE,
        Flag::NoReplace => RenameFlags::NOREPLACE,
    };
    match renameat_with(CWD, from, CWD, to, flag) {
        Ok(()) => Ok(()),
        // An old kernel, a seccomp filter, or a file system that does not know the flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_with(_from: &Path, _to: &Path, _flag: Flag) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes a name; one that is already gone is no error.
pub(crate) fn unlink(path: &Path) -> io::Result<()> {
    call(Op::Unlink, path, || {
        absent_is_fine(std::fs::remove_file(path))
    })
}

/// Makes the state folder and those above it, for its owner alone.
pub(crate) fn make_state_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    call(Op::MakeFolder, path, || {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
    })
}

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    call(Op::MakeFolder, path, || std::fs::create_dir(path))
}

/// Removes a folder if it is empty; one that is gone, or that somebody uses by now, is no error.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    call(Op::RemoveFolder, path, || match std::fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        result => absent_is_fine(result),
    })
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Takes the lock of an open file if nobody has it. The kernel drops it with the last handle of a process that ends,
/// however it ends.
pub(crate) fn try_lock(file: &File, path: &Path) -> io::Result<bool> {
    call(Op::Lock, path, || match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    })
}
