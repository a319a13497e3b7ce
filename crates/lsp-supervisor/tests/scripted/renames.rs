//! A rename is all that a server wants changed, or nothing.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use terret_testkit::Tree;

use super::{ONE, Session, check};

fn edit(line: u32, from: u32, to: u32, new: &str) -> Value {
    let at = |character: u32| json!({ "line": line, "character": character });
    json!({ "range": { "start": at(from), "end": at(to) }, "newText": new })
}

fn document(file: &str, version: Value, edits: Value) -> Value {
    json!({ "textDocument": { "uri": format!("${{root}}/{file}"), "version": version }, "edits": edits })
}

fn script(changes: Value) -> Value {
    json!({ "answers": { "textDocument/rename": { "result": { "documentChanges": changes } } } })
}

const FILES: &str = "//- /a.words\ndef one\none\n//- /b.words\none\n//- /c.words\nc\n";

#[tokio::test]
async fn what_cannot_be_done_whole_is_not_done() {
    let good = document("b.words", Value::Null, json!([edit(0, 0, 3, "two")]));
    let a = |edits: Value| document("a.words", json!(1), edits);
    let rows = [
        (
            "an old version",
            document("a.words", json!(0), json!([])),
            "made for another text of",
        ),
        (
            "a version to come",
            document("a.words", json!(7), json!([])),
            "made for another text of",
        ),
        (
            "edits of the same text",
            a(json!([edit(0, 0, 5, "x"), edit(0, 4, 7, "y")])),
            "overlap in",
        ),
        (
            "a line that there is not",
            a(json!([edit(9, 0, 0, "x")])),
            "begins at line 10, which there is not",
        ),
        (
            "outside",
            json!({ "textDocument": { "uri": "${root}/../outside.words" }, "edits": [edit(0, 0, 1, "x")] }),
            "outside",
        ),
        (
            "far outside",
            json!({ "textDocument": { "uri": "file:///etc/hostname" }, "edits": [edit(0, 0, 1, "x")] }),
            "outside",
        ),
        (
            "no file",
            json!({ "textDocument": { "uri": "untitled:1" }, "edits": [] }),
            "no file of this machine",
        ),
        (
            "gone",
            document("gone.words", Value::Null, json!([edit(0, 0, 0, "x")])),
            "gone.words",
        ),
        (
            "read only",
            document("fixed.words", Value::Null, json!([edit(0, 0, 0, "x")])),
            "fixed.words",
        ),
        (
            "no text",
            document("latin.words", Value::Null, json!([edit(0, 0, 0, "x")])),
            "is not UTF-8",
        ),
        (
            "a snippet",
            a(
                json!([{ "range": edit(0, 0, 0, "")["range"], "snippet": { "kind": "snippet", "value": "$0" } }]),
            ),
            "a template",
        ),
        (
            "something new",
            json!({ "kind": "chmod", "uri": "${root}/a.words" }),
            "`chmod`",
        ),
        (
            "onto another",
            json!({ "kind": "rename", "oldUri": "${root}/a.words", "newUri": "${root}/c.words" }),
            "c.words",
        ),
        (
            "made twice",
            json!({ "kind": "create", "uri": "${root}/c.words" }),
            "c.words",
        ),
        (
            "gone already",
            json!({ "kind": "delete", "uri": "${root}/gone.words" }),
            "gone.words",
        ),
    ];
    for (what, bad, why) in rows {
        let created = json!({ "kind": "create", "uri": "${root}/new.words" });
        let tree = Tree::new(&FILES.replace("//- /", "//- /project/"));
        tree.write("project/latin.words", b"\xe9\n");
        tree.write("project/fixed.words", "fixed\n");
        tree.write("outside.words", "outside\n");
        let fixed = tree.path("project/fixed.words");
        std::fs::set_permissions(&fixed, PermissionsExt::from_mode(0o444)).unwrap();
        let script = script(json!([good, created, bad]));
        let session = Session::of(tree, "project", "", &[("scripted", &script)]);
        let listing = |session: &Session| {
            let all = session.tree.listing();
            // The log goes on.
            all.split("//- ")
                .filter(|file| !file.starts_with("/scripted"))
                .collect::<String>()
        };
        let before = listing(&session);
        check(what, &session.rename(1, "one", "two").await, Err(why));
        assert_eq!(listing(&session), before, "{what}");
        session.end().await;
    }
}

#[tokio::test]
async fn what_others_wrote_meanwhile_is_not_overwritten() {
    let tree = Tree::new("//- /project/a.words\ndef one\none\n");
    let path = tree.path("project/a.words").display().to_string();
    // As long as before, so that the edits would fit.
    let write = json!({ "write": [path, "ONE def\none\n"] });
    let script = json!([{ "on": { "textDocument/rename": [write] } }]);
    let session = Session::of(tree, "project", "", &[("scripted", &script)]);
    check(
        "refused",
        &session.rename(1, "one", "two").await,
        Err("made for another text of"),
    );
    assert_eq!(session.text("a.words"), "ONE def\none\n");
    session.end().await;
}

#[tokio::test]
async fn files_are_made_moved_and_deleted_in_order() {
    let changes = json!([
        document("a.words", json!(1), json!([edit(0, 4, 7, "two"), edit(1, 0, 3, "two")])),
        { "kind": "rename", "oldUri": "${root}/b.words", "newUri": "${root}/sub/two.words" },
        document("sub/two.words", Value::Null, json!([edit(0, 0, 3, "two")])),
        { "kind": "delete", "uri": "${root}/c.words" },
        { "kind": "create", "uri": "${root}/c.words" },
        document("c.words", Value::Null, json!([edit(0, 0, 0, "new\n")])),
        { "kind": "create", "uri": "${root}/d.words" },
        { "kind": "create", "uri": "${root}/d.words", "options": { "ignoreIfExists": true } },
        { "kind": "delete", "uri": "${root}/gone.words", "options": { "ignoreIfNotExists": true } },
    ]);
    let session = Session::new(FILES, &script(changes));
    let answer = session.rename(1, "one", "two").await;
    check("all", &answer, Ok("sub/two.words"));
    let all = ["a.words", "sub/two.words", "c.words", "d.words"].map(|file| session.text(file));
    assert_eq!(all, ["def two\ntwo\n", "two\n", "new\n", ""]);
    assert!(!session.path("b.words").exists());
    // The server is told, and knows.
    check(
        "known",
        &session.ask("hover", 1, "two").await,
        Ok("the word two"),
    );
    let told = session.log().got("workspace/didChangeWatchedFiles");
    let mut events: Vec<String> = Vec::new();
    for event in told[0]["params"]["changes"].as_array().unwrap() {
        let uri = event["uri"].as_str().unwrap();
        let name = uri.split("/project/").nth(1).unwrap();
        events.push(format!("{name} {}", event["type"]));
    }
    events.sort();
    assert_eq!(
        events,
        [
            "a.words 2",
            "b.words 3",
            "c.words 2",
            "d.words 1",
            "sub/two.words 1"
        ]
    );
    session.end().await;
}

#[tokio::test]
async fn a_server_may_refuse() {
    let rows = [
        (json!({}), "def", "`def` is a keyword"),
        (
            json!({ "answers": { "textDocument/prepareRename": { "result": null } } }),
            "one",
            "`one` cannot be renamed",
        ),
        (
            json!({ "answers": { "textDocument/prepareRename": { "result": { "range": edit(0, 0, 3, "")["range"], "placeholder": "def" } } } }),
            "one",
            "it would rename `def`, and not `one`",
        ),
        (
            json!({ "answers": { "textDocument/rename": { "error": { "code": -32602, "message": "`two` is taken" } } } }),
            "one",
            "`two` is taken",
        ),
        (
            json!({ "answers": { "textDocument/rename": { "result": null } } }),
            "one",
            "it knows nothing to change for `one`",
        ),
        (
            json!({ "answers": { "textDocument/rename": { "result": { "documentChanges": [] } } } }),
            "one",
            "it knows nothing to change for `one`",
        ),
    ];
    for (script, symbol, why) in rows {
        let session = Session::new(ONE, &script);
        check(why, &session.rename(1, symbol, "two").await, Err(why));
        assert_eq!(session.text("a.words"), "def one\none\n");
        session.end().await;
    }
}

#[tokio::test]
async fn a_rename_over_which_a_server_dies_is_asked_again() {
    let deadly = |method: &str| json!({ "on": { method: [{ "mourn": "boom" }, { "exit": 3 }] } });
    for method in ["textDocument/prepareRename", "textDocument/rename"] {
        let session = Session::new(ONE, &json!([deadly(method), {}]));
        check(
            method,
            &session.rename(1, "one", "two").await,
            Ok("a.words"),
        );
        assert_eq!(session.text("a.words"), "def two\ntwo\n");
        session.end().await;
        let session = Session::new(ONE, &json!([deadly(method), deadly(method), {}]));
        check(method, &session.rename(1, "one", "two").await, Err("boom"));
        assert_eq!(session.text("a.words"), "def one\none\n");
        session.end().await;
    }
}
