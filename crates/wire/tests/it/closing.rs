//! However a connection ends, nobody waits on.

use std::time::Duration;

use serde_json::json;
use terret_testkit::{Format, Scripted};
use terret_wire::{Closed, ErrorKind, Framing, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::{SOON, dialect, options, pair, start, text};

#[tokio::test]
async fn all_calls_fail_at_once_with_the_cause() {
    for (bytes, cause) in [
        (&b""[..], "the peer has closed the connection"),
        (
            b"Content-Length: 10\r\n\r\n{\"id\"",
            "the stream ended in the middle of a message",
        ),
        (b"Content-Le", "the peer has closed the connection"),
        (
            b"panic: out of memory\n",
            "the peer has closed the connection",
        ),
        (
            b"Content-Length: 999999999999\r\n\r\n",
            "a message of 999999999999 bytes was announced; 268435456 are allowed",
        ),
        (
            b"Content-Length: 2\r\n\r\n{}log line\n",
            "a header has no colon: `log line`",
        ),
    ] {
        let (peer, mut other) = pair(());
        let calls: Vec<_> = ["a", "b", "c"]
            .map(|method| peer.request(method, &(), SOON))
            .into();
        for _ in 0..3 {
            other.receive().await;
        }
        other.send_bytes(bytes).await;
        other.say_no_more().await;
        for (call, method) in calls.into_iter().zip(["a", "b", "c"]) {
            assert_eq!(
                text(call.await),
                format!("error: `{method}` has no answer: {cause}")
            );
        }
        assert_eq!(peer.closed().await.to_string(), cause);
        // And so do those that come later, with the same cause.
        assert_eq!(
            text(peer.request("d", &(), SOON).await),
            format!("error: `d` has no answer: {cause}")
        );
        assert_eq!(
            peer.notify("n", &()).unwrap_err().to_string(),
            format!("`n` has no answer: {cause}")
        );
        // The other side sees that nobody is there.
        while other.next().await.is_some() {}
    }
}

#[tokio::test]
async fn an_answer_before_the_end_is_still_an_answer() {
    let (peer, mut other) = pair(());
    let (answered, open) = (peer.request("a", &(), SOON), peer.request("b", &(), SOON));
    let request = other.receive().await;
    other.answer(&request, json!(1)).await;
    drop(other);
    assert_eq!(text(answered.await), "1");
    assert!(matches!(
        open.await.unwrap_err().kind(),
        ErrorKind::Closed(Closed::Ended)
    ));
}

#[tokio::test]
async fn what_came_before_the_first_message_is_in_the_status() {
    let (peer, mut other) = pair(());
    other.send_bytes(b"Error: no license found\n").await;
    drop(other);
    peer.closed().await;
    assert_eq!(peer.status().junk.text(), "Error: no license found");
}

#[tokio::test]
async fn a_peer_that_cannot_be_written_to_is_no_peer() {
    let (ours, theirs) = tokio::io::duplex(64);
    let (reader, _keeps_it_open) = tokio::io::duplex(64);
    let (_, writer) = tokio::io::split(ours);
    drop(theirs);
    let peer = terret_wire::Peer::start(reader, writer, dialect(), (), options());
    let error = peer.request("m", &(), SOON).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Closed(Closed::Write(_))),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_stops_reading_is_given_up() {
    let (_other, stream) = Scripted::with_room(Format::ContentLength, 1024);
    let peer = start(
        stream,
        dialect(),
        (),
        options().stall(Duration::from_secs(7)),
    );
    let call = peer.request("m", &"x".repeat(100_000), SOON * 1000);
    let error = call.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`m` has no answer: the peer has read nothing for 7.0s"
    );
}

#[tokio::test(start_paused = true)]
async fn one_that_reads_slowly_is_not() {
    let (ours, mut theirs) = tokio::io::duplex(100);
    let peer = start(ours, dialect(), (), options().stall(Duration::from_secs(7)));
    peer.notify("m", &"x".repeat(1000)).unwrap();
    // In all it takes a minute, and never a whole 7 seconds for a byte.
    let mut read = 0;
    let mut buffer = [0; 100];
    while read < 1000 {
        tokio::time::sleep(Duration::from_secs(6)).await;
        read += theirs.read(&mut buffer).await.unwrap();
    }
    assert!(peer.status().closed.is_none());
}

#[tokio::test]
async fn finishing_sends_all_and_then_ends_what_the_peer_reads() {
    let (peer, mut other) = pair(());
    let call = peer.request("shutdown", &(), SOON);
    for number in 0..50 {
        peer.notify("n", &number).unwrap();
    }
    peer.notify("exit", &()).unwrap();
    let finishing = tokio::spawn({
        let peer = peer.clone();
        async move { peer.finish().await }
    });
    let shutdown = other.receive().await;
    for _ in 0..50 {
        assert_eq!(other.receive().await["method"], "n");
    }
    assert_eq!(other.receive().await["method"], "exit");
    assert_eq!(other.next().await, None);
    timeout(SOON, finishing).await.unwrap().unwrap();
    // What the peer says until its end still counts.
    assert!(matches!(
        peer.notify("late", &()).unwrap_err().kind(),
        ErrorKind::Closed(Closed::ByUs)
    ));
    assert!(peer.status().closed.is_none());
    other.answer(&shutdown, json!(null)).await;
    assert_eq!(text(call.await), "null");
    other.say_no_more().await;
    assert!(matches!(peer.closed().await, Closed::Ended));
    peer.finish().await;
}

#[tokio::test]
async fn closing_and_dropping_let_go_of_both_streams() {
    for drops in [false, true] {
        let (peer, mut other) = pair(());
        let call = peer.request("m", &(), SOON);
        other.receive().await;
        let clone = peer.clone();
        drop(peer);
        assert!(clone.status().closed.is_none(), "a clone keeps it open");
        match drops {
            true => drop(clone),
            false => clone.close(),
        }
        assert_eq!(
            text(call.await),
            "error: `m` has no answer: the connection was closed"
        );
        assert_eq!(other.next().await, None);
    }
}

#[test]
fn with_its_runtime_a_connection_ends() {
    let build = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let (first, second) = (build(), build());
    let (peer, _other) = first.block_on(async { pair(()) });
    let call = {
        let _entered = second.enter();
        peer.request("m", &(), SOON)
    };
    drop(first);
    let outcome = second.block_on(async { timeout(SOON, call).await.unwrap() });
    assert_eq!(
        text(outcome),
        "error: `m` has no answer: whoever served the connection has gone"
    );
}

#[tokio::test]
async fn lines_end_like_frames_do() {
    for (bytes, cause) in [
        (
            &b"{\"id\":1,"[..],
            "the stream ended in the middle of a message",
        ),
        (b"{\"id\":77}\n  \n", "the peer has closed the connection"),
        (
            b"{\"id\":77}\nTraceback (most recent call last):",
            "the stream ended in the middle of a message",
        ),
    ] {
        let (mut other, stream) = Scripted::in_memory(Format::Lines);
        let peer = start(stream, dialect(), (), Options::new(Framing::Lines));
        let call = peer.request("m", &(), SOON);
        assert_eq!(other.receive().await["method"], "m");
        other.send_bytes(bytes).await;
        other.say_no_more().await;
        assert_eq!(
            text(call.await),
            format!("error: `m` has no answer: {cause}")
        );
    }
}

#[tokio::test]
async fn killed_at_a_thousand_moments_no_call_hangs() {
    let answer = b"Content-Length: 24\r\n\r\n{\"id\":1,\"result\":\"done\"}";
    for moment in 0..1000 {
        let (peer, mut other) = pair(());
        let call = peer.request("m", &(), SOON);
        let cut = moment % (answer.len() + 1);
        if moment % 3 == 0 {
            other.receive().await;
        }
        other.send_bytes(&answer[..cut]).await;
        drop(other);
        let outcome = text(timeout(SOON, call).await.unwrap());
        match cut == answer.len() {
            true => assert!(
                outcome == "\"done\"" || outcome.contains("reads no more"),
                "{outcome}"
            ),
            false => assert!(
                outcome.starts_with("error: `m` has no answer: "),
                "{outcome}"
            ),
        }
    }
}

#[tokio::test]
async fn a_stream_may_fail_to_end() {
    struct Stubborn;
    impl tokio::io::AsyncWrite for Stubborn {
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            bytes: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            std::task::Poll::Ready(Ok(bytes.len()))
        }
        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn poll_shutdown(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Pending
        }
    }
    let (reader, mut theirs) = tokio::io::duplex(64);
    let short = Duration::from_millis(10);
    let peer = terret_wire::Peer::start(reader, Stubborn, dialect(), (), options().stall(short));
    timeout(SOON, peer.finish()).await.unwrap();
    theirs.shutdown().await.unwrap();
    peer.closed().await;
}
