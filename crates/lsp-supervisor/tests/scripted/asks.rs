//! Whatever a server asks is answered, and it is asked nothing that it has not offered.

use serde_json::{Value, json};

use super::{KNOWN, ONE, Session, check};

const HOVER: &str = "textDocument/hover";

#[tokio::test]
async fn all_that_a_server_asks_is_answered() {
    let folders = json!([{ "uri": "${root}", "name": "project" }]);
    let items = |sections: &[Value]| {
        let item = |section: &Value| json!({ "section": section });
        json!({ "items": sections.iter().map(item).collect::<Vec<_>>() })
    };
    let all = json!({ "words": { "mode": 3 } });
    let rows = [
        (
            "workspace/configuration",
            items(&[json!("words.mode"), json!("none.x"), json!("words")]),
            json!([3, null, { "mode": 3 }]),
        ),
        (
            "workspace/configuration",
            items(&[json!(""), Value::Null]),
            json!([all, all]),
        ),
        ("workspace/configuration", items(&[]), json!([])),
        (
            "workspace/configuration",
            items(&vec![json!("none"); 40]),
            json!(vec![Value::Null; 40]),
        ),
        (
            "workspace/configuration",
            json!({ "items": [{ "scopeUri": "${root}", "section": "words.mode" }] }),
            json!([3]),
        ),
        ("workspace/workspaceFolders", Value::Null, folders),
        (
            "client/registerCapability",
            json!({ "registrations": [{ "id": "1", "method": "workspace/didChangeWatchedFiles", "registerOptions": { "watchers": [{ "globPattern": "**/*" }] } }] }),
            Value::Null,
        ),
        (
            "client/unregisterCapability",
            json!({ "unregisterations": [{ "id": "1", "method": "workspace/didChangeWatchedFiles" }] }),
            Value::Null,
        ),
        ("client/registerCapability", json!({}), Value::Null),
        (
            "window/workDoneProgress/create",
            json!({ "token": 1 }),
            Value::Null,
        ),
        (
            "window/workDoneProgress/create",
            json!({ "token": "t" }),
            Value::Null,
        ),
        (
            "window/showMessageRequest",
            json!({ "type": 1, "message": "m", "actions": [{ "title": "Yes" }] }),
            Value::Null,
        ),
        (
            "window/showDocument",
            json!({ "uri": "file:///a" }),
            json!({ "success": false }),
        ),
        (
            "workspace/applyEdit",
            json!({ "edit": { "changes": { "${root}/a.words": [] } } }),
            json!({ "applied": false, "failureReason": "files are changed by a rename only" }),
        ),
        ("workspace/diagnostic/refresh", Value::Null, Value::Null),
        ("workspace/semanticTokens/refresh", Value::Null, Value::Null),
        ("workspace/inlayHint/refresh", Value::Null, Value::Null),
        ("workspace/inlineValue/refresh", Value::Null, Value::Null),
        ("workspace/codeLens/refresh", Value::Null, Value::Null),
        ("workspace/foldingRange/refresh", Value::Null, Value::Null),
    ];
    let unknown = [
        "their/own",
        "workspace/executeClientCommand",
        "",
        "textDocument/hover",
    ];
    let mut burst: Vec<Value> = Vec::new();
    for (at, (method, params, _)) in rows.iter().enumerate() {
        burst.push(
            json!({ "send": { "id": format!("known {at}"), "method": method, "params": params } }),
        );
    }
    for (at, method) in unknown.iter().enumerate() {
        burst.push(
            json!({ "send": { "id": format!("unknown {at}"), "method": method, "params": [] } }),
        );
    }
    for at in 0..300 {
        burst.push(json!({ "send": { "id": format!("many {at}"), "method": "workspace/configuration", "params": { "items": [{}] } } }));
    }
    // Asked at the beginning, and while a question is open.
    let script = json!({ "on": { "initialized": burst } });
    let more = "settings.words.mode = 3";
    let session = Session::with(ONE, more, &[("scripted", &script)]);
    check("beside all that", &session.hover().await, Ok(KNOWN));
    let log = session.log();
    let root = log.got("initialize")[0]["params"]["rootUri"].clone();
    for (at, (method, _, expected)) in rows.into_iter().enumerate() {
        let answer = log.answer_to(&json!(format!("known {at}"))).await;
        let expected = expected
            .to_string()
            .replace("${root}", root.as_str().unwrap());
        assert_eq!(answer["result"].to_string(), expected, "{method}: {answer}");
        assert!(answer.get("error").is_none(), "{method}: {answer}");
    }
    for (at, method) in unknown.into_iter().enumerate() {
        let answer = log.answer_to(&json!(format!("unknown {at}"))).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    // They come in the order of the requests.
    let _ = log.answer_to(&json!("many 299")).await;
    let many = |line: &serde_json::Value| {
        let id = line["got"]["id"].as_str().unwrap_or_default();
        id.starts_with("many") && line["got"]["result"] == json!([all])
    };
    assert_eq!(log.read().into_iter().filter(many).count(), 300);
    assert_eq!(
        log.got("workspace/didChangeConfiguration")[0]["params"]["settings"],
        all
    );
    session.end().await;
}

#[tokio::test]
async fn what_is_asked_within_a_question_does_not_wait_for_its_answer() {
    let edit = json!({ "changes": { "${uri}": [{ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } }, "newText": "no" }] } });
    let apply = json!({ "send": { "id": "edit", "method": "workspace/applyEdit", "params": { "edit": edit } } });
    let script = json!({ "on": { HOVER: [apply] } });
    let session = Session::new(ONE, &script);
    check("the answer", &session.hover().await, Ok(KNOWN));
    let answer = session.log().answer_to(&json!("edit")).await;
    assert_eq!(answer["result"]["applied"], false);
    assert_eq!(session.text("a.words"), "def one\none\n");
    session.end().await;
}

#[tokio::test]
async fn what_is_not_offered_is_not_asked() {
    let nothing = json!({
        "definitionProvider": null, "documentSymbolProvider": null, "hoverProvider": null,
        "referencesProvider": null, "renameProvider": null, "workspaceSymbolProvider": null,
    });
    // Where it is asked for it all the same, it ends.
    let mut fatal = serde_json::Map::new();
    for method in [
        "definition",
        "references",
        "rename",
        "prepareRename",
        "documentSymbol",
        "diagnostic",
        "implementation",
    ] {
        fatal.insert(format!("textDocument/{method}"), json!(["die"]));
    }
    let register = |method: &str| {
        let registration = json!({ "id": method, "method": method });
        json!({ "send": { "id": method, "method": "client/registerCapability", "params": { "registrations": [registration] } } })
    };
    fatal.insert("textDocument/didOpen".to_owned(), json!([register(HOVER)]));
    let session = Session::new(ONE, &json!({ "capabilities": nothing, "on": fatal }));
    check(
        "nothing",
        &session.hover().await,
        Err("it offers nothing that could be asked"),
    );
    check(
        "symbols",
        &session
            .call("lsp", json!({ "action": "symbols", "file": "a.words" }))
            .await,
        Err("does not offer"),
    );
    check(
        "rename",
        &session.rename(1, "one", "two").await,
        Err("does not offer"),
    );
    check(
        "its diagnostics",
        &session.diagnostics().await,
        Ok("no errors"),
    );
    session.log().answer_to(&json!(HOVER)).await;
    check("what it registered then", &session.hover().await, Ok(KNOWN));
    check(
        "others",
        &session.ask("definition", 1, "one").await,
        Err("it offers `textDocument/hover`"),
    );
    assert_eq!(session.log().starts().len(), 1);
    session.end().await;
}

#[tokio::test]
async fn a_server_that_pushes_where_it_said_to_be_asked_is_heard() {
    let declared = json!({ "capabilities": { "diagnosticProvider": { "interFileDependencies": false, "workspaceDiagnostics": false } } });
    let more = "diagnostics.proof = 'pull'";
    let wrong = "//- /a.words\ndef one\nwrong\n";
    let session = Session::with(wrong, more, &[("scripted", &declared)]);
    check(
        "asked",
        &session.diagnostics().await,
        Ok("a.words:2 error this is wrong [words]"),
    );
    session.end().await;
    // One that finds nothing when asked, and pushes what it finds.
    let empty = json!({
        "capabilities": { "diagnosticProvider": { "interFileDependencies": false, "workspaceDiagnostics": false } },
        "answers": { "textDocument/diagnostic": { "result": { "kind": "full", "items": [] } } },
        "after": { "textDocument/didOpen": [{ "send": { "method": "textDocument/publishDiagnostics", "params": { "uri": "${uri}", "diagnostics": [{ "message": "pushed" }] } } }] },
    });
    let session = Session::with(wrong, more, &[("scripted", &empty)]);
    check("both", &session.diagnostics().await, Ok("error pushed"));
    session.end().await;
    // One that has not got it, and pushes.
    for code in [-32601, -32700] {
        let script = json!({
            "capabilities": { "diagnosticProvider": null },
            "on": { "initialized": [{ "send": { "id": "r", "method": "client/registerCapability", "params": { "registrations": [{ "id": "1", "method": "textDocument/diagnostic" }] } } }] },
            "answers": { "textDocument/diagnostic": { "error": { "code": code, "message": "no such method" } } },
        });
        let session = Session::with(wrong, more, &[("scripted", &script)]);
        check("hover first", &session.hover().await, Ok(KNOWN));
        session.log().answer_to(&json!("r")).await;
        let answer = session.diagnostics().await;
        check(
            &format!("{code}"),
            &answer,
            Ok("a.words:2 error this is wrong [words]"),
        );
        session.end().await;
    }
}
