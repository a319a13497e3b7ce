//! A write is done and told whatever becomes of a server, and soon.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use terret_tiers::wrapper::Writer;
use terret_tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec};

use super::{KNOWN, ONE, Session, check, later};

/// A host's tool that writes a file.
struct Put {
    spec: ToolSpec,
    root: PathBuf,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "it is for the schema")]
struct PutArgs {
    /// The file.
    path: String,
    /// What it holds then.
    text: String,
}

#[async_trait::async_trait]
impl Tool for Put {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: &CallContext) -> Result<Output, ToolError> {
        let path = self.root.join(arguments["path"].as_str().unwrap());
        std::fs::write(path, arguments["text"].as_str().unwrap()).unwrap();
        Ok(Output::text("written").with_details(arguments))
    }
}

pub(super) fn put(root: PathBuf) -> Writer {
    let path = |of: &Value| -> Vec<PathBuf> {
        of["path"].as_str().map(PathBuf::from).into_iter().collect()
    };
    let spec = ToolSpec::new("put", Tier::Write, "Writes a file.").parameters::<PutArgs>();
    let put = Put { spec, root };
    Writer::new(
        Arc::new(put),
        move |arguments, _| Box::pin(async move { path(arguments) }),
        path,
    )
}

/// Writes a file, and gives what is told.
async fn write(session: &Session, file: &str, text: &str) -> String {
    let begun = Instant::now();
    let told = session
        .call("put", json!({ "path": file, "text": text }))
        .await;
    let told = told.expect("a write is no failure of a server");
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    assert!(told.starts_with("written"), "{told}");
    assert_eq!(session.text(file), text);
    told
}

#[tokio::test]
async fn a_write_is_done_whatever_becomes_of_a_server() {
    let change = "textDocument/didChange";
    let open = "textDocument/didOpen";
    let last = json!([{ "mourn": "boom" }, { "exit": 3 }]);
    let rows = [
        ("ends at once", json!({ "on": { "start": last } })),
        (
            "ends when asked to begin",
            json!({ "on": { "initialize": last } }),
        ),
        (
            "never begins",
            json!({ "on": { "initialize": ["deafen"] } }),
        ),
        ("dies over a document", json!({ "on": { open: ["die"] } })),
        ("dies over the change", json!({ "on": { change: ["die"] } })),
        (
            "hangs over the change",
            json!({ "on": { change: ["deafen"] } }),
        ),
        (
            "closes over the change",
            json!({ "on": { change: ["close"] } }),
        ),
        (
            "writes no message",
            json!({ "on": { change: [{ "raw": "junk\r\n\r\n" }] } }),
        ),
        (
            "says nothing",
            json!({ "never": ["textDocument/publishDiagnostics"] }),
        ),
    ];
    for (what, first) in rows {
        let script = json!([first, {}]);
        let session = Session::with(ONE, "start_seconds = 1", &[("scripted", &script)]);
        let told = write(&session, "a.words", "def one\nwrong one\n").await;
        assert!(told.lines().count() <= 4, "{what}: {told}");
        session.supervisor.reload(None).await;
        check(
            what,
            &session.diagnostics().await,
            Ok("a.words:2 error this is wrong"),
        );
        session.end().await;
    }
}

#[tokio::test]
async fn what_a_write_introduces_is_told_once() {
    let session = Session::new("//- /a.words\ndef one\nwrong\n", &json!({}));
    check("it runs", &session.hover().await, Ok(KNOWN));
    let rows = [
        ("what was there", "def one\n\nwrong\n", 0),
        ("one more", "def one\n\nwrong wrong\n", 1),
        ("moved", "\n\n\nwrong wrong def one\n", 0),
        ("mended", "def one\n", 0),
        ("back", "def one\nwrong\n", 1),
    ];
    for (what, text, count) in rows {
        let told = write(&session, "a.words", text).await;
        assert_eq!(
            told.matches("this is wrong").count(),
            count,
            "{what}: {told}"
        );
    }
    session.end().await;
}

#[tokio::test]
async fn what_comes_late_is_told_with_the_next_write_unless_it_is_overtaken() {
    let say = |uri: &str, version: Value, items: Value| {
        let params = json!({ "uri": uri, "version": version, "diagnostics": items });
        json!({ "send": { "method": "textDocument/publishDiagnostics", "params": params } })
    };
    // What it has to say of the change it says when it is asked about the other file.
    let late = say("${root}/a.words", json!(2), json!([{ "message": "late" }]));
    let script = json!({
        "never": ["textDocument/publishDiagnostics"],
        "after": { "textDocument/didOpen": [say("${uri}", json!("${version}"), json!([]))] },
        "on": { "textDocument/hover": [late] },
    });
    let files = "//- /a.words\ndef one\n//- /b.words\ndef two\n";
    for then in ["it stays", "others change it", "it is written again"] {
        let session = Session::new(files, &script);
        check(
            "it runs",
            &session
                .call("lsp", json!({ "action": "symbols", "file": "b.words" }))
                .await,
            Ok("two"),
        );
        let told = write(&session, "a.words", "def one\nwrong\n").await;
        assert!(told.contains("pending"), "{told}");
        if then == "it is written again" {
            write(&session, "a.words", "def one\nright\n").await;
        }
        let asked = session.ask_in("b.words", "hover", 1, "two").await;
        check("said", &asked, Ok("the word two"));
        // The time in which more might be said of it.
        later(Duration::from_secs(1)).await;
        if then == "others change it" {
            session.write("a.words", "def one\nfine\n");
        }
        let told = write(&session, "b.words", "def two\ntwo\n").await;
        let count = usize::from(then == "it stays");
        assert_eq!(told.matches("late").count(), count, "{then}: {told}");
        session.end().await;
    }
}
