//! What a run promises: tools by what is wired, and an end in order.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use terret::Run;
use terret::tiers::{
    AllowUpTo, CallContext, ErrorKind, Output, Tier, Tool, ToolError, ToolSpec, ToolsetErrorKind,
    WORKSPACE, async_trait,
};

/// A writer that is told to stop, takes its time, and leaves a mark when it is done.
struct Slow {
    spec: ToolSpec,
    marks: std::sync::mpsc::Sender<&'static str>,
}

#[async_trait]
impl Tool for Slow {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Value, context: &CallContext) -> Result<Output, ToolError> {
        self.marks.send("began").unwrap();
        context.cancel().cancelled().await;
        let (lease, marks) = (context.lease(), self.marks.clone());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            marks.send("written").unwrap();
            drop(lease);
        });
        Err(ToolError::cancelled("stopped"))
    }
}

fn slow() -> (Arc<dyn Tool>, std::sync::mpsc::Receiver<&'static str>) {
    let (marks, seen) = std::sync::mpsc::channel();
    let spec = ToolSpec::new("slow", Tier::Write, "Writes slowly.").exclusive(WORKSPACE);
    (Arc::new(Slow { spec, marks }), seen)
}

#[cfg(feature = "common-grammars")]
#[test]
fn parsers_bring_their_tools_and_their_tiers() {
    let run = Run::builder(".").build().unwrap();
    run.toolset().lint().unwrap();
    let read = run.surface(Tier::Read);
    assert_eq!(
        read.specs()
            .map(|spec| spec.name.as_str())
            .collect::<Vec<_>>(),
        ["ast_grep"]
    );
}

#[cfg(not(feature = "structural"))]
#[test]
fn without_a_resource_there_is_no_tool() {
    assert!(
        Run::builder(".")
            .build()
            .unwrap()
            .surface(Tier::Exec)
            .is_empty()
    );
}

#[cfg(feature = "structural")]
#[test]
fn without_a_grammar_there_is_no_structural_tool() {
    let options =
        terret::structural::Options::default().grammars(Arc::new(terret::grammars::NoGrammars));
    let run = Run::builder(".").structural(options).build().unwrap();
    assert!(run.surface(Tier::Exec).is_empty());
}

#[test]
fn a_name_is_taken_once() {
    let error = Run::builder(".")
        .tools([slow().0, slow().0])
        .build()
        .unwrap_err();
    assert_eq!(
        (error.name(), error.kind()),
        ("slow", ToolsetErrorKind::DuplicateName)
    );
}

#[test]
fn two_runs_share_nothing() {
    let run = || Run::builder(".").id("same").build().unwrap();
    let (one, two) = (run(), run());
    let request = one.request("1");
    drop(two);
    assert!(!request.cancel().is_cancelled());
    drop(one);
    assert!(request.cancel().is_cancelled());
}

#[tokio::test]
async fn shutdown_stops_calls_and_waits_for_what_is_being_written() {
    let (tool, marks) = slow();
    let run = Run::builder(".").tools([tool]).build().unwrap();
    let surface = run
        .surface(Tier::Write)
        .with_gate(Arc::new(AllowUpTo(Tier::Write)));
    let request = run.request("1");
    let call = tokio::spawn(async move { surface.call("slow", json!({}), request).await });
    while marks.try_recv().is_err() {
        tokio::task::yield_now().await;
    }
    run.shutdown().await;
    assert_eq!(marks.try_recv(), Ok("written"));
    assert_eq!(call.await.unwrap().unwrap_err().kind, ErrorKind::Cancelled);
}

#[test]
fn a_run_goes_where_the_harness_goes() {
    fn is_send<T: Send>(_: T) {}
    fn is_sync<T: Sync>() {}
    is_sync::<Run>();
    is_send(Run::builder(".").build().unwrap().shutdown());
}
