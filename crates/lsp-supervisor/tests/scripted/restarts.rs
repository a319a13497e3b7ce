//! A server that died is started again, not for ever, and as it was.

use std::time::Duration;

use serde_json::json;

use super::{KNOWN, ONE, Session, check, later};

const HOVER: &str = "textDocument/hover";

#[tokio::test]
async fn a_server_that_dies_again_and_again_stays_down_until_a_reload() {
    let life = |number: u32| json!({ "on": { HOVER: [{ "mourn": format!("boom {number}") }, { "exit": 3 }] } });
    let session = Session::new(
        ONE,
        &json!([life(1), life(2), life(3), life(4), life(5), {}]),
    );
    // Each question is asked twice.
    check("1 and 2", &session.hover().await, Err("boom 2"));
    check("3 and 4", &session.hover().await, Err("boom 4"));
    let stays = "it died 5 times in 3 minutes and stays down until `reload`";
    check("5", &session.hover().await, Err(stays));
    check("no more", &session.hover().await, Err("boom 5"));
    assert_eq!(session.log().starts().len(), 5);
    let status = session.status().await;
    assert!(
        status.contains("down") && status.contains("boom 5"),
        "{status}"
    );
    session.supervisor.reload(None).await;
    check("again", &session.hover().await, Ok(KNOWN));
    assert_eq!(session.log().starts().len(), 6);
    session.end().await;
}

#[tokio::test]
async fn it_knows_again_what_it_had_open() {
    let files = "//- /a.words\ndef one\n//- /b.words\ndef two\none\n//- /c.words\none\n";
    let script = json!([{ "on": { "textDocument/references": ["die"] } }, {}]);
    let session = Session::new(files, &script);
    check(
        "b",
        &session.ask_in("b.words", "hover", 1, "two").await,
        Ok("the word two"),
    );
    check(
        "c",
        &session.ask_in("c.words", "hover", 1, "one").await,
        Ok(KNOWN),
    );
    std::fs::remove_file(session.path("c.words")).unwrap();
    session.write("b.words", "def two\n\n\none\n");
    let answer = session.ask("references", 1, "one").await;
    assert_eq!(answer.unwrap(), "a.words:1: def one\nb.words:4: one");
    session.end().await;
}

#[tokio::test]
async fn all_who_want_it_wait_for_one_start() {
    let session = Session::new(ONE, &json!([{ "on": { HOVER: ["die"] } }, {}]));
    let all = || async {
        let asks = tokio::join!(
            session.hover(),
            session.hover(),
            session.hover(),
            session.hover()
        );
        [asks.0, asks.1, asks.2, asks.3]
    };
    for answer in all().await.into_iter().chain(all().await) {
        check("one of them", &answer, Ok(KNOWN));
    }
    assert_eq!(session.log().starts().len(), 2);
    session.end().await;
}

#[tokio::test]
async fn a_reload_ends_a_server_that_is_being_asked() {
    let session = Session::new(ONE, &json!([{ "never": [HOVER], "stubborn": true }, {}]));
    let log = session.log();
    let reload = async {
        log.until(|line| (line["got"]["method"] == HOVER).then_some(()))
            .await;
        session.supervisor.reload(None).await
    };
    let (answer, ended) = tokio::join!(session.hover(), reload);
    assert_eq!(ended, 1);
    check("asked again", &answer, Ok(KNOWN));
    assert_eq!(log.starts().len(), 2);
    session.end().await;
}

#[tokio::test]
async fn of_two_that_exclude_each_other_one_is_asked() {
    let files = "//- /a.words\ndef one\n//- /other.json\n{}\n";
    let session = Session::with(
        files,
        "unless = ['other.json']",
        &[("scripted", &json!({}))],
    );
    check(
        "excluded",
        &session.hover().await,
        Err("another server is for"),
    );
    assert_eq!(session.log().starts().len(), 0);
    session.end().await;
}

#[tokio::test]
async fn one_of_two_servers_is_enough() {
    let linter = json!({ "name": "first", "capabilities": { "definitionProvider": null, "hoverProvider": null } });
    let second = json!({ "name": "second" });
    let scripts = [("first", &linter), ("scripted", &second)];
    let session = Session::with("//- /a.words\ndef one\nwrong\n", "", &scripts);
    // The first one that can.
    check("hover", &session.hover().await, Ok(KNOWN));
    assert_eq!(session.log_of("first").got(HOVER).len(), 0);
    assert_eq!(session.log().got(HOVER).len(), 1);
    // What both say is said once.
    let told = session.diagnostics().await.unwrap();
    assert_eq!(told.matches("this is wrong").count(), 1, "{told}");
    session.end().await;

    let dead =
        json!({ "name": "first", "on": { "initialize": [{ "mourn": "no luck" }, { "exit": 1 }] } });
    let session = Session::with(
        "//- /a.words\ndef one\nwrong\n",
        "",
        &[("first", &dead), ("scripted", &second)],
    );
    check("hover", &session.hover().await, Ok(KNOWN));
    let told = session.diagnostics().await.unwrap();
    assert!(
        told.contains("this is wrong") && told.contains("no luck"),
        "{told}"
    );
    session.end().await;

    let scripts = [("first", &dead), ("scripted", &dead)];
    let session = Session::with(ONE, "", &scripts);
    check("none", &session.diagnostics().await, Err("no luck"));
    let symbols = json!({ "action": "symbols", "file": "a.words" });
    check("none", &session.call("lsp", symbols).await, Err("no luck"));
    session.mark.await_count(0, Duration::from_secs(60));
}

#[tokio::test]
async fn a_server_that_nobody_asks_is_ended() {
    let session = Session::new(ONE, &json!({}));
    let log = session.log();
    check("it runs", &session.hover().await, Ok(KNOWN));
    // A question begins the time anew.
    for _ in 0..3 {
        later(Duration::from_secs(15 * 60)).await;
        check("used", &session.hover().await, Ok(KNOWN));
    }
    assert_eq!((log.starts().len(), log.got("shutdown").len()), (1, 0));
    later(Duration::from_secs(21 * 60)).await;
    log.until(|line| (line["got"]["method"] == "exit").then_some(()))
        .await;
    check("again", &session.hover().await, Ok(KNOWN));
    assert_eq!(log.starts().len(), 2);
    session.end().await;
}

#[tokio::test]
async fn a_server_that_is_being_asked_is_not_idle() {
    let session = Session::new(ONE, &json!([{ "never": [HOVER] }, {}]));
    let log = session.log();
    check(
        "it runs",
        &session.ask("definition", 2, "one").await,
        Ok("a.words:1: def one"),
    );
    // The question is open when the time since the one before it is up.
    later(Duration::from_secs(20 * 60 - 8)).await;
    let time = async {
        log.until(|line| (line["got"]["method"] == HOVER).then_some(()))
            .await;
        later(Duration::from_secs(14)).await;
        check(
            "beside it",
            &session.ask("definition", 2, "one").await,
            Ok("a.words:1: def one"),
        );
        assert_eq!((log.starts().len(), log.got("shutdown").len()), (1, 0));
        session.supervisor.reload(None).await
    };
    let (answer, ended) = tokio::join!(session.hover(), time);
    assert_eq!(ended, 1);
    check("asked again", &answer, Ok(KNOWN));
    session.end().await;
}
