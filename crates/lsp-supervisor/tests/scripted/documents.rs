//! What a server has is what is on disk, and its versions only go up.

use std::fs::File;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use terret_tiers::Request;

use super::{KNOWN, ONE, Session, check};

#[tokio::test]
async fn what_others_write_is_known_before_a_question() {
    let kinds = [
        json!({ "openClose": true, "change": 2 }),
        json!({ "openClose": true, "change": 1 }),
        json!(1),
        json!(2),
    ];
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        for kind in &kinds {
            let capabilities = json!({ "textDocumentSync": kind, "positionEncoding": encoding });
            let session = Session::new(ONE, &json!({ "capabilities": capabilities }));
            let then = SystemTime::now() - Duration::from_secs(3600);
            // From 256 KiB on what has changed is sent alone.
            let large = if *kind == kinds[0] { 15_000 } else { 0 };
            for padding in [String::new(), "😀 pad\r\n".repeat(large)] {
                for word in ["uno", "dos", "é漢o", "tre"] {
                    session.write(
                        "a.words",
                        &format!("{padding}😀 def {word}\n{word}\n{padding}"),
                    );
                    // As large as before, and as old.
                    File::open(session.path("a.words"))
                        .unwrap()
                        .set_modified(then)
                        .unwrap();
                    let line = u32::try_from(padding.lines().count() + 2).unwrap();
                    let answer = session.ask("definition", line, word).await;
                    check(
                        word,
                        &answer,
                        Ok(&format!("a.words:{}: 😀 def {word}", line - 1)),
                    );
                }
            }
            session.end().await;
        }
    }
}

#[tokio::test]
async fn many_who_ask_while_a_file_changes_leave_it_as_it_is() {
    let session = Session::new(ONE, &json!({}));
    for round in 0..20 {
        let word = format!("w{round}");
        let ask = || session.ask("hover", 1, "def");
        let write = async {
            tokio::task::yield_now().await;
            session.write("a.words", &format!("def {word}\n"));
        };
        let _ = tokio::join!(ask(), ask(), write, ask(), ask());
        let expected = format!("the word {word}");
        check(&word, &session.ask("hover", 1, &word).await, Ok(&expected));
    }
    session.end().await;
}

#[tokio::test]
async fn those_that_were_used_longest_ago_are_closed() {
    let files: String = (0..70)
        .map(|at| format!("//- /{at}.words\ndef one\n"))
        .collect();
    let session = Session::new(&files, &json!({}));
    for at in 0..70 {
        let name = format!("{at}.words");
        check(
            &name,
            &session.ask_in(&name, "hover", 1, "one").await,
            Ok(KNOWN),
        );
    }
    check(
        "again",
        &session.ask_in("0.words", "hover", 1, "one").await,
        Ok(KNOWN),
    );
    let log = session.log();
    let named = |message: &Value| {
        let uri = message["params"]["textDocument"]["uri"]
            .as_str()
            .unwrap_or_default();
        let name = uri.rsplit('/').next().unwrap_or_default().to_owned();
        (name, message["params"]["textDocument"]["version"].clone())
    };
    let opened: Vec<_> = log.got("textDocument/didOpen").iter().map(named).collect();
    assert_eq!(
        (opened.len(), &opened[70]),
        (71, &("0.words".to_owned(), json!(2)))
    );
    let closed: Vec<_> = log
        .got("textDocument/didClose")
        .iter()
        .map(|message| named(message).0)
        .collect();
    assert_eq!(
        closed,
        [
            "0.words", "1.words", "2.words", "3.words", "4.words", "5.words", "6.words"
        ]
    );
    session.end().await;
}

#[tokio::test]
async fn files_that_are_gone_are_closed_and_told() {
    let session = Session::new(
        "//- /a.words\ndef one\n//- /b.words\ndef two\none\n",
        &json!({}),
    );
    check(
        "both",
        &session.ask_in("b.words", "hover", 1, "two").await,
        Ok("the word two"),
    );
    check(
        "two places",
        &session.ask("references", 1, "one").await,
        Ok("b.words:2: one"),
    );
    std::fs::remove_file(session.path("b.words")).unwrap();
    let answer = session.ask("references", 1, "one").await;
    assert_eq!(answer.unwrap(), "a.words:1: def one");
    check(
        "gone",
        &session.ask_in("b.words", "hover", 1, "two").await,
        Err("No such file"),
    );
    session.end().await;
}

#[tokio::test]
async fn a_server_that_wants_no_documents_is_told_of_none() {
    for sync in [
        json!(0),
        json!({ "openClose": false, "change": 1 }),
        Value::Null,
    ] {
        let script = json!({
            "capabilities": { "textDocumentSync": sync },
            "answers": { "textDocument/hover": { "result": { "contents": KNOWN } } },
        });
        let session = Session::new("//- /a.words\ndef one\n//- /b.words\ndef two\n", &script);
        check(
            "b",
            &session.ask_in("b.words", "hover", 1, "two").await,
            Ok(KNOWN),
        );
        session.write("b.words", "def three\n");
        check("a", &session.hover().await, Ok(KNOWN));
        std::fs::remove_file(session.path("b.words")).unwrap();
        check("a again", &session.hover().await, Ok(KNOWN));
        for method in ["didOpen", "didChange", "didClose"] {
            let told = session.log().got(&format!("textDocument/{method}"));
            assert!(told.is_empty(), "{sync}: {told:?}");
        }
        session.end().await;
    }
}

#[tokio::test]
async fn what_was_said_of_another_text_is_not_told_of_this_one() {
    let publish = json!({ "send": { "method": "textDocument/publishDiagnostics", "params": {
        "uri": "${uri}", "version": "${version}", "diagnostics": [{ "message": "old" }],
    } } });
    let unversioned = json!({ "send": { "method": "textDocument/publishDiagnostics", "params": {
        "uri": "${uri}", "diagnostics": [{ "message": "old" }],
    } } });
    for (versioned, publish) in [(true, publish), (false, unversioned)] {
        let script = json!({
            "never": ["textDocument/publishDiagnostics"],
            "after": { "textDocument/didOpen": [publish] },
        });
        let more = format!("diagnostics.versioned = {versioned}");
        let session = Session::with(ONE, &more, &[("scripted", &script)]);
        check("dirty", &session.diagnostics().await, Ok("error old"));
        check("dirty still", &session.diagnostics().await, Ok("error old"));
        session.write("a.words", "def two\n");
        for _ in 0..2 {
            let request =
                Request::new("call").with_deadline(Instant::now() + Duration::from_secs(1));
            let arguments = json!({ "action": "diagnostics", "file": "a.words" });
            check(
                "unknown",
                &session.call_with("lsp", arguments, request).await,
                Err("deadline"),
            );
        }
        session.end().await;
    }
}
