//! What the peer says by itself.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use terret_wire::{
    Closed, Failure, Handler, INVALID_PARAMS, Malformed, Notification, Request, Responder,
};
use tokio::sync::mpsc;

use crate::{SOON, pair, request, text, wait_for};

/// Notes what comes, a line each, and answers by the method.
#[derive(Clone, Default)]
struct Noted {
    lines: Arc<Mutex<Vec<String>>>,
    later: Option<mpsc::UnboundedSender<Responder>>,
}

impl Noted {
    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    fn note(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }
}

impl Handler for Noted {
    fn request(&mut self, request: Request) {
        self.note(format!(
            "{} {} {}",
            request.id().as_str(),
            request.method(),
            request.params().as_str()
        ));
        match (request.method(), &self.later) {
            ("echo", _) => {
                let params = request.params().clone();
                request.responder().answer(&params);
            }
            ("bad", _) => request
                .responder()
                .fail(Failure::new(INVALID_PARAMS, "not these")),
            ("later", Some(later)) => later.send(request.responder()).unwrap(),
            ("panic", _) => panic!("as it was told"),
            _ => {}
        }
    }

    fn notification(&mut self, notification: Notification) {
        self.note(format!(
            "{} {}",
            notification.method,
            notification.params.as_str()
        ));
    }

    fn malformed(&mut self, malformed: &Malformed) {
        self.note(format!("malformed: {}", malformed.why));
    }

    fn closed(&mut self, why: &Closed) {
        self.note(format!("closed: {why}"));
    }
}

#[tokio::test]
async fn every_request_is_answered() {
    let noted = Noted::default();
    let (_peer, mut other) = pair(noted.clone());
    for (id, method, params, expected) in [
        (
            json!(1),
            "echo",
            json!({ "a": [1, null] }),
            json!({ "result": { "a": [1, null] } }),
        ),
        (json!("x-1"), "echo", json!(null), json!({ "result": null })),
        (
            json!(-3),
            "bad",
            json!([]),
            json!({ "error": { "code": -32602, "message": "not these" } }),
        ),
        (
            json!(1),
            "dropped",
            json!([]),
            json!({ "error": { "code": -32603, "message": "`dropped` was not answered" } }),
        ),
    ] {
        other.send(&request(id.clone(), method, params)).await;
        let answer = other.receive().await;
        assert_eq!(answer["id"], id);
        for field in ["result", "error"] {
            assert_eq!(answer.get(field), expected.get(field), "{method}");
        }
    }
    assert_eq!(noted.lines()[0], r#"1 echo {"a":[1,null]}"#);
}

#[tokio::test]
async fn what_has_a_method_is_theirs_whatever_its_id() {
    let noted = Noted::default();
    let (peer, mut other) = pair(noted.clone());
    let call = peer.request("ours", &(), SOON);
    let ours = other.receive().await;
    // Their request has the number of ours.
    other
        .send(&request(ours["id"].clone(), "echo", json!("theirs")))
        .await;
    assert_eq!(other.receive().await["result"], "theirs");
    other.answer(&ours, json!("answered")).await;
    assert_eq!(text(call.await), "\"answered\"");
    assert_eq!(noted.lines(), [r#"1 echo "theirs""#]);
}

#[tokio::test]
async fn one_that_is_answered_later_holds_nobody() {
    let (send, mut later) = mpsc::unbounded_channel();
    let noted = Noted {
        later: Some(send),
        ..Noted::default()
    };
    let (_peer, mut other) = pair(noted);
    for id in ["a", "b", "c"] {
        other.send(&request(id, "later", json!(null))).await;
    }
    other.send(&request("d", "echo", json!(1))).await;
    assert_eq!(other.receive().await["id"], "d");
    let (a, b, c) = (
        later.recv().await.unwrap(),
        later.recv().await.unwrap(),
        later.recv().await.unwrap(),
    );
    c.answer(&3);
    drop(b);
    a.answer(&1);
    let answers = [
        other.receive().await,
        other.receive().await,
        other.receive().await,
    ];
    let ids: Vec<&str> = answers
        .iter()
        .map(|answer| answer["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["c", "b", "a"]);
    assert_eq!(answers[1]["error"]["code"], -32603);
}

#[tokio::test]
async fn a_burst_is_answered_while_calls_go_on() {
    let noted = Noted::default();
    let (peer, mut other) = pair(noted.clone());
    let call = peer.request("ours", &(), SOON);
    let ours = other.receive().await;
    for id in 0..200 {
        other.send(&request(id, "echo", json!(id))).await;
        other.send(&json!({ "method": "log", "params": id })).await;
    }
    other.answer(&ours, json!("after the burst")).await;
    assert_eq!(text(call.await), "\"after the burst\"");
    for id in 0..200 {
        assert_eq!(
            other.receive().await,
            json!({ "jsonrpc": "2.0", "id": id, "result": id })
        );
    }
    assert_eq!(noted.lines().len(), 400);
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_connection_goes_on() {
    let noted = Noted::default();
    let (peer, mut other) = pair(noted.clone());
    let frame = |body: &[u8]| {
        [
            format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(),
            body,
        ]
        .concat()
    };
    for (body, code) in [
        (&b"{bad"[..], -32700),
        (b"", -32700),
        (b"\xff\xfe", -32700),
        (b"{\"method\":\"\xff\"}", -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (b"{\"id\":1,\"method\":{}}", -32600),
        (b"null", -32600),
    ] {
        other.send_bytes(&frame(body)).await;
        let answer = other.receive().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(code)),
            "{}",
            body.escape_ascii()
        );
    }
    other.send(&request(1, "echo", json!("still here"))).await;
    assert_eq!(other.receive().await["result"], "still here");
    let status = peer.status();
    assert_eq!(status.malformed, 8);
    assert_eq!(
        status.last_malformed.unwrap().why,
        "no JSON-RPC message, at line 1 column 4"
    );
}

#[tokio::test]
async fn a_handler_that_panics_fails_all_calls() {
    let (peer, mut other) = pair(Noted::default());
    let call = peer.request("ours", &(), SOON);
    other.receive().await;
    other.send(&request(1, "panic", json!(null))).await;
    assert_eq!(
        text(call.await),
        "error: `ours` has no answer: whoever served the connection has gone"
    );
    assert!(matches!(peer.closed().await, Closed::Abandoned));
}

#[tokio::test]
async fn a_handler_hears_of_the_end_after_all_else() {
    let noted = Noted::default();
    let (_peer, mut other) = pair(noted.clone());
    other.send(&json!({ "method": "last" })).await;
    drop(other);
    wait_for("it has heard", || noted.lines().len() == 2).await;
    assert_eq!(
        noted.lines(),
        ["last null", "closed: the peer has closed the connection"]
    );
}
