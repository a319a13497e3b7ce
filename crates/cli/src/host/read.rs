//! `read`: a file, with the numbers of its lines.

use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use terret::lsp::Supervisor;
use terret::tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec, async_trait, bound};

use super::files::Files;

const DESCRIPTION: &str = "\
Reads a text file (a tool of this host's own). Returns its lines, each behind its number and a tab. \
Example: {\"path\": \"src/cart.rs\", \"offset\": 100, \"limit\": 50}";

/// How many lines are read if nothing is said.
const LINES: usize = 2000;
/// How much is shown at once.
const TEXT: bound::Bounds = bound::Bounds::new(60_000, LINES);
/// How many characters of a line are shown.
const LINE: usize = 2000;

/// The arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, relative to the working directory.
    path: String,
    /// The line to begin with, from 1; the first if it is left out.
    #[serde(default)]
    offset: Option<usize>,
    /// How many lines; 2,000 if it is left out.
    #[serde(default)]
    limit: Option<usize>,
}

/// The tool.
pub(super) struct Read {
    spec: ToolSpec,
    files: Files,
    /// What is told of files that are read, so that it knows what is wrong with them before they are written.
    servers: Arc<OnceLock<Supervisor>>,
}

impl Read {
    pub(super) fn new(files: Files, servers: Arc<OnceLock<Supervisor>>) -> Self {
        let spec = ToolSpec::new("read", Tier::Read, DESCRIPTION)
            .parameters::<Args>()
            .hint("file", "the file is called `path`");
        Self {
            spec,
            files,
            servers,
        }
    }
}

#[async_trait]
impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: &CallContext) -> Result<Output, ToolError> {
        let args: Args = self.spec.parse(arguments)?;
        let (_, text) = self.files.text(&self.files.workspace()?, &args.path)?;
        if let Some(servers) = self.servers.get() {
            servers.touch(&args.path);
        }
        let first = args.offset.unwrap_or(1).max(1);
        let total = text.lines().count();
        if first > total.max(1) {
            let message = format!("{} has {total} lines; `offset` is {first}", args.path);
            return Err(ToolError::not_found(message));
        }
        Ok(shown(&args.path, &text, first, args.limit.unwrap_or(LINES)))
    }
}

fn shown(path: &str, text: &str, first: usize, limit: usize) -> Output {
    let total = text.lines().count();
    let lines = text.lines().enumerate().skip(first - 1).take(limit);
    let mut numbered = String::new();
    let mut last = first - 1;
    for (index, line) in lines {
        let line = bound::line(&bound::sanitise(line), LINE);
        numbered += &format!("{}\t{line}\n", index + 1);
        last = index + 1;
        if numbered.len() > 60_000 {
            break;
        }
    }
    let bounded = bound::head(&numbered, TEXT);
    let mut output = bounded.text.trim_end().to_owned();
    if last < total {
        output += &format!("\n… {total} lines in all; go on with `offset` {}", last + 1);
    }
    if total == 0 {
        output = "(empty)".to_owned();
    }
    Output::text(output)
        .with_truncated(bounded.truncated() || last < total)
        .with_details(json!({ "path": path, "first": first, "last": last, "lines": total }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_bounded() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(shown("a", text, 1, 9).to_text(), "1\tone\n2\ttwo\n3\tthree");
        assert_eq!(
            shown("a", text, 2, 1).to_text(),
            "2\ttwo\n… 3 lines in all; go on with `offset` 3"
        );
        assert_eq!(shown("a", "", 1, 9).to_text(), "(empty)");
    }
}
