//! A harness's own tool that writes files, wrapped: its results tell what its writes have broken.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use terret::Run;
use terret::lsp::Options;
use terret::tiers::wrapper::Writer;
use terret::tiers::{AllowUpTo, CallContext, Output, Tier, Tool, ToolError, ToolSpec, async_trait};

/// The harness's tool as it was before.
struct Write {
    spec: ToolSpec,
    workspace: PathBuf,
}

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: &CallContext) -> Result<Output, ToolError> {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        std::fs::write(self.workspace.join(text("path")), text("content"))
            .map_err(|error| ToolError::failed(error.to_string()))?;
        Ok(Output::text("written").with_details(json!({ "path": text("path") })))
    }
}

/// The files of a call, by its arguments; and those that it did write, by the details of its output.
fn paths(of: &Value) -> Vec<PathBuf> {
    of["path"].as_str().map(PathBuf::from).into_iter().collect()
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path();
    std::fs::write(workspace.join("pyproject.toml"), "")?;
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "The file." },
            "content": { "type": "string", "description": "What it holds then." },
        },
        "required": ["path", "content"],
    });
    let tool = Arc::new(Write {
        spec: ToolSpec::new("write", Tier::Write, "Writes a file.").schema(parameters),
        workspace: workspace.to_owned(),
    });
    let writer = Writer::new(
        tool,
        |arguments, _| Box::pin(async move { paths(arguments) }),
        paths,
    );
    let run = Run::builder(workspace)
        .lsp(Options::default())
        .writers([writer])
        .build()?;
    let surface = run
        .surface(Tier::Write)
        .with_gate(Arc::new(AllowUpTo(Tier::Write)));

    // With a language server for Python installed, the result goes on: `new problems: a.py:1 error …`.
    let arguments = json!({ "path": "a.py", "content": "total = missing\n" });
    let output = surface
        .call("write", arguments, run.request("call-1"))
        .await?;
    println!("{}", output.to_text());
    assert!(output.to_text().starts_with("written"));
    run.shutdown().await;
    Ok(())
}
