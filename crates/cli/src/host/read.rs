//! `read`: a file, its lines numbered.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use terret::tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec, async_trait, bound};

use super::{Warm, files};

const ABOUT: &str = "\
Host tool: reads a text file of the workspace, its lines numbered. Long files come in parts: the last line says how to \
go on. Example: {\"path\": \"src/main.rs\", \"offset\": 120, \"limit\": 80}";

/// How many lines are shown if nothing is said, and at most.
const LINES: usize = 2000;
/// How much text is shown, in bytes.
const BYTES: usize = 60_000;
/// How much of a line is shown, in characters.
const LINE: usize = 2000;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, relative to the workspace.
    path: String,
    /// The first line to show, from 1; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u32>,
    /// How many lines to show; at most 2,000, and 2,000 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
}

pub(super) struct Read {
    spec: ToolSpec,
    root: PathBuf,
    warm: Warm,
}

impl Read {
    pub(super) fn new(root: &Path, warm: Warm) -> Read {
        let spec = ToolSpec::new("read", Tier::Read, ABOUT)
            .parameters::<Args>()
            .hint("file", "the file is called `path`")
            .hint("line", "the first line is called `offset`");
        Read {
            spec,
            root: root.to_owned(),
            warm,
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
        let text = files::text(&files::open(&self.root)?, &args.path)?;
        let from = args.offset.unwrap_or(1).max(1) as usize;
        let limit = args.limit.map_or(LINES, |limit| limit as usize);
        let shown = shown(&args.path, &text, from, limit.clamp(1, LINES))?;
        self.warm.touch(Path::new(&args.path));
        Ok(shown)
    }
}

fn shown(path: &str, text: &str, from: usize, limit: usize) -> Result<Output, ToolError> {
    let lines: Vec<&str> = text.lines().collect();
    let total = lines.len();
    if total == 0 {
        let details = json!({"path": path, "from": 0, "to": 0, "lines": 0});
        return Ok(Output::text(format!("{path} is empty")).with_details(details));
    }
    if from > total {
        let count = files::Count(total, "line");
        return Err(ToolError::invalid_arguments(format!(
            "`offset` is {from}, and {path} has {count}"
        )));
    }
    let wanted = total.min(from - 1 + limit);
    let width = wanted.to_string().len();
    let mut shown = String::new();
    let mut to = from - 1;
    for line in &lines[from - 1..wanted] {
        let line = bound::line(&bound::sanitise(line), LINE);
        let row = format!("{:>width$}\t{line}\n", to + 1);
        // One line is shown in any case, or nobody would get on.
        if to >= from && shown.len() + row.len() > BYTES {
            break;
        }
        shown.push_str(&row);
        to += 1;
    }
    if from > 1 || to < total {
        let next = match to < total {
            true => format!("; go on with `offset` {}", to + 1),
            false => String::new(),
        };
        shown.push_str(&format!("lines {from} to {to} of {total}{next}\n"));
    }
    let details = json!({"path": path, "from": from, "to": to, "lines": total});
    Ok(Output::text(shown)
        .with_details(details)
        .with_truncated(to < total))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, from: usize, limit: usize) -> String {
        match shown("a", text, from, limit) {
            Ok(output) => output.to_text(),
            Err(error) => error.message,
        }
    }

    #[test]
    fn lines_are_numbered_and_parts_say_how_to_go_on() {
        let text = "one\r\ntwo\n\nfour";
        assert_eq!(read(text, 1, 9), "1\tone\n2\ttwo\n3\t\n4\tfour\n");
        assert_eq!(
            read(text, 2, 2),
            "2\ttwo\n3\t\nlines 2 to 3 of 4; go on with `offset` 4\n"
        );
        assert_eq!(read(text, 4, 9), "4\tfour\nlines 4 to 4 of 4\n");
        assert_eq!(read(text, 5, 9), "`offset` is 5, and a has 4 lines");
        assert_eq!(read("", 1, 9), "a is empty");
    }

    #[test]
    fn what_is_shown_is_bounded_and_gets_on() {
        let text = format!("{}\n", "é".repeat(5000)).repeat(100);
        let mut from = 1;
        let mut parts = 0;
        while from <= 100 {
            let output = shown("a", &text, from, LINES).unwrap();
            assert!(output.to_text().len() < BYTES + 5000);
            from = 1 + output.details["to"].as_u64().unwrap() as usize;
            parts += 1;
        }
        assert!(parts > 1);
        assert!(read("\u{1b}[2J", 1, 9).starts_with("1\t␛[2J"));
    }
}
