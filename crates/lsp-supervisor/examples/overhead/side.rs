//! This crate's side: a supervisor with its tools, and a host's tool that writes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use terret_lsp_supervisor::catalog::Catalog;
use terret_lsp_supervisor::{Options, Pool, State, Supervisor};
use terret_tiers::wrapper::Writer;
use terret_tiers::{
    AllowUpTo, CallContext, Output, Request, Surface, Tier, Tool, ToolError, ToolSpec, Toolset,
};

use crate::Project;

pub(crate) struct Side {
    supervisor: Supervisor,
    surface: Surface,
}

impl Side {
    pub(crate) fn new(project: &Project, catalog: Catalog) -> Self {
        Self::in_pool(project, catalog, Pool::new())
    }

    pub(crate) fn in_pool(project: &Project, catalog: Catalog, pool: Pool) -> Self {
        let options = Options::default()
            .catalog(catalog)
            .pool(pool)
            .write_wait(Duration::from_secs(60));
        let root = project.root();
        let supervisor = Supervisor::new(&root, options);
        let writer = Writer::new(
            Arc::new(Write::new("write", root.clone())),
            |arguments, _| Box::pin(async move { path(arguments) }),
            path,
        );
        let toolset = Toolset::builder()
            .tools(supervisor.tools())
            .tools([
                supervisor.wrap(&writer),
                Arc::new(Write::new("plain", root)),
            ])
            .build()
            .unwrap();
        let gate = Arc::new(AllowUpTo(Tier::Write));
        let surface = toolset.surface(Tier::Write).with_gate(gate);
        Self {
            supervisor,
            surface,
        }
    }

    /// Calls a tool; gives its details.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let called = self.surface.call(tool, arguments, Request::new("call"));
        let output = called.await;
        output.unwrap_or_else(|error| panic!("{error}")).details
    }

    async fn running(&self) -> Vec<(u32, usize)> {
        let all = self.supervisor.status().await;
        let one = |state: State| match state {
            State::Running {
                process, documents, ..
            } => Some((process, documents)),
            _ => None,
        };
        all.into_iter()
            .filter_map(|status| one(status.state))
            .collect()
    }

    pub(crate) async fn processes(&self) -> Vec<u32> {
        let running = self.running().await;
        running.into_iter().map(|(process, _)| process).collect()
    }

    pub(crate) async fn documents(&self) -> usize {
        let running = self.running().await;
        running.into_iter().map(|(_, documents)| documents).sum()
    }

    pub(crate) async fn end(self) {
        self.supervisor.shut_down().await;
    }
}

struct Write {
    spec: ToolSpec,
    root: PathBuf,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is for the schema")]
struct WriteArgs {
    /// The file.
    path: String,
    /// What it holds then.
    text: String,
}

impl Write {
    fn new(name: &str, root: PathBuf) -> Self {
        let spec = ToolSpec::new(name, Tier::Write, "Writes a file.").parameters::<WriteArgs>();
        Self { spec, root }
    }
}

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: &CallContext) -> Result<Output, ToolError> {
        let path = self.root.join(arguments["path"].as_str().unwrap());
        std::fs::write(path, arguments["text"].as_str().unwrap()).unwrap();
        Ok(Output::text("written").with_details(arguments))
    }
}

fn path(of: &Value) -> Vec<PathBuf> {
    of["path"].as_str().map(PathBuf::from).into_iter().collect()
}
