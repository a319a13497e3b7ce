//! `write`: a whole file.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use terret::changeset::ChangeSet;
use terret::tiers::wrapper::Writer;
use terret::tiers::{
    CallContext, Output, Tier, Tool, ToolError, ToolSpec, WORKSPACE, async_trait, bound,
};

use super::files;

const ABOUT: &str = "\
Host tool: writes a whole file of the workspace, and makes its folders. To change a part of a file use `edit`. \
Example: {\"path\": \"src/greeting.py\", \"content\": \"HELLO = 'hello'\\n\"}";

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, relative to the workspace; made if it is not there.
    path: String,
    /// All that is to be in it.
    content: String,
}

pub(super) fn writer(root: &Path) -> Writer {
    let spec = ToolSpec::new("write", Tier::Write, ABOUT)
        .parameters::<Args>()
        .exclusive(WORKSPACE)
        .hint("file", "the file is called `path`")
        .hint("text", "what to write is called `content`");
    let root = root.to_owned();
    files::writer(Write { spec, root }, files::path_argument)
}

struct Write {
    spec: ToolSpec,
    root: PathBuf,
}

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn summary(&self, arguments: &Value) -> String {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        let size = bound::size(text("content").len());
        format!("write {size} to {}", text("path"))
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let Args { path, content } = self.spec.parse(arguments)?;
        let workspace = files::open(&self.root)?;
        files::check_size(&workspace, &path)?;
        let mut set = ChangeSet::new(&workspace);
        let size = bound::size(content.len());
        let is_new = !set.exists(&path).map_err(files::unstaged)?;
        let content = content.into_bytes();
        let staged = match is_new {
            true => set.create(&path, content),
            false => set.write(&path, content),
        };
        staged.map_err(files::unstaged)?;
        let is_same = set.is_empty();
        files::commit(set, context).await?;
        let said = match (is_new, is_same) {
            (true, _) => format!("created {path} ({size})"),
            (_, true) => format!("{path} is unchanged: that was its content already"),
            _ => format!("wrote {path} ({size})"),
        };
        let details = files::details(&[&path], json!({ "created": is_new }));
        Ok(Output::text(said).with_details(details))
    }
}
