//! Every tool, beside one of the harness's own, in one run: what a model in plan mode sees, and
//! what it sees when it may work.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use terret::Run;
use terret::tiers::{
    AllowUpTo, CallContext, Output, Surface, Tier, Tool, ToolError, ToolSpec, async_trait,
};

/// A tool of the harness's own.
struct CountFiles {
    spec: ToolSpec,
    workspace: PathBuf,
}

#[async_trait]
impl Tool for CountFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Value, _: &CallContext) -> Result<Output, ToolError> {
        let files = std::fs::read_dir(&self.workspace)
            .map_err(|error| ToolError::failed(error.to_string()))?;
        Ok(Output::text(format!("{} files", files.count())))
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(
        folder.path().join("a.dart"),
        "void f() { dispose(view); }\n",
    )?;

    let own: Arc<dyn Tool> = Arc::new(CountFiles {
        spec: ToolSpec::new(
            "count_files",
            Tier::Read,
            "Counts the files of the workspace.",
        ),
        workspace: folder.path().to_owned(),
    });
    let run = Run::builder(folder.path())
        .id("run-1")
        .tools([own])
        .build()?;

    // Nothing above the cap is there, not even by name.
    let plan = run.surface(Tier::Read);
    println!("plan mode: {}", names(&plan));

    // Here a person would be asked before a file is changed; this gate says yes to all of that.
    let work = run
        .surface(Tier::Write)
        .with_gate(Arc::new(AllowUpTo(Tier::Write)));
    println!("work mode: {}", names(&work));

    for (id, tool, arguments) in [
        ("call-1", "count_files", json!({})),
        (
            "call-2",
            "ast_grep",
            json!({"pattern": "dispose($X)", "language": "dart"}),
        ),
    ] {
        let output = work.call(tool, arguments, run.request(id)).await?;
        println!("\n{tool}\n{}", output.to_text());
    }

    run.shutdown().await;
    Ok(())
}

fn names(surface: &Surface) -> String {
    surface
        .specs()
        .map(|spec| spec.name.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}
