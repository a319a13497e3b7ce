//! Tests of `keys`.

use std::time::Duration;

use futures_util::poll;

use super::*;
use crate::error::ErrorKind;

fn request() -> Request {
    Request::new("c")
}

#[tokio::test]
async fn a_key_is_given_in_the_order_of_asking() {
    let scope = RunScope::new("r");
    let request = request();
    let first = scope.hold("k", "first", &request).await.unwrap();
    let mut second = Box::pin(scope.hold("k", "second", &request));
    let mut third = Box::pin(scope.hold("k", "third", &request));
    assert!(poll!(&mut second).is_pending());
    assert!(poll!(&mut third).is_pending());
    drop(first);
    // Handed over already: neither the third nor a newcomer gets it, although the second has not
    // run yet.
    assert_eq!(scope.holder("k").as_deref(), Some("second"));
    let mut newcomer = Box::pin(scope.hold("k", "newcomer", &request));
    assert!(poll!(&mut newcomer).is_pending());
    assert!(poll!(&mut third).is_pending());
    let lease = second.await.unwrap();
    drop(lease);
    drop(third.await.unwrap());
    drop(newcomer.await.unwrap());
    assert_eq!(scope.holder("k"), None);
}

#[tokio::test]
async fn a_waiter_that_goes_away_leaves_no_trace() {
    let scope = RunScope::new("r");
    let request = request();
    let first = scope.hold("k", "first", &request).await.unwrap();
    let mut queued = Box::pin(scope.hold("k", "queued", &request));
    let mut granted = Box::pin(scope.hold("k", "granted", &request));
    assert!(poll!(&mut queued).is_pending());
    assert!(poll!(&mut granted).is_pending());
    drop(queued);
    drop(first);
    assert_eq!(scope.holder("k").as_deref(), Some("granted"));
    drop(granted);
    assert_eq!(scope.holder("k"), None);
}

#[tokio::test]
async fn a_wait_ends_with_the_token() {
    let scope = RunScope::new("r");
    let lease = scope.hold("k", "first", &request()).await.unwrap();
    let cancel = CancellationToken::new();
    let request = request().with_cancel(cancel.clone());
    let mut wait = Box::pin(scope.hold("k", "second", &request));
    assert!(poll!(&mut wait).is_pending());
    cancel.cancel();
    assert_eq!(wait.await.unwrap_err().kind, ErrorKind::Cancelled);
    assert_eq!(scope.waiting("k"), 0);
    drop(lease);
}

#[tokio::test]
async fn a_wait_ends_at_the_deadline_without_anybody_polling() {
    let scope = RunScope::new("r");
    let lease = scope.hold("k", "first", &request()).await.unwrap();
    let request = request().with_deadline(Instant::now() + Duration::from_millis(10));
    let error = scope.hold("k", "second", &request).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert_eq!(scope.waiting("k"), 0);
    drop(lease);
}

#[tokio::test]
async fn a_key_is_free_when_the_last_clone_is_gone() {
    let scope = RunScope::new("r");
    let lease = scope.hold("k", "first", &request()).await.unwrap();
    let clone = lease.clone();
    drop(lease);
    assert_eq!(scope.holder("k").as_deref(), Some("first"));
    std::thread::spawn(move || drop(clone)).join().unwrap();
    assert_eq!(scope.holder("k"), None);
}

#[tokio::test]
async fn keys_and_runs_are_apart() {
    let scope = RunScope::new("r");
    let other = RunScope::new("r");
    let _first = scope.hold("k", "first", &request()).await.unwrap();
    let _second = scope.hold("l", "second", &request()).await.unwrap();
    let _third = other.hold("k", "third", &request()).await.unwrap();
}

fn hold<'a>(
    scope: &'a RunScope,
    key: &'a str,
    link: &Arc<Link>,
    cancel: &'a CancellationToken,
) -> impl Future<Output = Result<Lease, ToolError>> + 'a {
    scope.hold_as(key, link.clone(), cancel, None)
}

#[tokio::test]
async fn a_key_that_an_ancestor_holds_is_refused() {
    let scope = RunScope::new("r");
    let cancel = CancellationToken::new();
    let eval = Link::new("eval", None);
    let read = Link::new("read", Some(eval.clone()));
    let again = Link::new("eval", Some(read));
    let _lease = hold(&scope, "kernel", &eval, &cancel).await.unwrap();
    let error = hold(&scope, "kernel", &again, &cancel).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(
        error.message.contains("wait for itself"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_circle_over_two_keys_is_refused() {
    let scope = RunScope::new("r");
    let cancel = CancellationToken::new();
    let (a, b) = (Link::new("a", None), Link::new("b", None));
    let (in_a, in_b) = (
        Link::new("x", Some(a.clone())),
        Link::new("y", Some(b.clone())),
    );
    let lease_a = hold(&scope, "a", &a, &cancel).await.unwrap();
    let lease_b = hold(&scope, "b", &b, &cancel).await.unwrap();
    let mut waits = Box::pin(hold(&scope, "b", &in_a, &cancel));
    assert!(poll!(&mut waits).is_pending());
    assert_eq!(
        hold(&scope, "a", &in_b, &cancel).await.unwrap_err().kind,
        ErrorKind::Refused
    );
    // A call that is part of neither may wait for either.
    let stranger = Link::new("z", None);
    let mut stranger = Box::pin(hold(&scope, "a", &stranger, &cancel));
    assert!(poll!(&mut stranger).is_pending());
    drop(lease_b);
    drop(waits.await.unwrap());
    drop(lease_a);
    drop(stranger.await.unwrap());
}

#[tokio::test]
async fn siblings_wait_for_each_other() {
    let scope = RunScope::new("r");
    let cancel = CancellationToken::new();
    let cell = Link::new("eval", None);
    let (one, two) = (
        Link::new("edit", Some(cell.clone())),
        Link::new("edit", Some(cell)),
    );
    let lease = hold(&scope, "workspace", &one, &cancel).await.unwrap();
    let mut wait = Box::pin(hold(&scope, "workspace", &two, &cancel));
    assert!(poll!(&mut wait).is_pending());
    drop(lease);
    drop(wait.await.unwrap());
}
