//! `write`: a file, new or anew.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use terret::changeset::ChangeSet;
use terret::tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec, WORKSPACE, async_trait};

use super::files::{Files, commit, counted, staged};

const DESCRIPTION: &str = "\
Writes a whole file, new or in place of what it held (a tool of this host's own). Folders that are missing are made. \
Returns what was written, and what it has broken. \
Example: {\"path\": \"src/cart.rs\", \"content\": \"pub fn total() {}\\n\"}";

/// The arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, relative to the working directory.
    path: String,
    /// What it holds then.
    content: String,
}

/// The tool.
pub(super) struct Write {
    spec: ToolSpec,
    files: Files,
}

impl Write {
    pub(super) fn new(files: Files) -> Self {
        let spec = ToolSpec::new("write", Tier::Write, DESCRIPTION)
            .parameters::<Args>()
            .exclusive(WORKSPACE)
            .hint("file", "the file is called `path`")
            .hint("text", "what it holds is called `content`");
        Self { spec, files }
    }
}

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn summary(&self, arguments: &Value) -> String {
        format!("write {}", arguments["path"].as_str().unwrap_or_default())
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let Args { path, content } = self.spec.parse(arguments)?;
        let workspace = self.files.workspace()?;
        let lines = counted(content.lines().count(), "line");
        let mut set = ChangeSet::new(&workspace);
        let said = if self.files.exists(&path) {
            let captured = workspace.capture(&path).map_err(staged)?;
            set.edit(&captured, content.into_bytes()).map_err(staged)?;
            format!("wrote {path}: {lines}")
        } else {
            set.create(&path, content.into_bytes()).map_err(staged)?;
            format!("wrote {path}, which is new: {lines}")
        };
        commit(set, context)?;
        Ok(Output::text(said).with_details(json!({ "paths": [path] })))
    }
}
