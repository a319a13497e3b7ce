//! One family of tools without the facade: structural search, in a registry of the harness's own.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use serde_json::json;
use terret_structural::Structural;
use terret_tiers::{CallContext, Tier, Tool};

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    std::fs::write(
        workspace.path().join("a.dart"),
        "void f() { dispose(view); }\n",
    )?;

    // Your own registry. This one holds only what cannot change a file: the tier of a tool is
    // static, so that this is decided before any call.
    let structural = Structural::new(workspace.path());
    let mut registry: BTreeMap<String, Arc<dyn Tool>> = BTreeMap::new();
    for tool in structural.tools() {
        if tool.spec().tier == Tier::Read {
            registry.insert(tool.spec().name.clone(), tool);
        }
    }

    let tool = registry
        .get("ast_grep")
        .ok_or("no grammar is compiled in")?;
    let arguments = tool.validate(json!({"pattern": "dispose($X)", "language": "dart"}))?;
    let output = tool.call(arguments, &CallContext::detached()).await?;
    println!("{}", output.to_text());
    Ok(())
}
