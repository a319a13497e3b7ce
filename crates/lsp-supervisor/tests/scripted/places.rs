//! Places are those that are meant, in whatever a server counts, and wherever the file is.

use serde_json::json;
use terret_testkit::Tree;

use super::{ONE, Session, check};

#[tokio::test]
async fn symbols_are_found_in_each_encoding() {
    // Emoji of two units and of a family, combining marks, wide characters and tabs in front of the symbol.
    let line = "\t\"😀👩\u{200d}👩\u{200d}👧é漢字\" cafe\u{301} größe\t名前 größe2";
    for end in ["\n", "\r\n", "\r"] {
        for encoding in ["utf-8", "utf-16", "utf-32"] {
            let capabilities = json!({ "positionEncoding": encoding });
            let session = Session::new(ONE, &json!({ "capabilities": capabilities }));
            let text = ["def größe", line, "def 名前", "def cafe\u{301}", ""].join(end);
            session.write("a.words", &text);
            for (symbol, declared) in [("größe", 1), ("名前", 3), ("cafe\u{301}", 4)] {
                let what = format!("{symbol} in {encoding} {end:?}");
                let place = format!("a.words:{declared}: def {symbol}");
                check(
                    &what,
                    &session.ask("definition", 2, symbol).await,
                    Ok(&place),
                );
                let uses = session.ask("references", declared, symbol).await.unwrap();
                assert_eq!(uses.lines().count(), 2, "{what}: {uses}");
                let known = format!("the word {symbol}");
                check(&what, &session.ask("hover", 2, symbol).await, Ok(&known));
            }
            check(
                "renamed",
                &session.rename(2, "größe", "länge😀x").await,
                Ok("a.words"),
            );
            let expected = text
                .replace("größe2", "#")
                .replace("größe", "länge😀x")
                .replace('#', "größe2");
            assert_eq!(session.text("a.words"), expected, "{encoding} {end:?}");
            session.end().await;
        }
    }
}

#[tokio::test]
async fn files_may_be_called_anything() {
    for folder in [
        "sp ace",
        "a#b",
        "100%20",
        "é漢😀",
        "p[id] (a)+@b,c=d;e&!'$~",
        "q?x:y",
    ] {
        for file in ["a b.words", "#.words", "%2F%.words", "ü😀.words"] {
            let tree = Tree::new("");
            std::fs::create_dir_all(tree.path(folder)).unwrap();
            let path = tree.path(format!("{folder}/{file}"));
            std::fs::write(&path, "def one\nwrong one\n").unwrap();
            let session = Session::of(tree, folder, "", &[("scripted", &json!({}))]);
            let answer = session.ask_in(file, "references", 2, "one").await;
            assert_eq!(
                answer.unwrap(),
                format!("{file}:1: def one\n{file}:2: wrong one")
            );
            let arguments = json!({ "action": "diagnostics", "file": file });
            let expected = format!("{file}:2 error this is wrong");
            check(folder, &session.call("lsp", arguments).await, Ok(&expected));
            let arguments = json!({ "file": file, "line": 2, "symbol": "one", "new_name": "two" });
            check(
                folder,
                &session.call("lsp_rename", arguments).await,
                Ok(file),
            );
            assert_eq!(
                std::fs::read_to_string(&path).unwrap(),
                "def two\nwrong two\n"
            );
            session.end().await;
        }
    }
}

#[tokio::test]
async fn a_root_may_be_reached_by_a_link() {
    for real_uris in [false, true] {
        let tree = Tree::new("//- /real/a.words\ndef one\nwrong one\n");
        std::os::unix::fs::symlink(tree.path("real"), tree.path("link")).unwrap();
        let real = std::fs::canonicalize(tree.path("real")).unwrap();
        let uri = format!("file://{}/a.words", real.display());
        let publish = json!({ "send": { "method": "textDocument/publishDiagnostics", "params": {
            "uri": uri, "version": "${version}", "diagnostics": [{ "message": "this is wrong" }],
        } } });
        let place = json!({ "uri": uri, "range": { "start": { "line": 0, "character": 4 }, "end": { "line": 0, "character": 7 } } });
        let edit = json!({ "changes": { uri: [{ "range": place["range"], "newText": "two" }] } });
        let script = match real_uris {
            false => json!({}),
            true => json!({
                "never": ["textDocument/publishDiagnostics"],
                "after": { "textDocument/didOpen": [publish] },
                "answers": {
                    "textDocument/definition": { "result": place },
                    "textDocument/rename": { "result": edit },
                },
            }),
        };
        let session = Session::of(tree, "link", "", &[("scripted", &script)]);
        check(
            "definition",
            &session.ask("definition", 2, "one").await,
            Ok("a.words:1: def one"),
        );
        check(
            "diagnostics",
            &session.diagnostics().await,
            Ok("error this is wrong"),
        );
        check(
            "rename",
            &session.rename(2, "one", "two").await,
            Ok("a.words"),
        );
        let text = std::fs::read_to_string(real.join("a.words")).unwrap();
        assert!(text.starts_with("def two\nwrong "), "{text}");
        session.end().await;
    }
}

#[tokio::test]
async fn what_names_no_symbol_is_an_error_and_no_guess() {
    let session = Session::new(ONE, &json!({}));
    for action in [
        "definition",
        "references",
        "hover",
        "type_definition",
        "implementation",
    ] {
        for symbol in [json!(null), json!(""), json!(" ")] {
            let at = json!({ "action": action, "file": "a.words", "line": 2, "symbol": symbol });
            check(action, &session.call("lsp", at).await, Err("symbol"));
        }
    }
    check(
        "elsewhere",
        &session.ask("hover", 2, "def").await,
        Err("line 1: def one"),
    );
    check(
        "no line",
        &session.ask("hover", 9, "one").await,
        Err("there is no line 9"),
    );
    // No server is started for it.
    assert_eq!(session.log().starts().len(), 0);
    session.end().await;
}

#[tokio::test]
async fn answers_come_in_many_shapes() {
    let range =
        json!({ "start": { "line": 0, "character": 4 }, "end": { "line": 0, "character": 7 } });
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } });
    let odd = json!({ "start": { "line": -3, "character": 1e99 } });
    let rows = [
        (
            json!({ "uri": "${uri}", "range": range }),
            "a.words:1: def one",
        ),
        (
            json!([{ "uri": "${uri}", "range": range }, { "uri": "${uri}", "range": range }]),
            "a.words:1: def one",
        ),
        (
            json!([{ "targetUri": "${uri}", "targetRange": whole, "targetSelectionRange": range }]),
            "a.words:1: def one",
        ),
        (
            json!([{ "uri": "${uri}", "range": odd }]),
            "a.words:1: def one",
        ),
        (
            json!([{ "uri": "${uri}", "range": { "start": { "line": 99999, "character": 0 } } }]),
            "a.words:100000",
        ),
        (
            json!([{ "targetUri": "jdt://contents/rt.jar/X.class?a=b", "targetRange": range }]),
            "jdt://contents/rt.jar/X.class?a=b:1",
        ),
        (
            json!([{ "uri": "${root}/gone.words", "range": range }]),
            "gone.words:1",
        ),
        (json!([{ "uri": "${root}", "range": range }]), ":1"),
        (json!(null), "declarations of `one`: none"),
        (json!([]), "declarations of `one`: none"),
        (
            json!([null, 3, {}, { "uri": 3 }]),
            "declarations of `one`: none",
        ),
    ];
    for (answer, expected) in rows {
        let script = json!({ "answers": { "textDocument/definition": { "result": answer } } });
        let session = Session::new(ONE, &script);
        check(
            &answer.to_string(),
            &session.ask("definition", 2, "one").await,
            Ok(expected),
        );
        session.end().await;
    }
}
