//! What waits is bounded.

use serde_json::json;
use terret_testkit::{Format, Scripted};
use terret_wire::{Bounds, Closed, ErrorKind, Handler, Request};

use crate::{SOON, dialect, options, pair, request, start, wait_for};

#[tokio::test]
async fn a_full_queue_is_an_error_and_not_a_wait() {
    let (mut other, stream) = Scripted::with_room(Format::ContentLength, 16);
    let peer = start(stream, dialect(), (), options().queue(3));
    peer.notify("in the pipe", &()).unwrap();
    wait_for("the writer has it", || peer.status().queued_bytes == 0).await;
    for number in 0..3 {
        peer.notify("queued", &number).unwrap();
    }
    let error = peer.notify("too many", &()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`too many` was not sent: the peer is slow to read, and too much waits for it; try again later"
    );
    let error = peer.request("too many", &(), SOON).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::QueueFull));
    // The peer reads on, and there is room again.
    for _ in 0..4 {
        other.receive().await;
    }
    peer.notify("more", &()).unwrap();
    assert_eq!(other.receive().await["method"], "more");
}

#[tokio::test]
async fn bytes_are_bounded_but_one_message_always_fits() {
    let (mut other, stream) = Scripted::with_room(Format::ContentLength, 16);
    let peer = start(stream, dialect(), (), options().queue_bytes(1000));
    let large = "x".repeat(5000);
    peer.notify("large", &large).unwrap();
    wait_for("the writer has it", || peer.status().queued_bytes == 0).await;
    peer.notify("larger", &(&large, &large)).unwrap();
    assert!(peer.status().queued_bytes > 10_000);
    let error = peer.notify("one more", &()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::QueueFull));
    assert_eq!(other.receive().await["params"], large);
    assert_eq!(other.receive().await["method"], "larger");
}

/// Answers with much.
struct Talkative;

impl Handler for Talkative {
    fn request(&mut self, request: Request) {
        request.responder().answer(&"x".repeat(1000));
    }
}

#[tokio::test]
async fn one_that_asks_and_does_not_read_is_given_up() {
    let (mut other, stream) = Scripted::with_room(Format::ContentLength, 64);
    let peer = start(stream, dialect(), Talkative, options().queue_bytes(20_000));
    // It asks until nobody listens any more, or for ever.
    let mut id = 0;
    while other.try_send(&request(id, "m", json!(null))).await {
        id += 1;
    }
    assert!((19..100).contains(&id), "{id}");
    assert!(matches!(peer.closed().await, Closed::Flooded));
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_it_before_it_is_read() {
    let (mut other, stream) = Scripted::in_memory(Format::ContentLength);
    let peer = start(
        stream,
        dialect(),
        (),
        options().bounds(Bounds::default().message(100)),
    );
    other.send_bytes(b"Content-Length: 101\r\n\r\n").await;
    assert_eq!(
        peer.closed().await.to_string(),
        "a message of 101 bytes was announced; 100 are allowed"
    );
}

#[tokio::test]
async fn large_messages_pass_both_ways() {
    let (peer, mut other) = pair(());
    let large = "é".repeat(2 << 20);
    let call = peer.request("large", &large, SOON);
    let request = other.receive().await;
    assert_eq!(request["params"], large);
    let answer = large.clone();
    let answering = tokio::spawn(async move {
        other.answer(&request, json!(answer)).await;
        other
    });
    assert_eq!(call.parse::<String>().await.unwrap(), large);
    answering.await.unwrap();
}
