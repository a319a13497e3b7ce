//! Toy tools whose body is a closure, and a log of what happened.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use terret_tiers::{
    AllowUpTo, CallContext, ErrorKind, Output, Request, Surface, Tier, Tool, ToolError, ToolSpec,
    Toolset, async_trait,
};

pub(crate) type Outcome = Result<Output, ToolError>;
type Body =
    dyn Fn(Value, CallContext) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync;

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    pub(crate) fn entries(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Toy {
    spec: ToolSpec,
    body: Box<Body>,
}

/// A tool that does what `body` does.
pub(crate) fn toy<F, R>(spec: ToolSpec, body: F) -> Arc<dyn Tool>
where
    F: Fn(Value, CallContext) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    Arc::new(Toy {
        spec,
        body: Box::new(move |a, c| Box::pin(body(a, c))),
    })
}

#[async_trait]
impl Tool for Toy {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Outcome {
        (self.body)(arguments, context.clone()).await
    }
}

pub(crate) fn spec(name: &str, tier: Tier) -> ToolSpec {
    ToolSpec::new(name, tier, "A toy.")
}

/// A schema that takes anything.
pub(crate) fn open(spec: ToolSpec) -> ToolSpec {
    spec.schema(json!({ "type": "object" }))
}

/// Logs the id of the call and returns it.
pub(crate) fn echo(name: &str, tier: Tier, log: &Log) -> Arc<dyn Tool> {
    let log = log.clone();
    toy(open(spec(name, tier)), move |_, context| {
        log.add(context.call());
        async move { Ok(Output::text(context.call())) }
    })
}

/// Calls `{tool, arguments}` from within; answers as that does.
pub(crate) fn nest(name: &str) -> Arc<dyn Tool> {
    toy(
        open(spec(name, Tier::Read)),
        |arguments, context| async move {
            let tool = arguments["tool"].as_str().unwrap_or_default();
            context
                .tools()
                .call(tool, arguments["arguments"].clone())
                .await
        },
    )
}

/// The tools on a surface without a cap, where everything is allowed.
pub(crate) fn surface(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Surface {
    Toolset::new(tools)
        .unwrap()
        .surface(Tier::Exec)
        .with_gate(Arc::new(AllowUpTo(Tier::Exec)))
}

/// A call without arguments, whose id is the name of the tool.
pub(crate) async fn call(surface: &Surface, name: &str) -> Outcome {
    surface.call(name, json!({}), Request::new(name)).await
}

pub(crate) fn kind(outcome: Outcome) -> ErrorKind {
    outcome.expect_err("the call should have failed").kind
}
