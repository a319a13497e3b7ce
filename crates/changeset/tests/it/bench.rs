//! A workspace of its own for each test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use terret_changeset::{ChangeSet, CommitErrorKind, Difference, Workspace};

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) workspace: Workspace,
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        Self::within(&std::env::temp_dir(), files)
    }

    /// In memory where that can be had, for tests that commit often and are not about syncing.
    pub(crate) fn in_memory(files: &[(&str, &[u8])]) -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Self::within(memory, files)
        } else {
            Self::new(files)
        }
    }

    pub(crate) fn within(parent: &Path, files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir_in(parent).unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        for (name, bytes) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let workspace = Workspace::with_state_dir(&root, folder.path().join("state")).unwrap();
        Self {
            root: workspace.root().to_owned(),
            workspace,
            folder,
        }
    }

    /// A path outside the workspace.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// A set that gives each file other bytes.
    pub(crate) fn edit(&self, names: &[&str]) -> ChangeSet {
        let mut set = ChangeSet::new(&self.workspace);
        for name in names {
            let captured = self.workspace.capture(name).unwrap();
            set.edit(&captured, edited(captured.bytes())).unwrap();
        }
        set
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.root.join(name)).unwrap()
    }

    /// Every regular file, hidden ones too.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        fn walk(folder: &Path, root: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = path.symlink_metadata().unwrap();
                if kind.is_dir() {
                    walk(&path, root, files);
                } else if kind.is_file() {
                    let name = path
                        .strip_prefix(root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned();
                    files.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
        let mut files = BTreeMap::new();
        walk(&self.root, &self.root, &mut files);
        files
    }

    /// Panics if a commit left anything but its lock.
    pub(crate) fn assert_tidy(&self) {
        let hidden: Vec<_> = self
            .files()
            .into_keys()
            .filter(|name| name.contains(".tmp"))
            .collect();
        assert_eq!(hidden, Vec::<String>::new());
        if let Ok(entries) = std::fs::read_dir(self.workspace.state_dir()) {
            let names: Vec<_> = entries
                .map(|entry| entry.unwrap().file_name())
                .filter(|name| name != "lock")
                .collect();
            assert_eq!(names, Vec::<std::ffi::OsString>::new());
        }
    }
}

pub(crate) fn edited(bytes: &[u8]) -> Vec<u8> {
    [b"new ".as_slice(), bytes].concat()
}

/// Commits a set that must be refused, and returns why. Nothing may have been written.
pub(crate) fn refused(bench: &Bench, set: &ChangeSet) -> Vec<Difference> {
    let before = bench.files();
    let forecast = set.verify();
    let error = set.commit(&|| false).unwrap_err();
    let CommitErrorKind::Refused(differences) = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(&forecast, differences, "verifying and committing disagree");
    assert_eq!(bench.files(), before);
    bench.assert_tidy();
    differences.clone()
}

pub(crate) fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&path.symlink_metadata().unwrap().permissions())
        & 0o7777
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}
