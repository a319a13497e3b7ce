//! One string, many files: a fixture is written into a temporary folder and listed back in the
//! same form.

mod entry;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use entry::{Content, Entry};

/// A temporary folder that holds the files of one string, and goes away with the value.
///
/// Each file starts with a marker line, `//- /path option…`, and lasts until the next one. What
/// all lines have in front of them in common is cut, so that a fixture can be indented with the
/// test around it. The options:
///
/// | option | meaning |
/// | --- | --- |
/// | `crlf` | every line ends in CR LF |
/// | `bom` | a byte order mark comes first |
/// | `no-eol` | the last line has no end |
/// | `bytes` | the body is read like a byte string: `\xff`, `\r`, `\n`, `\t`, `\\`; its own line ends are layout |
/// | `mode=755` | permissions, in octal; a file has 644 otherwise and a folder 755 |
/// | `symlink=TARGET` | a symbolic link; no body |
/// | `hardlink=/path` | another name of a file that comes earlier; no body |
/// | `dir` | a folder; no body |
#[derive(Debug)]
pub struct Tree {
    dir: TempDir,
}

impl Tree {
    /// Writes the files of `fixture`.
    ///
    /// # Panics
    ///
    /// On a fixture that cannot be read, and on any failure to write it: a test has no other use
    /// for either.
    #[must_use]
    #[track_caller]
    pub fn new(fixture: &str) -> Tree {
        let entries = entry::parse(fixture).unwrap_or_else(|error| panic!("fixture: {error}"));
        let tree = Tree {
            dir: tempfile::tempdir().expect("a temporary folder"),
        };
        for entry in &entries {
            tree.create(entry);
        }
        // Permissions come last and inner ones first: a read-only folder takes no more files.
        for entry in entries.iter().rev() {
            if let (Some(mode), Content::Bytes(_) | Content::Dir) = (entry.mode, &entry.content) {
                set_mode(&tree.path(&entry.path), mode);
            }
        }
        tree
    }

    /// The folder, without symbolic links in its own path.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.dir
            .path()
            .canonicalize()
            .expect("the temporary folder exists")
    }

    /// The place of `path` in the folder; a leading `/` is the folder itself.
    #[must_use]
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root().join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The bytes of a file.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    #[must_use]
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(path);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a file, and the folders that it needs.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, bytes));
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// All files, links and empty folders in the form of [`Tree::new`], in the order of their
    /// paths. Two trees are the same, byte for byte and mode for mode, when their listings are;
    /// hard links are listed as the files that they are.
    ///
    /// # Panics
    ///
    /// If something in the folder cannot be read.
    #[must_use]
    pub fn listing(&self) -> String {
        let mut entries = Vec::new();
        collect(&self.root(), "", &mut entries);
        entries.iter().map(Entry::to_string).collect()
    }

    fn create(&self, entry: &Entry) {
        let path = self.path(&entry.path);
        match &entry.content {
            Content::Bytes(bytes) => self.write(&entry.path, bytes),
            Content::Dir => fs::create_dir_all(&path).expect("a new folder"),
            Content::Symlink(target) => {
                fs::create_dir_all(path.parent().expect("inside the tree")).expect("its folder");
                symlink(target, &path).expect("a new symbolic link");
            }
            Content::HardLink(target) => {
                fs::create_dir_all(path.parent().expect("inside the tree")).expect("its folder");
                fs::hard_link(self.path(target), &path).expect("a new hard link");
            }
        }
        if let Content::Bytes(_) = entry.content {
            // The process's umask must not decide what a listing shows.
            set_mode(&path, entry::FILE_MODE);
        }
    }
}

impl Drop for Tree {
    /// Opens folders that a test closed, so that they can be removed by others than root.
    fn drop(&mut self) {
        open_up(self.dir.path());
    }
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(entry::DIR_MODE));
    for inner in fs::read_dir(folder).into_iter().flatten().flatten() {
        if inner.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&inner.path());
        }
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn collect(folder: &Path, prefix: &str, entries: &mut Vec<Entry>) {
    let mut inner: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|item| item.expect("a folder that can be listed").file_name())
        .collect();
    inner.sort();
    for name in inner {
        let at = folder.join(&name);
        let path = format!("{prefix}/{}", name.to_string_lossy());
        let meta = fs::symlink_metadata(&at).expect("it was just listed");
        let mode = meta.permissions().mode() & 0o7777;
        if meta.is_symlink() {
            let target = fs::read_link(&at).expect("a symbolic link");
            let target = target.to_string_lossy().into_owned();
            entries.push(Entry {
                path,
                mode: None,
                content: Content::Symlink(target),
            });
        } else if meta.is_dir() {
            let empty = fs::read_dir(&at).is_ok_and(|mut items| items.next().is_none());
            let usual = mode == entry::DIR_MODE;
            if empty || !usual {
                let mode = (!usual).then_some(mode);
                entries.push(Entry {
                    path: path.clone(),
                    mode,
                    content: Content::Dir,
                });
            }
            collect(&at, &path, entries);
        } else {
            let bytes = fs::read(&at).unwrap_or_else(|error| panic!("{}: {error}", at.display()));
            let mode = (mode != entry::FILE_MODE).then_some(mode);
            entries.push(Entry {
                path,
                mode,
                content: Content::Bytes(bytes),
            });
        }
    }
}
