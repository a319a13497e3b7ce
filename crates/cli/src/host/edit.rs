//! `edit`: a part of a file, by its text.

use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use terret::changeset::ChangeSet;
use terret::tiers::wrapper::Writer;
use terret::tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec, WORKSPACE, async_trait};

use super::files::{self, Count, Unified};

const ABOUT: &str = "\
Host tool: replaces a text in a file of the workspace. `old` has to be there exactly once, letter by letter, blanks \
included (line ends are taken care of); `replace_all` replaces it wherever it is. \
Example: {\"path\": \"src/a.py\", \"old\": \"return a\\n\", \"new\": \"return a + 1\\n\"}";

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, relative to the workspace.
    path: String,
    /// The text to replace, with as much around it as makes it the only one.
    old: String,
    /// What to put in its place; empty deletes.
    new: String,
    /// Replace it wherever it is.
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn writer(root: &Path) -> Writer {
    let spec = ToolSpec::new("edit", Tier::Write, ABOUT)
        .parameters::<Args>()
        .exclusive(WORKSPACE)
        .hint("file", "the file is called `path`")
        .hint("old_string", "the text to replace is called `old`")
        .hint("new_string", "what to put in its place is called `new`");
    let root = root.to_owned();
    files::writer(Edit { spec, root }, files::path_argument)
}

struct Edit {
    spec: ToolSpec,
    root: PathBuf,
}

#[async_trait]
impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let args: Args = self.spec.parse(arguments)?;
        let path = &args.path;
        let workspace = files::open(&self.root)?;
        files::check_size(&workspace, path)?;
        let captured = workspace.capture(path).map_err(files::unstaged)?;
        let text = files::as_text(path, captured.bytes())?;
        let Replaced { text, lines } = replaced(&text, &args)?;
        let mut set = ChangeSet::new(&workspace);
        let edited = set.edit(&captured, text.into_bytes());
        edited.map_err(files::unstaged)?;
        files::commit(set, context).await?;
        let count = Count(lines.len(), "replacement");
        let said = format!("edited {path}: {count}, at {}", files::places(&lines));
        let details = files::details(&[path], json!({ "lines": lines }));
        Ok(Output::text(said).with_details(details))
    }
}

#[derive(Debug)]
struct Replaced {
    text: String,
    /// The lines on which replacements begin, as they were.
    lines: Vec<usize>,
}

fn replaced(text: &str, args: &Args) -> Result<Replaced, ToolError> {
    let path = &args.path;
    let wrong = |message: String| Err(ToolError::invalid_arguments(message));
    if args.old.is_empty() {
        return wrong("`old` is empty; use `write` to write a whole file".to_owned());
    }
    let text = Unified::new(text);
    let old = Unified::new(&args.old).text;
    if old == Unified::new(&args.new).text {
        return wrong("`old` and `new` are the same".to_owned());
    }
    let all = occurrences(&text.text, &old);
    let lines = |found: &[Range<usize>]| -> Vec<usize> {
        let line = |place: &Range<usize>| files::line_at(&text.text, place.start);
        found.iter().map(line).collect()
    };
    let found = match all.as_slice() {
        [] => return Err(ToolError::not_found(not_there(path, &text.text, &old))),
        [_] => all,
        _ if args.replace_all => apart(all),
        _ => {
            return Err(ToolError::ambiguous(format!(
                "`old` is in {path} {} times, at {}: take in more of what is around the one that is meant, or set \
                 `replace_all`",
                all.len(),
                files::places(&lines(&all))
            )));
        }
    };
    Ok(Replaced {
        lines: lines(&found),
        text: put_in(&text, &found, &args.new),
    })
}

/// All places of a text in another, those that overlap included.
fn occurrences(text: &str, wanted: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(wanted) {
        let start = from + at;
        found.push(start..start + wanted.len());
        let step = text[start..].chars().next().map_or(1, char::len_utf8);
        from = start + step;
    }
    found
}

/// Those that do not overlap, the first first.
fn apart(all: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut end = 0;
    let mut is_apart = |place: &Range<usize>| {
        let apart = place.start >= end;
        if apart {
            end = place.end;
        }
        apart
    };
    all.into_iter().filter(|place| is_apart(place)).collect()
}

fn put_in(text: &Unified<'_>, places: &[Range<usize>], new: &str) -> String {
    let source = text.source();
    let mut result = String::new();
    let mut from = 0;
    for place in places {
        result.push_str(&source[from..text.original(place.start)]);
        result.push_str(&text.ended_like(place.start, new));
        from = text.original(place.end);
    }
    result.push_str(&source[from..]);
    result
}

/// That the text is not there, and where one is that differs in blanks only.
fn not_there(path: &str, text: &str, old: &str) -> String {
    let trimmed = |text: &str| -> Vec<String> {
        let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.trim().lines().map(squeeze).collect()
    };
    let wanted = trimmed(old);
    let lines: Vec<&str> = text.lines().collect();
    let fits = |at: &usize| {
        let window = lines[*at..].iter().take(wanted.len());
        let found = window.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        !wanted.is_empty() && found.eq(wanted.iter().cloned())
    };
    let near: Vec<usize> = (0..lines.len()).filter(fits).map(|at| at + 1).collect();
    match near.is_empty() {
        true => format!("`old` is not in {path}; read the file, and copy the text as it is there"),
        false => format!(
            "`old` is not in {path}, but for its blanks it is at {}: copy it as it is there",
            files::places(&near)
        ),
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
        let replaced = replaced(text, &args).map_err(|error| error.message)?;
        Ok(replaced.text)
    }

    #[test]
    fn one_place_or_all() {
        let rows: [(&str, &str, &str, bool, &str); 7] = [
            ("a b c", "b", "x", false, "a x c"),
            ("a b c", " b", "", false, "a c"),
            ("a a a", "a", "aa", true, "aa aa aa"),
            ("aaa", "aa", "b", true, "ba"),
            (
                "one\r\ntwo\r\nthree\r\n",
                "one\ntwo\n",
                "1\n2\n3\n",
                false,
                "1\r\n2\r\n3\r\nthree\r\n",
            ),
            ("one\ntwo\n", "one\r\ntwo", "1\r\n2", false, "1\n2\n"),
            ("\u{feff}a\r\nb", "b", "c\nd", false, "\u{feff}a\r\nc\r\nd"),
        ];
        for (text, old, new, all, expected) in rows {
            assert_eq!(
                edit(text, old, new, all).as_deref(),
                Ok(expected),
                "{text:?}"
            );
        }
    }

    #[test]
    fn what_cannot_be_done_says_why() {
        let rows = [
            ("a\nb\na\n", "a", "`old` is in a 2 times, at lines 1 and 3"),
            ("aaa", "aa", "`old` is in a 2 times, at lines 1 and 1"),
            ("a", "", "`old` is empty"),
            ("a", "new", "`old` and `new` are the same"),
            (
                "if x:\n\treturn  1\n",
                "if x:\n    return 1\n",
                "but for its blanks it is at line 1",
            ),
            ("a", "b", "`old` is not in a; read the file"),
        ];
        for (text, old, why) in rows {
            let error = edit(text, old, "new", false).expect_err(old);
            assert!(error.contains(why), "{error}");
        }
    }
}
