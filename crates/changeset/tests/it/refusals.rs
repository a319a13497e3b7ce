//! What refuses a set, and what does not.

use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, Mode};
use terret_changeset::{ChangeSet, CommitErrorKind, Kind, Reason, StageErrorKind};

use crate::bench::{Bench, edited, refused, set_mode};

fn replace(path: &Path, with: impl FnOnce(&Path)) {
    std::fs::remove_file(path).unwrap();
    with(path);
}

#[test]
fn a_file_that_differs_from_its_capture_refuses_the_whole_set() {
    type Act = fn(&Path);
    let cases: [(&str, Act, Reason); 9] = [
        (
            "changed",
            |p| std::fs::write(p, "other").unwrap(),
            Reason::Changed { was: 4, now: 5 },
        ),
        (
            "same length",
            |p| std::fs::write(p, "tx?\n").unwrap(),
            Reason::Changed { was: 4, now: 4 },
        ),
        (
            "deleted",
            |p| std::fs::remove_file(p).unwrap(),
            Reason::Deleted,
        ),
        (
            "folder",
            |p| replace(p, |p| std::fs::create_dir(p).unwrap()),
            Reason::KindChanged(Kind::Folder),
        ),
        (
            "link",
            |p| replace(p, |p| symlink("other", p).unwrap()),
            Reason::ReplacedByLink,
        ),
        (
            "link to its own content elsewhere",
            |p| {
                std::fs::rename(p, p.with_extension("moved")).unwrap();
                symlink(p.with_extension("moved"), p).unwrap();
            },
            Reason::ReplacedByLink,
        ),
        (
            "pipe",
            |p| {
                replace(p, |p| {
                    rustix::fs::mkfifoat(CWD, p, Mode::RUSR | Mode::WUSR).unwrap()
                })
            },
            Reason::KindChanged(Kind::Pipe),
        ),
        (
            "mode",
            |p| set_mode(p, 0o755),
            Reason::ModeChanged {
                was: 0o644,
                now: 0o755,
            },
        ),
        (
            "hard link",
            |p| std::fs::hard_link(p, p.with_extension("twin")).unwrap(),
            Reason::HardLinked { links: 2 },
        ),
    ];
    for (what, act, reason) in cases {
        let bench = Bench::new(&[
            ("a", b"a\n"),
            ("file", b"txt\n"),
            ("other", b"o\n"),
            ("z", b"z\n"),
        ]);
        set_mode(&bench.root.join("file"), 0o644);
        let mut set = bench.edit(&["a", "file", "z"]);
        set.create("made", *b"m").unwrap();
        act(&bench.root.join("file"));
        let differences = refused(&bench, &set);
        let [difference] = &differences[..] else {
            panic!("{what}: {differences:?}")
        };
        assert_eq!(
            (difference.path(), difference.reason()),
            (Path::new("file"), &reason),
            "{what}"
        );
        assert_eq!(
            reason.is_stale(),
            !matches!(reason, Reason::HardLinked { .. }),
            "{what}"
        );
    }
}

#[test]
fn the_same_bytes_kind_and_mode_are_the_same_file() {
    type Act = fn(&Path);
    let cases: [(&str, Act); 3] = [
        ("new time", |p| {
            let file = std::fs::OpenOptions::new().append(true).open(p).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH)
                .unwrap();
        }),
        ("changed and reverted", |p| {
            std::fs::write(p, "other").unwrap();
            std::fs::write(p, "txt\n").unwrap();
        }),
        ("new inode", |p| {
            std::fs::write(p.with_extension("new"), "txt\n").unwrap();
            std::fs::rename(p.with_extension("new"), p).unwrap();
        }),
    ];
    for (what, act) in cases {
        let bench = Bench::new(&[("file", b"txt\n")]);
        let set = bench.edit(&["file"]);
        act(&bench.root.join("file"));
        assert_eq!(set.verify(), vec![], "{what}");
        set.commit(&|| false).unwrap();
        assert_eq!(bench.read("file"), b"new txt\n", "{what}");
    }
}

#[test]
fn every_file_is_named_with_every_reason() {
    let bench = Bench::new(&[("a", b"a"), ("b", b"b"), ("c", b"c"), ("d", b"d")]);
    let mut set = bench.edit(&["a", "b", "c", "d"]);
    set.create("e", *b"e").unwrap();
    std::fs::write(bench.root.join("a"), "changed").unwrap();
    set_mode(&bench.root.join("a"), 0o444);
    std::fs::remove_file(bench.root.join("c")).unwrap();
    std::fs::write(bench.root.join("e"), "there first").unwrap();
    let differences = refused(&bench, &set);
    let told: Vec<_> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "a: its content is not what it was when the change was staged (1 bytes then, 7 now)",
            "a: its mode is not what it was when the change was staged (0644 then, 0444 now)",
            "a: it is read-only",
            "c: it has been deleted since the change was staged",
            "e: it exists, though the change would create it",
        ]
    );

    // After a refusal the set is as good as before: what is taken back no longer differs.
    std::fs::write(bench.root.join("c"), "c").unwrap();
    std::fs::remove_file(bench.root.join("e")).unwrap();
    std::fs::remove_file(bench.root.join("a")).unwrap();
    std::fs::write(bench.root.join("a"), "a").unwrap();
    set.commit(&|| false).unwrap();
    assert_eq!(bench.read("c"), b"new c");
}

#[test]
fn read_only_files_and_folders_are_refused_even_for_the_superuser() {
    let bench = Bench::new(&[("a", b"a"), ("ro/b", b"b"), ("ro/c", b"c"), ("ro/d", b"d")]);
    set_mode(&bench.root.join("a"), 0o444);
    set_mode(&bench.root.join("ro"), 0o555);
    let mut set = bench.edit(&["a", "ro/b"]);
    set.delete("ro/c").unwrap();
    set.create("ro/sub/new", *b"n").unwrap();
    set.rename("ro/d", "d").unwrap();
    let differences = refused(&bench, &set);
    set_mode(&bench.root.join("ro"), 0o755);
    let found: Vec<_> = differences
        .iter()
        .map(|d| (d.path().to_str().unwrap(), d.reason().clone()))
        .collect();
    let folder = || Reason::FolderNotWritable {
        folder: "ro".into(),
    };
    assert_eq!(
        found,
        [
            ("a", Reason::ReadOnly),
            ("ro/b", folder()),
            ("ro/c", folder()),
            ("ro/d", folder()),
            ("ro/sub/new", folder())
        ]
    );
    assert!(found.iter().all(|(_, reason)| !reason.is_stale()));
}

#[test]
fn nothing_outside_the_workspace_is_captured_or_created() {
    let bench = Bench::new(&[("in/file", b"x")]);
    std::fs::write(bench.outside("secret"), "s").unwrap();
    std::fs::create_dir(bench.outside("elsewhere")).unwrap();
    symlink(bench.outside("secret"), bench.root.join("link")).unwrap();
    symlink(bench.outside("elsewhere"), bench.root.join("folder")).unwrap();
    symlink("nowhere", bench.root.join("broken")).unwrap();
    let secret = bench.outside("secret");
    for path in [
        "../secret",
        "in/../../secret",
        "link",
        secret.to_str().unwrap(),
    ] {
        let error = bench.workspace.capture(path).unwrap_err();
        let StageErrorKind::Refused(Reason::OutsideWorkspace { resolved }) = error.kind() else {
            panic!("{error}")
        };
        assert_eq!(*resolved, secret, "{path}");
    }
    let mut set = ChangeSet::new(&bench.workspace);
    for path in [
        "../new",
        "folder/new",
        "folder/deep/new",
        "in/../../new",
        "/new",
    ] {
        let error = set.create(path, *b"x").unwrap_err();
        assert!(
            matches!(
                error.kind(),
                StageErrorKind::Refused(Reason::OutsideWorkspace { .. })
            ),
            "{path}: {error}"
        );
    }
    for path in ["broken", "broken/new"] {
        let error = set.create(path, *b"x").unwrap_err();
        assert!(
            matches!(
                error.kind(),
                StageErrorKind::Refused(Reason::BrokenLink { .. })
            ),
            "{path}: {error}"
        );
    }
    let error = set.create("in/file/below", *b"x").unwrap_err();
    assert!(
        matches!(
            error.kind(),
            StageErrorKind::Refused(Reason::NotAFolder { .. })
        ),
        "{error}"
    );
    for path in ["", ".", "in", "in/.."] {
        let error = bench.workspace.capture(path).unwrap_err();
        let expected = StageErrorKind::Refused(Reason::NotRegular(Kind::Folder));
        assert_eq!(
            format!("{:?}", error.kind()),
            format!("{expected:?}"),
            "{path}"
        );
    }
    for path in ["absent", "absent/below", "in/absent", "absent/../in/file"] {
        let error = bench.workspace.capture(path).unwrap_err();
        assert!(
            matches!(error.kind(), StageErrorKind::Missing),
            "{path}: {error}"
        );
    }
    rustix::fs::mkfifoat(CWD, bench.root.join("pipe"), Mode::RUSR).unwrap();
    let error = bench.workspace.capture("pipe").unwrap_err();
    assert_eq!(
        error.to_string(),
        "pipe: it is a named pipe, not a regular file"
    );
    assert!(set.is_empty());
}

#[test]
fn a_link_is_followed_to_the_file_that_it_leads_to() {
    let bench = Bench::new(&[("real/file", b"x"), ("other/file", b"x")]);
    symlink("real/file", bench.root.join("link")).unwrap();
    symlink("real", bench.root.join("folder")).unwrap();
    for path in ["link", "folder/file"] {
        let set = bench.edit(&[path]);
        set.commit(&|| false).unwrap();
        assert_eq!(set.files()[0].path(), Path::new(path));
    }
    assert_eq!(bench.read("real/file"), b"new new x");
    assert_eq!(
        std::fs::read_link(bench.root.join("link")).unwrap(),
        Path::new("real/file"),
        "the link stays"
    );

    // Retargeted to a file with the very same bytes: still another file.
    std::fs::write(bench.root.join("other/file"), "new new x").unwrap();
    for (path, to) in [("link", "other/file"), ("folder/file", "other")] {
        let set = bench.edit(&[path]);
        let link = bench.root.join(path.split('/').next().unwrap());
        let was = std::fs::read_link(&link).unwrap();
        replace(&link, |link| symlink(to, link).unwrap());
        let differences = refused(&bench, &set);
        let now = Path::new("other/file").to_owned();
        assert_eq!(
            *differences[0].reason(),
            Reason::LinkRetargeted { now },
            "{path}"
        );
        replace(&link, |link| symlink(was, link).unwrap());
    }

    // A folder on the way to a captured file becomes a link out of the workspace.
    let set = bench.edit(&["real/file"]);
    std::fs::rename(bench.root.join("real"), bench.outside("taken")).unwrap();
    symlink(bench.outside("taken"), bench.root.join("real")).unwrap();
    let differences = refused(&bench, &set);
    assert!(
        matches!(differences[0].reason(), Reason::OutsideWorkspace { .. }),
        "{differences:?}"
    );
}

#[test]
fn a_folder_that_goes_takes_its_files_with_it() {
    let bench = Bench::new(&[("sub/a", b"a"), ("b", b"b")]);
    let mut set = bench.edit(&["sub/a", "b"]);
    set.create("sub/new", *b"n").unwrap();
    std::fs::rename(bench.root.join("sub"), bench.outside("gone")).unwrap();
    let differences = refused(&bench, &set);
    let [difference] = &differences[..] else {
        panic!("{differences:?}")
    };
    assert_eq!(*difference.reason(), Reason::Deleted);

    // A file now stands where the folder was.
    std::fs::write(bench.root.join("sub"), "file").unwrap();
    let differences = refused(&bench, &set);
    assert_eq!(*differences[0].reason(), Reason::Deleted);
    assert_eq!(
        *differences[1].reason(),
        Reason::NotAFolder {
            folder: "sub".into()
        }
    );
}

#[test]
fn of_two_sets_for_one_file_the_second_is_refused() {
    let bench = Bench::new(&[("a", b"a"), ("b", b"b"), ("c", b"c")]);
    let first = bench.edit(&["a", "b"]);
    let second = bench.edit(&["b", "c"]);
    first.commit(&|| false).unwrap();
    let differences = refused(&bench, &second);
    assert_eq!(differences.len(), 1);
    assert_eq!(*differences[0].reason(), Reason::Changed { was: 1, now: 5 });
    // So is the first a second time.
    let error = first.commit(&|| false).unwrap_err();
    assert!(
        matches!(error.kind(), CommitErrorKind::Refused(differences) if differences.len() == 2)
    );
    assert_eq!(bench.read("a"), edited(b"a"));
}
