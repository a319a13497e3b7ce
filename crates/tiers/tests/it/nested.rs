//! Calls from within calls.

use std::sync::{Arc, Mutex};

use serde_json::json;
use terret_tiers::{
    CallContext, Caller, ErrorKind, Output, Request, RunScope, Surface, Tier, ToolError, Toolset,
    WORKSPACE, async_trait,
};

use crate::toys::{self, Log, Outcome, call, echo, kind, nest, open, spec, toy};

#[tokio::test]
async fn a_cell_that_calls_itself_is_refused_and_not_deadlocked() {
    let eval = toy(
        open(spec("eval", Tier::Exec)).exclusive("eval"),
        |a, c| async move {
            match a["tool"].as_str() {
                Some(tool) => c.tools().call(tool, a["arguments"].clone()).await,
                None => Ok(Output::text("ran")),
            }
        },
    );
    let surface = toys::surface([eval, nest("read")]);
    let direct = json!({ "tool": "eval" });
    let error = surface
        .call("eval", direct, Request::new("1"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    let through = json!({ "tool": "read", "arguments": { "tool": "eval" } });
    assert_eq!(
        kind(surface.call("eval", through, Request::new("2")).await),
        ErrorKind::Refused
    );
    // Not from within, it is free.
    assert_eq!(call(&surface, "eval").await.unwrap().to_text(), "ran");
}

#[tokio::test]
async fn all_surfaces_of_a_run_share_its_keys() {
    let run = RunScope::new("r");
    let log = Log::default();
    let holder = |name: &str| {
        let log = log.clone();
        toy(
            spec(name, Tier::Write).exclusive(WORKSPACE),
            move |_, context| {
                let log = log.clone();
                async move {
                    log.add(format!("{} in", context.call()));
                    tokio::task::yield_now().await;
                    log.add(format!("{} out", context.call()));
                    Ok(Output::new())
                }
            },
        )
    };
    let toolset = |name| {
        Toolset::builder()
            .run(run.clone())
            .tools([holder(name)])
            .build()
            .unwrap()
    };
    let (one, two) = (toolset("resolve"), toolset("write"));
    let allow = Arc::new(terret_tiers::AllowUpTo(Tier::Exec));
    let (one, two) = (
        one.surface(Tier::Exec).with_gate(allow.clone()),
        two.surface(Tier::Write).with_gate(allow),
    );
    let (first, second) = tokio::join!(call(&one, "resolve"), call(&two, "write"));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(
        log.entries(),
        ["resolve in", "resolve out", "write in", "write out"]
    );
}

#[tokio::test]
async fn shared_tools_overlap() {
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let tool = toy(spec("r", Tier::Read), move |_, _| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            Ok(Output::new())
        }
    });
    let surface = toys::surface([tool]);
    let (one, two) = tokio::join!(call(&surface, "r"), call(&surface, "r"));
    assert!(one.is_ok() && two.is_ok());
}

#[tokio::test]
async fn calls_nest_only_so_deep() {
    let surface = toys::surface([toy(spec("again", Tier::Read), |_, context| async move {
        context.tools().call("again", json!({})).await
    })]);
    let error = call(&surface, "again").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert!(error.message.contains("8 deep"), "{}", error.message);
}

#[tokio::test]
async fn a_context_that_outlives_its_call_reaches_nothing() {
    let kept = Arc::new(Mutex::new(None));
    let tool = toy(spec("w", Tier::Read).exclusive("k"), {
        let kept = kept.clone();
        move |_, context| {
            *kept.lock().unwrap() = Some(context);
            async { Ok(Output::new()) }
        }
    });
    let surface = toys::surface([tool]);
    call(&surface, "w").await.unwrap();
    let context = kept.lock().unwrap().take().unwrap();
    assert!(context.lease().is_none());
    assert_eq!(
        kind(context.tools().call("w", json!({})).await),
        ErrorKind::Cancelled
    );
    assert!(
        !context.cancel().is_cancelled(),
        "what it meant to go on is not stopped"
    );
    // And it kept nobody from the key.
    call(&surface, "w").await.unwrap();
}

/// A harness's own registry, which by mistake dispatches to a surface without a cap.
struct Careless(Surface);

#[async_trait]
impl Caller for Careless {
    async fn call(&self, name: &str, arguments: serde_json::Value, request: Request) -> Outcome {
        if name == "host_read" {
            return Ok(Output::text(format!(
                "{:?} {:?}",
                request.from_tool(),
                request.cap()
            )));
        }
        self.0.call(name, arguments, request).await
    }
}

#[tokio::test]
async fn the_hosts_own_caller_serves_all_depths_and_cant_raise_the_cap() {
    let log = Log::default();
    let full = toys::surface([echo("bash", Tier::Exec, &log), nest("cell"), nest("cell2")]);
    let caller: Arc<dyn Caller> = Arc::new(Careless(full.clone()));
    let request = || Request::new("1").with_caller(caller.clone());
    let capped = full.cap(Tier::Read);

    let inner = json!({ "tool": "host_read" });
    let through = json!({ "tool": "cell2", "arguments": inner });
    let output = capped.call("cell", through, request()).await.unwrap();
    assert_eq!(output.to_text(), r#"Some("cell2") Some(Read)"#);

    let bash = json!({ "tool": "bash" });
    assert_eq!(
        kind(capped.call("cell", bash.clone(), request()).await),
        ErrorKind::NotFound
    );
    let through = json!({ "tool": "cell2", "arguments": bash });
    assert_eq!(
        kind(capped.call("cell", through, request()).await),
        ErrorKind::NotFound
    );
    assert!(log.entries().is_empty());
}

#[tokio::test]
async fn a_call_finishes_on_the_surface_it_began_with() {
    let log = Log::default();
    let surface = toys::surface([echo("bash", Tier::Exec, &log), nest("cell")]);
    let began = surface.clone();
    let capped = surface.cap(Tier::Read);
    let bash = json!({ "tool": "bash" });
    assert_eq!(
        kind(capped.call("cell", bash.clone(), Request::new("1")).await),
        ErrorKind::NotFound
    );
    assert!(began.call("cell", bash, Request::new("2")).await.is_ok());
}

#[tokio::test]
async fn a_nested_call_is_in_the_conversation_of_its_parent() {
    let tell = toy(
        spec("tell", Tier::Read),
        |_, context: CallContext| async move {
            let conversation = context.conversation().map(str::to_owned);
            conversation
                .map(Output::text)
                .ok_or_else(|| ToolError::failed("none"))
        },
    );
    let surface = toys::surface([tell, nest("cell")]);
    let request = Request::new("1").with_conversation("main");
    let output = surface
        .call("cell", json!({ "tool": "tell" }), request)
        .await
        .unwrap();
    assert_eq!(output.to_text(), "main");
}
