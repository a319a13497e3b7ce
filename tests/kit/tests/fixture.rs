//! A fixture as a test sees it: on disk, and listed back.

use std::fs;
use std::os::unix::fs::MetadataExt;

use expect_test::expect;
use terret_testkit::Tree;

/// Everything a fixture can say, in the form that a listing has.
const ALL: &str = r"//- /b.txt crlf
one
two
//- /bom.txt bom no-eol
text
//- /bytes.bin bytes
\xff\x00\r\n
\\x
//- /empty dir
//- /link symlink=b.txt
//- /run.sh mode=755
echo
//- /shut dir mode=500
//- /shut/in.txt mode=400
//- /sub/empty.txt
//- /sub/in/c.txt
  indented
";

#[test]
fn a_listing_reads_back_as_itself() {
    assert_eq!(Tree::new(ALL).listing(), ALL);
}

#[test]
fn options_become_bytes_links_and_modes() {
    let tree = Tree::new(ALL);
    assert_eq!(tree.read("b.txt"), b"one\r\ntwo\r\n");
    assert_eq!(tree.read("/bom.txt"), b"\xef\xbb\xbftext");
    assert_eq!(tree.read("bytes.bin"), b"\xff\x00\r\n\\x");
    assert_eq!(tree.read("link"), b"one\r\ntwo\r\n");
    assert_eq!(
        fs::metadata(tree.path("run.sh")).expect("there").mode() & 0o777,
        0o755
    );
    assert_eq!(
        fs::metadata(tree.path("shut")).expect("there").mode() & 0o777,
        0o500
    );
}

#[test]
fn a_hard_link_is_one_file() {
    let tree = Tree::new(
        "
        //- /a
        text
        //- /deep/b hardlink=/a
        ",
    );
    let inode = |path| fs::metadata(tree.path(path)).expect("there").ino();
    assert_eq!(inode("a"), inode("deep/b"));
}

#[test]
fn a_change_on_disk_shows_in_the_listing() {
    let tree = Tree::new(
        "
        //- /src/a.py
        if x:
            pass
        ",
    );
    tree.write("src/new/b.py", "y\r\n");
    fs::remove_file(tree.path("src/a.py")).expect("it is there");
    expect![[r"
        //- /src/new/b.py crlf
        y
    "]]
    .assert_eq(&tree.listing());
}

#[test]
fn the_folder_goes_away_with_its_closed_folders() {
    let tree = Tree::new(ALL);
    let root = tree.root();
    drop(tree);
    assert!(!root.exists());
}
