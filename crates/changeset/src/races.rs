//! Somebody else writes at the worst moment: between the look at a file and its exchange, and at each call after.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::fs::Op;
use crate::fs::hook::{self, Fate};
use crate::{ChangeSet, CommitErrorKind, Reason, Workspace};

struct Bench {
    _folder: tempfile::TempDir,
    root: PathBuf,
    workspace: Workspace,
}

fn bench() -> Bench {
    let folder = crate::faults::scratch();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(root.join(name), format!("old {name}")).unwrap();
    }
    let workspace = Workspace::with_state_dir(&root, folder.path().join("state")).unwrap();
    Bench {
        root: workspace.root().to_owned(),
        _folder: folder,
        workspace,
    }
}

impl Bench {
    fn edit(&self, names: &[&str]) -> ChangeSet {
        let mut set = ChangeSet::new(&self.workspace);
        for name in names {
            set.edit(
                &self.workspace.capture(name).unwrap(),
                format!("new {name}").into_bytes(),
            )
            .unwrap();
        }
        set
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name))
            .unwrap_or_else(|error| error.kind().to_string())
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(&self.root)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn unsupported(op: Op) -> bool {
    matches!(op, Op::Exchange | Op::RenameNew)
}

#[test]
fn what_is_written_between_look_and_exchange_stays() {
    type Act = fn(&Path);
    type Told = fn(&Reason) -> bool;
    let cases: [(&str, Act, Told); 6] = [
        (
            "written over",
            |b| std::fs::write(b, "theirs").unwrap(),
            |r| matches!(r, Reason::Changed { .. }),
        ),
        (
            "replaced by a rename",
            |b| {
                std::fs::write(b.with_extension("mine"), "theirs").unwrap();
                std::fs::rename(b.with_extension("mine"), b).unwrap();
            },
            |r| matches!(r, Reason::Changed { .. }),
        ),
        (
            "deleted",
            |b| std::fs::remove_file(b).unwrap(),
            |r| matches!(r, Reason::Deleted),
        ),
        (
            "made a link",
            |b| {
                std::fs::remove_file(b).unwrap();
                std::os::unix::fs::symlink("a", b).unwrap();
            },
            |r| matches!(r, Reason::ReplacedByLink),
        ),
        (
            "made a folder",
            |b| {
                std::fs::remove_file(b).unwrap();
                std::fs::create_dir(b).unwrap();
                std::fs::write(b.join("inside"), "kept").unwrap();
            },
            |r| matches!(r, Reason::KindChanged(_)),
        ),
        (
            "made executable",
            |b| std::fs::set_permissions(b, PermissionsExt::from_mode(0o755)).unwrap(),
            |r| matches!(r, Reason::ModeChanged { now: 0o755, .. }),
        ),
    ];
    for (what, act, expected) in cases {
        for exchanges in [true, false] {
            let bench = bench();
            let set = bench.edit(&["a", "b", "c"]);
            let target = bench.root.join("b");
            let path = target.clone();
            let mut acted = false;
            let judge = move |_, op, at: &Path| {
                // Without an exchange it is tried all the same, so the moment is the right one either way.
                if op == Op::Exchange && at == path && !acted {
                    acted = true;
                    act(&path);
                }
                if !exchanges && unsupported(op) {
                    Fate::Unsupported
                } else {
                    Fate::Goes
                }
            };
            let error = hook::with(judge, || set.commit(&|| false)).0.unwrap_err();
            let CommitErrorKind::Refused(differences) = error.kind() else {
                panic!("{what}: {error}")
            };
            assert!(
                differences.len() == 1 && expected(differences[0].reason()),
                "{what}: {error}"
            );
            assert_eq!(
                (bench.read("a"), bench.read("c")),
                ("old a".into(), "old c".into()),
                "{what}"
            );
            // As they left it.
            match what {
                "written over" | "replaced by a rename" => {
                    assert_eq!(bench.read("b"), "theirs", "{what}")
                }
                "deleted" => assert!(!target.exists()),
                "made a link" => assert_eq!(std::fs::read_link(&target).unwrap(), Path::new("a")),
                "made a folder" => {
                    assert_eq!(std::fs::read(target.join("inside")).unwrap(), b"kept")
                }
                _ => assert_eq!(
                    target.metadata().unwrap().permissions().mode() & 0o777,
                    0o755
                ),
            }
            let wanted: &[&str] = if what == "deleted" {
                &["a", "c"]
            } else {
                &["a", "b", "c"]
            };
            assert_eq!(bench.names(), wanted, "{what}: nothing is left behind");
        }
    }
}

#[test]
fn what_is_written_at_any_call_is_never_lost() {
    for exchanges in [true, false] {
        for failing in [false, true] {
            for at in 0.. {
                let bench = bench();
                let mut set = bench.edit(&["a", "b"]);
                if failing {
                    // Makes the commit fail at its last file, so that all is undone while they write.
                    set.create("z", *b"z").unwrap();
                }
                let root = bench.root.clone();
                let judge = move |number, op, path: &Path| {
                    if number == at {
                        // A rename, which is how most programs save: what is written is there at once.
                        std::fs::write(root.join("theirs"), "theirs").unwrap();
                        std::fs::rename(root.join("theirs"), root.join("a")).unwrap();
                    }
                    if failing && path.ends_with("z") && matches!(op, Op::RenameNew | Op::Link) {
                        return if op == Op::RenameNew && !exchanges {
                            Fate::Unsupported
                        } else {
                            Fate::Fails
                        };
                    }
                    if !exchanges && unsupported(op) {
                        Fate::Unsupported
                    } else {
                        Fate::Goes
                    }
                };
                let (result, calls) = hook::with(judge, || set.commit(&|| false));
                if at >= calls.len() {
                    break;
                }
                let what = format!("written before call {at}, {:?}; {result:?}", calls[at]);
                let hidden: Vec<_> = bench
                    .names()
                    .into_iter()
                    .filter(|name| name.starts_with('.'))
                    .collect();
                let kept = hidden.iter().any(|name| bench.read(name) == "theirs");
                assert!(
                    bench.read("a") == "theirs" || kept,
                    "{what}: {:?}, a: {}",
                    bench.names(),
                    bench.read("a")
                );
                match &result {
                    Ok(_) => assert_eq!(bench.read("b"), "new b", "{what}"),
                    Err(_) => assert_eq!(bench.read("b"), "old b", "{what}"),
                }
                // Hidden files are left only where that is reported.
                let reported = match &result {
                    Ok(committed) => committed
                        .left()
                        .iter()
                        .filter_map(|left| left.kept())
                        .count(),
                    Err(error) => match error.kind() {
                        CommitErrorKind::NotRolledBack { left, .. } => {
                            left.iter().filter_map(|l| l.kept()).count()
                        }
                        _ => 0,
                    },
                };
                assert_eq!(hidden.len(), reported, "{what}: {hidden:?}");
            }
        }
    }
}

#[test]
fn a_writer_that_had_the_file_open_is_seen() {
    use std::io::Write as _;
    // From the exchange to the note of the end, whenever the bytes arrive.
    for when in [Op::Stat, Op::SyncFolder] {
        let bench = bench();
        let set = bench.edit(&["a", "b"]);
        let mut open = std::fs::OpenOptions::new()
            .append(true)
            .open(bench.root.join("a"))
            .unwrap();
        let mut exchanged = false;
        let mut written = false;
        let judge = move |_, op, path: &Path| {
            if exchanged && !written && op == when {
                open.write_all(b" and theirs").unwrap();
                written = true;
            }
            exchanged |= op == Op::Exchange && path.ends_with("a");
            Fate::Goes
        };
        let error = hook::with(judge, || set.commit(&|| false)).0.unwrap_err();
        assert!(
            matches!(error.kind(), CommitErrorKind::Refused(_)),
            "{error}"
        );
        assert_eq!(
            (bench.read("a"), bench.read("b")),
            ("old a and theirs".into(), "old b".into())
        );
        assert_eq!(bench.names(), ["a", "b", "c"]);
    }
}

#[test]
fn a_file_that_appears_where_one_is_created_stays() {
    for exchanges in [true, false] {
        let bench = bench();
        let mut set = bench.edit(&["a"]);
        set.create("new", *b"ours").unwrap();
        let path = bench.root.join("new");
        let judge = move |_, op, at: &Path| {
            if op == Op::RenameNew && at == path {
                std::fs::write(&path, "theirs").unwrap();
            }
            if !exchanges && unsupported(op) {
                Fate::Unsupported
            } else {
                Fate::Goes
            }
        };
        let error = hook::with(judge, || set.commit(&|| false)).0.unwrap_err();
        let CommitErrorKind::Refused(differences) = error.kind() else {
            panic!("{error}")
        };
        assert!(matches!(differences[..], [ref only] if *only.reason() == Reason::Appeared));
        assert_eq!(
            (bench.read("new"), bench.read("a")),
            ("theirs".into(), "old a".into())
        );
        assert_eq!(bench.names(), ["a", "b", "c", "new"]);
    }
}
