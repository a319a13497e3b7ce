//! `apply_patch`: several files at once, in the envelope that models know.

mod envelope;
mod hunks;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use terret::changeset::{Change, ChangeSet};
use terret::tiers::wrapper::Writer;
use terret::tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec, WORKSPACE, async_trait};

use super::files::{self, Count};
use envelope::{Section, What};

const ABOUT: &str = "\
Host tool: applies a patch to files of the workspace, all of it or nothing. The patch begins with `*** Begin Patch` \
and ends with `*** End Patch`; between them are sections: `*** Add File: PATH` (each line with `+`), \
`*** Delete File: PATH`, `*** Update File: PATH`, which `*** Move to: PATH` may follow. An update has hunks: `@@`, \
optionally with a line that stands above it (`@@ def total`), then lines with a blank (as they are), `-` (removed) or \
`+` (added). Three lines around a change make its place known. Example: {\"patch\": \"*** Begin Patch\\n\
*** Update File: a.py\\n@@ def total\\n-    return a\\n+    return a + 1\\n*** End Patch\"}";

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The patch, from `*** Begin Patch` to `*** End Patch`.
    patch: String,
}

pub(super) fn writer(root: &Path) -> Writer {
    let spec = ToolSpec::new("apply_patch", Tier::Write, ABOUT)
        .parameters::<Args>()
        .exclusive(WORKSPACE)
        .hint("input", "the patch is called `patch`")
        .hint("diff", "the patch is called `patch`");
    let root = root.to_owned();
    files::writer(ApplyPatch { spec, root }, about_to_touch)
}

fn about_to_touch(arguments: &Value) -> Vec<PathBuf> {
    let patch = arguments["patch"].as_str().unwrap_or_default();
    let sections = envelope::parse(patch).unwrap_or_default();
    let paths = sections.iter().flat_map(Section::paths);
    paths.map(PathBuf::from).collect()
}

struct ApplyPatch {
    spec: ToolSpec,
    root: PathBuf,
}

#[async_trait]
impl Tool for ApplyPatch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// A patch that is none is not shown to anybody for approval.
    fn validate(&self, arguments: Value) -> Result<Value, ToolError> {
        let arguments = self.spec.check(arguments)?;
        let patch = arguments["patch"].as_str().unwrap_or_default();
        envelope::parse(patch).map_err(ToolError::invalid_arguments)?;
        Ok(arguments)
    }

    fn summary(&self, arguments: &Value) -> String {
        let patch = arguments["patch"].as_str().unwrap_or_default();
        let sections = envelope::parse(patch).unwrap_or_default();
        let said: Vec<String> = sections.iter().map(Section::summary).collect();
        format!("apply_patch: {}", said.join(", "))
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let Args { patch } = self.spec.parse(arguments)?;
        let sections = envelope::parse(&patch).map_err(ToolError::invalid_arguments)?;
        let workspace = files::open(&self.root)?;
        let mut set = ChangeSet::new(&workspace);
        for section in &sections {
            if !matches!(section.what, What::Add { .. }) {
                files::check_size(&workspace, section.path)?;
            }
            stage(&mut set, section)?;
        }
        let said = told(&set);
        let paths: Vec<&str> = sections.iter().flat_map(Section::paths).collect();
        files::commit(set, context).await?;
        let details = files::details(&paths, json!({}));
        Ok(Output::text(said).with_details(details))
    }
}

/// Adds what a section says to the set.
fn stage(set: &mut ChangeSet, section: &Section<'_>) -> Result<(), ToolError> {
    let path = section.path;
    let staged = match &section.what {
        What::Add { content } => set.create(path, content.clone().into_bytes()),
        What::Delete => set.delete(path),
        What::Update { to, hunks } => {
            let bytes = set.read(path).map_err(files::unstaged)?;
            let text = files::as_text(path, &bytes)?;
            let new = hunks::apply(&text, hunks);
            let new = new.map_err(|why| ToolError::not_found(format!("{path}: {why}")))?;
            let written = set.write(path, new.into_bytes());
            match to.filter(|to| *to != path) {
                Some(to) => written.and_then(|()| set.rename(path, to)),
                None => written,
            }
        }
    };
    staged.map_err(files::unstaged)
}

fn told(set: &ChangeSet) -> String {
    let files = set.files();
    if files.is_empty() {
        return "the patch changes nothing".to_owned();
    }
    let mut told = format!("{} changed\n", Count(files.len(), "file"));
    for file in files {
        let path = file.path().display();
        told.push_str(&match file.change() {
            Change::Created => format!("created {path}\n"),
            Change::Deleted => format!("deleted {path}\n"),
            Change::Renamed { from, .. } => format!("renamed {} to {path}\n", from.display()),
            _ => format!("edited {path}\n"),
        });
    }
    told
}

#[cfg(test)]
mod tests;
