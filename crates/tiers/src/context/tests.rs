//! Tests of `context`.

use serde_json::json;

use super::*;
use crate::error::ErrorKind;

#[tokio::test]
async fn a_detached_context_reaches_nothing() {
    let context = CallContext::detached();
    assert_eq!(context.cap(), Tier::Read);
    assert!(context.lease().is_none() && context.deadline().is_none());
    assert!(context.conversation().is_none() && context.interrupted().is_none());
    context.progress("to nobody");
    assert!(!context.tools().is_wired());
    let error = context.tools().call("read", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
}

#[test]
fn interrupted_tells_the_token_from_the_deadline() {
    let cancel = CancellationToken::new();
    let context = CallContext::builder()
        .cancel(cancel.clone())
        .deadline(Instant::now())
        .build();
    assert_eq!(context.remaining(), Some(Duration::ZERO));
    assert_eq!(context.interrupted().unwrap().kind, ErrorKind::TimedOut);
    cancel.cancel();
    assert_eq!(context.interrupted().unwrap().kind, ErrorKind::Cancelled);
}

/// A harness's own registry, which answers with what it was told.
struct Registry;

#[async_trait]
impl Caller for Registry {
    async fn call(
        &self,
        name: &str,
        _arguments: Value,
        request: Request,
    ) -> Result<Output, ToolError> {
        assert!(
            request.caller().is_some(),
            "the next nested call comes here too"
        );
        Ok(Output::text(format!(
            "{name} {} {:?} {:?} {:?}",
            request.call(),
            request.conversation(),
            request.cap(),
            request.from_tool(),
        )))
    }
}

#[tokio::test]
async fn a_nested_request_inherits_from_its_parent() {
    let context = CallContext::builder()
        .call("7")
        .conversation("main")
        .cap(Tier::Write)
        .caller(Arc::new(Registry))
        .build();
    let output = context.tools().call("read", json!({})).await.unwrap();
    assert_eq!(
        output.to_text(),
        r#"read 7.1 Some("main") Some(Write) Some("7")"#
    );
    let output = context.tools().call("read", json!({})).await.unwrap();
    assert!(output.to_text().starts_with("read 7.2 "));

    let nested = context.nested();
    context.cancel().cancel();
    assert!(nested.cancel().is_cancelled());
    let error = context.tools().call("read", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
}

#[test]
fn cancelling_a_nested_call_leaves_its_parent_alone() {
    let context = CallContext::detached();
    context.nested().cancel().cancel();
    assert!(context.interrupted().is_none());
}

#[test]
fn a_cap_is_never_raised() {
    let request = Request::new("c").with_cap(Tier::Read).with_cap(Tier::Exec);
    assert_eq!(request.cap(), Some(Tier::Read));
}
