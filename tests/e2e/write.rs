//! The host's own tools.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use terret_testkit::Tree;

use crate::{ask, configure, terret};

const BEFORE: &str = "
    //- /a.txt
    one
    two
    three
    //- /b.txt crlf bom
    one
    two
    //- /run.sh mode=755
    echo one
    ";

/// What a call says, or its error.
#[track_caller]
fn says(tree: &Tree, tool: &str, arguments: Value, expected: Expect) {
    let bin = terret(tree).arg("session");
    // What servers say of it is for other tests.
    configure(&bin, "lsp.enabled = false");
    let mut session = bin.start();
    let answer = ask(&mut session, tool, arguments);
    let said = match answer["error"]["kind"].as_str() {
        Some(kind) => format!("{kind}: {}", answer["error"]["message"].as_str().unwrap()),
        None => answer["text"].as_str().unwrap().to_owned(),
    };
    expected.assert_eq(&said);
    session.end().success();
}

#[test]
fn files_are_read_written_and_edited() {
    let tree = Tree::new(BEFORE);
    says(
        &tree,
        "read",
        json!({"path": "a.txt", "offset": 2, "limit": 1}),
        expect![[r#"
            2	two
            lines 2 to 2 of 3; go on with `offset` 3
        "#]],
    );
    says(
        &tree,
        "write",
        json!({"path": "new/folder/c.txt", "content": "c"}),
        expect!["created new/folder/c.txt (1 byte)"],
    );
    says(
        &tree,
        "write",
        json!({"path": "run.sh", "content": "echo two\n"}),
        expect!["wrote run.sh (9 bytes)"],
    );
    says(
        &tree,
        "edit",
        json!({"path": "b.txt", "old": "one\ntwo", "new": "1\n2\n3"}),
        expect!["edited b.txt: 1 replacement, at line 1"],
    );
    let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: d.txt\n@@ one\n-two\n+2\n\
                 *** Delete File: new/folder/c.txt\n*** Add File: e.txt\n+e\n*** End Patch";
    says(
        &tree,
        "apply_patch",
        json!({ "patch": patch }),
        expect![[r#"
            3 files changed
            renamed a.txt to d.txt
            created e.txt
            deleted new/folder/c.txt
        "#]],
    );
    let after = Tree::new(
        "
        //- /b.txt crlf bom
        1
        2
        3
        //- /d.txt
        one
        2
        three
        //- /e.txt
        e
        //- /new/folder dir
        //- /run.sh mode=755
        echo two
        ",
    );
    assert_eq!(tree.listing(), after.listing());
}

#[test]
fn a_patch_lands_whole_or_not_at_all() {
    let tree = Tree::new(BEFORE);
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: b.txt\n\
                 @@\n-three\n+3\n*** End Patch";
    says(
        &tree,
        "apply_patch",
        json!({ "patch": patch }),
        expect![[r#"
            not_found: b.txt: hunk 1 of 1: these lines are not in the file; read the file, and show the lines as they are there
              three"#]],
    );
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Add File: b.txt\n+b\n*** End Patch";
    says(
        &tree,
        "apply_patch",
        json!({ "patch": patch }),
        expect!["refused: b.txt: it exists already"],
    );
    assert_eq!(tree.listing(), Tree::new(BEFORE).listing());
}

#[test]
fn what_is_outside_or_no_text_is_refused() {
    let tree = Tree::new(BEFORE);
    tree.write("binary", b"\x7fELF\0\0");
    std::os::unix::fs::symlink("/etc", tree.path("link")).unwrap();
    let refused = |tool: &str, arguments: Value| {
        let mut session = terret(&tree).arg("session").start();
        let answer = ask(&mut session, tool, arguments);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(answer["error"]["kind"], "refused", "{answer}");
        message.to_owned()
    };
    for path in ["../x", "/etc/passwd", "link/passwd"] {
        let outside = [
            refused("read", json!({ "path": path })),
            refused("write", json!({"path": path, "content": "x"})),
            refused("edit", json!({"path": path, "old": "a", "new": "b"})),
            refused(
                "apply_patch",
                json!({"patch": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch")}),
            ),
        ];
        for message in outside {
            assert!(message.contains("outside the workspace"), "{message}");
        }
    }
    says(
        &tree,
        "read",
        json!({"path": "binary"}),
        expect!["refused: binary is binary (6 bytes), and not text"],
    );
    says(
        &tree,
        "edit",
        json!({"path": "a.txt", "old": "o", "new": "0"}),
        expect![
            "ambiguous: `old` is in a.txt 2 times, at lines 1 and 2: take in more of what is around the one that is meant, or set `replace_all`"
        ],
    );
}

#[test]
fn a_cap_leaves_the_writers_out() {
    let tree = Tree::new(BEFORE);
    let write = [
        "call",
        "--tier",
        "read",
        "write",
        r#"{"path": "x", "content": ""}"#,
    ];
    terret(&tree).args(write).run().exits(11);
    assert!(!tree.path("x").exists());
}
