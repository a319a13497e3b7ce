//! A server that does what it must not: the question is answered, or fails soon and says why; the next one is answered,
//! and nothing is left.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use terret_tiers::Request;

use super::{KNOWN, ONE, Session, check};

/// What a server does in its first life, what a hover says then, and how often a server was started in the end.
type Row = (
    &'static str,
    Value,
    Result<&'static str, &'static str>,
    usize,
);

fn on(method: &str, actions: Value) -> Value {
    json!({ "on": { method: actions } })
}

fn after(method: &str, actions: Value) -> Value {
    json!({ "after": { method: actions } })
}

const HOVER: &str = "textDocument/hover";

async fn check_rows(rows: Vec<Row>) {
    for (what, first, expected, starts) in rows {
        let session = Session::new(ONE, &json!([first, {}]));
        let begun = Instant::now();
        check(what, &session.hover().await, expected);
        assert!(begun.elapsed() < Duration::from_secs(15), "{what}");
        check(what, &session.hover().await, Ok(KNOWN));
        assert_eq!(session.log().starts().len(), starts, "{what}");
        session.end().await;
    }
}

#[tokio::test]
async fn a_server_that_ends_is_replaced() {
    let bye = json!([{ "mourn": "out of luck" }, { "exit": 3 }]);
    check_rows(vec![
        (
            "at once, with a word",
            on("start", bye.clone()),
            Err("out of luck"),
            2,
        ),
        (
            "at once, without",
            on("start", json!([{ "exit": 3 }])),
            Err("exited with 3"),
            2,
        ),
        (
            "asked to begin",
            on("initialize", bye.clone()),
            Err("out of luck"),
            2,
        ),
        (
            "when it had begun",
            on("initialized", json!(["die"])),
            Ok(KNOWN),
            2,
        ),
        (
            "over a document",
            on("textDocument/didOpen", json!(["die"])),
            Ok(KNOWN),
            2,
        ),
        ("over a question", on(HOVER, json!(["die"])), Ok(KNOWN), 2),
        ("over a question, with a word", on(HOVER, bye), Ok(KNOWN), 2),
        (
            "between questions",
            after(HOVER, json!(["die"])),
            Ok(KNOWN),
            2,
        ),
        ("without ending", on(HOVER, json!(["close"])), Ok(KNOWN), 2),
        (
            "in the middle of a message",
            on(
                HOVER,
                json!([{ "raw": "Content-Length: 99\r\n\r\n{\"id" }, "die"]),
            ),
            Ok(KNOWN),
            2,
        ),
        (
            "in the middle of a header",
            on(HOVER, json!([{ "raw": "Content-Le" }, "die"])),
            Ok(KNOWN),
            2,
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_is_no_message_does_not_cost_the_next() {
    let frame = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let answer =
        |id: Value, result: &str| json!({ "send": { "id": id, "result": { "contents": result } } });
    let tidings = json!({ "method": "their/own", "params": [[[1]]] });
    check_rows(vec![
        ("a banner", on("start", json!([{ "raw": "Words 1.0\r\n\r\n\u{1b}[1mhello\u{1b}[0m\nready\n" }])), Ok(KNOWN), 1),
        ("half a header", on("start", json!([{ "raw": "Content-Len\r\n" }])), Ok(KNOWN), 1),
        ("no JSON", on(HOVER, json!([{ "raw": frame("{bad") }])), Ok(KNOWN), 1),
        ("nothing", on(HOVER, json!([{ "raw": frame("") }])), Ok(KNOWN), 1),
        ("no object", on(HOVER, json!([{ "raw": frame("[1, \"a\"]") }])), Ok(KNOWN), 1),
        ("junk between messages", on(HOVER, json!([{ "raw": "panic at line 3\r\n\r\n" }])), Ok(KNOWN), 2),
        ("a length beyond all", on(HOVER, json!([{ "raw": "Content-Length: 1000000000000\r\n\r\n" }])), Ok(KNOWN), 2),
        ("two lengths", on(HOVER, json!([{ "raw": "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" }])), Ok(KNOWN), 2),
        ("no length", on(HOVER, json!([{ "raw": "Content-Type: x\r\n\r\n{}" }])), Ok(KNOWN), 2),
        ("an answer twice", json!({ "twice": [HOVER] }), Ok(KNOWN), 1),
        ("an answer to nobody", on(HOVER, json!([answer(json!(9999), "no"), answer(json!("x"), "no")])), Ok(KNOWN), 1),
        ("a word that nobody knows", on(HOVER, json!([{ "send": tidings }])), Ok(KNOWN), 1),
        ("a request of the same number", on(HOVER, json!([{ "send": { "id": "${id}", "method": "workspace/configuration", "params": { "items": [{}] } } }])), Ok(KNOWN), 1),
        ("a flood of complaints", on(HOVER, json!([{ "complain": 1_500_000 }])), Ok(KNOWN), 1),
        ("a refusal", json!({ "answers": { HOVER: [{ "error": { "code": -32603, "message": "no mood" } }, { "result": { "contents": KNOWN } }] } }), Err("no mood"), 1),
        ("content that was modified", json!({ "answers": { HOVER: [{ "error": { "code": -32801, "message": "m" } }, { "result": { "contents": KNOWN } }] } }), Ok(KNOWN), 1),
        ("an answer without sense", json!({ "answers": { HOVER: [{ "result": [[3], { "contents": 3 }] }, { "result": { "contents": KNOWN } }] } }), Ok(""), 1),
    ])
    .await;
}

/// Asks with so long to wait for the answer.
async fn impatient(session: &Session, milliseconds: u64) -> super::Answer {
    let deadline = Instant::now() + Duration::from_millis(milliseconds);
    let request = Request::new("call").with_deadline(deadline);
    let at = json!({ "action": "hover", "file": "a.words", "line": 1, "symbol": "one" });
    session.call_with("lsp", at, request).await
}

#[tokio::test]
async fn a_question_that_is_not_answered_is_given_up_and_cancelled() {
    let session = Session::new(ONE, &json!([{ "never": [HOVER] }, {}]));
    check(
        "the deadline",
        &impatient(&session, 1500).await,
        Err("deadline"),
    );
    let log = session.log();
    let asked = log
        .until(|line| (line["got"]["method"] == HOVER).then(|| line["got"].clone()))
        .await;
    log.until(|line| (line["got"]["params"]["id"] == asked["id"]).then_some(()))
        .await;
    // The server is as good as before for other questions.
    check(
        "definition",
        &session.ask("definition", 2, "one").await,
        Ok("a.words:1: def one"),
    );
    assert_eq!(session.supervisor.reload(None).await, 1);
    check("another life", &session.hover().await, Ok(KNOWN));
    session.end().await;
}

#[tokio::test]
async fn a_server_that_never_begins_is_given_up() {
    let script = json!([{ "never": ["initialize"] }, { "on": { "initialize": ["deafen"] } }, {}]);
    let more = "start_seconds = 1\ndiagnostics.answers_wait = true";
    let session = Session::with(ONE, more, &[("scripted", &script)]);
    for _ in 0..2 {
        let error = session.hover().await;
        check(
            "silence",
            &error,
            Err("scripted did not start: `initialize` was not answered"),
        );
    }
    check("at last", &session.hover().await, Ok(KNOWN));
    session.end().await;
}

#[tokio::test]
async fn a_server_that_reads_nothing_keeps_nobody() {
    let script = json!([{ "on": { HOVER: ["deafen"] } }, {}]);
    let session = Session::new(ONE, &script);
    check("deaf", &impatient(&session, 1500).await, Err("deadline"));
    // More than a pipe holds.
    session.write("a.words", &format!("def one\n{}", "more ".repeat(400_000)));
    check(
        "deaf still",
        &impatient(&session, 1500).await,
        Err("deadline"),
    );
    assert_eq!(session.supervisor.reload(None).await, 1);
    check("another life", &session.hover().await, Ok(KNOWN));
    session.end().await;
}

#[tokio::test]
async fn a_server_that_does_not_end_is_ended() {
    let refused = json!({ "error": { "code": -32603, "message": "never" } });
    for script in [
        json!({ "answers": { "shutdown": refused } }),
        json!({ "never": ["shutdown"] }),
        json!({ "on": { "shutdown": ["die"] } }),
        json!({ "on": { "shutdown": ["deafen"] } }),
        json!({ "stubborn": true }),
        json!({ "stubborn": true, "never": ["shutdown"] }),
    ] {
        let session = Session::new(ONE, &script);
        check("it runs", &session.hover().await, Ok(KNOWN));
        let begun = Instant::now();
        assert_eq!(session.supervisor.reload(None).await, 1);
        session.check_gone();
        assert!(begun.elapsed() < Duration::from_secs(15), "{script}");
        session.end().await;
    }
}

#[tokio::test]
async fn a_server_is_killed_with_its_supervisor() {
    let session = Session::new(ONE, &json!({ "stubborn": true }));
    check("it runs", &session.hover().await, Ok(KNOWN));
    let Session {
        mark,
        supervisor,
        surface,
        tree,
    } = session;
    drop((supervisor, surface));
    mark.await_count(0, super::SOON);
    drop(tree);
}

#[tokio::test]
async fn a_death_is_told_at_once_to_who_waits_for_diagnostics() {
    let pulls = json!({ "diagnosticProvider": { "interFileDependencies": false, "workspaceDiagnostics": false } });
    for (proof, method) in [
        ("push", "textDocument/didOpen"),
        ("pull", "textDocument/diagnostic"),
    ] {
        let more = format!("diagnostics.proof = '{proof}'");
        let capabilities = if proof == "pull" { &pulls } else { &json!({}) };
        let deadly = json!({ "capabilities": capabilities, "on": { method: [{ "mourn": "boom" }, { "exit": 9 }] } });
        let alive = json!({ "capabilities": capabilities });
        let script = json!([deadly, deadly, alive]);
        let session = Session::with(ONE, &more, &[("scripted", &script)]);
        let begun = Instant::now();
        check("twice dead", &session.diagnostics().await, Err("boom"));
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{:?}",
            begun.elapsed()
        );
        check(
            "alive",
            &session.diagnostics().await,
            Ok("no errors and no warnings"),
        );
        session.end().await;
    }
}

#[tokio::test]
async fn a_death_at_work_is_told_at_once() {
    let begin = json!({ "send": { "method": "$/progress", "params": { "token": 1, "value": { "kind": "begin", "title": "Indexing" } } } });
    let deadly =
        json!({ "on": { "initialized": [begin] }, "after": { "initialized": [{ "exit": 9 }] } });
    let script = json!([deadly, {}]);
    for ready in ["progress", "server-status"] {
        let more = format!("diagnostics.ready = '{ready}'");
        let session = Session::with(ONE, &more, &[("scripted", &script)]);
        let begun = Instant::now();
        let first = match ready {
            "progress" => session.hover().await,
            // The second one never says that it is at rest.
            _ => impatient(&session, 3000).await,
        };
        let expected = if ready == "progress" {
            Ok(KNOWN)
        } else {
            Err("deadline")
        };
        check(ready, &first, expected);
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{:?}",
            begun.elapsed()
        );
        session.end().await;
    }
}

#[tokio::test]
async fn what_is_not_proven_is_not_told_as_fine() {
    let publish = |version: Value, items: Value| {
        json!({ "send": { "method": "textDocument/publishDiagnostics", "params": {
            "uri": "${uri}", "version": version, "diagnostics": items,
        } } })
    };
    let item = |message: &str| json!([{ "message": message }]);
    let quiet = "textDocument/publishDiagnostics";
    let other = json!({ "send": { "method": "textDocument/publishDiagnostics", "params": {
        "uri": "${root}/b.words", "version": "${version}", "diagnostics": [{ "message": "other" }],
    } } });
    let many: Vec<Value> = (0..5000)
        .map(|at| json!({ "message": format!("{at} {}", "x".repeat(900)) }))
        .collect();
    let rows = [
        (
            "of another file",
            vec![other, publish(json!("${version}"), item("new"))],
            "a.words:1 error new",
        ),
        (
            "very many",
            vec![publish(json!("${version}"), json!(many))],
            "mend these first",
        ),
        (
            "twice",
            vec![
                publish(json!("${version}"), json!([])),
                publish(json!("${version}"), item("late")),
            ],
            "late",
        ),
        (
            "of an older version behind",
            vec![
                publish(json!("${version}"), item("new")),
                publish(json!(0), item("old")),
            ],
            "new",
        ),
        (
            "odd",
            vec![publish(
                json!("${version}"),
                json!([{ "message": "m", "severity": 99, "code": { "value": 7 }, "range": { "start": { "line": -1, "character": 1e300 } } }, 3, null]),
            )],
            "a.words:1 error m [7]",
        ),
    ];
    for (what, actions, expected) in rows {
        let script = json!({ "never": [quiet], "after": { "textDocument/didOpen": actions } });
        let session = Session::new(ONE, &script);
        check(what, &session.diagnostics().await, Ok(expected));
        session.end().await;
    }
}
