//! What a commit does not change.

use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use proptest::prelude::*;
use terret_changeset::ChangeSet;

use crate::bench::{Bench, edited, mode, set_mode};

#[test]
fn the_mode_stays() {
    for bits in [0o755, 0o600, 0o640, 0o777, 0o4755, 0o2711, 0o200] {
        let bench = Bench::new(&[("a", b"a"), ("b", b"b"), ("c", b"c")]);
        for name in ["a", "b", "c"] {
            set_mode(&bench.root.join(name), bits);
        }
        if std::fs::read(bench.root.join("a")).is_err() {
            println!("mode {bits:o} can't be read by this user: not tested");
            continue;
        }
        let mut set = bench.edit(&["a", "b"]);
        set.rename("b", "renamed").unwrap();
        set.delete("c").unwrap();
        set.create("c", *b"instead").unwrap();
        set.commit(&|| false).unwrap();
        for name in ["a", "renamed", "c"] {
            assert_eq!(mode(&bench.root.join(name)), bits, "{name}");
        }
        bench.assert_tidy();
    }
}

#[test]
fn a_new_file_gets_the_mode_of_any_other() {
    let bench = Bench::new(&[]);
    let mut set = ChangeSet::new(&bench.workspace);
    set.create("sub/new", *b"new").unwrap();
    set.commit(&|| false).unwrap();
    std::fs::create_dir(bench.root.join("usual")).unwrap();
    std::fs::write(bench.root.join("usual/file"), "").unwrap();
    assert_eq!(
        mode(&bench.root.join("sub/new")),
        mode(&bench.root.join("usual/file"))
    );
    assert_eq!(
        mode(&bench.root.join("sub")),
        mode(&bench.root.join("usual"))
    );
}

#[test]
fn the_owner_stays() {
    let bench = Bench::new(&[("a", b"a")]);
    let path = bench.root.join("a");
    if chown(&path, Some(4321), Some(8765)).is_err() {
        println!("only the superuser can give files away: not tested");
        return;
    }
    bench.edit(&["a"]).commit(&|| false).unwrap();
    let metadata = path.metadata().unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (4321, 8765));
    assert_eq!(bench.read("a"), b"new a");
}

/// Sets an attribute; `false`, and a line that says so, where the file system has none.
fn set_attribute(path: &Path, name: &str, value: &[u8]) -> bool {
    match xattr::set(path, name, value) {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
            println!("{name} is not supported here: not tested");
            false
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

#[test]
fn extended_attributes_stay() {
    let bench = Bench::new(&[("a", b"a"), ("b", b"b")]);
    for name in ["a", "b"] {
        let path = bench.root.join(name);
        if !set_attribute(&path, "user.one", b"1") || !set_attribute(&path, "user.empty", b"") {
            return;
        }
    }
    let mut set = bench.edit(&["a"]);
    set.rename("b", "c").unwrap();
    set.commit(&|| false).unwrap();
    for name in ["a", "c"] {
        let path = bench.root.join(name);
        assert_eq!(
            xattr::get(&path, "user.one").unwrap().as_deref(),
            Some(&b"1"[..]),
            "{name}"
        );
        assert_eq!(
            xattr::get(&path, "user.empty").unwrap().as_deref(),
            Some(&b""[..]),
            "{name}"
        );
    }
}

/// An access list in the form in which the kernel takes it: version 2, then tag, rights and id of each entry.
fn access_list(user: u32) -> Vec<u8> {
    const OWNER: u16 = 1;
    const USER: u16 = 2;
    const GROUP: u16 = 4;
    const MASK: u16 = 0x10;
    const OTHER: u16 = 0x20;
    const NONE: u32 = u32::MAX;
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, rights, id) in [
        (OWNER, 6u16, NONE),
        (USER, 6, user),
        (GROUP, 4, NONE),
        (MASK, 6, NONE),
        (OTHER, 0, NONE),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

#[test]
fn access_lists_stay_and_none_is_inherited() {
    const ACCESS: &str = "system.posix_acl_access";
    let bench = Bench::new(&[("with", b"a"), ("without", b"b")]);
    let (with, without) = (bench.root.join("with"), bench.root.join("without"));
    set_mode(&without, 0o640);
    if !set_attribute(&with, ACCESS, &access_list(1234)) {
        return;
    }
    // Any new file in the folder gets a list by default, which these two must not.
    assert!(set_attribute(
        &bench.root,
        "system.posix_acl_default",
        &access_list(99)
    ));
    let before = mode(&with);
    bench.edit(&["with", "without"]).commit(&|| false).unwrap();
    assert_eq!(xattr::get(&with, ACCESS).unwrap(), Some(access_list(1234)));
    assert_eq!(xattr::get(&without, ACCESS).unwrap(), None);
    assert_eq!((mode(&with), mode(&without)), (before, 0o640));
    assert!(
        xattr::list(&without)
            .unwrap()
            .all(|name| name != OsStr::new(ACCESS))
    );
}

#[test]
fn line_ends_byte_order_marks_and_last_lines_are_the_callers() {
    let cases: [(&str, &[u8]); 8] = [
        ("crlf", b"one\r\ntwo\r\n"),
        ("mixed", b"one\r\ntwo\nthree\rfour"),
        ("bom", b"\xef\xbb\xbfone\n"),
        ("no final line feed", b"one\ntwo"),
        ("latin-1", b"caf\xe9\n"),
        ("zero bytes", b"\0\0\x01"),
        ("only line feeds", b"\n\n\n"),
        ("empty", b""),
    ];
    let bench = Bench::new(&cases);
    let names: Vec<_> = cases.iter().map(|(name, _)| *name).collect();
    bench.edit(&names).commit(&|| false).unwrap();
    for (name, bytes) in cases {
        assert_eq!(bench.read(name), edited(bytes), "{name}");
    }
    // And to nothing.
    let mut set = ChangeSet::new(&bench.workspace);
    for name in names {
        set.edit(&bench.workspace.capture(name).unwrap(), *b"")
            .unwrap();
    }
    set.commit(&|| false).unwrap();
    assert!(bench.files().values().all(Vec::is_empty));
}

#[test]
fn a_name_as_long_as_names_get_works() {
    let name = "n".repeat(255);
    let bench = Bench::new(&[(&name, b"x")]);
    let mut set = bench.edit(&[&name]);
    set.create("é".repeat(127), *b"y").unwrap();
    set.commit(&|| false).unwrap();
    assert_eq!(bench.read(&name), b"new x");
    bench.assert_tidy();
}

#[test]
fn another_file_system_keeps_the_promise_too() {
    // Memory is the one other that most machines have; the usual temporary folder may be on it already.
    let Ok(true) = Path::new("/dev/shm").try_exists() else {
        println!("there is no /dev/shm: not tested");
        return;
    };
    let bench = Bench::within(
        Path::new("/dev/shm"),
        &[("a", b"a"), ("sub/b", b"b"), ("c", b"c")],
    );
    let mut set = bench.edit(&["a", "sub/b"]);
    set.rename("c", "new/c").unwrap();
    set.commit(&|| false).unwrap();
    assert_eq!(
        (bench.read("a"), bench.read("new/c")),
        (b"new a".to_vec(), b"c".to_vec())
    );
    bench.assert_tidy();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_written_as_they_are(old in any::<Vec<u8>>(), new in any::<Vec<u8>>()) {
        let bench = Bench::in_memory(&[("file", &old)]);
        let captured = bench.workspace.capture("file").unwrap();
        prop_assert_eq!(&**captured.bytes(), &*old);
        let mut set = ChangeSet::new(&bench.workspace);
        set.edit(&captured, new.clone()).unwrap();
        set.commit(&|| false).unwrap();
        prop_assert_eq!(bench.read("file"), new);
        bench.assert_tidy();
    }
}
