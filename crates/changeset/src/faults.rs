//! Every file-system call of a commit made to fail in turn, and the process made to die there in turn: afterwards the
//! tree is, byte for byte, the old one or the new one.

mod dying;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::fs::Op;
use crate::fs::hook::{self, Fate};
use crate::{ChangeSet, CommitError, CommitErrorKind, Committed, Workspace};

/// Path → kind and mode, and the bytes of a file. Everything that is in a folder, hidden files too.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn tree(root: &Path) -> Tree {
    fn walk(folder: &Path, root: &Path, tree: &mut Tree) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let bytes = if metadata.is_file() {
                std::fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if metadata.is_dir() {
                walk(&path, root, tree);
            }
            tree.insert(
                path.strip_prefix(root).unwrap().to_owned(),
                (metadata.mode(), bytes),
            );
        }
    }
    let mut found = Tree::new();
    walk(root, root, &mut found);
    found
}

/// A folder in memory where there is one: these are thousands of commits, and what syncing does is not what they test.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// A folder with a workspace and its state, and a set with each kind of change.
struct Bench {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Bench {
    fn new() -> Self {
        let folder = scratch();
        Self::fill(folder.path());
        let workspace = Self::open(folder.path());
        Self { folder, workspace }
    }

    fn fill(folder: &Path) {
        let root = folder.join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        for (name, text) in [
            ("a.txt", "old a\n"),
            ("b.txt", "old b, no line feed"),
            ("gone.txt", "to be deleted\n"),
            ("moved.sh", "#!/bin/sh\n"),
            ("sub/c.txt", "old c\r\n"),
            ("untouched.txt", "stays\n"),
        ] {
            std::fs::write(root.join(name), text).unwrap();
        }
        std::fs::set_permissions(root.join("b.txt"), PermissionsExt::from_mode(0o640)).unwrap();
        std::fs::set_permissions(root.join("moved.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn open(folder: &Path) -> Workspace {
        Workspace::with_state_dir(folder.join("root"), folder.join("state")).unwrap()
    }

    fn set(workspace: &Workspace) -> ChangeSet {
        let mut set = ChangeSet::new(workspace);
        for name in ["a.txt", "b.txt", "sub/c.txt"] {
            let captured = workspace.capture(name).unwrap();
            let new = [b"new ".as_slice(), captured.bytes()].concat();
            set.edit(&captured, new).unwrap();
        }
        set.create("fresh/deep/d.txt", *b"created\n").unwrap();
        set.create("e.txt", *b"").unwrap();
        set.delete("gone.txt").unwrap();
        set.rename("moved.sh", "fresh/moved.sh").unwrap();
        set
    }

    fn tree(&self) -> Tree {
        tree(self.workspace.root())
    }

    fn journals(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.workspace.state_dir()) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "lock").collect()
    }
}

/// What a commit of the bench does when nothing fails: the tree before, the tree after, and the calls.
fn baseline(unsupported: bool) -> (Tree, Tree, Vec<(Op, PathBuf)>) {
    let bench = Bench::new();
    let old = bench.tree();
    let set = Bench::set(&bench.workspace);
    let (result, calls) = hook::with(
        move |_, op, _| plain(unsupported, op),
        || set.commit(&|| false),
    );
    result.unwrap();
    assert_eq!(bench.journals(), Vec::<String>::new());
    (old, bench.tree(), calls)
}

/// What a call does on a file system with or without the renames that exchange and that create.
fn plain(unsupported: bool, op: Op) -> Fate {
    if unsupported && matches!(op, Op::Exchange | Op::RenameNew) {
        Fate::Unsupported
    } else {
        Fate::Goes
    }
}

fn old_or_new(found: &Tree, old: &Tree, new: &Tree, committed: bool, what: &str) {
    let wanted = if committed { new } else { old };
    if found != wanted {
        let names = |tree: &Tree| {
            format!(
                "{:#?}",
                tree.iter()
                    .map(|(k, v)| (k, v.0, String::from_utf8_lossy(&v.1).into_owned()))
                    .collect::<Vec<_>>()
            )
        };
        panic!(
            "{what}: committed: {committed}\nfound {}\nwanted {}",
            names(found),
            names(wanted)
        );
    }
}

#[test]
fn one_failing_call() {
    for unsupported in [false, true] {
        let (old, new, calls) = baseline(unsupported);
        assert!(calls.len() > 100, "only {} calls", calls.len());
        for at in 0..calls.len() {
            for fate in [Fate::Fails, Fate::FailsAfter] {
                let what = format!("{fate:?} at call {at} of {}, {:?}", calls.len(), calls[at]);
                let bench = Bench::new();
                let set = Bench::set(&bench.workspace);
                let judge = move |number, op, _: &Path| {
                    if number == at {
                        fate
                    } else {
                        plain(unsupported, op)
                    }
                };
                let (result, _) = hook::with(judge, || set.commit(&|| false));
                after_one_failure(&bench, result, &old, &new, &what);
            }
        }
    }
}

fn after_one_failure(
    bench: &Bench,
    result: Result<Committed, CommitError>,
    old: &Tree,
    new: &Tree,
    what: &str,
) {
    let found = bench.tree();
    match result {
        Ok(committed) => {
            if committed.left().is_empty() {
                assert_eq!(bench.journals(), Vec::<String>::new(), "{what}");
                old_or_new(&found, old, new, true, what);
            } else {
                // Hidden files may be there until the journal is looked at.
                bench.workspace.recover(&|| false).unwrap();
                old_or_new(&bench.tree(), old, new, true, what);
            }
        }
        Err(error) => match error.kind() {
            CommitErrorKind::NotRolledBack { left, .. } => {
                assert!(!left.is_empty(), "{what}");
                bench.workspace.recover(&|| false).unwrap();
                old_or_new(&bench.tree(), old, new, false, what);
            }
            _ => old_or_new(&found, old, new, false, what),
        },
    }
    // Whatever is left of the journal is left so that the next commit handles it.
    let recovered = bench.workspace.recover(&|| false).unwrap();
    assert!(
        recovered.is_none_or(|recovery| recovery.is_complete()),
        "{what}"
    );
    assert!(
        bench.journals().iter().all(|name| name == "journal.tmp"),
        "{what}: {:?}",
        bench.journals()
    );
    assert!(
        bench.workspace.recover(&|| false).unwrap().is_none(),
        "{what}"
    );
}

#[test]
fn two_failing_calls_leave_what_recovery_mends() {
    for unsupported in [false, true] {
        let (old, new, calls) = baseline(unsupported);
        let first_placed = calls
            .iter()
            .position(|(op, _)| *op == Op::MakeFolder && calls[0].0 == Op::MakeFolder);
        let mut not_rolled_back = 0;
        // The first failure from where targets are touched on; the second anywhere in what follows it.
        let begin = calls
            .iter()
            .rposition(|(op, _)| *op == Op::MakeFolder)
            .or(first_placed)
            .unwrap();
        for first in (begin..calls.len()).step_by(3) {
            for gap in (1..40).step_by(2) {
                let what = format!("failures at {first} and {gap} after, {:?}", calls[first]);
                let bench = Bench::new();
                let set = Bench::set(&bench.workspace);
                let judge = move |number, op, _: &Path| {
                    if number == first || number == first + gap {
                        Fate::Fails
                    } else {
                        plain(unsupported, op)
                    }
                };
                let (result, _) = hook::with(judge, || set.commit(&|| false));
                if let Err(error) = &result
                    && let CommitErrorKind::NotRolledBack { left, journal, .. } = error.kind()
                {
                    not_rolled_back += 1;
                    assert!(!left.is_empty() && journal.exists(), "{what}");
                    let text = error.to_string();
                    assert!(
                        left.iter()
                            .all(|left| text.contains(left.path().to_str().unwrap())),
                        "{what}: {text}"
                    );
                }
                after_one_failure(&bench, result, &old, &new, &what);
            }
        }
        assert!(
            not_rolled_back > 20,
            "only {not_rolled_back} undoings failed"
        );
    }
}

#[test]
fn without_any_rename_that_spares_what_is_there_nothing_is_written() {
    let bench = Bench::new();
    let old = bench.tree();
    let set = Bench::set(&bench.workspace);
    let judge = |_, op, _: &Path| {
        if op == Op::Link {
            Fate::Unsupported
        } else {
            plain(true, op)
        }
    };
    let error = hook::with(judge, || set.commit(&|| false)).0.unwrap_err();
    assert!(matches!(error.kind(), CommitErrorKind::Io(_)), "{error}");
    assert_eq!(bench.tree(), old);
    assert_eq!(bench.journals(), Vec::<String>::new());
}

#[test]
fn cancelling_is_honoured_until_the_first_file_is_put_in_place() {
    let (old, new, _) = baseline(false);
    let mut cancelled = 0;
    for after in 0.. {
        let bench = Bench::new();
        let set = Bench::set(&bench.workspace);
        let asked = Cell::new(0);
        let placing = Rc::new(Cell::new(false));
        let seen = placing.clone();
        let judge = move |_, op, path: &Path| {
            if op == Op::Exchange || op == Op::MakeFolder && path.ends_with("fresh") {
                seen.set(true);
            }
            Fate::Goes
        };
        let cancel = || {
            assert!(!placing.get(), "asked after a file was put in place");
            asked.set(asked.get() + 1);
            asked.get() > after
        };
        let (result, _) = hook::with(judge, || set.commit(&cancel));
        assert_eq!(bench.journals(), Vec::<String>::new());
        match result {
            Ok(_) => {
                old_or_new(&bench.tree(), &old, &new, true, "not cancelled");
                break;
            }
            Err(error) => {
                assert!(
                    matches!(error.kind(), CommitErrorKind::Cancelled),
                    "{error}"
                );
                old_or_new(
                    &bench.tree(),
                    &old,
                    &new,
                    false,
                    &format!("cancelled when asked {after} times"),
                );
                cancelled += 1;
            }
        }
    }
    assert!(cancelled > 8, "asked only {cancelled} times");
}

#[test]
fn no_two_commits_at_once() {
    let bench = Bench::new();
    let mut other = ChangeSet::new(&bench.workspace.clone().lock_wait(std::time::Duration::ZERO));
    other.delete("untouched.txt").unwrap();
    let set = Bench::set(&bench.workspace);
    let tried = Rc::new(Cell::new(0));
    let count = tried.clone();
    // At each call of the first commit from its lock to its end another one tries.
    let mut locked = false;
    let judge = move |_, op, _: &Path| {
        if locked && count.get() < 300 {
            let error = other.commit(&|| false).unwrap_err();
            assert!(
                matches!(error.kind(), CommitErrorKind::Locked { .. }),
                "{error}"
            );
            count.set(count.get() + 1);
        }
        locked |= op == Op::Lock;
        // The call after the lock is the first that finds it taken.
        Fate::Goes
    };
    hook::with(judge, || set.commit(&|| false)).0.unwrap();
    assert!(tried.get() > 100, "tried only {} times", tried.get());
}
