//! `edit`: a piece of a file for another.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use terret::changeset::ChangeSet;
use terret::tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec, WORKSPACE, async_trait};

use super::files::{Files, commit, counted, staged};

const DESCRIPTION: &str = "\
Replaces a piece of a file (a tool of this host's own). `old` has to be there exactly once, or name `replace_all`. \
Returns what was replaced, and what it has broken. \
Example: {\"path\": \"src/cart.rs\", \"old\": \"fn total(\", \"new\": \"fn sum(\"}";

/// The arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, relative to the working directory.
    path: String,
    /// The piece as the file holds it, with its indentation.
    old: String,
    /// What stands in its place.
    new: String,
    /// Replace it wherever it is.
    #[serde(default)]
    replace_all: bool,
}

/// The tool.
pub(super) struct Edit {
    spec: ToolSpec,
    files: Files,
}

impl Edit {
    pub(super) fn new(files: Files) -> Self {
        let spec = ToolSpec::new("edit", Tier::Write, DESCRIPTION)
            .parameters::<Args>()
            .exclusive(WORKSPACE)
            .hint("file", "the file is called `path`")
            .hint("old_string", "the piece is called `old`")
            .hint("new_string", "what stands in its place is called `new`");
        Self { spec, files }
    }
}

#[async_trait]
impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn summary(&self, arguments: &Value) -> String {
        format!("edit {}", arguments["path"].as_str().unwrap_or_default())
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let args: Args = self.spec.parse(arguments)?;
        let workspace = self.files.workspace()?;
        let (captured, text) = self.files.text(&workspace, &args.path)?;
        let (text, count) = edited(&args, &text)?;
        let mut set = ChangeSet::new(&workspace);
        set.edit(&captured, text.into_bytes()).map_err(staged)?;
        commit(set, context)?;
        let said = format!("edited {}: {}", args.path, counted(count, "replacement"));
        Ok(Output::text(said).with_details(json!({ "paths": [args.path], "replacements": count })))
    }
}

/// The text with the piece replaced, and how often.
fn edited(args: &Args, text: &str) -> Result<(String, usize), ToolError> {
    let Args { path, old, new, .. } = args;
    if old.is_empty() || old == new {
        let why = "`old` is empty, or the same as `new`: there is nothing to replace";
        return Err(ToolError::invalid_arguments(why));
    }
    // A model sees no line ends; those of the file stay.
    let has_crlf = text.contains("\r\n") && !old.contains("\r\n");
    let (old, new) = match has_crlf {
        true => (old.replace('\n', "\r\n"), new.replace('\n', "\r\n")),
        false => (old.clone(), new.clone()),
    };
    let lines: Vec<String> = text
        .match_indices(&old)
        .map(|(at, _)| (text[..at].matches('\n').count() + 1).to_string())
        .collect();
    match lines.len() {
        0 => Err(ToolError::not_found(format!(
            "{path} does not hold `old`; read it, and give the piece letter by letter"
        ))),
        1 => Ok((text.replacen(&old, &new, 1), 1)),
        count if args.replace_all => Ok((text.replace(&old, &new), count)),
        count => Err(ToolError::ambiguous(format!(
            "{path} holds `old` {count} times, on the lines {}; give more of what stands around the one that is \
             meant, or `replace_all`",
            lines.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str, replace_all: bool) -> Result<String, String> {
        let args = Args {
            path: "a".to_owned(),
            old: old.to_owned(),
            new: new.to_owned(),
            replace_all,
        };
        let edited = edited(&args, text);
        edited.map(|(text, _)| text).map_err(|error| error.message)
    }

    #[test]
    fn a_piece_is_replaced_where_it_is_meant() {
        assert_eq!(edit("a b", "b", "c", false), Ok("a c".to_owned()));
        assert_eq!(edit("b\nb", "b", "c", true), Ok("c\nc".to_owned()));
        assert_eq!(
            edit("a\r\nb\r\n", "a\nb", "x\ny", false),
            Ok("x\r\ny\r\n".to_owned())
        );
        let twice = edit("b\n\nb", "b", "c", false).unwrap_err();
        assert!(twice.contains("2 times, on the lines 1, 3"), "{twice}");
        assert!(edit("a", "b", "c", false).is_err() && edit("a", "a", "a", false).is_err());
    }
}
