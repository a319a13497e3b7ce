//! How changes of one set go together.

use std::os::unix::fs::symlink;
use std::path::Path;

use terret_changeset::{Change, ChangeSet, CommitErrorKind, StageErrorKind};

use crate::bench::{Bench, edited};

#[test]
fn one_file_by_two_paths_is_one_member() {
    let bench = Bench::new(&[("real/file", b"x")]);
    symlink("real", bench.root.join("folder")).unwrap();
    symlink("real/file", bench.root.join("link")).unwrap();
    let paths = ["real/file", "folder/file", "link", "real/../real/./file"];
    let mut set = ChangeSet::new(&bench.workspace);
    for path in paths {
        set.edit(&bench.workspace.capture(path).unwrap(), *b"y")
            .unwrap();
    }
    assert_eq!(set.files().len(), 1);
    // By each of the paths another result would lose this one.
    for path in paths {
        let error = set
            .edit(&bench.workspace.capture(path).unwrap(), *b"z")
            .unwrap_err();
        assert!(
            matches!(error.kind(), StageErrorKind::Conflict),
            "{path}: {error}"
        );
    }
    // What one path no longer leads to, no path changes.
    std::fs::remove_file(bench.root.join("link")).unwrap();
    symlink("../root/real", bench.root.join("link")).unwrap();
    assert_eq!(set.verify().len(), 1);
    std::fs::remove_file(bench.root.join("link")).unwrap();
    symlink("folder/file", bench.root.join("link")).unwrap();
    set.commit(&|| false).unwrap();
    assert_eq!(bench.read("real/file"), b"y");
}

#[test]
fn an_edit_notices_what_it_would_lose() {
    let bench = Bench::new(&[("a", b"a"), ("b", b"b")]);
    let (a, b) = (
        bench.workspace.capture("a").unwrap(),
        bench.workspace.capture("b").unwrap(),
    );
    let mut set = ChangeSet::new(&bench.workspace);
    set.edit(&a, *b"1").unwrap();
    set.edit(&a, *b"1").unwrap();
    set.delete("b").unwrap();
    for (captured, new) in [(&a, b"2"), (&b, b"1")] {
        let error = set.edit(captured, *new).unwrap_err();
        assert!(matches!(error.kind(), StageErrorKind::Conflict), "{error}");
    }
    // A capture that is not the one that the set holds.
    std::fs::write(bench.root.join("a"), "later").unwrap();
    let later = bench.workspace.capture("a").unwrap();
    assert!(matches!(
        set.edit(&later, *b"1").unwrap_err().kind(),
        StageErrorKind::Conflict
    ));
    // One of another workspace.
    let other = Bench::new(&[("a", b"a")]);
    let foreign = other.workspace.capture("a").unwrap();
    assert!(matches!(
        set.edit(&foreign, *b"1").unwrap_err().kind(),
        StageErrorKind::Refused(_)
    ));
    assert_eq!(set.files().len(), 2, "a failure changes nothing");
}

#[test]
fn changes_build_on_each_other() {
    let bench = Bench::new(&[
        ("a", b"a"),
        ("b", b"b"),
        ("c", b"c"),
        ("d", b"d"),
        ("e", b"e"),
    ]);
    let mut set = ChangeSet::new(&bench.workspace);
    // Created, then edited, then renamed.
    set.create("new/x", *b"1").unwrap();
    set.write("new/x", *b"2").unwrap();
    set.rename("new/x", "new/y").unwrap();
    // Edited, then renamed, then edited again.
    set.write("a", *b"A").unwrap();
    set.rename("a", "moved/a").unwrap();
    assert_eq!(&*set.read("moved/a").unwrap(), b"A");
    set.write("moved/a", *b"AA").unwrap();
    // Exchanged.
    set.rename("b", "tmp").unwrap();
    set.rename("c", "b").unwrap();
    set.rename("tmp", "c").unwrap();
    // There and back, and created and deleted: nothing.
    set.rename("d", "dd").unwrap();
    set.rename("dd", "d").unwrap();
    set.create("f", *b"f").unwrap();
    set.delete("f").unwrap();
    // Deleted, and another one in its place.
    set.delete("e").unwrap();
    assert!(!set.exists("e").unwrap());
    set.create("e", *b"E").unwrap();

    let told: Vec<_> = set.files().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "b (renamed from c)",
            "c (renamed from b)",
            "e (edited)",
            "moved/a (renamed from a, edited)",
            "new/y (created)"
        ]
    );
    let committed = set.commit(&|| false).unwrap();
    assert_eq!(committed.files(), set.files());
    let files: Vec<_> = bench.files().into_iter().collect();
    let wanted = [
        ("b", "c"),
        ("c", "b"),
        ("d", "d"),
        ("e", "E"),
        ("moved/a", "AA"),
        ("new/y", "2"),
    ];
    let wanted: Vec<_> = wanted
        .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
        .into();
    assert_eq!(files, wanted);
    bench.assert_tidy();
}

#[test]
fn what_is_not_there_can_t_be_changed_and_what_is_there_not_created() {
    let bench = Bench::new(&[("a", b"a"), ("sub/b", b"b")]);
    let mut set = ChangeSet::new(&bench.workspace);
    set.create("new", *b"n").unwrap();
    set.rename("a", "moved").unwrap();
    for path in ["a", "absent"] {
        assert!(matches!(
            set.read(path).unwrap_err().kind(),
            StageErrorKind::Missing
        ));
        assert!(matches!(
            set.write(path, *b"").unwrap_err().kind(),
            StageErrorKind::Missing
        ));
        assert!(matches!(
            set.delete(path).unwrap_err().kind(),
            StageErrorKind::Missing
        ));
        assert!(matches!(
            set.rename(path, "x").unwrap_err().kind(),
            StageErrorKind::Missing
        ));
    }
    for path in ["new", "moved", "sub", "sub/b"] {
        assert!(
            matches!(
                set.create(path, *b"").unwrap_err().kind(),
                StageErrorKind::Exists
            ),
            "{path}"
        );
        assert!(
            matches!(
                set.rename("new", path).unwrap_err().kind(),
                StageErrorKind::Exists
            ),
            "{path}"
        );
    }
    assert_eq!(set.files().len(), 2);
    assert_eq!(
        *set.files()[0].change(),
        Change::Renamed {
            from: "a".into(),
            edited: false
        }
    );
}

#[test]
fn a_set_that_changes_nothing_writes_nothing() {
    let bench = Bench::new(&[("a", b"a")]);
    let mut set = ChangeSet::new(&bench.workspace);
    set.read("a").unwrap();
    set.edit(&bench.workspace.capture("a").unwrap(), *b"a")
        .unwrap();
    assert!(set.is_empty() && set.files().is_empty());
    // What is not changed is not compared either.
    std::fs::write(bench.root.join("a"), "other").unwrap();
    assert_eq!(set.commit(&|| false).unwrap().files(), []);
    assert_eq!(bench.read("a"), b"other");
}

#[test]
fn a_thousand_files_at_once() {
    let names: Vec<_> = (0..1000).map(|n| format!("d{}/f{n}", n % 40)).collect();
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), name.as_bytes()))
        .collect();
    let bench = Bench::new(&files);
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let set = bench.edit(&names);
    let committed = set.commit(&|| false).unwrap();
    assert_eq!(committed.files().len(), 1000);
    assert!(committed.left().is_empty());
    for name in &names {
        assert_eq!(bench.read(name), edited(name.as_bytes()));
    }
    bench.assert_tidy();

    // One of them differs: none is changed.
    let set = bench.edit(&names);
    std::fs::write(bench.root.join(names[777]), "theirs").unwrap();
    let error = set.commit(&|| false).unwrap_err();
    assert!(
        matches!(error.kind(), CommitErrorKind::Refused(differences) if differences.len() == 1)
    );
    assert_eq!(bench.read(names[0]), edited(names[0].as_bytes()));
    bench.assert_tidy();
}

#[test]
fn the_state_folder_is_made_by_the_first_commit_alone() {
    let bench = Bench::new(&[("a", b"a")]);
    let set = bench.edit(&["a"]);
    assert_eq!(set.verify(), []);
    let _ = set.diff(&terret_changeset::DiffBounds::default());
    assert!(bench.workspace.recover(&|| false).unwrap().is_none());
    assert!(
        !bench.workspace.state_dir().exists(),
        "reading makes nothing"
    );
    set.commit(&|| false).unwrap();
    assert_eq!(
        crate::bench::mode(bench.workspace.state_dir()),
        0o700,
        "paths are nobody else's business"
    );
    let default = terret_changeset::Workspace::open(&bench.root).unwrap();
    assert!(
        default
            .state_dir()
            .parent()
            .is_some_and(|parent| parent.ends_with(Path::new("terret")))
    );
}

#[test]
fn a_file_under_two_spellings_is_one_member() {
    // As on a file system that ignores case, where both spellings reach one inode; here it takes a hard link.
    let bench = Bench::new(&[("file", b"x")]);
    std::fs::hard_link(bench.root.join("file"), bench.root.join("FILE")).unwrap();
    let mut set = ChangeSet::new(&bench.workspace);
    set.edit(&bench.workspace.capture("file").unwrap(), *b"y")
        .unwrap();
    let error = set
        .edit(&bench.workspace.capture("FILE").unwrap(), *b"z")
        .unwrap_err();
    assert!(matches!(error.kind(), StageErrorKind::Conflict), "{error}");
    assert_eq!(set.files().len(), 1);
}

#[test]
fn what_is_public_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<terret_changeset::Workspace>();
    shared::<terret_changeset::Captured>();
    shared::<ChangeSet>();
    shared::<terret_changeset::Committed>();
    shared::<terret_changeset::CommitError>();
    shared::<terret_changeset::StageError>();
}
