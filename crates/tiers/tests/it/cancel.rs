//! The token and a dropped future leave the same state behind.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::poll;
use serde_json::json;
use terret_tiers::{
    CallContext, CancellationToken, ErrorKind, Output, Request, Tier, Tool, ToolError, WORKSPACE,
    Waits,
};

use crate::toys::{self, Log, kind, spec, toy};

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Token,
    Drop,
}

/// Logs whether it was dropped with the token fired.
struct Guard(Log, CallContext);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.add(format!(
            "undone, cancelled: {}",
            self.1.cancel().is_cancelled()
        ));
    }
}

/// Waits for ever, for a human say, and undoes what it did.
fn waits(log: &Log) -> Arc<dyn Tool> {
    let log = log.clone();
    toy(
        spec("wait", Tier::Read).exclusive("k").waits(Waits::Human),
        move |_, context| {
            let guard = Guard(log.clone(), context.clone());
            async move {
                let _guard = guard;
                context.cancel().cancelled().await;
                Err(ToolError::cancelled("the card was withdrawn"))
            }
        },
    )
}

#[tokio::test]
async fn both_ways_end_a_running_call_with_the_same_state() {
    for how in [How::Token, How::Drop] {
        let log = Log::default();
        let surface = toys::surface([waits(&log)]);
        let cancel = CancellationToken::new();
        let request = Request::new("1").with_cancel(cancel.clone());
        let mut call = Box::pin(surface.call("wait", json!({}), request));
        assert!(poll!(&mut call).is_pending());
        match how {
            How::Token => {
                cancel.cancel();
                assert_eq!(kind(call.await), ErrorKind::Cancelled);
            }
            How::Drop => drop(call),
        }
        assert_eq!(log.entries(), ["undone, cancelled: true"], "{how:?}");
        assert_eq!(
            cancel.is_cancelled(),
            how == How::Token,
            "the host's token is its own"
        );
        drop(
            surface
                .run()
                .hold("k", "test", &Request::new("t"))
                .await
                .unwrap(),
        );
    }
}

#[tokio::test]
async fn the_key_is_free_only_when_the_resource_is_quiet() {
    for how in [How::Token, How::Drop] {
        let (quiet, wait) = mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(Some(wait)));
        let (saw, seen) = mpsc::channel();
        let tool = toy(
            spec("work", Tier::Read).exclusive(WORKSPACE),
            move |_, context| {
                let (wait, saw) = (wait.clone(), saw.clone());
                async move {
                    let lease = context.lease();
                    let Some(wait) = wait.lock().unwrap().take() else {
                        return Ok(Output::new());
                    };
                    let cancel = context.cancel().clone();
                    thread::spawn(move || {
                        let _lease = lease;
                        // Returns when the test says that the resource is quiet.
                        let _ = wait.recv();
                        let _ = saw.send(cancel.is_cancelled());
                    });
                    context.cancel().cancelled().await;
                    Err(ToolError::cancelled("interrupting"))
                }
            },
        );
        let surface = toys::surface([tool]);
        let cancel = CancellationToken::new();
        let request = Request::new("1").with_cancel(cancel.clone());
        let mut call = Box::pin(surface.call("work", json!({}), request));
        assert!(poll!(&mut call).is_pending());
        match how {
            How::Token => {
                cancel.cancel();
                assert_eq!(kind(call.await), ErrorKind::Cancelled);
            }
            How::Drop => drop(call),
        }
        let mut next = Box::pin(surface.call("work", json!({}), Request::new("2")));
        assert!(
            poll!(&mut next).is_pending(),
            "{how:?}: the thread still works"
        );
        quiet.send(()).unwrap();
        assert!(next.await.is_ok());
        assert!(seen.recv().unwrap(), "{how:?}: the thread was told");
    }
}

#[tokio::test]
async fn a_wait_for_the_key_ends_both_ways_and_at_the_deadline() {
    let log = Log::default();
    let surface = toys::surface([waits(&log)]);
    let lease = surface
        .run()
        .hold("k", "test", &Request::new("t"))
        .await
        .unwrap();

    let cancel = CancellationToken::new();
    let request = Request::new("1").with_cancel(cancel.clone());
    let mut by_token = Box::pin(surface.call("wait", json!({}), request));
    let mut by_drop = Box::pin(surface.call("wait", json!({}), Request::new("2")));
    assert!(poll!(&mut by_token).is_pending() && poll!(&mut by_drop).is_pending());
    cancel.cancel();
    drop(by_drop);
    assert_eq!(kind(by_token.await), ErrorKind::Cancelled);

    let deadline = Instant::now() + Duration::from_millis(10);
    let request = Request::new("3").with_deadline(deadline);
    assert_eq!(
        kind(surface.call("wait", json!({}), request).await),
        ErrorKind::TimedOut
    );

    drop(lease);
    drop(
        surface
            .run()
            .hold("k", "test", &Request::new("t"))
            .await
            .unwrap(),
    );
    assert!(log.entries().is_empty(), "the tool never ran");
}

#[tokio::test]
async fn a_call_that_is_cancelled_or_late_from_the_start_does_not_run() {
    let log = Log::default();
    let surface = toys::surface([toys::echo("e", Tier::Read, &log)]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let request = Request::new("1").with_cancel(cancel);
    assert_eq!(
        kind(surface.call("e", json!({}), request).await),
        ErrorKind::Cancelled
    );
    let request = Request::new("2").with_deadline(Instant::now());
    assert_eq!(
        kind(surface.call("e", json!({}), request).await),
        ErrorKind::TimedOut
    );
    assert!(log.entries().is_empty());
}

#[tokio::test]
async fn dropping_the_outer_call_stops_the_inner_one() {
    let log = Log::default();
    let outer = toy(spec("outer", Tier::Read), |_, context| async move {
        context.tools().call("wait", json!({})).await
    });
    let surface = toys::surface([waits(&log), outer]);
    let mut call = Box::pin(surface.call("outer", json!({}), Request::new("1")));
    assert!(poll!(&mut call).is_pending());
    drop(call);
    assert_eq!(log.entries(), ["undone, cancelled: true"]);
    drop(
        surface
            .run()
            .hold("k", "test", &Request::new("t"))
            .await
            .unwrap(),
    );
}

#[tokio::test]
async fn a_panic_tells_what_was_left_running() {
    let (told, listen) = tokio::sync::oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    let surface = toys::surface([toy(spec("p", Tier::Read), move |_, context| {
        let told = told.lock().unwrap().take().unwrap();
        let cancel = context.cancel().clone();
        tokio::spawn(async move {
            cancel.cancelled().await;
            let _ = told.send(());
        });
        async { panic!("gone") }
    })]);
    let outcome = surface.call("p", json!({}), Request::new("1")).await;
    assert_eq!(kind(outcome), ErrorKind::Failed);
    listen.await.unwrap();
}
