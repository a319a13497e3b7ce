//! The order of things around a call, and what is made of its errors.

use std::sync::Arc;

use serde_json::{Value, json};
use terret_tiers::{
    CallContext, CancellationToken, Decision, ErrorKind, Gate, GateRequest, Output, Request, Tier,
    Tool, ToolError, ToolSpec, Toolset, WORKSPACE, async_trait, progress,
};

use crate::toys::{self, Log, Outcome, call, echo, kind, spec, toy};

/// Logs every step; `fail_at` is the one that fails.
struct Steps {
    spec: ToolSpec,
    log: Log,
    fail_at: &'static str,
}

impl Steps {
    fn step(&self, step: &'static str) -> Result<(), ToolError> {
        self.log.add(step);
        match self.fail_at {
            at if at == step => Err(ToolError::failed(step)),
            at if at.strip_prefix("panic ") == Some(step) => panic!("no {step}"),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Tool for Steps {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn validate(&self, arguments: Value) -> Result<Value, ToolError> {
        self.step("validate")?;
        Ok(json!({ "normal": arguments }))
    }

    fn summary(&self, arguments: &Value) -> String {
        assert_eq!(arguments, &json!({ "normal": { "a": 1 } }));
        let _ = self.step("summary");
        "does it".to_owned()
    }

    async fn recheck(&self, arguments: &Value, context: &CallContext) -> Result<(), ToolError> {
        assert_eq!(arguments, &json!({ "normal": { "a": 1 } }));
        assert_eq!(context.lease().unwrap().key(), WORKSPACE);
        self.step("recheck")
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Outcome {
        assert_eq!(
            arguments,
            json!({ "normal": { "a": 1 } }),
            "what was approved is what runs"
        );
        assert_eq!((context.call(), context.run()), ("c", "run"));
        self.step("call")?;
        Ok(Output::text("done"))
    }
}

struct Logs(Log);

#[async_trait]
impl Gate for Logs {
    async fn ask(&self, request: &GateRequest, _: &CancellationToken) -> Decision {
        assert_eq!(request.arguments, json!({ "normal": { "a": 1 } }));
        assert_eq!(request.summary, "does it");
        self.0.add("gate");
        Decision::Allow
    }
}

async fn steps(fail_at: &'static str) -> (Outcome, Vec<String>) {
    let log = Log::default();
    let steps = Steps {
        spec: spec("steps", Tier::Write).exclusive(WORKSPACE),
        log: log.clone(),
        fail_at,
    };
    let toolset = Toolset::builder().tool(steps).build().unwrap();
    let surface = toolset
        .surface(Tier::Write)
        .with_gate(Arc::new(Logs(log.clone())));
    let outcome = surface
        .call("steps", json!({ "a": 1 }), Request::new("c"))
        .await;
    // Whatever happened, the key is free.
    let lease = surface
        .run()
        .hold(WORKSPACE, "test", &Request::new("t"))
        .await
        .unwrap();
    drop(lease);
    (outcome, log.entries())
}

#[tokio::test]
async fn validate_gate_key_recheck_call() {
    let (outcome, log) = steps("nowhere").await;
    assert_eq!(outcome.unwrap().to_text(), "done");
    assert_eq!(log, ["validate", "summary", "gate", "recheck", "call"]);
}

#[tokio::test]
async fn a_step_that_fails_is_the_last() {
    let table = [("validate", 1), ("recheck", 4), ("call", 5)];
    for (step, count) in table {
        let (outcome, log) = steps(step).await;
        assert_eq!(outcome.unwrap_err(), ToolError::failed(step));
        assert_eq!(log.len(), count, "{log:?}");
    }
}

#[tokio::test]
async fn a_panic_at_any_step_becomes_an_error_and_leaves_the_key_free() {
    let table = [
        "panic validate",
        "panic summary",
        "panic recheck",
        "panic call",
    ];
    for step in table {
        let (outcome, _) = steps(step).await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Failed);
        assert!(
            error.message.contains(&step.replace("panic", "no")),
            "{}",
            error.message
        );
    }
}

#[tokio::test]
async fn an_unknown_name_is_answered_from_the_surface_alone() {
    let log = Log::default();
    let surface = toys::surface([
        echo("ast_grep", Tier::Read, &log),
        echo("ast_edit", Tier::Write, &log),
        echo("lsp", Tier::Read, &log),
    ]);
    let error = call(&surface, "ast_edti").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(
        error.message,
        "there is no tool `ast_edti`; did you mean `ast_edit`? \
         The tools are `ast_edit`, `ast_grep`, `lsp`"
    );
    let error = call(&surface.cap(Tier::Read), "bash\u{1b}[2J")
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "there is no tool `bash␛[2J`. The tools are `ast_grep`, `lsp`"
    );
    let empty = toys::surface([]);
    let error = call(&empty, "x").await.unwrap_err();
    assert_eq!(
        error.message,
        "there is no tool `x`. There are no tools here"
    );
}

#[tokio::test]
async fn an_error_is_bounded_and_harmless_and_keeps_its_details() {
    let surface = toys::surface([toy(spec("t", Tier::Read), |_, _| async {
        let words = format!("\u{1b}[31mstderr\u{1b}[2J{}", "x".repeat(1_000_000));
        Err(ToolError::failed(words).with_details(json!({ "exit": 3 })))
    })]);
    let error = call(&surface, "t").await.unwrap_err();
    assert!(error.message.len() <= 16_000 && error.message.starts_with("stderr␛[2J"));
    assert_eq!(error.details, json!({ "exit": 3 }));
}

#[tokio::test]
async fn progress_goes_to_the_sink_of_the_request_with_the_id_of_the_call() {
    let inner = toy(spec("inner", Tier::Read), |_, context| async move {
        context.progress("inside");
        Ok(Output::new())
    });
    let outer = toy(spec("outer", Tier::Read), |_, context| async move {
        context.progress("outside");
        context.tools().call("inner", json!({})).await
    });
    let surface = toys::surface([inner, outer]);
    let (sink, mut receiver) = progress::channel(8);
    surface
        .call("outer", json!({}), Request::new("7").with_progress(sink))
        .await
        .unwrap();
    let mut told = Vec::new();
    while let Some(progress) = receiver.next().await {
        told.push((progress.call, progress.message));
    }
    assert_eq!(
        told,
        [
            ("7".into(), "outside".into()),
            ("7.1".into(), "inside".into())
        ]
    );
}

#[tokio::test]
async fn a_dead_resource_is_an_error_of_the_call_and_the_tool_stays() {
    let surface = toys::surface([toy(spec("lsp", Tier::Read), |_, _| async {
        Err(ToolError::unavailable("no server for this file"))
    })]);
    let before = surface.fingerprint();
    assert_eq!(kind(call(&surface, "lsp").await), ErrorKind::Unavailable);
    assert_eq!((surface.fingerprint(), surface.len()), (before, 1));
}

#[test]
fn everything_can_be_sent_and_shared() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    fn shared<T: Send + Sync + Clone>() {}
    shared::<CallContext>();
    shared::<terret_tiers::Surface>();
    shared::<Toolset>();
    shared::<terret_tiers::Tools>();
    shared::<terret_tiers::RunScope>();
    shared::<terret_tiers::Lease>();
    shared::<terret_tiers::Approval>();
    shared::<terret_tiers::wrapper::Writer>();

    let surface = toys::surface([]);
    let request = Request::new("c");
    drop(send(surface.call("x", json!({}), Request::new("c"))));
    drop(send(surface.run().hold("k", "x", &request)));
    let tools = CallContext::detached().tools();
    drop(send(tools.call("x", json!({}))));
    let (_sink, mut receiver) = progress::channel(1);
    drop(send(receiver.next()));
}

#[test]
fn the_fingerprint_is_of_what_a_model_sees() {
    let log = Log::default();
    let print = |spec: ToolSpec| {
        toys::surface([toy(spec, |_, _| async { Ok(Output::new()) })]).fingerprint()
    };
    let base = print(spec("a", Tier::Read));
    assert_eq!(
        base.to_string(),
        "e3f49aa607097f14",
        "the same in every build"
    );
    assert_ne!(base, print(spec("b", Tier::Read)));
    assert_ne!(base, print(toys::open(spec("a", Tier::Read))));
    assert_ne!(base, print(ToolSpec::new("a", Tier::Read, "Another.")));
    let surface = toys::surface([echo("a", Tier::Read, &log), echo("b", Tier::Exec, &log)]);
    assert_ne!(surface.fingerprint(), surface.cap(Tier::Read).fingerprint());
    assert_eq!(surface.fingerprint(), surface.cap(Tier::Exec).fingerprint());
}
