//! Requests and their answers.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use serde_json::json;
use terret_wire::{ErrorKind, JsonRpc};
use tokio::time::timeout;

use crate::{SOON, options, pair, request, start, text, wait_for};

#[tokio::test]
async fn answers_find_their_callers_in_any_order() {
    let (peer, mut other) = pair(());
    let first = peer.request("a", &json!({ "x": 1 }), SOON);
    let second = peer.request("b", &(), SOON);
    peer.notify("n", &[1, 2]).unwrap();
    let third = peer.request("c", &(), SOON);
    let (a, b, n, c) = (
        other.receive().await,
        other.receive().await,
        other.receive().await,
        other.receive().await,
    );
    assert_eq!(a, request(1, "a", json!({ "x": 1 })));
    assert_eq!(b, json!({ "jsonrpc": "2.0", "id": 2, "method": "b" }));
    assert_eq!(
        n,
        json!({ "jsonrpc": "2.0", "method": "n", "params": [1, 2] })
    );
    assert_eq!(c["id"], 4);
    other.answer(&c, json!("for c")).await;
    other.answer(&a, json!("for a")).await;
    other.send(&json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": -32601, "message": "no b here" } })).await;
    assert_eq!(text(third.await), "\"for c\"");
    let failed = second.await.unwrap_err();
    assert!(matches!(failed.kind(), ErrorKind::Failed(failure) if failure.code == -32601));
    assert_eq!(failed.to_string(), "`b` failed: no b here");
    assert_eq!(first.parse::<String>().await.unwrap(), "for a");
    assert_eq!(peer.status().in_flight, 0);
}

#[tokio::test]
async fn requests_leave_in_the_order_of_the_calls() {
    let (peer, mut other) = pair(());
    let calls: Vec<_> = (0..500)
        .map(|number| peer.request("m", &number, SOON))
        .collect();
    for number in 0..500 {
        let request = other.receive().await;
        assert_eq!(request["params"], number);
        other.answer(&request, json!(number * 2)).await;
    }
    // Not one of the calls was polled before.
    for (number, call) in (0..).zip(calls) {
        assert_eq!(call.parse::<i32>().await.unwrap(), number * 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_ends_in_time_and_is_cancelled() {
    let (peer, mut other) = pair(());
    let call = peer.request("slow", &(), Duration::from_secs(20));
    assert_eq!(other.receive().await["id"], 1);
    let error = call.await.unwrap_err();
    assert_eq!(error.to_string(), "`slow` was not answered after 20.0s");
    assert_eq!(
        other.receive().await,
        json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 1 } })
    );
    // The late answer is nobody's, and the next one finds its caller.
    other.send(&json!({ "id": 1, "result": "late" })).await;
    let next = peer.request("next", &(), SOON);
    let request = other.receive().await;
    other.answer(&request, json!("in time")).await;
    assert_eq!(text(next.await), "\"in time\"");
    assert_eq!((peer.status().unclaimed, peer.status().in_flight), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn the_time_runs_from_the_call_whether_it_is_polled_or_not() {
    let (peer, _other) = pair(());
    let call = peer.request("m", &(), Duration::from_secs(5));
    tokio::time::advance(Duration::from_secs(6)).await;
    let mut call = pin!(call);
    let now = std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_ready()));
    assert!(now.await);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    let (peer, mut other) = pair(());
    let call = peer.request("m", &(), SOON);
    let request = other.receive().await;
    // As in a `select!` whose other branch was ready.
    let lost = timeout(Duration::from_millis(1), call).await;
    assert!(lost.is_err());
    let cancel = other.receive().await;
    assert_eq!(
        (&cancel["method"], &cancel["params"]["id"]),
        (&json!("$/cancelRequest"), &request["id"])
    );
    assert_eq!(peer.status().in_flight, 0);
}

#[tokio::test]
async fn one_that_has_not_left_does_not_leave() {
    let (scripted, stream) =
        terret_testkit::Scripted::with_room(terret_testkit::Format::ContentLength, 8);
    let (mut other, peer) = (scripted, start(stream, crate::dialect(), (), options()));
    peer.notify("fills-the-pipe", &()).unwrap();
    wait_for("the writer is at it", || peer.status().queued_bytes == 0).await;
    let dropped = peer.request("dropped", &(), SOON);
    drop(dropped);
    let kept = peer.request("kept", &(), SOON);
    assert_eq!(other.receive().await["method"], "fills-the-pipe");
    assert_eq!(other.receive().await["method"], "kept");
    drop(kept);
}

#[tokio::test]
async fn without_a_way_to_cancel_nothing_is_said() {
    let (mut other, stream) =
        terret_testkit::Scripted::in_memory(terret_testkit::Format::ContentLength);
    let peer = start(stream, JsonRpc::new(), (), options());
    let call = peer.request("m", &(), SOON);
    other.receive().await;
    drop(call);
    peer.finish().await;
    assert_eq!(other.next().await, None);
}

#[tokio::test]
async fn answers_that_nobody_waits_for_are_counted_and_no_more() {
    let (peer, mut other) = pair(());
    let call = peer.request("m", &(), SOON);
    let request = other.receive().await;
    for odd in [
        json!({ "id": 77, "result": 1 }),
        json!({ "id": "1", "result": 1 }),
        json!({ "id": null, "error": { "code": -32700, "message": "what?" } }),
        json!({ "id": 1.5, "result": 1 }),
    ] {
        other.send(&odd).await;
    }
    other.answer(&request, json!("first")).await;
    other.answer(&request, json!("second")).await;
    assert_eq!(text(call.await), "\"first\"");
    wait_for("all were seen", || peer.status().unclaimed == 5).await;
}

#[tokio::test]
async fn an_unexpected_result_is_told_without_its_content() {
    let (peer, mut other) = pair(());
    let call = peer.request("m", &(), SOON);
    let request = other.receive().await;
    other.answer(&request, json!({ "secret": 1 })).await;
    let error = call.parse::<Vec<u32>>().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`m` does not fit: unlike what was expected at line 1 column 0"
    );
    let no_json = std::collections::BTreeMap::from([((1, 2), 3)]);
    let error = peer.request("m", &no_json, SOON).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`m` does not fit: it has no form in JSON"
    );
    assert!(!format!("{:?}", peer.request("m", "secret", SOON)).contains("secret"));
}

#[test]
fn calls_and_peers_go_between_threads() {
    fn check<T: Send + 'static>() {}
    fn shared<T: Send + Sync + Clone + 'static>() {}
    check::<terret_wire::Call>();
    check::<terret_wire::Responder>();
    shared::<terret_wire::Peer>();
    shared::<terret_wire::Error>();
}
